/**
 * `GroupedRows` keeps which group each collected row belongs to, batch by batch. `inOrder` sorts
 * the places of the rows by group, and `starts` tells where each group begins, both in steps.
 * `counted` leaves out the rows of a batch that count in no group. A place takes `PLACE_BYTES` of
 * memory. collections.ts and quantiles.ts keep the values themselves.
 */
import type { RowPlaces } from './row-places.ts';

/** Bytes that the place of a row takes in the end, with its group. */
export const PLACE_BYTES = 12;

/** Rows by group: those of group g are from `starts[g]` on, up to `starts[g + 1]`. */
export interface ByGroup {
  readonly starts: Uint32Array;
  readonly places: RowPlaces;
}

/** The rows that count, of all batches, with a number of their group each. */
export class GroupedRows {
  readonly groups: Int32Array[] = [];
  rows = 0;
  #size = 0;

  /** @param groups of rows that all count */
  add(groups: Int32Array, size: number): void {
    this.groups.push(groups);
    this.rows += groups.length;
    this.#size = Math.max(this.#size, size);
  }

  *starts(): Generator<void, Uint32Array> {
    const starts = new Uint32Array(this.#size + 1);
    for (const groups of this.groups) {
      count(groups, starts);
      yield;
    }
    for (let group = 0; group < this.#size; group++) {
      (starts[group + 1] as number) += starts[group] as number;
    }
    return starts;
  }

  /** The places of the rows of each group, in the order in which the rows came. */
  *inOrder(): Generator<void, ByGroup> {
    const starts = yield* this.starts();
    const next = starts.slice();
    const places = { batch: new Uint32Array(this.rows), row: new Uint32Array(this.rows) };
    for (const [batch, groups] of this.groups.entries()) {
      place(groups, batch, next, places);
      yield;
    }
    return { starts, places };
  }
}

// Loops are functions of their own, as V8 optimizes those in generators late.

/** Counts the rows of each group, one place behind its own. */
function count(groups: Int32Array, counts: Uint32Array): void {
  for (let row = 0; row < groups.length; row++) {
    const at = (groups[row] as number) + 1;
    counts[at] = (counts[at] as number) + 1;
  }
}

function place(groups: Int32Array, batch: number, next: Uint32Array, into: RowPlaces): void {
  const { batch: batches, row: rows } = into;
  for (let row = 0; row < groups.length; row++) {
    const group = groups[row] as number;
    const to = next[group] as number;
    next[group] = to + 1;
    batches[to] = batch;
    rows[to] = row;
  }
}

/** The numbers of the rows that count, and their groups. */
export function counted(groups: Int32Array): { rows: Uint32Array; groups: Int32Array } {
  const rows = new Uint32Array(groups.length);
  let count = 0;
  for (let row = 0; row < groups.length; row++) {
    if ((groups[row] as number) >= 0) rows[count++] = row;
  }
  if (count === groups.length) return { rows, groups: groups.slice() };
  return {
    rows: rows.subarray(0, count),
    groups: Int32Array.from(rows.subarray(0, count), (row) => groups[row] as number),
  };
}
