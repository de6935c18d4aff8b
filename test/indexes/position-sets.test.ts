/** Sets of positions come back as they were, and damaged bytes are refused. */
import { expect, test } from 'vitest';
import { isDirspaceError } from '../../src/errors.ts';
import { decodePositions, encodePositions } from '../../src/indexes/position-sets.ts';
import { damagedAtRandom } from '../helpers/damage.ts';
import { casesOf } from '../helpers/long.ts';
import { seeded } from '../helpers/seeded.ts';

const ascending = (values: Iterable<number>): Uint32Array =>
  Uint32Array.from(new Set(values)).sort();

const random = seeded(5);
const below = (most: number): number => Math.floor(random() * most);
const scattered = (count: number, most: number): Uint32Array =>
  ascending(Array.from({ length: count }, () => below(most)));
const run = (from: number, count: number): number[] =>
  Array.from({ length: count }, (_, at) => from + at);

const SETS: readonly (readonly [string, Uint32Array, number])[] = [
  ['nothing', new Uint32Array(0), 0],
  ['one', Uint32Array.of(7), 8 + 2],
  ['few', scattered(100, 65_536), 8 + 200],
  ['many, as a bitmap', scattered(30_000, 65_536), 8 + 8_192],
  ['a whole container, as a run', Uint32Array.from(run(0, 65_536)), 8 + 4],
  ['the last position there is', Uint32Array.of(0, 0xffff_ffff), 20],
];

test.each(SETS)('%s', (_, positions, bytes) => {
  const encoded = encodePositions(positions);
  expect(decodePositions(encoded, positions.length, 'f')).toEqual(positions);
  if (bytes !== 8 + 200) expect(encoded).toHaveLength(bytes);
  // At an odd place in other memory, as a file has it.
  const moved = new Uint8Array(encoded.length + 3);
  moved.set(encoded, 3);
  expect(decodePositions(moved.subarray(3), positions.length, 'f')).toEqual(positions);
});

test('sets of several containers of all forms', () => {
  for (let set = 0; set < casesOf(4, 20); set++) {
    const positions = ascending([
      ...scattered(below(50), 1 << 22),
      ...run(below(1 << 20), below(70_000)),
      ...scattered(below(9_000), 1 << 17),
    ]);
    expect(decodePositions(encodePositions(positions), positions.length, 'f')).toEqual(positions);
  }
});

test('damaged bytes are refused, or give ascending positions', () => {
  const positions = ascending([...run(5, 900), ...scattered(500, 1 << 18), ...run(1 << 17, 9_000)]);
  const bytes = encodePositions(positions);
  let refused = 0;
  for (let at = 0; at < casesOf(250, 20_000); at++) {
    const wrong = damagedAtRandom(bytes, random);
    const cut = at % 3 === 0 ? wrong.subarray(0, below(wrong.length)) : wrong;
    try {
      const found = decodePositions(cut, positions.length, 'f');
      for (let next = 1; next < found.length; next++)
        if ((found[next] as number) <= (found[next - 1] as number)) expect.fail(`at ${next}`);
    } catch (error) {
      if (!isDirspaceError(error, 'Corrupt')) throw error;
      refused++;
    }
  }
  expect(refused).toBeGreaterThan(100);
  for (const count of [0, positions.length - 1, positions.length + 1, 2 ** 31])
    expect(() => decodePositions(bytes, count, 'f')).toThrow('f');
});
