/** Cutting and joining batches keeps every row, in order, within the limits. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Data,
  type DataType,
  DenseUnion,
  Field,
  Float64,
  Int32,
  LargeList,
  List,
  type RecordBatch,
  recordBatchStream,
  Schema,
  SparseUnion,
} from '../../src/arrow/apache.ts';
import {
  batchBytes,
  dataBytes,
  dataOf,
  recordBatch,
  sliceData,
} from '../../src/arrow/arrow-data.ts';
import { rebatch, splitBatch } from '../../src/arrow/rebatch.ts';
import { openDirectoryNamespace } from '../../src/directory/directory-namespace.ts';
import { everyType, exactValues, randomBatch } from '../helpers/arrow-samples.ts';
import { casesOf } from '../helpers/long.ts';
import { memoryFs } from '../helpers/memory-fs.ts';
import { expectSame } from '../helpers/same.ts';
import { seeded } from '../helpers/seeded.ts';

const schema = everyType();

const numbers = (length: number): Data =>
  dataOf(new Int32(), length, { values: new Int32Array(length) });

async function collect<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of stream) all.push(item);
  return all;
}

test('rows stay the same and limits hold', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat(60), { maxLength: 12 }),
      fc.integer({ min: 1, max: 50 }),
      fc.integer({ min: 3000, max: 60_000 }),
      fc.integer(),
      async (sizes, rows, bytes, seed) => {
        const random = seeded(seed);
        const batches = sizes.map((size) => randomBatch(schema, size + 3, random).slice(3));
        const out = await collect(
          rebatch(recordBatchStream(schema, batches), schema, { rows, bytes }),
        );
        expectSame(exactValues(out), exactValues(batches.filter((batch) => batch.numRows > 0)));
        for (const batch of out) {
          expect(batch.schema).toBe(schema);
          expect(batch.numRows).toBeGreaterThan(0);
          expect(batch.numRows).toBeLessThanOrEqual(rows);
          if (batch.numRows > 1) expect(batchBytes(batch)).toBeLessThanOrEqual(bytes * 1.5);
        }
      },
    ),
    { numRuns: casesOf(12, 30) },
  );
});

test('many tiny batches become few', async () => {
  const random = seeded(3);
  const batches = Array.from({ length: 50 }, () => randomBatch(schema, 2, random));
  // Of 41 rows the last one stays empty: no batch is cut in order to fill another.
  for (const rows of [40, 41]) {
    const out = await collect(rebatch(recordBatchStream(schema, batches), schema, { rows }));
    expect(out.map((batch) => batch.numRows)).toEqual([40, 40, 20]);
  }
});

describe('bytes of rows', () => {
  const ints = (count: number) => dataOf(new Int32(), count, { values: new Int32Array(count) });
  const item = new Field('item', new Int32(), false);

  test('of lists count offsets of their width', () => {
    const offsets = [0, 1, 3];
    const small = { offsets: Int32Array.from(offsets), children: [ints(3)] };
    const large = { offsets: BigInt64Array.from(offsets, BigInt), children: [ints(3)] };
    expect(dataBytes(dataOf(new List(item), 2, small))).toBe(3 * 4 + 12);
    expect(dataBytes(dataOf(new LargeList(item), 2, large))).toBe(3 * 8 + 12);
  });

  test('of unions count ids, offsets of dense ones, and the items that their rows have', () => {
    const fields = [item, new Field('wide', new Float64(), false)];
    const wide = (count: number) =>
      dataOf(new Float64(), count, { values: new Float64Array(count) });
    const typeIds = Int8Array.of(7, 3, 3, 7);
    const sparse = dataOf(new SparseUnion([7, 3], fields), 4, {
      typeIds,
      children: [ints(4), wide(4)],
    });
    expect(dataBytes(sparse)).toBe(4 + 4 * 4 + 4 * 8);
    const dense = dataOf(new DenseUnion([7, 3], fields), 4, {
      ...{ typeIds, offsets: Int32Array.of(0, 0, 1, 1), children: [ints(2), wide(2)] },
    });
    expect(dataBytes(dense)).toBe(4 * 5 + 2 * 4 + 2 * 8);
    expect(dataBytes(sliceData(dense, 2, 2))).toBe(2 * 5 + 4 + 8);
    expect(dataBytes(sliceData(dense, 1, 1))).toBe(5 + 8);
  });
});

test('a large batch is cut without copying', () => {
  const batch = randomBatch(schema, 100, seeded(4), 0);
  const parts = splitBatch(batch, 30);
  expect(parts.map((part) => part.numRows)).toEqual([30, 30, 30, 10]);
  const at = schema.fields.findIndex((field) => field.name === 'int64');
  for (const part of parts) {
    expect(part.data.children[at]?.values.buffer).toBe(batch.data.children[at]?.values.buffer);
  }
});

describe('a batch that does not fit the schema is refused, not joined by position', () => {
  const field = (name: string, type: DataType = new Int32()): Field => new Field(name, type, true);
  const two = new Schema([field('a'), field('b')]);
  const batchOf = (fields: Field[], length = 2): RecordBatch =>
    randomBatch(new Schema(fields), length, seeded(length));
  const [a, b] = two.fields as [Field, Field];
  const short = recordBatch(two, [numbers(2), numbers(1)], 2);

  test.each([
    ['with fewer columns', batchOf([a]), 'A batch of 1 columns does not fit a schema of 2'],
    ['with more columns', batchOf([a, b, field('c')]), 'of 3 columns'],
    ['in another order', batchOf([b, a]), '"b" in place of the column "a"'],
    ['of another type', batchOf([a, field('b', new Float64())]), 'is float64 in a batch and int32'],
    ['with columns of several lengths', short, '"b" has 1 values in a batch of 2 rows'],
  ])('%s', async (_, odd, message) => {
    const fit = batchOf([a, b]);
    for (const batches of [[odd], [fit, odd], [odd, fit]]) {
      const stream = recordBatchStream(two, batches);
      await expect(collect(rebatch(stream, two, {}))).rejects.toMatchObject({
        code: 'TableSchemaValidation',
        message: expect.stringContaining(message),
      });
    }
  });

  test('before it is merged into a table', async () => {
    const namespace = await openDirectoryNamespace({ root: '/c', fs: memoryFs() });
    const id = ['t'];
    await namespace.createTable({ id }, recordBatchStream(two, [batchOf([a, b])]));
    const odd = recordBatchStream(two, [batchOf([a, b]), batchOf([b, a])]);
    const request = { id, on: 'a', when_not_matched_insert_all: true };
    const merged = namespace.mergeInsertIntoTable(request, odd);
    await expect(merged).rejects.toMatchObject({ code: 'TableSchemaValidation' });
    await namespace.close();
  });
});
