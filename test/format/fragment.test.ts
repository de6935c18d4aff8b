/** Fragments: what is written is read back, by this package and by apache-arrow. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  Bool,
  type Data,
  type DataType,
  DenseUnion,
  Dictionary,
  Field,
  FixedSizeList,
  Int8,
  Int32,
  Int64,
  LargeUtf8,
  List,
  makeData,
  type RecordBatch,
  Schema,
  SparseUnion,
  Struct,
  tableFromIPC,
  Utf8,
  Utf8View,
  Vector,
  vectorFromArray,
} from '../../src/arrow/apache.ts';
import { dataOf } from '../../src/arrow/index.ts';
import { typesEqual } from '../../src/arrow/schema-equality.ts';
import { decodeColumn } from '../../src/format/fragment/column-reader.ts';
import {
  type ByteRange,
  columnRanges,
  decodeBatch,
  decodeDictionaries,
  decodeFragment,
  dictionaryIds,
  dictionaryRanges,
} from '../../src/format/fragment/fragment-decoder.ts';
import { encodeFragment, FragmentEncoder } from '../../src/format/fragment/fragment-encoder.ts';
import { chunkStatistics, decodeFooter } from '../../src/format/fragment/fragment-footer.ts';
import { plainColumn } from '../../src/format/fragment/plain-views.ts';
import { mergeStatistics } from '../../src/format/fragment/statistics.ts';
import { fieldIdsOf, stripFieldIds, withFieldIds } from '../../src/ipc/encode/field-ids.ts';
import {
  batchOf,
  everyType,
  exactValues,
  leafTypes,
  nestedTypes,
  randomBatch,
  randomData,
} from '../helpers/arrow-samples.ts';
import { casesOf } from '../helpers/long.ts';
import { expectSame } from '../helpers/same.ts';
import { seeded } from '../helpers/seeded.ts';

function roundTrip(schema: Schema, batches: readonly RecordBatch[]): readonly RecordBatch[] {
  const { bytes, summary } = encodeFragment(schema, batches);
  expect(bytes.length).toBe(summary.bytes);
  const decoded = decodeFragment(bytes, summary, 'f');
  expect(decoded.footer.rows).toBe(batches.reduce((rows, batch) => rows + batch.numRows, 0));
  const full = batches.filter((batch) => batch.numRows > 0);
  const expected = exactValues(full);
  expectSame(exactValues(decoded.batches), expected);
  if (schema.fields.length > 0) {
    const table = tableFromIPC(bytes);
    expect(table.numRows).toBe(decoded.footer.rows);
    expect(table.schema.fields.map(String)).toEqual(decoded.footer.schema.fields.map(String));
    if (full.length > 0) expectSame(exactValues(table.batches), expected);
  }
  return decoded.batches;
}

describe('round trip', () => {
  const schema = everyType();
  for (const [at, field] of schema.fields.entries()) {
    test(`a column of ${field.name}`, () => {
      const own = new Schema([field]);
      // On both sides of a byte of bits, and far from it: one type the ones, the next the others.
      const some = at % 2 === 0 ? [1, 8, 200] : [7, 9, 64];
      for (const rows of casesOf(some, [1, 7, 8, 9, 64, 200])) {
        const random = seeded(rows * 1000 + at);
        roundTrip(own, [randomBatch(own, rows, random)]);
        roundTrip(own, [randomBatch(own, rows, random, 0)]);
        roundTrip(own, [randomBatch(own, rows, random, 1)]);
        const batch = randomBatch(own, rows + 20, random);
        roundTrip(own, [batch.slice(3, rows + 3), batch.slice(8, rows + 9), batch.slice(0, 0)]);
      }
    });
  }

  test('all types together, dictionaries differing from batch to batch', () => {
    const random = seeded(5);
    const batches = [100, 3, 0, 40].map((rows) => randomBatch(schema, rows, random));
    roundTrip(schema, batches);
  });

  test('no batches, no rows, no columns', () => {
    expect(roundTrip(schema, [])).toEqual([]);
    expect(roundTrip(schema, [randomBatch(schema, 0, seeded(1))])).toEqual([]);
    const empty = new Schema([]);
    const [batch] = roundTrip(empty, [batchOf(empty, [], 17)]);
    expect(batch?.numRows).toBe(17);
  });

  test('random schemas and data', () => {
    const leaf = fc.constantFrom(...Object.values(leafTypes)).map((make) => make());
    const { type } = fc.letrec<{ type: DataType }>((tie) => ({
      type: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        leaf,
        fc
          .tuple(fc.constantFrom(...Object.values(nestedTypes)), tie('type'), tie('type'))
          .map(([make, a, b]) => make(a, b)),
      ),
    }));
    fc.assert(
      fc.property(
        fc.array(type, { minLength: 1, maxLength: 4 }),
        fc.array(fc.tuple(fc.nat(40), fc.nat(12)), { maxLength: 4 }),
        fc.integer(),
        (types, sizes, seed) => {
          const random = seeded(seed);
          const own = new Schema(types.map((each, at) => new Field(`c${at}`, each, true)));
          const batches = sizes.map(([rows, skip]) =>
            randomBatch(own, rows + skip, random).slice(skip),
          );
          roundTrip(own, batches);
        },
      ),
      { numRuns: casesOf(100, 300) },
    );
  });

  test('fields of empty names, wherever they stand', () => {
    const nameless = new Field('', new Int32(), true);
    const types = [
      new Int32(),
      new List(nameless),
      new Struct([nameless]),
      new SparseUnion([0, 1], [nameless, new Field('b', new Int32(), true)]),
      new Dictionary(new Struct([nameless]), new Int32()) as unknown as DataType,
    ];
    for (const type of types) {
      const schema = new Schema([new Field('', type, true)]);
      const { bytes, summary } = encodeFragment(schema, [randomBatch(schema, 4, seeded(1))]);
      const decoded = decodeFragment(bytes, summary, 'f');
      const [field] = decoded.footer.schema.fields;
      expect(field?.name).toBe('');
      expect(typesEqual(field?.type as DataType, type)).toBe(true);
    }
  });

  test('metadata of schema and fields survives', () => {
    const own = new Schema(
      [new Field('a', new Utf8(), true, new Map([['k', 'v']]))],
      new Map([['table', 'ä']]),
    );
    const { bytes, summary } = encodeFragment(own, [randomBatch(own, 3, seeded(1))]);
    const { footer } = decodeFragment(bytes, summary, 'f');
    expect(footer.schema.metadata).toEqual(new Map([['table', 'ä']]));
    expect(footer.schema.fields[0]?.metadata).toEqual(new Map([['k', 'v']]));
  });
});

describe('input that does not hold what it claims is refused by name', () => {
  const random = seeded(1);
  const make = (parts: object): Data => makeData({ nullCount: 0, ...parts } as never) as Data;
  const item = new Field('item', new Int32(), true);
  const int = (length: number, values = length): Data =>
    make({ type: new Int32(), length, data: new Int32Array(values) });
  const cases: Readonly<Record<string, () => Data>> = {
    'too few values': () => int(4, 3),
    'too few bits': () => make({ type: new Bool(), length: 17, data: new Uint8Array(2) }),
    'too short a validity bitmap': () =>
      make({
        type: new Int32(),
        length: 9,
        nullCount: 2,
        nullBitmap: new Uint8Array(1),
        data: new Int32Array(9),
      }),
    'too few offsets': () =>
      make({
        type: new Utf8(),
        length: 3,
        valueOffsets: Int32Array.of(0, 1, 2),
        data: new Uint8Array(9),
      }),
    'descending offsets': () =>
      make({
        type: new Utf8(),
        length: 3,
        valueOffsets: Int32Array.of(0, 3, 2, 4),
        data: new Uint8Array(9),
      }),
    'offsets past the values': () =>
      make({
        type: new Utf8(),
        length: 1,
        valueOffsets: Int32Array.of(0, 5),
        data: new Uint8Array(4),
      }),
    'negative offsets': () =>
      make({
        type: new Utf8(),
        length: 1,
        valueOffsets: Int32Array.of(-1, 2),
        data: new Uint8Array(4),
      }),
    'wide offsets past the values': () =>
      make({
        type: new LargeUtf8(),
        length: 1,
        valueOffsets: BigInt64Array.of(0n, 1n << 40n),
        data: new Uint8Array(4),
      }),
    'a list past its child': () =>
      make({ type: new List(item), length: 1, valueOffsets: Int32Array.of(0, 5), child: int(4) }),
    'a fixed size list with a short child': () =>
      make({ type: new FixedSizeList(3, item), length: 2, child: int(5) }),
    'a struct with a short child': () =>
      make({ type: new Struct([item]), length: 3, children: [int(2)] }),
    'a struct that lacks a child': () =>
      make({ type: new Struct([item]), length: 3, children: [] }),
    'an index past the dictionary': () =>
      make({
        type: new Dictionary(new Utf8(), new Int32()),
        length: 1,
        data: Int32Array.of(7),
        dictionary: new Vector([randomData(new Utf8(), 3, random)]),
      }),
    'an unknown type id': () =>
      make({
        type: new SparseUnion([1], [item]),
        length: 1,
        typeIds: Int8Array.of(2),
        children: [int(1)],
      }),
    'a dense union past its child': () =>
      make({
        type: new DenseUnion([1], [item]),
        length: 1,
        typeIds: Int8Array.of(1),
        valueOffsets: Int32Array.of(3),
        children: [int(1)],
      }),
    'a view past its buffers': () => {
      const views = new Uint8Array(16);
      views[0] = 200;
      return make({ type: new Utf8View(), length: 1, views, variadicBuffers: [new Uint8Array(9)] });
    },
  };

  const refusal = expect.objectContaining({
    code: 'TableSchemaValidation',
    message: expect.stringContaining('Column bad'),
  });

  test.each(Object.entries(cases))('%s', (_, column) => {
    const data = column();
    const own = new Schema([new Field('bad', data.type, true)]);
    expect(() => encodeFragment(own, [batchOf(own, [data])])).toThrow(refusal);
    // The same inside another column.
    const outer = new Schema([new Field('bad', new Struct([own.fields[0] as Field]), true)]);
    const struct = make({ type: outer.fields[0]?.type, length: data.length, children: [data] });
    expect(() => encodeFragment(outer, [batchOf(outer, [struct])])).toThrow(refusal);
  });

  test('views of more bytes than one buffer holds', () => {
    // All rows but the last, which is null, share one value: 2 GiB once each has its own.
    const rows = 2049;
    const size = 2 ** 20;
    const values = new Uint8Array(rows * 16);
    const words = new DataView(values.buffer);
    for (let row = 0; row < rows; row += 1) words.setInt32(row * 16, size, true);
    const validity = new Uint8Array(257).fill(255, 0, 256);
    const views = [new Uint8Array(size)];
    const data = dataOf(new Utf8View(), rows, { nullCount: 1, validity, values, views });
    const tooMany = expect.objectContaining({
      code: 'InvalidInput',
      message: expect.stringMatching(/Column bad .*more than 2147483647 bytes.*smaller record/),
    });
    const own = new Schema([new Field('bad', data.type, true)]);
    expect(() => encodeFragment(own, [batchOf(own, [data])])).toThrow(tooMany);
    expect(() => plainColumn(data, new Utf8(), 'bad')).toThrow(tooMany);
  });

  test('columns of unequal length', () => {
    const own = new Schema([
      new Field('good', new Int32(), true),
      new Field('bad', new Int32(), true),
    ]);
    expect(() => encodeFragment(own, [batchOf(own, [int(4), int(3)])])).toThrow(refusal);
  });

  test('another type, another name, another number of columns, nulls where none may be', () => {
    const own = new Schema([new Field('bad', new Int32(), false)]);
    const other = new Schema([new Field('bad', new Utf8(), false)]);
    const named = new Schema([new Field('good', new Int32(), false)]);
    const wider = new Schema([...own.fields, ...named.fields]);
    for (const wrong of [other, named]) {
      expect(() => encodeFragment(own, [randomBatch(wrong, 3, random)])).toThrow(refusal);
    }
    expect(() => encodeFragment(own, [randomBatch(wider, 3, random)])).toThrow(
      expect.objectContaining({ code: 'TableSchemaValidation' }),
    );
    const column = vectorFromArray([1, null], new Int32()).data[0] as Data;
    expect(() => encodeFragment(own, [batchOf(own, [column])])).toThrow(refusal);
  });

  test('more dictionary values than the index type tells apart', () => {
    const type = new Dictionary(new Utf8(), new Int8());
    const own = new Schema([new Field('bad', type, true)]);
    const batch = (prefix: string): RecordBatch => {
      const words = Array.from({ length: 100 }, (_, at) => `${prefix}${at}`);
      return batchOf(own, [vectorFromArray(words, type).data[0] as Data]);
    };
    expect(() => encodeFragment(own, [batch('a'), batch('a')])).not.toThrow();
    expect(() => encodeFragment(own, [batch('a'), batch('b')])).toThrow(refusal);
  });
});

describe('layout', () => {
  const schema = everyType();

  test('big buffers are not copied', () => {
    const own = new Schema([new Field('id', new Int64(), true)]);
    const values = new BigInt64Array(100_000);
    const column = make64(values);
    const encoder = new FragmentEncoder(own);
    encoder.begin();
    const pieces = encoder.batch(batchOf(own, [column]));
    expect(pieces.some((piece) => piece.buffer === values.buffer)).toBe(true);
  });

  test('columns are contiguous and aligned, and can be read alone', () => {
    const random = seeded(6);
    const batches = [randomBatch(schema, 50, random), randomBatch(schema, 20, random)];
    const { bytes, summary } = encodeFragment(schema, batches);
    const footer = decodeFooter(bytes.subarray(bytes.length - summary.footerBytes), summary, 'f');
    const values = exactValues(batches);
    for (const column of schema.fields.keys()) {
      const ids = dictionaryIds(footer, [column]);
      const at = ({ offset, length }: ByteRange): Uint8Array =>
        bytes.slice(offset, offset + length);
      const dictionaries = decodeDictionaries(footer, ids, dictionaryRanges(footer, ids).map(at));
      const read = footer.batches.map((_, batch) => {
        const ranges = columnRanges(footer, batch, [column]);
        expect((ranges[0]?.offset ?? 1) % 64).toBe(0);
        return decodeBatch(footer, batch, [column], ranges.map(at), dictionaries);
      });
      expect(exactValues(read)[0]).toEqual(values[column]);
      expect(read[0]?.schema.fields).toEqual([footer.schema.fields[column]]);
      const merged = summary.statistics[column];
      const parts = footer.batches.map((_, batch) => chunkStatistics(footer, batch, column));
      expect(parts.reduce(mergeStatistics)).toEqual(merged);
    }
  });

  test('a chunk at an odd address is read all the same', () => {
    const { bytes, summary } = encodeFragment(schema, [randomBatch(schema, 30, seeded(7))]);
    const shifted = new Uint8Array(bytes.length + 3).subarray(3);
    shifted.set(bytes);
    expect(exactValues(decodeFragment(shifted, summary, 'f').batches)).toEqual(
      exactValues(decodeFragment(bytes, summary, 'f').batches),
    );
  });

  test('field ids travel in the file, nested ones too, and not in the schema handed out', () => {
    const count = fieldIdsOf(schema.fields).length;
    const ids = Array.from({ length: count }, (_, at) => at * 3 + 1);
    const marked = withFieldIds(schema, ids);
    const { bytes, summary } = encodeFragment(marked, [randomBatch(schema, 5, seeded(8))]);
    const { footer } = decodeFragment(bytes, summary, 'f');
    expect(footer.fieldIds).toEqual(ids);
    expect(footer.schema.fields.every((field) => field.metadata.size === 0)).toBe(true);
    expect(tableFromIPC(bytes).schema.fields[0]?.metadata.get('dirspace.field_id')).toBe('1');
    expect(stripFieldIds(marked).fields.map(String)).toEqual(schema.fields.map(String));
    expect(() => withFieldIds(schema, ids.slice(1))).toThrow();
  });

  test('fragments of one schema share its parsed form', () => {
    const read = (seed: number): Schema => {
      const { bytes, summary } = encodeFragment(schema, [randomBatch(schema, 4, seeded(seed))]);
      return decodeFragment(bytes, summary, 'f').footer.schema;
    };
    expect(read(1)).toBe(read(2));
  });
});

const make64 = (values: BigInt64Array): Data =>
  makeData({ type: new Int64(), length: values.length, nullCount: 0, data: values }) as never;

test.each([3, 2 ** 32, 2 ** 53 - 1])('a layout of %i data buffers of views is refused', (count) => {
  const fail = (what: string): Error => new Error(`refused: ${what}`);
  const parts = { nodes: [1, 0], buffers: [0, 16], views: [count] };
  const column = new Uint8Array(64);
  expect(() => decodeColumn(new Utf8View(), parts, column, new Map(), fail)).toThrow(
    /refused: it has 2 buffers, and/,
  );
});
