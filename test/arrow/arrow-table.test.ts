/** Tables and streams made without the public constructors are like those made with them. */
import { expect, test } from 'vitest';
import {
  Field,
  Int64,
  RecordBatch,
  recordBatchStream,
  Schema,
  Table,
} from '../../src/arrow/apache.ts';
import { arrowTable, dataOf, recordBatch } from '../../src/arrow/arrow-data.ts';

const schema = new Schema([new Field('a', new Int64(), true)], new Map([['key', 'value']]));
const column = (...values: bigint[]) =>
  dataOf(new Int64(), values.length, { values: BigInt64Array.from(values) });
const batch = (...values: bigint[]) => recordBatch(schema, [column(...values)], values.length);

test.each([[[]], [[batch(1n, 2n)]], [[batch(1n), batch(), batch(2n, 3n)]]])(
  'a table of batches, case %#',
  (batches) => {
    const made = arrowTable(schema, batches);
    const like = new Table(schema, batches);
    expect(made).toBeInstanceOf(Table);
    expect(made.constructor).toBe(Table);
    expect(made).toEqual(like);
    expect(made.nullCount).toBe(0);
    expect(made.numRows).toBe(like.numRows);
    expect([...(made.getChild('a') ?? [])]).toEqual([...(like.getChild('a') ?? [])]);
  },
);

test('parts of such a table are found by its offsets', () => {
  const made = arrowTable(schema, [batch(1n), batch(), batch(2n, 3n)]);
  expect([...(made.slice(1, 3).getChild('a') ?? [])]).toEqual([2n, 3n]);
});

test('a batch is what the public constructor makes', () => {
  const like = new RecordBatch(schema, batch(1n).data);
  expect(batch(1n)).toBeInstanceOf(RecordBatch);
  expect(batch(1n).toArray()).toEqual(like.toArray());
  expect(batch(1n).metadata).toEqual(like.metadata);
});

test('batches of another schema are refused as the public constructor refuses them', () => {
  const other = new Schema([new Field('b', new Int64(), true)]);
  expect(() => arrowTable(other, [batch(1n)])).toThrow(TypeError);
  const equal = new Schema(schema.fields, schema.metadata);
  expect(arrowTable(equal, [batch(1n)]).numRows).toBe(1);
});

test('a stream of batches at hand gives each in turn, to every reader anew', async () => {
  const stream = recordBatchStream(schema, [batch(1n), batch(2n)]);
  for (let time = 0; time < 2; time++) {
    const read: RecordBatch[] = [];
    for await (const one of stream) read.push(one);
    expect(read.map(({ numRows }) => numRows)).toEqual([1, 1]);
  }
  for await (const one of stream) {
    expect(one.numRows).toBe(1);
    break;
  }
  expect(stream.schema).toBe(schema);
});
