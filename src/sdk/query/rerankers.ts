/**
 * Exports `RRFReranker` and the interface `Reranker`. query/index.ts exports this file as the
 * namespace `rerankers`, which LanceDB's SDK has too.
 */

export { type Reranker, RRFReranker } from './rerank.ts';
