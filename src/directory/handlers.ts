/**
 * What the directory catalog does for each operation: one handler a row, which the type checker
 * compares with the methods of `Namespace`. Handlers get requests that were checked.
 */
import type { AnyOperation } from '../protocol/every-operation.ts';
import type { CatalogExtensions } from '../protocol/extensions.ts';
import type { NamespaceOperations } from '../protocol/namespace.ts';
import { tableGone } from '../table/incarnation.ts';
import { batchCommitTables, batchCreateTableVersions } from './batch-commit.ts';
import type { Catalog } from './catalog.ts';
import * as changes from './changes.ts';
import { createTable, declareTable } from './create-table.ts';
import { describeTable } from './describe.ts';
import * as indexes from './indexes.ts';
import * as namespaces from './namespaces.ts';
import * as query from './query.ts';
import * as references from './references.ts';
import { repairCatalog } from './repair.ts';
import * as rows from './rows.ts';
import * as schemas from './schemas.ts';
import * as tables from './tables.ts';
import { alterTransaction, describeTransaction } from './transactions.ts';
import { purgeTrash, undropTable } from './trash.ts';
import { cleanupTable, optimizeTable } from './upkeep.ts';
import { verifyCatalog } from './verify.ts';
import * as versions from './versions.ts';

/** Operations whose engine side is not there. */
export const MISSING = [
  'AlterTableBackfillColumns',
  'RefreshMaterializedView',
  'CreateMaterializedView',
  'CreateTableIndex',
  'CreateTableScalarIndex',
] as const;

/** Methods that are an operation each; watching is none, for it has no end. */
export type CatalogOperations = NamespaceOperations & Required<Omit<CatalogExtensions, 'watch'>>;

/** A method with the catalog in front of what it is called with. */
type Handler<Method> = Method extends (...given: infer Given) => infer Answer
  ? (catalog: Catalog, ...given: Given) => Answer
  : never;

type Handlers = {
  readonly [Op in Exclude<AnyOperation, (typeof MISSING)[number]>]: Handler<
    CatalogOperations[Uncapitalize<Op>]
  >;
};

/** For changes of a table: its folder may vanish meanwhile, as somebody drops or moves it. */
const change =
  <Given extends readonly unknown[], Answer>(
    handler: (catalog: Catalog, ...given: Given) => Promise<Answer>,
  ): ((catalog: Catalog, ...given: Given) => Promise<Answer>) =>
  async (catalog, ...given) => {
    try {
      return await handler(catalog, ...given);
    } catch (error) {
      throw tableGone(error);
    }
  };

export const HANDLERS: Handlers = {
  CreateNamespace: namespaces.createNamespace,
  ListNamespaces: namespaces.listNamespaces,
  DescribeNamespace: namespaces.describeNamespace,
  DropNamespace: namespaces.dropNamespace,
  NamespaceExists: async (catalog, request) => {
    await namespaces.describeNamespace(catalog, request);
  },
  UpdateNamespaceProperties: namespaces.updateNamespaceProperties,

  ListTables: tables.listTables,
  ListAllTables: tables.listAllTables,
  CreateTable: change(createTable),
  DeclareTable: (catalog, request) => declareTable(catalog, request),
  RegisterTable: tables.registerTable,
  DescribeTable: describeTable,
  TableExists: tables.tableExistsIn,
  RenameTable: tables.renameTable,
  DropTable: tables.dropTable,
  DeregisterTable: tables.deregisterTable,
  UndropTable: undropTable,

  QueryTable: query.queryTable,
  TakeRows: query.takeTableRows,
  ExplainTableQueryPlan: query.explainTableQueryPlan,
  AnalyzeTableQueryPlan: query.analyzeTableQueryPlan,
  CountTableRows: rows.countTableRows,
  GetTableStats: rows.getTableStats,

  InsertIntoTable: change(rows.insertIntoTable),
  UpdateTable: change(changes.updateTable),
  MergeInsertIntoTable: change(changes.mergeInsertIntoTable),
  DeleteFromTable: change(rows.deleteFromTable),
  DeleteRows: change(rows.deleteRows),

  AlterTableAddColumns: change(schemas.alterTableAddColumns),
  AlterTableAlterColumns: change(schemas.alterTableAlterColumns),
  AlterTableDropColumns: change(schemas.alterTableDropColumns),
  UpdateFieldMetadata: change(schemas.updateFieldMetadata),
  UpdateTableSchemaMetadata: change(rows.updateTableSchemaMetadata),

  ListTableIndices: indexes.listTableIndices,
  DescribeTableIndexStats: indexes.describeTableIndexStats,
  DropTableIndex: indexes.dropTableIndex,

  ListTableVersions: versions.listTableVersions,
  DescribeTableVersion: versions.describeTableVersion,
  CreateTableVersion: change(versions.createTableVersion),
  BatchCreateTableVersions: change(batchCreateTableVersions),
  BatchCommitTables: change(batchCommitTables),
  BatchDeleteTableVersions: change(versions.batchDeleteTableVersions),
  RestoreTable: change(rows.restoreTable),

  ListTableTags: references.listTableTags,
  GetTableTagVersion: references.getTableTagVersion,
  CreateTableTag: change(references.createTableTag),
  UpdateTableTag: change(references.updateTableTag),
  DeleteTableTag: change(references.deleteTableTag),
  ListTableBranches: references.listTableBranches,
  CreateTableBranch: change(references.createTableBranch),
  DeleteTableBranch: change(references.deleteTableBranch),

  DescribeTransaction: describeTransaction,
  AlterTransaction: alterTransaction,

  OptimizeTable: change(optimizeTable),
  CleanupTable: change(cleanupTable),
  Verify: verifyCatalog,
  Repair: repairCatalog,
  PurgeTrash: purgeTrash,
};
