/** Joins that repeat wide rows end their batches by bytes. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Connection } from '../../src/sdk/connection.ts';
import { statementCatalog } from './catalog.ts';

const MIB = 1 << 20;
let db: Connection;

beforeAll(async () => {
  ({ db } = await statementCatalog());
  await addTables(db);
});
afterAll(() => db.close());

async function addTables(db: Connection): Promise<void> {
  const of = (count: number, make: (at: number) => Record<string, unknown>) =>
    Array.from({ length: count }, (_, at) => make(at));
  await db.createTable(
    'wide',
    of(3, (at) => ({ k: at, text: at === 1 ? 'x'.repeat(MIB) : `short ${at}` })),
  );
  await db.createTable(
    'many',
    of(60, (at) => ({ k: at % 3, n: at })),
  );
}

async function batchesOf(sql: string): Promise<{ rows: number[]; texts: number }> {
  const rows: number[] = [];
  let texts = 0;
  for await (const batch of db.sql(sql)) {
    rows.push(batch.numRows);
    const at = batch.schema.fields.findIndex(({ name }) => name === 'text');
    const column = batch.getChildAt(at);
    let bytes = 0;
    for (let row = 0; row < batch.numRows; row++) bytes += (column?.get(row) ?? '').length;
    expect(bytes).toBeLessThanOrEqual(9 * MIB);
    texts += bytes;
  }
  return { rows, texts };
}

describe('batches of pairs', () => {
  test.each([
    ['the kept side has the wide rows', 'many m JOIN wide w ON w.k = m.k', 60],
    ['the streamed side has them', 'wide w LEFT JOIN many m ON w.k = m.k', 60],
    ['without an equation', 'wide w, many m', 180],
    ['a full join', 'wide w FULL JOIN many m ON w.k = m.k', 60],
  ])('have 9 MiB at most: %s', async (_, from, count) => {
    const { rows, texts } = await batchesOf(`SELECT n, text FROM ${from}`);
    expect(rows.reduce((sum, one) => sum + one, 0)).toBe(count);
    expect(texts).toBeGreaterThan(20 * MIB);
    expect(rows.length).toBeGreaterThan(2);
  });

  test('narrow rows stay together', async () => {
    const { rows } = await batchesOf(
      "SELECT n, text FROM many m JOIN (SELECT k, 'x' AS text FROM wide) w ON w.k = m.k",
    );
    expect(rows).toEqual([60]);
  });
});

test('the first of them in an order are picked before all of them are in memory', async () => {
  const small = (await statementCatalog({ requestMemory: 200 * MIB })).db;
  await addTables(small);
  const pairs = 'FROM wide w JOIN many m ON w.k = m.k, (SELECT n AS turn FROM many WHERE n < 12) t';
  // 240 pairs have a text of 1 MiB.
  const first = await small
    .sql(`SELECT n, turn, text ${pairs} WHERE w.k = 1 ORDER BY turn, n LIMIT 2`)
    .toArray();
  expect(first.map(({ n, turn, text }) => [n, turn, text.length])).toEqual([
    [1, 0, MIB],
    [4, 0, MIB],
  ]);
  await expect(
    small.sql(`SELECT n, turn, text ${pairs} ORDER BY turn, n LIMIT 400`).toArray(),
  ).rejects.toThrow('requestMemory');
  await small.close();
});

test('the text that string_agg makes counts against the memory of a request', async () => {
  const small = (await statementCatalog({ requestMemory: 64 * MIB })).db;
  const between = 'z'.repeat(MIB >> 1);
  const sql = `SELECT string_agg(CAST(n AS text), '${between}') AS t FROM generate_series(1, 200) s(n)`;
  await expect(small.sql(sql).toArray()).rejects.toThrow('The values of string_agg(..)');
  await small.close();
});
