/** Terms near to fuzzy words, against the distance that is worked out in full. */
import { expect, test } from 'vitest';
import {
  FuzzyLeaf,
  MOST_NEAR_TERMS,
  NearWords,
  type TermCells,
} from '../../src/search/fuzzy-terms.ts';
import { drained } from '../../src/steps.ts';
import { casesOf } from '../helpers/long.ts';
import { seeded } from '../helpers/seeded.ts';

const bytesOf = (word: string): Uint8Array => new TextEncoder().encode(word);

function distance(left: readonly string[], right: readonly string[]): number {
  let last = Array.from({ length: right.length + 1 }, (_, at) => at);
  for (const [row, own] of left.entries()) {
    const next = [row + 1];
    for (const [at, other] of right.entries()) {
      const changed = (last[at] as number) + (own === other ? 0 : 1);
      next.push(Math.min(changed, (last[at + 1] as number) + 1, (next[at] as number) + 1));
    }
    last = next;
  }
  return last[right.length] as number;
}

test('of terms in order, no more are wanted once every word has all that it may have', () => {
  const open = (start: string): FuzzyLeaf =>
    new FuzzyLeaf([{ start: bytesOf(start), except: undefined }], 1, { terms: 0 });
  const cells = (terms: readonly string[]): TermCells => {
    const offsets = [0];
    for (const term of terms) offsets.push((offsets.at(-1) ?? 0) + term.length);
    const own = { offsets: Int32Array.from(offsets), first: 0, end: terms.length };
    return { bytes: bytesOf(terms.join('')), ...own };
  };
  const near = new NearWords([open('a'), open('c')]);
  drained(near.offerCells(cells(['ab', 'ac'])));
  expect(near.isPast(cells(['ab', 'ac']))).toBe(false);
  drained(near.offerCells(cells(['ca', 'cb'])));
  expect(near.isPast(cells(['ca', 'cb']))).toBe(true);
  // An earlier segment has a term that comes before the one taken.
  expect(near.isPast(cells(['b']))).toBe(false);
  expect(near.isPast(cells([]))).toBe(false);
});

test('words take the terms that are near, the first words and the first terms first', () => {
  const random = seeded(11);
  const below = (most: number): number => Math.floor(random() * most);
  for (let round = 0; round < casesOf(200, 5_000); round++) {
    const letters = ['a', 'b', 'ä', '日', '\u{1f600}', 'c'].slice(0, 2 + below(5));
    const word = (): string =>
      Array.from({ length: below(8) }, () => letters[below(letters.length)]).join('');
    const terms = Array.from({ length: 60 }, word);
    const leaves = Array.from({ length: 1 + below(3) }, () => ({
      most: below(9),
      words: Array.from({ length: 1 + below(4) }, () => ({
        text: word(),
        edits: below(5),
        prefixLength: below(3),
      })),
    }));
    const made = leaves.map(({ words, most }) => {
      const all = words.map((own) => ({ ...own, term: bytesOf(own.text) }));
      return new FuzzyLeaf(all, most, { terms: 0 });
    });
    const near = new NearWords(made);
    const prefixes = near.prefixes().map((prefix) => Buffer.from(prefix).toString());
    for (const prefix of new Set(prefixes)) {
      const own = terms.filter((term) => term.startsWith(prefix));
      drained(near.offer(own.map(bytesOf)));
    }
    for (const [at, { words, most }] of leaves.entries()) {
      let room = most;
      const expected = words.map(({ text, edits, prefixLength }) => {
        const start = [...text].slice(0, prefixLength).join('');
        const taken = [...new Set(terms)]
          .filter((term) => term.startsWith(start))
          .filter((term) => distance([...text], [...term]) <= edits)
          .sort((left, right) => Buffer.compare(bytesOf(left), bytesOf(right)))
          .slice(0, room);
        room -= taken.length;
        return taken;
      });
      const found = made[at]?.taken().map((own) => own.map((term) => Buffer.from(term).toString()));
      expect(found).toEqual(expected);
    }
  }
});

const numbered = (count: number, letter: string): Uint8Array[] =>
  Array.from({ length: count }, (_, at) => bytesOf(`${letter}${at}`));

test('many words are compared with terms of their length and characters alone, in steps', () => {
  const words = numbered(1000, 'word').map((term) => ({ term, edits: 2, prefixLength: 0 }));
  const stepsFor = (terms: Uint8Array[]): number =>
    [...new NearWords([new FuzzyLeaf(words, 50, { terms: 0 })]).offer(terms)].length;
  expect(stepsFor(numbered(1000, 'sword'))).toBeGreaterThan(5);
  // Other characters are told apart at once, and other lengths are not looked at.
  expect(stepsFor(numbered(1000, 'xyz'))).toBeLessThan(100);
  expect(stepsFor(numbered(1000, 'a long term '))).toBe(0);
});

test('terms with a beginning that no word is near to are left out together', () => {
  const cells = (terms: readonly Uint8Array[]): TermCells => {
    const sorted = [...terms].sort(Buffer.compare);
    const offsets = new Int32Array(sorted.length + 1);
    for (const [row, { length }] of sorted.entries()) {
      offsets[row + 1] = (offsets[row] as number) + length;
    }
    return { bytes: Buffer.concat(sorted), offsets, first: 0, end: sorted.length };
  };
  const stepsFor = (terms: readonly Uint8Array[]): number => {
    const word = { term: bytesOf('word77'), edits: 1, prefixLength: 0 };
    return [...new NearWords([new FuzzyLeaf([word], 50, { terms: 0 })]).offerCells(cells(terms))]
      .length;
  };
  expect(stepsFor(numbered(100_000, 'other'))).toBe(0);
  expect(stepsFor(numbered(100_000, 'a long term '))).toBe(0);
  expect(stepsFor(numbered(100_000, 'word'))).toBe(0);
});

test('words that get no terms hold none, and all leaves together are limited', () => {
  const words = (count: number) =>
    Array.from({ length: count }, () => ({ term: bytesOf('aa'), edits: 2, prefixLength: 0 }));
  const terms = Array.from({ length: 900 }, (_, at) => {
    const code = (digit: number): string => String.fromCharCode(0x61 + digit);
    return bytesOf(code(Math.floor(at / 30)) + code(at % 30));
  });
  const leaf = new FuzzyLeaf(words(40), 10, { terms: 0 });
  drained(new NearWords([leaf]).offer(terms));
  expect(leaf.words.filter(({ terms: held }) => held.length > 0)).toHaveLength(1);
  const count = { terms: 0 };
  const many = Array.from({ length: 6 }, () => new FuzzyLeaf(words(1), 1000, count));
  expect(() => drained(new NearWords(many).offer(terms))).toThrow(
    `more than ${MOST_NEAR_TERMS} terms`,
  );
});

test('terms are looked at once where one prefix begins another', () => {
  const prefixesOf = (...words: [string, number][]): string[] => {
    const all = words.map(([text, prefixLength]) => ({
      term: bytesOf(text),
      edits: 1,
      prefixLength,
    }));
    const near = new NearWords([new FuzzyLeaf(all, 50, { terms: 0 })]);
    return near.prefixes().map((prefix) => Buffer.from(prefix).toString());
  };
  expect(prefixesOf(['abc', 2], ['axe', 1], ['bee', 2], ['bed', 2])).toEqual(['a', 'be']);
  expect(prefixesOf(['abc', 2], ['axe', 0])).toEqual(['']);
});
