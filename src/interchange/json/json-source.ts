/**
 * `jsonRows` returns the rows of a JSON file as objects that can be read once. `lineOf` finds the
 * line on which one of the last 32,768 rows began, for errors about a row that does not fit its
 * table.
 */
import type { JsonRow } from './json-rows.ts';

/** More than the rows of two batches. */
const KEPT = 1 << 15;

/** Rows that are read as they are pulled, and `lineOf`: both as `FileRows` has them. */
export function jsonRows(found: AsyncIterable<JsonRow>): {
  readonly data: AsyncIterable<object>;
  lineOf(row: number): number | undefined;
} {
  const lines: number[] = [];
  let count = 0;
  async function* rows(): AsyncGenerator<object> {
    for await (const { line, row } of found) {
      lines[count++ % KEPT] = line;
      yield row;
    }
  }
  return {
    data: rows(),
    lineOf: (row) => (row < count && row >= count - KEPT ? lines[row % KEPT] : undefined),
  };
}
