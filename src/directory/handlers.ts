/**
 * `HANDLERS` maps each operation of the protocol, and each extension, to the function that carries
 * it out on a directory catalog. Wrappers report the right error for tables that were dropped or
 * moved meanwhile, and publish changed names to the list by which Lance finds tables. Importing
 * this file loads most of the engine, so operation-table.ts imports it on first use.
 */
import {
  type CreateNamespaceRequest,
  type RenameTableRequest,
  renameTarget,
} from '../protocol/index.ts';
import { type Catalog, listTrash, purgeTrash, undropTable } from './catalog/index.ts';
import { beginJob, cancelJob, describeJob, listJobs } from './jobs.ts';
import { type Handlers, LISTS } from './operation-table.ts';
import {
  alterTransaction,
  batchCommitTables,
  batchCreateTableVersions,
  branchChanges,
  changes,
  cloneTable,
  createTable,
  declareTable,
  describeTransaction,
  indexes,
  listTableFiles,
  namespaces,
  reads,
  references,
  rows,
  schemas,
  tables,
  versions,
  views,
} from './operations/index.ts';
import { READS, within } from './read-handlers.ts';
import {
  type Changed,
  changesList,
  changing,
  cleanupTable,
  optimizeTable,
  repairCatalog,
  syncLance,
  verifyCatalog,
} from './upkeep/index.ts';

/** The id of a request; it was checked against the operation's model. */
type Named = { readonly id?: readonly string[] | undefined };

const itself = ({ id }: Named): Changed[] => (id === undefined ? [] : [{ id }]);

/** One that is overwritten loses what was in it. */
const withContent = ({ id = [], mode }: CreateNamespaceRequest): Changed[] => [
  { id, below: mode?.toLowerCase() === 'overwrite' },
];

const bothNames = (request: RenameTableRequest): Changed[] => {
  const { id = [], new_table_name: name } = request;
  return [{ id }, { id: [...(renameTarget(request) ?? id.slice(0, -1)), name] }];
};

/**
 * For operations after which a namespace or a table is there, is gone or has another place.
 * @param changed which names that are; undefined where it may be any
 */
const listed =
  <Given extends readonly [object, ...unknown[]], Answer>(
    changed: ((request: Given[0]) => Changed[]) | undefined,
    handler: (catalog: Catalog, ...given: Given) => Promise<Answer>,
  ): ((catalog: Catalog, ...given: Given) => Promise<Answer>) =>
  (catalog, ...given) =>
    changing(catalog, changed?.(given[0]), () => handler(catalog, ...given));

/** The same for operations that may give a declared table its first version. */
const listedAtFirst =
  <
    Given extends readonly [Named, ...unknown[]],
    Answer extends { readonly version?: number | undefined },
  >(
    handler: (catalog: Catalog, ...given: Given) => Promise<Answer>,
  ): ((catalog: Catalog, ...given: Given) => Promise<Answer>) =>
  async (catalog, ...given) => {
    const work = (): Promise<Answer> => handler(catalog, ...given);
    if (!(await changesList(catalog, given[0].id ?? []))) return work();
    return changing(catalog, itself(given[0]), work, ({ version = 1 }) => version === 1);
  };

type AnyHandler = (catalog: Catalog, request: object, options: object) => Promise<unknown>;

export const HANDLERS: Handlers = {
  ...LISTS,
  ...READS,
  CreateNamespace: listed(withContent, namespaces.createNamespace),
  DropNamespace: listed(itself, namespaces.dropNamespace),
  NamespaceExists: async (catalog, request) => {
    await namespaces.describeNamespace(catalog, request);
  },
  UpdateNamespaceProperties: listed(itself, namespaces.updateNamespaceProperties),

  CreateTable: listed(itself, within(createTable)),
  DeclareTable: listed(itself, (catalog, request) => declareTable(catalog, request)),
  RegisterTable: listed(itself, tables.registerTable),
  RenameTable: listed(bothNames, tables.renameTable),
  DropTable: listed(itself, tables.dropTable),
  DeregisterTable: listed(itself, tables.deregisterTable),
  UndropTable: listed(itself, undropTable),
  CloneTable: listed(itself, cloneTable),

  CreateMaterializedView: listed(itself, views.createMaterializedView),
  RefreshMaterializedView: within(views.refreshMaterializedView),
  GetTableStats: rows.getTableStats,

  InsertIntoTable: listedAtFirst(within(rows.insertIntoTable)),
  UpdateTable: within(changes.updateTable),
  MergeInsertIntoTable: listedAtFirst(within(changes.mergeInsertIntoTable)),
  DeleteFromTable: within(rows.deleteFromTable),
  DeleteRows: within(rows.deleteRows),

  AlterTableAddColumns: within(schemas.alterTableAddColumns),
  AlterTableAlterColumns: within(schemas.alterTableAlterColumns),
  AlterTableDropColumns: within(schemas.alterTableDropColumns),
  AlterTableBackfillColumns: within(schemas.alterTableBackfillColumns),
  UpdateFieldMetadata: within(schemas.updateFieldMetadata),
  UpdateTableSchemaMetadata: within(rows.updateTableSchemaMetadata),

  CreateTableIndex: within(indexes.createTableIndex),
  CreateTableScalarIndex: within(indexes.createTableIndex),
  ListTableIndices: within(indexes.listTableIndices),
  DescribeTableIndexStats: within(indexes.describeTableIndexStats),
  DropTableIndex: within(indexes.dropTableIndex),

  CreateTableVersion: within(versions.createTableVersion),
  BatchCreateTableVersions: within(batchCreateTableVersions),
  BatchCommitTables: within(batchCommitTables),
  BatchDeleteTableVersions: within(versions.batchDeleteTableVersions),
  RestoreTable: within(rows.restoreTable),

  ListTableTags: within(references.listTableTags),
  GetTableTagVersion: within(references.getTableTagVersion),
  CreateTableTag: within(references.createTableTag),
  UpdateTableTag: within(references.updateTableTag),
  DeleteTableTag: within(references.deleteTableTag),
  ListTableBranches: within(references.listTableBranches),
  CreateTableBranch: within(references.createTableBranch),
  DeleteTableBranch: within(references.deleteTableBranch),

  ListTableFiles: within(listTableFiles),
  RunSql: reads.runSql,
  ExplainSql: reads.explainSql,
  ProfileTable: within(reads.profileTable),
  DiffTable: within(branchChanges.diffTable),
  PrewarmTableIndex: within(indexes.prewarmTableIndex),
  DiffTableBranch: within(branchChanges.diffTableBranch),
  CherryPickTableBranch: within(branchChanges.cherryPickTableBranch),

  DescribeTransaction: describeTransaction,
  AlterTransaction: alterTransaction,

  BeginJob: (catalog, request, options) =>
    beginJob(
      catalog,
      request,
      (operation, asked, more) => (HANDLERS[operation] as AnyHandler)(catalog, asked, more),
      options,
    ),
  DescribeJob: describeJob,
  ListJobs: listJobs,
  CancelJob: cancelJob,

  OptimizeTable: within(optimizeTable),
  CleanupTable: within(cleanupTable),
  Verify: verifyCatalog,
  Repair: listed(undefined, repairCatalog),
  SyncLance: syncLance,
  PurgeTrash: purgeTrash,
  ListTrash: listTrash,
};
