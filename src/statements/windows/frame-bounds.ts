/**
 * `frameBounds` finds the first row and the end of the frame of each row; of an empty frame both
 * are the same. ROWS counts rows, and GROUPS counts groups of rows that are equal in order. RANGE
 * with distances compares the key of the window with values at these distances, which the caller
 * computes. Both ends move only forward from row to row, so each end passes the rows of a partition
 * once.
 */
import { type Column, compareValues, type RowFrame, reader, type Value } from '../../sql/index.ts';
import { type Partitions, runs, STEP_ROWS } from './window-ranks.ts';

/** The first row of the frame of each row, and the row after its last one. */
export interface FrameBounds {
  readonly low: Int32Array;
  readonly high: Int32Array;
}

/** Columns of the key of the window and of the values that frames begin and end with. */
export interface FrameKeys {
  readonly ascending: boolean;
  readonly key: Column;
  readonly start: Column | undefined;
  readonly end: Column | undefined;
}

/** @param keys of frames of RANGE with distances */
export function* frameBounds(
  frame: RowFrame,
  { partitions, peers }: Partitions,
  keys: FrameKeys | undefined,
): Generator<void, FrameBounds> {
  const rows = partitions.length;
  const bounds = { low: new Int32Array(rows), high: new Int32Array(rows) };
  for (const part of runs(partitions)) {
    if (frame.unit === 'groups') yield* countGroups(frame, part, peers, bounds);
    else if (frame.unit === 'range') yield* compareKeys(frame, part, peers, keys, bounds);
    else yield* countRows(frame, part, bounds);
    yield;
  }
  for (let row = 0; row < rows; row++) {
    if ((bounds.high[row] as number) < (bounds.low[row] as number)) {
      bounds.high[row] = bounds.low[row] as number;
    }
  }
  return bounds;
}

interface Rows {
  readonly from: number;
  readonly to: number;
}

const within = (row: number, { from, to }: Rows): number => Math.min(to, Math.max(from, row));

function* countRows(
  { start, end }: RowFrame,
  part: Rows,
  { low, high }: FrameBounds,
): Generator<void, void> {
  for (let row = part.from; row < part.to; row++) {
    if (row % STEP_ROWS === 0) yield;
    low[row] = start === undefined ? part.from : within(row + start, part);
    high[row] = end === undefined ? part.to : within(row + end + 1, part);
  }
}

function* countGroups(
  { start, end }: RowFrame,
  part: Rows,
  peers: Uint8Array,
  { low, high }: FrameBounds,
): Generator<void, void> {
  /** Where each group begins, and the end of the last one. */
  const begins: number[] = [];
  for (let row = part.from; row < part.to; row++) if (peers[row] === 1) begins.push(row);
  begins.push(part.to);
  const last = begins.length - 1;
  const beginOf = (group: number): number => begins[Math.min(last, Math.max(0, group))] as number;
  for (let group = 0; group < last; group++) {
    const [first, next] = [beginOf(group), beginOf(group + 1)];
    low.fill(start === undefined ? part.from : beginOf(group + start), first, next);
    high.fill(end === undefined ? part.to : beginOf(group + end + 1), first, next);
    if (group % STEP_ROWS === 0) yield;
  }
}

function* compareKeys(
  frame: RowFrame,
  part: Rows,
  peers: Uint8Array,
  keys: FrameKeys | undefined,
  { low, high }: FrameBounds,
): Generator<void, void> {
  for (const { from, to } of runs(peers, part.from, part.to)) {
    low.fill(frame.start === undefined ? part.from : from, from, to);
    high.fill(frame.end === undefined ? part.to : to, from, to);
  }
  yield;
  if (keys === undefined) return;
  const read = reader(keys.key);
  // Nulls are all at one end; their frames are themselves, whatever the distance is.
  const valued = { ...part };
  while (valued.from < valued.to && read(valued.from) === null) valued.from++;
  while (valued.from < valued.to && read(valued.to - 1) === null) valued.to--;
  if (valued.from === valued.to) return;
  const sign = keys.ascending ? 1 : -1;
  if (keys.start !== undefined) {
    const isBefore = (key: Value, value: Value) => compareValues(key, value) * sign < 0;
    yield* passed(read, reader(keys.start), isBefore, valued, low);
  }
  if (keys.end !== undefined) {
    const isWithin = (key: Value, value: Value) => compareValues(key, value) * sign <= 0;
    yield* passed(read, reader(keys.end), isWithin, valued, high);
  }
}

/** The first row whose key is not passed by the value of each row. */
function* passed(
  keyOf: (row: number) => Value,
  limitOf: (row: number) => Value,
  isPassed: (key: Value, value: Value) => boolean,
  { from, to }: Rows,
  into: Int32Array,
): Generator<void, void> {
  let at = from;
  for (let row = from; row < to; row++) {
    const value = limitOf(row);
    while (at < to && isPassed(keyOf(at), value)) {
      at++;
      if (at % STEP_ROWS === 0) yield;
    }
    into[row] = at;
    if (row % STEP_ROWS === 0) yield;
  }
}
