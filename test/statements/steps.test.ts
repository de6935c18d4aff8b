/**
 * Statements let other work go on between their steps: each test counts the steps of one whose rows,
 * values or calls are many, and what takes long without a step fails it.
 */
import { expect, test, vi } from 'vitest';
import {
  Field,
  Int32,
  makeData,
  type RecordBatch,
  recordBatch,
  Schema,
  Utf8,
} from '../../src/arrow/index.ts';
import { systemEnv } from '../../src/env.ts';
import { RequestMemory } from '../../src/request-memory.ts';
import { parseExpression } from '../../src/sql/parse/index.ts';
import { openStatement, type TableSource } from '../../src/statements/index.ts';
import { rewritten, textOf } from '../../src/statements/steps/index.ts';
import { Turn } from '../../src/table/index.ts';

const ROWS = 100_000;
const BATCH = 50_000;
const schema = new Schema([new Field('k', new Int32(), true), new Field('t', new Utf8(), true)]);

/** Keys that all differ, in no order, and texts of ten bytes each. */
function batchFrom(first: number, rows: number): RecordBatch {
  const keys = Int32Array.from({ length: rows }, (_, at) => ((first + at) * 7919) % ROWS);
  const text = Buffer.from(Array.from(keys, (key) => `${key}`.padStart(10, '0')).join(''));
  const offsets = Int32Array.from({ length: rows + 1 }, (_, at) => at * 10);
  return recordBatch(
    schema,
    [
      makeData({ type: new Int32(), length: rows, data: keys }),
      makeData({ type: new Utf8(), length: rows, valueOffsets: offsets, data: text }),
    ],
    rows,
  );
}

const table: TableSource = {
  schema,
  rowCount: ROWS,
  async read({ columns }) {
    const asked = new Schema(schema.fields.filter(({ name }) => columns.includes(name)));
    return {
      schema: asked,
      async *[Symbol.asyncIterator]() {
        for (let first = 0; first < ROWS; first += BATCH) {
          const { data } = batchFrom(first, BATCH);
          const children = schema.fields.flatMap(({ name }, at) =>
            columns.includes(name) ? [data.children[at] as never] : [],
          );
          yield recordBatch(asked, children, BATCH);
        }
      },
    };
  },
  bounds: async () => [],
  count: async () => ROWS,
};

/** The rows of a statement, and how often it asked whether other work is to go on. */
async function stepsOf(sql: string): Promise<{ steps: number; rows: number }> {
  const statement = openStatement(sql, 0);
  const turn = new Turn(systemEnv);
  const asked = vi.spyOn(turn, 'isOver');
  const sources = statement.tables.map(() => table);
  const work = { memory: new RequestMemory(), turn, signal: undefined };
  let rows = 0;
  for await (const batch of statement.run(sources, work)) rows += batch.numRows;
  return { steps: asked.mock.calls.length, rows };
}

const sums = Array.from({ length: 200 }, (_, at) => `sum(k * ${at})`).join(', ');
const values = Array.from({ length: 2_000 }, (_, at) => `(${at}, '${at}')`).join(', ');

test.each([
  ['groups of many keys', 'SELECT k, count(*) FROM w GROUP BY k', ROWS, 38],
  ['distinct rows', 'SELECT DISTINCT k, t FROM w', ROWS, 30],
  ['many aggregates', `SELECT ${sums} FROM w`, 1, 1_750],
  ['rows of VALUES', `SELECT * FROM (VALUES ${values}) v`, 2_000, 4_000],
  ['texts in order', "SELECT string_agg(t, ',' ORDER BY t) FROM w", 1, 90],
  ['lists in order', 'SELECT array_agg(t ORDER BY k DESC) FROM w', 1, 70],
  ['lists of groups', 'SELECT k % 10, array_agg(t) FROM w GROUP BY k % 10', 10, 32],
  ['modes', 'SELECT mode(t) FROM w', 1, 18],
  ['sums in order', 'SELECT sum(k + 0.5e0 ORDER BY t) FROM w', 1, 60],
  ['shares of texts', 'SELECT quantile_disc(t, 0.5) FROM w', 1, 60],
  ['distances', 'SELECT levenshtein(t, t) FROM w', ROWS, 38],
  ['parts of texts', "SELECT string_split(translate(t, '0', ','), ',') FROM w", ROWS, 75],
  ['bounds of a query', 'SELECT k FROM w WHERE k >= ALL (SELECT k FROM w)', 1, 10],
  ['medians', 'SELECT median(k) FROM w', 1, 18],
  ['medians of groups', 'SELECT k, median(k) FROM w GROUP BY k', ROWS, ROWS],
  ['row numbers', 'SELECT row_number() OVER (PARTITION BY t ORDER BY k) FROM w', ROWS, 60],
  [
    'values of windows',
    'SELECT lag(t) OVER (ORDER BY k), sum(k) OVER (ORDER BY t) FROM w',
    ROWS,
    160,
  ],
  ['partitions', 'SELECT max(t) OVER (PARTITION BY k) FROM w', ROWS, 44],
  ['truths', 'SELECT k IN (SELECT k + 1 FROM w), t FROM w', ROWS, 14],
  ['joins', 'SELECT a.t FROM w a JOIN w b ON a.k = b.k', ROWS, 14],
])('%s take steps', async (_, sql, rows, steps) => {
  const found = await stepsOf(sql);
  expect(found.rows).toBe(rows);
  expect(found.steps).toBeGreaterThan(steps);
});

test('lists of literals are looked at once, and are the same list afterwards', () => {
  const list = Array.from({ length: 1_000 }, (_, at) => at).join(', ');
  const tree = parseExpression(`k IN (${list}) AND t = 'x'`);
  let looks = 0;
  const same = rewritten(tree, () => {
    looks++;
    return undefined;
  });
  expect(same).toBe(tree);
  expect(looks).toBeLessThan(10);
  expect(textOf(tree)).toBe(textOf(tree));
  const renamed = rewritten(tree, (part) =>
    part.kind === 'column' ? { ...part, path: [`${part.path[0]}2`] } : undefined,
  );
  expect(textOf(renamed)).toBe(`k2 IN (${list}) AND t2 = 'x'`);
  expect(textOf(tree)).toBe(`k IN (${list}) AND t = 'x'`);
});
