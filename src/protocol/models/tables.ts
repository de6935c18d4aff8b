/**
 * Defines the JSON Schemas and TypeScript types of requests and responses about tables as entries
 * of a catalog: to list, create, declare, register, describe, rename, deregister and drop them, and
 * to test whether one exists. It also has those of a table's statistics. The schemas about rows,
 * columns and versions are in other files of this folder.
 */

import { request, response } from './common.ts';
import { array, boolean, count, map, object, ref, type Static, string } from './model-schema.ts';
import type { JsonArrowSchema } from './schema.ts';
import type { MaterializedViewInfo } from './views.ts';

const id = array(string);
const properties = map(string);
const options = map(string);

export const ListTablesRequest = request(
  {},
  { id, page_token: string, limit: count, include_declared: boolean },
);
export type ListTablesRequest = Static<typeof ListTablesRequest>;
export const ListTablesResponse = response({ tables: array(string) }, { page_token: string });
export type ListTablesResponse = Static<typeof ListTablesResponse>;

export const RegisterTableRequest = request({ location: string }, { id, mode: string, properties });
export type RegisterTableRequest = Static<typeof RegisterTableRequest>;
export const RegisterTableResponse = response(
  {},
  { transaction_id: string, location: string, incarnation: string, properties },
);
export type RegisterTableResponse = Static<typeof RegisterTableResponse>;

export const TableBasicStats = object({ num_deleted_rows: count, num_fragments: count });
export type TableBasicStats = Static<typeof TableBasicStats>;

/**
 * Goes beyond the protocol: of a table written for Lance, whether it opens there, and if not, why.
 * `by_path` says what Lance finds by the table's path in place of the newest version, where it lags.
 * `external` is true of a table whose rows other programs write in Lance's format, which are read at
 * its location alone; `reason` may then also say why its schema is not told.
 */
export const LanceOpening = response(
  { opens: boolean },
  { reason: string, by_path: string, external: boolean },
);
export type LanceOpening = Static<typeof LanceOpening>;

/**
 * `incarnation` goes beyond the protocol's shape, here and in the other requests that have it: the
 * operation is then for that incarnation, and fails with TableNotFound where another table has the
 * name by now. Answers tell it; without it, the operation is for whichever table has the name.
 */
export const DescribeTableRequest = request(
  {},
  {
    id,
    incarnation: string,
    version: count,
    tag: string,
    branch: string,
    with_table_uri: boolean,
    load_detailed_metadata: boolean,
    check_declared: boolean,
    vend_credentials: boolean,
  },
);
export type DescribeTableRequest = Static<typeof DescribeTableRequest>;
export const DescribeTableResponse = response(
  {},
  {
    table: string,
    namespace: array(string),
    version: count,
    location: string,
    incarnation: string,
    table_uri: string,
    schema: ref<JsonArrowSchema>('JsonArrowSchema'),
    storage_options: options,
    stats: ref<TableBasicStats>('TableBasicStats'),
    lance: ref<LanceOpening>('LanceOpening'),
    materialized_view: ref<MaterializedViewInfo>('MaterializedViewInfo'),
    metadata: map(string),
    properties,
    managed_versioning: boolean,
    is_only_declared: boolean,
  },
);
export type DescribeTableResponse = Static<typeof DescribeTableResponse>;

export const TableExistsRequest = request({}, { id, incarnation: string, version: count });
export type TableExistsRequest = Static<typeof TableExistsRequest>;

export const DropTableRequest = request({}, { id });
export type DropTableRequest = Static<typeof DropTableRequest>;
export const DropTableResponse = response(
  {},
  { transaction_id: string, id, location: string, properties },
);
export type DropTableResponse = Static<typeof DropTableResponse>;

export const DeregisterTableRequest = request({}, { id });
export type DeregisterTableRequest = Static<typeof DeregisterTableRequest>;
export const DeregisterTableResponse = response(
  {},
  { transaction_id: string, id, location: string, properties },
);
export type DeregisterTableResponse = Static<typeof DeregisterTableResponse>;

/** `to_root` goes beyond the protocol's shape: on the wire an empty `new_namespace_id` names nothing. */
export const RenameTableRequest = request(
  { new_table_name: string },
  { id, new_namespace_id: array(string), to_root: boolean },
);
export type RenameTableRequest = Static<typeof RenameTableRequest>;
export const RenameTableResponse = response({}, { transaction_id: string });
export type RenameTableResponse = Static<typeof RenameTableResponse>;

export const CreateTableRequest = request(
  {},
  { id, mode: string, properties, storage_options: options },
);
export type CreateTableRequest = Static<typeof CreateTableRequest>;
export const CreateTableResponse = response(
  {},
  {
    transaction_id: string,
    location: string,
    incarnation: string,
    version: count,
    storage_options: options,
    properties,
  },
);
export type CreateTableResponse = Static<typeof CreateTableResponse>;

export const DeclareTableRequest = request(
  {},
  { id, location: string, vend_credentials: boolean, properties },
);
export type DeclareTableRequest = Static<typeof DeclareTableRequest>;
export const DeclareTableResponse = response(
  {},
  {
    transaction_id: string,
    location: string,
    incarnation: string,
    storage_options: options,
    properties,
    managed_versioning: boolean,
  },
);
export type DeclareTableResponse = Static<typeof DeclareTableResponse>;

export const GetTableStatsRequest = request({}, { id, incarnation: string, branch: string });
export type GetTableStatsRequest = Static<typeof GetTableStatsRequest>;

/** Rows per fragment. */
export const FragmentSummary = object({
  min: count,
  max: count,
  mean: count,
  p25: count,
  p50: count,
  p75: count,
  p99: count,
});
export type FragmentSummary = Static<typeof FragmentSummary>;

export const FragmentStats = object({
  num_fragments: count,
  num_small_fragments: count,
  lengths: ref<FragmentSummary>('FragmentSummary'),
});
export type FragmentStats = Static<typeof FragmentStats>;

export const GetTableStatsResponse = response({
  total_bytes: count,
  num_rows: count,
  num_indices: count,
  fragment_stats: ref<FragmentStats>('FragmentStats'),
});
export type GetTableStatsResponse = Static<typeof GetTableStatsResponse>;
