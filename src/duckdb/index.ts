/**
 * Exports what gives DuckDB the rows of tables: `registerTable` and `registerTables`.
 */

export type { DuckDBAppenderLike, DuckDBConnectionLike } from './peer.ts';
export {
  type RegisteredTable,
  type RegisterTableOptions,
  registerTable,
  registerTables,
} from './register.ts';
