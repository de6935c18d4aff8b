/** What a filter is completed with. */
import { expect, test } from 'vitest';
import { completions, quotedName, wordBefore } from '../../../src/ui/views/completions.ts';

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
  expect(['a', 'A', 'a b', 'a"b', 'and', ''].map(quotedName)).toEqual([
    'a',
    '"A"',
    '"a b"',
    '"a""b"',
    '"and"',
    '""',
  ]);
});
