/**
 * `collectRows`: reads rows by their ids and puts them into batches in the order of the ids. Each
 * batch of the table is read once, in row order. Ids of deleted or unknown rows are left out.
 * Columns that are kept in memory are picked from where they lie; of others the rows asked for are
 * copied first. Works in turns. The plan's predicate, limit and offset are not applied.
 */
import {
  type Data,
  gatherData,
  gatherParts,
  newArray,
  type PlacedRows,
  type RecordBatch,
  recordBatch,
} from '../../arrow/index.ts';
import type { FragmentEntry } from '../../format/index.ts';
import { drained } from '../../steps.ts';
import type { Awaitable } from '../../store/index.ts';
import {
  type DeletedRows,
  deletedRows,
  FragmentCursor,
  openFragment,
  readFields,
} from '../fragments/index.ts';
import { inTurns, type Turn } from '../work/index.ts';
import { type BatchPlace, neededFields, readSelected } from './batch-rows.ts';
import type { ScanPlan } from './scan-plan.ts';
import { runsWithIds } from './wanted-runs.ts';

export interface CollectedRows {
  /**
   * The plan's columns of the rows found, `partRows` in each batch but the last; none without rows.
   */
  readonly parts: RecordBatch[];
  /**
   * Positions in the request of the rows found, in its order; deleted and unknown ids are missing.
   * Undefined where none is missing.
   */
  readonly found: Uint32Array | undefined;
}

/** Memory that is used again for the next rows of the same read. */
export class SpareMemory {
  #zeros: Uint32Array = new Uint32Array(0);

  /** An array that begins with at least `length` zeros. */
  zeros(length: number): Uint32Array {
    if (this.#zeros.length < length) this.#zeros = new Uint32Array(length);
    else this.#zeros.fill(0, 0, length);
    return this.#zeros;
  }
}

/** @param partRows a power of two */
export async function collectRows(
  plan: ScanPlan,
  rowIds: BigUint64Array,
  turn: Turn,
  partRows: number,
  spare: SpareMemory = new SpareMemory(),
): Promise<CollectedRows> {
  const { signal } = plan;
  // For few rows no step takes long, and waiting for a turn would.
  const run = <Result>(steps: Generator<void, Result>): Awaitable<Result> =>
    rowIds.length <= FEW_ROWS ? drained(steps) : inTurns(turn, steps, signal);
  const grouped = run(groupedByFragment(rowIds));
  const groups = grouped instanceof Promise ? await grouped : grouped;
  const answers: Answers[] = [];
  let count = 0;
  let missing = groups.size;
  const cursor = new FragmentCursor(plan.engine, plan.snapshot, runsWithIds([...groups.keys()]));
  while (missing > 0) {
    const next = cursor.next();
    const entry = next instanceof Promise ? await next : next;
    if (entry === undefined) break;
    const { first } = cursor;
    const requests = groups.get(entry.id);
    if (requests === undefined) continue;
    missing -= 1;
    const ordered = run(byOffset(rowIds, requests, spare));
    const group = ordered instanceof Promise ? await ordered : ordered;
    for await (const read of readGroup(plan, entry, group, first)) {
      answers.push(read);
      count += read.requests.length;
      if (!turn.isOver()) continue;
      await turn.pass();
      signal?.throwIfAborted();
    }
  }
  return run(arranged(plan, answers, rowIds.length, count, partRows));
}

/** Rows that are collected without turns but between batches. */
const FEW_ROWS = 1024;

/** The low half of each number, then its high half. */
export const wordsOf = (numbers: BigUint64Array): Uint32Array =>
  new Uint32Array(numbers.buffer, numbers.byteOffset, numbers.length * 2);

/** Ids gone through between two yields. */
const STEP_IDS = 1 << 16;

/** Positions in the request by fragment id. */
function* groupedByFragment(rowIds: BigUint64Array): Generator<void, Map<number, Uint32Array>> {
  const words = wordsOf(rowIds);
  const groups = new Map<number, { count: number; requests: Uint32Array }>();
  const groupOf = (fragment: number): { count: number; requests: Uint32Array } => {
    let group = groups.get(fragment);
    if (group === undefined) {
      group = { count: 0, requests: NONE };
      groups.set(fragment, group);
    }
    return group;
  };
  for (const isCounting of [true, false]) {
    let last = -1;
    let group: { count: number; requests: Uint32Array } = { count: 0, requests: NONE };
    for (let request = 0; request < rowIds.length; request++) {
      const fragment = words[2 * request + 1] as number;
      if (fragment !== last) {
        last = fragment;
        group = groupOf(fragment);
      }
      if (!isCounting) group.requests[group.count] = request;
      group.count += 1;
      if (request % STEP_IDS === STEP_IDS - 1) yield;
    }
    if (!isCounting) break;
    for (const each of groups.values()) {
      each.requests = newArray(Uint32Array, each.count);
      each.count = 0;
    }
  }
  return new Map(Array.from(groups, ([fragment, { requests }]) => [fragment, requests]));
}

const NONE: Uint32Array = new Uint32Array(0);

/** Requests that are more than this share of the rows between them are put in order by counting. */
const DENSE_SHARE = 1 / 16;

/** Requests of rows of one fragment, and the offsets of these, ascending. */
interface Group {
  readonly requests: Uint32Array;
  readonly offsets: Uint32Array;
}

function* byOffset(
  rowIds: BigUint64Array,
  requests: Uint32Array,
  spare: SpareMemory,
): Generator<void, Group> {
  const ids = wordsOf(rowIds);
  let last = 0;
  for (let at = 0; at < requests.length; at++) {
    const offset = ids[2 * (requests[at] as number)] as number;
    if (offset > last) last = offset;
    if (at % STEP_IDS === STEP_IDS - 1) yield;
  }
  const offsets = newArray(Uint32Array, requests.length);
  if (requests.length > FEW_ROWS && requests.length > last * DENSE_SHARE) {
    const group = { requests: newArray(Uint32Array, requests.length), offsets };
    if (yield* byCounting(ids, requests, last, spare, group)) return group;
  }
  const pairs = newArray(BigUint64Array, requests.length);
  const words = wordsOf(pairs);
  for (let at = 0; at < requests.length; at++) {
    const request = requests[at] as number;
    words[2 * at] = request;
    words[2 * at + 1] = ids[2 * request] as number;
  }
  if (pairs.length > 1) pairs.sort();
  for (let at = 0; at < requests.length; at++) {
    requests[at] = words[2 * at] as number;
    offsets[at] = words[2 * at + 1] as number;
  }
  return { requests, offsets };
}

/** Fills the group; false where a row is asked for twice. */
function* byCounting(
  ids: Uint32Array,
  requests: Uint32Array,
  last: number,
  spare: SpareMemory,
  group: Group,
): Generator<void, boolean> {
  /** One more than the request of each row. */
  const asked = spare.zeros(last + 1);
  // Loops of their own: one that may yield keeps what it counts in memory.
  for (let from = 0; from < requests.length; from += STEP_IDS) {
    const to = Math.min(requests.length, from + STEP_IDS);
    if (!countRequests(ids, requests, from, to, asked)) return false;
    yield;
  }
  let at = 0;
  for (let from = 0; from <= last; from += STEP_IDS) {
    at = listRequests(asked, from, Math.min(last + 1, from + STEP_IDS), group, at);
    yield;
  }
  return true;
}

/** False where a row is asked for twice. */
function countRequests(
  ids: Uint32Array,
  requests: Uint32Array,
  from: number,
  to: number,
  asked: Uint32Array,
): boolean {
  for (let at = from; at < to; at++) {
    const request = requests[at] as number;
    const offset = ids[2 * request] as number;
    if (asked[offset] !== 0) return false;
    asked[offset] = request + 1;
  }
  return true;
}

/** Adds the requests of the offsets to the group behind the first `at`; how many it has then. */
function listRequests(
  asked: Uint32Array,
  from: number,
  to: number,
  { requests, offsets }: Group,
  at: number,
): number {
  let next = at;
  for (let offset = from; offset < to; offset++) {
    const request = asked[offset] as number;
    if (request === 0) continue;
    requests[next] = request - 1;
    offsets[next++] = offset;
  }
  return next;
}

/** The rows that one batch of the table answers the request with. */
interface Answers {
  readonly data: readonly Data[];
  /** Positions in the request, and the row of the data that answers each. */
  readonly requests: Uint32Array;
  readonly rows: Uint32Array;
}

async function* readGroup(
  plan: ScanPlan,
  entry: FragmentEntry,
  { requests, offsets }: Group,
  position: number,
): AsyncGenerator<Answers> {
  const deleted = await deletedRows(plan.engine, plan.snapshot, entry);
  const reader = await openFragment(plan.engine, plan.snapshot, entry, plan);
  try {
    let first = 0;
    let next = 0;
    for (const [index, { rows }] of reader.footer.batches.entries()) {
      const from = next;
      while (next < offsets.length && (offsets[next] as number) < first + rows) next += 1;
      if (next > from) {
        const before = position + first - (deleted?.countBetween(0, first) ?? 0);
        const place = { reader, entry, deleted, index, first, rows, position: before };
        const group = partOf({ requests, offsets }, from, next);
        const live = deleted === undefined ? group : liveOf(group, deleted);
        if (live.offsets.length > 0) yield await readRows(plan, place, live);
      }
      if (next === offsets.length) break;
      first += rows;
    }
  } finally {
    reader.close();
  }
}

const partOf = (group: Group, from: number, to: number): Group => {
  const { requests, offsets } = group;
  if (from === 0 && to === offsets.length) return group;
  return { requests: requests.subarray(from, to), offsets: offsets.subarray(from, to) };
};

function liveOf({ requests, offsets }: Group, deleted: DeletedRows): Group {
  let count = 0;
  for (let at = 0; at < offsets.length; at++) {
    const offset = offsets[at] as number;
    if (deleted.has(offset)) continue;
    offsets[count] = offset;
    requests[count++] = requests[at] as number;
  }
  return partOf({ requests, offsets }, 0, count);
}

/** All rows of a batch are read to be kept if at least one in this many is asked for. */
const WHOLE_ROWS = 64;

/** Rows of one batch. Uses up the memory of the group. */
async function readRows(
  plan: ScanPlan,
  place: BatchPlace,
  { requests, offsets: rows }: Group,
): Promise<Answers> {
  for (let at = 0; at < rows.length; at++) rows[at] = (rows[at] as number) - place.first;
  const fields = neededFields(plan.columns);
  const isPlain =
    fields.length === plan.columns.length && plan.columns.every(({ kind }) => kind === 'field');
  if (isPlain && plan.keep && rows.length * WHOLE_ROWS >= place.rows) {
    // Kept columns stay as long as anything refers to them, and are not changed.
    return { data: await readFields(plan, place, fields, undefined), requests, rows };
  }
  const selected = newArray(Uint32Array, rows.length);
  let count = 0;
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at] as number;
    if (count === 0 || selected[count - 1] !== row) selected[count++] = row;
    rows[at] = count - 1;
  }
  const distinct = count === selected.length ? selected : selected.subarray(0, count);
  return { data: await readSelected(plan, place, distinct), requests, rows };
}

/** The rows of all answers in the order of the requests, cut into batches. */
function* arranged(
  { schema }: ScanPlan,
  answers: readonly Answers[],
  asked: number,
  count: number,
  partRows: number,
): Generator<void, CollectedRows> {
  const found = foundRequests(answers, asked, count);
  if (count === 0) return { parts: [], found };
  const placeOf = found && placesIn(found, asked);
  const placed = answers.map(({ data, rows, requests }) => ({
    data,
    rows,
    places: placeOf === undefined ? requests : requests.map((at) => placeOf[at] as number),
  }));
  const [only] = placed;
  if (only !== undefined && placed.length === 1 && count <= Math.min(FEW_ROWS, partRows)) {
    return { parts: [recordBatch(schema, inOrder(only, count), count)], found };
  }
  const columns: Data[][] = [];
  for (const [column, { type }] of schema.fields.entries()) {
    const sources = placed.map(({ data, rows, places }) => ({
      data: data[column] as Data,
      rows,
      places,
    }));
    columns.push(yield* gatherParts(type, sources, count, partRows));
  }
  const parts: RecordBatch[] = [];
  for (let from = 0; from < count; from += partRows) {
    const cut = columns.map((column) => column[parts.length] as Data);
    parts.push(recordBatch(schema, cut, Math.min(partRows, count - from)));
  }
  return { parts, found };
}

/** Columns of one batch alone; as they are where that is the order. */
function inOrder(
  { data, rows, places }: Pick<PlacedRows, 'rows' | 'places'> & { readonly data: readonly Data[] },
  count: number,
): Data[] {
  const order = newArray(Uint32Array, count);
  let isOrdered = true;
  for (let at = 0; at < count; at++) {
    const row = rows[at] as number;
    const place = places[at] as number;
    order[place] = row;
    isOrdered &&= row === place;
  }
  return data.map((column) =>
    isOrdered && column.length === count ? column : gatherData(column, order),
  );
}

function foundRequests(
  answers: readonly Answers[],
  asked: number,
  count: number,
): Uint32Array | undefined {
  if (count === asked) return undefined;
  const found = newArray(Uint32Array, count);
  const isFound = new Uint8Array(asked);
  for (const { requests } of answers) for (const request of requests) isFound[request] = 1;
  let next = 0;
  for (let request = 0; request < asked; request++) {
    if (isFound[request] === 1) found[next++] = request;
  }
  return found;
}

/** The index of each request among those that were found. */
function placesIn(found: Uint32Array, asked: number): Uint32Array {
  const places = new Uint32Array(asked);
  for (let at = 0; at < found.length; at++) places[found[at] as number] = at;
  return places;
}
