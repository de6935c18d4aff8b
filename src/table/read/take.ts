/**
 * `take` reads the rows with given ids, or at given offsets among the live rows, in the order asked
 * for and with repeats. Ids of deleted or unknown rows, and offsets past the last row, are left
 * out. Unknown columns throw TableColumnNotFound, and faulty SQL InvalidInput. `takenInParts` reads
 * many rows in a given order, for ordered reads, searches and comparisons, in lots of at most
 * 262,144 rows (collect-rows.ts). Within a lot, no batch of the table is read twice. The batches
 * that it returns have at most 8,192 rows.
 */
import {
  batchBytes,
  consecutive,
  type Data,
  newArray,
  nullColumn,
  type RecordBatch,
  type RecordBatchStream,
  recordBatch,
  recordBatchStream,
  type Schema,
} from '../../arrow/index.ts';
import { firstAbove } from '../../binary-search.ts';
import { type FragmentEntry, liveRows } from '../../format/index.ts';
import { stepped } from '../../stepped.ts';
import { type DeletedRows, deletedRows, FragmentCursor } from '../fragments/index.ts';
import type { Engine, Snapshot } from '../versions/index.ts';
import { Turn } from '../work/index.ts';
import { type CollectedRows, collectRows } from './collect-rows.ts';
import { batchInLine, batchNow, type PassingBatch } from './passing-batch.ts';
import { FEW_ROWS, SpareMemory, wordsOf } from './row-requests.ts';
import { planScan, type ScanPlan, type ScanRequest } from './scan-plan.ts';
import { runsWithOffsets } from './wanted-runs.ts';

/** Rows named by id, or by their offsets in row order. */
export interface TakeRequest extends Pick<ScanRequest, 'columns' | 'withRowId' | 'signal'> {
  readonly rowIds?: readonly bigint[] | undefined;
  readonly offsets?: readonly bigint[] | undefined;
}

/** The rows that are there, in the order asked for. @throws TableColumnNotFound, InvalidInput */
export async function take(
  engine: Engine,
  snapshot: Snapshot,
  { rowIds, offsets = [], ...wanted }: TakeRequest,
): Promise<RecordBatchStream> {
  const plan = await planScan(engine, snapshot, wanted);
  const { signal } = wanted;
  const ids =
    rowIds === undefined
      ? await rowIdsAt(engine, snapshot, offsets, signal)
      : await rowIdsOf(engine, rowIds, signal);
  if (ids.length <= FEW_ROWS) {
    const turn = new Turn(engine.env);
    const { parts } = await collectRows(plan, ids, turn, MOST_ROWS);
    const batch = parts[0] ?? recordBatch(plan.schema, emptyColumns(plan.schema), 0);
    return recordBatchStream(plan.schema, [batch]);
  }
  const parts = takenInParts(plan, 0, ids.length, (from, to) => ids.subarray(from, to));
  return recordBatchStream(plan.schema, batchesOf(parts));
}

const batchesOf = (parts: AsyncGenerator<TakenPart>): AsyncGenerator<RecordBatch> =>
  stepped(
    async () => {
      const { done, value } = await parts.next();
      return done === true ? undefined : value.batch;
    },
    () => parts.return(undefined),
  );

const emptyColumns = ({ fields }: Schema): Data[] => fields.map(({ type }) => nullColumn(type, 0));

/** Rows of the one batch of few rows. */
const MOST_ROWS = 2 ** 30;

export interface TakenPart {
  /** The plan's columns of the rows found. */
  readonly batch: RecordBatch;
  /**
   * Positions in the part of the rows found, in its order; deleted and unknown ids are missing.
   */
  readonly found: Uint32Array;
  /** The index in the request at which the part begins. */
  readonly from: number;
}

/** Rows of one batch of an answer, at most. */
const PART_ROWS = 8_192;
/** Rows that are read together, at most: each batch of the table is read once for so many. */
const TOGETHER_ROWS = 1 << 18;
/**
 * Bytes that are read together, at most, if the table is in memory and reading it again costs
 * little.
 */
const TOGETHER_BYTES = 1 << 24;
/** If it is not in memory: this share of a request's memory, and a smaller one of a server's. */
const TOGETHER_SHARE = 1 / 8;
const SERVER_SHARE = 1 / 32;

/**
 * Reads the rows `from` to `to` of an order in batches, each of at most 8,192 rows and about as
 * many bytes as a batch of the table may have.
 */
export function takenInParts(
  plan: ScanPlan,
  from: number,
  to: number,
  rowIds: (from: number, to: number) => BigUint64Array,
): AsyncGenerator<TakenPart> {
  const { snapshot, engine, signal } = plan;
  const rowBytes = snapshot.manifest.totals.bytes / Math.max(1, snapshot.rowCount);
  const fitting = (bytes: number): number => Math.floor(bytes / Math.max(1, rowBytes));
  const rows = powerOfTwo(Math.min(PART_ROWS, fitting(engine.limits.batchBytes)));
  const together = Math.max(rows, Math.min(TOGETHER_ROWS, fitting(bytesTogether(plan))));
  const turn = new Turn(engine.env);
  const spare = new SpareMemory();
  let passing: PassingBatch | undefined;
  let collected: CollectedRows | undefined;
  let begin = from;
  let given = 0;
  let end = from;
  const collect = async (): Promise<CollectedRows> => {
    collected = undefined;
    passing?.end();
    begin = end;
    end = Math.min(to, begin + together);
    given = 0;
    const ids = rowIds(begin, end);
    const bytes = Math.ceil(ids.length * rowBytes);
    passing = batchNow(plan, bytes) ?? (await batchInLine(plan, bytes));
    const made = await collectRows(plan, ids, turn, rows, spare);
    passing.grow(made.parts.reduce((sum, batch) => sum + batchBytes(batch), 0));
    return made;
  };
  const step = async (): Promise<TakenPart | undefined> => {
    for (;;) {
      if (turn.isOver()) await turn.pass();
      signal?.throwIfAborted();
      const batch = collected?.parts.shift();
      if (collected === undefined || batch === undefined) {
        if (end >= to) return undefined;
        collected = await collect();
        continue;
      }
      const { found } = collected;
      const first = given;
      given += batch.numRows;
      return {
        from: begin,
        batch,
        // Ordered reads ask for none.
        get found() {
          const { numRows } = batch;
          return found?.subarray(first, first + numRows) ?? consecutive(first, numRows);
        },
      };
    }
  };
  return stepped(step, () => {
    collected = undefined;
    passing?.end();
  });
}

const powerOfTwo = (most: number): number => 2 ** Math.floor(Math.log2(Math.max(1, most)));

/**
 * A table that is not kept in memory is read once for each lot of rows, so that few large ones are
 * best.
 */
function bytesTogether({ keep, engine }: ScanPlan): number {
  if (keep) return TOGETHER_BYTES;
  const { limits, serverMemory } = engine;
  const most = limits.requestMemory * TOGETHER_SHARE;
  const shared = (serverMemory?.passing ?? Number.POSITIVE_INFINITY) * SERVER_SHARE;
  return Math.max(TOGETHER_BYTES, Math.min(most, shared));
}

/** Ids that are made of numbers at once. */
const IDS_AT_ONCE = 1 << 12;

/** Row ids as an array of 64 bits each, which is made in turns. */
async function rowIdsOf(
  engine: Engine,
  values: readonly bigint[],
  signal?: AbortSignal,
): Promise<BigUint64Array> {
  const ids = newArray(BigUint64Array, values.length);
  const turn = new Turn(engine.env);
  for (let from = 0; from < values.length; from += IDS_AT_ONCE) {
    if (from > 0 && turn.isOver()) {
      await turn.pass();
      signal?.throwIfAborted();
    }
    const end = Math.min(values.length, from + IDS_AT_ONCE);
    for (let at = from; at < end; at++) ids[at] = values[at] as bigint;
  }
  return ids;
}

/** Ids of the live rows at these offsets; offsets past the last row give none. */
async function rowIdsAt(
  engine: Engine,
  snapshot: Snapshot,
  offsets: readonly bigint[],
  signal: AbortSignal | undefined,
): Promise<BigUint64Array> {
  const fragments: FragmentEntry[] = [];
  /** Where the live rows of each begin and end. */
  const starts: number[] = [];
  const ends: number[] = [];
  const cursor = new FragmentCursor(engine, snapshot, runsWithOffsets(offsets));
  for (;;) {
    const next = cursor.next();
    const entry = next instanceof Promise ? await next : next;
    if (entry === undefined) break;
    fragments.push(entry);
    starts.push(cursor.first);
    ends.push(cursor.first + liveRows(entry));
  }
  const deletions = new Map<number, DeletedRows | undefined>();
  const total = BigInt(snapshot.rowCount);
  const ids = newArray(BigUint64Array, offsets.length);
  const words = wordsOf(ids);
  let count = 0;
  const turn = new Turn(engine.env);
  for (const [at, offset] of offsets.entries()) {
    if (at % IDS_AT_ONCE === IDS_AT_ONCE - 1 && turn.isOver()) {
      await turn.pass();
      signal?.throwIfAborted();
    }
    if (offset >= total) continue;
    const rank = Number(offset);
    const index = firstAbove(ends, rank);
    const within = rank - (starts[index] as number);
    const entry = fragments[index] as FragmentEntry;
    if (entry.deletion !== undefined && !deletions.has(index)) {
      deletions.set(index, await deletedRows(engine, snapshot, entry));
    }
    words[2 * count] = deletions.get(index)?.liveRow(within) ?? within;
    words[2 * count + 1] = entry.id;
    count++;
  }
  return count === ids.length ? ids : ids.subarray(0, count);
}
