/** Requests for rows by fragment and offset, in memory that the next ones use again. */
import { describe, expect, test } from 'vitest';
import { byOffset, groupedByFragment, SpareMemory } from '../../../src/table/read/row-requests.ts';
import { random, whole } from '../../helpers/sort-keys.ts';
import { run } from '../../helpers/steps.ts';

const idOf = (fragment: number, offset: number): bigint =>
  (BigInt(fragment) << 32n) | BigInt(offset);

/** Requests and offsets of each fragment, as they are handed out. */
function grouped(ids: BigUint64Array, spare: SpareMemory) {
  const found = new Map<number, { requests: number[]; offsets: number[] }>();
  const groups = [...run(groupedByFragment(ids, spare))].map(([fragment, requests]) => ({
    fragment,
    group: run(byOffset(ids, requests, spare)),
  }));
  // Read once all groups are made: none may lie where another does.
  for (const { fragment, group } of groups) {
    found.set(fragment, { requests: [...group.requests], offsets: [...group.offsets] });
  }
  return found;
}

function expected(ids: BigUint64Array) {
  const found = new Map<number, { requests: number[]; offsets: number[] }>();
  const requests = [...ids.keys()].sort((a, b) => {
    const [x, y] = [ids[a] as bigint, ids[b] as bigint];
    return x < y ? -1 : x > y ? 1 : a - b;
  });
  for (const request of requests) {
    const id = ids[request] as bigint;
    const fragment = Number(id >> 32n);
    const group = found.get(fragment) ?? { requests: [], offsets: [] };
    found.set(fragment, group);
    group.requests.push(request);
    group.offsets.push(Number(id & 0xffff_ffffn));
  }
  return found;
}

describe('requests of several fragments', () => {
  const spare = new SpareMemory();
  const cases: [string, number, number, number][] = [
    ['few', 40, 3, 1_000_000],
    ['many that are dense', 6_000, 2, 40_000],
    ['more than before, most of them repeated', 20_000, 3, 2_000],
    ['fewer than before, in runs of a fragment', 5_000, 1, 50_000],
    ['as many as rows are between the steps', 70_000, 4, 2 ** 31],
    ['none', 0, 1, 1],
  ];
  test.each(cases)('%s', (_, count, fragments, rows) => {
    const ids = BigUint64Array.from({ length: count }, () => idOf(whole(fragments), whole(rows)));
    expect(grouped(ids, spare)).toEqual(expected(ids));
  });

  test('every row of two fragments once, in a random order', () => {
    const ids = BigUint64Array.from({ length: 12_000 }, (_, at) => idOf(at & 1, at >> 1));
    for (let at = ids.length - 1; at > 0; at--) {
      const other = Math.floor(random() * (at + 1));
      [ids[at], ids[other]] = [ids[other] as bigint, ids[at] as bigint];
    }
    expect(grouped(ids, spare)).toEqual(expected(ids));
    expect(grouped(ids.reverse(), spare)).toEqual(expected(ids));
  });
});
