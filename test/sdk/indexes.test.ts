/** The indexes of tables, of the engine's own catalogs and as they are asked of others. */
import { expect, test } from 'vitest';
import { Field, FixedSizeList, Float32, Schema, Struct, Utf8 } from '../../src/arrow/apache.ts';
import { openDirectoryNamespace } from '../../src/directory/directory-namespace.ts';
import { type Env, systemEnv } from '../../src/env.ts';
import { DirspaceError } from '../../src/errors.ts';
import { schemaToJson } from '../../src/protocol/types/schema.ts';
import { connect } from '../../src/sdk/connect.ts';
import { Connection } from '../../src/sdk/connection.ts';
import { Index, usualIndex } from '../../src/sdk/table/index-config.ts';
import { memoryFs } from '../helpers/catalogs.ts';
import { recordingCatalog, SCHEMA_JSON, TABLE_ANSWERS } from '../helpers/recording-catalog.ts';
import { restPair } from '../helpers/rest-pair.ts';
import { stubNamespace } from '../helpers/stub-namespace.ts';

type Answers = Parameters<typeof recordingCatalog>[0];

const VECTOR = schemaToJson(
  new Schema([new Field('vector', new FixedSizeList(2, new Field('item', new Float32())))]),
).fields;

const DESCRIBED = {
  ...TABLE_ANSWERS.describeTable({}),
  schema: { fields: [...SCHEMA_JSON.fields, ...VECTOR] },
};

/** A connection whose clock goes on only while somebody sleeps. */
function setUp(answers: Answers = {}) {
  const described = { describeTable: () => DESCRIBED };
  const recording = recordingCatalog({ ...TABLE_ANSWERS, ...described, ...answers });
  const slept: number[] = [];
  let now = 1_000_000;
  const env: Env = {
    ...systemEnv,
    now: () => now,
    sleep: async (ms, signal) => {
      signal?.throwIfAborted();
      slept.push(ms);
      now += ms;
    },
  };
  return { ...recording, slept, connection: new Connection(recording.catalog, { env }) };
}

test('a catalog of directories builds indexes of values and vectors, and refuses others by name', async () => {
  const db = await connect('/c', { fs: memoryFs(), durability: 'relaxed' });
  const table = await db.createTable('t', [{ id: 1, tags: ['a'], vector: [0.5, 1] }]);
  const calls: [string, () => Promise<unknown>][] = [
    [
      'hamming',
      () => table.createIndex('vector', { config: Index.ivfFlat({ distanceType: 'hamming' }) }),
    ],
    ['FM', () => table.createIndex('id', { config: Index.fm() })],
  ];
  for (const [name, call] of calls) {
    await expect(call(), name).rejects.toMatchObject({
      code: 'Unsupported',
      number: 0,
      message: expect.stringContaining(name),
    });
  }
  expect(await table.listIndices()).toEqual([]);
  expect(await table.indexStats('id_idx')).toBeUndefined();
  expect((await table.stats()).numIndices).toBe(0);
  await expect(table.dropIndex('id_idx')).rejects.toMatchObject({ code: 'TableIndexNotFound' });
  await expect(table.waitForIndex(['id_idx'], 0)).rejects.toMatchObject({
    details: { indexes: ['id_idx'] },
  });
  expect(await table.version()).toBe(1);
  await table.createIndex('id', { waitTimeoutSeconds: 1 });
  await expect(table.createIndex('tags')).rejects.toThrow('LABEL_LIST is for lists of values');
  await expect(table.createIndex('vector', { config: Index.btree() })).rejects.toThrow(
    /have no order here; LABEL_LIST/,
  );
  await table.createIndex('tags', { config: Index.labelList(), name: 'labels' });
  const refused = table.createIndex('id', { config: Index.btree(), replace: false });
  await expect(refused).rejects.toMatchObject({ code: 'TableIndexAlreadyExists' });
  expect(await table.listIndices()).toMatchObject([
    { name: 'id_idx', indexType: 'BTree', columns: ['id'], numUnindexedRows: 0 },
    { name: 'labels', indexType: 'LabelList', columns: ['tags'], numIndexedRows: 1 },
  ]);
  await table.add([{ id: 2, tags: [], vector: [1, 1] }]);
  expect(await table.indexStats('labels')).toMatchObject({ numUnindexedRows: 1 });
  await table.optimize();
  expect(await table.indexStats('labels')).toMatchObject({
    numIndexedRows: 2,
    numUnindexedRows: 0,
  });
  await table.prewarmIndex('labels');
  await expect(table.prewarmIndex('no')).rejects.toMatchObject({ code: 'TableIndexNotFound' });
  await table.dropIndex('labels');
  expect((await table.stats()).numIndices).toBe(1);
  await table.close();
  await expect(table.listIndices()).rejects.toMatchObject({ code: 'Closed' });
  await expect(table.prewarmIndex('x')).rejects.toMatchObject({ code: 'Closed' });
  await db.close();
});

test('kinds of indexes with their options', async () => {
  const { connection, calls } = setUp();
  const table = await connection.openTable('user');
  calls.length = 0;
  const distanceType = 'cosine' as const;
  const hnsw = { distanceType, m: 8, efConstruction: 100 };
  const fts = { withPosition: true, baseTokenizer: 'simple', lowercase: false, stem: true };
  const configs = [
    Index.ivfPq({ numPartitions: 4, numSubVectors: 2, numBits: 8, distanceType }),
    Index.ivfSq({ distanceType: 'dot', sampleRate: 9 }),
    Index.ivfRq({ maxIterations: 3 }),
    Index.ivfFlat({ distanceType: 'hamming', sampleRate: 2 }),
    Index.hnswPq(hnsw),
    Index.hnswSq(),
    Index.btree(),
    Index.bitmap(),
    Index.labelList(),
    Index.fm(),
    Index.fts({ ...fts, removeStopWords: false, asciiFolding: true, language: 'English' }),
  ];
  for (const config of configs) await table.createIndex('c', { config, name: 'i' });
  const on = { id: ['user'], column: 'c', name: 'i' };
  expect(calls.map(({ method, request }) => [method, request])).toEqual([
    [
      'createTableIndex',
      {
        ...on,
        index_type: 'IVF_PQ',
        num_partitions: 4,
        num_sub_vectors: 2,
        num_bits: 8,
        distance_type: 'cosine',
      },
    ],
    ['createTableIndex', { ...on, index_type: 'IVF_SQ', distance_type: 'dot', sample_rate: 9 }],
    ['createTableIndex', { ...on, index_type: 'IVF_RQ', max_iterations: 3 }],
    [
      'createTableIndex',
      { ...on, index_type: 'IVF_FLAT', distance_type: 'hamming', sample_rate: 2 },
    ],
    [
      'createTableIndex',
      { ...on, index_type: 'IVF_HNSW_PQ', distance_type: 'cosine', m: 8, ef_construction: 100 },
    ],
    ['createTableIndex', { ...on, index_type: 'IVF_HNSW_SQ' }],
    ['createTableScalarIndex', { ...on, index_type: 'BTREE' }],
    ['createTableScalarIndex', { ...on, index_type: 'BITMAP' }],
    ['createTableScalarIndex', { ...on, index_type: 'LABEL_LIST' }],
    ['createTableScalarIndex', { ...on, index_type: 'FM' }],
    [
      'createTableScalarIndex',
      {
        ...on,
        index_type: 'FTS',
        with_position: true,
        base_tokenizer: 'simple',
        lower_case: false,
        stem: true,
        remove_stop_words: false,
        ascii_folding: true,
        language: 'English',
      },
    ],
  ]);
});

test.each<[string, () => Index, string, string]>([
  ['IVF_SQ', () => Index.ivfSq({ m: 2 } as never), 'm', 'sampleRate'],
  ['IVF_SQ', () => Index.ivfSq({ numBits: 8 } as never), 'numBits', 'sampleRate'],
  ['IVF_FLAT', () => Index.ivfFlat({ numSubVectors: 2 } as never), 'numSubVectors', 'sampleRate'],
  ['IVF_RQ', () => Index.ivfRq({ numSubVectors: 2 } as never), 'numSubVectors', 'numBits'],
  ['IVF_PQ', () => Index.ivfPq({ m: 2 } as never), 'm', 'numSubVectors'],
  ['IVF_HNSW_SQ', () => Index.hnswSq({ numBits: 8 } as never), 'numBits', 'efConstruction'],
  ['IVF_HNSW_PQ', () => Index.hnswPq({ withPosition: true } as never), 'withPosition', 'm'],
  ['BTREE', () => Index.btree({ withPosition: true } as never), 'withPosition', 'none'],
  ['BITMAP', () => Index.bitmap({ numPartitions: 1 } as never), 'numPartitions', 'none'],
  ['LABEL_LIST', () => Index.labelList({ stem: true } as never), 'stem', 'none'],
  ['FM', () => Index.fm({ toString: 1 } as never), 'toString', 'none'],
  ['FTS', () => Index.fts({ sampleRate: 2 } as never), 'sampleRate', 'prefixOnly'],
  ['FTS', () => Index.fts({ with_position: true } as never), 'with_position', 'withPosition'],
])('an index %s is made with options of its kind alone: %s', (kind, made, option, known) => {
  expect(made).toThrow(
    expect.objectContaining({
      code: 'Unsupported',
      message: expect.stringMatching(
        new RegExp(`index ${kind} has no option "${option}".* It has .*\\b${known}\\b`),
      ),
      details: { option },
    }),
  );
});

test('without a config the type of the column decides', async () => {
  const { connection, requests } = setUp();
  const table = await connection.openTable('user');
  await table.createIndex('vector');
  await table.createIndex('name', { name: 'n' });
  const on = { id: ['user'] };
  expect(requests('createTableIndex')).toEqual([
    { ...on, column: 'vector', index_type: 'IVF_PQ', distance_type: 'l2' },
  ]);
  expect(requests('createTableScalarIndex')).toEqual([
    { ...on, column: 'name', index_type: 'BTREE', name: 'n' },
  ]);
  await expect(table.createIndex('nothing')).rejects.toMatchObject({ code: 'TableColumnNotFound' });
});

test('what cannot be done is refused before anything is asked', async () => {
  const { connection, requests } = setUp({
    listTableIndices: () => ({
      indexes: [{ index_name: 'id_idx', index_uuid: 'u', columns: ['id'], status: 'ready' }],
    }),
  });
  const table = await connection.openTable('user');
  const config = Index.btree();
  for (const [options, code] of [
    [{ config: { inner: {} } }, 'InvalidInput'],
    [{ config, replcae: false }, 'InvalidInput'],
    [{ config, replace: false }, 'TableIndexAlreadyExists'],
  ] as const) {
    await expect(table.createIndex('id', options as object)).rejects.toMatchObject({ code });
  }
  await table.checkout(1);
  await expect(table.createIndex('id', { config })).rejects.toMatchObject({ code: 'InvalidInput' });
  await expect(table.dropIndex('id_idx')).rejects.toMatchObject({ code: 'InvalidInput' });
  await table.checkoutLatest();
  expect(requests('createTableScalarIndex')).toEqual([]);
  await table.createIndex('name', { config, replace: false });
  expect(requests('createTableScalarIndex')).toHaveLength(1);
});

test('waiting ends when all rows are covered, when the time is up, or by its signal', async () => {
  let left = 3;
  const { connection, slept, requests } = setUp({
    listTableIndices: () => ({ indexes: [] }),
    describeTableIndexStats: ({ index_name }: { index_name: string }) => {
      if (index_name === 'ready') return { num_indexed_rows: 3, num_unindexed_rows: 0 };
      if (left === 3) {
        left--;
        throw new DirspaceError('TableIndexNotFound', 'There is no such index yet.');
      }
      return { num_indexed_rows: 3 - left, num_unindexed_rows: left === 0 ? 0 : left-- };
    },
  });
  const table = await connection.openTable('user');
  await table.waitForIndex(['ready', 'id_idx'], 60);
  expect(slept).toEqual([1000, 1000, 1000]);
  const asked = requests('describeTableIndexStats') as { index_name: string }[];
  expect(asked.filter(({ index_name }) => index_name === 'ready')).toHaveLength(1);
  left = 1000;
  slept.length = 0;
  await expect(table.waitForIndex(['ready', 'slow'], 2.5)).rejects.toMatchObject({
    code: 'ServiceUnavailable',
    details: { indexes: ['slow'] },
  });
  expect(slept).toEqual([1000, 1000, 500]);
  const signal = AbortSignal.abort(new Error('enough'));
  await expect(table.waitForIndex(['slow'], 10, { signal })).rejects.toThrow('enough');
  await expect(table.waitForIndex(['slow'], Number.NaN)).rejects.toMatchObject({
    code: 'InvalidInput',
  });
  left = 2;
  await table.createIndex('id', { waitTimeoutSeconds: 5 });
  expect(requests('describeTableIndexStats').at(-1)).toEqual({
    id: ['user'],
    index_name: 'id_idx',
  });
});

test('a remote catalog that has indexes is served', async () => {
  const indexes = new Map<string, Record<string, unknown>>();
  const create = (request: { name?: string; column: string; index_type: string }): object => {
    const index_name = request.name ?? `${request.column}_idx`;
    const { column, index_type } = request;
    const made = {
      created_at: '2026-01-02T03:04:05Z',
      num_indexed_rows: 3,
      index_details: '{"a":1}',
    };
    const base = { index_name, index_uuid: 'u', columns: [column], status: 'ready', index_type };
    indexes.set(index_name, { ...base, ...made });
    return {};
  };
  const known = (name: string): Record<string, unknown> => {
    const found = indexes.get(name);
    if (found === undefined) throw new DirspaceError('TableIndexNotFound', `No index ${name}.`);
    return found;
  };
  const namespace = stubNamespace({
    describeTable: () => DESCRIBED,
    createTableIndex: create,
    createTableScalarIndex: create,
    listTableIndices: ({ page_token }: { page_token?: string }) => {
      const all = [...indexes.values()];
      const at = Number(page_token ?? 0);
      const more = at + 1 < all.length ? { page_token: String(at + 1) } : {};
      return { indexes: all.slice(at, at + 1), ...more };
    },
    describeTableIndexStats: ({ index_name }: { index_name: string }) => {
      const { index_type } = known(index_name);
      return { index_type, num_indexed_rows: 3, num_unindexed_rows: 0, num_indices: 1 };
    },
    dropTableIndex: ({ index_name }: { index_name: string }) => {
      known(index_name);
      indexes.delete(index_name);
      return {};
    },
  });
  const { client } = await restPair({ namespace });
  const table = await new Connection(client, { env: systemEnv }).openTable('user');
  await table.createIndex('id');
  await table.createIndex('vector', { name: 'my index/1', waitTimeoutSeconds: 5 });
  const made = {
    createdAt: new Date('2026-01-02T03:04:05Z'),
    indexUuid: 'u',
    numIndexedRows: 3,
    indexDetails: { a: 1 },
  };
  expect(await table.listIndices()).toEqual([
    { name: 'id_idx', indexType: 'BTree', columns: ['id'], ...made },
    { name: 'my index/1', indexType: 'IvfPq', columns: ['vector'], ...made },
  ]);
  expect(await table.indexStats('my index/1')).toEqual({
    indexType: 'IVF_PQ',
    numIndexedRows: 3,
    numUnindexedRows: 0,
    numIndices: 1,
  });
  await table.dropIndex('my index/1');
  expect(await table.indexStats('my index/1')).toBeUndefined();
  await expect(table.dropIndex('my index/1')).rejects.toMatchObject({ code: 'TableIndexNotFound' });
  expect((await table.listIndices()).map(({ name }) => name)).toEqual(['id_idx']);
});

test('the name of an index of another column is not taken', async () => {
  const db = await connect('/c', { fs: memoryFs(), durability: 'relaxed' });
  const table = await db.createTable('t', [{ id: 1, city: 'a', Case: 1 }]);
  const names = async (): Promise<unknown> =>
    (await table.listIndices()).map(({ name, columns }) => [name, columns[0]]);
  await table.createIndex('id');
  await expect(table.createIndex('city', { name: 'id_idx' })).rejects.toMatchObject({
    code: 'TableIndexAlreadyExists',
    message: expect.stringMatching(/different column, id\. Give another name/),
  });
  await table.createIndex('id', { config: Index.bitmap(), name: 'id_idx' });
  expect(await table.indexStats('id_idx')).toMatchObject({ indexType: 'BITMAP' });
  await table.createIndex('city');
  await table.alterColumns([{ path: 'city', rename: 'town' }]);
  await table.addColumns([{ name: 'city', valueSql: "'x'" }]);
  // Twice: the second takes the place of the first, under the name that was chosen.
  for (let at = 0; at < 2; at++) await table.createIndex('city', { waitTimeoutSeconds: 1 });
  await expect(table.createIndex('city', { replace: false })).rejects.toMatchObject({
    code: 'TableIndexAlreadyExists',
    details: { index: 'city_idx_2' },
  });
  // As everywhere else, a name matches without case where none matches exactly.
  await table.createIndex('CASE', { waitTimeoutSeconds: 1 });
  expect(await names()).toEqual([
    ['Case_idx', 'Case'],
    ['city_idx', 'town'],
    ['city_idx_2', 'city'],
    ['id_idx', 'id'],
  ]);
  await expect(table.createIndex(['id', 'city'] as never)).rejects.toMatchObject({
    code: 'InvalidInput',
    message: expect.stringContaining('createIndex takes the name of one column'),
  });
  await db.close();
});

test.each(['here', 'over a server'])('an index of another type stays, %s', async (where) => {
  const options = { root: '/c', fs: memoryFs(), durability: 'relaxed' } as const;
  const namespace = await openDirectoryNamespace(options);
  const db = new Connection(where === 'here' ? namespace : (await restPair({ namespace })).client);
  const table = await db.createTable('t', [
    { id: 1, text: 'one two', vector: [1, 2] },
    { id: 2, text: 'two', vector: [2, 1] },
  ]);
  const names = async (): Promise<unknown> =>
    (await table.listIndices()).map(({ name, indexType }) => `${name} ${indexType}`);
  for (const config of [Index.btree(), Index.fts(), Index.bitmap(), Index.fts(), Index.btree()])
    await table.createIndex('text', { config, waitTimeoutSeconds: 1 });
  expect(await names()).toEqual(['text_idx BTree', 'text_idx_2 FTS', 'text_idx_3 Bitmap']);
  expect((await table.search('two', 'fts').toArray()).length).toBe(2);
  expect(await table.countRows("text = 'two'")).toBe(1);
  const refused = table.createIndex('text', { config: Index.fts(), replace: false });
  await expect(refused).rejects.toMatchObject({
    code: 'TableIndexAlreadyExists',
    message: expect.stringContaining('already exists'),
    details: { index: 'text_idx_2' },
  });
  await table.createIndex('id', { config: Index.bitmap() });
  await table.createIndex('id', { config: Index.btree(), replace: false });
  await table.createIndex('text', { config: Index.bitmap(), name: 'text_idx' });
  // All kinds for vectors are built as one.
  await table.createIndex('vector', { config: Index.ivfPq() });
  await table.createIndex('vector', { config: Index.hnswSq() });
  const again = table.createIndex('vector', { config: Index.ivfFlat(), replace: false });
  await expect(again).rejects.toMatchObject({ details: { index: 'vector_idx' } });
  expect(await names()).toEqual([
    'id_idx Bitmap',
    'id_idx_2 BTree',
    'text_idx Bitmap',
    'text_idx_2 FTS',
    'text_idx_3 Bitmap',
    'vector_idx IvfSq',
  ]);
  await namespace.close();
});

test('an index that is not built at once covers nothing until optimize', async () => {
  const db = await connect('/c', { fs: memoryFs(), durability: 'relaxed' });
  const table = await db.createTable('t', [
    { id: 1, text: 'one two', tags: ['a'], vector: [1, 2] },
    { id: 2, text: 'two', tags: ['b'], vector: [2, 1] },
  ]);
  const told: unknown[] = [];
  const onProgress = (progress: unknown): void => void told.push(progress);
  for (const [column, config] of [
    ['id', Index.btree()],
    ['text', Index.fts()],
    ['tags', Index.labelList()],
    ['vector', Index.ivfFlat()],
  ] as const)
    await table.createIndex(column, { config, train: false, onProgress });
  expect(told).toEqual([]);
  const covered = async (): Promise<unknown> =>
    (await table.listIndices()).map(({ numIndexedRows, numUnindexedRows }) => [
      numIndexedRows,
      numUnindexedRows,
    ]);
  const found = async (): Promise<number[]> => [
    await table.countRows('id = 2'),
    (await table.search('two', 'fts').toArray()).length,
    await table.countRows("array_has(tags, 'a')"),
    (await table.vectorSearch([1, 2]).limit(1).toArray()).length,
  ];
  expect(await covered()).toEqual(Array(4).fill([0, 2]));
  expect(await found()).toEqual([1, 2, 1, 1]);
  await expect(table.createIndex('id', { waitTimeoutSeconds: 0, train: false })).rejects.toThrow(
    'does not cover all rows',
  );
  await table.optimize();
  expect(await covered()).toEqual(Array(4).fill([2, 0]));
  expect(await found()).toEqual([1, 2, 1, 1]);
  await db.close();
});

test('read-only comes before what an index is refused for', async () => {
  const fs = memoryFs();
  const db = await connect('/c', { fs, durability: 'relaxed' });
  await (await db.createTable('t', [{ id: 1 }])).createIndex('id');
  await db.close();
  const read = await connect('/c', { fs, readOnly: true });
  const table = await read.openTable('t');
  await expect(table.createIndex('id', { replace: false })).rejects.toMatchObject({
    code: 'ReadOnly',
  });
  await read.close();
});

test('waiting takes one name, and tells which names are not there', async () => {
  const { connection, slept } = setUp({
    describeTableIndexStats: ({ index_name }: { index_name: string }) => {
      if (index_name === 'none') throw new DirspaceError('TableIndexNotFound', 'None.');
      return { num_indexed_rows: 1, num_unindexed_rows: index_name === 'slow' ? 1 : 0 };
    },
  });
  const table = await connection.openTable('user');
  await table.waitForIndex('ready', 1);
  expect(slept).toEqual([]);
  await expect(table.waitForIndex(['none', 'slow'], 1)).rejects.toMatchObject({
    message:
      'Timed out waiting for indices: after 1 s there is no index none; slow does not cover all rows.',
    details: { indexes: ['none', 'slow'], missing: ['none'] },
  });
  for (const wrong of [7, [7], undefined])
    await expect(table.waitForIndex(wrong as never, 1)).rejects.toMatchObject({
      code: 'InvalidInput',
      details: { member: 'indexNames' },
    });
});

test('calls that read refuse unknown options by name', async () => {
  const { connection } = setUp({
    describeTableIndexStats: () => ({ num_indexed_rows: 1, num_unindexed_rows: 0 }),
  });
  const table = await connection.openTable('user');
  const options = { foo: 1 } as never;
  const calls = {
    listIndices: () => table.listIndices(options),
    indexStats: () => table.indexStats('i', options),
    prewarmIndex: () => table.prewarmIndex('i', options),
    waitForIndex: () => table.waitForIndex('i', 0, options),
    countRows: () => table.countRows(undefined, options),
    schema: () => table.schema(options),
    version: () => table.version(options),
    stats: () => table.stats(options),
    location: () => table.location(options),
    uri: () => table.uri(options),
    checkoutLatest: () => table.checkoutLatest(options),
    initialStorageOptions: () => table.initialStorageOptions(options),
    latestStorageOptions: () => table.latestStorageOptions(options),
  };
  for (const [name, call] of Object.entries(calls))
    await expect(call(), name).rejects.toMatchObject({
      code: 'InvalidInput',
      details: { option: 'foo' },
    });
  for (const kind of ['btree', 'bitmap', 'labelList', 'fm'] as const)
    expect(() => Index[kind]({ foo: 1 } as never), kind).toThrow(/has no option "foo"/);
});

test('a column is found without case where small letters are longer', () => {
  const inner = new Field('A', new Float32(), true);
  const schema = new Schema([new Field('\u0130x', new Struct([inner]), true)]);
  expect(usualIndex(schema, '\u0130X.a').parameters.index_type).toBe('BTREE');
});

test('a field is found in whichever struct has it, also where names hold dots', () => {
  const struct = (name: string, ...inner: Field[]): Field =>
    new Field(name, new Struct(inner), true);
  const vector = (name: string): Field =>
    new Field(name, new FixedSizeList(2, new Field('item', new Float32(), true)), true);
  const text = (name: string): Field => new Field(name, new Utf8(), true);
  const typeOf = (path: string, ...fields: Field[]): string =>
    usualIndex(new Schema(fields), path).parameters.index_type;
  expect(typeOf('a.b.c', struct('a', text('x')), struct('a.b', vector('c')))).toBe('IVF_PQ');
  expect(typeOf('A.b.C', struct('a.b', text('x')), struct('a', struct('b', vector('c'))))).toBe(
    'IVF_PQ',
  );
  const both = [struct('a', struct('b', text('c'))), struct('a.b', vector('c'))];
  expect(typeOf('a.b.c', ...both)).toBe('IVF_PQ');
  expect(() => typeOf('a.b.d', ...both)).toThrow('no column "a.b.d"');
});
