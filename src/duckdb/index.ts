/**
 * Exports `registerTable` and `registerTables`, which copy rows of one or several tables into
 * temporary tables of a DuckDB connection.
 */

export type { DuckDBAppenderLike, DuckDBConnectionLike } from './peer.ts';
export {
  type RegisteredTable,
  type RegisterTableOptions,
  registerTable,
  registerTables,
} from './register.ts';
