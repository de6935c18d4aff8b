/**
 * Exports the operations on namespaces, tables, rows, columns, indexes, versions, tags, branches,
 * views and transactions, and those that read rows (queries, SQL, profiles). directory/handlers.ts,
 * read-handlers.ts and operation-table.ts map them to operation names. The operations on the trash
 * are in catalog/, and those that maintain a catalog in upkeep/.
 */

export * as branchChanges from './branch-changes.ts';
export * as changes from './changes.ts';
export { batchCommitTables, batchCreateTableVersions } from './commit-tables.ts';
export { cloneTable, createTable, declareTable } from './create-table.ts';
export { describeTable, listTableFiles, tableExists } from './describe.ts';
export * as indexes from './indexes.ts';
export { listAllTables, listTables } from './list-tables.ts';
export * as namespaces from './namespaces.ts';
export * as reads from './reads/index.ts';
export * as rows from './rows.ts';
export * as schemas from './schemas.ts';
export * as tables from './tables.ts';
export { alterTransaction, describeTransaction } from './transactions.ts';
export {
  describeTableVersion,
  listTableVersions,
  references,
  versions,
} from './versions/index.ts';
export * as views from './views.ts';
