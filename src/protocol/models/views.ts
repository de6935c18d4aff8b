/**
 * Defines the JSON Schemas and TypeScript types of materialized views: the requests and responses
 * that create and refresh a view, the query that defines a view (`ViewQuery`), and what
 * DescribeTable returns about a view (`MaterializedViewInfo`).
 */

import { request, response } from './common.ts';
import {
  anyObject,
  array,
  boolean,
  count,
  integer,
  name,
  number,
  object,
  oneOf,
  ref,
  type Static,
  string,
} from './model-schema.ts';

const id = array(string);

export const MaterializedViewUdtfEntry = object(
  {
    kind: oneOf('udtf', 'chunker'),
    udtf: string,
    udtf_sha: string,
    udtf_name: string,
    udtf_version: string,
  },
  {
    input_columns: array(name),
    partition_by: name,
    partition_by_indexed_column: name,
    num_cpus: number,
    num_gpus: number,
    memory: integer,
    error_handling: anyObject,
    batch: boolean,
    manifest: string,
    manifest_checksum: string,
  },
);
export type MaterializedViewUdtfEntry = Static<typeof MaterializedViewUdtfEntry>;

export const CreateMaterializedViewRequest = request(
  { kind: oneOf('query', 'udtf', 'chunker'), source_query: string, output_schema: string },
  {
    id,
    udtf_spec: ref<MaterializedViewUdtfEntry>('MaterializedViewUdtfEntry'),
    with_no_data: boolean,
    auto_refresh: boolean,
    /** Beyond the protocol's shape: the id of the source, in place of the one that the query names. */
    source_id: array(string),
  },
);
export type CreateMaterializedViewRequest = Static<typeof CreateMaterializedViewRequest>;
/** `transaction_id` and what `RefreshMaterializedViewResponse` adds go beyond the protocol's shape. */
export const CreateMaterializedViewResponse = response(
  { version: count },
  { job_id: string, transaction_id: string, location: string, incarnation: string },
);
export type CreateMaterializedViewResponse = Static<typeof CreateMaterializedViewResponse>;

export const RefreshMaterializedViewRequest = request(
  {},
  {
    id,
    src_version: integer,
    max_rows_per_fragment: integer,
    concurrency: integer,
    intra_applier_concurrency: integer,
    source_task_size: integer,
    cluster: string,
    output_limit: integer,
    manifest: string,
    /** Beyond the protocol's shape: computes all rows anew. */
    full: boolean,
    incarnation: string,
  },
);
export type RefreshMaterializedViewRequest = Static<typeof RefreshMaterializedViewRequest>;
/** What goes beyond the protocol's shape says what was done, where that is done before the answer. */
export const RefreshMaterializedViewResponse = response(
  { job_id: string },
  {
    mode: oneOf('rebuild', 'incremental', 'no_op'),
    rows_written: count,
    source_version: count,
    version: count,
    transaction_id: string,
  },
);
export type RefreshMaterializedViewResponse = Static<typeof RefreshMaterializedViewResponse>;

/** What a materialized view is of, as DescribeTable tells it. */
export const MaterializedViewInfo = object(
  { source: array(string), columns: array(array(string)), inputs: array(string) },
  { filter: string, limit: count, source_version: count },
);
export type MaterializedViewInfo = Static<typeof MaterializedViewInfo>;

/** The query of a view, in JSON: what `source_query` holds. Names beside these are refused. */
export const ViewQuery = object(
  { source_table: string },
  {
    kind: oneOf('select', 'namespaced_select'),
    source_namespace: array(string),
    projections: array(object({ output: string, expression: string }, {})),
    filter: string,
    limit: count,
    inputs: array(string),
  },
);
export type ViewQuery = Static<typeof ViewQuery>;
