/**
 * `TableRows` numbers all rows of a version, deleted ones too, in the order of its fragments.
 * `startOf` returns the number of the first row of a fragment, and `rowIdsOf` converts such numbers
 * to row ids.
 */
import { firstAbove } from '../../binary-search.ts';
import type { Snapshot } from '../versions/index.ts';
import type { Turn } from '../work/index.ts';

/** Row ids that are looked up between two turns. */
const STEP_ROWS = 16_384;

const known = new WeakMap<Snapshot, Promise<TableRows>>();

export class TableRows {
  readonly #starts: ReadonlyMap<number, number>;
  readonly #fragments: readonly number[];
  readonly #firsts: Float64Array;

  private constructor(
    starts: ReadonlyMap<number, number>,
    fragments: readonly number[],
    firsts: Float64Array,
  ) {
    this.#starts = starts;
    this.#fragments = fragments;
    this.#firsts = firsts;
  }

  static of(snapshot: Snapshot): Promise<TableRows> {
    let rows = known.get(snapshot);
    if (rows === undefined) {
      rows = numbered(snapshot);
      rows.catch(() => known.delete(snapshot));
      known.set(snapshot, rows);
    }
    return rows;

    async function numbered({ fragments }: Snapshot): Promise<TableRows> {
      const entries = await fragments.call(snapshot);
      const starts = new Map<number, number>();
      let start = 0;
      for (const { id, rows: own } of entries) {
        starts.set(id, start);
        start += own;
      }
      return new TableRows(starts, [...starts.keys()], Float64Array.from(starts.values()));
    }
  }

  /** The number of the first row of a fragment. */
  startOf(fragment: number): number {
    return this.#starts.get(fragment) as number;
  }

  async rowIdsOf(
    rows: Float64Array,
    turn: Turn,
    signal: AbortSignal | undefined,
  ): Promise<BigUint64Array> {
    const ids = new BigUint64Array(rows.length);
    for (let at = 0; at < rows.length; at++) {
      ids[at] = this.#idOf(rows[at] as number);
      if (at % STEP_ROWS !== STEP_ROWS - 1 || !turn.isOver()) continue;
      await turn.pass();
      signal?.throwIfAborted();
    }
    return ids;
  }

  #idOf(row: number): bigint {
    const at = firstAbove(this.#firsts, row) - 1;
    const offset = row - (this.#firsts[at] as number);
    return (BigInt(this.#fragments[at] as number) << 32n) | BigInt(offset);
  }
}
