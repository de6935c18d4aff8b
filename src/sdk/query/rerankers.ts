/** What the package exports as `rerankers`, as LanceDB's SDK does. */

export { type Reranker, RRFReranker } from './rerank.ts';
