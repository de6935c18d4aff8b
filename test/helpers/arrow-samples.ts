/**
 * Arrow data of every type for tests: made buffer by buffer from a seed, with what real data has
 * and builders never make: junk under nulls, offsets that do not begin at 0, unused children,
 * slices at odd positions. Also reads values back exactly, for comparing.
 */
import {
  Binary,
  BinaryView,
  Bool,
  type Data,
  type DataType,
  DateDay,
  DateMillisecond,
  Decimal,
  DenseUnion,
  Dictionary,
  DurationMicrosecond,
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
  IntervalDayTime,
  IntervalMonthDayNano,
  IntervalYearMonth,
  LargeBinary,
  LargeList,
  LargeUtf8,
  List,
  Map_,
  makeData,
  Null,
  RecordBatch,
  Schema,
  SparseUnion,
  Struct,
  TimeMicrosecond,
  TimeMillisecond,
  TimeNanosecond,
  TimeSecond,
  TimestampMicrosecond,
  TimestampMillisecond,
  TimestampNanosecond,
  TimestampSecond,
  Type,
  Uint8,
  Uint16,
  Uint32,
  Uint64,
  UnionMode,
  Utf8,
  Utf8View,
  Vector,
} from '../../src/arrow/apache.ts';

export { seeded } from './seeded.ts';

const nullable = (name: string, type: DataType): Field => new Field(name, type, true);

/** A maker of each type; nested ones are made around the types given. */
export const leafTypes: Readonly<Record<string, () => DataType>> = {
  null: () => new Null(),
  bool: () => new Bool(),
  int8: () => new Int8(),
  int16: () => new Int16(),
  int32: () => new Int32(),
  int64: () => new Int64(),
  uint8: () => new Uint8(),
  uint16: () => new Uint16(),
  uint32: () => new Uint32(),
  uint64: () => new Uint64(),
  float16: () => new Float16(),
  float32: () => new Float32(),
  float64: () => new Float64(),
  utf8: () => new Utf8(),
  large_utf8: () => new LargeUtf8(),
  utf8_view: () => new Utf8View(),
  binary: () => new Binary(),
  large_binary: () => new LargeBinary(),
  binary_view: () => new BinaryView(),
  fixed_size_binary: () => new FixedSizeBinary(5),
  decimal128: () => new Decimal(4, 30, 128),
  decimal256: () => new Decimal(4, 60, 256),
  date32: () => new DateDay(),
  date64: () => new DateMillisecond(),
  time32_s: () => new TimeSecond(),
  time32_ms: () => new TimeMillisecond(),
  time64_us: () => new TimeMicrosecond(),
  time64_ns: () => new TimeNanosecond(),
  timestamp_s: () => new TimestampSecond('UTC'),
  timestamp_ms: () => new TimestampMillisecond(),
  timestamp_us: () => new TimestampMicrosecond('Europe/Berlin'),
  timestamp_ns: () => new TimestampNanosecond(),
  duration: () => new DurationMicrosecond(),
  interval_ym: () => new IntervalYearMonth(),
  interval_dt: () => new IntervalDayTime(),
  interval_mdn: () => new IntervalMonthDayNano(),
  dictionary: () => new Dictionary(new Utf8(), new Int32()),
  dictionary_int8: () => new Dictionary(new Int64(), new Int8()),
};

export const nestedTypes: Readonly<Record<string, (a: DataType, b: DataType) => DataType>> = {
  list: (a) => new List(nullable('item', a)),
  large_list: (a) => new LargeList(nullable('item', a)),
  fixed_size_list: (a) => new FixedSizeList(3, nullable('item', a)),
  struct: (a, b) => new Struct([nullable('a', a), nullable('b', b)]),
  map: (_, b) =>
    new Map_(
      new Field(
        'entries',
        new Struct([new Field('key', new Utf8(), false), nullable('value', b)]),
        false,
      ) as Field<Struct>,
    ),
  dense_union: (a, b) => new DenseUnion([3, 7], [nullable('a', a), nullable('b', b)]),
  sparse_union: (a, b) => new SparseUnion([3, 7], [nullable('a', a), nullable('b', b)]),
  dictionary_of_list: (a) =>
    new Dictionary(new List(nullable('item', a)), new Int16()) as unknown as DataType,
};

const WORDS = ['', 'a', 'ab', 'Zoë', '日本', 'a longer text than fits into a view', '\u{1f600}'];

/** Random data of a type. `nulls` is the share of nulls, also below. */
export function randomData(
  type: DataType,
  length: number,
  random: () => number,
  nulls = 0.3,
): Data {
  const whole = (below: number): number => Math.floor(random() * below);
  const validity = nulls === 0 || random() < 0.2 ? undefined : new Uint8Array((length + 7) >> 3);
  let nullCount = 0;
  if (validity !== undefined) {
    for (let row = 0; row < length; row += 1) {
      if (random() < nulls) nullCount += 1;
      else validity[row >> 3] = (validity[row >> 3] as number) | (1 << (row & 7));
    }
  }
  const common = { type, length, nullCount, nullBitmap: nullCount > 0 ? validity : undefined };
  const make = (parts: object): Data => makeData({ ...common, ...parts } as never) as Data;
  const junk = (bytes: number): Uint8Array => Uint8Array.from({ length: bytes }, () => whole(256));

  switch (type.typeId) {
    case Type.Null:
      return makeData({ type: type as Null, length }) as unknown as Data;
    case Type.Bool:
      return make({ data: junk((length + 7) >> 3) });
    case Type.Utf8:
    case Type.LargeUtf8:
    case Type.Binary:
    case Type.LargeBinary: {
      const isText = type.typeId === Type.Utf8 || type.typeId === Type.LargeUtf8;
      const values = Array.from({ length: length + 1 }, () =>
        isText ? Buffer.from(WORDS[whole(WORDS.length)] as string) : Buffer.from(junk(whole(20))),
      );
      const ends: number[] = [];
      let at = 0;
      for (const value of values) {
        at += value.length;
        ends.push(at);
      }
      const large = type.typeId === Type.LargeUtf8 || type.typeId === Type.LargeBinary;
      const valueOffsets = large ? BigInt64Array.from(ends, BigInt) : Int32Array.from(ends, Number);
      return make({ data: new Uint8Array(Buffer.concat(values)), valueOffsets });
    }
    case Type.Utf8View:
    case Type.BinaryView: {
      const views = new Uint8Array(length * 16);
      const words = new DataView(views.buffer);
      const heap = [Buffer.alloc(7), Buffer.alloc(3)];
      for (let row = 0; row < length; row += 1) {
        const value = Buffer.from(WORDS[whole(WORDS.length)] as string);
        words.setInt32(row * 16, value.length, true);
        if (value.length <= 12) views.set(value, row * 16 + 4);
        else {
          const buffer = whole(2);
          views.set(value.subarray(0, 4), row * 16 + 4);
          words.setInt32(row * 16 + 8, buffer, true);
          words.setInt32(row * 16 + 12, (heap[buffer] as Buffer).length, true);
          heap[buffer] = Buffer.concat([heap[buffer] as Buffer, value]);
        }
      }
      return make({ views, variadicBuffers: heap.map((part) => new Uint8Array(part)) });
    }
    case Type.List:
    case Type.LargeList:
    case Type.Map: {
      const first = whole(3);
      const ends = [first];
      for (let row = 0; row < length; row += 1) ends.push((ends.at(-1) ?? 0) + whole(4));
      const child = randomData(
        (type.children[0] as Field).type,
        (ends.at(-1) ?? 0) + whole(3),
        random,
        type.typeId === Type.Map ? 0 : nulls,
      );
      const valueOffsets =
        type.typeId === Type.LargeList ? BigInt64Array.from(ends, BigInt) : Int32Array.from(ends);
      return make({ valueOffsets, child });
    }
    case Type.FixedSizeList: {
      const { listSize } = type as FixedSizeList;
      return make({
        child: randomData((type.children[0] as Field).type, length * listSize, random, nulls),
      });
    }
    case Type.Struct:
      return make({
        children: type.children.map((field: Field) =>
          randomData(field.type, length, random, field.nullable ? nulls : 0),
        ),
      });
    case Type.Union: {
      const { typeIds: known, mode } = type as DenseUnion;
      const typeIds = Int8Array.from({ length }, () => known[whole(known.length)] as number);
      const dense = mode === UnionMode.Dense;
      const counts = new Map<number, number>();
      const valueOffsets = Int32Array.from(typeIds, (id) => {
        const next = counts.get(id) ?? 0;
        counts.set(id, next + 1);
        return next;
      });
      const children = type.children.map((field: Field, at: number) =>
        randomData(
          field.type,
          dense ? (counts.get(known[at] as number) ?? 0) : length,
          random,
          nulls,
        ),
      );
      return makeData({
        type,
        length,
        typeIds,
        children,
        ...(dense ? { valueOffsets } : {}),
      } as never) as unknown as Data;
    }
    case Type.Dictionary: {
      const { dictionary, indices } = type as Dictionary;
      const size = 1 + whole(6);
      const values = new Vector([randomData(dictionary, size, random, nulls / 3)]);
      const data = new (indices.ArrayType as Int32ArrayConstructor)(length);
      for (let row = 0; row < length; row += 1) data[row] = whole(size);
      return make({ data, dictionary: values });
    }
    case Type.Float: {
      const bytes = type.ArrayType.BYTES_PER_ELEMENT as number;
      const specials = [0, -0, Number.NaN, Number.POSITIVE_INFINITY, 1.5];
      const data = new type.ArrayType(length);
      for (let row = 0; row < length; row += 1) {
        data[row] =
          bytes === 2
            ? ([0, 0x8000, 0x7c00, 0x3c00, 0x0001][whole(5)] as number)
            : random() < 0.5
              ? (specials[whole(5)] as number)
              : random() - 0.5;
      }
      return make({ data });
    }
    default: {
      const width = bytesPerValue(type);
      const array = type.ArrayType as unknown as { new (buffer: ArrayBuffer): unknown };
      const raw = junk(length * width);
      return make({ data: new array(raw.buffer as ArrayBuffer) });
    }
  }
}

function bytesPerValue(type: DataType): number {
  const each = (type.ArrayType as { BYTES_PER_ELEMENT?: number }).BYTES_PER_ELEMENT ?? 1;
  if (type.typeId === Type.FixedSizeBinary) return (type as FixedSizeBinary).byteWidth;
  if (type.typeId === Type.Decimal) return (type as Decimal).bitWidth / 8;
  if (type.typeId === Type.Interval) return [4, 8, 16][(type as IntervalDayTime).unit] as number;
  return each;
}

/** A value as plain JavaScript that loses nothing: bigints, hex for bytes, arrays for lists. */
export function exactValue(data: Data, row: number): unknown {
  const { type } = data;
  if (type.typeId === Type.Union) {
    const { mode, typeIds } = type as DenseUnion;
    const id = (data.typeIds as Int8Array)[row] as number;
    const child = data.children[typeIds.indexOf(id)] as Data;
    const at = mode === UnionMode.Dense ? (data.valueOffsets as Int32Array)[row] : row;
    return { id, value: exactValue(child, at as number) };
  }
  if (type.typeId === Type.Null) return null;
  if (data.nullCount > 0) {
    const bit = data.offset + row;
    if ((((data.nullBitmap[bit >> 3] as number) >> (bit & 7)) & 1) === 0) return null;
  }
  const values = data.values as ArrayLike<unknown> & Uint8Array;
  const range = (): [number, number] => [
    Number(data.valueOffsets[row]),
    Number(data.valueOffsets[row + 1]),
  ];
  const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
  const items = (begin: number, end: number): unknown[] =>
    Array.from({ length: end - begin }, (_, at) =>
      exactValue(data.children[0] as Data, begin + at),
    );
  switch (type.typeId) {
    case Type.Bool: {
      const bit = data.offset + row;
      return (((values[bit >> 3] as number) >> (bit & 7)) & 1) === 1;
    }
    case Type.Utf8:
    case Type.LargeUtf8:
    case Type.Binary:
    case Type.LargeBinary:
      return hex(values.subarray(...range()));
    case Type.Utf8View:
    case Type.BinaryView: {
      const words = new DataView(values.buffer, values.byteOffset + row * 16, 16);
      const size = words.getInt32(0, true);
      if (size <= 12) return hex(values.subarray(row * 16 + 4, row * 16 + 4 + size));
      const begin = words.getInt32(12, true);
      const buffer = data.variadicBuffers[words.getInt32(8, true)] as Uint8Array;
      return hex(buffer.subarray(begin, begin + size));
    }
    case Type.List:
    case Type.LargeList:
    case Type.Map:
      return items(...range());
    case Type.FixedSizeList: {
      const { listSize } = type as FixedSizeList;
      return items(row * listSize, (row + 1) * listSize);
    }
    case Type.Struct:
      return data.children.map((child) => exactValue(child, row));
    case Type.Dictionary: {
      let index = Number(values[row]);
      for (const chunk of (data.dictionary as Vector).data) {
        if (index < chunk.length) return exactValue(chunk, index);
        index -= chunk.length;
      }
      throw new RangeError('no such index');
    }
    case Type.Float:
      return Object.is(values[row], -0) ? '-0' : values[row];
    default: {
      const stride = data.stride;
      if (stride === 1) return values[row];
      const part = values.subarray(row * stride, (row + 1) * stride);
      return hex(new Uint8Array(part.buffer, part.byteOffset, part.byteLength));
    }
  }
}

export const exactColumn = (data: Data): unknown[] =>
  Array.from({ length: data.length }, (_, row) => exactValue(data, row));

/** All values of batches, column by column. */
export const exactValues = (batches: readonly RecordBatch[]): unknown[][] =>
  (batches[0]?.schema.fields ?? []).map((_, column) =>
    batches.flatMap((batch) => exactColumn(batch.data.children[column] as Data)),
  );

/** A batch of columns as they are. */
export function batchOf(schema: Schema, columns: readonly Data[], length?: number): RecordBatch {
  return new RecordBatch(
    schema,
    makeData({
      type: new Struct(schema.fields),
      length: length ?? columns[0]?.length ?? 0,
      nullCount: 0,
      children: [...columns],
    }),
  );
}

/** One column of each type, nested ones over text and numbers. */
export function everyType(): Schema {
  const nested = Object.entries(nestedTypes).flatMap(([name, make]) => [
    nullable(name, make(new Utf8(), new Int64())),
    nullable(`${name}_2`, make(new List(nullable('item', new Float32())), new Bool())),
    nullable(`${name}_3`, make(new Dictionary(new Utf8(), new Int32()), new Utf8View())),
  ]);
  return new Schema([
    ...Object.entries(leafTypes).map(([name, make]) => nullable(name, make())),
    ...nested,
  ]);
}

export function randomBatch(
  schema: Schema,
  rows: number,
  random: () => number,
  nulls = 0.3,
): RecordBatch {
  return batchOf(
    schema,
    schema.fields.map((field) => randomData(field.type, rows, random, field.nullable ? nulls : 0)),
    rows,
  );
}
