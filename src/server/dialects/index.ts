/**
 * Exports the dialect of LanceDB's clients, which translates their requests and the responses where
 * these differ from the plain protocol, and the interface `Dialect`.
 */

export type { Dialect } from './dialect.ts';
export { lancedbDialect } from './lancedb-dialect.ts';
