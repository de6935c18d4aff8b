/**
 * DirectoryNamespace: the catalog of nested directories behind the Namespace interface. Owns the
 * life of the catalog and nothing else: every operation is a function in a file of its own.
 */
import type { ArrowBody, RecordBatchStream } from '../arrow.ts';
import { DirspaceError } from '../errors.ts';
import { type AnyOperation, requestModel } from '../protocol/every-operation.ts';
import type * as extensions from '../protocol/extensions.ts';
import {
  type CallOptions,
  type Namespace,
  type RequestOf,
  type ResponseOf,
  unsupportedOperations,
} from '../protocol/namespace.ts';
import { normalize } from '../protocol/normalize.ts';
import type { FileStore } from '../store/file-store.ts';
import { tableGone } from '../table/incarnation.ts';
import type { AutoCompaction } from './auto-compact.ts';
import { batchCommitTables, batchCreateTableVersions } from './batch-commit.ts';
import type { Catalog } from './catalog.ts';
import * as changes from './changes.ts';
import { createTable, declareTable } from './create-table.ts';
import { describeTable } from './describe.ts';
import * as namespaces from './namespaces.ts';
import { type OpenOptions, openCatalog } from './open-catalog.ts';
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
import { watchCatalog } from './watch.ts';

/** Operations whose engine side is not there. */
const MISSING = [
  'AlterTableBackfillColumns',
  'RefreshMaterializedView',
  'CreateMaterializedView',
  'CreateTableIndex',
  'CreateTableScalarIndex',
  'ListTableIndices',
  'DescribeTableIndexStats',
  'DropTableIndex',
] as const;

export type DirectoryOptions = OpenOptions;

/** Opens the catalog at a root. @throws UnsupportedFormat, InvalidInput, PermissionDenied */
export async function openDirectoryNamespace(
  options: DirectoryOptions,
): Promise<DirectoryNamespace> {
  const { catalog, store, autoCompaction } = await openCatalog(options);
  return new DirectoryNamespace(catalog, store, autoCompaction);
}

/** A folder that vanished under an operation was a table that somebody dropped or moved. */
async function onTable<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw tableGone(error);
  }
}

type Op = Parameters<typeof unsupportedOperations>[0][number];
type Request<Name extends Op> = RequestOf<Name>;
type Answer<Name extends Op> = Promise<ResponseOf<Name>>;

export class DirectoryNamespace
  extends unsupportedOperations(MISSING)
  implements Namespace, Required<extensions.CatalogExtensions>
{
  readonly #catalog: Catalog;
  readonly #store: FileStore;
  readonly #autoCompaction: AutoCompaction | undefined;
  readonly #closing = new AbortController();

  constructor(catalog: Catalog, store: FileStore, autoCompaction?: AutoCompaction) {
    super();
    this.#catalog = catalog;
    this.#store = store;
    this.#autoCompaction = autoCompaction;
  }

  async createNamespace(
    request: Request<'CreateNamespace'>,
    options?: CallOptions,
  ): Answer<'CreateNamespace'> {
    return namespaces.createNamespace(...this.#enter('CreateNamespace', request, options));
  }

  async listNamespaces(
    request: Request<'ListNamespaces'>,
    options?: CallOptions,
  ): Answer<'ListNamespaces'> {
    return namespaces.listNamespaces(...this.#enter('ListNamespaces', request, options));
  }

  async describeNamespace(
    request: Request<'DescribeNamespace'>,
    options?: CallOptions,
  ): Answer<'DescribeNamespace'> {
    return namespaces.describeNamespace(...this.#enter('DescribeNamespace', request, options));
  }

  async dropNamespace(
    request: Request<'DropNamespace'>,
    options?: CallOptions,
  ): Answer<'DropNamespace'> {
    return namespaces.dropNamespace(...this.#enter('DropNamespace', request, options));
  }

  async namespaceExists(
    request: Request<'NamespaceExists'>,
    options?: CallOptions,
  ): Answer<'NamespaceExists'> {
    await namespaces.describeNamespace(...this.#enter('NamespaceExists', request, options));
  }

  async listTables(request: Request<'ListTables'>, options?: CallOptions): Answer<'ListTables'> {
    return tables.listTables(...this.#enter('ListTables', request, options));
  }

  async listAllTables(
    request: Request<'ListAllTables'>,
    options?: CallOptions,
  ): Answer<'ListAllTables'> {
    return tables.listAllTables(...this.#enter('ListAllTables', request, options));
  }

  async registerTable(
    request: Request<'RegisterTable'>,
    options?: CallOptions,
  ): Answer<'RegisterTable'> {
    return tables.registerTable(...this.#enter('RegisterTable', request, options));
  }

  async describeTable(
    request: Request<'DescribeTable'>,
    options?: CallOptions,
  ): Answer<'DescribeTable'> {
    return describeTable(...this.#enter('DescribeTable', request, options));
  }

  async tableExists(request: Request<'TableExists'>, options?: CallOptions): Answer<'TableExists'> {
    return tables.tableExistsIn(...this.#enter('TableExists', request, options));
  }

  async dropTable(request: Request<'DropTable'>, options?: CallOptions): Answer<'DropTable'> {
    return tables.dropTable(...this.#enter('DropTable', request, options));
  }

  async deregisterTable(
    request: Request<'DeregisterTable'>,
    options?: CallOptions,
  ): Answer<'DeregisterTable'> {
    return tables.deregisterTable(...this.#enter('DeregisterTable', request, options));
  }

  async restoreTable(
    request: Request<'RestoreTable'>,
    options?: CallOptions,
  ): Answer<'RestoreTable'> {
    return onTable(rows.restoreTable(...this.#enter('RestoreTable', request, options), options));
  }

  async renameTable(request: Request<'RenameTable'>, options?: CallOptions): Answer<'RenameTable'> {
    return tables.renameTable(...this.#enter('RenameTable', request, options));
  }

  async updateTableSchemaMetadata(
    request: Request<'UpdateTableSchemaMetadata'>,
    options?: CallOptions,
  ): Answer<'UpdateTableSchemaMetadata'> {
    return onTable(
      rows.updateTableSchemaMetadata(
        ...this.#enter('UpdateTableSchemaMetadata', request, options),
        options,
      ),
    );
  }

  async listTableVersions(
    request: Request<'ListTableVersions'>,
    options?: CallOptions,
  ): Answer<'ListTableVersions'> {
    return versions.listTableVersions(...this.#enter('ListTableVersions', request, options));
  }

  async createTableVersion(
    request: Request<'CreateTableVersion'>,
    options?: CallOptions,
  ): Answer<'CreateTableVersion'> {
    return onTable(
      versions.createTableVersion(...this.#enter('CreateTableVersion', request, options)),
    );
  }

  async describeTableVersion(
    request: Request<'DescribeTableVersion'>,
    options?: CallOptions,
  ): Answer<'DescribeTableVersion'> {
    return versions.describeTableVersion(...this.#enter('DescribeTableVersion', request, options));
  }

  async batchDeleteTableVersions(
    request: Request<'BatchDeleteTableVersions'>,
    options?: CallOptions,
  ): Answer<'BatchDeleteTableVersions'> {
    return onTable(
      versions.batchDeleteTableVersions(
        ...this.#enter('BatchDeleteTableVersions', request, options),
      ),
    );
  }

  async batchCreateTableVersions(
    request: Request<'BatchCreateTableVersions'>,
    options?: CallOptions,
  ): Answer<'BatchCreateTableVersions'> {
    return onTable(
      batchCreateTableVersions(...this.#enter('BatchCreateTableVersions', request, options)),
    );
  }

  async batchCommitTables(
    request: Request<'BatchCommitTables'>,
    options?: CallOptions,
  ): Answer<'BatchCommitTables'> {
    return onTable(batchCommitTables(...this.#enter('BatchCommitTables', request, options)));
  }

  async getTableStats(
    request: Request<'GetTableStats'>,
    options?: CallOptions,
  ): Answer<'GetTableStats'> {
    return rows.getTableStats(...this.#enter('GetTableStats', request, options));
  }

  async queryTable(request: Request<'QueryTable'>, options?: CallOptions): Answer<'QueryTable'> {
    return query.queryTable(...this.#enter('QueryTable', request, options), options);
  }

  async countTableRows(
    request: Request<'CountTableRows'>,
    options?: CallOptions,
  ): Answer<'CountTableRows'> {
    return rows.countTableRows(...this.#enter('CountTableRows', request, options));
  }

  async listTableTags(
    request: Request<'ListTableTags'>,
    options?: CallOptions,
  ): Answer<'ListTableTags'> {
    return references.listTableTags(...this.#enter('ListTableTags', request, options));
  }

  async getTableTagVersion(
    request: Request<'GetTableTagVersion'>,
    options?: CallOptions,
  ): Answer<'GetTableTagVersion'> {
    return references.getTableTagVersion(...this.#enter('GetTableTagVersion', request, options));
  }

  async declareTable(
    request: Request<'DeclareTable'>,
    options?: CallOptions,
  ): Answer<'DeclareTable'> {
    return declareTable(...this.#enter('DeclareTable', request, options));
  }

  async createTableTag(
    request: Request<'CreateTableTag'>,
    options?: CallOptions,
  ): Answer<'CreateTableTag'> {
    return onTable(references.createTableTag(...this.#enter('CreateTableTag', request, options)));
  }

  async deleteTableTag(
    request: Request<'DeleteTableTag'>,
    options?: CallOptions,
  ): Answer<'DeleteTableTag'> {
    return onTable(references.deleteTableTag(...this.#enter('DeleteTableTag', request, options)));
  }

  async updateTableTag(
    request: Request<'UpdateTableTag'>,
    options?: CallOptions,
  ): Answer<'UpdateTableTag'> {
    return onTable(references.updateTableTag(...this.#enter('UpdateTableTag', request, options)));
  }

  async listTableBranches(
    request: Request<'ListTableBranches'>,
    options?: CallOptions,
  ): Answer<'ListTableBranches'> {
    return references.listTableBranches(...this.#enter('ListTableBranches', request, options));
  }

  async createTableBranch(
    request: Request<'CreateTableBranch'>,
    options?: CallOptions,
  ): Answer<'CreateTableBranch'> {
    return onTable(
      references.createTableBranch(...this.#enter('CreateTableBranch', request, options)),
    );
  }

  async deleteTableBranch(
    request: Request<'DeleteTableBranch'>,
    options?: CallOptions,
  ): Answer<'DeleteTableBranch'> {
    return onTable(
      references.deleteTableBranch(...this.#enter('DeleteTableBranch', request, options)),
    );
  }

  async describeTransaction(
    request: Request<'DescribeTransaction'>,
    options?: CallOptions,
  ): Answer<'DescribeTransaction'> {
    return describeTransaction(...this.#enter('DescribeTransaction', request, options));
  }

  async alterTransaction(
    request: Request<'AlterTransaction'>,
    options?: CallOptions,
  ): Answer<'AlterTransaction'> {
    return alterTransaction(...this.#enter('AlterTransaction', request, options));
  }

  async createTable(
    request: Request<'CreateTable'>,
    data: ArrowBody,
    options?: CallOptions,
  ): Answer<'CreateTable'> {
    return onTable(createTable(...this.#enter('CreateTable', request, options), data, options));
  }

  async insertIntoTable(
    request: Request<'InsertIntoTable'>,
    data: ArrowBody,
    options?: CallOptions,
  ): Answer<'InsertIntoTable'> {
    return onTable(
      rows.insertIntoTable(...this.#enter('InsertIntoTable', request, options), data, options),
    );
  }

  async undropTable(
    request: extensions.UndropTableRequest,
    options?: CallOptions,
  ): Promise<extensions.UndropTableResponse> {
    return undropTable(...this.#enter('UndropTable', request, options));
  }

  async updateNamespaceProperties(
    request: extensions.UpdateNamespacePropertiesRequest,
    options?: CallOptions,
  ): Promise<{ readonly properties: Readonly<Record<string, string>> }> {
    return namespaces.updateNamespaceProperties(
      ...this.#enter('UpdateNamespaceProperties', request, options),
    );
  }

  async deleteRows(
    request: extensions.DeleteRowsRequest,
    options?: CallOptions,
  ): Promise<extensions.DeleteRowsResponse> {
    return onTable(rows.deleteRows(...this.#enter('DeleteRows', request, options), options));
  }

  async cleanupTable(
    request: extensions.CleanupTableRequest,
    options?: CallOptions,
  ): Promise<extensions.CleanupTableResponse> {
    return onTable(cleanupTable(...this.#enter('CleanupTable', request, options)));
  }

  async optimizeTable(
    request: extensions.OptimizeTableRequest,
    options?: extensions.OptimizeCallOptions,
  ): Promise<extensions.OptimizeTableResponse> {
    return onTable(optimizeTable(...this.#enter('OptimizeTable', request, options), options));
  }

  async verify(
    request: extensions.VerifyRequest,
    options?: CallOptions,
  ): Promise<extensions.VerifyResponse> {
    return verifyCatalog(...this.#enter('Verify', request, options), options);
  }

  async repair(
    request: extensions.RepairRequest,
    options?: CallOptions,
  ): Promise<extensions.RepairResponse> {
    return repairCatalog(...this.#enter('Repair', request, options), options);
  }

  async purgeTrash(
    request: extensions.PurgeTrashRequest,
    options?: CallOptions,
  ): Promise<extensions.PurgeTrashResponse> {
    return purgeTrash(...this.#enter('PurgeTrash', request, options));
  }

  async deleteFromTable(
    request: Request<'DeleteFromTable'>,
    options?: CallOptions,
  ): Answer<'DeleteFromTable'> {
    return onTable(
      rows.deleteFromTable(...this.#enter('DeleteFromTable', request, options), options),
    );
  }

  async updateTable(request: Request<'UpdateTable'>, options?: CallOptions): Answer<'UpdateTable'> {
    return onTable(changes.updateTable(...this.#enter('UpdateTable', request, options), options));
  }

  async mergeInsertIntoTable(
    request: Request<'MergeInsertIntoTable'>,
    data: ArrowBody,
    options?: CallOptions,
  ): Answer<'MergeInsertIntoTable'> {
    return onTable(
      changes.mergeInsertIntoTable(
        ...this.#enter('MergeInsertIntoTable', request, options),
        data,
        options,
      ),
    );
  }

  async alterTableAddColumns(
    request: Request<'AlterTableAddColumns'>,
    options?: CallOptions,
  ): Answer<'AlterTableAddColumns'> {
    return onTable(
      schemas.alterTableAddColumns(
        ...this.#enter('AlterTableAddColumns', request, options),
        options,
      ),
    );
  }

  async alterTableAlterColumns(
    request: Request<'AlterTableAlterColumns'>,
    options?: CallOptions,
  ): Answer<'AlterTableAlterColumns'> {
    return onTable(
      schemas.alterTableAlterColumns(
        ...this.#enter('AlterTableAlterColumns', request, options),
        options,
      ),
    );
  }

  async alterTableDropColumns(
    request: Request<'AlterTableDropColumns'>,
    options?: CallOptions,
  ): Answer<'AlterTableDropColumns'> {
    return onTable(
      schemas.alterTableDropColumns(
        ...this.#enter('AlterTableDropColumns', request, options),
        options,
      ),
    );
  }

  async updateFieldMetadata(
    request: Request<'UpdateFieldMetadata'>,
    options?: CallOptions,
  ): Answer<'UpdateFieldMetadata'> {
    return onTable(
      schemas.updateFieldMetadata(...this.#enter('UpdateFieldMetadata', request, options), options),
    );
  }

  async explainTableQueryPlan(
    request: Request<'ExplainTableQueryPlan'>,
    options?: CallOptions,
  ): Answer<'ExplainTableQueryPlan'> {
    return query.explainTableQueryPlan(...this.#enter('ExplainTableQueryPlan', request, options));
  }

  async analyzeTableQueryPlan(
    request: Request<'AnalyzeTableQueryPlan'>,
    options?: CallOptions,
  ): Answer<'AnalyzeTableQueryPlan'> {
    return query.analyzeTableQueryPlan(
      ...this.#enter('AnalyzeTableQueryPlan', request, options),
      options,
    );
  }

  async takeRows(
    request: extensions.TakeRowsRequest,
    options?: CallOptions,
  ): Promise<RecordBatchStream> {
    return query.takeTableRows(...this.#enter('TakeRows', request, options), options);
  }

  watch(request: extensions.WatchRequest, options?: CallOptions): extensions.CatalogWatch {
    const catalog = this.#use(options);
    const signals = [
      this.#closing.signal,
      ...(options?.signal === undefined ? [] : [options.signal]),
    ];
    return watchCatalog(catalog, this.#store, request, AbortSignal.any(signals));
  }

  /** Ends watches and waits for compaction in the background; running operations finish. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#autoCompaction?.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** What every operation begins with. @throws Closed, InvalidInput, or the signal's reason */
  #enter<Given extends object>(
    operation: AnyOperation,
    request: Given,
    options: CallOptions | undefined,
  ): [Catalog, Given] {
    const catalog = this.#use(options);
    // Callers without types would have what they say wrong written down, to be found damaged.
    return [catalog, normalize(requestModel(operation), request ?? {}) as Given];
  }

  /** @throws Closed, or the signal's reason */
  #use(options: CallOptions | undefined): Catalog {
    if (this.#closing.signal.aborted) {
      throw new DirspaceError('Closed', 'The catalog was closed; open it again to use it.');
    }
    options?.signal?.throwIfAborted();
    return this.#catalog;
  }
}
