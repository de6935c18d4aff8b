/**
 * Exports embedding functions under the names of LanceDB's SDK (`embedding`), `toEmbeddedStream`,
 * which computes vectors while rows are written, and `queryVector`, which computes the vector for a
 * search by text.
 */

export { queryVector, toEmbeddedStream } from './embed-rows.ts';
/** Embedding functions: what LanceDB's SDK has as `@lancedb/lancedb/embedding`. */
export * as embedding from './public.ts';
export * from './public.ts';
