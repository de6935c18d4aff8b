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
  /** The plan's columns of the rows found, `partRows` in each batch but the last; none without rows. */
  readonly parts: RecordBatch[];
  /** Positions in the request of the rows found, in its order; deleted and unknown ids are missing. */
  readonly found: Uint32Array;
}

/** @param partRows a power of two */
export async function collectRows(
  plan: ScanPlan,
  rowIds: BigUint64Array,
  turn: Turn,
  partRows: number,
): Promise<CollectedRows> {
  const { signal } = plan;
  // Of few rows nothing takes long, and waiting would.
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
    const ordered = run(byOffset(rowIds, requests));
    const pairs = ordered instanceof Promise ? await ordered : ordered;
    for await (const read of readGroup(plan, entry, pairs, first)) {
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

/** Pairs of a position in the request and an offset in the fragment, sorted by offset. */
function* byOffset(rowIds: BigUint64Array, requests: Uint32Array): Generator<void, Uint32Array> {
  const ids = wordsOf(rowIds);
  let last = 0;
  for (let at = 0; at < requests.length; at++) {
    const offset = ids[2 * (requests[at] as number)] as number;
    if (offset > last) last = offset;
    if (at % STEP_IDS === STEP_IDS - 1) yield;
  }
  if (requests.length > last * DENSE_SHARE) {
    const counted = yield* byCounting(ids, requests, last);
    if (counted !== undefined) return counted;
  }
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

/** Undefined where a row is asked for twice. */
function* byCounting(
  ids: Uint32Array,
  requests: Uint32Array,
  last: number,
): Generator<void, Uint32Array | undefined> {
  /** One more than the request of each row. */
  const asked = newArray(Uint32Array, last + 1);
  for (let at = 0; at < requests.length; at++) {
    const request = requests[at] as number;
    const offset = ids[2 * request] as number;
    if (asked[offset] !== 0) return undefined;
    asked[offset] = request + 1;
    if (at % STEP_IDS === STEP_IDS - 1) yield;
  }
  const words = newArray(Uint32Array, requests.length * 2);
  let at = 0;
  for (let offset = 0; offset <= last; offset++) {
    if (offset % STEP_IDS === STEP_IDS - 1) yield;
    const request = asked[offset] as number;
    if (request === 0) continue;
    words[at] = request - 1;
    words[at + 1] = offset;
    at += 2;
  }
  return words;
}

/** What one batch of the table answers. */
interface Answers {
  readonly data: readonly Data[];
  /** Positions in the request, and the row of the data that answers each. */
  readonly requests: Uint32Array;
  readonly rows: Uint32Array;
}

async function* readGroup(
  plan: ScanPlan,
  entry: FragmentEntry,
  group: Uint32Array,
  position: number,
): AsyncGenerator<Answers> {
  const deleted = await deletedRows(plan.engine, plan.snapshot, entry);
  const reader = await openFragment(plan.engine, plan.snapshot, entry, plan);
  try {
    let first = 0;
    let next = 0;
    for (const [index, { rows }] of reader.footer.batches.entries()) {
      const from = next;
      while (next < group.length && (group[next + 1] as number) < first + rows) next += 2;
      if (next > from) {
        const pairs = from === 0 && next === group.length ? group : group.subarray(from, next);
        const picked = pickBatch(pairs, first, deleted);
        if (picked.selected.length > 0) {
          const before = position + first - (deleted?.countBetween(0, first) ?? 0);
          const place = { reader, entry, deleted, index, first, rows, position: before };
          yield await readPicked(plan, place, picked);
        }
      }
      if (next === group.length) break;
      first += rows;
    }
  } finally {
    reader.close();
  }
}

interface Picked {
  /** Rows of the batch, ascending, each once. */
  readonly selected: Uint32Array;
  readonly requests: Uint32Array;
  /** Which of those selected answers each request. */
  readonly rows: Uint32Array;
}

/** Live rows of one batch among the pairs of its requests. */
function pickBatch(pairs: Uint32Array, first: number, deleted: DeletedRows | undefined): Picked {
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

const front = (numbers: Uint32Array, count: number): Uint32Array =>
  count === numbers.length ? numbers : numbers.subarray(0, count);

/** Of how many rows of a batch one has to be asked for, before all are read to be kept. */
const WHOLE_ROWS = 64;

async function readPicked(plan: ScanPlan, place: BatchPlace, picked: Picked): Promise<Answers> {
  const { selected, requests, rows } = picked;
  const fields = neededFields(plan.columns);
  const isPlain =
    fields.length === plan.columns.length && plan.columns.every(({ kind }) => kind === 'field');
  if (!isPlain || !plan.keep || selected.length * WHOLE_ROWS < place.rows) {
    return { data: await readSelected(plan, place, selected), requests, rows };
  }
  // Kept columns stay as long as anything refers to them, and are not changed.
  const data = await readFields(plan, place, fields, undefined);
  return { data, requests, rows: rows.map((row) => selected[row] as number) };
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
  const placeOf = count === asked ? undefined : placesIn(found, asked);
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

function foundRequests(answers: readonly Answers[], asked: number, count: number): Uint32Array {
  const found = newArray(Uint32Array, count);
  if (count === asked) {
    for (let at = 0; at < count; at++) found[at] = at;
    return found;
  }
  const isFound = new Uint8Array(asked);
  for (const { requests } of answers) for (const request of requests) isFound[request] = 1;
  let next = 0;
  for (let request = 0; request < asked; request++) {
    if (isFound[request] === 1) found[next++] = request;
  }
  return found;
}

/** Where each request that was found is among those. */
function placesIn(found: Uint32Array, asked: number): Uint32Array {
  const places = new Uint32Array(asked);
  for (let at = 0; at < found.length; at++) places[found[at] as number] = at;
  return places;
}
