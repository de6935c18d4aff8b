/** Results are their caller's: programs that change them in place, or send them to other threads. */
import { describe, expect, test } from 'vitest';
import {
  Binary,
  type Data,
  Dictionary,
  Field,
  Int32,
  List,
  Map_,
  type RecordBatch,
  recordBatchStream,
  Schema,
  Struct,
  type Table,
  tableFromArrays,
  tableFromIPC,
  Utf8,
} from '../../src/arrow/apache.ts';
import { type Connection, connect, connectNamespace } from '../../src/index.ts';
import { encodeIpcStream } from '../../src/ipc/encode/ipc-stream.ts';
import { openArrowBody } from '../../src/ipc/foreign/foreign-ipc.ts';
import { createServer } from '../../src/server.ts';
import { buffersOf, spoilMemory } from '../helpers/aliasing.ts';
import { memoryFs } from '../helpers/memory-fs.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

const SIZES = [
  ['small', 40],
  ['large', 50_000],
] as const;

async function measurements(rows: number, fs = memoryFs()) {
  const db = await connect({ uri: '/c', fs, durability: 'relaxed' });
  const data = tableFromArrays({
    id: Int32Array.from({ length: rows }, (_, row) => row),
    x: Float64Array.from({ length: rows }, (_, row) => row / 4),
  });
  return { fs, db, table: await db.createTable('t', data) };
}

const valuesOf = (table: Table, column = 'x') =>
  table.batches.map((batch) => batch.data.children[table.schema.names.indexOf(column)]?.values);

const sumOf = async (db: Connection): Promise<number> => {
  const table = await db.openTable('t');
  let sum = 0;
  for (const { x } of await table.query().select(['x']).toArray()) sum += x as number;
  return sum;
};

describe.each(SIZES)('a %s table', (_, rows) => {
  const sum = (rows * (rows - 1)) / 8;

  test('answers the same after values of a result were changed', async () => {
    const { db, table } = await measurements(rows);
    for (let round = 0; round < 4; round++) {
      for (const values of valuesOf(await table.query().toArrow()))
        (values as Float64Array).fill(-999);
      for await (const batch of table.query().select(['x'])) {
        for (const { values } of batch.data.children) values.fill(-999);
      }
      expect(await sumOf(db)).toBe(sum);
      expect(await table.countRows('x < 0')).toBe(0);
    }
  });

  test('is written anew as it was, whatever became of results', async () => {
    const { fs, table } = await measurements(rows);
    const spoil = async () => {
      for (let round = 0; round < 2; round++) {
        for (const values of valuesOf(await table.query().toArrow())) {
          (values as Float64Array).fill(-999);
        }
      }
    };
    await spoil();
    await table.update({ valuesSql: { id: 'id + 1' } });
    await spoil();
    await table.addColumns([{ name: 'y', valueSql: 'x' }]);
    await spoil();
    await table.add([{ id: -1, x: 0, y: 0 }]);
    await spoil();
    await table.optimize();
    expect(await sumOf(await connect({ uri: '/c', fs }))).toBe(sum);
  });

  test('answers after results were transferred', async () => {
    const { db, table } = await measurements(rows);
    for (let round = 0; round < 3; round++) {
      for (const query of [
        table.query(),
        table.query().where('id >= 2'),
        table.query().select({ same: 'x', more: 'x + 1', member: 'coalesce(x, 0)' }),
        table.query().limit(3),
        table.takeOffsets([1, 5, 7]),
      ]) {
        const { batches } = await query.toArrow();
        const views = batches.flatMap((batch) =>
          batch.data.children.flatMap(({ buffers }) => Object.values(buffers)),
        );
        const buffers = views.flatMap((view) => (view as Uint8Array | undefined)?.buffer ?? []);
        structuredClone(null, { transfer: [...new Set(buffers)] as ArrayBuffer[] });
      }
      expect(await sumOf(db)).toBe(sum);
    }
  });

  test('gives batches that can be transferred while others are still read', async () => {
    const { table } = await measurements(rows);
    for (let round = 0; round < 3; round++) {
      let read = 0;
      for await (const batch of table.query().execute({ maxBatchLength: 7_000 })) {
        read += batch.numRows;
        const buffers = batch.data.children.map(({ values }) => (values as Float64Array).buffer);
        structuredClone(null, { transfer: [...new Set(buffers)] as ArrayBuffer[] });
      }
      expect(read).toBe(rows);
    }
  });
});

const WORDS = new List(new Field('item', new Utf8(), true));
const PAIR = new Struct<{ a: Int32; b: Utf8 }>([
  new Field('a', new Int32(), true),
  new Field('b', new Utf8(), true),
]);
const ENTRY = new Struct<{ key: Utf8; value: Int32 }>([
  new Field('key', new Utf8(), false),
  new Field('value', new Int32(), true),
]);

test.each(SIZES)('a %s result of nested columns shares no empty buffer', async (_, rows) => {
  const schema = new Schema([
    new Field('id', new Int32(), true),
    new Field('words', WORDS, true),
    new Field('pairs', new List(new Field('item', PAIR, true)), true),
    new Field('map', new Map_(new Field('entries', ENTRY, false)), true),
    new Field('word', new Dictionary(new Utf8(), new Int32()), true),
    new Field('bytes', new Binary(), true),
  ]);
  const wanted = (id: number) => ({
    id,
    words: id % 2 === 0 ? [] : ['x'],
    pairs: id % 2 === 0 ? [{ a: id, b: '' }] : [],
    map: new Map(id % 2 === 0 ? [] : [['k', id]]),
    word: '',
    bytes: new Uint8Array(0),
  });
  const db = await connect({ uri: '/c', fs: memoryFs(), durability: 'relaxed' });
  const count = Math.min(rows, 2_000);
  const all = Array.from({ length: count }, (_row, id) => wanted(id));
  const table = await db.createTable('t', all, { schema });
  const seen = new Set<ArrayBuffer>();
  const spoil = async () => {
    for (const query of [table.query(), table.query().where('id = -5'), table.query().limit(2)]) {
      const { batches } = await query.toArrow();
      const buffers = new Set<ArrayBuffer>();
      for (const batch of batches) buffersOf(batch.data, buffers);
      expect([...buffers].filter((buffer) => seen.has(buffer))).toEqual([]);
      for (const buffer of buffers) seen.add(buffer);
      spoilMemory(buffers, 'transferred');
    }
    // In parts, each given away before the next is made.
    for await (const batch of table.query().execute({ maxBatchLength: 700 })) {
      const { dictionary: _, ...word } = batch.data.children[4] as Data;
      const others = batch.data.children.filter((column) => column.dictionary === undefined);
      const { nullBitmap } = batch.data;
      const buffers = new Set([nullBitmap?.buffer, word.values.buffer] as ArrayBuffer[]);
      for (const column of others) buffersOf(column as Data, buffers);
      spoilMemory(buffers, 'transferred');
    }
    // Values of rows are the caller's too, those without bytes among them.
    for (const { bytes } of await table.query().select(['bytes']).limit(3).toArray())
      spoilMemory([(bytes as Uint8Array).buffer as ArrayBuffer], 'transferred');
  };
  const last = count - 1;
  for (const change of [
    () => table.update({ where: 'id = 1', valuesSql: { id: '1' } }),
    () =>
      table
        .mergeInsert('id')
        .whenMatchedUpdateAll()
        .execute([wanted(1)]),
    () => table.addColumns([{ name: 'more', valueSql: 'id' }]),
    () => table.dropColumns(['more']),
    async () => {
      await table.delete(`id = ${last}`);
      await table.add([wanted(last)]);
    },
    () => table.optimize(),
    () => db.createTable('other', [wanted(1)], { schema }),
  ]) {
    await spoil();
    await change();
    const found = await table.query().orderBy({ columnName: 'id' }).toArray();
    expect(found.map(({ id }) => id)).toEqual(all.map(({ id }) => id));
    expect(found[1]).toMatchObject(wanted(1));
    expect(await table.query().where('id = 2').select(['pairs', 'map']).toArray()).toEqual([
      { pairs: [{ a: 2, b: '' }], map: new Map() },
    ]);
  }
});

test('columns are copied when they are looked at, and then are as any other', async () => {
  const { table } = await measurements(3_000);
  await table.query().toArrow();
  await table.query().toArrow();
  const [one, other] = [await table.query().toArrow(), await table.query().toArrow()];
  const [batch] = one.batches as [RecordBatch];
  const data = batch.data.children[1] as Data;
  expect(data.values).toBe(data.values);
  expect(Object.keys(data)).toEqual(
    expect.arrayContaining(['values', 'valueOffsets', 'nullBitmap', 'typeIds']),
  );
  expect(one).toEqual(other);
  data.values[7] = -1;
  expect(data.values[7]).toBe(-1);
  expect(one).not.toEqual(other);
  expect(one.getChild('x')?.get(7)).toBe(-1);
  expect(other.getChild('x')?.get(7)).toBe(1.75);
  const own = Float64Array.of(1, 2);
  Object.assign(data, { values: own });
  expect(data.values).toBe(own);
});

test('metadata and fields of a schema are changed for its caller alone', async () => {
  const db = await connect({ uri: '/c', fs: memoryFs() });
  const list = new List(new Field('item', new Int32(), true, new Map([['deep', '1']])));
  const schema = new Schema(
    [new Field('l', list, true, new Map([['of', 'field']]))],
    new Map([['of', 'schema']]),
  );
  const table = await db.createEmptyTable('t', schema);
  const spoil = (found: Schema): void => {
    found.metadata.clear();
    found.fields[0]?.metadata.clear();
    found.fields[0]?.type.children[0]?.metadata.clear();
    found.fields.length = 0;
  };
  for (let round = 0; round < 2; round++) {
    for (const found of [
      await table.schema(),
      (await table.query().toArrow()).schema,
      await table.query().outputSchema(),
    ]) {
      expect(found.metadata.get('of')).toBe('schema');
      expect(found.fields[0]?.metadata.get('of')).toBe('field');
      expect(found.fields[0]?.type.children[0]?.metadata.get('deep')).toBe('1');
      spoil(found);
    }
  }
});

test('a schema that its owner changes after the call is written anew by the next', async () => {
  const { schema, batches } = tableFromArrays({ id: Int32Array.of(1) });
  for (const version of ['1', '2']) {
    schema.metadata.set('version', version);
    const chunks: Uint8Array[] = [];
    for await (const chunk of encodeIpcStream(recordBatchStream(schema, batches)))
      chunks.push(chunk);
    expect(tableFromIPC(chunks).schema.metadata.get('version')).toBe(version);
    const given = await openArrowBody(recordBatchStream(schema, batches));
    expect(given.schema).not.toBe(schema);
    expect(given.schema.metadata.get('version')).toBe(version);
  }
});

test('rows share no value, though the table has it once', async () => {
  const db = await connect({ uri: '/c', fs: memoryFs() });
  const words = new Dictionary(new Binary(), new Int32());
  const schema = new Schema([new Field('word', words, true)]);
  const rows = [{ word: Uint8Array.of(1) }, { word: Uint8Array.of(1) }, { word: null }];
  const table = await db.createTable('t', rows, { schema });
  for (let round = 0; round < 2; round++) {
    const found = (await table.query().toArray()) as { word: Uint8Array | null }[];
    expect(found.map(({ word }) => word && [...word])).toEqual([[1], [1], null]);
    found[0]?.word?.fill(9);
    expect(found[1]?.word).toEqual(Uint8Array.of(1));
  }
});

test('dictionaries too are copies, one for all batches of a result', async () => {
  const db = await connect({ uri: '/c', fs: memoryFs() });
  const schema = new Schema([new Field('word', new Dictionary(new Utf8(), new Int32()), true)]);
  const rows = Array.from({ length: 70_000 }, (_, at) => ({ word: `word ${at % 1000}` }));
  const table = await db.createTable('t', rows, { schema });
  for (let round = 0; round < 3; round++) {
    const { batches } = await table.query().toArrow();
    const dictionaries = new Set(batches.map((batch) => batch.data.children[0]?.dictionary));
    expect(batches.length).toBeGreaterThan(1);
    expect(dictionaries.size).toBe(1);
    expect(batches.at(-1)?.getChild('word')?.get(0)).toMatch(/^word /);
    for (const vector of dictionaries) {
      const [words] = vector?.data ?? [];
      if (words !== undefined) words.values.fill(0);
    }
    expect(await table.countRows("word = 'word 7'")).toBe(70);
  }
});

test('a dictionary that is spoilt during a scan changes no row of the rest', async () => {
  const schema = new Schema([new Field('word', new Dictionary(new Utf8(), new Int32()), true)]);
  const rows = Array.from({ length: 70_000 }, (_, at) => ({ word: `word ${at % 1000}` }));
  const fs = memoryFs();
  await (await connect({ uri: '/c', fs })).createTable('t', rows, { schema });
  const table = await (await connect({ uri: '/c', fs })).openTable('t');
  let found = 0;
  for await (const batch of table.query().where("word = 'word 7'")) {
    found += batch.numRows;
    for (const { dictionary } of batch.data.children) dictionary?.data[0]?.values.fill(0);
  }
  expect(found).toBe(70);
});

test('short results lie in memory of their own', async () => {
  const { table } = await measurements(50_000);
  // Rows are picked out of columns in memory.
  for (let round = 0; round < 2; round++) await table.query().toArrow();
  const buffers = async () =>
    (await table.takeOffsets([1, 2, 3]).toArrow()).batches.flatMap((batch) =>
      batch.data.children.map(({ values }) => (values as Float64Array).buffer),
    );
  const one = await buffers();
  const other = new Set(await buffers());
  expect(one.filter((buffer) => other.has(buffer))).toEqual([]);
});

test('chunks of an answer over REST are no memory of the server', async () => {
  const root = temporaryFolder();
  const server = await createServer({ root, limits: { maxEventLoopDelayMs: 0 } });
  const uri = 'http://server.test';
  const db = await connectNamespace('rest', { uri }, { fetch: server.fetch });
  const table = await db.createTable('t', [{ id: 1 }, { id: 2 }]);
  const ids = async () => (await table.query().toArray()).map(({ id }) => id);
  for (let round = 0; round < 3; round++) {
    const response = await server.fetch(`${uri}/v1/table/t/query`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/vnd.apache.arrow.stream',
      },
      body: JSON.stringify({ k: 10, vector: { single_vector: [] } }),
    });
    expect(response.status).toBe(200);
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      expect(chunk.byteLength).toBe(chunk.buffer.byteLength);
      chunk.fill(0xa5);
    }
    expect(await ids()).toEqual([1, 2]);
  }
  await db.close();
  await server.close();
});

test('all columns in their order have the names that select gives them', async () => {
  const db = await connect('memory://');
  const table = await db.createTable('t', [{ a: 1, b: 2 }]);
  const renamed = table.query().select({ a: 'a', c: 'b' });
  expect((await renamed.outputSchema()).fields.map(({ name }) => name)).toEqual(['a', 'c']);
  expect(await renamed.toArray()).toEqual([{ a: 1, c: 2 }]);
});

test('a column may have no name', async () => {
  const db = await connect('memory://');
  const table = await db.createTable('t', [{ '': 1, b: 2 }]);
  expect(await table.query().select(['b', '']).toArray()).toEqual([{ '': 1, b: 2 }]);
  expect(await table.takeOffsets([0]).select(['']).toArray()).toEqual([{ '': 1 }]);
  await expect(table.query().select(['c']).toArray()).rejects.toThrow('No field named c');
});
