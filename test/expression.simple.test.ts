/** Filters and values read without the grammar come out as the grammar has them, place for place. */
import { expect, test } from 'vitest';
import { parseByGrammar } from '../src/expression/parse.ts';
import { parseSimple } from '../src/expression/parse-simple.ts';
import { scanSql } from '../src/expression/scan.ts';
import { seededChoices } from './helpers/random-expression.ts';

const simple = (sql: string) => parseSimple(scanSql(sql).tokens);
const byGrammar = (sql: string) => parseByGrammar(scanSql(sql));

test.each([
  'x > 0.99',
  "category = 'k03'",
  'id BETWEEN 500000 AND 500999',
  'id not between -5 and 7.25 and x <> 3',
  "`odd name` IN ('a', 'it''s', 'b') AND Y <= 9223372036854775807",
  '"Q""q" = 1 or `b``t` != 2 or c == 3',
  'A is not null and b IS NULL and c not in (1)',
  "größe >= 'groß'",
  `many in (${Array.from({ length: 40 }, (_, at) => at).join(', ')})`,
  "x /* why */ = 'it' -- because",
  'name = 1 and type = 2 and value = 3 and Text = 4',
  'x = 1e5 or x = -2.5E-7',
  'x',
  'x + 1',
  'x+1',
  "'it''s'",
  'NULL',
  'true',
  'FALSE',
  '-5',
  '- 1.5e-7',
  "x'00fF'",
  "X''",
  '[1, -2.5, 3e-8]',
  "['a', 'b']",
  '-x * 5 - Y % 3 / 2 - -1',
  'a - b - c + d || e || \'x\' || f * "G g" * `h`',
  '9223372036854775808 - 2147483648 + -2147483648',
  'x - /* less */ 1',
  'x * /* signed */ -1',
  'null + true || 1',
  'x *-1',
  'x%-1',
  'x ||-1 +-2',
  'x!=-1',
  'x\u00a0=\u00a05',
  'x\v= 0.5',
  'x not /* the grammar sees NOT alone */ in (1)',
  'x not -- so\n between 1 and 2',
])('%s', async (sql) => {
  const tree = simple(sql);
  expect(tree).toBeDefined();
  expect(tree).toEqual(await byGrammar(sql));
});

test.each([
  'x = y',
  '1 = x',
  'x = 1 and y = 2 or z = 3',
  '(x = 1)',
  'not x = 1',
  'a.b = 1',
  'x = -0',
  'x = 007',
  'x = true',
  'x = null',
  "x = E'a'",
  "date '2020-01-01' = x",
  "x = 'a' 'b'",
  'x = 1 +',
  'x = 1and y = 2',
  '5x',
  'x =',
  'x in ()',
  '-0',
  '-0.0e5',
  '- -1',
  '+1',
  '(x)',
  'x + (1)',
  'lower(x)',
  'x + 1 > 2',
  'x and y',
  "x'abc'",
  "x 'a'",
  "'a'\n'b'",
  '[]',
  '[1, x]',
  '[x] + 1',
  '[1][1]',
  'a.b + 1',
  'interval + 1',
  'x::int',
])('%s is left to the grammar', (sql) => {
  expect(simple(sql)).toBeUndefined();
});

test('comments and odd blanks say nothing', async () => {
  const plain = await byGrammar("lower(x) not    in ('a'  \n'b',  'c')");
  expect(await byGrammar("lower(x) not/**/in ('a'--\n'b',\u00a0 'c')")).toEqual(plain);
});

test('random sequences of tokens', async () => {
  const parts =
    `x Y "q" \`b\` = <> != < <= > >= == and or AND not NOT between in is null ( ) , - + 1 0 25 3.5 ` +
    `'s' 'it''s' user date time name left value true select interval end offset 12345678901234567890 .5 1. * || . :: like`;
  const words = parts.split(' ');
  const { next, int, pick } = seededChoices(20_261_121);
  const column = () => pick(['x', 'Y', '"q"', '`b`', 'name', 'user', 'left']);
  const literal = () => pick(['1', '-2', "'s'", '3.5', '- 4', 'x', '1e-3']);
  const term = () =>
    pick([
      `${column()} ${pick(['=', '<', '>=', '!='])} ${literal()}`,
      `${column()} between ${literal()} and ${literal()}`,
      `${column()} not in (${literal()}, ${literal()})`,
      `${column()} is not null`,
    ]);
  const operators = ['+', '-', '*', '/', '%', '||'];
  const operand = () => (next() < 0.3 ? column() : literal());
  const value = () => {
    const operands = Array.from({ length: 1 + int(4) }, operand);
    return operands.reduce((text, more) => `${text} ${pick(operators)} ${more}`);
  };
  let read = 0;
  let values = 0;
  for (let round = 0; round < 8_000; round++) {
    const terms = Array.from({ length: 1 + int(3) }, term);
    const filter = terms.join(next() < 0.7 ? ' and ' : ' or ');
    const tokens = (next() < 0.5 ? filter : value()).split(' ');
    if (next() < 0.5) tokens.splice(int(tokens.length), 1, pick(words));
    const sql = tokens.join(pick(['', '  ', ' ', ' ', ' ']));
    let tree: ReturnType<typeof simple>;
    try {
      tree = simple(sql);
    } catch {
      continue;
    }
    if (tree === undefined) continue;
    read += 1;
    if (tree.kind === 'binary' && operators.includes(tree.op)) values += 1;
    expect(tree, sql).toEqual(await byGrammar(sql));
  }
  expect(read).toBeGreaterThan(1_000);
  expect(values).toBeGreaterThan(1_000);
});
