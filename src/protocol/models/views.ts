/** Defines the JSON models of requests and responses that create and refresh materialized views. */

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
  },
);
export type CreateMaterializedViewRequest = Static<typeof CreateMaterializedViewRequest>;
export const CreateMaterializedViewResponse = response({ version: count }, { job_id: string });
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
  },
);
export type RefreshMaterializedViewRequest = Static<typeof RefreshMaterializedViewRequest>;
export const RefreshMaterializedViewResponse = response({ job_id: string });
export type RefreshMaterializedViewResponse = Static<typeof RefreshMaterializedViewResponse>;
