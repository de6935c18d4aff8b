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
  Utf8,
} from '../../src/arrow/apache.ts';
import { systemEnv } from '../../src/env.ts';
import { bindPredicate, prepareLists } from '../../src/sql/bind/index.ts';
import { compilePredicate } from '../../src/sql/expression.ts';
import { parseExpression } from '../../src/sql/parse/index.ts';

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
