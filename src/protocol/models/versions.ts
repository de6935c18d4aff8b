/**
 * Defines the JSON Schemas and TypeScript types of the requests and responses about table
 * versions: to list, describe, create, delete and restore them. Those that record versions of
 * several tables at once (`BatchCreateTableVersions...`) or commit several operations on tables as
 * one (`BatchCommitTables...`) are here too.
 */

import { request, response } from './common.ts';
import {
  array,
  boolean,
  count,
  integer,
  map,
  object,
  ref,
  type Static,
  string,
} from './model-schema.ts';
import type {
  DeclareTableRequest,
  DeclareTableResponse,
  DeregisterTableRequest,
  DeregisterTableResponse,
} from './tables.ts';

const id = array(string);
const metadata = map(string);

export const TableVersion = object(
  { version: count, manifest_path: string },
  { manifest_size: count, e_tag: string, timestamp_millis: integer, metadata },
);
export type TableVersion = Static<typeof TableVersion>;

export const RestoreTableRequest = request(
  { version: count },
  { id, incarnation: string, branch: string },
);
export type RestoreTableRequest = Static<typeof RestoreTableRequest>;
export const RestoreTableResponse = response({}, { transaction_id: string });
export type RestoreTableResponse = Static<typeof RestoreTableResponse>;

export const ListTableVersionsRequest = request(
  {},
  {
    id,
    incarnation: string,
    branch: string,
    page_token: string,
    limit: count,
    descending: boolean,
  },
);
export type ListTableVersionsRequest = Static<typeof ListTableVersionsRequest>;
export const ListTableVersionsResponse = response(
  { versions: array(ref<TableVersion>('TableVersion')) },
  { page_token: string },
);
export type ListTableVersionsResponse = Static<typeof ListTableVersionsResponse>;

export const CreateTableVersionRequest = request(
  { version: count, manifest_path: string },
  {
    id,
    incarnation: string,
    branch: string,
    manifest_size: count,
    e_tag: string,
    metadata,
    naming_scheme: string,
  },
);
export type CreateTableVersionRequest = Static<typeof CreateTableVersionRequest>;
export const CreateTableVersionResponse = response(
  {},
  { transaction_id: string, version: ref<TableVersion>('TableVersion') },
);
export type CreateTableVersionResponse = Static<typeof CreateTableVersionResponse>;

export const DescribeTableVersionRequest = request(
  {},
  { id, incarnation: string, version: count, branch: string },
);
export type DescribeTableVersionRequest = Static<typeof DescribeTableVersionRequest>;
export const DescribeTableVersionResponse = response({
  version: ref<TableVersion>('TableVersion'),
});
export type DescribeTableVersionResponse = Static<typeof DescribeTableVersionResponse>;

/** From `start_version` to before `end_version`; an end of -1 means up to the latest, with it. */
export const VersionRange = object({ start_version: integer, end_version: integer });
export type VersionRange = Static<typeof VersionRange>;

export const BatchDeleteTableVersionsRequest = request(
  { ranges: array(ref<VersionRange>('VersionRange')) },
  { id, incarnation: string, branch: string },
);
export type BatchDeleteTableVersionsRequest = Static<typeof BatchDeleteTableVersionsRequest>;
export const BatchDeleteTableVersionsResponse = response(
  {},
  { deleted_count: count, transaction_id: string },
);
export type BatchDeleteTableVersionsResponse = Static<typeof BatchDeleteTableVersionsResponse>;

export const CreateTableVersionEntry = object(
  { id, version: count, manifest_path: string },
  { branch: string, manifest_size: count, e_tag: string, metadata, naming_scheme: string },
);
export type CreateTableVersionEntry = Static<typeof CreateTableVersionEntry>;

export const BatchCreateTableVersionsRequest = request({
  entries: array(ref<CreateTableVersionEntry>('CreateTableVersionEntry')),
});
export type BatchCreateTableVersionsRequest = Static<typeof BatchCreateTableVersionsRequest>;
export const BatchCreateTableVersionsResponse = response(
  { versions: array(ref<TableVersion>('TableVersion')) },
  { transaction_id: string },
);
export type BatchCreateTableVersionsResponse = Static<typeof BatchCreateTableVersionsResponse>;

/** Exactly one member is meant to be there. */
export const CommitTableOperation = object(
  {},
  {
    declare_table: ref<DeclareTableRequest>('DeclareTableRequest'),
    create_table_version: ref<CreateTableVersionRequest>('CreateTableVersionRequest'),
    delete_table_versions: ref<BatchDeleteTableVersionsRequest>('BatchDeleteTableVersionsRequest'),
    deregister_table: ref<DeregisterTableRequest>('DeregisterTableRequest'),
  },
);
export type CommitTableOperation = Static<typeof CommitTableOperation>;

export const CommitTableResult = object(
  {},
  {
    declare_table: ref<DeclareTableResponse>('DeclareTableResponse'),
    create_table_version: ref<CreateTableVersionResponse>('CreateTableVersionResponse'),
    delete_table_versions: ref<BatchDeleteTableVersionsResponse>(
      'BatchDeleteTableVersionsResponse',
    ),
    deregister_table: ref<DeregisterTableResponse>('DeregisterTableResponse'),
  },
);
export type CommitTableResult = Static<typeof CommitTableResult>;

export const BatchCommitTablesRequest = request({
  operations: array(ref<CommitTableOperation>('CommitTableOperation')),
});
export type BatchCommitTablesRequest = Static<typeof BatchCommitTablesRequest>;
export const BatchCommitTablesResponse = response(
  { results: array(ref<CommitTableResult>('CommitTableResult')) },
  { transaction_id: string },
);
export type BatchCommitTablesResponse = Static<typeof BatchCommitTablesResponse>;
