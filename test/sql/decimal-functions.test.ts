/** Functions of decimals, against what PostgreSQL 15 answers for numeric(8,2). */
import { describe, expect, it } from 'vitest';
import {
  Decimal,
  Field,
  makeData,
  makeVector,
  Schema,
  type Vector,
} from '../../src/arrow/apache.ts';
import { compileExpression, compilePredicate } from '../../src/sql/expression.ts';
import { values } from '../helpers/expression-rows.ts';

const UNSCALED = [250, -250, 49, -49, 0, 1500, -1555, 950];
const x: Vector = makeVector(
  makeData({
    type: new Decimal(2, 8, 128),
    length: UNSCALED.length,
    nullCount: 0,
    data: new Uint32Array(
      UNSCALED.flatMap((value) => [value, ...Array(3).fill(value < 0 ? -1 : 0)]),
    ),
  }),
);
const schema = new Schema([new Field('x', x.type, true)]);
const source = { numRows: UNSCALED.length, getChild: () => x };

/** The rows of an expression as text, without zeros at the end: 1.00 is 1. */
async function texts(sql: string): Promise<string[]> {
  const compiled = await compileExpression(`CAST(${sql} AS text)`, schema);
  const vector = compiled.evaluate(source);
  return Array.from(vector as Iterable<string>, (text) => text.replace(/\.0+$|(\.\d*?)0+$/, '$1'));
}

const POSTGRES: readonly (readonly [sql: string, answers: string])[] = [
  ['x', '2.5 -2.5 0.49 -0.49 0 15 -15.55 9.5'],
  ['abs(x)', '2.5 2.5 0.49 0.49 0 15 15.55 9.5'],
  ['-x', '-2.5 2.5 -0.49 0.49 0 -15 15.55 -9.5'],
  ['sign(x)', '1 -1 1 -1 0 1 -1 1'],
  ['floor(x)', '2 -3 0 -1 0 15 -16 9'],
  ['ceil(x)', '3 -2 1 0 0 15 -15 10'],
  ['trunc(x)', '2 -2 0 0 0 15 -15 9'],
  ['round(x)', '3 -3 0 0 0 15 -16 10'],
  ['round(x, 1)', '2.5 -2.5 0.5 -0.5 0 15 -15.6 9.5'],
  ['round(x, -1)', '0 0 0 0 0 20 -20 10'],
  ['trunc(x, 1)', '2.5 -2.5 0.4 -0.4 0 15 -15.5 9.5'],
  ['trunc(x, -1)', '0 0 0 0 0 10 -10 0'],
  ['trunc(x, 5)', '2.5 -2.5 0.49 -0.49 0 15 -15.55 9.5'],
  ['mod(x, 3)', '2.5 -2.5 0.49 -0.49 0 0 -0.55 0.5'],
  ['mod(x, -0.7)', '0.4 -0.4 0.49 -0.49 0 0.3 -0.15 0.4'],
  ['mod(1000, x + 100)', '77.5 25 95.59 4.9 0 80 71.05 14.5'],
  ['x % 0.70', '0.4 -0.4 0.49 -0.49 0 0.3 -0.15 0.4'],
  ['greatest(x, 0.50)', '2.5 0.5 0.5 0.5 0.5 15 0.5 9.5'],
  ['least(x, 0.50)', '0.5 -2.5 0.49 -0.49 0 0.5 -15.55 0.5'],
];

describe('a decimal has the value that PostgreSQL gives for', () => {
  it.each(POSTGRES)('%s', async (sql, answers) => {
    expect((await texts(sql)).join(' ')).toBe(answers.replace(/\b(\d+)0\b/g, '$10'));
  });
});

it('selects the rows whose sign is one', async () => {
  const condition = await compilePredicate('sign(x) = 1', schema);
  expect([...condition.select(source)]).toEqual([0, 2, 5, 7]);
});

describe('a result of more than 38 digits is refused:', () => {
  const most = "CAST('0.99999999999999999999999999999999999999' AS decimal(38, 38))";
  it.each([`sign(${most})`, `ceil(${most})`, `floor(-${most})`, `round(${most})`])(
    '%s',
    async (sql) => {
      await expect(values(`CASE WHEN i32 IS NOT NULL THEN ${sql} END`)).rejects.toMatchObject({
        code: 'InvalidInput',
        message: expect.stringContaining('does not fit decimal(38, 38)'),
      });
    },
  );

  it('but not for rows that a condition before it leaves out', async () => {
    const ceil = 'ceil(TRY_CAST(x AS decimal(38, 37))) > 0';
    const guarded = await compilePredicate(`x < 9 AND ${ceil}`, schema);
    expect([...guarded.select(source)]).toEqual([0, 2]);
    const open = await compilePredicate(ceil, schema);
    expect(() => open.select(source)).toThrow('does not fit decimal(38, 37)');
  });

  it('and 38 digits are not', async () => {
    const nines = '9'.repeat(38);
    const sql = `CAST(abs(CAST('-${nines}' AS decimal(38, 0))) AS text)`;
    expect(await values(sql)).toEqual(Array(4).fill(nines));
  });
});

it('mod and trunc of whole numbers and doubles', async () => {
  const one = async (sql: string): Promise<unknown> => (await values(sql))[0];
  expect(await one('mod(5, 3)')).toBe(2n);
  expect(await one('mod(-5, 3)')).toBe(-2n);
  expect(await one('trunc(-159, -1)')).toBe(-150n);
  expect(await one('trunc(159, 2)')).toBe(159n);
  expect(await one('trunc(123.456, 2)')).toBe(123.45);
  expect(await one('trunc(-123.456, 2)')).toBe(-123.45);
  expect(await one('trunc(123.456, -1)')).toBe(120);
  expect(await one('trunc(1.15, 2)')).toBe(1.15);
  expect(await one('trunc(-123.9)')).toBe(-123);
  expect(await one("trunc(CAST('NaN' AS double), 2)")).toBeNaN();
  expect(await values('trunc(i32, -1)')).toEqual([0n, 0n, null, 0n]);
  await expect(values('mod(i32, 0)')).rejects.toThrow('Division by zero');
  await expect(values('mod(i32)')).rejects.toThrow('mod takes 2 arguments');
  await expect(values("mod(s, 'a')")).rejects.toThrow('does not work');
});
