/** What statistics say of the ranks of rows: never less than there may be, never more than there are. */
import { describe, expect, test } from 'vitest';
import { Float64 } from '../../../src/arrow/apache.ts';
import { rankSpan } from '../../../src/table/query/order-bounds.ts';

const type = new Float64();
const known = { rows: 9, nulls: 2, nans: 0, min: 1, max: 4 };
const up = { ascending: true, nullsFirst: false };
const down = { ascending: false, nullsFirst: false };
const spanOf = (statistics: object, deleted: number, direction: typeof up) =>
  rankSpan({ ...known, ...statistics } as never, deleted, direction as never, type);

describe('rows that rank before every bound', () => {
  test.each([
    ['NaN leads where larger values do', { nans: 1 }, down, true],
    ['and follows elsewhere', { nans: 1 }, up, false],
    ['none are there', {}, down, false],
    ['nulls lead where they are asked for first', {}, { ...up, nullsFirst: true }, true],
    ['and there are some', { nulls: 0 }, { ...up, nullsFirst: true }, false],
    ['nothing is known of the values', { min: undefined }, up, true],
  ])('%s', (_, statistics, direction, mayLead) => {
    expect(spanOf(statistics, 0, direction).lowest === -Infinity).toBe(mayLead);
  });
});

test('rows without a rank and deleted ones are not counted', () => {
  expect(spanOf({ nans: 3 }, 1, up).rows).toBe(3);
  expect(spanOf({ nans: 3 }, 8, up).rows).toBe(0);
  expect(spanOf({ max: undefined }, 0, up)).toMatchObject({ rows: 0, highest: Infinity });
  expect(spanOf({ nulls: 5, nans: 4, min: undefined, max: undefined }, 0, up).lowest).toBe(
    Infinity,
  );
});

test('bounds ascend in either direction', () => {
  for (const direction of [up, down]) {
    const { lowest, highest } = spanOf({}, 0, direction);
    expect(lowest).toBeLessThan(highest);
  }
});
