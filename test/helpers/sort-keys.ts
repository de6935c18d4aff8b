/** Keys to order rows by: random values of each type that has an order, and how a naive program orders them. */
import {
  Binary,
  Bool,
  type Data,
  type DataType,
  DateMillisecond,
  Decimal,
  Dictionary,
  FixedSizeBinary,
  Float16,
  Float32,
  Float64,
  Int8,
  Int32,
  Int64,
  LargeUtf8,
  TimestampNanosecond,
  Uint32,
  Uint64,
  Utf8,
  vectorFromArray,
} from 'apache-arrow';
import { compareText } from '../../src/values/index.ts';
import { seeded } from './seeded.ts';

export type Value = number | bigint | string | boolean | Uint8Array | null;

export const random = seeded(7);
export const pick = <Item>(items: readonly Item[]): Item =>
  items[Math.floor(random() * items.length)] as Item;
export const whole = (below: number): number => Math.floor(random() * below);
const bits64 = (): bigint => (BigInt(whole(2 ** 32)) << 32n) | BigInt(whole(2 ** 32));

const float = (): number =>
  pick([0, -0, NaN, Infinity, -Infinity, 1, -1, 0.5, whole(100) / 4, -whole(100) / 8]);
const text = (): string => {
  const start = pick([
    '',
    'a',
    'ab',
    'ab\0',
    'abcdef',
    'abcdefg',
    'abcdefgh',
    '\u{1f600}',
    '\uffff',
  ]);
  return start + pick(['', '', 'x', '\0', 'é', 'long '.repeat(12), `${whole(50)}`]);
};
const bytes = (): Uint8Array =>
  Uint8Array.from({ length: whole(10) }, () => pick([0, 1, 127, 255]));
const wide = (): bigint =>
  pick([0n, 1n, -1n, 2n ** 53n, 2n ** 53n + 1n, -(2n ** 53n) - 1n, 2n ** 62n, BigInt(whole(9))]);
/** Around the numbers where 64 bits end, and doubles miss some. */
const decimal = (): bigint =>
  pick([
    0n,
    5n,
    -5n,
    2n ** 53n + 1n,
    2n ** 53n,
    2n ** 63n,
    2n ** 64n,
    -(2n ** 63n),
    -(2n ** 63n) - 1n,
    2n ** 63n - 1n,
    2n ** 100n,
    -(2n ** 100n),
    -(2n ** 53n) - 1n,
    2n ** 90n + bits64(),
  ]);

export const CASES: readonly [string, DataType, () => Value][] = [
  ['int8', new Int8(), () => whole(256) - 128],
  ['int32', new Int32(), () => pick([0, 1, -1, 2 ** 31 - 1, -(2 ** 31), whole(50)])],
  ['uint32', new Uint32(), () => pick([0, 2 ** 32 - 1, 2 ** 31, whole(50)])],
  ['int64', new Int64(), wide],
  ['uint64', new Uint64(), () => pick([0n, 2n ** 64n - 1n, 2n ** 63n, 2n ** 53n + 1n, 2n ** 53n])],
  ['float16', new Float16(), float],
  ['float32', new Float32(), float],
  ['float64', new Float64(), float],
  ['bool', new Bool(), () => pick([true, false])],
  ['utf8', new Utf8(), text],
  ['large utf8', new LargeUtf8(), text],
  ['binary', new Binary(), bytes],
  [
    'fixed binary',
    new FixedSizeBinary(3),
    () => Uint8Array.from({ length: 3 }, () => pick([0, 1, 255])),
  ],
  ['timestamp', new TimestampNanosecond(), wide],
  ['date', new DateMillisecond(), wide],
  ['decimal128', new Decimal(2, 38, 128), decimal],
  ['decimal256', new Decimal(2, 70, 256), decimal],
  ['dictionary', new Dictionary(new Utf8(), new Int32()), text],
];

function compareValues(a: Value, b: Value): number {
  if (typeof a === 'string') return compareText(a, b as string);
  if (a instanceof Uint8Array) return Buffer.compare(a, b as Uint8Array);
  if (Number.isNaN(a)) return Number.isNaN(b) ? 0 : 1;
  if (Number.isNaN(b)) return -1;
  return (a as number) < (b as number) ? -1 : (a as number) > (b as number) ? 1 : 0;
}

export interface Key {
  readonly values: readonly Value[];
  readonly data: Data;
  readonly ascending: boolean;
  readonly nullsFirst: boolean;
}

/** The first rows in order; equal ones stay as they are. */
export function expected(keys: readonly Key[], rows: readonly number[], limit: number): number[] {
  const order = [...rows].sort((a, b) => {
    for (const { values, ascending, nullsFirst } of keys) {
      const [x, y] = [values[a] as Value, values[b] as Value];
      const both =
        x === null || y === null
          ? x === y
            ? 0
            : (x === null) === nullsFirst
              ? -1
              : 1
          : compareValues(x, y) * (ascending ? 1 : -1);
      if (both !== 0) return both;
    }
    return a - b;
  });
  return order.slice(0, limit);
}

/** Words of a decimal, lowest first, as Arrow holds it. */
const wordsOf = (value: bigint, bits: number): Uint32Array =>
  Uint32Array.from({ length: bits / 32 }, (_, at) =>
    Number((value >> BigInt(32 * at)) & 0xffff_ffffn),
  );

export function columnOf(type: DataType, values: readonly Value[]): Data {
  const isDecimal = type instanceof Decimal;
  const items = isDecimal
    ? values.map((value) => (value === null ? null : wordsOf(value as bigint, type.bitWidth)))
    : values;
  const raw = type instanceof TimestampNanosecond || type instanceof DateMillisecond;
  const [data] = vectorFromArray(items as never[], raw ? new Int64() : type).data as Data[];
  if (!raw) return data as Data;
  return Object.assign((data as Data).clone(), { type });
}

export function keyOf([, type, make]: (typeof CASES)[number], rows: number, nulls: number): Key {
  const values = Array.from({ length: rows }, () => {
    if (random() < nulls) return null;
    const value = make();
    return type instanceof Float16 && typeof value === 'number' ? Math.fround(value) : value;
  });
  const [ascending, nullsFirst] = [random() < 0.5, random() < 0.5];
  return { values, data: columnOf(type, values), ascending, nullsFirst };
}

export const all = (rows: number): number[] => Array.from({ length: rows }, (_, at) => at);
