/**
 * Makes masks of the rows of an index segment, by position: `liveRows` marks the rows that are not
 * deleted, and `markMatching` those that match the predicate of a plan. Rows of fragments that the
 * segment does not cover are never marked.
 */

import { deletedRows } from '../fragments/index.ts';
import { type CoveredSegment, placedRuns } from '../indexes/index.ts';
import type { Engine, Snapshot } from '../versions/index.ts';
import { andThen } from '../work/index.ts';
import { matchingRows } from './batch-rows.ts';
import { pipelined } from './scan.ts';
import type { ScanPlan } from './scan-plan.ts';

/** A mask of the rows of a segment in which none is marked. */
export const emptyMask = ({ segment }: CoveredSegment): Uint8Array =>
  new Uint8Array(segment.runs.reduce((sum, { rows }) => sum + rows, 0));

/** Not 0 for live rows; undefined if all rows of the segment are live. */
export async function liveRows(
  engine: Engine,
  snapshot: Snapshot,
  covered: CoveredSegment,
): Promise<Uint8Array | undefined> {
  if (covered.isWhole) return undefined;
  const live = emptyMask(covered);
  const entries = new Map(covered.entries.map((entry) => [entry.id, entry]));
  for (const { fragment, rows, start } of placedRuns(covered.segment)) {
    const entry = entries.get(fragment);
    if (entry === undefined) continue;
    live.fill(1, start, start + rows);
    const deleted = await deletedRows(engine, snapshot, entry);
    for (const offset of deleted?.offsets ?? []) live[start + offset] = 0;
  }
  return live;
}

/** A segment, and the mask of the rows of it that are wanted. */
export interface MaskedSegment {
  readonly covered: CoveredSegment;
  readonly wanted: Uint8Array;
}

/** Marks the live rows of the segments that match the predicate, and counts them. */
export async function markMatching(
  filter: ScanPlan,
  segments: readonly MaskedSegment[],
): Promise<number> {
  const places = new Map<number, { readonly wanted: Uint8Array; readonly start: number }>();
  for (const { covered, wanted } of segments) {
    const own = new Set(covered.entries.map(({ id }) => id));
    for (const { fragment, start } of placedRuns(covered.segment)) {
      if (own.has(fragment)) places.set(fragment, { wanted, start });
    }
  }
  const plan = { ...filter, isNeedless: ({ id }: { readonly id: number }) => !places.has(id) };
  const batches = pipelined(plan, (place) =>
    andThen(matchingRows(plan, place), (rows) => ({ place, rows })),
  );
  let count = 0;
  for await (const { place, rows } of batches) {
    const at = places.get(place.entry.id);
    if (at === undefined) continue;
    const from = at.start + place.first;
    count += rows?.length ?? place.rows;
    if (rows === undefined) at.wanted.fill(1, from, from + place.rows);
    else for (const row of rows) at.wanted[from + row] = 1;
  }
  return count;
}
