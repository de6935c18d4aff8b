/** What a filter is completed with. */
import { expect, test } from 'vitest';
import {
  completions,
  quotedName,
  statementCompletions,
  tablesNamed,
  tableText,
  wordBefore,
} from '../../../src/ui/views/completions.ts';

const columns = ['age', 'Name', 'two words', 'a"b', 'in', 'usage'].map((name) => ({
  name,
  type: 'int32',
}));

test.each([
  ['ag', ['age', 'usage']],
  ['age > 3 an', ['AND']],
  ['age', ['usage']],
  ['na', ['"Name"']],
  ['"tw', ['"two words"']],
  ['i', ['"in"', 'ILIKE', 'IN', 'IS NOT NULL', 'IS NULL']],
  ["name = 'a", []],
  ["name = 'it''s' AND ag", ['age', 'usage']],
  ['', []],
  ['3', []],
])('%j', (text, words) => {
  expect(completions(text, text.length, columns)).toEqual(words);
});

test('the word is the one before the caret', () => {
  expect(wordBefore('age > us AND x', 8)).toEqual({ word: 'us', from: 6 });
});

test('names that are no plain words are quoted', () => {
  expect(['a', 'A', 'a b', 'a"b', 'and', ''].map((name) => quotedName(name))).toEqual([
    'a',
    '"A"',
    '"a b"',
    '"a""b"',
    '"and"',
    '""',
  ]);
});

const reserved = ['user', 'select', 'from', 'where', 'join', 'on'];
const tables = [['prod', 'search', 'user'], ['prod', 'Sales 2026'], ['events'], ['user']];
const known = {
  keywords: ['SELECT', 'FROM', 'JOIN', 'WHERE'],
  functions: ['count', 'split_part', 'sum'],
  reserved,
  tables,
  columns: [
    { id: ['prod', 'search', 'user'], alias: 'u', names: ['id', 'surname', 'Select'] },
    { id: ['events'], alias: 'events', names: ['id', 'sum'] },
  ],
};

test.each([
  [
    's',
    [
      'surname',
      '"Select"',
      'sum',
      'SELECT',
      'split_part',
      'prod.search.user',
      'prod."Sales 2026"',
      'events',
      '"user"',
    ],
  ],
  ['SELECT id FROM pr', ['prod.search.user', 'prod."Sales 2026"']],
  ['SELECT id FROM sal', ['prod."Sales 2026"']],
  ['SELECT id FROM prod."Sa', ['prod."Sales 2026"']],
  ['SELECT u.s', ['u.surname', 'u."Select"']],
  ['SELECT u.', ['u.id', 'u.surname', 'u."Select"']],
  ['SELECT events.i', ['events.id']],
  ["SELECT 'pr", []],
  ['SELECT 1 -- pr', []],
  ['SELECT /* pr', []],
  ["SELECT '--' /* x */ , cou", ['count']],
  ['SELECT 12e', []],
  ['SELECT "u', ['"Select"', '"user"', 'prod.search.user', 'surname', 'sum'].slice(2, 3)],
])('of a statement: %j', (text, words) => {
  const offered = statementCompletions(text, text.length, known);
  if (text === 's') expect(offered).toEqual(words.slice(0, 12));
  else expect(offered).toEqual(expect.arrayContaining(words));
  if (words.length === 0) expect(offered).toEqual([]);
});

test('tables come first after FROM and JOIN, columns elsewhere', () => {
  const first = (text: string) => statementCompletions(text, text.length, known)[0];
  expect(['SELECT 1 FROM s', 'SELECT s'].map((text) => first(text))).toEqual([
    'prod.search.user',
    'surname',
  ]);
});

test('the tables of a statement are those after FROM, JOIN and commas', () => {
  const named = (sql: string) =>
    tablesNamed(sql, tables, reserved).map(({ id, alias }) => [id.join('/'), alias]);
  expect(named('SELECT x FROM prod.search.user u, events JOIN "user" AS w ON 1')).toEqual([
    ['prod/search/user', 'u'],
    ['events', 'events'],
    ['user', 'w'],
  ]);
  expect(named('select * from Prod."Sales 2026" where x')).toEqual([
    ['prod/Sales 2026', 'Sales 2026'],
  ]);
  expect(named('SELECT events FROM nothing')).toEqual([]);
  expect(named(`SELECT 1 FROM ${'events, '.repeat(20)} events`)).toHaveLength(8);
});

test('names of tables quote the first word where it is reserved', () => {
  expect(tableText(['user', 'user'], reserved)).toBe('"user".user');
});
