/** Columns made narrower: every value fits, or the first that does not is named and nothing changes. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Data,
  type DataType,
  DataType as DataTypes,
  Field,
  FixedSizeList,
  Float16,
  Float32,
  Float64,
  Int8,
  Int16,
  Int32,
  Int64,
  LargeUtf8,
  List,
  makeData,
  Schema,
  Struct,
  TimestampMicrosecond,
  Utf8,
  Utf8View,
  Vector,
} from '../../../src/arrow/apache.ts';
import { openDirectoryNamespace } from '../../../src/directory/directory-namespace.ts';
import type { LanceMode } from '../../../src/lance-mode.ts';
import { typeToJson } from '../../../src/protocol/types/schema.ts';
import { toRecordBatchStream } from '../../../src/sdk/convert/data.ts';
import { collectRows, type Row } from '../../../src/sdk/convert/rows.ts';
import { canNarrow, Narrowing } from '../../../src/table/fields/narrow.ts';
import { filesOf, memoryFs } from '../../helpers/catalogs.ts';

const id = ['t'];
const nullable = (name: string, type: DataType): Field => new Field(name, type, true);
const schema = new Schema([
  new Field('id', new Int64(), false),
  nullable('x', new Float64()),
  nullable('text', new LargeUtf8()),
  nullable('at', new TimestampMicrosecond()),
  nullable('s', new Struct([nullable('a', new Int64()), nullable('b', new Utf8())])),
  nullable('v', new FixedSizeList(2, nullable('item', new Float64()))),
  nullable('l', new List(nullable('item', new Struct([nullable('n', new Int32())])))),
]);
const row = (n: number): Row => ({
  id: BigInt(n),
  x: n % 4 === 0 ? null : n / 2,
  text: n === 3 ? null : `t${n}`,
  at: n === 2 ? null : BigInt(n) * 1000n,
  s: n === 5 ? null : { a: BigInt(n) * 3n, b: 'b' },
  v: n === 6 ? null : [n, n / 4],
  l: n === 1 ? null : [{ n }, { n: null }],
});
const ROWS = Array.from({ length: 10 }, (_, n) => row(n));

async function tableOf(rows: Row[], lance: LanceMode = 'off', as = schema) {
  const fs = memoryFs();
  const limits = { batchRows: 3, fragmentRows: 6 };
  const catalog = await openDirectoryNamespace({ root: '/c', fs, lance, limits });
  await catalog.createTable({ id }, await toRecordBatchStream(rows, { schema: as }));
  const alter = (path: string, to: DataType | string, more = {}) => {
    const data_type = typeof to === 'string' ? { type: to } : { ...typeToJson(to) };
    return catalog.alterTableAlterColumns({ id, alterations: [{ path, data_type, ...more }] });
  };
  const read = async (more = {}): Promise<Row[]> =>
    collectRows(await catalog.queryTable({ id, k: 1e9, ...more }));
  const typeOf = async (name: string): Promise<string> =>
    String((await catalog.queryTable({ id, k: 0 })).schema.fields.find((f) => f.name === name));
  const files = () => filesOf(fs, '/c').all();
  return { catalog, alter, read, typeOf, files };
}

const plain = (rows: Row[]): unknown =>
  JSON.parse(
    JSON.stringify(rows, (_, value) =>
      typeof value === 'bigint'
        ? Number(value)
        : ArrayBuffer.isView(value)
          ? Array.from(value as Float32Array)
          : value,
    ),
  );

describe.each(['off', 'read'] as const)('tables with Lance %s', (lance) => {
  test('every value fits: rows, versions, predicates and row ids stay', async () => {
    const { catalog, alter, read, typeOf } = await tableOf(ROWS, lance);
    const before = await read({ with_row_id: true });
    await alter('id', 'int16', { rename: 'key' });
    await alter('x', new Float32());
    await alter('text', 'utf8');
    await alter('at', 'timestamp:ms:-');
    await alter('s.a', 'uint8');
    await alter('v', new FixedSizeList(2, nullable('item', new Float32())));
    await alter('l.item.n', 'int8');
    const after = await read({ with_row_id: true });
    const renamed = after.map(({ key, at, ...rest }) => ({
      id: key,
      at: at === null ? null : BigInt(at as bigint) * 1000n,
      ...rest,
    }));
    expect(plain(renamed)).toEqual(plain(before));
    expect(await typeOf('key')).toBe('key: Int16');
    expect(await typeOf('v')).toContain('Float32');
    expect(plain(await read({ version: 1, with_row_id: true }))).toEqual(plain(before));
    expect((await catalog.countTableRows({ id, predicate: 'key >= 4 AND s.a < 30' })).count).toBe(
      5,
    );
    await catalog.insertIntoTable(
      { id },
      await toRecordBatchStream([{ key: 77 }], {
        schema: new Schema([new Field('key', new Int16(), false)]),
      }),
    );
    expect((await read()).at(-1)).toMatchObject({ key: 77, x: null });
    const { ok } = await catalog.verify({});
    expect(ok).toBe(true);
    await catalog.restoreTable({ id, version: 1 });
    expect(plain(await read({ with_row_id: true }))).toEqual(plain(before));
  });

  test.each([
    ['id', 'int8', 8, '200'],
    ['x', 'int32', 7, '3.5'],
    ['x', 'float32', 9, '1e+300'],
    ['x', 'halffloat', 9, '1e+300'],
    ['s.a', 'int16', 4, '40000'],
    ['v.item', 'float32', 7, '1e+300'],
    ['v.item', 'halffloat', 7, '1e+300'],
    ['l.item.n', 'uint8', 9, '-1'],
    ['at', 'timestamp:ms:-', 3, '1970-01-01T00:00:00.000001'],
  ])('%s to %s is refused for row %i, which holds %s', async (path, type, at, shown) => {
    const rows = ROWS.map((each) => ({ ...each }));
    Object.assign(rows[0] as Row, { x: 1 });
    if (type !== 'int32') for (const each of rows) if (each.x === 3.5) each.x = null;
    Object.assign(rows[8] as Row, { id: 200n });
    Object.assign(rows[9] as Row, {
      id: 300n,
      x: type === 'int32' ? 4.5 : 1e300,
      l: [{ n: 5 }, { n: -1 }],
    });
    Object.assign(rows[4] as Row, { s: { a: 40_000n, b: '' } });
    Object.assign(rows[7] as Row, { v: [1e300, 1] });
    Object.assign(rows[3] as Row, { at: 1n });
    if (type === 'int32') for (const n of [1, 3, 5]) Object.assign(rows[n] as Row, { x: n });
    const { alter, read, files } = await tableOf(rows, lance);
    const before = files();
    await expect(alter(path, type)).rejects.toMatchObject({
      code: 'InvalidInput',
      details: { column: path.split('.')[0], row: at },
      message: expect.stringContaining(`holds ${shown}, which does not fit`),
    });
    expect(files()).toEqual(before);
    expect(plain(await read())).toEqual(plain(rows));
  });

  test('values of deleted rows do not matter, and rows are counted without them', async () => {
    const rows = ROWS.map((each) => ({ ...each }));
    Object.assign(rows[1] as Row, { id: 1_000n, v: [1e300, 0], l: [{ n: 1_000 }] });
    Object.assign(rows[8] as Row, { id: 2_000n });
    const { catalog, alter, read } = await tableOf(rows, lance);
    await catalog.deleteFromTable({ id, predicate: 'id = 1000 OR id = 7' });
    await expect(alter('id', 'int8')).rejects.toMatchObject({ details: { row: 6 } });
    await catalog.deleteFromTable({ id, predicate: 'id = 2000' });
    const before = await read();
    await alter('id', 'int8');
    await alter('v.item', 'float32');
    await alter('l.item.n', 'int8');
    expect(plain(await read())).toEqual(plain(before));
    expect((await catalog.verify({})).ok).toBe(true);
  });
});

test('an append that was begun before is refused, and its rows are not there', async () => {
  const { catalog, alter, read } = await tableOf(ROWS);
  const rows = await toRecordBatchStream([row(20)], { schema });
  const batches = [];
  for await (const batch of rows) batches.push(batch);
  let go = (): void => {};
  const held = new Promise<void>((resolve) => {
    go = resolve;
  });
  const slow = Object.assign(
    (async function* () {
      await held;
      yield* batches;
    })(),
    { schema },
  );
  const appending = catalog.insertIntoTable({ id }, slow as never);
  appending.catch(() => {});
  await alter('id', 'int8');
  go();
  await expect(appending).rejects.toMatchObject({ code: 'TableSchemaValidation' });
  expect(await read()).toHaveLength(10);
});

test('narrows while another writes and compacts: rows that came meanwhile are checked too', async () => {
  const { catalog, alter, read } = await tableOf(ROWS);
  const changes = (async () => {
    await catalog.deleteFromTable({ id, predicate: 'id = 2' });
    await catalog.updateTable({ id, predicate: 'id = 3', updates: [['x', '8']] });
    await catalog.optimizeTable({ id });
  })();
  await Promise.all([alter('x', 'float32'), alter('id', 'int8'), changes]);
  const expected = ROWS.filter((one) => one.id !== 2n);
  const found = (await read()).sort((a, b) => Number(a.id) - Number(b.id));
  expect(plain(found)).toEqual(
    plain(expected.map((one) => (one.id === 3n ? { ...one, x: 8 } : one))),
  );
  expect((await catalog.verify({})).ok).toBe(true);
});

test('an index on the column answers as before', async () => {
  const { catalog, alter } = await tableOf(ROWS);
  await catalog.createTableScalarIndex({ id, column: 'id', index_type: 'BTREE' });
  await alter('id', 'int8');
  const count = async () => (await catalog.countTableRows({ id, predicate: 'id = 7' })).count;
  expect(await count()).toBe(1);
  await catalog.optimizeTable({ id });
  expect(await count()).toBe(1);
});

test('numbers fit exactly where the naive rule says so', async () => {
  const targets: [DataType, (n: number) => boolean][] = [
    [new Int8(), (n) => Number.isInteger(n) && n >= -128 && n <= 127],
    [new Int16(), (n) => Number.isInteger(n) && n >= -32_768 && n <= 32_767],
    [new Float32(), (n) => Number.isFinite(Math.fround(n))],
  ];
  const numbers = fc.oneof(
    fc.integer({ min: -200, max: 200 }),
    fc.constantFrom(0.5, 0.1, 127, 128, -128, -129, 32_767, 32_768, 2 ** 24 + 1, 1e300),
  );
  const one = new Schema([nullable('n', new Float64())]);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.option(numbers), { minLength: 1, maxLength: 12 }),
      fc.constantFrom(...targets),
      async (values, [type, fits]) => {
        const rows = values.map((n) => ({ n }));
        const { alter, read } = await tableOf(rows, 'off', one);
        const bad = values.findIndex((n) => n !== null && !fits(n));
        const outcome = await alter('n', type).then(
          () => -1,
          (error) => error.details.row,
        );
        expect(outcome).toBe(bad);
        const rounds = bad < 0 && type instanceof Float32;
        expect(await read()).toEqual(
          rows.map(({ n }) => ({ n: rounds && n !== null ? Math.fround(n) : n })),
        );
      },
    ),
    { numRuns: 30 },
  );
});

test('what lies below null rows does not matter', async () => {
  const items = makeData({ type: new Int32(), data: Int32Array.of(1, 900, 3, 4) });
  const below = (type: DataType, list: DataType) => ({
    id: 0,
    field: nullable('l', list),
    children: [{ id: 1, field: nullable('item', type), children: [] }],
  });
  const lists = [Int32, Int8].map((Type) => new FixedSizeList(2, nullable('item', new Type())));
  const structs = [Int32, Int8].map((Type) => new Struct([nullable('item', new Type())]));
  for (const [from, to] of [lists, structs] as unknown as [DataType, DataType][]) {
    const length = DataTypes.isStruct(from) ? 4 : 2;
    const data = (bits: number) =>
      makeData({
        type: from,
        length,
        nullCount: 1,
        nullBitmap: Uint8Array.of(bits),
        child: items,
        children: [items],
      } as never);
    const narrowing = await Narrowing.between(below(new Int32(), from), below(new Int8(), to));
    const convert = (bits: number) =>
      narrowing.convert(
        data(bits),
        (expression, values) =>
          expression.evaluate({ numRows: values.length, getChild: () => new Vector([values]) })
            .data[0] as Data,
        undefined,
      );
    const isStruct = length === 4;
    const kept = await convert(isStruct ? 0b1101 : 0b10);
    expect(String(kept.type)).toBe(String(to));
    expect(kept.nullCount).toBe(1);
    await expect(convert(isStruct ? 0b0111 : 0b01)).rejects.toMatchObject({
      row: isStruct ? 1 : 0,
      value: '900',
    });
  }
});

test('floats are rounded to the nearest ones, in vectors too; infinities and NaN stay', async () => {
  const vector = (type: DataType) => new FixedSizeList(2, nullable('item', type));
  const as = new Schema([nullable('n', new Float64()), nullable('v', vector(new Float32()))]);
  const rows = [
    { n: 0.1, v: [3.1, 4.1] },
    { n: Infinity, v: null },
    { n: null, v: [-Infinity, 65_504] },
    { n: Number.NaN, v: [1 / 3, 0] },
  ];
  const { alter, read } = await tableOf(rows, 'off', as);
  await alter('n', 'float32');
  await alter('v', vector(new Float16()));
  const found = await read();
  expect(found.map(({ n }) => n)).toEqual([Math.fround(0.1), Infinity, null, Number.NaN]);
  const vectors = found.map(({ v }) => (v === null ? null : Array.from(v as Float32Array)));
  expect(vectors[0]?.[0]).toBeCloseTo(3.1, 2);
  expect(vectors.slice(1, 3)).toEqual([null, [-Infinity, 65_504]]);
});

test('other kinds of values are refused before any is looked at', () => {
  const list = (type: DataType) => new List(nullable('item', type));
  expect(canNarrow(new Int64(), new Utf8())).toBe(false);
  expect(canNarrow(new Utf8(), new Int8())).toBe(false);
  expect(canNarrow(new LargeUtf8(), new Utf8View())).toBe(false);
  expect(canNarrow(list(new Int64()), list(new Utf8()))).toBe(false);
  expect(canNarrow(list(new Int64()), new Int8())).toBe(false);
  expect(
    canNarrow(
      new FixedSizeList(2, nullable('item', new Int64())),
      new FixedSizeList(3, nullable('item', new Int8())),
    ),
  ).toBe(false);
  expect(
    canNarrow(new Struct([nullable('a', new Int64())]), new Struct([nullable('b', new Int8())])),
  ).toBe(false);
  expect(canNarrow(new TimestampMicrosecond('UTC'), new TimestampMicrosecond())).toBe(false);
});
