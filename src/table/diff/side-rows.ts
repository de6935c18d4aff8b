/**
 * `sideRows` reads the rows of one version that the other may lack. From a fragment that only this
 * version has, it reads all live rows. From a fragment in both, it reads the live rows that the
 * other has deleted, or all live rows if columns were rewritten.
 */
import type { Data } from '../../arrow/index.ts';
import { firstAtLeast } from '../../binary-search.ts';
import type { FragmentEntry } from '../../format/index.ts';
import { type DeletedRows, deletedRows } from '../fragments/index.ts';
import {
  type BatchPlace,
  byteSlices,
  fragmentPlaces,
  readSelected,
  type ScanPlan,
} from '../read/index.ts';
import type { Engine, Snapshot } from '../versions/index.ts';
import type { Turn } from '../work/index.ts';
import { type FragmentDifferences, hasSameValues } from './fragment-differences.ts';

/** Rows of a batch, as columns of the plan. */
export interface SideRows {
  readonly columns: readonly Data[];
  readonly rows: number;
  readonly fragment: number;
  /** The offset in the fragment of a row. */
  readonly offsetOf: (row: number) => number;
}

/** A fragment, and the rows of it that the other version has deleted if only those may differ. */
interface Candidate {
  readonly entry: FragmentEntry;
  readonly deletedThere: DeletedRows | undefined;
}

/** @param side which of the two the plan reads */
export async function* sideRows(
  plan: ScanPlan,
  other: Snapshot,
  fragments: FragmentDifferences,
  side: 'from' | 'to',
  turn: Turn,
): AsyncGenerator<SideRows> {
  const { engine, snapshot, signal } = plan;
  for await (const { entry, deletedThere } of candidates(engine, other, fragments, side)) {
    for await (const place of fragmentPlaces(plan, entry, 0, turn)) {
      signal?.throwIfAborted();
      const deleted = await deletedRows(engine, snapshot, entry);
      const selection = wantedRows(place, deleted, deletedThere);
      const count = selection === undefined ? place.rows : selection.length;
      if (count === 0) continue;
      const columns = await readSelected(plan, place, selection);
      const offset = (row: number): number => place.first + (selection?.[row] ?? row);
      for (const slice of byteSlices(columns, count)) {
        const { from } = slice;
        yield { ...slice, fragment: entry.id, offsetOf: (row) => offset(from + row) };
        if (turn.isOver()) await turn.pass();
      }
    }
  }
}

async function* candidates(
  engine: Engine,
  other: Snapshot,
  { added, removed, changed }: FragmentDifferences,
  side: 'from' | 'to',
): AsyncGenerator<Candidate> {
  for (const entry of side === 'from' ? removed : added) yield { entry, deletedThere: undefined };
  for (const pair of changed) {
    const [entry, there] = side === 'from' ? [pair.from, pair.to] : [pair.to, pair.from];
    if (!hasSameValues(pair)) {
      yield { entry, deletedThere: undefined };
      continue;
    }
    const deletedThere = await deletedRows(engine, other, there);
    if (deletedThere !== undefined) yield { entry, deletedThere };
  }
}

/** Live rows of a batch; of those that the other version has deleted where it is said which. */
function wantedRows(
  { first, rows }: BatchPlace,
  deleted: DeletedRows | undefined,
  deletedThere: DeletedRows | undefined,
): Uint32Array | undefined {
  if (deletedThere === undefined) return deleted?.keptBetween(first, rows);
  const { offsets } = deletedThere;
  return offsets
    .subarray(firstAtLeast(offsets, first), firstAtLeast(offsets, first + rows))
    .filter((offset) => deleted?.has(offset) !== true)
    .map((offset) => offset - first);
}
