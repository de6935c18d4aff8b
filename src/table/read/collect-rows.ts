/**
 * `collectRows` reads rows by their ids and returns them as batches in the order of the ids. It
 * reads the table in row order, and of it each record batch with requested rows once. All rows are
 * in memory at once, so callers ask for some at a time. Ids of deleted or unknown rows are left
 * out: `found` tells which ids have rows, and is undefined if all have. The plan's predicate, limit
 * and offset are not applied.
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
import { byOffset, FEW_ROWS, type Group, groupedByFragment, SpareMemory } from './row-requests.ts';
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
  const grouped = run(groupedByFragment(rowIds, spare));
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
  subtract(rows, place.first);
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

// A loop of its own: one in an async function keeps what it counts in memory.
function subtract(rows: Uint32Array, first: number): void {
  if (first === 0) return;
  for (let at = 0; at < rows.length; at++) rows[at] = (rows[at] as number) - first;
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
