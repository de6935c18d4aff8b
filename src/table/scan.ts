/**
 * Snapshot -> record batches, in row order, with memory bounded by a few batches. Batches ahead of
 * the reader are read while it works on the one it has.
 */
import type { Data, RecordBatch, RecordBatchStream, Schema } from '../arrow.ts';
import { recordBatch } from '../format/arrow-data.ts';
import { type FragmentEntry, liveRows } from '../format/fragment-entry.ts';
import type { Awaitable } from '../store/store.ts';
import {
  type BatchPlace,
  matchingCount,
  matchingRows,
  readSelected,
  type Selection,
  selectedCount,
} from './batch-rows.ts';
import { deletedRows } from './deletions.ts';
import type { Engine } from './engine.ts';
import { FragmentReader } from './fragment-reader.ts';
import { namesRowsOf } from './named-rows.ts';
import { pruneFragment } from './pruning.ts';
import { planScan, type ScanPlan, type ScanRequest } from './scan-plan.ts';
import { LentColumns } from './scratch.ts';
import type { Snapshot } from './snapshot.ts';

/** Batches read ahead of the one that is being used. */
const AHEAD = 3;

/** @throws TableColumnNotFound, InvalidInput at once; what goes wrong while reading, while reading */
export async function scan(
  engine: Engine,
  snapshot: Snapshot,
  request: ScanRequest,
): Promise<RecordBatchStream> {
  return scanStream(await planScan(engine, snapshot, request));
}

export const scanStream = (plan: ScanPlan): RecordBatchStream => new ScanStream(plan);

class ScanStream implements RecordBatchStream {
  readonly #plan: ScanPlan;

  constructor(plan: ScanPlan) {
    this.#plan = plan;
  }

  get schema(): Schema {
    return this.#plan.schema;
  }

  [Symbol.asyncIterator](): AsyncGenerator<RecordBatch> {
    return isBounded(this.#plan) ? boundedBatches(this.#plan) : allBatches(this.#plan);
  }
}

const isBounded = (plan: ScanPlan): boolean =>
  plan.limit !== Number.MAX_SAFE_INTEGER || plan.offset > 0;

/** Rows that the plan's predicate selects. */
export async function countMatches(plan: ScanPlan): Promise<number> {
  let count = 0;
  for await (const found of pipelined(plan, (place) => matchingCount(plan, place))) count += found;
  return count;
}

/** No more is read than the rows asked for need. */
async function* boundedBatches(plan: ScanPlan): AsyncGenerator<RecordBatch> {
  const window = { skip: plan.offset };
  let wanted = plan.limit;
  if (wanted <= 0) return;
  for await (const place of places(plan, window)) {
    const selection = await matchingRows(plan, place);
    const found = selectedCount(selection, place.rows);
    const from = Math.min(window.skip, found);
    window.skip -= from;
    const taken = Math.min(found - from, wanted);
    if (taken === 0) continue;
    const part = partOf(selection, place.rows, from, taken);
    yield batchOf(plan, await readSelected(plan, place, part), taken);
    wanted -= taken;
    if (wanted === 0) return;
  }
}

function partOf(selection: Selection, rows: number, from: number, count: number): Selection {
  if (from === 0 && count === selectedCount(selection, rows)) return selection;
  if (selection !== undefined) return selection.subarray(from, from + count);
  const picked = new Uint32Array(count);
  for (let at = 0; at < count; at++) picked[at] = from + at;
  return picked;
}

async function* allBatches(plan: ScanPlan): AsyncGenerator<RecordBatch> {
  for await (const batch of pipelined(plan, (place) => readBatch(plan, place))) {
    if (batch !== undefined) yield batch;
  }
}

/** Works on a few batches at once and gives the results in row order. */
export async function* pipelined<Result>(
  plan: ScanPlan,
  work: (place: BatchPlace) => Promise<Result>,
): AsyncGenerator<Result> {
  const pending: Promise<Result>[] = [];
  try {
    for await (const place of places(plan)) {
      const release = place.reader.retain();
      const next = work(place).finally(release);
      // Awaited in order below; an early failure of a later one must not count as unhandled.
      next.catch(() => {});
      pending.push(next);
      if (pending.length > AHEAD) yield (await pending.shift()) as Result;
    }
    while (pending.length > 0) yield (await pending.shift()) as Result;
  } finally {
    await Promise.allSettled(pending);
  }
}

async function readBatch(plan: ScanPlan, place: BatchPlace): Promise<RecordBatch | undefined> {
  const lent = new LentColumns();
  const selection = await matchingRows(plan, place, lent);
  const count = selectedCount(selection, place.rows);
  const columns = count === 0 ? [] : await readSelected(plan, place, selection, lent);
  lent.giveBack(plan.engine.scratch);
  return count === 0 ? undefined : batchOf(plan, columns, count);
}

function batchOf(plan: ScanPlan, columns: Data[], rows: number): RecordBatch {
  plan.counters.rowsReturned += rows;
  return recordBatch(plan.schema, columns, rows);
}

/**
 * The batches a scan looks into, in row order. Without a predicate whole fragments of rows to be
 * skipped are passed over, and taken off `window.skip`.
 */
export async function* places(
  plan: ScanPlan,
  window: { skip: number } = { skip: 0 },
): AsyncGenerator<BatchPlace> {
  const { snapshot, predicate, counters } = plan;
  let position = 0;
  for (const entry of await snapshot.fragments()) {
    plan.signal?.throwIfAborted();
    const live = liveRows(entry);
    const first = position;
    position += live;
    counters.fragments += 1;
    if (predicate === undefined) {
      if (window.skip >= live) {
        window.skip -= live;
        continue;
      }
    } else if (
      !namesRowsOf(plan, entry, first) ||
      pruneFragment(predicate, snapshot, entry) === 'none'
    ) {
      counters.fragmentsPruned += 1;
      continue;
    }
    // Not handed on to fragmentPlaces: every batch would be waited for once more.
    const opened = openFragment(plan, entry);
    const fragment = opened instanceof Promise ? await opened : opened;
    try {
      for (const place of batchesOf(plan, entry, fragment, first)) yield place;
    } finally {
      fragment.reader.close();
    }
  }
}

/** The batches of one fragment, whose first live row has this position in the version. */
export async function* fragmentPlaces(
  plan: ScanPlan,
  entry: FragmentEntry,
  position: number,
): AsyncGenerator<BatchPlace> {
  const fragment = await openFragment(plan, entry);
  try {
    for (const place of batchesOf(plan, entry, fragment, position)) yield place;
  } finally {
    fragment.reader.close();
  }
}

type OpenFragment = Pick<BatchPlace, 'reader' | 'deleted'>;

/** At once where nothing has to be waited for: that is a good part of reading a small fragment. */
function openFragment(plan: ScanPlan, entry: FragmentEntry): Awaitable<OpenFragment> {
  const { engine, snapshot } = plan;
  const open = (deleted: BatchPlace['deleted']): Awaitable<OpenFragment> => {
    const reader = FragmentReader.open(engine, snapshot, entry, plan);
    return reader instanceof Promise
      ? reader.then((opened) => ({ reader: opened, deleted }))
      : { reader, deleted };
  };
  if (entry.deletion === undefined) return open(undefined);
  return deletedRows(engine, snapshot, entry).then(open);
}

function* batchesOf(
  plan: ScanPlan,
  entry: FragmentEntry,
  { reader, deleted }: OpenFragment,
  position: number,
): Generator<BatchPlace> {
  let first = 0;
  let next = position;
  for (const [index, { rows }] of reader.footer.batches.entries()) {
    plan.signal?.throwIfAborted();
    yield { reader, entry, deleted, index, first, rows, position: next };
    next += rows - (deleted?.countBetween(first, rows) ?? 0);
    first += rows;
  }
}
