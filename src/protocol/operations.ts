/**
 * Lists the protocol's operations (`OPERATIONS`), one row each with its route, permission and
 * errors, and alternative routes to two of them (`ALIAS_ROUTES`). The `Namespace` interface, the
 * client's requests, the server's routes and the OpenAPI document are derived from these rows.
 * Operations beyond the protocol are in extension-operations.ts.
 */
import {
  type AnswerKind,
  arrowStream,
  type BodyKind,
  bodyless,
  json,
  map,
  type OperationRow,
  type QueryMember,
} from './operation-row.ts';

const text: QueryMember = { type: 'string' };
const flag: QueryMember = { type: 'boolean', default: false };
const branch = { branch: text };
/** The table must be this one, not another that took its name. */
const bound = { incarnation: text };
const page = { page_token: text, limit: { type: 'integer' } } as const;
const declared = { include_declared: { type: 'boolean', default: true } } as const;

const conflict = [404, 409];

export const OPERATIONS = {
  CreateNamespace: json('/v1/namespace/{id}/create', 'write', 'Create a namespace', {
    // What was there is dropped, with its tables.
    stricter: [{ member: 'mode', mode: 'Overwrite', permission: 'admin' }],
    errors: [404, 406, 409],
  }),
  ListNamespaces: bodyless('/v1/namespace/{id}/list', 'read', 'List child namespaces', {
    method: 'GET',
    query: page,
    errors: [404, 406],
    short: true,
  }),
  DescribeNamespace: json('/v1/namespace/{id}/describe', 'read', 'Read a namespace', {
    short: true,
  }),
  DropNamespace: json('/v1/namespace/{id}/drop', 'admin', 'Drop a namespace', {
    errors: conflict,
  }),
  NamespaceExists: json('/v1/namespace/{id}/exists', 'read', 'Check that a namespace is there', {
    answer: 'empty',
    short: true,
  }),
  ListTables: bodyless('/v1/namespace/{id}/table/list', 'read', 'List tables of a namespace', {
    method: 'GET',
    query: { ...page, ...declared },
    errors: [404, 406],
    short: true,
  }),
  ListAllTables: bodyless('/v1/table', 'read', 'List every table by its full id', {
    method: 'GET',
    query: { ...page, ...declared },
    errors: [],
  }),
  RegisterTable: json('/v1/table/{id}/register', 'admin', 'Register data that is already stored', {
    errors: [404, 406, 409],
  }),
  DescribeTable: json('/v1/table/{id}/describe', 'read', 'Read what is known of a table', {
    query: { with_table_uri: flag, load_detailed_metadata: flag, check_declared: flag },
    short: true,
  }),
  TableExists: json('/v1/table/{id}/exists', 'read', 'Check that a table is there', {
    answer: 'empty',
    short: true,
  }),
  DropTable: bodyless('/v1/table/{id}/drop', 'write', 'Drop a table and its data'),
  DeregisterTable: json('/v1/table/{id}/deregister', 'admin', 'Forget a table, keep its data'),
  RestoreTable: json('/v1/table/{id}/restore', 'write', 'Make an old version the latest'),
  RenameTable: json('/v1/table/{id}/rename', 'write', 'Rename or move a table', {
    errors: conflict,
  }),
  UpdateTableSchemaMetadata: map(
    '/v1/table/{id}/schema_metadata/update',
    'write',
    'Replace the metadata of the schema',
    {
      query: { ...branch, ...bound },
      bodyMember: 'metadata',
      answer: 'bare',
      answerMember: 'metadata',
    },
  ),
  ListTableVersions: bodyless('/v1/table/{id}/version/list', 'read', 'List versions', {
    query: { ...branch, ...bound, ...page, descending: { type: 'boolean' } },
    short: true,
  }),
  CreateTableVersion: json('/v1/table/{id}/version/create', 'write', 'Record a version', {
    errors: conflict,
    // What a client of Lance has staged is worked out and checked as its rows are.
    stricter: [
      {
        member: 'manifest_path',
        unless: '/_versions/[^/]*\\.manifest-[^/]*$',
        permission: 'admin',
      },
    ],
  }),
  DescribeTableVersion: json('/v1/table/{id}/version/describe', 'read', 'Read one version', {
    short: true,
  }),
  BatchDeleteTableVersions: json('/v1/table/{id}/version/delete', 'admin', 'Delete versions'),
  BatchCreateTableVersions: json(
    '/v1/table/version/batch-create',
    'admin',
    'Record versions of several tables at once',
    { errors: conflict },
  ),
  BatchCommitTables: json(
    '/v1/table/batch-commit',
    'admin',
    'Do several operations on table records as one',
    { errors: conflict },
  ),
  AlterTableAlterColumns: json('/v1/table/{id}/alter_columns', 'write', 'Change columns'),
  UpdateFieldMetadata: json(
    '/v1/table/{id}/update_field_metadata',
    'write',
    'Change the metadata of fields',
  ),
  AlterTableDropColumns: json('/v1/table/{id}/drop_columns', 'write', 'Drop columns'),
  GetTableStats: json('/v1/table/{id}/stats', 'read', 'Read sizes and fragment statistics'),
  InsertIntoTable: arrowStream('/v1/table/{id}/insert', 'write', 'Add rows', {
    query: { ...branch, ...bound, mode: { type: 'string', default: 'append' } },
  }),
  MergeInsertIntoTable: arrowStream(
    '/v1/table/{id}/merge_insert',
    'write',
    'Update, insert and delete rows by key',
    {
      query: {
        ...branch,
        ...bound,
        on: { type: 'string', required: true, repeated: true },
        when_matched_update_all: flag,
        when_matched_update_all_filt: text,
        when_not_matched_insert_all: flag,
        when_not_matched_by_source_delete: flag,
        when_not_matched_by_source_delete_filt: text,
        timeout: text,
        use_index: flag,
      },
    },
  ),
  UpdateTable: json('/v1/table/{id}/update', 'write', 'Change values of rows'),
  DeleteFromTable: json('/v1/table/{id}/delete', 'write', 'Delete rows'),
  QueryTable: json('/v1/table/{id}/query', 'read', 'Read rows', { answer: 'arrow-file' }),
  CountTableRows: json('/v1/table/{id}/count_rows', 'read', 'Count rows', {
    answer: 'bare',
    answerMember: 'count',
  }),
  CreateTable: arrowStream('/v1/table/{id}/create', 'write', 'Create a table with its rows', {
    query: {
      mode: text,
      properties: { type: 'string-map' },
      storage_options: { type: 'string-map' },
    },
    errors: conflict,
  }),
  ExplainTableQueryPlan: json('/v1/table/{id}/explain_plan', 'read', 'Show the plan of a query', {
    answer: 'bare',
    answerMember: 'plan',
  }),
  AnalyzeTableQueryPlan: json('/v1/table/{id}/analyze_plan', 'read', 'Run a query and measure it', {
    answer: 'bare',
    answerMember: 'analysis',
  }),
  AlterTableAddColumns: json('/v1/table/{id}/add_columns', 'write', 'Add columns'),
  AlterTableBackfillColumns: json(
    '/v1/table/{id}/backfill_column',
    'write',
    'Start filling a computed column',
    { status: 202, long: true },
  ),
  RefreshMaterializedView: json(
    '/v1/materialized_view/{id}/refresh',
    'write',
    'Start refreshing a materialized view',
    { status: 202, long: true },
  ),
  CreateMaterializedView: json(
    '/v1/materialized_view/{id}/create',
    'write',
    'Create a materialized view',
    { status: 201, errors: conflict, long: true },
  ),
  CreateTableIndex: json('/v1/table/{id}/create_index', 'write', 'Create an index'),
  CreateTableScalarIndex: json(
    '/v1/table/{id}/create_scalar_index',
    'write',
    'Create an index of plain values',
  ),
  ListTableIndices: json('/v1/table/{id}/index/list', 'read', 'List indices', { short: true }),
  DescribeTableIndexStats: json(
    '/v1/table/{id}/index/{index_name}/stats',
    'read',
    'Read what an index covers',
    { short: true },
  ),
  DropTableIndex: bodyless('/v1/table/{id}/index/{index_name}/drop', 'write', 'Drop an index', {
    query: { ...branch, ...bound },
  }),
  ListTableTags: bodyless('/v1/table/{id}/tags/list', 'read', 'List tags', {
    query: { ...bound, ...page },
    short: true,
  }),
  GetTableTagVersion: json('/v1/table/{id}/tags/version', 'read', 'Read the version of a tag', {
    short: true,
  }),
  DeclareTable: json('/v1/table/{id}/declare', 'write', 'Reserve a table without data', {
    errors: conflict,
  }),
  CreateTableTag: json('/v1/table/{id}/tags/create', 'write', 'Create a tag', {
    errors: conflict,
  }),
  DeleteTableTag: json('/v1/table/{id}/tags/delete', 'write', 'Delete a tag'),
  UpdateTableTag: json('/v1/table/{id}/tags/update', 'write', 'Move a tag to another version', {
    repeatable: true,
  }),
  ListTableBranches: bodyless('/v1/table/{id}/branches/list', 'read', 'List branches', {
    query: { ...bound, ...page },
    short: true,
  }),
  CreateTableBranch: json('/v1/table/{id}/branches/create', 'write', 'Create a branch', {
    errors: conflict,
  }),
  DeleteTableBranch: json('/v1/table/{id}/branches/delete', 'admin', 'Delete a branch'),
  DescribeTransaction: json('/v1/transaction/{id}/describe', 'read', 'Read a transaction', {
    short: true,
  }),
  AlterTransaction: json('/v1/transaction/{id}/alter', 'admin', 'Change a transaction', {
    errors: conflict,
  }),
} as const satisfies Record<string, OperationRow<BodyKind, AnswerKind>>;

/** `CreateTable` and its like: the protocol's name of an operation. */
export type OperationName = keyof typeof OPERATIONS;

/** A route that is another spelling of an operation's own. */
export interface AliasRoute {
  readonly operation: OperationName;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** The path parameter that stands for the operation's `id`. */
  readonly idParameter?: string;
  readonly summary: string;
}

/** Routes beside the operations' own; query, body and answer are the operation's. */
export const ALIAS_ROUTES: readonly AliasRoute[] = [
  {
    operation: 'ListAllTables',
    method: 'GET',
    path: '/v1/tables',
    summary: 'List every table of the database by its full id',
  },
  {
    operation: 'CreateTable',
    method: 'POST',
    path: '/v1/tables/{name}',
    idParameter: 'name',
    summary: 'Create a table with its rows',
  },
];
