/**
 * Defines the JSON Schemas and TypeScript types of the requests and responses that create, list and
 * drop indexes, and that describe the statistics of one index.
 */

import { request, response } from './common.ts';
import {
  array,
  boolean,
  count,
  name,
  object,
  positive,
  ref,
  type Static,
  string,
} from './model-schema.ts';

const id = array(string);

/** From `replace` on the members go beyond the protocol's shape; LanceDB's clients send them. */
export const CreateTableIndexRequest = request(
  { column: name, index_type: string },
  {
    id,
    incarnation: string,
    branch: string,
    name: string,
    distance_type: string,
    num_partitions: positive,
    num_sub_vectors: positive,
    num_bits: positive,
    sample_rate: positive,
    max_iterations: positive,
    target_partition_size: positive,
    m: positive,
    ef_construction: positive,
    with_position: boolean,
    base_tokenizer: string,
    language: string,
    max_token_length: count,
    lower_case: boolean,
    stem: boolean,
    remove_stop_words: boolean,
    ascii_folding: boolean,
    replace: boolean,
    train: boolean,
    custom_stop_words: array(string),
    min_ngram_length: count,
    max_ngram_length: count,
    prefix_only: boolean,
    block_size: count,
    lance_tokenizer: string,
    index_operators: boolean,
    preserve_original: boolean,
    split_identifiers: boolean,
    split_on_numerics: boolean,
  },
);
export type CreateTableIndexRequest = Static<typeof CreateTableIndexRequest>;
export const CreateTableIndexResponse = response({}, { transaction_id: string });
export type CreateTableIndexResponse = Static<typeof CreateTableIndexResponse>;
export const CreateTableScalarIndexResponse = response({}, { transaction_id: string });
export type CreateTableScalarIndexResponse = Static<typeof CreateTableScalarIndexResponse>;

export const IndexContent = object(
  { index_name: string, index_uuid: string, columns: array(name), status: string },
  {
    index_type: string,
    type_url: string,
    num_indexed_rows: count,
    num_unindexed_rows: count,
    size_bytes: count,
    num_segments: count,
    created_at: string,
    index_version: count,
    index_details: string,
  },
);
export type IndexContent = Static<typeof IndexContent>;

export const ListTableIndicesRequest = request(
  {},
  { id, incarnation: string, version: count, branch: string, page_token: string, limit: count },
);
export type ListTableIndicesRequest = Static<typeof ListTableIndicesRequest>;
export const ListTableIndicesResponse = response(
  { indexes: array(ref<IndexContent>('IndexContent')) },
  { page_token: string },
);
export type ListTableIndicesResponse = Static<typeof ListTableIndicesResponse>;

export const DescribeTableIndexStatsRequest = request(
  {},
  { id, incarnation: string, version: count, branch: string, index_name: string },
);
export type DescribeTableIndexStatsRequest = Static<typeof DescribeTableIndexStatsRequest>;
export const DescribeTableIndexStatsResponse = response(
  {},
  {
    distance_type: string,
    index_type: string,
    num_indexed_rows: count,
    num_unindexed_rows: count,
    num_indices: count,
  },
);
export type DescribeTableIndexStatsResponse = Static<typeof DescribeTableIndexStatsResponse>;

export const DropTableIndexRequest = request(
  {},
  { id, incarnation: string, branch: string, index_name: string },
);
export type DropTableIndexRequest = Static<typeof DropTableIndexRequest>;
export const DropTableIndexResponse = response({}, { transaction_id: string });
export type DropTableIndexResponse = Static<typeof DropTableIndexResponse>;
