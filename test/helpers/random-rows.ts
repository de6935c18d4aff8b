/** Random schemas with rows of them, for fast-check. */
import fc from 'fast-check';
import {
  Binary,
  Bool,
  type DataType,
  DateDay,
  DateMillisecond,
  Decimal,
  Dictionary,
  Duration,
  Field,
  FixedSizeBinary,
  FixedSizeList,
  Float16,
  Float32,
  Float64,
  Int8,
  Int16,
  Int32,
  Int64,
  IntervalMonthDayNano,
  LargeBinary,
  LargeList,
  LargeUtf8,
  List,
  Map_,
  Schema,
  Struct,
  TimeMicrosecond,
  TimestampMillisecond,
  TimestampNanosecond,
  TimestampSecond,
  TimeUnit,
  Uint16,
  Uint64,
  Utf8,
  Utf8View,
} from '../../src/arrow/apache.ts';

/** A type and values of it in the form they come back in. */
interface Sample {
  readonly type: DataType;
  readonly value: fc.Arbitrary<unknown>;
}

const int = (bits: number): fc.Arbitrary<number> =>
  fc.integer({ min: -(2 ** (bits - 1)), max: 2 ** (bits - 1) - 1 });
export const date = fc.date({ noInvalidDate: true });
export const text = fc.string({ unit: 'binary', maxLength: 40 });
export const bytes = (
  size: fc.SizeForArbitrary | undefined,
  length?: number,
): fc.Arbitrary<Uint8Array> =>
  fc
    .uint8Array({
      ...(size && { size }),
      ...(length !== undefined && { minLength: length, maxLength: length }),
    })
    .map((array) => new Uint8Array(array));
export const signed64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });

const LEAVES: Sample[] = [
  { type: new Int8(), value: int(8) },
  { type: new Int16(), value: int(16) },
  { type: new Int32(), value: int(32) },
  { type: new Int64(), value: signed64 },
  { type: new Uint16(), value: fc.integer({ min: 0, max: 65535 }) },
  { type: new Uint64(), value: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }) },
  { type: new Float16(), value: fc.integer({ min: -2048, max: 2048 }).map((n) => n / 32 + 0) },
  { type: new Float32(), value: fc.float() },
  { type: new Float64(), value: fc.double() },
  { type: new Bool(), value: fc.boolean() },
  { type: new Utf8(), value: text },
  { type: new LargeUtf8(), value: text },
  { type: new Utf8View(), value: text },
  { type: new Binary(), value: bytes('small') },
  { type: new LargeBinary(), value: bytes('small') },
  { type: new FixedSizeBinary(3), value: bytes(undefined, 3) },
  { type: new DateDay(), value: int(24).map((days) => new Date(days * 86_400_000)) },
  { type: new DateMillisecond(), value: date },
  { type: new TimestampMillisecond(), value: date },
  { type: new TimestampSecond(), value: int(32).map((seconds) => new Date(seconds * 1000)) },
  { type: new TimestampNanosecond('UTC'), value: signed64 },
  { type: new TimeMicrosecond(), value: fc.bigInt({ min: 0n, max: 86_399_999_999n }) },
  { type: new Duration(TimeUnit.SECOND), value: signed64 },
  {
    type: new Decimal(0, 38, 128),
    value: fc.bigInt({ min: -(10n ** 38n) + 1n, max: 10n ** 38n - 1n }).map(String),
  },
  {
    type: new IntervalMonthDayNano(),
    value: fc.record(
      { months: int(32), days: int(32), nanoseconds: signed64 },
      { noNullPrototype: true },
    ),
  },
  { type: new Dictionary(new Utf8(), new Int16()), value: fc.constantFrom('a', 'b', '', 'ü') },
];

// An empty name is left out: apache-arrow's reader makes the text "null" of it.
const name = fc.constantFrom('a', 'b', 'c', '__proto__', 'constructor', 'x.y');
const nullable = (value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.option(value, { nil: null, freq: 4 });
const item = (type: DataType): Field => new Field('item', type, true);

function record(members: readonly (readonly [string, Sample])[]): fc.Arbitrary<unknown> {
  return fc
    .tuple(...members.map(([, sample]) => nullable(sample.value)))
    .map((values) => Object.fromEntries(values.map((value, i) => [members[i]?.[0], value])));
}

const members = (inner: fc.Arbitrary<Sample>): fc.Arbitrary<[string, Sample][]> =>
  fc.uniqueArray(fc.tuple(name, inner), { selector: ([key]) => key, minLength: 1, maxLength: 4 });

const structOf = (inner: readonly (readonly [string, Sample])[]): DataType =>
  new Struct<Record<string, DataType>>(inner.map(([key, { type }]) => new Field(key, type, true)));

const { sample } = fc.letrec<{ sample: Sample }>((tie) => ({
  sample: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    { weight: 6, arbitrary: fc.constantFrom(...LEAVES) },
    {
      weight: 1,
      arbitrary: tie('sample').map(({ type, value }) => ({
        type: new List(item(type)),
        value: fc.array(nullable(value), { maxLength: 4 }),
      })),
    },
    {
      weight: 1,
      arbitrary: tie('sample').map(({ type, value }) => ({
        type: new LargeList(item(type)),
        value: fc.array(nullable(value), { maxLength: 4 }),
      })),
    },
    {
      weight: 1,
      arbitrary: fc.constant({
        type: new FixedSizeList(3, item(new Float32())),
        value: fc.float32Array({ minLength: 3, maxLength: 3 }).map((a) => new Float32Array(a)),
      }),
    },
    {
      weight: 1,
      arbitrary: members(tie('sample')).map((inner) => ({
        type: new FixedSizeList(2, item(structOf(inner))),
        value: fc.array(nullable(record(inner)), { minLength: 2, maxLength: 2 }),
      })),
    },
    {
      weight: 1,
      arbitrary: members(tie('sample')).map((inner) => ({
        type: structOf(inner),
        value: record(inner),
      })),
    },
    {
      weight: 1,
      arbitrary: tie('sample').map(({ type, value }) => {
        const fields = [new Field('key', new Utf8()), new Field('value', type, true)];
        const entries = new Struct<Record<string, DataType>>(fields);
        return {
          type: new Map_(new Field('entries', entries, false) as never),
          value: fc
            .array(fc.tuple(text, nullable(value)), { maxLength: 3 })
            .map((pairs) => new Map(pairs)),
        };
      }),
    },
  ),
}));

/** Rows of a random schema, in the form that reading gives them back in. */
export const randomRows = members(sample).chain((columns) =>
  fc.record({
    schema: fc.constant(new Schema(columns.map(([key, { type }]) => new Field(key, type, true)))),
    rows: fc.array(record(columns), { maxLength: 20 }) as fc.Arbitrary<object[]>,
    batchRows: fc.integer({ min: 1, max: 12 }),
  }),
);
