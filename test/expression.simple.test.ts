/** Filters read without the grammar come out as the grammar has them, place for place. */
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
  'x = 1e5',
  'x = true',
  'x = null',
  "x = E'a'",
  "date '2020-01-01' = x",
  "x = 'a' 'b'",
  'x = 1 +',
  'x =',
  'x in ()',
  'x',
])('%s is left to the grammar', (sql) => {
  expect(simple(sql)).toBeUndefined();
});

test('random sequences of tokens', async () => {
  const parts =
    `x Y "q" \`b\` = <> != < <= > >= == and or AND not NOT between in is null ( ) , - + 1 0 25 3.5 ` +
    `'s' 'it''s' user date time name left value true select interval end offset 12345678901234567890 .5 1. * || . :: like`;
  const words = parts.split(' ');
  const random = seededChoices(20_261_121).next;
  const pick = () => words[Math.floor(random() * words.length)] as string;
  const column = () => ['x', 'Y', '"q"', '`b`', 'name', 'user', 'left'][Math.floor(random() * 7)];
  const literal = () => ['1', '-2', "'s'", '3.5', '- 4', 'x'][Math.floor(random() * 6)];
  const term = () => {
    const forms = [
      `${column()} ${['=', '<', '>=', '!='][Math.floor(random() * 4)]} ${literal()}`,
      `${column()} between ${literal()} and ${literal()}`,
      `${column()} not in (${literal()}, ${literal()})`,
      `${column()} is not null`,
    ];
    return forms[Math.floor(random() * forms.length)] as string;
  };
  let read = 0;
  for (let round = 0; round < 8_000; round++) {
    const terms = Array.from({ length: 1 + Math.floor(random() * 3) }, term);
    const tokens = terms.join(random() < 0.7 ? ' and ' : ' or ').split(' ');
    if (random() < 0.5) tokens.splice(Math.floor(random() * tokens.length), 1, pick());
    const sql = tokens.join(random() < 0.9 ? ' ' : '  ');
    let tree: ReturnType<typeof simple>;
    try {
      tree = simple(sql);
    } catch {
      continue;
    }
    if (tree === undefined) continue;
    read += 1;
    expect(tree, sql).toEqual(await byGrammar(sql));
  }
  expect(read).toBeGreaterThan(1_000);
});
