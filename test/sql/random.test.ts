/** Random conditions over random rows: against the naive interpreter, the format, the pruning. */
import { describe, expect, it } from 'vitest';
import { compilePredicate } from '../../src/sql/expression.ts';
import { formatExpression } from '../../src/sql/parse/format.ts';
import { parseExpression } from '../../src/sql/parse/index.ts';
import type { ColumnStatistics } from '../../src/sql/prune.ts';
import { casesOf } from '../helpers/long.ts';
import { interpret, type Plain, type Row } from '../helpers/naive-expression.ts';
import { randomCondition, randomRows, seededChoices } from '../helpers/random-expression.ts';
import { expectSame } from '../helpers/same.ts';

const seed = Number(process.env.EXPRESSION_SEED ?? 20240229);
const cases = Number(process.env.EXPRESSION_CASES ?? casesOf(500, 2000));

const withoutPlaces = (tree: unknown): string =>
  JSON.stringify(tree, (key, value: unknown) => (key === 'at' ? undefined : value));

describe(`random conditions (EXPRESSION_SEED=${seed})`, () => {
  it('have the value that the naive interpreter gives, row for row', async () => {
    const random = seededChoices(seed);
    const { schema, batch, rows } = randomRows(random, 150);
    for (let n = 0; n < cases; n++) {
      const sql = randomCondition(random, 3);
      const tree = await parseExpression(sql);
      const compiled = await compilePredicate(sql, schema);
      const vector = compiled.evaluate(batch);
      const expected = rows.map((row) => interpret(tree, row));
      const found = rows.map((_, i) => vector.get(i) as Plain);
      expectSame(found, expected, () => sql);
      const selected = expected.flatMap((value, i) => (value === true ? [i] : []));
      expectSame([...compiled.select(batch)], selected, () => sql);
      expect(compiled.count(batch), sql).toBe(selected.length);
    }
  });

  it('read back from their own SQL text as the same tree', async () => {
    const random = seededChoices(seed + 1);
    for (let n = 0; n < cases; n++) {
      const sql = randomCondition(random, 4);
      const tree = await parseExpression(sql);
      const text = formatExpression(tree);
      expect(withoutPlaces(await parseExpression(text)), `${sql} -> ${text}`).toBe(
        withoutPlaces(tree),
      );
    }
  });

  it('never prune a row that matches, nor keep one that does not where all should', async () => {
    const random = seededChoices(seed + 2);
    const decided = { none: 0, all: 0, some: 0 };
    for (let n = 0; n < cases; n++) {
      const { schema, batch, rows } = randomRows(
        random,
        1 + random.int(4),
        random.pick([0, 0, 0.3, 1]),
      );
      const sql = randomCondition(random, 2);
      const compiled = await compilePredicate(sql, schema);
      const matching = compiled.count(batch);
      const pruned = compiled.prune(([name = '']) => statistics(rows, name, random.next() < 0.8));
      decided[pruned]++;
      if (pruned === 'none') expect(matching, sql).toBe(0);
      if (pruned === 'all') expect(matching, sql).toBe(rows.length);
    }
    // The test says something only if the pruning does.
    expect(decided.none).toBeGreaterThan(cases / 20);
    expect(decided.all).toBeGreaterThan(cases / 40);
  });
});

function statistics(rows: readonly Row[], name: string, known: boolean): ColumnStatistics | null {
  if (!known || rows.length === 0) return null;
  const values = rows.map((row) => row[name] ?? null);
  const present = values.filter((value) => value !== null && !Number.isNaN(value)) as Exclude<
    Plain,
    null
  >[];
  const before = (a: Exclude<Plain, null>, b: Exclude<Plain, null>): boolean =>
    typeof a === 'string' ? Buffer.compare(Buffer.from(a), Buffer.from(String(b))) < 0 : a < b;
  let [min, max] = [present[0], present[0]];
  for (const value of present) {
    if (min !== undefined && before(value, min)) min = value;
    if (max !== undefined && before(max, value)) max = value;
  }
  return {
    rows: values.length,
    nulls: values.filter((value) => value === null).length,
    hasNaN: values.some((value) => Number.isNaN(value)),
    min,
    max,
  };
}
