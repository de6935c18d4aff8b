/** Joining batches of many columns lets other work go on between them. */
import { Field, Int32, type RecordBatch, Schema } from 'apache-arrow';
import { expect, test } from 'vitest';
import { dataOf, recordBatch } from '../../src/arrow/arrow-data.ts';
import { rebatch } from '../../src/arrow/rebatch.ts';

const COLUMNS = 500;
const fields = Array.from({ length: COLUMNS }, (_, at) => new Field(`c${at}`, new Int32(), true));
const schema = new Schema(fields);

const batchAt = (first: number): RecordBatch =>
  recordBatch(
    schema,
    fields.map((_, column) =>
      dataOf(new Int32(), 2, { values: Int32Array.of(first + column, first + column + 1) }),
    ),
    2,
  );

test('a batch of many columns is joined in steps, and is the same', async () => {
  const parts = async function* () {
    for (let at = 0; at < 100; at++) yield batchAt(at);
  };
  let pauses = 0;
  const found: RecordBatch[] = [];
  const pause = (): Promise<void> => {
    pauses += 1;
    return Promise.resolve();
  };
  for await (const batch of rebatch(parts(), schema, { rows: 100 }, pause)) found.push(batch);
  expect(found.map(({ numRows }) => numRows)).toEqual([100, 100]);
  for (const column of [0, 7, COLUMNS - 1]) {
    const values = found.flatMap((batch) => [...(batch.getChildAt(column) ?? [])]);
    const expected = Array.from({ length: 100 }, (_, at) => [at + column, at + column + 1]).flat();
    expect(values).toEqual(expected);
  }
  // 50 parts of 500 columns, twice.
  expect(pauses).toBeGreaterThanOrEqual(10);
});
