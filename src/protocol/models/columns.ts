/**
 * Defines the JSON Schemas and TypeScript types of the requests and responses that add, alter, drop
 * and fill columns, and of those that change the metadata of a schema and its fields.
 */

import { request, response } from './common.ts';
import {
  anyObject,
  array,
  boolean,
  count,
  integer,
  map,
  name,
  nullable,
  number,
  object,
  ref,
  type Static,
  string,
} from './model-schema.ts';

const id = array(string);

export const UpdateTableSchemaMetadataRequest = request(
  {},
  { id, incarnation: string, branch: string, metadata: map(string) },
);
export type UpdateTableSchemaMetadataRequest = Static<typeof UpdateTableSchemaMetadataRequest>;
export const UpdateTableSchemaMetadataResponse = response(
  {},
  { metadata: map(string), transaction_id: string },
);
export type UpdateTableSchemaMetadataResponse = Static<typeof UpdateTableSchemaMetadataResponse>;

export const AddVirtualColumnOutputEntry = object(
  { column: string, struct_field: string, data_type: anyObject, nullable: boolean },
  { metadata: map(string) },
);
export type AddVirtualColumnOutputEntry = Static<typeof AddVirtualColumnOutputEntry>;

export const AddVirtualColumnEntry = object(
  {
    input_columns: array(name),
    outputs: array(ref<AddVirtualColumnOutputEntry>('AddVirtualColumnOutputEntry')),
    image: string,
    udf: string,
    udf_name: string,
    udf_version: string,
  },
  {
    udf_backend: string,
    auto_backfill: boolean,
    manifest: string,
    manifest_checksum: string,
    field_metadata: map(string),
  },
);
export type AddVirtualColumnEntry = Static<typeof AddVirtualColumnEntry>;

/**
 * `data_type` and `metadata` go beyond the protocol's shape. `data_type` is that of a column of
 * nulls: SQL has no name for some.
 */
export const AddColumnsEntry = object(
  { name },
  {
    expression: string,
    data_type: anyObject,
    metadata: map(string),
    computed: string,
    virtual_column: ref<AddVirtualColumnEntry>('AddVirtualColumnEntry'),
  },
);
export type AddColumnsEntry = Static<typeof AddColumnsEntry>;

export const AlterTableAddColumnsRequest = request(
  { new_columns: array(ref<AddColumnsEntry>('AddColumnsEntry')) },
  { id, incarnation: string, branch: string },
);
export type AlterTableAddColumnsRequest = Static<typeof AlterTableAddColumnsRequest>;
/** `transaction_id` goes beyond the protocol's shape here and below: every commit answers its own. */
export const AlterTableAddColumnsResponse = response(
  { version: count },
  { transaction_id: string },
);
export type AlterTableAddColumnsResponse = Static<typeof AlterTableAddColumnsResponse>;

/** A value of null removes the key. */
export const UpdateFieldMetadataEntry = object(
  { path: name, metadata: map(nullable(string)) },
  { replace: boolean },
);
export type UpdateFieldMetadataEntry = Static<typeof UpdateFieldMetadataEntry>;

export const UpdateFieldMetadataRequest = request(
  { updates: array(ref<UpdateFieldMetadataEntry>('UpdateFieldMetadataEntry')) },
  { id, incarnation: string, branch: string },
);
export type UpdateFieldMetadataRequest = Static<typeof UpdateFieldMetadataRequest>;
export const UpdateFieldMetadataResponse = response(
  { version: count },
  { fields: map(map(string)), transaction_id: string },
);
export type UpdateFieldMetadataResponse = Static<typeof UpdateFieldMetadataResponse>;

export const AlterVirtualColumnEntry = object(
  {},
  {
    input_columns: array(name),
    image: string,
    udf: string,
    udf_name: string,
    udf_version: string,
    udf_backend: string,
    auto_backfill: boolean,
    manifest: string,
    manifest_checksum: string,
    field_metadata: map(string),
  },
);
export type AlterVirtualColumnEntry = Static<typeof AlterVirtualColumnEntry>;

/** `data_type` has the form of JsonArrowDataType; engines say which of its types they take. */
export const AlterColumnsEntry = object(
  { path: name },
  {
    data_type: anyObject,
    rename: string,
    nullable: boolean,
    virtual_column: ref<AlterVirtualColumnEntry>('AlterVirtualColumnEntry'),
  },
);
export type AlterColumnsEntry = Static<typeof AlterColumnsEntry>;

export const AlterTableAlterColumnsRequest = request(
  { alterations: array(ref<AlterColumnsEntry>('AlterColumnsEntry')) },
  { id, incarnation: string, branch: string },
);
export type AlterTableAlterColumnsRequest = Static<typeof AlterTableAlterColumnsRequest>;
export const AlterTableAlterColumnsResponse = response(
  { version: count },
  { transaction_id: string },
);
export type AlterTableAlterColumnsResponse = Static<typeof AlterTableAlterColumnsResponse>;

export const AlterTableDropColumnsRequest = request(
  { columns: array(name) },
  { id, incarnation: string, branch: string },
);
export type AlterTableDropColumnsRequest = Static<typeof AlterTableDropColumnsRequest>;
export const AlterTableDropColumnsResponse = response(
  { version: count },
  { transaction_id: string },
);
export type AlterTableDropColumnsResponse = Static<typeof AlterTableDropColumnsResponse>;

export const AlterTableBackfillColumnsRequest = request(
  { column: name },
  {
    id,
    branch: string,
    where: string,
    concurrency: integer,
    intra_applier_concurrency: integer,
    min_checkpoint_size: integer,
    max_checkpoint_size: integer,
    batch_checkpoint_flush_interval_seconds: number,
    read_version: integer,
    task_size: integer,
    num_frags: integer,
    checkpoint_size: integer,
    commit_granularity: integer,
    cluster: string,
    manifest: string,
    incarnation: string,
  },
);
export type AlterTableBackfillColumnsRequest = Static<typeof AlterTableBackfillColumnsRequest>;
/** What goes beyond the protocol's shape says what was done, where that is done before the answer. */
export const AlterTableBackfillColumnsResponse = response(
  { job_id: string },
  { version: count, rows_filled: count, transaction_id: string },
);
export type AlterTableBackfillColumnsResponse = Static<typeof AlterTableBackfillColumnsResponse>;
