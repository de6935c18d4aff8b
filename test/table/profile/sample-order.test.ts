/** How evenly the parts that were read so far are spread over a table. */
import { expect, test } from 'vitest';
import type { FragmentEntry } from '../../../src/format/index.ts';
import { SampleOrder } from '../../../src/table/profile/sample-order.ts';

const entries = (count: number): FragmentEntry[] =>
  Array.from({ length: count }, () => ({ rows: 10 }) as FragmentEntry);

test('each part has its turn once', () => {
  for (const count of [1, 2, 3, 6, 56, 1000]) {
    const order = new SampleOrder(entries(count), 0.7);
    const seen = Array.from({ length: count }, (_, turn) => order.at(turn).position / 10);
    expect(seen.toSorted((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, at) => at));
  }
});

test('gaps are at most three times those of an even sample, wherever a reader stops', () => {
  for (let count = 4; count <= 400; count += 1) {
    const order = new SampleOrder(entries(count), 0);
    const seen = new Set<number>();
    for (let turn = 0; turn < count; turn += 1) {
      seen.add(order.at(turn).position / 10);
      let gap = 0;
      let widest = 0;
      // Around the end too, as the order begins anywhere.
      for (let at = 0; at < 2 * count; at += 1) {
        gap = seen.has(at % count) ? 0 : gap + 1;
        widest = Math.max(widest, gap + 1);
      }
      expect(widest, `${count} parts, ${turn + 1} read`).toBeLessThanOrEqual(
        Math.ceil((3 * count) / (turn + 1)),
      );
      if (turn >= 40) break;
    }
  }
});
