/** Four rows with a column of every kind, the third row null throughout. */
import {
  Binary,
  Bool,
  DateDay,
  DateMillisecond,
  Decimal,
  Dictionary,
  Field,
  FixedSizeBinary,
  FixedSizeList,
  Float16,
  Float32,
  Float64,
  Int8,
  Int32,
  Int64,
  LargeUtf8,
  List,
  makeData,
  makeVector,
  Schema,
  Struct,
  TimeMicrosecond,
  TimestampMicrosecond,
  TimestampMillisecond,
  Uint8,
  Uint64,
  Utf8,
  type Vector,
  vectorFromArray,
} from '../../src/arrow/apache.ts';
import {
  type ColumnSource,
  compileExpression,
  compilePredicate,
} from '../../src/sql/expression.ts';

const THIRD_NULL = new Uint8Array([0b1011, 0, 0, 0, 0, 0, 0, 0]);

function wide(
  type: TimestampMicrosecond | TimestampMillisecond | TimeMicrosecond | DateMillisecond,
  values: bigint[],
): Vector {
  return makeVector(
    makeData({
      type,
      length: 4,
      nullCount: 1,
      nullBitmap: THIRD_NULL,
      data: BigInt64Array.from(values),
    } as never),
  );
}

const inner = new Struct([new Field('b', new Utf8(), true)]);
const struct = new Struct([
  new Field('a', new Int32(), true),
  new Field('in', inner as never, true),
] as never);

const vectors: Readonly<Record<string, Vector>> = {
  id: vectorFromArray([1n, 2n, null, 2n ** 63n - 1n], new Int64()),
  i32: vectorFromArray([1, -5, null, 7], new Int32()),
  i8: vectorFromArray([1, -128, null, 127], new Int8()),
  u8: vectorFromArray([0, 200, null, 255], new Uint8()),
  u64: vectorFromArray([0n, 5n, null, 2n ** 64n - 1n], new Uint64()),
  x: vectorFromArray([0.5, Number.NaN, null, -0], new Float64()),
  f32: vectorFromArray([0.1, 2.5, null, 1], new Float32()),
  f16: vectorFromArray([0.5, -2, null, 1], new Float16()),
  s: vectorFromArray(['abc', 'Über', null, ''], new Utf8()),
  large: vectorFromArray(['abc', 'xyz', null, ''], new LargeUtf8()),
  b: vectorFromArray([true, false, null, true], new Bool()),
  ts: wide(new TimestampMicrosecond(), [0n, 1577836800123456n, 0n, -1n]),
  tz: wide(new TimestampMillisecond('America/New_York'), [0n, 1583650800000n, 0n, -1n]),
  t: wide(new TimeMicrosecond(), [0n, 3_600_000_000n, 0n, 86_399_999_999n]),
  d: vectorFromArray(
    [new Date(0), new Date('2020-02-29'), null, new Date('1969-12-31')],
    new DateDay(),
  ),
  d64: wide(new DateMillisecond(), [0n, 1582934400000n, 0n, -86400000n]),
  dec: makeVector(
    makeData({
      type: new Decimal(2, 10, 128),
      length: 4,
      nullCount: 1,
      nullBitmap: THIRD_NULL,
      data: new Uint32Array([
        125, 0, 0, 0, 0xffffff83, 0xffffffff, 0xffffffff, 0xffffffff, 0, 0, 0, 0, 1000, 0, 0, 0,
      ]),
    }),
  ),
  bin: vectorFromArray(
    [new Uint8Array([0, 255]), new Uint8Array([]), null, new Uint8Array([1])],
    new Binary(),
  ),
  fixed: vectorFromArray(
    [new Uint8Array([0, 1]), new Uint8Array([2, 3]), null, new Uint8Array([4, 5])],
    new FixedSizeBinary(2),
  ),
  tags: vectorFromArray(
    [['a', 'b'], [], null, ['c', null]],
    new List(new Field('item', new Utf8(), true)),
  ),
  nums: vectorFromArray([[1, 2], [], null, [3]], new List(new Field('item', new Int32(), true))),
  pair: vectorFromArray(
    [[1, 2], [3, 4], null, [5, 6]],
    new FixedSizeList(2, new Field('item', new Float32(), true)),
  ),
  st: vectorFromArray(
    [{ a: 1, in: { b: 'x' } }, { a: null, in: { b: 'y' } }, null, { a: 3, in: null }],
    struct as never,
  ),
  dict: vectorFromArray(['k1', 'k2', null, 'k1'], new Dictionary(new Utf8(), new Int8())),
  MixedCase: vectorFromArray([1, 2, null, 3], new Int32()),
  'two words': vectorFromArray([1, 2, null, 3], new Int32()),
  'a.dot': vectorFromArray([1, 2, null, 3], new Int32()),
  user: vectorFromArray(['u', 'v', null, 'w'], new Utf8()),
};

export const schema = new Schema(
  Object.entries(vectors).map(([name, { type }]) => new Field(name, type, true)),
);

export const source: ColumnSource = { numRows: 4, getChild: (name) => vectors[name] ?? null };

const context = { rowIds: { start: 10 }, rowOffsets: new BigUint64Array([0n, 1n, 2n, 3n]) };

function plain(value: unknown): unknown {
  if (
    typeof value === 'object' &&
    value !== null &&
    'toJSON' in value &&
    !(value instanceof Date)
  ) {
    return (value as { toJSON(): unknown }).toJSON();
  }
  return value ?? null;
}

/** The four values of an expression; typed arrays and nested values as plain arrays and objects. */
export async function values(sql: string): Promise<unknown[]> {
  const compiled = await compileExpression(sql, schema);
  const vector = compiled.evaluate(source, context);
  return Array.from({ length: 4 }, (_, i) => plain(vector.get(i)));
}

/** Numbers of the rows a condition selects. */
export async function rows(sql: string): Promise<number[]> {
  return [...(await compilePredicate(sql, schema)).select(source, context)];
}
