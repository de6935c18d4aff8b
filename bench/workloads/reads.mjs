/** The reads of the bench: each runs on a table of either side, whose calls are the same. */
import { random } from './random.mjs';

export const ROWS = 1_000_000;
export const DIMENSION = 128;

const rowsOf = async (query) => (await query.toArrow()).numRows;

/** Sets of random offsets, told apart by the number of the sample. */
function offsetSets(count) {
  const pick = random(count);
  return Array.from({ length: 64 }, () => [
    ...new Set(Array.from({ length: count }, () => Math.floor(pick() * ROWS))),
  ]);
}

function take(count) {
  const sets = offsetSets(count);
  return (table, n) => rowsOf(table.takeOffsets(sets[n % 64]));
}

function nearest() {
  const next = random(11);
  const vectors = Array.from({ length: 16 }, () => Array.from({ length: DIMENSION }, () => next()));
  return (table, n) => rowsOf(table.vectorSearch(vectors[n % 16]).limit(10));
}

const filter = (sql) => (table) => rowsOf(table.query().where(sql));
/** Short calls are sampled in the state of a program that makes many of them. */
const SHORT = { samples: 200, warmups: 1_000, block: 50 };
const LONG = { samples: 11, warmups: 2 };

/** `table` is the name without the digits at its end. */
export const READS = [
  { name: 'scan of one column', goal: 20, ...LONG, run: (t) => rowsOf(t.query().select(['x'])) },
  { name: 'full scan to Arrow', goal: 5, ...LONG, run: (t) => rowsOf(t.query()) },
  { name: 'filter 1 %', goal: 4, ...LONG, run: filter('x > 0.99') },
  { name: 'filter 50 %', goal: 2.5, ...LONG, run: filter('x > 0.5') },
  {
    name: 'filter id between, 1,000 rows',
    goal: 15,
    ...LONG,
    run: filter('id BETWEEN 500000 AND 500999'),
  },
  { name: "filter category = 'k03'", goal: 2, ...LONG, run: filter("category = 'k03'") },
  { name: 'limit 10', goal: 15, ...SHORT, run: (t) => rowsOf(t.query().limit(10)) },
  {
    name: 'count with a filter on x',
    goal: 1.5,
    samples: 100,
    warmups: 20,
    block: 50,
    run: (t) => t.countRows('x > 0.99'),
  },
  {
    name: 'count with a filter on category',
    goal: 1.5,
    samples: 100,
    warmups: 20,
    block: 50,
    run: (t) => t.countRows("category = 'k03'"),
  },
  { name: 'take 1 random rows', goal: 20, ...SHORT, run: take(1) },
  { name: 'take 100 random rows', goal: 5, ...SHORT, run: take(100) },
  { name: 'take 10000 random rows', goal: 1.5, ...LONG, run: take(10_000) },
  {
    name: 'exact top 10 of 100,000 x 128',
    goal: 8,
    table: 'v',
    samples: 100,
    warmups: 20,
    block: 50,
    run: nearest(),
  },
].map((read) => ({ table: 'w', ...read }));
