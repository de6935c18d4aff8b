/** The scroll bar of any number of rows, and the windows of rows that are fetched for it. */
import { describe, expect, test, vi } from 'vitest';
import { RowWindows } from '../../../src/ui/views/row-windows.ts';
import { RowScroll } from '../../../src/ui/views/scroll.ts';

/** Lets promises that are settled act. */
const settled = async (): Promise<void> => {
  for (let at = 0; at < 10; at++) await Promise.resolve();
};

describe('the scroll bar', () => {
  test.each([0, 1, 5, 1_000, 307_692, 400_000, 10_000_000, 2_000_000_000])(
    'of %d rows reaches the first and the last, and every tenth of them',
    (rows) => {
      const scroll = new RowScroll(rows, 26, 400);
      expect(scroll.height).toBeLessThanOrEqual(8_000_000);
      expect(scroll.topAt(0)).toBe(0);
      expect(scroll.topAt(scroll.height)).toBe(scroll.lastTop);
      expect(scroll.scrollTopOf(scroll.lastTop)).toBe(Math.max(0, scroll.height - 400));
      for (let tenth = 0; tenth <= 10; tenth++) {
        const top = (scroll.lastTop * tenth) / 10;
        expect(scroll.topAt(scroll.scrollTopOf(top))).toBeCloseTo(top, 3);
      }
    },
  );

  test('is as long as the rows where a browser can draw that', () => {
    expect(new RowScroll(1_000, 26, 400)).toMatchObject({ height: 26_000, isMapped: false });
    expect(new RowScroll(10_000_000, 26, 400)).toMatchObject({ height: 8_000_000, isMapped: true });
  });

  test('moves as little as is needed to show a row', () => {
    const scroll = new RowScroll(10_000_000, 26, 260);
    expect(scroll.reveal(5, 3)).toBe(3);
    expect(scroll.reveal(2, 3)).toBe(2);
    expect(scroll.reveal(13, 3)).toBe(4);
    expect(scroll.reveal(9_999_999, 0)).toBe(9_999_990);
    expect(scroll.reveal(-5, 3)).toBe(0);
  });
});

describe('windows of rows', () => {
  const fetched = () => {
    const asked: {
      offset: number;
      signal: AbortSignal;
      resolve: () => void;
      reject: () => void;
    }[] = [];
    const changed = vi.fn();
    const windows = new RowWindows(
      (offset, limit, signal) =>
        new Promise((resolve, reject) => {
          const rows = Array.from({ length: limit }, (_, at) => [offset + at]);
          asked.push({
            offset,
            signal,
            resolve: () => resolve({ rows, ids: rows.map(String) }),
            reject: () => reject(new Error('no')),
          });
        }),
      changed,
    );
    return { asked, changed, windows };
  };

  test('are asked for once, where they come into sight', async () => {
    const { asked, changed, windows } = fetched();
    windows.show(90, 130);
    windows.show(95, 135);
    expect(asked.map(({ offset }) => offset)).toEqual([0, 100]);
    expect(windows.row(95)).toBeUndefined();
    for (const { resolve } of asked) resolve();
    await Promise.resolve();
    expect(changed).toHaveBeenCalledTimes(2);
    expect(windows.row(95)).toEqual({ cells: [95], id: '95' });
    expect(windows.row(200)).toBeUndefined();
  });

  test('that went out of sight before they came are given up, and asked for again', () => {
    const { asked, windows } = fetched();
    windows.show(0, 20);
    windows.show(5_000, 5_020);
    expect(asked.map(({ signal }) => signal.aborted)).toEqual([true, false]);
    windows.show(0, 20);
    expect(asked.map(({ offset }) => offset)).toEqual([0, 5_000, 0]);
  });

  test('that cannot be had are told', async () => {
    const { asked, changed, windows } = fetched();
    windows.show(0, 20);
    asked[0]?.reject();
    await settled();
    expect(windows.failure).toMatchObject({ message: 'no' });
    expect(changed).toHaveBeenCalled();
  });

  test('that were not in sight for long are forgotten', async () => {
    const { asked, windows } = fetched();
    for (let at = 0; at < 200; at++) {
      windows.show(at * 100, at * 100 + 20);
      asked.at(-1)?.resolve();
      await settled();
    }
    expect(windows.row(19_905)).toBeDefined();
    expect(windows.row(5)).toBeUndefined();
  });
});
