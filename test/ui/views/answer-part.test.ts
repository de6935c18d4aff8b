/** What the page shows of a large answer of SQL. */
import { describe, expect, test } from 'vitest';
import { MOST_CELLS, partOf, partText } from '../../../src/ui/views/answer-part.ts';

describe('the part of an answer that is shown', () => {
  test.each([
    [2, 1_000, 2, 1_000],
    [20, 1_000, 20, 1_000],
    [60, 1_000, 60, 333],
    [1_000, 1_000, 60, 333],
    [5_000, 3, 60, 3],
    [0, 5, 0, 5],
    [7, 0, 7, 0],
  ])('of %d columns and %d rows is %d by %d', (columns, rows, ofColumns, ofRows) => {
    const part = partOf(columns, rows);
    expect(part).toEqual({ columns: ofColumns, rows: ofRows });
    expect(part.columns * part.rows).toBeLessThanOrEqual(MOST_CELLS);
  });

  test('is told where it is not all', () => {
    const text = (columns: number, rows: number, isCut: boolean) =>
      partText(partOf(columns, rows), columns, rows, isCut);
    expect(text(2, 1, false)).toBe('1 row');
    expect(text(2, 1_000, false)).toBe('1,000 rows');
    expect(text(2, 1_000, true)).toBe('The first 1,000 rows');
    expect(text(1_000, 1_000, true)).toBe('The first 333 rows, 60 of 1,000 columns');
    expect(text(100, 3, false)).toBe('3 rows, 60 of 100 columns');
  });
});
