import * as arrow21 from 'apache-arrow';
import * as arrow15 from 'apache-arrow-15';
import * as arrow18 from 'apache-arrow-18';
import { describe, expect, it } from 'vitest';
import { describeType } from '../../src/arrow/index.ts';
import { isDirspaceError } from '../../src/errors.ts';
import { type DataInput, toRecordBatchStream } from '../../src/sdk/convert/data.ts';
import { makeArrowTable } from '../../src/sdk/convert/make-table.ts';
import { batchRows } from '../../src/sdk/convert/rows.ts';
import { toSchema } from '../../src/sdk/convert/schema-like.ts';
import { collectBatches, throughArrow } from '../helpers/batches.ts';

/** The part of apache-arrow that all releases share; their classes differ only by identity. */
type Arrow = typeof arrow21;
const RELEASES: [string, Arrow][] = [
  ['15', arrow15 as unknown as Arrow],
  ['18', arrow18 as unknown as Arrow],
  ['21', arrow21],
];

/** One column of every type the oldest release can write, as IPC bytes of ours. */
function everyType(a: Arrow): arrow21.Field[] {
  const item = (type: arrow21.DataType): arrow21.Field => new a.Field('item', type, true);
  const types: Record<string, arrow21.DataType> = {
    i8: new a.Int8(),
    u64: new a.Uint64(),
    f16: new a.Float16(),
    f32: new a.Float32(),
    f64: new a.Float64(),
    flag: new a.Bool(),
    text: new a.Utf8(),
    large: new a.LargeUtf8(),
    bytes: new a.Binary(),
    fixed: new a.FixedSizeBinary(2),
    day: new a.DateDay(),
    ms: new a.DateMillisecond(),
    time: new a.TimeNanosecond(),
    stamp: new a.TimestampMillisecond(),
    nanos: new a.TimestampNanosecond('UTC'),
    span: new a.DurationSecond(),
    months: new a.IntervalYearMonth(),
    days: new a.IntervalDayTime(),
    money: new a.Decimal(2, 20, 128),
    list: new a.List(item(new a.Int32())),
    vector: new a.FixedSizeList(2, item(new a.Float32())),
    struct: new a.Struct([item(new a.Utf8()), new a.Field('n', new a.Int32(), true)] as never),
    map: new a.Map_(
      new a.Field(
        'entries',
        new a.Struct([
          new a.Field('key', new a.Utf8()),
          new a.Field('value', new a.Int32(), true),
        ] as never),
      ) as never,
    ),
    code: new a.Dictionary(new a.Utf8(), new a.Int16()),
    nothing: new a.Null(),
  };
  return Object.entries(types).map(
    ([name, type]) => new a.Field(name, type, true, new Map([['of', name]])),
  );
}

const ROW = {
  i8: -5,
  u64: 2n ** 63n,
  f16: 0.5,
  f32: 1.5,
  f64: 0.1,
  flag: true,
  text: 'héllo',
  large: 'x',
  bytes: Uint8Array.of(1, 2),
  fixed: Uint8Array.of(3, 4),
  day: new Date('2024-02-29'),
  ms: new Date(-5),
  time: 7n,
  stamp: new Date(1_700_000_000_123),
  nanos: 1_700_000_000_123_456_789n,
  span: -9n,
  months: { months: 14 },
  days: { days: 1, milliseconds: 2 },
  money: '-12.34',
  list: [1, null, 3],
  vector: Float32Array.of(1, 2),
  struct: { item: 'a', n: null },
  map: new Map([['k', 1]]),
  code: 'red',
  nothing: null,
};
const EMPTY = Object.fromEntries(Object.keys(ROW).map((name) => [name, null]));
const ROWS = [ROW, EMPTY, { ...ROW, text: '', flag: false, list: [], code: 'blue' }, ROW];

const ours = await toRecordBatchStream(ROWS, {
  schema: new arrow21.Schema(everyType(arrow21)),
  batchRows: 3,
});
const bytes = arrow21.tableToIPC(
  new arrow21.Table(ours.schema, await collectBatches(ours)),
  'stream',
);

describe.each(RELEASES)('objects of apache-arrow %s', (_, a) => {
  const table = a.tableFromIPC(bytes);

  it('are tables of every type', async () => {
    expect(await throughArrow(table)).toStrictEqual(ROWS);
  });

  it('become objects of our own copy', async () => {
    const stream = await toRecordBatchStream(table);
    expect(stream.schema).toBeInstanceOf(arrow21.Schema);
    const [batch] = await collectBatches(stream);
    expect(Object.getPrototypeOf(batch)).toBe(arrow21.RecordBatch.prototype);
    for (const child of batch?.data.children ?? []) {
      expect(Object.getPrototypeOf(child)).toBe(arrow21.Data.prototype);
      expect(child.type).toBeInstanceOf(arrow21.DataType);
    }
    // The writer of our copy takes them.
    const again = arrow21.tableToIPC(new arrow21.Table(stream.schema, batch), 'stream');
    expect(arrow21.tableFromIPC(again).batches.flatMap(batchRows)).toStrictEqual(ROWS.slice(0, 3));
  });

  it('are sliced tables, from any row', async () => {
    for (const [from, to] of [
      [1, 3],
      [2, 4],
      [3, 4],
      [0, 1],
    ] as const) {
      expect(await throughArrow(table.slice(from, to))).toStrictEqual(ROWS.slice(from, to));
    }
  });

  it('are sliced batches with bits not at byte borders', async () => {
    const rows = Array.from({ length: 40 }, (_, i) => ({ b: i % 3 === 0, n: i % 5 ? i : null }));
    const source = await toRecordBatchStream(rows);
    const ipc = arrow21.tableToIPC(
      new arrow21.Table(source.schema, await collectBatches(source)),
      'stream',
    );
    const [batch] = a.tableFromIPC(ipc).batches;
    expect(await throughArrow(batch?.slice(11, 37) as never)).toStrictEqual(rows.slice(11, 37));
  });

  it('are batches, arrays of them, and vectors', async () => {
    expect(await throughArrow(table.batches[0] as never)).toStrictEqual(ROWS.slice(0, 3));
    expect(await throughArrow(table.batches as never)).toStrictEqual(ROWS);
    const vectors = { text: table.getChild('text'), list: table.getChild('list') };
    expect(await throughArrow(vectors as never)).toStrictEqual(
      ROWS.map(({ text, list }) => ({ text, list })),
    );
  });

  it('are readers', async () => {
    expect(await throughArrow(a.RecordBatchReader.from(bytes) as never)).toStrictEqual(ROWS);
    const reader = await a.RecordBatchReader.from(
      (async function* () {
        yield bytes;
      })(),
    );
    expect(await throughArrow(reader as unknown as DataInput)).toStrictEqual(ROWS);
  });

  it('are what its own builders make', async () => {
    const columns = {
      whole: a.vectorFromArray([1, 2, null], new a.Int32()),
      none: a.vectorFromArray([null, null, null], new a.Bool()),
      last: a.vectorFromArray([true, null, null], new a.Bool()),
      words: a.vectorFromArray(['x', 'y', 'x']),
      vector: a.vectorFromArray(
        [[1, 2], null, null],
        new a.FixedSizeList(2, new a.Field('item', new a.Float32(), true)),
      ),
    };
    expect(await throughArrow(new a.Table(columns) as never)).toStrictEqual([
      { whole: 1, none: null, last: true, words: 'x', vector: Float32Array.of(1, 2) },
      { whole: 2, none: null, last: null, words: 'y', vector: null },
      { whole: null, none: null, last: null, words: 'x', vector: null },
    ]);
  });

  it('share buffers with what is made of them', async () => {
    const values = Float64Array.of(1, 2, 3);
    const [batch] = await collectBatches(
      await toRecordBatchStream(a.tableFromArrays({ values }) as never),
    );
    expect(batch?.data.children[0]?.values.buffer).toBe(values.buffer);
  });

  it('are schemas, with all types, nullability and metadata', async () => {
    const foreign = new a.Schema(
      [...everyType(a), new a.Field('must', new a.Int32(), false)],
      new Map([['k', 'v']]),
    );
    const schema = toSchema(foreign as never);
    expect(schema).toBeInstanceOf(arrow21.Schema);
    expect(schema.metadata).toEqual(new Map([['k', 'v']]));
    const expected = [...everyType(arrow21), new arrow21.Field('must', new arrow21.Int32(), false)];
    expect(
      schema.fields.map((f) => [f.name, describeType(f.type), f.nullable, [...f.metadata]]),
    ).toEqual(expected.map((f) => [f.name, describeType(f.type), f.nullable, [...f.metadata]]));
    expect(await throughArrow([{ ...ROW, must: 1 }], { schema: foreign as never })).toStrictEqual([
      { ...ROW, must: 1 },
    ]);
  });

  it('may be vector types in options', async () => {
    const vectorColumns = { v: { type: new a.Float64() } };
    const stream = await toRecordBatchStream([{ v: [1, 2] }], {
      vectorColumns: vectorColumns as never,
    });
    expect(describeType(stream.schema.fields[0]?.type as never)).toBe(
      'fixed_size_list<float64>[2]',
    );
  });

  it('keep one dictionary for all batches', async () => {
    const batches = await collectBatches(await toRecordBatchStream(table));
    const [first, second] = batches.map(
      (b) => b.data.children.find((c) => c.dictionary)?.dictionary,
    );
    expect(first?.data[0]).toBe(second?.data[0]);
  });
});

describe('Arrow objects that cannot be taken', () => {
  const schemaWith = (type: object): object => ({
    fields: [{ name: 'c', type, nullable: true, metadata: new Map() }],
    metadata: new Map(),
  });
  const batchWith = (data: object): object => ({
    schema: schemaWith(new arrow21.Int32()),
    data: { type: new arrow21.Struct([]), length: 4, offset: 0, nullCount: 0, children: [data] },
  });
  const column = { type: new arrow21.Int32(), length: 4, offset: 0, nullCount: 0 };
  const outcome = async (data: object): Promise<unknown> =>
    throughArrow(data as DataInput).catch((error: unknown) => error);

  it.each([
    ['of an unknown type', { typeId: 99 }],
    ['of no type', { typeId: 0 }],
    ['of a list without items', { typeId: 12 }],
    ['of a number without width', { typeId: 2, isSigned: true }],
  ])('are schemas %s', (_, type) => {
    expect(() => toSchema(schemaWith(type) as never)).toThrow(/is not known here/);
  });

  it.each([
    ['too short values', { ...column, values: new Int32Array(3) }, /cut short/],
    ['no values', column, /cut short/],
    [
      'too short a bitmap',
      {
        ...column,
        nullCount: 1,
        length: 4,
        offset: 9,
        values: new Int32Array(4),
        nullBitmap: new Uint8Array(1),
      },
      /bitmap/,
    ],
    [
      'no dictionary',
      {
        ...column,
        type: new arrow21.Dictionary(new arrow21.Utf8(), new arrow21.Int8()),
        values: new Int8Array(4),
      },
      /dictionary/,
    ],
    [
      'offsets beyond the bytes',
      {
        ...column,
        type: new arrow21.Utf8(),
        valueOffsets: Int32Array.of(0, 1, 2, 3, 9),
        values: new Uint8Array(3),
      },
      /cut short/,
    ],
  ])('are batches with %s', async (_, data, message) => {
    const error = await outcome(batchWith(data));
    expect(isDirspaceError(error, 'InvalidInput')).toBe(true);
    expect(String(error)).toMatch(message);
  });

  it('are vectors without column names', async () => {
    const error = await outcome(arrow21.vectorFromArray([1, 2], new arrow21.Int32()));
    expect(String(error)).toMatch(/no column names/);
  });
});

it.each(RELEASES)('makeArrowTable takes types of vectors of release %s', (_, a) => {
  const type = new a.Float64();
  const made = makeArrowTable([{ v: [1, 2] }], { vectorColumns: { v: { type: type as never } } });
  const read = arrow21.tableFromIPC(arrow21.tableToIPC(made));
  expect(String(read.schema.fields[0]?.type)).toBe('FixedSizeList[2]<Float64>');
  expect(read.toArray().map((row) => row.v.toJSON())).toEqual([[1, 2]]);
});
