/**
 * Defines the JSON Schemas and TypeScript types of the requests of QueryTable,
 * ExplainTableQueryPlan and AnalyzeTableQueryPlan, and of the parts of a query, such as its vector,
 * full-text search and ordering. Only the last two operations have a response schema, because
 * QueryTable answers with Arrow data.
 */

import { request, response } from './common.ts';
import {
  array,
  boolean,
  clampedCount,
  count,
  map,
  name,
  nullable,
  number,
  object,
  positive,
  ref,
  type SchemaOf,
  type Static,
  string,
} from './model-schema.ts';

export const MatchQuery = object(
  { terms: string },
  {
    boost: number,
    column: name,
    // Absent, words are looked for as they are; null goes by the length of each word.
    fuzziness: nullable(count),
    max_expansions: count,
    operator: string,
    prefix_length: count,
  },
);
export type MatchQuery = Static<typeof MatchQuery>;

export const PhraseQuery = object({ terms: string }, { column: name, slop: count });
export type PhraseQuery = Static<typeof PhraseQuery>;

/** Not part of the protocol's shape: words of which the last one may go on. */
export const PrefixQuery = object(
  { terms: string },
  { boost: number, column: name, max_expansions: count, operator: string },
);
export type PrefixQuery = Static<typeof PrefixQuery>;

export const MultiMatchQuery = object({ match_queries: array(ref<MatchQuery>('MatchQuery')) });
export type MultiMatchQuery = Static<typeof MultiMatchQuery>;

export interface BoostQuery {
  positive: FtsQuery;
  negative: FtsQuery;
  negative_boost?: number;
}

export interface BooleanQuery {
  must: FtsQuery[];
  must_not: FtsQuery[];
  should: FtsQuery[];
}

/** Exactly one member is meant to be there. */
export interface FtsQuery {
  match?: MatchQuery;
  phrase?: PhraseQuery;
  prefix?: PrefixQuery;
  boost?: BoostQuery;
  multi_match?: MultiMatchQuery;
  boolean?: BooleanQuery;
}

const fts = ref<FtsQuery>('FtsQuery');

export const BoostQuery = object(
  { positive: fts, negative: fts },
  { negative_boost: number },
) as unknown as SchemaOf<BoostQuery>;

export const BooleanQuery = object({
  must: array(fts),
  must_not: array(fts),
  should: array(fts),
}) as unknown as SchemaOf<BooleanQuery>;

export const FtsQuery = object(
  {},
  {
    match: ref<MatchQuery>('MatchQuery'),
    phrase: ref<PhraseQuery>('PhraseQuery'),
    prefix: ref<PrefixQuery>('PrefixQuery'),
    boost: ref<BoostQuery>('BoostQuery'),
    multi_match: ref<MultiMatchQuery>('MultiMatchQuery'),
    boolean: ref<BooleanQuery>('BooleanQuery'),
  },
) as unknown as SchemaOf<FtsQuery>;

export const StringFtsQuery = object({ query: string }, { columns: array(name) });
export type StringFtsQuery = Static<typeof StringFtsQuery>;

export const StructuredFtsQuery = object({ query: fts });
export type StructuredFtsQuery = Static<typeof StructuredFtsQuery>;

/** At most one member is meant to be there. */
export const QueryVector = object(
  {},
  { single_vector: array(number), multi_vector: array(array(number)) },
);
export type QueryVector = Static<typeof QueryVector>;

/** Names of columns, which Arrow lets be empty, or output names and the SQL expressions that give them. Not both. */
export const QueryColumns = object({}, { column_names: array(string), column_aliases: map(name) });
export type QueryColumns = Static<typeof QueryColumns>;

export const QueryText = object(
  {},
  {
    string_query: ref<StringFtsQuery>('StringFtsQuery'),
    structured_query: ref<StructuredFtsQuery>('StructuredFtsQuery'),
  },
);
export type QueryText = Static<typeof QueryText>;

/** Not part of the protocol's shape: one key of an ordering. */
export const OrderBy = object({ column_name: name }, { ascending: boolean, nulls_first: boolean });
export type OrderBy = Static<typeof OrderBy>;

const query = {
  id: array(string),
  incarnation: string,
  branch: string,
  bypass_vector_index: boolean,
  columns: ref<QueryColumns>('QueryColumns'),
  distance_type: string,
  ef: count,
  fast_search: boolean,
  filter: string,
  full_text_query: ref<QueryText>('QueryText'),
  lower_bound: number,
  maximum_nprobes: positive,
  minimum_nprobes: positive,
  nprobes: count,
  offset: count,
  order_by: array(ref<OrderBy>('OrderBy')),
  prefilter: boolean,
  refine_factor: count,
  upper_bound: number,
  // The protocol requires the member and allows it to be null, which says the same as leaving it out.
  vector: ref<QueryVector>('QueryVector'),
  vector_column: name,
  version: count,
  with_row_id: boolean,
};

/** `k` is the most rows to answer; with a vector, of its nearest ones. */
export const QueryTableRequest = request({ k: clampedCount }, query);
export type QueryTableRequest = Static<typeof QueryTableRequest>;

export const AnalyzeTableQueryPlanRequest = request({ k: clampedCount }, query);
export type AnalyzeTableQueryPlanRequest = Static<typeof AnalyzeTableQueryPlanRequest>;
export const AnalyzeTableQueryPlanResponse = response({ analysis: string });
export type AnalyzeTableQueryPlanResponse = Static<typeof AnalyzeTableQueryPlanResponse>;

export const ExplainTableQueryPlanRequest = request(
  { query: ref<QueryTableRequest>('QueryTableRequest') },
  { id: array(string), incarnation: string, branch: string, verbose: boolean },
);
export type ExplainTableQueryPlanRequest = Static<typeof ExplainTableQueryPlanRequest>;
export const ExplainTableQueryPlanResponse = response({ plan: string });
export type ExplainTableQueryPlanResponse = Static<typeof ExplainTableQueryPlanResponse>;
