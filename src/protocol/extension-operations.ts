/**
 * Lists the operations that this engine has beyond the protocol (`EXTENSION_OPERATIONS`), in rows
 * of the same form as those of operations.ts. Client methods, server routes under `/v1/dirspace/`,
 * validation and the OpenAPI document are derived from them. `watch` is not listed, because it
 * returns a stream of events instead of one response.
 */
import { type AnswerKind, type BodyKind, json, type OperationRow } from './operation-row.ts';

export const EXTENSION_OPERATIONS = {
  UpdateNamespaceProperties: json(
    '/v1/dirspace/namespace/{id}/update_properties',
    'write',
    'Set and remove single properties',
  ),
  UndropTable: json('/v1/dirspace/table/{id}/undrop', 'write', 'Bring back a dropped table', {
    errors: [404, 409],
  }),
  CloneTable: json(
    '/v1/dirspace/table/{id}/clone',
    'write',
    'Make a table of a version of another',
    {
      errors: [404, 409],
      long: true,
    },
  ),
  DeleteRows: json('/v1/dirspace/table/{id}/delete_rows', 'write', 'Delete rows by row id'),
  TakeRows: json('/v1/dirspace/table/{id}/take_rows', 'read', 'Read rows one by one', {
    answer: 'arrow-file',
  }),
  FetchBlobs: json('/v1/dirspace/table/{id}/fetch_blobs', 'read', 'Read the bytes of blobs', {
    answer: 'arrow-file',
  }),
  ListTableFiles: json('/v1/dirspace/table/{id}/files', 'read', 'List the files of a version'),
  RunSql: json('/v1/dirspace/sql', 'read', 'Answer a SELECT', { answer: 'arrow-file' }),
  ExplainSql: json('/v1/dirspace/sql/explain', 'read', 'Tell how a SELECT is carried out'),
  ProfileTable: json('/v1/dirspace/table/{id}/profile', 'read', 'Tell what columns are like'),
  DiffTable: json('/v1/dirspace/table/{id}/diff', 'read', 'Compare two versions'),
  PrewarmTableIndex: json(
    '/v1/dirspace/table/{id}/index/{index_name}/prewarm',
    'read',
    'Read an index into memory',
  ),
  DiffTableBranch: json(
    '/v1/dirspace/table/{id}/branches/diff',
    'read',
    'Compare a branch with the main one',
  ),
  CherryPickTableBranch: json(
    '/v1/dirspace/table/{id}/branches/cherry_pick',
    'write',
    'Bring to the main branch what another one changed',
  ),
  BeginJob: json(
    '/v1/dirspace/table/{id}/begin_job',
    'write',
    'Begin a long operation in the background',
    { status: 202 },
  ),
  DescribeJob: json('/v1/dirspace/jobs/describe', 'read', 'Tell what became of a job'),
  ListJobs: json('/v1/dirspace/jobs/list', 'read', 'List the jobs of this server', { errors: [] }),
  CancelJob: json('/v1/dirspace/jobs/cancel', 'write', 'End a job', {
    changes: false,
    repeatable: true,
    long: true,
  }),
  OptimizeTable: json('/v1/dirspace/table/{id}/optimize', 'write', 'Join small fragments', {
    // Removes old versions, as CleanupTable does.
    stricter: [{ member: 'cleanup_older_than_millis', permission: 'admin' }],
    long: true,
  }),
  CleanupTable: json('/v1/dirspace/table/{id}/cleanup', 'admin', 'Remove old versions', {
    long: true,
  }),
  Verify: json('/v1/dirspace/namespace/{id}/verify', 'admin', 'Check every byte and reference', {
    changes: false,
    repeatable: true,
    long: true,
  }),
  Repair: json('/v1/dirspace/namespace/{id}/repair', 'admin', 'Quarantine what is damaged', {
    long: true,
  }),
  SyncLance: json(
    '/v1/dirspace/namespace/{id}/sync_lance',
    'admin',
    'Let Lance open tables by path as they are now',
    { long: true },
  ),
  ListTrash: json('/v1/dirspace/namespace/{id}/trash', 'read', 'List what was dropped', {
    errors: [],
  }),
  PurgeTrash: json('/v1/dirspace/trash/purge', 'admin', 'Remove for good what was dropped', {
    errors: [],
  }),
} as const satisfies Record<string, OperationRow<BodyKind, AnswerKind>>;
