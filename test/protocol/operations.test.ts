/** The operations table against the facts of the public protocol, and what follows from its rows. */
import { describe, expect, it } from 'vitest';
import { isDirspaceError } from '../../src/errors.ts';
import {
  EVERY_OPERATION,
  EVERY_OPERATION_NAMES,
  methodName,
  pathParameters,
  requestModel,
  resourceKind,
  responseModel,
} from '../../src/protocol/every-operation.ts';
import { MODELS } from '../../src/protocol/models/index.ts';
import type { JsonSchema } from '../../src/protocol/models/model-schema.ts';
import type { Namespace } from '../../src/protocol/namespace.ts';
import { unsupported, unsupportedOperations } from '../../src/protocol/namespace.ts';
import type { OperationRow } from '../../src/protocol/operation-row.ts';
import { ALIAS_ROUTES, OPERATIONS, type OperationName } from '../../src/protocol/operations.ts';
import { OPERATION_NAMES } from '../helpers/operation-names.ts';

/** operation|method|path|query members|body|status|answer|further errors */
const FACTS = `
CreateNamespace|POST|/v1/namespace/{id}/create||CreateNamespaceRequest|200|CreateNamespaceResponse|404/406/409
ListNamespaces|GET|/v1/namespace/{id}/list|page_token:string limit:integer|none|200|ListNamespacesResponse|404/406
DescribeNamespace|POST|/v1/namespace/{id}/describe||DescribeNamespaceRequest|200|DescribeNamespaceResponse|404
DropNamespace|POST|/v1/namespace/{id}/drop||DropNamespaceRequest|200|DropNamespaceResponse|404/409
NamespaceExists|POST|/v1/namespace/{id}/exists||NamespaceExistsRequest|200|empty|404
ListTables|GET|/v1/namespace/{id}/table/list|page_token:string limit:integer include_declared:boolean=true|none|200|ListTablesResponse|404/406
ListAllTables|GET|/v1/table|page_token:string limit:integer include_declared:boolean=true|none|200|ListTablesResponse|
RegisterTable|POST|/v1/table/{id}/register||RegisterTableRequest|200|RegisterTableResponse|404/406/409
DescribeTable|POST|/v1/table/{id}/describe|with_table_uri:boolean=false load_detailed_metadata:boolean=false check_declared:boolean=false|DescribeTableRequest|200|DescribeTableResponse|404
TableExists|POST|/v1/table/{id}/exists||TableExistsRequest|200|empty|404
DropTable|POST|/v1/table/{id}/drop||none|200|DropTableResponse|404
DeregisterTable|POST|/v1/table/{id}/deregister||DeregisterTableRequest|200|DeregisterTableResponse|404
RestoreTable|POST|/v1/table/{id}/restore||RestoreTableRequest|200|RestoreTableResponse|404
RenameTable|POST|/v1/table/{id}/rename||RenameTableRequest|200|RenameTableResponse|404/409
UpdateTableSchemaMetadata|POST|/v1/table/{id}/schema_metadata/update|branch:string|map|200|map<string>|404
ListTableVersions|POST|/v1/table/{id}/version/list|branch:string page_token:string limit:integer descending:boolean|none|200|ListTableVersionsResponse|404
CreateTableVersion|POST|/v1/table/{id}/version/create||CreateTableVersionRequest|200|CreateTableVersionResponse|404/409
DescribeTableVersion|POST|/v1/table/{id}/version/describe||DescribeTableVersionRequest|200|DescribeTableVersionResponse|404
BatchDeleteTableVersions|POST|/v1/table/{id}/version/delete||BatchDeleteTableVersionsRequest|200|BatchDeleteTableVersionsResponse|404
BatchCreateTableVersions|POST|/v1/table/version/batch-create||BatchCreateTableVersionsRequest|200|BatchCreateTableVersionsResponse|404/409
BatchCommitTables|POST|/v1/table/batch-commit||BatchCommitTablesRequest|200|BatchCommitTablesResponse|404/409
AlterTableAlterColumns|POST|/v1/table/{id}/alter_columns||AlterTableAlterColumnsRequest|200|AlterTableAlterColumnsResponse|404
UpdateFieldMetadata|POST|/v1/table/{id}/update_field_metadata||UpdateFieldMetadataRequest|200|UpdateFieldMetadataResponse|404
AlterTableDropColumns|POST|/v1/table/{id}/drop_columns||AlterTableDropColumnsRequest|200|AlterTableDropColumnsResponse|404
GetTableStats|POST|/v1/table/{id}/stats||GetTableStatsRequest|200|GetTableStatsResponse|404
InsertIntoTable|POST|/v1/table/{id}/insert|branch:string mode:string="append"|arrow|200|InsertIntoTableResponse|404
MergeInsertIntoTable|POST|/v1/table/{id}/merge_insert|branch:string on*:string when_matched_update_all:boolean=false when_matched_update_all_filt:string when_not_matched_insert_all:boolean=false when_not_matched_by_source_delete:boolean=false when_not_matched_by_source_delete_filt:string timeout:string use_index:boolean=false|arrow|200|MergeInsertIntoTableResponse|404
UpdateTable|POST|/v1/table/{id}/update||UpdateTableRequest|200|UpdateTableResponse|404
DeleteFromTable|POST|/v1/table/{id}/delete||DeleteFromTableRequest|200|DeleteFromTableResponse|404
QueryTable|POST|/v1/table/{id}/query||QueryTableRequest|200|arrow|404
CountTableRows|POST|/v1/table/{id}/count_rows||CountTableRowsRequest|200|integer>=0|404
CreateTable|POST|/v1/table/{id}/create|mode:string properties:string storage_options:string|arrow|200|CreateTableResponse|404/409
ExplainTableQueryPlan|POST|/v1/table/{id}/explain_plan||ExplainTableQueryPlanRequest|200|string|404
AnalyzeTableQueryPlan|POST|/v1/table/{id}/analyze_plan||AnalyzeTableQueryPlanRequest|200|string|404
AlterTableAddColumns|POST|/v1/table/{id}/add_columns||AlterTableAddColumnsRequest|200|AlterTableAddColumnsResponse|404
AlterTableBackfillColumns|POST|/v1/table/{id}/backfill_column||AlterTableBackfillColumnsRequest|202|AlterTableBackfillColumnsResponse|404
RefreshMaterializedView|POST|/v1/materialized_view/{id}/refresh||RefreshMaterializedViewRequest|202|RefreshMaterializedViewResponse|404
CreateMaterializedView|POST|/v1/materialized_view/{id}/create||CreateMaterializedViewRequest|201|CreateMaterializedViewResponse|404/409
CreateTableIndex|POST|/v1/table/{id}/create_index||CreateTableIndexRequest|200|CreateTableIndexResponse|404
CreateTableScalarIndex|POST|/v1/table/{id}/create_scalar_index||CreateTableIndexRequest|200|CreateTableScalarIndexResponse|404
ListTableIndices|POST|/v1/table/{id}/index/list||ListTableIndicesRequest|200|ListTableIndicesResponse|404
DescribeTableIndexStats|POST|/v1/table/{id}/index/{index_name}/stats||DescribeTableIndexStatsRequest|200|DescribeTableIndexStatsResponse|404
DropTableIndex|POST|/v1/table/{id}/index/{index_name}/drop|branch:string|none|200|DropTableIndexResponse|404
ListTableTags|POST|/v1/table/{id}/tags/list|page_token:string limit:integer|none|200|ListTableTagsResponse|404
GetTableTagVersion|POST|/v1/table/{id}/tags/version||GetTableTagVersionRequest|200|GetTableTagVersionResponse|404
DeclareTable|POST|/v1/table/{id}/declare||DeclareTableRequest|200|DeclareTableResponse|404/409
CreateTableTag|POST|/v1/table/{id}/tags/create||CreateTableTagRequest|200|CreateTableTagResponse|404/409
DeleteTableTag|POST|/v1/table/{id}/tags/delete||DeleteTableTagRequest|200|DeleteTableTagResponse|404
UpdateTableTag|POST|/v1/table/{id}/tags/update||UpdateTableTagRequest|200|UpdateTableTagResponse|404
ListTableBranches|POST|/v1/table/{id}/branches/list|page_token:string limit:integer|none|200|ListTableBranchesResponse|404
CreateTableBranch|POST|/v1/table/{id}/branches/create||CreateTableBranchRequest|200|CreateTableBranchResponse|404/409
DeleteTableBranch|POST|/v1/table/{id}/branches/delete||DeleteTableBranchRequest|200|DeleteTableBranchResponse|404
DescribeTransaction|POST|/v1/transaction/{id}/describe||DescribeTransactionRequest|200|DescribeTransactionResponse|404
AlterTransaction|POST|/v1/transaction/{id}/alter||AlterTransactionRequest|200|AlterTransactionResponse|404/409
`
  .trim()
  .split('\n')
  .map((line) => line.split('|') as [string, ...string[]]);

function queryOf(row: OperationRow): string {
  return Object.entries(row.query)
    .filter(([name]) => name !== 'incarnation')
    .map(([name, { type, required, default: value }]) => {
      const wire = type === 'string-map' ? 'string' : type;
      const text = value === undefined ? '' : `=${JSON.stringify(value)}`;
      return `${name}${required ? '*' : ''}:${wire}${text}`;
    })
    .join(' ');
}

function bodyOf(operation: OperationName, { body }: OperationRow): string {
  if (body === 'json') return requestModel(operation);
  return body === 'arrow-stream' ? 'arrow' : body;
}

/** The type of a bare answer, as the facts write it. */
const BARE: Record<string, string> = { count: 'integer>=0', metadata: 'map<string>' };

function answerOf(operation: OperationName, row: OperationRow): string {
  if (row.answer === 'empty') return 'empty';
  if (row.answer === 'arrow-file') return 'arrow';
  if (row.answer === 'json') return String(responseModel(operation));
  return BARE[String(row.answerMember)] ?? 'string';
}

describe('the table', () => {
  it('has the 54 operations of the protocol and no other', () => {
    expect(FACTS).toHaveLength(54);
    expect([...OPERATION_NAMES].sort()).toEqual(FACTS.map(([name]) => name).sort());
  });

  it.each(FACTS)('%s is %s %s', (name, ...facts) => {
    const operation = name as OperationName;
    const row: OperationRow = OPERATIONS[operation];
    expect([
      row.method,
      row.path,
      queryOf(row),
      bodyOf(operation, row),
      String(row.status),
      answerOf(operation, row),
      row.errors.join('/'),
    ]).toEqual(facts);
  });

  it('every request on a table that is there may name its incarnation, an extension', () => {
    const byName = ['CreateTable', 'DeclareTable', 'RegisterTable'];
    const moving = ['DropTable', 'DeregisterTable', 'RenameTable'];
    for (const operation of OPERATION_NAMES) {
      const row: OperationRow = OPERATIONS[operation];
      const { properties } = MODELS[requestModel(operation)] as JsonSchema;
      const bound =
        row.path.startsWith('/v1/table/{id}/') || operation === 'RefreshMaterializedView';
      const wanted = bound && ![...byName, ...moving].includes(operation);
      expect([operation, properties?.incarnation?.type]).toEqual([
        operation,
        wanted ? 'string' : undefined,
      ]);
      expect([operation, row.query.incarnation?.type]).toEqual([
        operation,
        wanted && row.body !== 'json' ? 'string' : undefined,
      ]);
    }
  });

  it.each(OPERATION_NAMES)('%s sends members its models have', (operation) => {
    const row: OperationRow = OPERATIONS[operation];
    const request = MODELS[requestModel(operation)] as JsonSchema;
    const members = Object.keys(request.properties ?? {});
    for (const name of pathParameters(row.path)) expect(members).toContain(name);
    for (const name of Object.keys(row.query)) expect(members).toContain(name);
    if (row.body === 'map') expect(members).toContain(row.bodyMember);
    else expect(row.bodyMember).toBeUndefined();

    const response = responseModel(operation);
    if (response === undefined) return;
    const answered = Object.keys((MODELS[response] as JsonSchema).properties ?? {});
    if (row.answer === 'bare') expect(answered).toContain(row.answerMember);
    else expect(row.answerMember).toBeUndefined();
  });

  it.each(
    OPERATION_NAMES.filter((name) => ['arrow-stream', 'none'].includes(OPERATIONS[name].body)),
  )('%s leaves no member behind without a body', (operation) => {
    const row: OperationRow = OPERATIONS[operation];
    const request = MODELS[requestModel(operation)] as JsonSchema;
    const carried = [...pathParameters(row.path), ...Object.keys(row.query)];
    // Identity and context travel as headers; the list of everything has no namespace.
    const elsewhere = ['identity', 'context', ...(row.path === '/v1/table' ? ['id'] : [])];
    expect([...carried, ...elsewhere].sort()).toEqual(Object.keys(request.properties ?? {}).sort());
  });

  it('says that reading may be repeated and that most writing may not', () => {
    for (const operation of OPERATION_NAMES) {
      const row: OperationRow = OPERATIONS[operation];
      if (row.permission === 'read') expect(row.repeatable).toBe(true);
      expect(row.summary).toMatch(/^[A-Z].{5,60}[^.]$/);
    }
    expect(OPERATION_NAMES.filter((name) => OPERATIONS[name].permission !== 'read')).toContain(
      'UpdateTableTag',
    );
    expect(OPERATIONS.InsertIntoTable.repeatable).toBe(false);
    expect(OPERATIONS.QueryTable.permission).toBe('read');
    expect(OPERATIONS.DropNamespace.permission).toBe('admin');
  });

  it('asks for the permission each operation needs', () => {
    const asking = (permission: string): string[] =>
      OPERATION_NAMES.filter((name) => OPERATIONS[name].permission === permission).sort();
    expect(asking('read')).toEqual([
      'AnalyzeTableQueryPlan',
      'CountTableRows',
      'DescribeNamespace',
      'DescribeTable',
      'DescribeTableIndexStats',
      'DescribeTableVersion',
      'DescribeTransaction',
      'ExplainTableQueryPlan',
      'GetTableStats',
      'GetTableTagVersion',
      'ListAllTables',
      'ListNamespaces',
      'ListTableBranches',
      'ListTableIndices',
      'ListTableTags',
      'ListTableVersions',
      'ListTables',
      'NamespaceExists',
      'QueryTable',
      'TableExists',
    ]);
    expect(asking('admin')).toEqual([
      'AlterTransaction',
      'BatchCommitTables',
      'BatchCreateTableVersions',
      'BatchDeleteTableVersions',
      'DeleteTableBranch',
      'DeregisterTable',
      'DropNamespace',
      'RegisterTable',
    ]);
    expect(asking('write')).toHaveLength(54 - 20 - 8);
  });

  it('tells what the id of a path names', () => {
    expect(resourceKind('ListTables')).toBe('namespace');
    expect(resourceKind('DescribeTable')).toBe('table');
    expect(resourceKind('ListAllTables')).toBe('catalog');
    expect(resourceKind('BatchCommitTables')).toBe('catalog');
    expect(resourceKind('AlterTransaction')).toBe('transaction');
    expect(resourceKind('RefreshMaterializedView')).toBe('materialized_view');
  });

  it('has no route twice, aliases and extensions counted', () => {
    const own = EVERY_OPERATION_NAMES.map(
      (name) => `${EVERY_OPERATION[name].method} ${EVERY_OPERATION[name].path}`,
    );
    const all = [...own, ...ALIAS_ROUTES.map(({ method, path }) => `${method} ${path}`)];
    expect(new Set(all).size).toBe(all.length);
    expect(all).toContain('GET /v1/tables');
    expect(all).toContain('POST /v1/tables/{name}');
  });

  it('has aliases that use the method of their operation and name their id', () => {
    for (const { operation, method, path, idParameter } of ALIAS_ROUTES) {
      expect(method).toBe(OPERATIONS[operation].method);
      expect(pathParameters(path)).toEqual(idParameter === undefined ? [] : [idParameter]);
    }
  });
});

describe('Namespace', () => {
  it('can be implemented by a class that has nothing', async () => {
    class Empty extends unsupportedOperations(OPERATION_NAMES) implements Namespace {
      async close(): Promise<void> {}
      async [Symbol.asyncDispose](): Promise<void> {}
    }
    const empty: Namespace = new Empty();
    for (const operation of OPERATION_NAMES) {
      const method = empty[methodName(operation)] as (request: object) => Promise<unknown>;
      const error = await method.call(empty, {}).catch((thrown: unknown) => thrown);
      expect(isDirspaceError(error, 'Unsupported')).toBe(true);
      expect(error).toMatchObject({ number: 0, status: 406, details: { operation } });
    }
  });

  it('can be implemented in part', async () => {
    const missing = OPERATION_NAMES.filter((name) => name !== 'TableExists');
    class Partial extends unsupportedOperations(
      missing as Exclude<OperationName, 'TableExists'>[],
    ) {
      async tableExists(): Promise<void> {}
      async close(): Promise<void> {}
      async [Symbol.asyncDispose](): Promise<void> {}
    }
    const namespace: Namespace = new Partial();
    await expect(namespace.tableExists({ id: ['t'] })).resolves.toBeUndefined();
    await expect(namespace.dropTable({ id: ['t'] })).rejects.toThrow('DropTable');
  });

  it('says which operation is not there', () => {
    expect(unsupported('CreateTableIndex').message).toContain('CreateTableIndex');
  });
});
