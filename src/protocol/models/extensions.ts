/**
 * Defines the JSON Schemas that validate requests and responses of operations beyond the protocol.
 * The TypeScript types of these bodies are in extensions.ts, table-insight.ts and branch-diff.ts of
 * protocol/, where their members are documented. The files jobs.ts, statements.ts and
 * table-insight.ts of this folder define more such schemas.
 */

import { request, response } from './common.ts';
import {
  array,
  boolean,
  count,
  integer,
  map,
  no,
  number,
  object,
  oneOf,
  positive,
  ref,
  string,
  union,
  wideInteger,
} from './model-schema.ts';
import type { QueryColumns } from './query.ts';

const id = array(string);

export const UpdateNamespacePropertiesRequest = request(
  {},
  { id, properties: map(string), removals: array(string) },
);
export const UpdateNamespacePropertiesResponse = response({ properties: map(string) });

export const UndropTableRequest = request({}, { id, trash_id: string });
export const UndropTableResponse = response({ id, location: string });

export const CloneTableRequest = request(
  {},
  {
    id,
    source_id: id,
    source_location: string,
    source_branch: string,
    source_version: count,
    source_tag: string,
    is_shallow: boolean,
    properties: map(string),
  },
);
export const CloneTableResponse = response({
  location: string,
  incarnation: string,
  version: count,
  transaction_id: string,
  source_version: count,
});

export const DeleteRowsRequest = request(
  { row_ids: array(wideInteger) },
  { id, incarnation: string, branch: string },
);
export const DeleteRowsResponse = response(
  { version: count, num_deleted_rows: count },
  { transaction_id: string },
);

export const TakeRowsRequest = request(
  {},
  {
    id,
    incarnation: string,
    branch: string,
    version: count,
    row_ids: array(wideInteger),
    offsets: array(wideInteger),
    columns: ref<QueryColumns>('QueryColumns'),
    with_row_id: boolean,
  },
);

export const FetchBlobsRequest = request(
  { column: string, row_ids: array(wideInteger) },
  { id, incarnation: string, branch: string, version: count, offset: integer, length: count },
);

export const PrewarmTableIndexRequest = request(
  { index_name: string },
  { id, incarnation: string, branch: string, version: count },
);
export const PrewarmTableIndexResponse = response({ bytes: count });

export const DiffTableBranchRequest = request({ from_branch: string }, { id, incarnation: string });
const column = object({ name: string, data_type: string, nullable: boolean }, {});
const index = object({ index_name: string, columns: array(string), index_type: string }, {});
export const DiffTableBranchResponse = response({
  from_branch: string,
  parent_version: count,
  main_version: count,
  branch_version: count,
  row_count_main: count,
  row_count_branch: count,
  rows_unchanged: count,
  rows_changed: count,
  rows_on_main: count,
  rows_on_branch: count,
  added_columns: array(column),
  removed_columns: array(column),
  changed_columns: array(object({ name: string, main: column, branch: column }, {})),
  added_indexes: array(index),
  removed_indexes: array(index),
});
export const CherryPickTableBranchRequest = request(
  { from_branch: string },
  { id, incarnation: string, dry_run: boolean },
);
export const CherryPickTableBranchResponse = response(
  { status: oneOf('ready', 'failed', 'cherry_picked'), diff: ref('DiffTableBranchResponse') },
  { error: object({ code: string, message: string }, {}), version: count, transaction_id: string },
);

export const CleanupTableRequest = request(
  { older_than_millis: count },
  { id, incarnation: string, orphan_grace_millis: count, dry_run: boolean },
);
export const CleanupTableResponse = response(
  { versions_removed: count, files_removed: count, bytes_removed: count, dry_run: boolean },
  { files_kept: count },
);

const compaction = object(
  {},
  { target_rows: positive, target_bytes: positive, max_deleted_share: number, plain: boolean },
);

export const OptimizeTableRequest = request(
  {},
  {
    id,
    incarnation: string,
    branch: string,
    compact: union(compaction, no),
    compression: string,
    cleanup_older_than_millis: count,
    orphan_grace_millis: count,
    dry_run: boolean,
  },
);
export const OptimizeTableResponse = response(
  {
    fragments_removed: count,
    fragments_added: count,
    files_removed: count,
    files_added: count,
    versions_removed: count,
    unused_files_removed: count,
    bytes_removed: count,
    dry_run: boolean,
  },
  { version: count, unused_files_kept: count },
);

/** Kinds are not listed: a newer server may have found others. */
const problem = object({ path: string, kind: string, what: string });

export const VerifyRequest = request({}, { id, trash: boolean });
export const VerifyResponse = response(
  {
    ok: boolean,
    problems: array(problem),
    leftovers: array(object({ path: string, kind: string })),
    counts: object({
      namespaces: count,
      tables: count,
      branches: count,
      tags: count,
      versions: count,
      fragments: count,
      bytes: count,
    }),
  },
  { trash_checked: boolean },
);

export const RepairRequest = request({}, { id, apply: boolean, managed_versioning: boolean });
export const RepairResponse = response({
  applied: boolean,
  actions: array(object({ path: string, why: string }, { quarantined: string })),
  left: array(problem),
});

export const SyncLanceRequest = request({}, { id });
export const SyncLanceResponse = response(
  {
    tables: array(
      object(
        {
          location: string,
          opens: boolean,
          versions: count,
          written: count,
          removed: count,
          set_aside: array(string),
          left: array(string),
        },
        { reason: string },
      ),
    ),
  },
  {
    catalog: object({
      location: string,
      version: count,
      namespaces: count,
      tables: count,
      written: boolean,
    }),
  },
);

export const ListTrashRequest = request({}, { id, detached: boolean });
export const ListTrashResponse = response({
  entries: array(
    object(
      { trash_id: string, kind: string, id },
      { dropped_at: count, tables: array(id), location: string },
    ),
  ),
});

export const PurgeTrashRequest = request(
  { older_than_millis: count },
  { detached: boolean, dry_run: boolean },
);
export const PurgeTrashResponse = response({ removed: count, dry_run: boolean });
