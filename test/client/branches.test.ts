/** Branches over REST: a server that may pass over `branch` is not sent what would change another. */
import { describe, expect, test } from 'vitest';
import { RestNamespace } from '../../src/client/client.ts';
import { connectNamespace } from '../../src/index.ts';
import { EVERY_OPERATION, methodName } from '../../src/protocol/every-operation.ts';
import { ask, restPair, someRows, streamBytes } from '../helpers/rest-pair.ts';
import { stubNamespace } from '../helpers/stub-namespace.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

const T = { id: ['t'] };
const SIGN = { 'x-dirspace-supports': 'other, branch' };

/** A client of a server that answers so, one answer after the other, and the paths it is sent. */
function answering(...answers: (() => Response)[]): { client: RestNamespace; paths: string[] } {
  const paths: string[] = [];
  const client = new RestNamespace({
    uri: 'http://x',
    retries: 0,
    fetch: async (url) => {
      paths.push(new URL(url).pathname);
      const answer = answers.length > 1 ? answers.shift() : answers[0];
      return (answer as () => Response)();
    },
  });
  return { client, paths };
}

const plain = (): Response => new Response('{}');
const signed = (): Response => new Response('{}', { headers: SIGN });
const refused = { code: 'Unsupported', message: expect.stringContaining('"branch"') };

type Calls = Readonly<Record<string, (request: object, data?: Uint8Array) => Promise<unknown>>>;

const version = { version: 2, manifest_path: 'm' };
const CHANGES: readonly (readonly [keyof typeof EVERY_OPERATION, object])[] = [
  ['InsertIntoTable', {}],
  ['MergeInsertIntoTable', { on: ['id'] }],
  ['UpdateTable', { updates: [['a', '1']] }],
  ['DeleteFromTable', { predicate: 'true' }],
  ['DeleteRows', { row_ids: [1n] }],
  ['RestoreTable', { version: 1 }],
  ['AlterTableAddColumns', { new_columns: [] }],
  ['AlterTableAlterColumns', { alterations: [] }],
  ['AlterTableDropColumns', { columns: ['a'] }],
  ['UpdateTableSchemaMetadata', { metadata: {} }],
  ['UpdateFieldMetadata', { updates: [] }],
  ['CreateTableTag', { tag: 'a', version: 1 }],
  ['UpdateTableTag', { tag: 'a', version: 1 }],
  ['CreateTableVersion', version],
  ['BatchDeleteTableVersions', { ranges: [] }],
  ['CreateTableScalarIndex', { column: 'a', index_type: 'BTREE' }],
  ['DropTableIndex', { index_name: 'a' }],
  ['QueryTable', { k: 1 }],
  ['AnalyzeTableQueryPlan', { k: 1 }],
  ['ExplainTableQueryPlan', { query: { k: 1 } }],
];

/** Those that name the branch in a part of the request. */
const IN_PARTS: typeof CHANGES = [
  ['ExplainTableQueryPlan', { ...T, query: { k: 1, branch: 'b' } }],
  ['CreateTableBranch', { ...T, name: 'c', from_branch: 'b' }],
  ['BatchCreateTableVersions', { entries: [{ ...T, ...version, branch: 'b' }] }],
  [
    'BatchCommitTables',
    { operations: [{ create_table_version: { ...T, ...version, branch: 'b' } }] },
  ],
];

const all = [
  ...CHANGES.map(([name, request]) => [name, { ...T, ...request, branch: 'b' }] as const),
  ...IN_PARTS,
];

describe('a server that does not say that it honours branches', () => {
  test.each(all)('is asked once and never sent %s: %o', async (operation, request) => {
    const { client, paths } = answering(plain);
    const takesData = EVERY_OPERATION[operation].body === 'arrow-stream';
    const data = takesData ? [await streamBytes(someRows())] : [];
    const calls = client as unknown as Calls;
    const call = (): Promise<unknown> | undefined =>
      calls[methodName(operation)]?.call(client, request, ...data);
    await expect(call()).rejects.toMatchObject(refused);
    await expect(call()).rejects.toMatchObject(refused);
    expect(paths).toEqual(['/v1/table/t/describe']);
  });
  test('is not asked where one of its answers has told already', async () => {
    const { client, paths } = answering(plain);
    await client.describeTable({ ...T, branch: 'b' });
    const work = client.deleteFromTable({ ...T, branch: 'b', predicate: 'true' });
    await expect(work).rejects.toMatchObject({
      ...refused,
      details: { operation: 'DeleteFromTable', member: 'branch' },
    });
    expect(paths).toHaveLength(1);
  });
  test('is sent what is for the main branch, and what is told of others', async () => {
    const { client, paths } = answering(plain);
    await client.deleteFromTable({ ...T, branch: 'main', predicate: 'true' });
    await client.deleteFromTable({ ...T, predicate: 'true' });
    await client.createTableBranch({ ...T, name: 'b' });
    await client.deleteTableBranch({ ...T, name: 'b' });
    await client.countTableRows({ ...T, branch: 'b' }).catch(() => {});
    await client.updateTable({ ...T, updates: [['branch', '1']] }).catch(() => {});
    expect(paths).toHaveLength(6);
  });
  test('keeps its main branch when a handle on another deletes all rows', async () => {
    const pair = await restPair({ root: temporaryFolder() });
    const strip = async (...asked: Parameters<typeof fetch>): Promise<Response> => {
      const { status, headers, body } = await pair.fetch(...asked);
      const left = [...headers].filter(([name]) => name !== 'x-dirspace-supports');
      return new Response(body, { status, headers: left });
    };
    const options = { fetch: strip as never };
    const db = await connectNamespace('rest', { uri: pair.base }, options);
    const table = await db.createTable('t', [{ id: 1 }]);
    const draft = await (await table.branches()).create('draft');
    await expect(draft.delete('true')).rejects.toMatchObject(refused);
    await expect(draft.add([{ id: 2 }])).rejects.toMatchObject(refused);
    await expect(draft.query().toArray()).rejects.toMatchObject(refused);
    expect(await table.query().toArray()).toEqual([{ id: 1 }]);
  });
  test('that fails to answer has told nothing, and its failure is the call’s', async () => {
    const busy = (): Response => new Response('{"error":"busy","code":17}', { status: 503 });
    const { client, paths } = answering(busy, signed, plain);
    const request = { ...T, branch: 'b', predicate: 'true' };
    await expect(client.deleteFromTable(request)).rejects.toMatchObject({
      code: 'ServiceUnavailable',
    });
    await client.deleteFromTable(request);
    const ends = paths.map((path) => path.split('/').at(-1));
    expect(ends).toEqual(['describe', 'describe', 'delete']);
    // Its last answer came without the sign: another server has taken its place.
    await expect(client.deleteFromTable(request)).rejects.toMatchObject(refused);
    expect(paths).toHaveLength(3);
  });
});

describe('a server that says that it honours branches', () => {
  test('is asked once by a connection, on behalf of who asks', async () => {
    const sent: [string, unknown, string | null][] = [];
    const client = new RestNamespace({
      uri: 'http://x',
      fetch: async (url, { body, headers }) => {
        const key = new Headers(headers).get('x-api-key');
        sent.push([new URL(url).pathname, JSON.parse(String(body)), key]);
        return signed();
      },
    });
    const identity = { api_key: 'mine' };
    const request = { ...T, branch: 'b', predicate: 'true' };
    await client.deleteFromTable({ ...request, identity, context: { a: 'b' } });
    await client.deleteFromTable(request);
    expect(sent).toEqual([
      ['/v1/table/t/describe', { identity, context: { a: 'b' } }, 'mine'],
      [
        '/v1/table/t/delete',
        { branch: 'b', predicate: 'true', identity, context: { a: 'b' } },
        'mine',
      ],
      ['/v1/table/t/delete', { branch: 'b', predicate: 'true' }, null],
    ]);
  });
  test('tells by a failure too', async () => {
    const missing = (): Response =>
      new Response('{"error":"gone","code":4}', { status: 404, headers: SIGN });
    const { client, paths } = answering(missing, signed);
    await client.deleteFromTable({ ...T, branch: 'b', predicate: 'true' });
    expect(paths).toHaveLength(2);
  });
  test('is ours, in every answer', async () => {
    const pair = await restPair({ root: temporaryFolder() });
    await pair.client.createTable(T, someRows());
    for (const [path, body, status] of [
      ['/v1/table/t/describe', {}, 200],
      ['/v1/table/t/query', { k: 1 }, 200],
      ['/v1/table/t/exists', {}, 200],
      ['/v1/table/u/describe', {}, 404],
      ['/v1/table/t/delete', { predicate: 1 }, 400],
    ] as const) {
      const answer = await ask(pair, 'POST', path, body);
      expect([answer.status, answer.headers.get('x-dirspace-supports')]).toEqual([
        status,
        'branch',
      ]);
    }
    await pair.client.createTableBranch({ ...T, name: 'b' });
    const other = new RestNamespace({ uri: pair.base, fetch: pair.fetch });
    await other.deleteFromTable({ ...T, branch: 'b', predicate: 'true' });
    expect(await other.countTableRows({ ...T, branch: 'b' })).toMatchObject({ count: 0 });
    expect(await other.countTableRows(T)).toMatchObject({ count: 3 });
  });
  test('refuses for one behind it that does not say so', async () => {
    const { client: behind, paths } = answering(plain);
    const pair = await restPair({ namespace: behind });
    const work = pair.client.deleteFromTable({ ...T, branch: 'b', predicate: 'true' });
    await expect(work).rejects.toMatchObject(refused);
    expect(paths.filter((path) => path.endsWith('/delete'))).toEqual([]);
  });
  test('hands the branch on to the catalog that it serves', async () => {
    const heard: unknown[] = [];
    const namespace = stubNamespace({
      describeTable: async () => ({}),
      deleteFromTable: async (request: unknown) => {
        heard.push(request);
        return {};
      },
    });
    const pair = await restPair({ namespace });
    await pair.client.deleteFromTable({ ...T, branch: 'b', predicate: 'true' });
    expect(heard).toEqual([{ ...T, branch: 'b', predicate: 'true' }]);
  });
});
