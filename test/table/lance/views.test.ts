/** Columns of views: stored plainly in tables for Lance, and read as views. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  Binary,
  BinaryView,
  type Data,
  type DataType,
  Field,
  Int32,
  IntervalYearMonth,
  List,
  type RecordBatch,
  Schema,
  Struct,
  Table,
  tableFromIPC,
  Utf8,
  Utf8View,
  Vector,
} from '../../../src/arrow/apache.ts';
import { sliceData } from '../../../src/arrow/index.ts';
import { plainColumn, viewsOf, withoutViews } from '../../../src/format/fragment/plain-views.ts';
import { connect } from '../../../src/sdk/connect.ts';
import { randomBatch, seeded } from '../../helpers/arrow-samples.ts';
import { filesOf, memoryFs } from '../../helpers/catalogs.ts';

const nullable = (name: string, type: DataType): Field => new Field(name, type, true);
const schema = new Schema([
  nullable('n', new Int32()),
  nullable('text', new Utf8View()),
  nullable('bytes', new BinaryView()),
  nullable('list', new List(nullable('item', new Utf8View()))),
  new Field('s', new Struct([nullable('a', new BinaryView()), nullable('b', new Int32())]), false),
]);
const batch = (rows: number, nulls: number, seed = 1): RecordBatch =>
  randomBatch(schema, rows, seeded(seed), nulls) as never;

const valuesOf = (table: Table): unknown =>
  table.schema.fields.map(({ name }) => JSON.stringify([...(table.getChild(name) as Vector)]));

describe.each([0, 0.3])('with %d of them null', (nulls) => {
  test('a table of views opens in Lance and answers views of the same values', async () => {
    const fs = memoryFs();
    const db = await connect('/c', { fs });
    const rows = new Table(schema, [batch(40, nulls), batch(17, nulls, 2)] as never);
    const table = await db.createTable('t', rows as never);
    const { lance } = await db.describeTable('t', [], { load_detailed_metadata: true });
    expect(lance).toEqual({ opens: true });
    const found = (await table.query().toArrow()) as unknown as Table;
    expect(String(found.schema)).toBe(String(schema));
    expect(found.getChild('text')?.type).toBeInstanceOf(Utf8View);
    expect(valuesOf(found)).toEqual(valuesOf(rows));
    const off = await db.createTable('off', rows as never, { lance: 'off' });
    expect(valuesOf((await off.query().toArrow()) as never)).toEqual(valuesOf(rows));

    // Predicates, single rows, appends, updates, deletions and compaction see the same values.
    for (const where of ["text > 'm'", 'text IS NULL', 'length(text) > 12', 'bytes IS NOT NULL']) {
      expect(await table.countRows(where)).toBe(await off.countRows(where));
    }
    for (const each of [table, off]) {
      await each.add(rows as never);
      await each.update({ where: 'n % 5 = 0', values: { n: 9 } });
      await each.delete('n % 3 = 0');
      await each.optimize();
    }
    const picked = [0, 7, 11, 23];
    const [one, other] = await Promise.all(
      [table, off].map(async (each) => [
        valuesOf((await each.query().toArrow()) as never),
        valuesOf((await each.takeOffsets(picked).toArrow()) as never),
      ]),
    );
    expect(one).toEqual(other);
    expect((await db.namespace.verify?.({}))?.problems).toEqual([]);
    expect((await db.describeTable('t', [], { load_detailed_metadata: true })).lance).toEqual({
      opens: true,
    });
  });
});

test('a schema without views is itself, and one of views has ids in the same places', () => {
  const plain = new Schema([nullable('a', new Utf8()), nullable('b', new Binary())]);
  expect(withoutViews(plain)).toBe(plain);
  const stored = withoutViews(schema);
  expect(String(stored.fields[3]?.type)).toBe(String(new List(nullable('item', new Utf8()))));
  expect(stored.fields[0]).toBe(schema.fields[0]);
  expect(withoutViews(schema)).toBe(stored);
});

test.each([
  ['utf8', new Utf8View(), new Utf8()],
  ['binary', new BinaryView(), new Binary()],
])('slices of any length and place go both ways: %s', (_, view, plain) => {
  const whole = randomBatch(new Schema([nullable('c', view)]), 64, seeded(5), 0.3).data
    .children[0] as Data;
  fc.assert(
    fc.property(fc.nat(63), fc.nat(64), (begin, length) => {
      const slice = sliceData(whole, begin, Math.min(length, 64 - begin));
      const stored = plainColumn(slice, plain, 'c');
      const back = viewsOf(plain, view)?.(stored) as Data;
      const values = (data: Data): string => JSON.stringify([...new Vector([data])]);
      expect(values(stored)).toBe(values(slice));
      expect(values(back)).toBe(values(slice));
      const half = sliceData(stored, 0, stored.length >> 1);
      expect(values(viewsOf(plain, view)?.(half) as Data)).toBe(
        values(sliceData(slice, 0, stored.length >> 1)),
      );
    }),
  );
  expect(viewsOf(view, plain)).toBeUndefined();
});

test('a view that points out of its buffers is refused', async () => {
  const db = await connect('/c', { fs: memoryFs() });
  const rows = batch(20, 0);
  const text = rows.data.children[1] as Data;
  const words = new DataView(
    (text.values as Uint8Array).buffer,
    (text.values as Uint8Array).byteOffset,
  );
  words.setInt32(0, 1000, true);
  words.setInt32(12, 1 << 20, true);
  await expect(db.createTable('t', new Table(schema, [rows] as never) as never)).rejects.toThrow(
    /Column text .* row 0/,
  );
  expect(await db.tableNames()).toEqual([]);
});

test('null rows take no bytes, whatever their views hold', () => {
  const whole = randomBatch(new Schema([nullable('c', new Utf8View())]), 50, seeded(9), 0.5).data
    .children[0] as Data;
  const stored = plainColumn(whole, new Utf8(), 'c');
  const texts = [...new Vector([whole])].map((each) => Buffer.byteLength(String(each ?? '')));
  expect(stored.values.length).toBe(texts.reduce((sum, bytes) => sum + bytes, 0));
});

test('a table that does not open for another reason stores views as they are', async () => {
  const fs = memoryFs();
  const db = await connect('/c', { fs });
  const months = nullable('i', new IntervalYearMonth());
  const wide = new Schema([...schema.fields, months]);
  const rows = new Table(wide, [randomBatch(wide, 9, seeded(2), 0.3)] as never);
  const table = await db.createTable('t', rows as never);
  const stored = async (): Promise<string> => {
    const files = filesOf(fs, '/c')
      .all()
      .filter((path) => path.endsWith('.arrow'));
    const types = files.map((path) => {
      const found = tableFromIPC(fs.readFileSync(`/c/${path}`) as Buffer).schema;
      return String(found.fields.find(({ name }) => name === 'text')?.type);
    });
    return types.sort().join();
  };
  expect(await stored()).toBe('Utf8View');
  expect(valuesOf((await table.query().toArrow()) as never)).toEqual(valuesOf(rows));
  await table.dropColumns(['i']);
  await table.optimize();
  expect(await stored()).toBe('Utf8,Utf8View');
  const { lance } = await db.describeTable('t', [], { load_detailed_metadata: true });
  expect(lance).toEqual({ opens: true });
});
