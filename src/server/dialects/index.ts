/**
 * Exports the dialects of Lance's clients, which translate what they send and expect where it
 * differs from the plain protocol.
 */

export type { Dialect } from './dialect.ts';
export { lanceNamespaceDialect } from './lance-namespace-dialect.ts';
export { lancedbDialect } from './lancedb-dialect.ts';
