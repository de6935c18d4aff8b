/**
 * `take`: reads rows by their ids, or by offsets in row order, in the order asked for and with
 * repeats. Ids of deleted or unknown rows, and offsets past the last row, are left out.
 * `takenInParts` reads the rows of ordered reads and vector searches in that way, as a series of
 * batches. Rows are collected in large groups, and each batch of the table is read once for each
 * group. `takeRows` reads one batch and ignores the plan's predicate, limit and offset.
 */
import {
  batchBytes,
  concatData,
  type Data,
  type DataType,
  gather,
  newArray,
  nullColumn,
  type RecordBatch,
  type RecordBatchStream,
  recordBatch,
  recordBatchStream,
} from '../../arrow/index.ts';
import { type FragmentEntry, liveRows } from '../../format/index.ts';
import { stepped } from '../../stepped.ts';
import {
  type DeletedRows,
  deletedRows,
  FragmentCursor,
  openFragment,
  type RunWanted,
} from '../fragments/index.ts';
import type { Engine, Snapshot } from '../versions/index.ts';
import { Turn } from '../work/index.ts';
import { readSelected } from './batch-rows.ts';
import { batchInLine, batchNow, type PassingBatch } from './passing-batch.ts';
import { planScan, type ScanPlan, type ScanRequest } from './scan-plan.ts';

/** Rows named by id, or by their offsets in row order. */
export interface TakeRequest extends Pick<ScanRequest, 'columns' | 'withRowId' | 'signal'> {
  readonly rowIds?: readonly bigint[] | undefined;
  readonly offsets?: readonly bigint[] | undefined;
}

/** Rows that are taken at once, in one batch. */
const FEW_ROWS = 1024;

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
    const { batch } = await takeRows(plan, ids);
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

export interface Taken {
  /** The plan's columns of the rows found. */
  readonly batch: RecordBatch;
  /** Positions in the request of the rows found, in its order; deleted and unknown ids are missing. */
  readonly found: Uint32Array;
}

/** One batch of the plan's columns; the plan's predicate, limit and offset are not applied. */
export async function takeRows(
  plan: ScanPlan,
  rowIds: BigUint64Array,
  turn: Turn = new Turn(plan.engine.env),
): Promise<Taken> {
  return (await collectRows(plan, rowIds, turn)).taken(0, rowIds.length);
}

/** The rows of several ids, each read once, to be handed out in the order of the ids. */
class CollectedRows {
  readonly #plan: ScanPlan;
  readonly #columns: readonly Data[];
  /** Where each row of the request is in the columns; -1 when it was not found. */
  readonly #places: Int32Array;

  constructor(plan: ScanPlan, columns: readonly Data[], places: Int32Array) {
    this.#plan = plan;
    this.#columns = columns;
    this.#places = places;
  }

  /** Those of the ids from `from` to `to`; `found` counts from `from`. */
  taken(from: number, to: number): Taken {
    const { found, order, inOrder } = foundPlaces(this.#places.subarray(from, to));
    const columns = this.#columns.map((column) =>
      inOrder && column.length === order.length ? column : gather(column, order),
    );
    return { batch: recordBatch(this.#plan.schema, columns, found.length), found };
  }
}

async function collectRows(
  plan: ScanPlan,
  rowIds: BigUint64Array,
  turn: Turn,
): Promise<CollectedRows> {
  const breathe = async (): Promise<void> => {
    await turn.pass();
    plan.signal?.throwIfAborted();
  };
  const wanted = groupByFragment(rowIds);
  const parts: Data[][] = [];
  const places = new Int32Array(rowIds.length).fill(-1);
  let read = 0;
  let missing = wanted.size;
  const cursor = new FragmentCursor(plan.engine, plan.snapshot, runsWithIds([...wanted.keys()]));
  while (missing > 0) {
    const next = cursor.next();
    const entry = next instanceof Promise ? await next : next;
    if (entry === undefined) break;
    const { first } = cursor;
    const group = wanted.get(entry.id);
    if (group === undefined) continue;
    missing -= 1;
    if (group.length > LONG_GROUP && turn.isOver()) await breathe();
    for await (const part of readGroup(plan, entry, byOffset(rowIds, group), first)) {
      for (let at = 0; at < part.requests.length; at++) {
        places[part.requests[at] as number] = read + (part.rows[at] as number);
      }
      read += part.count;
      parts.push(part.data);
      if (turn.isOver()) await breathe();
    }
  }
  const columns: Data[] = [];
  for (const at of plan.columns.keys()) {
    columns.push(joinedColumn(plan, parts, at));
    if (parts.length > 1 && turn.isOver()) await breathe();
  }
  return new CollectedRows(plan, columns, places);
}

/** Runs are told apart for so many fragments or rows; of more, most runs have one. */
const MOST_NAMED = 4_096;

/** Runs that may hold one of the fragments. */
function runsWithIds(ids: number[]): RunWanted | undefined {
  if (ids.length > MOST_NAMED) return undefined;
  const sorted = ids.sort((one, other) => one - other);
  return ({ firstId, lastId }) => holdsBetween(sorted, firstId, lastId + 1);
}

/** Runs that hold the row of one of the offsets. */
function runsWithOffsets(offsets: readonly bigint[]): RunWanted | undefined {
  if (offsets.length > MOST_NAMED) return undefined;
  const sorted = offsets.map(Number).sort((one, other) => one - other);
  return ({ rows, deletedRows: deleted }, position) =>
    holdsBetween(sorted, position, position + rows - deleted);
}

/** Whether one of the ascending numbers is at least `from` and below `to`. */
function holdsBetween(ascending: readonly number[], from: number, to: number): boolean {
  const found = ascending[firstAbove(ascending, from - 1)];
  return found !== undefined && found < to;
}

/** Rows of one fragment whose sorting takes milliseconds. */
const LONG_GROUP = 1 << 13;

function joinedColumn(plan: ScanPlan, parts: readonly Data[][], column: number): Data {
  const data = parts.map((part) => part[column] as Data);
  const [only] = data;
  if (only === undefined) return nullColumn(plan.schema.fields[column]?.type as DataType, 0);
  return data.length === 1 ? only : concatData(data);
}

export interface TakenPart extends Taken {
  /** Where the part begins in the request. */
  readonly from: number;
}

/** Rows of one batch of an answer, at most. */
const PART_ROWS = 8_192;
/**
 * Rows that are read together, at most, and their bytes: rows far apart lie in all batches of a table,
 * and each batch is read once for so many.
 */
const TOGETHER_ROWS = 1 << 18;
const TOGETHER_BYTES = 1 << 24;

/**
 * Reads the rows `from` to `to` of an order in batches, each of at most 8,192 rows and about as many
 * bytes as a batch of the table may have.
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
  const rows = Math.max(1, Math.min(PART_ROWS, fitting(engine.limits.batchBytes)));
  const together = Math.max(rows, Math.min(TOGETHER_ROWS, fitting(TOGETHER_BYTES)));
  const turn = new Turn(engine.env);
  let next = from;
  let passing: PassingBatch | undefined;
  let collected: CollectedRows | undefined;
  let begin = from;
  let end = from;
  const collect = async (): Promise<CollectedRows> => {
    collected = undefined;
    passing?.end();
    begin = next;
    end = Math.min(to, next + together);
    const ids = rowIds(begin, end);
    const bytes = Math.ceil(ids.length * rowBytes);
    passing = batchNow(plan, bytes) ?? (await batchInLine(plan, bytes));
    return collectRows(plan, ids, turn);
  };
  const step = async (): Promise<TakenPart | undefined> => {
    if (next >= to) return undefined;
    if (turn.isOver()) await turn.pass();
    signal?.throwIfAborted();
    if (collected === undefined || next >= end) collected = await collect();
    const first = next;
    next = Math.min(end, next + rows);
    const taken = collected.taken(first - begin, next - begin);
    passing?.grow(batchBytes(taken.batch));
    return { from: first, ...taken };
  };
  return stepped(step, () => {
    collected = undefined;
    passing?.end();
  });
}

/** The requests that have a place, and their places. */
function foundPlaces(places: Int32Array): {
  found: Uint32Array;
  order: Uint32Array;
  inOrder: boolean;
} {
  const found = newArray(Uint32Array, places.length);
  const order = newArray(Uint32Array, places.length);
  let count = 0;
  let inOrder = true;
  for (let request = 0; request < places.length; request++) {
    const place = places[request] as number;
    if (place < 0) continue;
    if (place !== count) inOrder = false;
    found[count] = request;
    order[count] = place;
    count++;
  }
  return { found: front(found, count), order: front(order, count), inOrder };
}

const front = (numbers: Uint32Array, count: number): Uint32Array =>
  count === numbers.length ? numbers : numbers.subarray(0, count);

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
  signal?: AbortSignal,
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

/** The lower half of each number, then its upper half. */
const wordsOf = (numbers: BigUint64Array): Uint32Array =>
  new Uint32Array(numbers.buffer, numbers.byteOffset, numbers.length * 2);

function firstAbove(ascending: readonly number[], value: number): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ascending[middle] as number) > value) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Positions in the request by fragment id. */
function groupByFragment(rowIds: BigUint64Array): Map<number, number[]> {
  const words = wordsOf(rowIds);
  const groups = new Map<number, number[]>();
  let last = -1;
  let group: number[] = [];
  for (let request = 0; request < rowIds.length; request++) {
    const fragment = words[2 * request + 1] as number;
    if (fragment !== last) {
      last = fragment;
      group = groups.get(fragment) ?? [];
      groups.set(fragment, group);
    }
    group.push(request);
  }
  return groups;
}

/** Pairs of a position in the request and an offset in the fragment, sorted by offset. */
function byOffset(rowIds: BigUint64Array, requests: readonly number[]): Uint32Array {
  const ids = wordsOf(rowIds);
  const pairs = newArray(BigUint64Array, requests.length);
  const words = wordsOf(pairs);
  for (let at = 0; at < requests.length; at++) {
    const request = requests[at] as number;
    words[2 * at] = request;
    words[2 * at + 1] = ids[2 * request] as number;
  }
  if (pairs.length > 1) pairs.sort();
  return words;
}

interface Part {
  readonly data: Data[];
  /** How many rows it has. */
  readonly count: number;
  /** Positions in the request, and the row of the part that answers each. */
  readonly requests: Uint32Array;
  readonly rows: Uint32Array;
}

async function* readGroup(
  plan: ScanPlan,
  entry: FragmentEntry,
  group: Uint32Array,
  position: number,
): AsyncGenerator<Part> {
  const deleted = await deletedRows(plan.engine, plan.snapshot, entry);
  const reader = await openFragment(plan.engine, plan.snapshot, entry, plan);
  try {
    let first = 0;
    let next = 0;
    for (const [index, { rows }] of reader.footer.batches.entries()) {
      const from = next;
      while (next < group.length && (group[next + 1] as number) < first + rows) next += 2;
      if (next > from) {
        const {
          selected,
          requests,
          rows: answers,
        } = pickBatch(
          from === 0 && next === group.length ? group : group.subarray(from, next),
          first,
          deleted,
        );
        if (selected.length > 0) {
          const before = position + first - (deleted?.countBetween(0, first) ?? 0);
          const place = { reader, entry, deleted, index, first, rows, position: before };
          const data = await readSelected(plan, place, selected);
          yield { data, count: selected.length, requests, rows: answers };
        }
      }
      if (next === group.length) break;
      first += rows;
    }
  } finally {
    reader.close();
  }
}

/** Live rows of one batch among the pairs of its requests, each once, and which answers which. */
function pickBatch(
  pairs: Uint32Array,
  first: number,
  deleted: DeletedRows | undefined,
): { selected: Uint32Array; requests: Uint32Array; rows: Uint32Array } {
  const selected = newArray(Uint32Array, pairs.length / 2);
  const requests = newArray(Uint32Array, pairs.length / 2);
  const rows = newArray(Uint32Array, pairs.length / 2);
  let count = 0;
  let answered = 0;
  for (let at = 0; at < pairs.length; at += 2) {
    const offset = pairs[at + 1] as number;
    if (deleted?.has(offset) === true) continue;
    if (count === 0 || selected[count - 1] !== offset - first) selected[count++] = offset - first;
    requests[answered] = pairs[at] as number;
    rows[answered++] = count - 1;
  }
  return {
    selected: front(selected, count),
    requests: front(requests, answered),
    rows: front(rows, answered),
  };
}
