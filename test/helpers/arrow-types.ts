/** Random Arrow types, fields and schemas, for properties over all of them. */
import fc from 'fast-check';
import {
  Binary,
  BinaryView,
  Bool,
  type DataType,
  Date_,
  Decimal,
  Dictionary,
  Duration,
  Field,
  FixedSizeBinary,
  FixedSizeList,
  Float,
  Int,
  Interval,
  LargeBinary,
  LargeList,
  LargeUtf8,
  List,
  Map_,
  Null,
  Schema,
  Struct,
  Time,
  Timestamp,
  TimeUnit,
  Union,
  Utf8,
  Utf8View,
} from '../../src/arrow/apache.ts';

export const ZONES: readonly string[] = [
  'UTC',
  'Europe/Berlin',
  '+05:30',
  '-08:00',
  'Etc/GMT+1',
  'ordered',
];

/** Every type without children, each with its name in JSON and, for fixed sizes, its length. */
export const LEAVES: readonly (readonly [type: DataType, name: string, length?: number])[] = [
  [new Null(), 'null'],
  [new Bool(), 'bool'],
  ...([8, 16, 32, 64] as const).flatMap((bits) => [
    [new Int(true, bits), `int${bits}`] as const,
    [new Int(false, bits), `uint${bits}`] as const,
  ]),
  [new Float(0), 'float16'],
  [new Float(1), 'float32'],
  [new Float(2), 'float64'],
  [new Utf8(), 'utf8'],
  [new LargeUtf8(), 'large_utf8'],
  [new Utf8View(), 'utf8_view'],
  [new Binary(), 'binary'],
  [new LargeBinary(), 'large_binary'],
  [new BinaryView(), 'binary_view'],
  [new FixedSizeBinary(16), 'fixed_size_binary', 16],
  [new Decimal(2, 9, 32), 'decimal32:9:2'],
  [new Decimal(-3, 18, 64), 'decimal64:18:-3'],
  [new Decimal(10, 38, 128), 'decimal128:38:10'],
  [new Decimal(0, 76, 256), 'decimal256:76:0'],
  [new Date_(0), 'date32'],
  [new Date_(1), 'date64'],
  [new Time(TimeUnit.SECOND, 32), 'time32:s'],
  [new Time(TimeUnit.MILLISECOND, 32), 'time32:ms'],
  [new Time(TimeUnit.MICROSECOND, 64), 'time64:us'],
  [new Time(TimeUnit.NANOSECOND, 64), 'time64:ns'],
  ...(['s', 'ms', 'us', 'ns'] as const).flatMap((unit, at) => [
    [new Duration(at), `duration:${unit}`] as const,
    [new Timestamp(at), `timestamp:${unit}`] as const,
    ...ZONES.map((zone) => [new Timestamp(at, zone), `timestamp:${unit}:${zone}`] as const),
  ]),
  [new Interval(0), 'interval:year_month'],
  [new Interval(1), 'interval:day_time'],
  [new Interval(2), 'interval:month_day_nano'],
];

const oddNames = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 8 }),
  fc.constantFrom('__proto__', 'constructor', 'toString', '', ' ', 'a.b', 'é', '\u0000', '"'),
);

const metadata = fc
  .array(fc.tuple(oddNames, fc.string({ unit: 'grapheme', maxLength: 8 })), { maxLength: 3 })
  .map((entries) => new Map(entries));

const leaf = fc.constantFrom(...LEAVES.map(([type]) => type));
const indices = fc.constantFrom(
  ...([8, 16, 32, 64] as const).flatMap((bits) => [new Int(true, bits), new Int(false, bits)]),
);

const { field } = fc.letrec<{ type: DataType; nested: DataType; field: Field }>((tie) => ({
  field: fc
    .tuple(oddNames, tie('type'), fc.boolean(), metadata)
    .map(([name, type, nullable, entries]) => new Field(name, type, nullable, entries)),
  nested: fc.oneof(
    { depthSize: 'small' },
    tie('field').map((child) => new List(child)),
    tie('field').map((child) => new LargeList(child)),
    fc.tuple(fc.nat(1000), tie('field')).map(([size, child]) => new FixedSizeList(size, child)),
    fc.array(tie('field'), { maxLength: 4 }).map((fields) => new Struct(fields)),
    fc
      .tuple(tie('field'), tie('field'), fc.boolean())
      .map(
        ([key, value, sorted]) =>
          new Map_(
            new Field('entries', new Struct([key.clone(), value.clone()]), false) as Field<Struct>,
            sorted,
          ),
      ),
    fc
      .tuple(
        fc.constantFrom(0, 1),
        fc.uniqueArray(fc.tuple(fc.nat(127), tie('field')), {
          maxLength: 4,
          selector: ([id]) => id,
        }),
      )
      .map(
        ([mode, members]) =>
          new Union(
            mode,
            members.map(([id]) => id),
            members.map(([, child]) => child),
          ),
      ),
  ),
  type: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    tie('nested'),
    fc
      .tuple(fc.oneof(leaf, tie('nested')), indices, fc.boolean())
      .map(([values, index, ordered]) => new Dictionary(values, index as never, null, ordered)),
  ),
}));

export const arbitraryField: fc.Arbitrary<Field> = field;
export const arbitrarySchema: fc.Arbitrary<Schema> = fc
  .tuple(fc.array(field, { maxLength: 5 }), metadata)
  .map(([fields, entries]) => new Schema(fields, entries));
