/**
 * `EXTENSION_OPERATIONS` lists the operations that this engine has beyond the protocol, in the form
 * of operations.ts. Client methods, server routes under `/v1/dirspace/`, validation and the OpenAPI
 * document are derived from the list. `watch` is not in it, because it returns a stream of events
 * instead of one response. `FORM_ROUTES` lists routes whose query, body and answers differ from
 * those of their operation: one for the bytes of a blob, and four for inserts in parts.
 */
import {
  type AnswerKind,
  type BodyKind,
  json,
  type OperationRow,
  type QueryMember,
} from './operation-row.ts';
import type { OperationName } from './operations.ts';

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

/** What a route answers with one status. */
export interface FormAnswer {
  readonly description: string;
  /** `bytes` as they are, or JSON: the members with their types, or those of the operation's answer. */
  readonly body?: 'bytes' | 'response' | Readonly<Record<string, 'string' | 'integer'>>;
  /** Names of headers, and what each tells. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A route whose query, body and answers are others than those of the operation that it does. */
export interface FormRoute {
  readonly operation: OperationName | keyof typeof EXTENSION_OPERATIONS;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly summary: string;
  /** The `delimiter` parameter goes without saying. */
  readonly query: Readonly<Record<string, QueryMember>>;
  /** Headers of the request that are heeded, and what each asks for. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly takesData: boolean;
  /** By status, besides the errors of the operation. */
  readonly answers: Readonly<Record<number, FormAnswer>>;
}

const text: QueryMember = { type: 'string' };
const ofTable = { branch: text, incarnation: text } as const;
const upload = { upload_id: { type: 'string', required: true } } as const;
const part = { upload_part_id: { type: 'string', required: true } } as const;

const RANGES = { 'Accept-Ranges': 'The unit of ranges, which is bytes.' };
const OF_BLOB = { ...RANGES, 'X-LanceDB-Version': 'The version that the blob is of.' };

const inParts = (
  step: string,
  summary: string,
  query: FormRoute['query'],
  answer: FormAnswer['body'],
): FormRoute => ({
  operation: 'InsertIntoTable',
  method: 'POST',
  path: `/v1/dirspace/table/{id}/multipart_write/${step}`,
  summary,
  query: { ...query, ...ofTable },
  takesData: step === 'part',
  answers: { 200: { description: 'Done.', ...(answer === undefined ? {} : { body: answer }) } },
});

/** Each has its `operationId` as its name. */
export const FORM_ROUTES = {
  ReadBlobBytes: {
    operation: 'FetchBlobs',
    method: 'GET',
    path: '/v1/dirspace/table/{id}/blob/{column}/{row_id}/bytes',
    summary: 'Read the bytes of one blob, or a range of them',
    query: { version: { type: 'integer' }, ...ofTable },
    headers: {
      Range: 'One range of bytes, such as bytes=0-99 or bytes=-100; all are answered for others.',
      'If-Range': 'All bytes are answered where it is sent.',
    },
    takesData: false,
    answers: {
      200: { description: 'All bytes.', body: 'bytes', headers: OF_BLOB },
      204: { description: 'The blob is null.', headers: OF_BLOB },
      206: {
        description: 'The bytes of the range.',
        body: 'bytes',
        headers: {
          ...OF_BLOB,
          'Content-Range': 'The bytes that are answered, and how many there are.',
        },
      },
      416: {
        description: 'The blob has no byte of the range.',
        headers: { ...OF_BLOB, 'Content-Range': 'How many bytes there are.' },
      },
    },
  },
  BeginInsertInParts: inParts('create', 'Begin an insert in parts', {}, { upload_id: 'string' }),
  InsertPart: inParts(
    'part',
    'Send rows of an insert in parts',
    { ...upload, ...part, mode: { type: 'string', default: 'append' } },
    { upload_id: 'string', upload_part_id: 'string', num_inserted_rows: 'integer' },
  ),
  CompleteInsertInParts: inParts(
    'complete',
    'Make all parts of an insert one version',
    upload,
    'response',
  ),
  AbortInsertInParts: inParts('abort', 'End an insert in parts without a version', upload, {}),
} as const satisfies Record<string, FormRoute>;
