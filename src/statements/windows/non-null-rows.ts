/**
 * `nonNullRows` finds for each row the row whose value lag, lead, first_value, last_value or
 * nth_value takes with IGNORE NULLS, or -1 if there is none. Rows whose value is not null are
 * numbered once. Then a row is found by its number, however many nulls lie between. A number of
 * nth_value below 1 throws InvalidInput.
 */
import { type AggregateExpression, type Column, reader, validityOf } from '../../sql/index.ts';
import type { FrameBounds } from './frame-bounds.ts';
import { checkNth, type Partitions, runs, STEP_ROWS } from './window-ranks.ts';

/** @returns for each row the row whose value it takes; -1 for none. @param columns arguments of the call */
export function* nonNullRows(
  { name }: AggregateExpression,
  [values, distance]: readonly Column[],
  { partitions }: Partitions,
  bounds: FrameBounds | undefined,
): Generator<void, Int32Array> {
  const valued = yield* numbered(values as Column);
  const rows = new Int32Array(partitions.length);
  const by = distance === undefined ? () => 1 : reader(distance);
  for (const part of runs(partitions)) {
    for (let row = part.from; row < part.to; row++) {
      if (row % STEP_ROWS === 0) yield;
      const given = by(row) ?? null;
      if (name === 'nth_value') checkNth(given);
      const far = given === null ? undefined : Number(given);
      const [low, high] = [bounds?.low[row] ?? part.from, bounds?.high[row] ?? part.to];
      rows[row] =
        far === undefined
          ? -1
          : name === 'lag' || name === 'lead'
            ? shiftedRow(valued, row, name === 'lag' ? -far : far, part)
            : inFrame(valued, low, high, name === 'last_value' ? -1 : far);
    }
    yield;
  }
  return rows;
}

interface Numbered {
  /** How many rows with a value lie before each row, and before the end. */
  readonly before: Int32Array;
  readonly rows: Int32Array;
}

function* numbered(column: Column): Generator<void, Numbered> {
  const valid = validityOf(column);
  const before = new Int32Array(column.length + 1);
  const rows = new Int32Array(column.length);
  let count = 0;
  for (let row = 0; row < column.length; row++) {
    before[row] = count;
    if (valid === null || valid[row] !== 0) rows[count++] = row;
    if (row % STEP_ROWS === 0) yield;
  }
  before[column.length] = count;
  return { before, rows: rows.subarray(0, count) };
}

/** The row so many rows with values before or behind one, within its partition. */
function shiftedRow(
  { before, rows }: Numbered,
  row: number,
  by: number,
  { from, to }: { readonly from: number; readonly to: number },
): number {
  if (by === 0) return row;
  const first = by < 0 ? (before[row] as number) : (before[row + 1] as number) - 1;
  const found = rows[first + by] ?? -1;
  return found >= from && found < to ? found : -1;
}

/** The row of such a number from 1 on among those of a frame with values; of -1, the last. */
function inFrame({ before, rows }: Numbered, low: number, high: number, number: number): number {
  const place = number < 0 ? (before[high] as number) - 1 : (before[low] as number) + number - 1;
  const found = rows[place] ?? -1;
  return found >= low && found < high ? found : -1;
}
