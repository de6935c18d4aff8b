/**
 * The reads of the bench: each runs on a table of either side, whose calls are the same. They answer
 * the Arrow table or the count that was read; `sql` asks DuckDB for the same.
 */
import { random } from './random.mjs';

export const ROWS = 1_000_000;
export const VECTORS = 100_000;
export const DIMENSION = 128;

/** Sets of random offsets, told apart by the number of the sample. */
function offsetSets(count, rows) {
  const pick = random(count);
  return Array.from({ length: 64 }, () => [
    ...new Set(Array.from({ length: count }, () => Math.floor(pick() * rows))),
  ]);
}

function take(count, rows) {
  const sets = offsetSets(Math.min(count, rows), rows);
  return {
    run: (table, n) => table.takeOffsets(sets[n % 64]).toArrow(),
    sql: (n) => `SELECT * FROM w WHERE id IN (${sets[n % 64].join(', ')})`,
  };
}

function nearest() {
  const next = random(11);
  const vectors = Array.from({ length: 16 }, () => Array.from({ length: DIMENSION }, () => next()));
  return (table, n) =>
    table
      .vectorSearch(vectors[n % 16])
      .limit(10)
      .toArrow();
}

const filter = (sql) => ({
  run: (table) => table.query().where(sql).toArrow(),
  sql: () => `SELECT * FROM w WHERE ${sql}`,
});
const count = (sql) => ({
  run: (table) => table.countRows(sql),
  sql: () => `SELECT count(*) FROM w WHERE ${sql}`,
  value: true,
});
/** Short calls are sampled in the state of a program that makes many of them. */
const SHORT = { samples: 200, warmups: 1_000, block: 50 };
const LONG = { samples: 11, warmups: 2 };
const COUNT = { samples: 100, warmups: 20, block: 50 };

/** The reads of a table of `rows`; `table` is its name without the digits at its end. */
export function readsOf(rows = ROWS) {
  const from = Math.floor(rows / 2);
  const between = `id BETWEEN ${from} AND ${from + 999}`;
  return [
    {
      name: 'scan of one column',
      goal: 20,
      ...LONG,
      run: (t) => t.query().select(['x']).toArrow(),
      sql: () => 'SELECT x FROM w',
    },
    {
      name: 'full scan to Arrow',
      goal: 5,
      ...LONG,
      run: (t) => t.query().toArrow(),
      sql: () => 'SELECT * FROM w',
    },
    { name: 'filter 1 %', goal: 4, ...LONG, ...filter('x > 0.99') },
    { name: 'filter 50 %', goal: 2.5, ...LONG, ...filter('x > 0.5') },
    { name: 'filter id between, 1,000 rows', goal: 15, ...LONG, ...filter(between) },
    { name: "filter category = 'k03'", goal: 2, ...LONG, ...filter("category = 'k03'") },
    {
      name: 'limit 10',
      goal: 15,
      ...SHORT,
      run: (t) => t.query().limit(10).toArrow(),
      sql: () => 'SELECT * FROM w LIMIT 10',
    },
    { name: 'count with a filter on x', goal: 1.5, ...COUNT, ...count('x > 0.99') },
    { name: 'count with a filter on category', goal: 1.5, ...COUNT, ...count("category = 'k03'") },
    { name: 'take 1 random rows', goal: 20, ...SHORT, ...take(1, rows) },
    { name: 'take 100 random rows', goal: 5, ...SHORT, ...take(100, rows) },
    { name: 'take 10000 random rows', goal: 1.5, ...LONG, ...take(10_000, rows) },
    {
      name: 'exact top 10 of 100,000 x 128',
      goal: 8,
      table: 'v',
      ...COUNT,
      run: nearest(),
    },
  ].map((read) => ({ table: 'w', ...read }));
}

/** The number of rows read, without a look at their values. */
export async function counted(read, table, n) {
  const answer = await read.run(table, n);
  return typeof answer === 'number' ? answer : answer.numRows;
}
