/**
 * Exports the public names of the entry `dirspace/duckdb`: `registerTable` and `registerTables`,
 * which copy rows of tables into a connection of `@duckdb/node-api`. The code is in duckdb/.
 */

export {
  type DuckDBAppenderLike,
  type DuckDBConnectionLike,
  type RegisteredTable,
  type RegisterTableOptions,
  registerTable,
  registerTables,
} from './duckdb/index.ts';
