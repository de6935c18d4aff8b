/**
 * Defines the JSON Schemas and TypeScript types of the requests and responses that count, insert,
 * merge, update and delete rows. The schemas of DeleteRows and TakeRows, which name single rows,
 * are in extensions.ts.
 */

import { request, response } from './common.ts';
import { array, boolean, count, map, name, type Static, string, union } from './model-schema.ts';

const id = array(string);

export const CountTableRowsRequest = request(
  {},
  { id, incarnation: string, version: count, branch: string, predicate: string },
);
export type CountTableRowsRequest = Static<typeof CountTableRowsRequest>;
export const CountTableRowsResponse = response({ count });
export type CountTableRowsResponse = Static<typeof CountTableRowsResponse>;

export const InsertIntoTableRequest = request(
  {},
  { id, incarnation: string, branch: string, mode: string },
);
export type InsertIntoTableRequest = Static<typeof InsertIntoTableRequest>;
export const InsertIntoTableResponse = response(
  {},
  { transaction_id: string, num_inserted_rows: count, version: count },
);
export type InsertIntoTableResponse = Static<typeof InsertIntoTableResponse>;

/** `on` is one key column, or several: the protocol names one, its clients repeat the member. */
export const MergeInsertIntoTableRequest = request(
  { on: union(name, array(name, { minItems: 1 })) },
  {
    id,
    incarnation: string,
    branch: string,
    when_matched_update_all: boolean,
    when_matched_update_all_filt: string,
    when_not_matched_insert_all: boolean,
    when_not_matched_by_source_delete: boolean,
    when_not_matched_by_source_delete_filt: string,
    timeout: string,
    use_index: boolean,
  },
);
export type MergeInsertIntoTableRequest = Static<typeof MergeInsertIntoTableRequest>;
/** `num_attempts` goes beyond the protocol's shape; LanceDB's clients read it. */
export const MergeInsertIntoTableResponse = response(
  {},
  {
    transaction_id: string,
    num_updated_rows: count,
    num_inserted_rows: count,
    num_deleted_rows: count,
    num_attempts: count,
    version: count,
  },
);
export type MergeInsertIntoTableResponse = Static<typeof MergeInsertIntoTableResponse>;

/** `updates` holds pairs of a column and a value expression in SQL. */
export const UpdateTableRequest = request(
  { updates: array(array(string, { minItems: 2, maxItems: 2 })) },
  { id, incarnation: string, branch: string, predicate: string, properties: map(string) },
);
export type UpdateTableRequest = Static<typeof UpdateTableRequest>;
export const UpdateTableResponse = response(
  { updated_rows: count, version: count },
  { transaction_id: string, properties: map(string) },
);
export type UpdateTableResponse = Static<typeof UpdateTableResponse>;

export const DeleteFromTableRequest = request(
  { predicate: string },
  { id, incarnation: string, branch: string },
);
export type DeleteFromTableRequest = Static<typeof DeleteFromTableRequest>;
/** `num_deleted_rows` goes beyond the protocol's shape; its clients read it. */
export const DeleteFromTableResponse = response(
  {},
  { transaction_id: string, version: count, num_deleted_rows: count },
);
export type DeleteFromTableResponse = Static<typeof DeleteFromTableResponse>;
