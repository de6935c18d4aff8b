/**
 * Exports embedding functions as LanceDB's SDK has them (`embedding`), and what tables need of them: `toEmbeddedStream`
 * fills vectors on their way into a table, `queryVector` makes the vector that a text is searched by.
 */

export { queryVector, toEmbeddedStream } from './embed-rows.ts';
/** Embedding functions: what LanceDB's SDK has as `@lancedb/lancedb/embedding`. */
export * as embedding from './public.ts';
export type { EmbeddingFunctionConfig } from './registry.ts';
