/** Rows of large results as objects: the same as of small ones, made in steps. */
import { expect, test } from 'vitest';
import {
  type DataType,
  Field,
  type RecordBatch,
  Schema,
  Utf8,
  vectorFromArray,
} from '../../src/arrow/apache.ts';
import { recordBatch } from '../../src/arrow/arrow-data.ts';
import { readColumn } from '../../src/sdk/convert/read-column.ts';
import { batchRows, collectRows } from '../../src/sdk/convert/rows.ts';
import { everyType, randomData } from '../helpers/arrow-samples.ts';
import { seeded } from '../helpers/seeded.ts';

/** More than are made in one step. */
const ROWS = 4_200;

const batchOf = (type: DataType, rows: number): RecordBatch =>
  recordBatch(
    new Schema([new Field('value', type, true)]),
    [randomData(type, rows, seeded(11))],
    rows,
  );

const shown = (_: string, value: unknown): unknown =>
  typeof value === 'bigint' ? `${value}n` : value instanceof Map ? [...value] : value;

test.each(everyType().fields.map(({ name, type }) => [name, type] as const))(
  'rows of %s are the same in steps as at once',
  async (_, type) => {
    const batch = batchOf(type, ROWS);
    const rows = await collectRows([batch]);
    expect(rows.length).toBe(ROWS);
    const all = batchRows(batch);
    for (let row = 0; row < ROWS; row += row < 4_050 ? 101 : 1) {
      expect(JSON.stringify(rows[row], shown)).toBe(JSON.stringify(all[row], shown));
    }
  },
);

test('short texts are their own, however many come again', () => {
  const random = seeded(3);
  const short = (below: number): string =>
    String.fromCharCode(
      ...Array.from({ length: Math.floor(random() * 4) }, () => 97 + Math.floor(random() * below)),
    );
  for (const below of [2, 26]) {
    for (const more of ['', 'é']) {
      const texts = Array.from({ length: 6_000 }, (_, row) =>
        row % 7 === 0 ? null : short(below) + (row % 500 === 1 ? more : ''),
      );
      const [data] = vectorFromArray(texts, new Utf8()).data;
      expect(readColumn(data as never)).toEqual(texts);
    }
  }
});

test('the event loop goes on while rows are made', async () => {
  let turns = 0;
  let over = false;
  const next = (): void => {
    turns += 1;
    if (!over) setImmediate(next);
  };
  setImmediate(next);
  const batch = batchOf(new Utf8(), 65_536);
  await collectRows(Array.from({ length: 8 }, () => batch));
  over = true;
  expect(turns).toBeGreaterThan(2);
});
