/**
 * Makes masks of the rows of an index segment, with one byte for each row. `emptyMask` marks none.
 * `liveRows` marks the rows that are not deleted, and returns undefined if all rows are live.
 * `markMatching` marks those that match the predicate of a plan, and counts them. Rows of fragments
 * that the segment does not cover in this version are never marked. Masks of live rows are cached
 * and shared, so callers must not change them.
 */

import { deletedRows } from '../fragments/index.ts';
import { type CoveredSegment, placedRuns, rowsIn } from '../indexes/index.ts';
import type { Engine, Snapshot } from '../versions/index.ts';
import { andThen } from '../work/index.ts';
import { matchingRows } from './batch-rows.ts';
import { pipelined } from './scan.ts';
import type { ScanPlan } from './scan-plan.ts';

/** A mask of the rows of a segment in which none is marked. */
export const emptyMask = ({ segment }: CoveredSegment): Uint8Array =>
  new Uint8Array(rowsIn(segment.runs));

const keys = new WeakMap<CoveredSegment, string>();
let keyed = 0;

/** Of what a segment covers of a version, which is one object for as long as that is kept. */
function keyOf(covered: CoveredSegment): string {
  let key = keys.get(covered);
  if (key === undefined) {
    keyed += 1;
    key = `live rows ${keyed}`;
    keys.set(covered, key);
  }
  return key;
}

/**
 * Not 0 for live rows; undefined if all rows of the segment are live. Callers share it and must not
 * change it.
 */
export async function liveRows(
  engine: Engine,
  snapshot: Snapshot,
  covered: CoveredSegment,
): Promise<Uint8Array | undefined> {
  if (covered.isWhole) return undefined;
  const key = keyOf(covered);
  const known = engine.buffers.get<Uint8Array>(key);
  if (known !== undefined) return known;
  const live = emptyMask(covered);
  const entries = new Map(covered.entries.map((entry) => [entry.id, entry]));
  for (const { fragment, rows, start } of placedRuns(covered.segment)) {
    const entry = entries.get(fragment);
    if (entry === undefined) continue;
    live.fill(1, start, start + rows);
    const deleted = await deletedRows(engine, snapshot, entry);
    for (const offset of deleted?.offsets ?? []) live[start + offset] = 0;
  }
  engine.buffers.set(key, live, live.byteLength + 256);
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
