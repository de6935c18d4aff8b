/**
 * Exports the dialects of Lance's clients, which translate their requests and answers where these
 * differ from the plain protocol.
 */

export type { Dialect } from './dialect.ts';
export { lancedbDialect } from './lancedb-dialect.ts';
