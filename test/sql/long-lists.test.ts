/** Long IN lists: read in steps before they are bound, with the outcome of binding at once. */
import { afterEach, expect, test, vi } from 'vitest';
import {
  DateDay,
  Decimal,
  Field,
  Float64,
  Int32,
  Int64,
  Schema,
  TimestampMillisecond,
  tableFromArrays,
  Utf8,
} from '../../src/arrow/apache.ts';
import { systemEnv } from '../../src/env.ts';
import { bindExpression, bindPredicate, prepareLists } from '../../src/sql/bind/index.ts';
import { evaluateInSteps } from '../../src/sql/evaluate/index.ts';
import { compilePredicate } from '../../src/sql/expression.ts';
import { BatchFrame } from '../../src/sql/load/index.ts';
import { parseExpression } from '../../src/sql/parse/index.ts';
import { reader } from '../../src/sql/typed/index.ts';

const schema = new Schema([
  new Field('day', new DateDay()),
  new Field('price', new Decimal(2, 20, 128)),
  new Field('id', new Int64()),
  new Field('n', new Int32()),
  new Field('x', new Float64()),
  new Field('s', new Utf8()),
  new Field('t', new TimestampMillisecond()),
]);

const ITEMS = 5_000;
const listOf = (of: (at: number) => string): string =>
  Array.from({ length: ITEMS }, (_, at) => of(at)).join(',');
const day = (at: number): string => new Date(at * 86_400_000).toISOString().slice(0, 10);

const LISTS = [
  ['days', `day IN (${listOf((at) => `'${day(at)}'`)})`],
  ['decimals', `price IN (${listOf((at) => `${at}.25`)}, NULL)`],
  ['integers', `id NOT IN (${listOf((at) => String(at * 31))})`],
  ['row ids', `_rowid IN (${listOf((at) => String(at))})`],
  ['texts among others', `n = 1 AND (x > 2 OR s IN (${listOf((at) => `'t${at}'`)}))`],
  ['times', `NOT t IN (${listOf((at) => `'${day(at)} 10:00:00'`)})`],
  ['literals that are bound one by one', `n IN (${listOf((at) => String(at))}, 'x')`],
] as const;

afterEach(() => vi.restoreAllMocks());

test.each(LISTS.slice(0, -1))('%s are read in steps, once', (_, sql) => {
  const tree = parseExpression(sql);
  const plain = bindPredicate(parseExpression(sql), schema);
  let steps = 0;
  for (const _step of prepareLists(tree, schema)) steps += 1;
  expect(steps).toBeGreaterThanOrEqual(4);
  const bound = bindPredicate(tree, schema);
  expect(bound).toEqual(plain);
  const again = bindPredicate(tree, schema);
  expect(setIn(again)).toBe(setIn(bound));
  expect((setIn(bound) as Set<unknown>).size).toBe(ITEMS);
});

/** The values of the list somewhere in a tree. */
function setIn(bound: unknown): unknown {
  if (typeof bound !== 'object' || bound === null) return undefined;
  if ('values' in bound && bound.values instanceof Set) return bound.values;
  return Object.values(bound)
    .flat()
    .map(setIn)
    .find((found) => found !== undefined);
}

test('a list with something else in it is refused as it was', () => {
  const [, sql] = LISTS.at(-1) as (typeof LISTS)[number];
  const tree = parseExpression(sql);
  for (const _step of prepareLists(tree, schema));
  expect(() => bindPredicate(tree, schema)).toThrow(/'x'|int32/);
});

test('the event loop goes round while a long list is compiled', async () => {
  let now = 0;
  vi.spyOn(systemEnv, 'now').mockImplementation(() => (now += 10));
  let rounds = 0;
  let over = false;
  const count = (): void => {
    rounds += 1;
    if (!over) setImmediate(count);
  };
  setImmediate(count);
  const compiled = await compilePredicate(
    `price IN (${Array.from({ length: 40_000 }, (_, at) => `${at}.5`).join(',')})`,
    schema,
  );
  over = true;
  expect(compiled.columns).toEqual(['price']);
  expect(rounds).toBeGreaterThan(35);
});

/** Steps between which a value expression is evaluated, and what it gives. */
function evaluated(sql: string, rows: number): { steps: number; values: unknown[] } {
  const frame = new BatchFrame(
    tableFromArrays({ n: Int32Array.from({ length: rows }, (_, at) => at) }).batches[0] as never,
    {},
  );
  const evaluating = evaluateInSteps(
    bindExpression(parseExpression(sql), new Schema([new Field('n', new Int32())])),
    frame,
  );
  for (let steps = 0; ; steps++) {
    const { done, value } = evaluating.next();
    if (done !== true) continue;
    const read = reader(value);
    return { steps, values: Array.from({ length: rows }, (_, row) => read(row)) };
  }
}

const numbers = (count: number): string =>
  Array.from({ length: count }, (_, at) => String(at)).join(',');

test('a list of constants is made once for all rows', () => {
  const expected = Array.from({ length: 3_000 }, (_, at) => BigInt(at));
  const { steps, values } = evaluated(`[${numbers(3_000)}]`, 500);
  expect(values[0]).toEqual(expected);
  for (const value of values) expect(value).toBe(values[0]);
  // Fewer than lists for each of the rows would take.
  expect(steps).toBeLessThan((500 * 3_000) / (1 << 16));
});

test('long lists with values of the row are made in steps', () => {
  const { steps, values } = evaluated(`[n, ${numbers(3_000)}]`, 500);
  const few = evaluated(`[n, ${numbers(3_000)}]`, 20).steps;
  expect(values[7]).toEqual([7, ...Array.from({ length: 3_000 }, (_, at) => at)]);
  expect(steps).toBeGreaterThanOrEqual(few + 20);
});

test('the numbers of a long list are prepared for computed values in steps', () => {
  const values = `n + 1 IN (${Array.from({ length: 60_000 }, (_, at) => String(-at)).join(',')}, 3)`;
  const { steps, values: found } = evaluated(values, 4);
  expect(found).toEqual([false, false, true, false]);
  expect(steps).toBeGreaterThanOrEqual(7);
});
