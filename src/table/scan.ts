/**
 * Snapshot -> record batches, in row order, with memory bounded by a few batches. Batches ahead of
 * the reader are read while it works on the one it has.
 */
import type { Data, RecordBatch, RecordBatchStream, Schema } from '../arrow.ts';
import { recordBatch } from '../format/arrow-data.ts';
import type { Awaitable } from '../store/store.ts';
import { andThen } from './awaitable.ts';
import {
  type BatchPlace,
  matchingRows,
  readSelected,
  type Selection,
  selectedCount,
} from './batch-rows.ts';
import type { Engine } from './engine.ts';
import { Places } from './places.ts';
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

/** No more is read than the rows asked for need. */
async function* boundedBatches(plan: ScanPlan): AsyncGenerator<RecordBatch> {
  const window = { skip: plan.offset };
  let wanted = plan.limit;
  if (wanted <= 0) return;
  const places = new Places(plan, await plan.snapshot.fragments(), window);
  try {
    for (let place = await places.next(); place !== undefined; place = await places.next()) {
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
  } finally {
    places.close();
  }
}

function partOf(selection: Selection, rows: number, from: number, count: number): Selection {
  if (from === 0 && count === selectedCount(selection, rows)) return selection;
  if (selection !== undefined) return selection.subarray(from, from + count);
  const picked = new Uint32Array(count);
  for (let at = 0; at < count; at++) picked[at] = from + at;
  return picked;
}

const allBatches = (plan: ScanPlan): AsyncGenerator<RecordBatch> =>
  pipelined(plan, (place) => readBatch(plan, place));

/** Works on a few batches at once and gives the results in row order, but those that are undefined. */
export async function* pipelined<Result>(
  plan: ScanPlan,
  work: (place: BatchPlace) => Awaitable<Result | undefined>,
): AsyncGenerator<Result> {
  const places = new Places(plan, await plan.snapshot.fragments());
  const pending: Awaitable<Result | undefined>[] = [];
  try {
    for (;;) {
      const next = places.next();
      const place = next instanceof Promise ? await next : next;
      if (place === undefined) break;
      pending.push(begun(place, work));
      // Nothing is gained by working ahead of a result that is there.
      if (pending.length <= AHEAD && pending[0] instanceof Promise) continue;
      const first = pending.shift();
      const result = first instanceof Promise ? await first : first;
      if (result !== undefined) yield result;
    }
    for (const left of pending.splice(0)) {
      const result = await left;
      if (result !== undefined) yield result;
    }
  } finally {
    places.close();
    await Promise.allSettled(pending);
  }
}

/** The reader stays open until the work is done. An error is given in its turn, like a result. */
function begun<Result>(
  place: BatchPlace,
  work: (place: BatchPlace) => Awaitable<Result>,
): Awaitable<Result> {
  const release = place.reader.retain();
  let result: Awaitable<Result>;
  try {
    result = work(place);
  } catch (error) {
    result = Promise.reject(error);
  }
  if (!(result instanceof Promise)) {
    release();
    return result;
  }
  const released = result.finally(release);
  // Awaited in its turn; until then it must not count as unhandled.
  released.catch(() => {});
  return released;
}

function readBatch(plan: ScanPlan, place: BatchPlace): Awaitable<RecordBatch | undefined> {
  const lent = plan.predicate === undefined ? undefined : new LentColumns(plan.engine.scratch);
  return andThen(matchingRows(plan, place, lent), (selection) => {
    const count = selectedCount(selection, place.rows);
    const columns = count === 0 ? [] : readSelected(plan, place, selection, lent);
    return andThen(columns, (read) => {
      lent?.giveBack();
      return count === 0 ? undefined : batchOf(plan, read, count);
    });
  });
}

function batchOf(plan: ScanPlan, columns: Data[], rows: number): RecordBatch {
  plan.counters.rowsReturned += rows;
  return recordBatch(plan.schema, columns, rows);
}
