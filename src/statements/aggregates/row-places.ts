/**
 * Picks rows of several batches by their places, so that sorts and joins move numbers instead of
 * rows. A place is the number of a batch and of a row in it: `allPlaces` lists those of all rows,
 * and `placesOf` reads them from row ids. `placedRows` copies whole rows into batches of 65,536
 * (`BATCH_ROWS`) in the order of the places, and `columnsInOne` each column into one piece; both
 * work in steps. `partitioned` sorts places by the groups of their rows, also in steps.
 */
import {
  columnsOf,
  type Data,
  type DataType,
  gatherParts,
  nullColumn,
  type PlacedRows,
  type RecordBatch,
  recordBatch,
  type Schema,
} from '../../arrow/index.ts';
import { inSlices } from '../../steps.ts';

/** Rows of the batches that steps make. */
export const BATCH_ROWS: number = 1 << 16;

/** Names rows by the number of a batch and the row in it. */
export interface RowPlaces {
  readonly batch: Uint32Array;
  readonly row: Uint32Array;
}

/** Those of row ids, which have the batch in their upper half. */
export function placesOf(ids: BigUint64Array): RowPlaces {
  const words = new Uint32Array(ids.buffer, ids.byteOffset, ids.length * 2);
  const batch = new Uint32Array(ids.length);
  const row = new Uint32Array(ids.length);
  for (let at = 0; at < ids.length; at++) {
    row[at] = words[2 * at] as number;
    batch[at] = words[2 * at + 1] as number;
  }
  return { batch, row };
}

type RowsOfBatch = Omit<PlacedRows, 'data'>;

/** The rows of each batch, with their places in the result. */
function byBatch({ batch: of, row }: RowPlaces, batches: number): RowsOfBatch[] {
  const counts = new Uint32Array(batches);
  for (let at = 0; at < of.length; at++) (counts[of[at] as number] as number)++;
  const placed = Array.from(counts, (rows) => ({
    rows: new Uint32Array(rows),
    places: new Uint32Array(rows),
  }));
  counts.fill(0);
  for (let at = 0; at < of.length; at++) {
    const batch = of[at] as number;
    const to = (counts[batch] as number)++;
    const { rows, places } = placed[batch] as (typeof placed)[number];
    rows[to] = row[at] as number;
    places[to] = at;
  }
  return placed;
}

const sourcesOf = (placed: readonly RowsOfBatch[], dataOf: (batch: number) => Data): PlacedRows[] =>
  placed.flatMap((part, batch) =>
    part.rows.length === 0 ? [] : [{ data: dataOf(batch), ...part }],
  );

/** These rows of the batches, in this order. */
export function* placedRows(
  schema: Schema,
  batches: readonly RecordBatch[],
  places: RowPlaces,
): Generator<void, RecordBatch[]> {
  const count = places.row.length;
  if (count === 0) return [];
  const placed = byBatch(places, batches.length);
  yield;
  const columns: Data[][] = [];
  for (const [index, { type }] of schema.fields.entries()) {
    const dataOf = (batch: number): Data => columnsOf(batches[batch] as RecordBatch)[index] as Data;
    columns.push(yield* gatherParts(type, sourcesOf(placed, dataOf), count, BATCH_ROWS));
  }
  const parts = Math.ceil(count / BATCH_ROWS);
  return Array.from({ length: parts }, (_, part) =>
    recordBatch(
      schema,
      columns.map((datas) => datas[part] as Data),
      Math.min(BATCH_ROWS, count - part * BATCH_ROWS),
    ),
  );
}

/** The same of some columns of `batches` batches, each as one piece. */
export function* columnsInOne(
  columns: readonly { readonly type: DataType; readonly parts: readonly Data[] }[],
  batches: number,
  places: RowPlaces,
): Generator<void, Data[]> {
  const count = places.row.length;
  if (columns.length === 0) return [];
  if (count === 0) return columns.map(({ type }) => nullColumn(type, 0));
  const placed = byBatch(places, batches);
  yield;
  const all = 2 ** Math.ceil(Math.log2(count));
  const wholes: Data[] = [];
  for (const { type, parts } of columns) {
    const sources = sourcesOf(placed, (batch) => parts[batch] as Data);
    const [whole] = yield* gatherParts(type, sources, count, all);
    wholes.push(whole as Data);
  }
  return wholes;
}

/** The places of all rows as they are. */
export function allPlaces(batches: readonly { readonly numRows: number }[]): RowPlaces {
  const rows = batches.reduce((sum, { numRows }) => sum + numRows, 0);
  const places = { batch: new Uint32Array(rows), row: new Uint32Array(rows) };
  let at = 0;
  for (const [batch, { numRows }] of batches.entries()) {
    places.batch.fill(batch, at, at + numRows);
    for (let row = 0; row < numRows; row++) places.row[at++] = row;
  }
  return places;
}

/** What the rows at these places have of the numbers of each batch; all in order without places. */
function numbersAt(numbers: readonly Int32Array[], places: RowPlaces | undefined): Int32Array {
  const all = new Int32Array(numbers.reduce((sum, { length }) => sum + length, 0));
  const starts = new Uint32Array(numbers.length);
  let at = 0;
  for (const [batch, own] of numbers.entries()) {
    starts[batch] = at;
    all.set(own, at);
    at += own.length;
  }
  if (places === undefined) return all;
  const { batch, row } = places;
  const found = new Int32Array(row.length);
  for (let at = 0; at < found.length; at++) {
    found[at] = all[(starts[batch[at] as number] as number) + (row[at] as number)] as number;
  }
  return found;
}

/** Rows of a step. */
const STEP_ROWS = 1 << 16;

/** Places, and 1 for each that is the first of its number. */
interface Partitioned {
  readonly places: RowPlaces;
  readonly firsts: Uint8Array;
}

/** The places by the numbers of their rows; those of one number stay as they were. */
export function* partitioned(
  places: RowPlaces,
  numbers: readonly Int32Array[],
): Generator<void, Partitioned> {
  const rows = places.row.length;
  const own = numbersAt(numbers, places);
  yield;
  const next = startsOf(own);
  const firsts = new Uint8Array(rows);
  for (const start of next) if (start < rows) firsts[start] = 1;
  yield;
  const into = { batch: new Uint32Array(rows), row: new Uint32Array(rows) };
  yield* inSlices(rows, STEP_ROWS, (from, to) => distribute(places, own, next, from, to, into));
  return { places: into, firsts };
}

/** Where the rows of each number begin if rows are in the order of their numbers. */
function startsOf(numbers: Int32Array): Uint32Array {
  let most = 0;
  for (let at = 0; at < numbers.length; at++) most = Math.max(most, numbers[at] as number);
  const starts = new Uint32Array(most + 2);
  for (let at = 0; at < numbers.length; at++) (starts[(numbers[at] as number) + 1] as number)++;
  for (let number = 0; number <= most; number++) {
    (starts[number + 1] as number) += starts[number] as number;
  }
  return starts.subarray(0, most + 1);
}

function distribute(
  { batch, row }: RowPlaces,
  numbers: Int32Array,
  next: Uint32Array,
  from: number,
  to: number,
  into: RowPlaces,
): void {
  const { batch: batches, row: rows } = into;
  for (let at = from; at < to; at++) {
    const number = numbers[at] as number;
    const place = next[number] as number;
    next[number] = place + 1;
    batches[place] = batch[at] as number;
    rows[place] = row[at] as number;
  }
}
