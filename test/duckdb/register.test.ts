/**
 * What `dirspace/duckdb` does without DuckDB: which package is missing, types, values and refusals. The rest is
 * test/interop/duckdb/tables.mjs.
 */
import { expect, test } from 'vitest';
import {
  DateMillisecond,
  Decimal,
  DenseUnion,
  Dictionary,
  DurationNanosecond,
  Field,
  FixedSizeList,
  Float32,
  Int32,
  Int64,
  List,
  Map_,
  makeData,
  Struct,
  TimestampNanosecond,
  TimestampSecond,
  Utf8,
  vectorFromArray,
} from '../../src/arrow/apache.ts';
import { type Data, type DataType, sliceData } from '../../src/arrow/index.ts';
import { refuseTwins, sqlType } from '../../src/duckdb/column-types.ts';
import { columnValues } from '../../src/duckdb/column-values.ts';
import { copyRows } from '../../src/duckdb/copy-rows.ts';
import { loadPeer, type Peer } from '../../src/duckdb/peer.ts';
import { registerTable, registerTables } from '../../src/duckdb.ts';
import { connect } from '../../src/sdk/connect.ts';

class Connection {}
const connection = new Connection() as never;
const peerOf = (load: () => Promise<unknown>) => loadPeer(connection, load);

/** What DuckDB's classes are made of, as `{Name: [...arguments]}`. */
const peer = new Proxy({} as Record<string, unknown>, {
  get: (_, name) =>
    class {
      readonly entries: unknown;
      readonly made: readonly unknown[];
      constructor(...made: unknown[]) {
        this.entries = made[0];
        this.made = [String(name).replace(/^DuckDB|Value$/g, ''), ...made];
      }
      toString(): string {
        return JSON.stringify(this.made.map(String));
      }
    },
}) as unknown as Peer;

const shown = (values: ArrayLike<unknown>): unknown[] =>
  Array.from(values, (value) => (value as { made?: unknown[] } | null)?.made ?? value);
const valuesOf = (data: Data) => shown(columnValues(data, { peer, path: 'c' }));
const dataOf = (type: DataType, values: readonly unknown[]): Data =>
  vectorFromArray(values, type).data[0] as unknown as Data;
const item = (type: DataType, name = 'item') => new Field(name, type as never, true);

test('the package that is missing is named, and one that does not load', async () => {
  const table = await (await connect('memory://')).createTable('t', [{ a: 1 }]);
  await expect(registerTable(connection, table)).rejects.toMatchObject({
    code: 'Unsupported',
    message: expect.stringContaining('npm install @duckdb/node-api'),
    details: { package: '@duckdb/node-api' },
  });
  const broken = () => Promise.reject(new Error('no binary for this platform'));
  await expect(peerOf(broken)).rejects.toThrow('cannot be loaded: Error: no binary');
});

test('a table without columns is refused by its own words', async () => {
  const table = await (await connect('memory://')).createTable('t', [{ a: 1 }]);
  const copied = copyRows(connection, peer as never, table, { name: 't', columns: [] });
  await expect(copied).rejects.toMatchObject({
    code: 'InvalidInput',
    message: expect.stringContaining('No column is left for "t"'),
  });
});

test('a connection of another copy of the package is refused', async () => {
  const loaded = { DuckDBConnection: Connection };
  await expect(peerOf(async () => loaded)).resolves.toBe(loaded);
  const other = async () => ({ DuckDBConnection: class Other {} });
  await expect(peerOf(other)).rejects.toMatchObject({
    code: 'InvalidInput',
    message: expect.stringContaining('is a Connection of something else'),
  });
  for (const given of [undefined, null, 'x', Object.create(null)]) {
    await expect(loadPeer(given as never, async () => loaded)).rejects.toMatchObject({
      code: 'InvalidInput',
    });
  }
});

test('types that DuckDB does not have are refused by the path of the column', () => {
  expect(sqlType(new Struct([item(new Utf8(), 'a "b"')]), 'c')).toBe('STRUCT("a ""b""" VARCHAR)');
  expect(sqlType(new FixedSizeList(0, item(new Int32())), 'c')).toBe('INTEGER[]');
  const union = new DenseUnion([0], [item(new Int32(), 'i')] as never);
  const refusals: [DataType, string][] = [
    [union, 'The column c is of'],
    [new List(item(union)), 'The column c.item is of'],
    [new Decimal(0, 39, 256), 'The column c is of decimal256'],
    [new Decimal(-1, 9, 128), 'The column c is of decimal128'],
    [new Decimal(10, 9, 128), 'The column c is of decimal128'],
    [new Struct([]), 'The column c is of struct'],
    [new FixedSizeList(100_001, item(new Int32())), 'The column c is of'],
    [new Struct([item(new Int32(), 'a'), item(new Int32(), 'A')]), '"a" and "A" in c'],
  ];
  for (const [type, message] of refusals) {
    expect(() => sqlType(type, 'c')).toThrow(expect.objectContaining({ code: 'Unsupported' }));
    expect(() => sqlType(type, 'c')).toThrow(message);
  }
  expect(() => refuseTwins([item(new Int32(), 'É'), item(new Int32(), 'é')])).toThrow('one name');
});

test('values of slices are those of their rows', () => {
  const list = new List(item(new Int32()));
  const lists = dataOf(list, [[1], [2, 3], null, [4, null], []]);
  const expected = [
    ['List', Int32Array.of(1)],
    ['List', Int32Array.of(2, 3)],
    null,
    ['List', [4, null]],
    ['List', []],
  ];
  expect(valuesOf(sliceData(lists, 0, 2))).toEqual(expected.slice(0, 2));
  expect(JSON.stringify(valuesOf(sliceData(lists, 3, 2)))).toBe(JSON.stringify(expected.slice(3)));
  const fixed = dataOf(new FixedSizeList(2, item(new Float32())), [[1, 2], null, [3, 4]]);
  expect(valuesOf(sliceData(fixed, 1, 2))).toEqual([null, ['Array', [3, 4]]]);
  const words = dataOf(new Dictionary(new Utf8(), new Int32()), ['x', null, 'y', 'x']);
  expect(valuesOf(sliceData(words, 1, 3))).toEqual([null, 'y', 'x']);
  const numbers = dataOf(new Int64(), [1n, 2n, 3n]);
  expect(columnValues(sliceData(numbers, 1, 2), { peer, path: 'c' })).toEqual(
    BigInt64Array.of(2n, 3n),
  );
  const records = dataOf(new Struct([item(new Int32(), '1'), item(new Utf8(), '0')]), [
    { 1: 1, 0: 'a' },
    { 1: 2, 0: 'b' },
  ]);
  expect(valuesOf(sliceData(records, 1, 1))).toEqual([['Struct', { 1: 2, 0: 'b' }]]);
});

test('what would be another value in DuckDB is refused, and what lies below a null is not looked at', () => {
  const raw = (type: DataType, value: bigint, valid: boolean): Data =>
    makeData({
      type,
      length: 1,
      data: BigInt64Array.of(value),
      nullBitmap: Uint8Array.of(valid ? 1 : 0),
      nullCount: valid ? 0 : 1,
    } as never) as unknown as Data;
  const faults: [DataType, bigint][] = [
    [new TimestampNanosecond('UTC'), 1n],
    [new DurationNanosecond(), -1n],
    [new TimestampSecond('UTC'), 2n ** 62n],
    [new DateMillisecond(), 1n],
  ];
  for (const [type, value] of faults) {
    expect(() => valuesOf(raw(type, value, true))).toThrow(
      expect.objectContaining({ code: 'Unsupported', details: { column: 'c' } }),
    );
    expect(valuesOf(raw(type, value, false))).toEqual([null]);
  }
  expect(valuesOf(raw(new TimestampNanosecond('UTC'), -2000n, true))).toEqual([
    ['TimestampTZ', -2n],
  ]);
  const entries = new Struct([new Field('key', new Utf8(), false), item(new Int32(), 'value')]);
  const map = new Map_(new Field('entries', entries, false));
  expect(valuesOf(dataOf(map, [new Map([['a', 1]]), null]))).toEqual([
    ['Map', [{ key: 'a', value: 1 }]],
    null,
  ]);
  // Maps of JavaScript have no key twice.
  const twice = dataOf(map, [
    new Map([
      ['a', 1],
      ['b', 2],
    ]),
  ]);
  const keys = twice.children[0]?.children[0]?.values as Uint8Array;
  keys[1] = keys[0] as number;
  expect(() => valuesOf(twice)).toThrow('the key a twice');
});

test('two tables are not given one name', async () => {
  const db = await connect('memory://');
  const table = await db.createTable('t', [{ a: 1 }]);
  const twice = registerTables(connection, { a: table, b: { table, name: 'A', replace: true } });
  await expect(twice).rejects.toMatchObject({
    code: 'InvalidInput',
    message: expect.stringContaining('Two of the tables are to be called "A"'),
  });
  await db.close();
});
