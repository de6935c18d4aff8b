/**
 * Defines the JSON Schemas that validate the requests and responses of ProfileTable, DiffTable and
 * ListTableFiles. ../table-insight.ts has their TypeScript types and documents the members.
 */

import { request, response } from './common.ts';
import {
  array,
  boolean,
  count,
  map,
  nullable,
  number,
  object,
  positive,
  string,
  union,
} from './model-schema.ts';

const id = array(string);
const shown = nullable(union(union(string, number), boolean));

export const ProfileTableRequest = request(
  {},
  {
    id,
    incarnation: string,
    branch: string,
    version: count,
    tag: string,
    columns: array(string),
    filter: string,
    budget_millis: positive,
    buckets: positive,
    top: count,
  },
);
export const ProfileTableResponse = response(
  {
    version: count,
    rows: count,
    rows_exact: boolean,
    sampled: boolean,
    rows_scanned: count,
    rows_matched: count,
    elapsed_millis: count,
    columns: array(
      object(
        {
          name: string,
          data_type: string,
          kind: string,
          rows: count,
          nulls: count,
          nans: count,
          min: shown,
          max: shown,
          bounds_exact: boolean,
          distinct: count,
          distinct_exact: boolean,
          top: array(object({ value: shown, count })),
          top_exact: boolean,
        },
        {
          all_nulls: count,
          mean: union(string, number),
          histogram: object({ of: string, edges: array(shown), counts: array(count) }),
        },
      ),
    ),
  },
  { branch: string },
);

const version = object({}, { branch: string, version: count, tag: string });
const compared = object({ branch: string, version: count, row_count: count });
const column = object({ name: string, data_type: string, nullable: boolean });
const entries = object({
  added: map(string),
  removed: map(string),
  changed: map(object({ from: string, to: string })),
});
const rows = array(map(shown));

export const DiffTableRequest = request(
  { from: version },
  { id, incarnation: string, to: version, on: array(string), limit: count },
);
export const DiffTableResponse = response({
  from: compared,
  to: compared,
  schema: object({
    added: array(column),
    dropped: array(column),
    changed: array(object({ from: column, to: column, metadata_changed: boolean })),
  }),
  metadata: entries,
  properties: entries,
  fragments: object({ kept: count, changed: count, added: count, removed: count }),
  rows: object(
    {
      by: string,
      added: count,
      removed: count,
      changed: count,
      unchanged: count,
      changed_columns: array(object({ name: string, rows: count })),
      not_compared: array(string),
    },
    {
      examples: object({
        added: rows,
        removed: rows,
        changed: array(object({ before: map(shown), after: map(shown), columns: array(string) })),
      }),
    },
  ),
});

export const ListTableFilesRequest = request(
  {},
  {
    id,
    incarnation: string,
    branch: string,
    version: count,
    tag: string,
    limit: positive,
    page_token: string,
  },
);

const storedColumn = object(
  { name: string, form: string },
  { file: count, stored_name: string, stored_type: string },
);

export const ListTableFilesResponse = response(
  {
    version: count,
    row_count: count,
    num_deleted_rows: count,
    num_fragments: count,
    columns: array(object({ name: string, data_type: string })),
    arrow_schema: string,
    layouts: array(object({ plain: boolean, columns: array(storedColumn) })),
    fragments: array(
      object(
        {
          id: count,
          first_row: count,
          rows: count,
          num_deleted_rows: count,
          files: array(object({ path: string, bytes: count })),
          compressed: boolean,
          layout: count,
        },
        { deletion: object({ path: string, rows: count }, { offset: count }) },
      ),
    ),
  },
  { branch: string, page_token: string },
);
