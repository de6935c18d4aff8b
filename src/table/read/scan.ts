/**
 * `scan` reads a snapshot as a stream of record batches in row order. With a limit or offset it
 * reads one batch after the other and stops when it has the requested rows; a batch without
 * requested rows costs at most the columns of the filter. Without a limit and offset it may read up
 * to three batches ahead, as far as the server's memory allows. Unknown columns and faulty SQL are
 * refused at once, and damage is thrown while reading. `pipelined` runs other work on the batches
 * of a plan, such as counts and deletions. It gives the results in row order, without undefined
 * ones, and ignores the plan's limit and offset.
 */
import {
  batchBytes,
  consecutive,
  type Data,
  type RecordBatch,
  type RecordBatchStream,
  recordBatch,
  type Schema,
} from '../../arrow/index.ts';
import { stepped } from '../../stepped.ts';
import type { Awaitable } from '../../store/index.ts';
import type { Engine, Snapshot } from '../versions/index.ts';
import { andThen, LentColumns } from '../work/index.ts';
import {
  type BatchPlace,
  matchingRows,
  readSelected,
  type Selection,
  selectedCount,
} from './batch-rows.ts';
import { batchInLine, batchNow, type PassingBatch, placeBytes } from './passing-batch.ts';
import { Places } from './places.ts';
import { planScan, type ScanPlan, type ScanRequest } from './scan-plan.ts';

/** Batches read ahead of the one that is being used. */
const AHEAD = 3;

/**
 * @throws TableColumnNotFound, InvalidInput at once; what goes wrong while reading, while reading
 */
export async function scan(
  engine: Engine,
  snapshot: Snapshot,
  request: ScanRequest,
): Promise<RecordBatchStream> {
  return new ScanStream(await planScan(engine, snapshot, request));
}

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
function boundedBatches(plan: ScanPlan): AsyncGenerator<RecordBatch> {
  const window = { skip: plan.offset };
  let wanted = plan.limit;
  let places: Places | undefined;
  let passing: PassingBatch | undefined;
  const step = async (): Promise<RecordBatch | undefined> => {
    while (wanted > 0) {
      passing?.end();
      places ??= new Places(plan, window);
      const place = await places.next();
      if (place === undefined) return undefined;
      const bytes = placeBytes(plan, place);
      passing = batchNow(plan, bytes) ?? (await batchInLine(plan, bytes));
      const selection = await matchingRows(plan, place);
      const found = selectedCount(selection, place.rows);
      const from = Math.min(window.skip, found);
      window.skip -= from;
      const taken = Math.min(found - from, wanted);
      if (taken === 0) continue;
      const part = partOf(selection, place.rows, from, taken);
      const batch = batchOf(plan, await readSelected(plan, place, part), taken);
      if (makesValues(plan)) passing.grow(batchBytes(batch));
      wanted -= taken;
      return batch;
    }
    return undefined;
  };
  return stepped(step, () => {
    passing?.end();
    places?.close();
  });
}

function partOf(selection: Selection, rows: number, from: number, count: number): Selection {
  if (from === 0 && count === selectedCount(selection, rows)) return selection;
  return selection?.subarray(from, from + count) ?? consecutive(from, count);
}

const allBatches = (plan: ScanPlan): AsyncGenerator<RecordBatch> =>
  pipelined(
    plan,
    (place) => readBatch(plan, place),
    makesValues(plan) ? (batch) => batchBytes(batch) : undefined,
  );

/** Whether columns of the plan are computed, so that stored bytes tell nothing of theirs. */
const makesValues = ({ columns }: ScanPlan): boolean =>
  columns.some(({ kind }) => kind === 'value');

interface Pending<Result> {
  readonly result: Awaitable<Result | undefined>;
  readonly passing: PassingBatch;
}

/**
 * Works on a few batches at once and gives the results in row order, but those that are undefined.
 * Works ahead only as far as the memory of the server allows; the memory of a result is given back
 * when the next one is asked for.
 * @param bytesOf of a result, where the stored bytes of its batch do not tell
 * @param allMatch as Places takes it
 */
export function pipelined<Result>(
  plan: ScanPlan,
  work: (place: BatchPlace) => Awaitable<Result | undefined>,
  bytesOf?: (result: Result) => number,
  allMatch?: (rows: number) => void,
): AsyncGenerator<Result> {
  const pending: Pending<Result>[] = [];
  /** How many of them may wait while others are begun. */
  let ahead = 0;
  let places: Places | undefined;
  let isOver = false;
  /** The next place, where there is no memory for its batch. */
  let short: BatchPlace | undefined;
  let given: PassingBatch | undefined;
  const begin = (place: BatchPlace, passing: PassingBatch): void => {
    pending.push({ result: begun(place, work), passing });
    // Nothing is gained by working ahead of a result that is there.
    ahead = pending[0]?.result instanceof Promise ? AHEAD : pending.length - 1;
  };
  const step = async (): Promise<Result | undefined> => {
    for (;;) {
      while (pending.length > ahead) {
        given?.end();
        const first = pending.shift() as Pending<Result>;
        given = first.passing;
        const result = first.result instanceof Promise ? await first.result : first.result;
        if (result === undefined) continue;
        if (bytesOf !== undefined) given.grow(bytesOf(result));
        return result;
      }
      if (isOver) return undefined;
      if (short !== undefined) {
        given?.end();
        const passing = await batchInLine(plan, placeBytes(plan, short));
        begin(short, passing);
        short = undefined;
        continue;
      }
      places ??= new Places(plan, undefined, allMatch);
      const next = places.next();
      const place = next instanceof Promise ? await next : next;
      const passing = place === undefined ? undefined : batchNow(plan, placeBytes(plan, place));
      isOver = place === undefined;
      if (place !== undefined && passing !== undefined) begin(place, passing);
      else ahead = 0;
      if (passing === undefined) short = place;
    }
  };
  return stepped(step, async () => {
    places?.close();
    given?.end();
    await Promise.allSettled(pending.map(({ result }) => result));
    for (const { passing } of pending) passing.end();
  });
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
  return recordBatch(plan.schema, columns, rows);
}
