/** Keys that a merge does not have are ruled out before they are looked up, and none that it has. */
import { afterEach, expect, test, vi } from 'vitest';
import {
  type Data,
  type DataType,
  Int32,
  Int64,
  Utf8,
  vectorFromArray,
} from '../../../src/arrow/apache.ts';
import { KeyFilter } from '../../../src/table/merge/key-filter.ts';
import { indexKeys, type KeyIndex } from '../../../src/table/merge/key-index.ts';
import { seeded } from '../../helpers/seeded.ts';

function finished<Result>(steps: Generator<void, Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

const ROWS = 20_000;
const place = (at: number): number => at * 97;
const columnOf = (type: DataType, of: (row: number) => unknown): Data =>
  vectorFromArray(
    Array.from({ length: ROWS }, (_, row) => of(row)),
    type,
  ).data[0] as Data;
const forms: Record<string, (at: number) => Data> = {
  int32: (at) => columnOf(new Int32(), (row) => at + row),
  int64: (at) => columnOf(new Int64(), (row) => BigInt(at + row) * 0x1_0000_0001n),
  names: (at) => columnOf(new Utf8(), (row) => `user-${place(at + row)}@mail.example`),
  words: (at) => columnOf(new Utf8(), (row) => (at + row).toString(36)),
};

afterEach(() => vi.restoreAllMocks());

test.each(Object.entries(forms))('most other %s keys are ruled out', (_, form) => {
  const source = form(0);
  const index: KeyIndex = finished(indexKeys([source.type], [[source]]));
  const asked = [
    vi.spyOn(KeyFilter.prototype, 'mayHaveWords'),
    vi.spyOn(KeyFilter.prototype, 'mayHaveBytes'),
  ];
  const others = finished(index.match([form(ROWS)], ROWS));
  expect(others.every((found) => found === -1)).toBe(true);
  const answers = asked.flatMap(({ mock }) => mock.results.map(({ value }) => value));
  expect(answers.length).toBe(ROWS);
  expect(answers.filter((mayHave) => mayHave).length).toBeLessThan(ROWS / 5);
  // Where most rows match, it is asked for few of them.
  for (const { mock } of asked) mock.calls.length = 0;
  expect([...finished(index.match([source], ROWS))]).toEqual([...index.firsts]);
  const calls = asked.reduce((sum, { mock }) => sum + mock.calls.length, 0);
  expect(calls).toBeLessThan(ROWS / 5);
});

test('a filter never rules out a key that was added, of any length', () => {
  const random = seeded(41);
  const bytes = Uint8Array.from({ length: 4_096 }, () => random() * 256);
  const view = new DataView(bytes.buffer);
  const filter = new KeyFilter(2_000);
  const keys = Array.from({ length: 1_000 }, (_, at) => [at * 4, at % 40] as const);
  const words = keys.map(() => [(random() * 2 ** 32) | 0, (random() * 2 ** 32) | 0] as const);
  for (const [begin, length] of keys) filter.addBytes(view, begin, length);
  for (const [low, high] of words) filter.addWords(low, high);
  expect(keys.every(([begin, length]) => filter.mayHaveBytes(view, begin, length))).toBe(true);
  expect(words.every(([low, high]) => filter.mayHaveWords(low, high))).toBe(true);
});
