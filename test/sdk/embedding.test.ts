/** Embedding functions fill vectors, are named by tables as LanceDB names them, and make vectors of texts to search by. */
import * as arrow18 from 'apache-arrow-18';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  Field,
  FixedSizeList,
  type Float,
  Float32,
  Float64,
  Int32,
  type RecordBatch,
  Schema,
  Table,
  Utf8,
} from '../../src/arrow/apache.ts';
import { DirspaceError } from '../../src/errors.ts';
import { connect } from '../../src/sdk/connect.ts';
import type { Connection } from '../../src/sdk/connection.ts';
import { MakeArrowTableOptions, makeArrowTable } from '../../src/sdk/convert/index.ts';
import { embedding } from '../../src/sdk/embedding/index.ts';

const { EmbeddingFunction, getRegistry, LanceSchema, register, TextEmbeddingFunction } = embedding;

/** Which values were turned into vectors, call by call. */
let asked: unknown[][] = [];

class Lengths extends TextEmbeddingFunction<{ scale?: number; secret?: string }> {
  readonly #scale: number;

  constructor(options: { scale?: number; secret?: string } = {}) {
    super();
    this.#scale = Number(this.resolveVariables(options).scale ?? 1);
  }

  protected override getSensitiveKeys(): string[] {
    return ['secret'];
  }

  override ndims(): number {
    return 2;
  }

  override async generateEmbeddings(texts: string[]): Promise<number[][]> {
    asked.push(texts);
    return texts.map((text) => [text.length * this.#scale, 1]);
  }
}

const config = (scale = 1) => ({
  sourceColumn: 'text',
  function: new Lengths({ scale }),
});

let db: Connection;
beforeEach(async () => {
  asked = [];
  const registry = getRegistry();
  registry.reset();
  register('lengths')(Lengths);
  db = await connect('memory://');
});

const vectors = async (name: string): Promise<unknown[]> => {
  const rows = await (await db.openTable(name)).query().toArray();
  return rows.map(({ vector }) => vector && [...vector]);
};

test('a table is filled by its function, names it, and is searched by text', async () => {
  const rows = [{ text: 'hello' }, { text: null }, { text: 'hi' }];
  const table = await db.createTable('t', rows, { embeddingFunction: config() });
  const schema = await table.schema();
  expect(schema.fields.map(String)).toEqual(['text: Utf8', 'vector: FixedSizeList[2]<Float32>']);
  expect(schema.metadata.get('embedding_functions')).toBe(
    '[{"sourceColumn":"text","vectorColumn":"vector","name":"lengths","model":{"scale":1}}]',
  );
  await table.add([{ text: 'added' }]);
  await table
    .mergeInsert('text')
    .whenNotMatchedInsertAll()
    .execute([{ text: 'merged' }]);
  expect(await vectors('t')).toEqual([[5, 1], null, [2, 1], [5, 1], [6, 1]]);
  expect(asked).toEqual([['hello', 'hi'], ['added'], ['merged']]);
  const opened = await db.openTable('t');
  const [near] = await opened.search('abcdef').limit(1).toArray();
  expect(near).toMatchObject({ text: 'merged', _distance: 0 });
  expect(await opened.search('ab', 'vector').where("text <> 'hi'").limit(1).toArray()).toHaveLength(
    1,
  );
  expect(await opened.search('hi', 'fts').toArray()).toHaveLength(1);
  expect(await opened.search('ab').explainPlan()).not.toContain('Unsupported');
});

test('a text is searched in the column of the function, beside others of that length', async () => {
  const rows = [
    { text: 'a', otherVector: [9, 9] },
    { text: 'abc', otherVector: [1, 1] },
  ];
  const table = await db.createTable('t', rows, { embeddingFunction: config() });
  const [near] = await table.search('x').limit(1).toArray();
  expect(near).toMatchObject({ text: 'a', _distance: 0 });
});

test('rows whose vectors are all null or undefined get them', async () => {
  const config = { sourceColumn: 'text', function: new Lengths() };
  const table = await db.createTable('empty', [{ text: 'a', vector: null }], {
    embeddingFunction: config,
  });
  await table.add([{ text: 'ab', vector: undefined }]);
  await table.add([{ text: 'abc', vector: null }, { text: 'abcd' }]);
  await table.add([
    { text: 'x', vector: null },
    { text: 'y', vector: [9, 9] },
  ]);
  const rows = await table.query().toArray();
  expect(rows.map(({ vector }) => vector?.[0] ?? null)).toEqual([1, 2, 3, 4, null, 9]);
});

test('a merge sets vectors to null where the rows have no texts', async () => {
  const rows = [{ id: 1, text: 'abc' }];
  const table = await db.createTable('t', rows, { embeddingFunction: config() });
  const merge = (row: object) => table.mergeInsert('id').whenMatchedUpdateAll().execute([row]);
  await merge({ id: 1, vector: undefined });
  expect(await vectors('t')).toEqual([[3, 1]]);
  await merge({ id: 1, vector: null });
  expect(await vectors('t')).toEqual([null]);
  await merge({ id: 1, text: 'abcd', vector: null });
  expect(await vectors('t')).toEqual([[4, 1]]);
});

test('rows whose vectors are null keep members that they inherit', async () => {
  class Note {
    readonly id = 6;
    readonly vector = null;
    get text(): string {
      return 'of a class';
    }
  }
  const schema = new Schema([
    new Field('id', new Float64()),
    new Field('text', new Utf8()),
    new Field('vector', new FixedSizeList(2, new Field('item', new Float32())), false),
  ]);
  const table = await db.createEmptyTable('t', schema, { embeddingFunction: config() });
  await table.add([{ __proto__: { text: 'proto' }, id: 5, vector: null }]);
  await table.add([new Note()]);
  expect(await table.query().select(['id', 'text']).toArray()).toEqual([
    { id: 5, text: 'proto' },
    { id: 6, text: 'of a class' },
  ]);
  expect(await vectors('t')).toEqual([
    [5, 1],
    [10, 1],
  ]);
});

test('arrays of record batches keep their vectors', async () => {
  const from = await db.createTable('from', [{ text: 'abc', vector: [9, 9] }]);
  const { batches } = await from.toArrow();
  const table = await db.createTable('t', batches, { embeddingFunction: config() });
  await table.add(batches);
  expect(await vectors('t')).toEqual([
    [9, 9],
    [9, 9],
  ]);
  expect(asked).toEqual([]);
});

test('vectors that come with the data are kept, and need no function', async () => {
  const table = await db.createTable('t', [{ text: 'a' }], { embeddingFunction: config() });
  getRegistry().reset();
  await table.add([{ text: 'b', vector: [7, 7] }]);
  expect(await vectors('t')).toEqual([
    [1, 1],
    [7, 7],
  ]);
  await expect(table.add([{ text: 'c' }])).rejects.toThrow('"lengths"');
  await expect(table.search('c').toArray()).rejects.toThrow(
    'Function "lengths" not found in registry',
  );
  expect(await table.countRows()).toBe(2);
});

test('batches without rows before those with rows are passed over', async () => {
  const [batch] = makeArrowTable([{ text: 'abc' }, { text: 'a' }]).batches;
  const none = batch?.slice(0, 0) as RecordBatch;
  const batches = [none, none, batch as RecordBatch];
  await db.createTable('t', new Table(none.schema, batches), { embeddingFunction: config() });
  expect(await vectors('t')).toEqual([
    [3, 1],
    [1, 1],
  ]);
});

test('data of Arrow and iterables of rows are filled too, and other columns may be left out', async () => {
  const schema = LanceSchema({
    id: new Int32(),
    text: config().function.sourceField(),
    note: new Utf8(),
  });
  expect(schema.metadata.size).toBe(0);
  const own = new Lengths({ scale: 2 });
  const declared = LanceSchema({
    id: new Int32(),
    text: own.sourceField(),
    vector: own.vectorField(),
    wide: own.vectorField(new Float64()),
    note: new Utf8(),
  });
  const names = JSON.parse(declared.metadata.get('embedding_functions') as string);
  expect(names.map((one: { vectorColumn: string }) => one.vectorColumn)).toEqual([
    'vector',
    'wide',
  ]);
  const table = await db.createEmptyTable('t', declared);
  await table.add(makeArrowTable([{ id: 1, text: 'abc' }]));
  async function* rows(): AsyncGenerator<object> {
    for (let id = 2; id < 10_002; id++) yield { id, text: 'x'.repeat(id % 5) };
  }
  await table.add(rows());
  const all = await table.query().toArray();
  expect(all).toHaveLength(10_001);
  for (const { text, vector, wide, note } of all) {
    expect([vector[0], wide[0], note]).toEqual([2 * text.length, 2 * text.length, null]);
  }
  await expect(table.search('a').toArray()).rejects.toThrow('several columns: vector, wide');
});

test('a function that is no good leaves the table as it was', async () => {
  class Bad extends Lengths {
    override async generateEmbeddings(): Promise<number[][]> {
      return [[1, 2]];
    }
  }
  register('bad')(Bad);
  const bad = { sourceColumn: 'text', function: new Bad() };
  const rows = [{ text: 'a' }, { text: 'b' }];
  await expect(db.createTable('t', rows, { embeddingFunction: bad })).rejects.toThrow(
    '1 vectors of 2 values',
  );
  const other = { ...config(), sourceColumn: 'txt' };
  await expect(db.createTable('t', rows, { embeddingFunction: other })).rejects.toThrow(
    'no column "txt"',
  );
  const nameless = { sourceColumn: 'text', function: new (class extends Lengths {})() };
  await expect(db.createTable('t', rows, { embeddingFunction: nameless })).rejects.toThrow(
    'has no name and is not registered',
  );
  expect(await db.tableNames()).toEqual([]);
});

test('a class that is not registered makes a table, and is needed under its name later', async () => {
  class Unknown extends Lengths {}
  const unregistered = { sourceColumn: 'text', function: new Unknown() };
  const table = await db.createTable('t', [{ text: 'ab' }], { embeddingFunction: unregistered });
  expect((await table.query().toArray()).map(({ vector }) => [...vector])).toEqual([[2, 1]]);
  expect(LanceSchema({ a: new Unknown().sourceField(new Utf8()) }).metadata.size).toBe(0);
  await expect(table.add([{ text: 'abc' }])).rejects.toThrow('register("Unknown")(Class)');
  register('Unknown')(Unknown);
  await table.add([{ text: 'abc' }]);
  expect(await table.countRows('vector IS NOT NULL')).toBe(2);
});

test('a schema that names no functions keeps the columns that the data lacks', async () => {
  const schema = makeArrowTable([{ a: 'x', b: { c: 1, d: 2 }, e: 'y' }]).schema;
  schema.metadata.set('embedding_functions', '[]');
  const table = await db.createTable('t', [{ a: 'x', b: { c: 1 } }], { schema });
  expect((await table.schema()).fields.map(String)).toEqual(schema.fields.map(String));
  expect((await table.query().toArray()).map((row) => row.toJSON())).toEqual([
    { a: 'x', b: { c: 1, d: null }, e: null },
  ]);
});

describe('the registry', () => {
  test('has functions by name, and refuses a second of a name', async () => {
    const registry = getRegistry();
    expect(registry.length()).toBe(1);
    expect(() => register('lengths')(Lengths)).toThrow('already exists');
    class Named extends Lengths {}
    register()(Named);
    expect(registry.get('Named')?.create()).toBeInstanceOf(Named);
    expect(registry.get('none')).toBeUndefined();
    class Loading extends Lengths {
      loaded = false;
      override async init(): Promise<void> {
        this.loaded = true;
      }
    }
    register('loading')(Loading);
    expect(await registry.get<Loading>('loading')?.create({ scale: 3 })).toMatchObject({
      loaded: true,
    });
  });

  test('keeps secrets out of tables by variables', () => {
    const registry = getRegistry();
    registry.setVar('key', 'secret');
    const made = new Lengths({ secret: '$var:key', scale: '$var:none:4:2' as never });
    expect(JSON.stringify(made)).toBe('{"secret":"$var:key","scale":"$var:none:4:2"}');
    expect(() => new Lengths({ secret: 'raw' })).toThrow('sensitive');
    expect(() => new Lengths({ secret: '$var:missing' })).toThrow('Variable "missing" not found');
    expect(() => registry.setVar('a:b', 'c')).toThrow('colon');
    expect([registry.getVar('key'), registry.getVar('missing')]).toEqual(['secret', undefined]);
  });

  test("reads the metadata of Python's SDK as well", async () => {
    const json = '[{"name":"lengths","source_column":"a","vector_column":"v","model":{"scale":3}}]';
    const found = await getRegistry().parseFunctions(new Map([['embedding_functions', json]]));
    expect(found.get('v')).toMatchObject({ sourceColumn: 'a', vectorColumn: 'v' });
    expect(found.get('v')?.function.toJSON()).toEqual({ scale: 3 });
  });

  test.each([
    ['no JSON', '{', 'is no JSON'],
    ['no list', '{}', 'is no list'],
    ['no object', '[1]', 'no object'],
    ['no source', '[{"name":"a"}]', 'without sourceColumn'],
    [
      'two of a column',
      '[{"name":"a","sourceColumn":"x"},{"name":"b","sourceColumn":"x"}]',
      'several functions',
    ],
  ])('refuses metadata that is %s', (_, json, said) => {
    expect(() => embedding.parseEmbeddingMetadata(json)).toThrow(said);
  });
});

test('columns of LanceSchema that cannot be declared are refused', () => {
  class Wide extends EmbeddingFunction<string> {
    override embeddingDataType(): Float {
      return new Float32();
    }
    override async computeSourceEmbeddings(data: string[]): Promise<number[][]> {
      return data.map(() => [1, 2, 3]);
    }
  }
  const wide = new Wide();
  expect(() => wide.vectorField()).toThrow('dims');
  expect(String(wide.vectorField({ dims: 3 })[0])).toBe('FixedSizeList[3]<Float32>');
  expect(() => wide.sourceField({})).toThrow('type');
  expect(() => LanceSchema({ v: wide.vectorField({ dims: 3 }) })).toThrow('no source column');
  expect(() => LanceSchema({ v: {} })).toThrow('"v"');
});

describe('the function of a server', () => {
  const answering =
    (status: number, body: unknown, seen: { url: string; init: RequestInit }[] = []) =>
    async (url: string, init: RequestInit): Promise<Response> => {
      seen.push({ url, init });
      return new Response(JSON.stringify(body), { status });
    };

  test('asks it for vectors, in the order of the texts', async () => {
    getRegistry().setVar('key', 'sk-1');
    const seen: { url: string; init: RequestInit }[] = [];
    const data = [
      { index: 1, embedding: [2, 2] },
      { index: 0, embedding: [1, 1] },
    ];
    const made = new embedding.OpenAIEmbeddingFunction({
      apiKey: '$var:key',
      model: 'small',
      baseURL: 'http://host/v1/',
      dimensions: 2,
      fetch: answering(200, { data }, seen),
    });
    expect(await made.computeSourceEmbeddings(['a', 'b'])).toEqual([
      [1, 1],
      [2, 2],
    ]);
    expect(made.ndims()).toBe(2);
    expect(made.toJSON()).toEqual({
      apiKey: '$var:key',
      model: 'small',
      baseURL: 'http://host/v1/',
      dimensions: 2,
    });
    expect(seen[0]?.url).toBe('http://host/v1/embeddings');
    expect(new Headers(seen[0]?.init.headers).get('authorization')).toBe('Bearer sk-1');
    expect(JSON.parse(String(seen[0]?.init.body))).toEqual({
      model: 'small',
      input: ['a', 'b'],
      dimensions: 2,
    });
  });

  test.each([
    [401, { error: 'no key' }, 'Unauthenticated'],
    [500, { error: 'down' }, 'ServiceUnavailable'],
    [200, { data: [{ embedding: [1] }] }, 'ServiceUnavailable'],
    [
      200,
      {
        data: [
          { index: 0, embedding: [1] },
          { index: 0, embedding: [2] },
        ],
      },
      'ServiceUnavailable',
    ],
    [
      200,
      {
        data: [
          { index: 0, embedding: [1] },
          { index: 'x', embedding: [2] },
        ],
      },
      'ServiceUnavailable',
    ],
    [
      200,
      {
        data: [
          { index: 0, embedding: [1] },
          { index: -1, embedding: [2] },
        ],
      },
      'ServiceUnavailable',
    ],
  ])('an answer of %s is an error', async (status, body, code) => {
    const made = new embedding.OpenAIEmbeddingFunction({ fetch: answering(status, body) });
    const wrong = made.computeSourceEmbeddings(['a', 'b']);
    await expect(wrong).rejects.toMatchObject({ code });
    await expect(wrong).rejects.toBeInstanceOf(DirspaceError);
  });
});

describe('makeArrowTable', () => {
  test('infers columns, and takes vectors, dictionaries and metadata', () => {
    const row = {
      a: 1,
      b: 'x',
      c: true,
      d: 1n,
      e: Buffer.from('x'),
      f: { g: 1 },
      h: [1, 2],
      vector: [1, 2],
      w: [1, 2],
    };
    const w = { type: new Float64() };
    const table = makeArrowTable([row], { vectorColumns: { w } }, new Map([['k', 'v']]));
    expect(table.schema.fields.map(String)).toEqual([
      'a: Float64',
      'b: Utf8',
      'c: Bool',
      'd: Int64',
      'e: Binary',
      'f: Struct<{g:Float64}>',
      'h: List<Float64>',
      'vector: FixedSizeList[2]<Float32>',
      'w: FixedSizeList[2]<Float64>',
    ]);
    expect([table.numRows, table.schema.metadata.get('k')]).toEqual([1, 'v']);
    const coded = makeArrowTable(
      [{ s: 'x' }, { s: 'x' }],
      new MakeArrowTableOptions({ dictionaryEncodeStrings: true }),
    );
    expect(String(coded.schema.fields[0])).toBe('s: Dictionary<Int32, Utf8>');
    expect(coded.toArray().map((one) => one.s)).toEqual(['x', 'x']);
  });

  test('takes a schema of any copy of Arrow, and leaves out columns that no row has', () => {
    const { Field, Int8, Schema } = arrow18;
    const schema = new Schema([new Field('z', new Int8(), true), new Field('a', new Int8(), true)]);
    const table = makeArrowTable([{ a: 1 }], { schema });
    expect(table.schema.fields.map(String)).toEqual(['a: Int8']);
    expect(makeArrowTable([], { schema }).schema.fields).toHaveLength(2);
    expect(() => makeArrowTable([{ a: 1, b: 2 }], { schema })).toThrow('no such column');
  });

  test('refuses what it cannot make', () => {
    expect(() => makeArrowTable([])).toThrow('schema');
    expect(() => makeArrowTable([{ a: 1 }], { embeddingFunction: config() })).toThrow(
      'createTable',
    );
    expect(() => makeArrowTable([{ a: 1 }, { a: 'x' }])).toThrow('Row 1');
    expect(() => makeArrowTable([{ a: 1 }], { dictionaryEncode: true } as never)).toThrow(
      'dictionaryEncode',
    );
  });
});
