/**
 * Exports the rerankers under the name `rerankers`, as LanceDB's SDK does.
 */

export { type Reranker, RRFReranker } from './rerank.ts';
