/** Vectors, texts and blobs of columns that are slices of longer ones: each row is that of the slice. */
import { expect, test } from 'vitest';
import {
  Binary,
  BLOB_METADATA,
  columnsOf,
  type Data,
  type DataType,
  Field,
  FixedSizeList,
  Float32,
  getBit,
  LargeUtf8,
  List,
  recordBatch,
  recordBatchStream,
  Schema,
  Struct,
  Utf8,
  vectorFromArray,
} from '../../../src/arrow/index.ts';
import { describedBlobs } from '../../../src/directory/operations/reads/blob-descriptions.ts';
import { TextReader } from '../../../src/table/query/text-column.ts';
import { vectorsOf } from '../../../src/table/query/vector-column.ts';

const sliceOf = (values: readonly unknown[], type: DataType, from: number, rows: number): Data =>
  (vectorFromArray(values as unknown[], type).data[0] as Data).slice(from, rows);

const item = (type: DataType): Field => new Field('item', type, true);

/** The vectors that match something, as the kernels see them; undefined for the others. */
function read(data: Data, dimension: number): (readonly number[] | undefined)[] {
  const { values, rows, validity, validityOffset = 0 } = vectorsOf(data, data.length, dimension);
  return Array.from({ length: rows }, (_, row) =>
    validity === undefined || getBit(validity, validityOffset + row)
      ? Array.from(values.subarray(row * dimension, (row + 1) * dimension))
      : undefined,
  );
}

test.each([
  [
    'no nulls',
    [
      [0, 1],
      [2, 3],
      [4, 5],
      [6, 7],
      [8, 9],
    ],
  ],
  ['null vectors', [[0, 1], null, [4, 5], null, [8, 9]]],
  [
    'vectors with a null',
    [
      [0, 1],
      [2, null],
      [4, 5],
      [6, 7],
      [null, 9],
    ],
  ],
  ['both', [null, [2, null], [4, 5], null, [8, 9]]],
])('vectors of a slice, %s', (_, values) => {
  const type = new FixedSizeList(2, item(new Float32()));
  const wanted = values.map((each) =>
    each === null || each.includes(null) ? undefined : (each as number[]),
  );
  for (let from = 0; from < values.length; from++) {
    for (let rows = 1; from + rows <= values.length; rows++) {
      const found = read(sliceOf(values, type, from, rows), 2);
      expect(found).toEqual(wanted.slice(from, from + rows));
    }
  }
});

const texts = ['a', null, 'bcd', '', 'efghi'];
const lists = [['a', 'bc'], null, ['d', null], [], ['efg', 'h']];
const pairs = [['a', 'bc'], null, ['d', null], ['', 'x'], ['efg', 'h']];

test.each([
  ['utf8', texts, new Utf8()],
  ['large_utf8', texts, new LargeUtf8()],
  ['lists', lists, new List(item(new Utf8()))],
  ['lists of a fixed size', pairs, new FixedSizeList(2, item(new LargeUtf8()))],
] as const)('texts of a slice, %s', (_, values, type) => {
  const wanted = (values as readonly (string | null | readonly (string | null)[])[]).map((each) =>
    [each].flat().filter((text) => text !== null),
  );
  for (let from = 0; from < values.length; from++) {
    const reader = new TextReader(sliceOf(values, type, from, values.length - from));
    const found = wanted.slice(from).map((_, row) =>
      Array.from({ length: reader.textsOf(row) }, (_, at) => {
        const [begin, end] = reader.ranges.slice(2 * at);
        return Buffer.from(reader.bytes.subarray(begin, end)).toString();
      }),
    );
    expect(found).toEqual(wanted.slice(from));
  }
});

test('descriptions of blobs of a slice', async () => {
  const type = new Struct([
    new Field('data', new Binary(), true),
    new Field('uri', new Utf8(), true),
  ]);
  const values = [1, 2, 3, 4].map((size) => ({ data: new Uint8Array(size), uri: null }));
  const schema = new Schema([new Field('blob', type, true, new Map(BLOB_METADATA))]);
  const batch = recordBatch(schema, [sliceOf(values, type, 1, 2)], 2);
  async function* batches() {
    yield batch;
  }
  for await (const described of describedBlobs(recordBatchStream(schema, batches()))) {
    const sizes = columnsOf(described)[0]?.children[2]?.values;
    expect([...(sizes as unknown as BigUint64Array)]).toEqual([2n, 3n]);
  }
});
