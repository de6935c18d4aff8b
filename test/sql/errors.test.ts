/** What is refused, and that the refusal says where, what and what to do. */
import { describe, expect, it } from 'vitest';
import { Field, Int64, Schema } from '../../src/arrow/apache.ts';
import { isDirspaceError } from '../../src/errors.ts';
import { FUNCTION_NAMES } from '../../src/sql/bind/bind-call.ts';
import { bindPredicate, bindTerms } from '../../src/sql/bind/index.ts';
import { otherFunction } from '../../src/sql/bind/other-functions.ts';
import { compileExpression, compilePredicate } from '../../src/sql/expression.ts';
import { AGGREGATES, WINDOW_FUNCTIONS } from '../../src/sql/parse/calls.ts';
import { type Expression, parseExpression } from '../../src/sql/parse/index.ts';
import { rows, schema, values } from '../helpers/expression-rows.ts';

async function refusal(
  work: Promise<unknown>,
): Promise<{ code: string; message: string; details: Readonly<Record<string, unknown>> }> {
  try {
    await work;
  } catch (error) {
    if (isDirspaceError(error)) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

const parsed = async (sql: string): Promise<unknown> => parseExpression(sql);

const REFUSED: readonly (readonly [sql: string, position: number | undefined, says: RegExp])[] = [
  ['', 1, /empty/],
  ['a b', 3, /syntax error at or near "b"/],
  ['i32 = ', 7, /syntax error at the end/],
  ['i32 = (1', 7, /never closed/],
  ['i32 = 1)', 8, /closes nothing/],
  ["s = 'abc", 5, /quote ' is never closed/],
  ['order = 1', 1, /needs quotes/],
  ['s = "a\'b"', 5, /text is written 'a''b'/],
  ['SELECT i32', 1, /not a statement: leave out SELECT/],
  ['where i32 = 1', 1, /not a statement: leave out WHERE/],
  ['i32 = 1; DROP TABLE t', 8, /';' is not part/],
  ['i32 = $1', 7, /Parameters are not supported/],
  ['i32 = ?', 7, /Parameters/],
  ['i32, id', 1, /A row of several values/],
  ['(i32, id) = 5', 13, /A row of 2 values is compared with a row, as in/],
  ['i32 = (SELECT 1)', 7, /A subquery is not supported/],
  ['EXISTS (SELECT 1)', 1, /subquery/],
  ['count(*) > 1', 1, /aggregate count/],
  ['sum(i32) OVER () > 1', 1, /window function/],
  ['i32 FROM t', 5, /syntax error/],
  ['i32 = 1 && i32 = 2', 9, /operator && is not supported; SQL has AND \(/],
  ['i32 === 1', 5, /operator === is not supported; SQL has = \(/],
  ["'é' = 's' AND i32 @> 1", 19, /operator @> is not supported/],
  ['now() > ts', 1, /function now is not known; write a literal, such as TIMESTAMP/],
  ['std(i32) > 1', 1, /function std is not known; write stddev\(x\) \(at/],
  ['group_concat(s) = 1', 1, /write string_agg\(x, ','\)/],
  ['nxw() > ts', 1, /function nxw is not known \(at/],
  ['ab(i32) > 1', 1, /did you mean abs\?/],
  ['bx = 1', 1, /did you mean b\?/],
  ['current_date > d', 1, /no clock/],
  ['i32 SIMILAR TO s', 16, /a pattern in single quotes/],
  ['CAST(i32 AS frob)', 13, /type frob is not known/],
  ['i32::frob', 6, /type frob is not known/],
  ['TRY_CAST(i32 AS decimal(99, 1))', 17, /1 <= p <= 38/],
  ["frob '1'", 1, /type frob is not known/],
  ["'😀' = 's' AND i32 @> 1", 19, /\(at position 19\)/],
  ["'😀😀' = frob", 8, /No field named frob.* \(at position 8\)/],
  ['CAST(s AS varchar(3))', 11, /no value is cut/],
  ["i32 = '1'", 7, /column i32 \(int32\) cannot be compared with '1' \(utf8\); write a CAST/],
  ['s = 1', 5, /column s \(utf8\)/],
  ['s + 1', 5, /texts are joined with \|\|/],
  ['i32', 1, /no condition/],
  ['length(i32) > 1', 8, /length takes text here, not column i32 \(int32\)/],
  ['lenght(s) = 1', 1, /did you mean length\?/],
  ['length(s, s) = 1', 1, /takes 1 argument, not 2/],
  ["ts > 'yesterday'", 6, /is no timestamp/],
  ["d = date '2020-13-01'", 10, /does not fit date32/],
  ['ts > tz', 4, /one has a time zone/],
  ["CASE WHEN b THEN 1 ELSE 'a' END = 1", 25, /no type in common/],
  ["s LIKE 'a\\'", 8, /ends in its escape/],
  ["s LIKE 'a' ESCAPE 'xy'", 3, /one character/],
  ["s LIKE 'a' ESCAPE NULL", 3, /one character/],
  ["regexp_like(s, '(a)\\1')", 16, /back-references/],
  ["regexp_like(s, '((a{100}){100}){100}')", 16, /automaton has more than 4096 states/],
  ["regexp_like(s, '(?=a)')", 16, /look-around/],
  ["regexp_like(s, '(')", 16, /refused/],
  ["date_trunc('dya', ts) = ts", 12, /takes one of/],
  ['nums < nums', 6, /no order/],
  ["X'0' = bin", 1, /two hexadecimal digits/],
  ['st.a.b = 1', 1, /no struct|No field named/],
  ['1e999 > x', 1, /out of range/],
  ['b + 1 = 2', 5, /operator \+ does not work on column b/],
  ["date_trunc('day', ts, 'UTC') = ts", 1, /date_trunc takes 2 arguments, not 3/],
  ["date_part('day', ts, 1) = 1", 1, /extract takes 2 arguments, not 3/],
  ["date_part('day') = 1", 1, /extract takes 2 arguments, not 1/],
  ["arrow_cast(i32, 'Int8', 1) = 1", 1, /arrow_cast takes a value and the name/],
  ["arrow_cast(ts, 'Timestamp(constructor, None)') = ts", 16, /type timestamp\(constructor/],
  ['concat_op(s) = s', 1, /\|\| takes 2 arguments, not 1/],
  ['"||"() = s', 1, /\|\| takes 2 arguments, not 0/],
  ['extract(year FROM t) = 1970', 1, /A time of day has no year; it has hour, minute/],
  ['CAST(s AS time(4)) = t', 11, /time\(p\) takes 0, 3, 6 or 9 digits/],
  ['CAST(s AS datetime(3, 4)) = ts', 11, /datetime\(p\) takes 0, 3, 6 or 9 digits/],
];

describe('an expression is refused', () => {
  it.each(REFUSED)('%s', async (sql, position, says) => {
    const error = await refusal(compilePredicate(sql, schema));
    expect(error.message).toMatch(says);
    expect(error.details.position).toBe(position);
    expect(['InvalidInput', 'TableColumnNotFound']).toContain(error.code);
  });

  it('with the nearest name where a column is not there', async () => {
    const error = await refusal(compilePredicate('mixedcaes = 1', schema));
    expect(error).toMatchObject({
      code: 'TableColumnNotFound',
      details: { position: 1, column: 'mixedcaes', nearest: 'MixedCase' },
    });
    expect(error.message).toContain('did you mean "MixedCase"?');
    const nested = await refusal(compilePredicate('st.inn.b = 1', schema));
    expect(nested.details).toMatchObject({ column: 'st.inn.b', nearest: 'st.in' });
  });

  it('where a name without case means two columns, but not where it is written exactly', async () => {
    const twins = new Schema(['Ab', 'aB'].map((name) => new Field(name, new Int64(), true)));
    const error = await refusal(compileExpression('ab', twins));
    expect(error.message).toContain('ambiguous: "Ab", "aB"');
    expect((await compileExpression('aB', twins)).columns).toEqual(['aB']);
    expect((await compileExpression('"Ab"', twins)).columns).toEqual(['Ab']);
  });
});

describe('a value is refused', () => {
  it.each([
    ['id + 1', /does not fit int64/],
    ['id * id', /does not fit int64/],
    ['u64 + 1', /does not fit uint64/],
    ['i32 / 0', /Division by zero/],
    ['i32 % (i32 - i32)', /Division by zero/],
    ['CAST(s AS int)', /'abc' does not fit int32; TRY_CAST/],
    ['CAST(i32 * 100 AS tinyint)', /does not fit int8/],
    ['id + 0.5', /a CAST says that loss is meant/],
    ['CAST(x AS int)', /NaN does not fit/],
  ])('%s', async (sql, says) => {
    const error = await refusal(values(sql));
    expect(error.code).toBe('InvalidInput');
    expect(error.message).toMatch(says);
  });

  it('but not in rows that a guard keeps out', async () => {
    expect(await rows('i32 > 0 AND 7 / (i32 + 5) >= 0')).toEqual([0, 3]);
  });
});

describe('the size of an expression is bounded', () => {
  const deep: readonly (readonly [string, (n: number) => string])[] = [
    ['parentheses', (n) => `${'('.repeat(n)}b${')'.repeat(n)}`],
    ['NOT', (n) => `${'NOT '.repeat(n)}b`],
    ['sums', (n) => `i32${' + i32'.repeat(n)} > 0`],
    ['signs', (n) => `${'- '.repeat(n)}i32 > 0`],
    ['CASE', (n) => `${'CASE WHEN b THEN '.repeat(n)}b${' END'.repeat(n)}`],
    ['calls', (n) => `${'abs('.repeat(n)}i32${')'.repeat(n)} > 0`],
    ['casts', (n) => `i32${'::int'.repeat(n)} > 0`],
    ['lists', (n) => `${'['.repeat(n)}${']'.repeat(n)} IS NULL`],
  ];

  it.each(deep)('%s: deep is refused, not deep is not', async (_, make) => {
    for (const levels of [600, 5_000, 50_000]) {
      expect((await refusal(parsed(make(levels)))).message).toMatch(
        /nested deeper than 500|longer than/,
      );
    }
    expect(parseExpression(make(200))).toBeDefined();
    await expect(
      compilePredicate(make(100), schema).catch((error: unknown) => error),
    ).resolves.not.toBeInstanceOf(RangeError);
  });

  it('flat conditions may be long, but not endless', async () => {
    const terms = (n: number): string =>
      Array.from({ length: n }, (_, i) => `i32 = ${i}`).join(' OR ');
    expect((await compilePredicate(terms(5_000), schema)).columns).toEqual(['i32']);
    expect((await refusal(compilePredicate(terms(50_000), schema))).message).toMatch(
      /more than 60000 parts/,
    );
    expect(
      (await refusal(compilePredicate(`s = '${'x'.repeat(1 << 20)}'`, schema))).message,
    ).toMatch(/longer than/);
  });

  it('long conditions of arithmetic are read, and lists are not counted', async () => {
    const terms = (n: number): string =>
      Array.from({ length: n }, (_, i) => `i32 + ${i} = 3`).join(' OR ');
    expect((await compilePredicate(terms(9_000), schema)).columns).toEqual(['i32']);
    expect((await refusal(compilePredicate(terms(11_000), schema))).message).toMatch(
      /more than 60000 parts; use IN/,
    );
    const list = Array.from({ length: 50_000 }, (_, i) => i).join();
    expect((await compilePredicate(`i32 + 1 IN (${list})`, schema)).columns).toEqual(['i32']);
  });

  it('other things go on between reading a long condition and binding it', async () => {
    const terms = Array.from({ length: 1_000 }, (_, i) => `i32 = ${i}`).join(' OR ');
    let rounds = 0;
    setImmediate(() => rounds++);
    await compilePredicate(`${terms} OR i32 = -1`, schema);
    expect(rounds).toBe(1);
  });

  it('and between many short expressions, and between the terms of a long condition', async () => {
    let rounds = 0;
    let going = true;
    const round = (): void => {
      rounds++;
      if (going) setImmediate(round);
    };
    setImmediate(round);
    for (let i = 0; i < 1_000; i++) {
      await compileExpression(`i32 * ${i} + x / 3 - CASE WHEN s = 'k' THEN 1 ELSE 2 END`, schema);
    }
    going = false;
    expect(rounds).toBeGreaterThan(5);
    for (const joint of ['AND', 'OR']) {
      const terms = Array.from({ length: 2_000 }, (_, i) => `i32 + x <> ${i}`).join(` ${joint} `);
      const tree = parseExpression(terms) as Extract<Expression, { kind: 'and' | 'or' }>;
      const steps = bindTerms(tree, schema);
      let breaks = 0;
      let step = steps.next();
      for (; step.done !== true; step = steps.next()) breaks++;
      expect(breaks).toBeGreaterThan(5);
      expect(step.value).toEqual(bindPredicate(tree, schema));
    }
  });

  it('a null among many items makes what is not there unknown, and what is there true', async () => {
    const list = Array.from({ length: 1_000 }, (_, i) => i + 7).join();
    expect(await rows(`i32 IN (${list}, NULL)`)).toEqual(await rows(`i32 IN (${list})`));
    expect(await rows(`i32 NOT IN (${list}, NULL)`)).toEqual([]);
    expect(await rows(`(i32 IN (${list}, NULL)) IS UNKNOWN`)).toEqual(
      await rows(`i32 IS NULL OR i32 NOT IN (${list})`),
    );
  });

  it('long lists of fractions mean what short ones do', async () => {
    const list = (value: string): string =>
      [value, ...Array.from({ length: 1_000 }, (_, i) => `${i + 100}.5`)].join();
    for (const value of ['7.0', '7', '7.5', '-0', '0.5', '1e0']) {
      for (const column of ['x', 'i32', 'id', 'f32', 'dec']) {
        const [long, short] = [`${column} IN (${list(value)})`, `${column} IN (${value}, 100.5)`];
        expect(await rows(long), long.slice(0, 30)).toEqual(await rows(short));
      }
    }
  });

  it('a list of 100,000 literals is read, looked up and given as row ids', async () => {
    const list = Array.from({ length: 100_000 }, (_, i) => i * 2).join(', ');
    expect(await rows(`i32 IN (${list})`)).toEqual([]);
    expect(await rows(`i32 NOT IN (${list})`)).toEqual([0, 1, 3]);
    const byId = await compilePredicate(`_rowid IN (${list}) AND i32 > 0`, schema);
    expect(byId.rowIdSet()?.values.length).toBe(100_000);
    expect(byId.rowIdSet()?.complete).toBe(false);
    const error = await refusal(compilePredicate(`i32 IN (${list}, 'x')`, schema));
    expect(error.details.position).toBe(`i32 IN (${list}, 'x')`.length - 3);
  });
});

it('functions that are here are not among those of other databases', () => {
  const known = [...FUNCTION_NAMES, ...AGGREGATES, ...WINDOW_FUNCTIONS];
  expect(known.filter((name) => otherFunction(name) !== undefined)).toEqual([]);
});
