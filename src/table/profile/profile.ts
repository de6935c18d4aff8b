/**
 * `profileTable` computes the profiles of the columns of a version. It reads the parts of the table
 * in such an order that the first ones are always a sample (sample-order.ts). When its time is up
 * it stops, after one part at the least, and the result says that it covers a sample. The memory of
 * its counts is bounded by requestMemory. `exactBounds` finds the least and greatest values of
 * columns by statistics, without reading rows. It returns undefined for a column whose statistics
 * do not tell them exactly, for example after rows were deleted, and for all columns if there are
 * more than 20,000 statistics to read. Unknown columns throw TableColumnNotFound, and a faulty
 * filter InvalidInput.
 */
import { crc32 } from 'node:zlib';
import type { Data } from '../../arrow/index.ts';
import {
  type ColumnStatistics,
  type FragmentEntry,
  liveRows,
  mergeStatistics,
} from '../../format/index.ts';
import type { IdentifiedField } from '../fields/index.ts';
import {
  type BatchPlace,
  byteSlices,
  fragmentPlaces,
  fragmentStatistics,
  matchingRows,
  namesRowsOf,
  planScan,
  pruneFragment,
  readLent,
  type ScanPlan,
  type Selection,
  selectedCount,
} from '../read/index.ts';
import type { Engine, Snapshot } from '../versions/index.ts';
import { LentColumns, Turn } from '../work/index.ts';
import { type ColumnProfile, columnProfile } from './column-profile.ts';
import { ColumnTally } from './column-tally.ts';
import { type FragmentPart, SampleOrder } from './sample-order.ts';

export interface ProfileRequest {
  /** All of them if absent. */
  readonly columns?: readonly string[] | undefined;
  /** SQL; rows for which it is true are profiled. */
  readonly filter?: string | undefined;
  /** Milliseconds after which no other batch is begun. */
  readonly budgetMillis: number;
  /** Buckets of a histogram, at most. */
  readonly buckets: number;
  /** The most frequent values of a column, at most. */
  readonly top: number;
  readonly signal?: AbortSignal | undefined;
}

export interface TableProfile {
  /**
   * Rows of the version that match; an estimate where there is a filter and not all were looked at.
   */
  readonly rows: number;
  readonly rowsExact: boolean;
  /** Whether some rows were not looked at. */
  readonly sampled: boolean;
  /** Live rows that were looked at, and how many of them match. */
  readonly rowsScanned: number;
  readonly rowsMatched: number;
  readonly millis: number;
  readonly columns: readonly ColumnProfile[];
}

/** Distinct values that are counted exactly in one column, and in all columns together. */
const MOST_VALUES = 1 << 16;
const FEWEST_VALUES = 1 << 10;
const ALL_VALUES = 1 << 22;
/** Bytes of a tally beside its values. */
const TALLY_BYTES = 65_536;

/** @throws TableColumnNotFound, InvalidInput for a faulty filter */
export async function profileTable(
  engine: Engine,
  snapshot: Snapshot,
  request: ProfileRequest,
): Promise<TableProfile> {
  const { filter, signal, top } = request;
  const began = engine.env.now();
  const { columns } = request;
  const plan = await planScan(engine, snapshot, { columns, filter, signal });
  const each = Math.floor(ALL_VALUES / Math.max(1, plan.columns.length));
  const mostValues = Math.max(FEWEST_VALUES, Math.min(MOST_VALUES, each));
  const tallies: ColumnTally[] = [];
  const held = plan.memory.hold('The profile of the columns');
  const looked = { rows: 0, matched: 0 };
  const turn = new Turn(engine.env);
  try {
    let bytes = 0;
    for (const { type } of plan.schema.fields) {
      const tally = new ColumnTally(type, { mostValues, top });
      tallies.push(tally);
      bytes += tally.values.bytes + TALLY_BYTES;
      held.set(bytes);
    }
    // The order depends on the version alone, so that its profile is the same whenever it is asked
    // for.
    const start = crc32(snapshot.checksum) / 2 ** 32;
    const order = new SampleOrder(await snapshot.fragments(), start);
    let next = 0;
    let before = began;
    for (; next < order.length; next++) {
      const now = engine.env.now();
      // Another batch takes about as long as the last one: half of that may be too much.
      if (next > 0 && now - began + (now - before) / 2 >= request.budgetMillis) break;
      before = now;
      await lookAt(plan, order.at(next), tallies, looked, turn);
      held.set(tallies.reduce((sum, { values }) => sum + values.bytes + TALLY_BYTES, 0));
    }
    const sampled = next < order.length;
    const share = looked.rows === 0 ? 1 : snapshot.rowCount / looked.rows;
    const known = sampled && filter === undefined ? await statisticsOf(plan, turn) : undefined;
    const profiles: ColumnProfile[] = [];
    for (const [at, tally] of tallies.entries()) {
      const field = plan.schema.fields[at] as (typeof plan.schema.fields)[number];
      const sample = { sampled, share, known: known?.[at] };
      profiles.push(await columnProfile(plan, field, tally, sample, request));
      if (turn.isOver()) await turn.pass();
    }
    return {
      rows: filter === undefined ? snapshot.rowCount : Math.round(looked.matched * share),
      rowsExact: filter === undefined || !sampled,
      sampled,
      rowsScanned: looked.rows,
      rowsMatched: looked.matched,
      millis: engine.env.now() - began,
      columns: profiles,
    };
  } finally {
    held.end();
  }
}

async function lookAt(
  plan: ScanPlan,
  { entry, position, part, parts }: FragmentPart,
  tallies: readonly ColumnTally[],
  looked: { rows: number; matched: number },
  turn: Turn,
): Promise<void> {
  const { predicate, snapshot, signal } = plan;
  signal?.throwIfAborted();
  if (turn.isOver()) await turn.pass();
  const isRuledOut =
    predicate !== undefined &&
    (!namesRowsOf(plan, entry, position) || pruneFragment(predicate, snapshot, entry) === 'none');
  if (isRuledOut) {
    // Once for all of its parts.
    if (part === 0) looked.rows += liveRows(entry);
    return;
  }
  let isLast = false;
  for await (const place of fragmentPlaces(plan, entry, position, turn)) {
    const { length } = place.reader.footer.batches;
    // A fragment may have more batches than parts, or fewer.
    if (Math.floor((place.index * parts) / length) !== part) {
      if (isLast) return;
      continue;
    }
    isLast = true;
    await countBatch(plan, place, tallies, looked, turn);
  }
}

async function countBatch(
  plan: ScanPlan,
  place: BatchPlace,
  tallies: readonly ColumnTally[],
  looked: { rows: number; matched: number },
  turn: Turn,
): Promise<void> {
  const live = place.rows - (place.deleted?.countBetween(place.first, place.rows) ?? 0);
  looked.rows += live;
  const lent = new LentColumns(plan.engine.scratch);
  try {
    const selection = await matchingRows(plan, place, lent);
    const count = selectedCount(selection, place.rows);
    looked.matched += count;
    if (count === 0) return;
    const columns = await readLent(plan, place, selection, lent);
    const offsetOf = offsetsOf(place, selection);
    for (const [at, tally] of tallies.entries()) {
      await addInSlices(plan, tally, columns[at] as Data, place.entry, offsetOf, turn);
    }
  } finally {
    lent.giveBack();
  }
}

const offsetsOf = ({ first }: BatchPlace, selection: Selection): ((row: number) => number) =>
  selection === undefined ? (row) => first + row : (row) => first + (selection[row] as number);

async function addInSlices(
  { signal }: ScanPlan,
  tally: ColumnTally,
  data: Data,
  { id }: FragmentEntry,
  offsetOf: (row: number) => number,
  turn: Turn,
): Promise<void> {
  for (const { from, columns } of byteSlices([data], data.length)) {
    tally.add(columns[0] as Data, id, from === 0 ? offsetOf : (row) => offsetOf(from + row));
    if (!turn.isOver()) continue;
    await turn.pass();
    signal?.throwIfAborted();
  }
}

/** The least and the greatest value of a column; NaN is neither. */
export interface ColumnBounds {
  readonly min: NonNullable<ColumnStatistics['min']>;
  readonly max: NonNullable<ColumnStatistics['max']>;
  readonly hasNaN: boolean;
}

/**
 * The bounds of whole columns, by statistics alone; undefined where these do not tell them exactly.
 */
export async function exactBounds(
  engine: Engine,
  snapshot: Snapshot,
  columns: readonly string[],
): Promise<readonly (ColumnBounds | undefined)[]> {
  const plan = await planScan(engine, snapshot, { columns });
  const known = await statisticsOf(plan, new Turn(engine.env));
  return columns.map((_, at) => {
    const { min, max, minExact, maxExact, nans = 0 } = known?.[at] ?? {};
    if (min === undefined || max === undefined || !minExact || !maxExact) return undefined;
    return { min, max, hasNaN: nans > 0 };
  });
}

/** The statistics of each column over all fragments; undefined if they do not describe all rows. */
async function statisticsOf(
  { snapshot, columns }: ScanPlan,
  turn: Turn,
): Promise<readonly (ColumnStatistics | undefined)[] | undefined> {
  const entries = await snapshot.fragments();
  if (entries.length * columns.length > MOST_STATISTICS) return undefined;
  // Statistics are of deleted rows too.
  if (entries.some(({ deletion }) => deletion !== undefined)) return undefined;
  const found: (ColumnStatistics | undefined)[] = [];
  for (const column of columns) {
    found.push(
      column.kind === 'field'
        ? await mergedStatistics(snapshot, entries, column.field, turn)
        : undefined,
    );
  }
  return found;
}

/** Decoding more of them takes longer than looking at rows. */
const MOST_STATISTICS = 20_000;

async function mergedStatistics(
  snapshot: Snapshot,
  entries: readonly FragmentEntry[],
  field: IdentifiedField,
  turn: Turn,
): Promise<ColumnStatistics | undefined> {
  let merged: ColumnStatistics | undefined;
  for (const entry of entries) {
    const known = fragmentStatistics(snapshot, entry, field);
    if (known === undefined) return undefined;
    merged = merged === undefined ? known : mergeStatistics(merged, known);
    if (turn.isOver()) await turn.pass();
  }
  return merged;
}
