/** What LanceDB's remote client sends and needs, request by request; the rest is in test/interop. */

import { describe, expect, test } from 'vitest';
import {
  Field,
  FixedSizeList,
  Float32,
  recordBatchStream,
  Schema,
} from '../../src/arrow/apache.ts';
import { DirspaceError, type ErrorCode } from '../../src/errors.ts';
import { openArrowBody } from '../../src/ipc/foreign/foreign-ipc.ts';
import { connectNamespace } from '../../src/sdk/connect.ts';
import { plainQuery } from '../../src/server/dialects/lancedb-queries.ts';
import {
  type Answered,
  ARROW,
  ask,
  type Pair,
  restPair,
  someRows,
  streamBytes,
} from '../helpers/rest-pair.ts';
import { type Answers, stubNamespace } from '../helpers/stub-namespace.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

const remote = { 'user-agent': 'LanceDB-Node-Client/0.39.0', 'x-lancedb-database': 'db' };

const send = (pair: Pair, path: string, body?: unknown, headers = {}): Promise<Answered> =>
  ask(pair, 'POST', path, body, { ...remote, ...headers });

/** What a catalog hears of a request in the dialect. */
async function heard(method: string, path: string, body?: unknown, headers = {}): Promise<unknown> {
  const seen: unknown[] = [];
  const hear = (request: unknown): unknown => {
    seen.push(request);
    return { version: 3 };
  };
  const names = [
    'createNamespace',
    'dropNamespace',
    'renameTable',
    'restoreTable',
    'queryTable',
    'describeTable',
    'explainTableQueryPlan',
    'mergeInsertIntoTable',
    'listTables',
  ];
  const answers = Object.fromEntries(names.map((name) => [name, hear])) as Answers;
  const pair = await restPair({ namespace: stubNamespace(answers) });
  await ask(pair, method, path, body, { ...remote, ...headers });
  return seen.length > 1 ? seen : seen[0];
}

async function failing(
  operation: string,
  code: ErrorCode,
  path: string,
  body?: unknown,
): Promise<Answered> {
  const namespace = stubNamespace({
    [operation]: () => {
      throw new DirspaceError(code, 'It is so.');
    },
  });
  return send(await restPair({ namespace }), path, body);
}

describe('who speaks it', () => {
  const missing = async (headers: Record<string, string>, slash = ''): Promise<number> => {
    const pair = await restPair({
      namespace: stubNamespace({
        createTableTag: () => {
          throw new DirspaceError('TableTagAlreadyExists', 'It is there.');
        },
      }),
    });
    const path = `/v1/table/t/tags/create${slash}`;
    return (await ask(pair, 'POST', path, { tag: 'x', version: 1 }, headers)).status;
  };
  test('a slash at the end, the client by its name, or its database header', async () => {
    expect(await missing({}, '/')).toBe(400);
    expect(await missing({ 'user-agent': 'LanceDB-Python-Client/0.3' })).toBe(400);
    expect(await missing({ 'x-lancedb-database': 'x', 'user-agent': 'y' })).toBe(400);
  });
  test('but not others, nor a delimiter without that slash', async () => {
    expect(await missing({})).toBe(409);
    expect(await missing({ 'x-lancedb-database': 'x', 'user-agent': 'dirspace' })).toBe(409);
    expect(await missing({ 'x-lancedb-database': 'x', 'user-agent': 'y' }, '?delimiter=%24')).toBe(
      409,
    );
  });
});

describe('requests', () => {
  test('slashes are ignored at the end and where they are doubled', async () => {
    expect(await heard('POST', '//v1/table/a$b/describe/')).toMatchObject({ id: ['a', 'b'] });
  });
  test('modes come in quotes', async () => {
    expect(await heard('POST', '/v1/namespace/a/create', { mode: '"ExistOk"' })).toMatchObject({
      mode: 'ExistOk',
    });
    expect(
      await heard('POST', '/v1/namespace/a/drop', { mode: '"Skip"', behavior: '"Cascade"' }),
    ).toMatchObject({ mode: 'Skip', behavior: 'Cascade' });
  });
  test('new_namespace is new_namespace_id', async () => {
    expect(
      await heard('POST', '/v1/table/a/rename/', { new_table_name: 'b', new_namespace: ['n'] }),
    ).toEqual({ id: ['a'], new_table_name: 'b', new_namespace_id: ['n'] });
  });
  test('its list of tables is that of the root', async () => {
    expect(await heard('GET', '/v1/table/')).toEqual({ id: [] });
  });
  test('a restore without a version is of the latest', async () => {
    expect(await heard('POST', '/v1/table/a/restore/', { version: null })).toEqual([
      { id: ['a'], load_detailed_metadata: true },
      { id: ['a'], version: 3 },
    ]);
  });
  test.each([
    [{ vector: [] }, {}],
    [{ vector: [1, 2] }, { vector: { single_vector: [1, 2] } }],
    [{ vector: [[1], [2]] }, { vector: { multi_vector: [[1], [2]] } }],
    [{ columns: ['a'] }, { columns: { column_names: ['a'] } }],
    [{ columns: { b: 'a + 1' } }, { columns: { column_aliases: { b: 'a + 1' } } }],
    [
      { full_text_query: { columns: [], query: 'x' } },
      { full_text_query: { string_query: { columns: [], query: 'x' } } },
    ],
    [
      { full_text_query: { query: { match: { terms: 'x' } } } },
      { full_text_query: { structured_query: { query: { match: { terms: 'x' } } } } },
    ],
    [
      { full_text_query: { query: { match: { terms: 'x', fuzziness: null, boost: null } } } },
      {
        full_text_query: {
          structured_query: { query: { match: { terms: 'x', fuzziness: null } } },
        },
      },
    ],
    [
      { full_text_query: { query: { prefix: { terms: 'x', column: 'a' } } } },
      {
        full_text_query: { structured_query: { query: { prefix: { terms: 'x', column: 'a' } } } },
      },
    ],
    [
      {
        full_text_query: {
          query: {
            boolean: {
              must: [{ multi_match: { query: 'x', columns: ['a', 'b'], boost: [1, 2] } }],
              should: [],
              must_not: [],
            },
          },
        },
      },
      {
        full_text_query: {
          structured_query: {
            query: {
              boolean: {
                must: [
                  {
                    multi_match: {
                      match_queries: [
                        { terms: 'x', column: 'a', boost: 1 },
                        { terms: 'x', column: 'b', boost: 2 },
                      ],
                    },
                  },
                ],
                should: [],
                must_not: [],
              },
            },
          },
        },
      },
    ],
    [{ lower_bound: null, version: null }, {}],
  ])('a query with %j', async (sent, plain) => {
    const body = { k: 5, ...sent };
    expect(await heard('POST', '/v1/table/a/query/', body)).toEqual({ id: ['a'], k: 5, ...plain });
    expect(
      await heard('POST', '/v1/table/a/explain_plan/', { verbose: true, query: body }),
    ).toEqual({
      id: ['a'],
      verbose: true,
      query: { k: 5, ...plain },
    });
  });
  test('a k of 2^63 - 1 is no limit', async () => {
    const body = '{"k":9223372036854775807,"vector":[],"prefilter":true,"version":null}';
    const request = await heard('POST', '/v1/table/a/query/', body, {
      'content-type': 'application/json',
    });
    expect(request).toMatchObject({ k: Number.MAX_SAFE_INTEGER });
  });
  test('merge_insert: several keys, the time-out of its header, and the index by default', async () => {
    const path = '/v1/table/a/merge_insert/?on=x&on=y&when_matched_update_all=true';
    const request = await heard('POST', path, await streamBytes(), {
      ...ARROW,
      'x-request-timeout-ms': '1500',
    });
    expect(request).toMatchObject({
      on: ['x', 'y'],
      timeout: '1500ms',
      use_index: true,
      when_matched_update_all: true,
    });
  });
});

describe('answers', () => {
  test('describe tells version and schema, with the names of Lance', async () => {
    const pair = await restPair({ root: temporaryFolder() });
    await pair.client.createTable({ id: ['t'] }, someRows());
    const { json, headers } = await send(pair, '/v1/table/t/describe/');
    expect(json).toMatchObject({
      version: 1,
      schema: { fields: [{ name: 'id', nullable: expect.any(Boolean), type: { type: 'int32' } }] },
    });
    // Clients send several vectors at once from 0.2.0 on, structured text queries from 0.3.0 on, parts from 0.4.0, blobs from 0.5.0.
    expect(headers.get('phalanx-version')).toBe('0.5.0');
    expect((await send(pair, '/v1/table/t/count_rows/', { version: null })).json).toBe(3);
    const listed = await ask(pair, 'GET', '/v1/table/?limit=10', undefined, remote);
    expect(listed.json).toEqual({ tables: ['t'] });
  });
  test('of several vectors, rows tell which one they are near to', async () => {
    const pair = await restPair({ root: temporaryFolder() });
    const item = new Field('item', new Float32(), true);
    const schema = new Schema([new Field('v', new FixedSizeList(2, item), true)]);
    const { client } = pair;
    await client.createTable({ id: ['t'] }, recordBatchStream(schema, []));
    const db = await connectNamespace('rest', { uri: pair.base }, { fetch: pair.fetch as never });
    await (await db.openTable('t')).add([{ v: [0, 0] }, { v: [9, 9] }]);
    const response = await pair.fetch(`${pair.base}/v1/table/t/query/`, {
      method: 'POST',
      headers: { ...remote, 'content-type': 'application/json' },
      body: JSON.stringify({
        vector: [
          [9, 9],
          [0, 1],
        ],
        k: 1,
        prefilter: true,
      }),
    });
    const rows = await openArrowBody(new Uint8Array(await response.arrayBuffer()));
    const found: unknown[] = [];
    for await (const batch of rows) {
      const [index, distance] = ['query_index', '_distance'].map((name) => batch.getChild(name));
      for (let row = 0; row < batch.numRows; row++) {
        found.push([index?.get(row), distance?.get(row)]);
      }
      expect(String(index?.type)).toBe('Int32');
    }
    expect(found).toEqual([
      [0, 0],
      [1, 1],
    ]);
    await db.close();
  });

  test('tags are a bare map, in camel case', async () => {
    const tags = { a: { version: 1, manifestSize: 2 } };
    const pair = await restPair({ namespace: stubNamespace({ listTableTags: () => ({ tags }) }) });
    expect((await send(pair, '/v1/table/t/tags/list/')).json).toEqual(tags);
  });
  test('update tells rows_updated too', async () => {
    const answer = { updated_rows: 2, version: 3 };
    const pair = await restPair({ namespace: stubNamespace({ updateTable: () => answer }) });
    const { json } = await send(pair, '/v1/table/t/update/', {
      predicate: null,
      updates: [['a', '1']],
    });
    expect(json).toEqual({ ...answer, rows_updated: 2 });
  });
  test('a merge tells how many rows it wrote', async () => {
    const answer = { num_inserted_rows: 2, num_updated_rows: 3, num_deleted_rows: 4, version: 5 };
    const pair = await restPair({
      namespace: stubNamespace({ mergeInsertIntoTable: () => answer }),
    });
    const { json } = await send(
      pair,
      '/v1/table/t/merge_insert/?on=id',
      await streamBytes(),
      ARROW,
    );
    expect(json).toEqual({ ...answer, num_rows: 5 });
  });
  test('tables without indices have none to list, and none to tell of', async () => {
    const pair = await restPair({ namespace: stubNamespace() });
    expect((await send(pair, '/v1/table/t/index/list/', {})).json).toEqual({ indexes: [] });
    expect((await send(pair, '/v1/table/t/index/i/stats/', {})).status).toBe(404);
  });
  test('the path of an indexed column is one that they find in the schema', async () => {
    const pair = await restPair({ root: await temporaryFolder(), create: true });
    const db = await connectNamespace('rest', { uri: pair.base }, { fetch: pair.fetch as never });
    const rows = [{ 'row-id': 1, literal: { 'a.b': 1, plain: 2 }, 'c`d': 3, 'e.f': { g: 4 } }];
    const table = await db.createTable('t', rows);
    const columns = async (): Promise<string[]> => {
      const { json } = await send(pair, '/v1/table/t/index/list/', { version: null });
      return json.indexes.map((index: { columns: string[] }) => index.columns[0]);
    };
    await table.createIndex('`row-id`', { name: 'a' });
    expect(await columns()).toEqual(['row-id']);
    for (const [name, column] of Object.entries({
      b: 'literal.`a.b`',
      c: 'literal.plain',
      d: '`c``d`',
      e: '`e.f`.g',
    })) {
      await table.createIndex(column, { name });
    }
    expect(await columns()).toEqual([
      'row-id',
      'literal.`a.b`',
      'literal.plain',
      '`c``d`',
      '`e.f`.g',
    ]);
    expect((await send(pair, '/v1/table/t/index/b/prewarm/')).status).toBe(200);
    expect((await send(pair, '/v1/table/t/index/none/prewarm/')).status).toBe(404);
    await db.close();
  });
  test('no table has a specification of LSM writes', async () => {
    const pair = await restPair({
      namespace: stubNamespace({ describeTable: () => ({ version: 3 }) }),
    });
    const answered = await send(pair, '/v1/table/t/get_lsm_write_spec/');
    expect(answered.status).toBe(200);
    expect(answered.json.lsm_write_spec ?? null).toBeNull();
    expect(await heard('POST', '/v1/table/a$b/get_lsm_write_spec/')).toMatchObject({
      id: ['a', 'b'],
    });
    const missing = await failing(
      'describeTable',
      'TableNotFound',
      '/v1/table/t/get_lsm_write_spec/',
    );
    expect(missing.status).toBe(404);
    expect((await send(pair, '/v1/table/t/set_lsm_write_spec/', {})).status).toBe(406);
  });
  test('a JSON write that is sent again with its id is done once', async () => {
    let calls = 0;
    const pair = await restPair({
      namespace: stubNamespace({ deleteFromTable: () => ({ version: ++calls }) }),
    });
    const again = (id: string): Promise<Answered> =>
      send(pair, '/v1/table/t/delete/', { predicate: 'true' }, { 'x-request-id': id });
    const answers = [await again('a'), await again('a'), await again('b')];
    expect(answers.map(({ json }) => json.version)).toEqual([1, 1, 2]);
  });
});

describe('statuses', () => {
  test('a table that is there already is a 400 with the words it looks for', async () => {
    const pair = await restPair({
      namespace: stubNamespace({
        createTable: () => {
          throw new DirspaceError('TableAlreadyExists', 'Taken.');
        },
      }),
    });
    const answer = await send(pair, '/v1/table/t/create/?mode=create', await streamBytes(), ARROW);
    expect(answer).toMatchObject({ status: 400, json: { code: 5 } });
    expect(answer.text).toContain('already exists');
  });
  const tag = { tag: 'x', version: 1 };
  test.each([
    ['createTableTag', 'TableTagAlreadyExists', '/v1/table/t/tags/create/', tag, 400],
    ['getTableTagVersion', 'TableTagNotFound', '/v1/table/t/tags/version/', tag, 400],
    ['describeTable', 'TableNotFound', '/v1/table/t/describe/', {}, 404],
    ['describeTable', 'TableVersionNotFound', '/v1/table/t/describe/', { version: 9 }, 404],
    ['countTableRows', 'TableVersionNotFound', '/v1/table/t/count_rows/', { version: 9 }, 400],
    [
      'createTableBranch',
      'TableBranchAlreadyExists',
      '/v1/table/t/branches/create/',
      { name: 'b' },
      409,
    ],
    [
      'deleteTableBranch',
      'TableBranchNotFound',
      '/v1/table/t/branches/delete/',
      { name: 'b' },
      404,
    ],
    ['deleteFromTable', 'ConcurrentModification', '/v1/table/t/delete/', { predicate: 'x' }, 409],
    ['deleteFromTable', 'CommitStateUnknown', '/v1/table/t/delete/', { predicate: 'x' }, 400],
    ['describeTable', 'Internal', '/v1/table/t/describe/', {}, 500],
    [
      'createTableIndex',
      'Unsupported',
      '/v1/table/t/create_index/',
      { column: 'a', index_type: 'BTREE' },
      406,
    ],
  ] as const)('%s %s', async (operation, code, path, body, status) => {
    const answer = await failing(operation, code, path, body);
    expect(answer).toMatchObject({ status, json: { status } });
  });
  test.each([
    '/v1/jobs/list',
    '/v1/jobs/resume',
    '/v1/table/t/clone',
    '/v1/table/t/page_cache/prewarm/',
  ])('a route that is not there is not supported: %s', async (path) => {
    expect(await send(await restPair({ namespace: stubNamespace() }), path, {})).toMatchObject({
      status: 406,
      json: { code: 0 },
    });
  });
});

test('jobs have the names and states of its clients', async () => {
  const pair = await restPair({ root: temporaryFolder() });
  await pair.client.createTable({ id: ['t'] }, someRows());
  const begun = async (column: string, index_type: string) =>
    pair.client.beginJob({
      id: ['t'],
      operation: 'CreateTableIndex',
      parameters: { column, index_type },
    });
  const { job_id } = await begun('id', 'BTREE');
  const failed = await begun('id', 'LABEL_LIST');
  const ended = async (id: string) => {
    for (;;) {
      const { json } = await send(pair, '/v1/jobs/describe', { job_id: id });
      if ((json as { job_state: string }).job_state !== 'IN_PROGRESS') return json;
    }
  };
  expect(await ended(job_id)).toMatchObject({
    job_id,
    job_state: 'DONE',
    job_type: 'create_index',
    table: 't',
    creation_ms: expect.any(Number),
    spec: { column: 'id', index_type: 'BTREE' },
  });
  expect(await ended(failed.job_id)).toMatchObject({
    job_state: 'FAILED',
    failure: { phase: 'create_index', message: expect.stringContaining('id'), retryable: false },
  });
  const listed = (await send(pair, '/v1/jobs/list', {})).json as { jobs: object[] };
  expect(listed.jobs).toMatchObject([{ job_id, state: 'DONE' }, { state: 'FAILED' }]);
  expect(await send(pair, '/v1/jobs/cancel', { job_id })).toMatchObject({ status: 200 });
  for (const path of ['describe', 'cancel']) {
    const missing = await send(pair, `/v1/jobs/${path}`, { job_id: 'none' });
    expect(missing).toMatchObject({ status: 404 });
  }
});

test('what asks for nothing, or for what cannot be, is a final 400', async () => {
  const pair = await restPair({ root: temporaryFolder() });
  await pair.client.createTable({ id: ['t'] }, someRows());
  for (const [path, body, word] of [
    ['query', { k: 1, vector: [], distance_type: 'nonsense' }, 'nonsense'],
    ['query', { k: 1, vector: [], vector_column: 'missing' }, 'missing'],
    ['query', { k: 1, vector: { single_vector: [1], multi_vector: [[1]] } }, 'both'],
    ['explain_plan', { query: { k: 1, vector: [], distance_type: 'nonsense' } }, 'nonsense'],
    ['alter_columns', { alterations: [] }, 'No column'],
    ['alter_columns', { alterations: [{ path: 'id' }] }, 'changes nothing'],
  ] as const) {
    const answer = await send(pair, `/v1/table/t/${path}/`, body);
    expect(answer).toMatchObject({ status: 400, json: { error: expect.stringContaining(word) } });
  }
  expect((await send(pair, '/v1/table/t/query/', { k: 1, vector: [] })).status).toBe(200);
  expect((await send(pair, '/v1/table/t/index/id_idx/drop/')).status).toBe(404);
});

test('startAfter is a name, and so is the token that is answered', async () => {
  const pair = await restPair({ root: temporaryFolder() });
  for (const name of ['c', 'a', 'b']) await pair.client.createTable({ id: [name] }, someRows());
  const list = async (query: string): Promise<unknown> =>
    (await ask(pair, 'GET', `/v1/table/${query}`, undefined, remote)).json;
  expect(await list('?limit=2')).toEqual({ tables: ['a', 'b'], page_token: 'b' });
  expect(await list('?limit=2&page_token=b')).toEqual({ tables: ['c'] });
  expect(await list('?page_token=a')).toEqual({ tables: ['b', 'c'] });
});

test('the probes that its clients send of themselves bound no search from above', () => {
  const probes = (most: number, nprobes = 20) =>
    plainQuery({ nprobes, minimum_nprobes: 20, maximum_nprobes: most });
  expect(probes(20)).toEqual({ nprobes: 20, minimum_nprobes: 20 });
  expect(probes(0)).toEqual({ nprobes: 20, minimum_nprobes: 20 });
  expect(probes(21)).toMatchObject({ maximum_nprobes: 21 });
  expect(probes(20, 19)).toMatchObject({ maximum_nprobes: 20 });
});
