/**
 * `windowColumn` computes one window function for ordered rows, partition after partition. A
 * running aggregate takes the rows up to the current one, and possibly the following rows that are
 * equal to it in order (its peers). Aggregates of whole partitions are computed like those of
 * groups, and those of other frames by window-frames.ts and frame-aggregates.ts. `comparesPeers`
 * tells whether calls need to know peers. `boundedFrame` returns the frame whose bounds the calls
 * need, or undefined if they need none.
 */
import type { DataType, Decimal } from '../../arrow/index.ts';
import type { RequestMemory } from '../../request-memory.ts';
import {
  type AggregateExpression,
  type Column,
  columnOf,
  compareValues,
  familyOf,
  gatherColumn,
  loadColumn,
  type RowFrame,
  reader,
  type Value,
  validityOf,
  withValidity,
} from '../../sql/index.ts';
import { inSlices } from '../../steps.ts';
import { meanOf } from '../../values/index.ts';
import {
  accumulator,
  aggregateOf,
  BATCH_ROWS,
  columnsOfCall,
  resultOf,
  sumCheck,
} from '../aggregates/index.ts';
import { aggregateName } from '../plan/index.ts';
import type { WindowStep } from '../steps/index.ts';
import { aggregatedFrames, distinctGroups } from './frame-aggregates.ts';
import type { FrameBounds } from './frame-bounds.ts';
import { nonNullRows } from './non-null-rows.ts';
import { endsOfFrames, framed } from './window-frames.ts';
import {
  checkNth,
  isRank,
  type Partitions,
  ranks,
  readsPeers,
  runs,
  STEP_ROWS,
} from './window-ranks.ts';

type Frame = WindowStep['frame'];

export interface Window {
  readonly marks: Partitions;
  readonly frame: Frame;
  /** Of the frame that `boundedFrame` gives. */
  readonly bounds: FrameBounds | undefined;
  readonly memory: RequestMemory;
}

/** Whether one of the calls asks which rows are equal in order. */
export function comparesPeers(calls: readonly AggregateExpression[], frame: Frame): boolean {
  if (typeof frame === 'object' && frame.unit !== undefined) return true;
  return calls.some(({ name, ignoresNulls }) => {
    if (isRank(name)) return readsPeers(name);
    if (ignoresNulls === true && frame === 'peers') return true;
    return name !== 'lag' && name !== 'lead' && name !== 'first_value' && frame === 'peers';
  });
}

/** Aggregates whose values for growing and moving frames are computed row after row. */
const ROW_BY_ROW: ReadonlySet<string> = new Set([
  ...['count', 'sum', 'avg', 'min', 'max', 'bool_and', 'bool_or'],
]);
const isOfFrames = ({ name, distinct }: AggregateExpression): boolean =>
  distinct || !ROW_BY_ROW.has(aggregateName(name));
const OF_ROWS: ReadonlySet<string> = new Set([
  ...['lag', 'lead', 'first_value', 'last_value', 'nth_value'],
]);

/** The frame whose bounds calls ask for; undefined where they do without. */
export function boundedFrame(
  calls: readonly AggregateExpression[],
  frame: Frame,
): RowFrame | undefined {
  if (typeof frame === 'object') return frame;
  const isOfValues = calls.some(({ ignoresNulls }) => ignoresNulls === true);
  if (frame === 'whole' && isOfValues) return {};
  const asks =
    isOfValues ||
    calls.some((call) => !isRank(call.name) && !OF_ROWS.has(call.name) && isOfFrames(call));
  if (frame === 'whole' || !asks) return undefined;
  return frame === 'rows' ? { end: 0 } : { unit: 'range', end: 0 };
}

export function* windowColumn(
  call: AggregateExpression,
  type: DataType,
  columns: readonly Column[],
  { marks, frame, bounds, memory }: Window,
): Generator<void, Column> {
  const { name } = call;
  const [column] = columns;
  if (isRank(name)) return yield* ranks(name, type, marks, columns);
  if (call.ignoresNulls === true) {
    return orOtherwise(
      column as Column,
      yield* nonNullRows(call, columns, marks, bounds),
      columns[2],
    );
  }
  if ((name === 'lag' || name === 'lead') && columns.length < 3) {
    return pickedRows(column as Column, yield* shiftedRows(name, marks, columns[1]));
  }
  if (name === 'first_value' || name === 'last_value') {
    return pickedRows(column as Column, yield* endRows(name, marks, frame, bounds));
  }
  if (name === 'nth_value') {
    return pickedRows(column as Column, yield* nthRows(marks, frame, bounds, columns[1] as Column));
  }
  if (frame === 'whole' && name !== 'lag' && name !== 'lead') {
    return yield* ofPartitions(call, type, columns, marks, memory);
  }
  if (bounds !== undefined && !OF_ROWS.has(name) && isOfFrames(call)) {
    return yield* aggregatedFrames(call, type, columns, bounds, memory);
  }
  if (frame === 'rows' || frame === 'peers') {
    const numbers = yield* runningNumbers(call, type, column, marks, frame);
    if (numbers !== undefined) return numbers;
  }
  const values: Value[] = new Array(marks.partitions.length);
  for (const { from, to } of runs(marks.partitions)) {
    const part = { from, to, peers: marks.peers, values };
    if (name === 'lag' || name === 'lead') yield* shifted(name, part, columns);
    else if (typeof frame === 'object' && bounds !== undefined)
      yield* framed(call, type, part, columns, bounds);
    else yield* running(call, type, part, columns, frame);
    yield;
  }
  return { form: 'values', type, length: values.length, values };
}

export interface Part {
  readonly from: number;
  readonly to: number;
  readonly peers: Uint8Array;
  readonly values: Value[];
}

/** The values of these rows; null where there is none, at -1. */
function pickedRows(column: Column, rows: Int32Array): Column {
  const valid = new Uint8Array(rows.length);
  const asked = new Uint32Array(rows.length);
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at] as number;
    if (row < 0) continue;
    valid[at] = 1;
    asked[at] = row;
  }
  return withValidity(gatherColumn(column, asked), valid);
}

/** The values of these rows; the other value of a row where there is none, at -1. */
function orOtherwise(column: Column, rows: Int32Array, otherwise: Column | undefined): Column {
  const picked = pickedRows(column, rows);
  if (otherwise === undefined) return picked;
  const [read, readOther] = [reader(picked), reader(otherwise)];
  const values = Array.from(rows, (from, row) => (from < 0 ? readOther(row) : read(row)) ?? null);
  return columnOf(column.type, values);
}

/** Where the value so many rows before or after is; -1 where that is no row of the partition. */
function* shiftedRows(
  name: string,
  { partitions }: Partitions,
  distance: Column | undefined,
): Generator<void, Int32Array> {
  const by = distance === undefined ? undefined : reader(distance);
  const sign = name === 'lag' ? -1 : 1;
  const rows = new Int32Array(partitions.length).fill(-1);
  for (const { from, to } of runs(partitions)) {
    yield* inSlices(to - from, STEP_ROWS, (begin, end) => {
      for (let row = from + begin; row < from + end; row++) {
        const far = by === undefined ? 1 : by(row);
        const at = far === null ? -1 : row + sign * Number(far);
        if (at >= from && at < to) rows[row] = at;
      }
    });
    yield;
  }
  return rows;
}

/** The same with values for rows that are none. */
function* shifted(
  name: string,
  { from, to, values }: Part,
  columns: readonly Column[],
): Generator<void, void> {
  const [read, distance, otherwise] = columns.map(reader);
  const sign = name === 'lag' ? -1 : 1;
  for (let row = from; row < to; row++) {
    if (row % STEP_ROWS === 0) yield;
    const by = distance?.(row) ?? null;
    const at = by === null ? -1 : row + sign * Number(by);
    const isThere = at >= from && at < to;
    values[row] = isThere ? (read?.(at) ?? null) : by === null ? null : (otherwise?.(row) ?? null);
  }
}

/** The first or the last row of each frame; -1 where it has none. */
function* endRows(
  name: string,
  { partitions, peers }: Partitions,
  frame: Frame,
  bounds: FrameBounds | undefined,
): Generator<void, Int32Array> {
  const rows = new Int32Array(partitions.length);
  for (const { from, to } of runs(partitions)) {
    if (bounds !== undefined) yield* endsOfFrames(name, { from, to, rows }, bounds);
    else if (name === 'first_value') rows.fill(from, from, to);
    else if (frame === 'whole') rows.fill(to - 1, from, to);
    else if (frame === 'rows') for (let row = from; row < to; row++) rows[row] = row;
    else for (const peer of runs(peers, from, to)) rows.fill(peer.to - 1, peer.from, peer.to);
    yield;
  }
  return rows;
}

/** The row of such a number in each frame, which count from 1; -1 where it has none. */
function* nthRows(
  marks: Partitions,
  frame: Frame,
  bounds: FrameBounds | undefined,
  numbers: Column,
): Generator<void, Int32Array> {
  const rows = yield* endRows('first_value', marks, frame, bounds);
  const last = yield* endRows('last_value', marks, frame, bounds);
  const read = reader(numbers);
  for (let row = 0; row < rows.length; row++) {
    if (row % STEP_ROWS === 0) yield;
    const number = read(row);
    const first = rows[row] as number;
    checkNth(number);
    const at = number === null || first < 0 ? -1 : first + Number(number) - 1;
    rows[row] = at <= (last[row] as number) ? at : -1;
  }
  return rows;
}

/** The number of each row's partition, from 0 on, and how many there are. */
function groupsOf(partitions: Uint8Array): { groups: Int32Array; size: number } {
  const groups = new Int32Array(partitions.length);
  let size = 0;
  for (let row = 0; row < groups.length; row++) {
    if (partitions[row] === 1) size++;
    groups[row] = size - 1;
  }
  return { groups, size };
}

/** One value for each partition, computed as for groups. */
function* ofPartitions(
  call: AggregateExpression,
  type: DataType,
  columns: readonly Column[],
  { partitions }: Partitions,
  memory: RequestMemory,
): Generator<void, Column> {
  const argument = columns[0]?.type;
  const state = accumulator(aggregateOf(call, { type, argument }, memory));
  const taken = columns.slice(0, columnsOfCall(call).length);
  const rows = partitions.length;
  const { groups, size } = groupsOf(partitions);
  const distinct = call.distinct ? yield* distinctGroups(taken) : undefined;
  const held = memory.hold('The partitions of a window');
  try {
    for (let from = 0; from < rows; from += BATCH_ROWS) {
      const own = groups.subarray(from, Math.min(rows, from + BATCH_ROWS));
      const part = Uint32Array.from({ length: own.length }, (_, at) => from + at);
      const given = taken.map((column) => gatherColumn(column, part));
      if (state.reserve !== undefined) yield* state.reserve(own.length);
      const counted = own.slice();
      distinct?.leaveOut(part, counted);
      state.add(counted, size, given);
      held.set(state.bytes);
      yield;
    }
    const values: Value[] = [];
    for (let from = 0; from < size; from += STEP_ROWS) {
      const range = { from, to: Math.min(size, from + STEP_ROWS) };
      const result = yield* resultOf(state, range);
      const read = reader('form' in result ? result : loadColumn(result));
      for (let at = 0; at < range.to - from; at++) values.push(read(at) ?? null);
      yield;
    }
    return gatherColumn(columnOf(type, values), new Uint32Array(groups.buffer));
  } finally {
    held.end();
  }
}

/** A value that grows row by row. */
interface Running {
  add(value: Value): void;
  value(): Value;
}

/**
 * Sums, means and counts of numbers that grow row by row; undefined for others, and for sums of
 * integers that doubles do not hold.
 */
function* runningNumbers(
  call: AggregateExpression,
  type: DataType,
  column: Column | undefined,
  { partitions, peers }: Partitions,
  frame: 'rows' | 'peers',
): Generator<void, Column | undefined> {
  const name = aggregateName(call.name);
  const given = call.star ? undefined : column;
  if (name !== 'count' && name !== 'sum' && name !== 'avg') return undefined;
  if (name !== 'count' && (given?.form !== 'number' || !isPlainNumber(given.type)))
    return undefined;
  const numbers = given?.form === 'number' ? given.values : undefined;
  const valid = given === undefined ? null : validityOf(given);
  const isExact = numbers !== undefined && familyOf(given?.type as DataType) === 'int';
  const rows = partitions.length;
  const values = new Float64Array(rows);
  const known = new Uint8Array(rows);
  const last = { sum: 0, count: 0, first: 0 };
  const grow = (from: number, to: number): boolean => {
    let { sum, count, first } = last;
    for (let row = from; row < to; row++) {
      if (partitions[row] === 1) {
        sum = 0;
        count = 0;
      }
      if (valid === null || valid[row] !== 0) {
        count++;
        if (name !== 'count') sum += numbers?.[row] as number;
        if (isExact && !Number.isSafeInteger(sum)) return false;
      }
      // All rows of one place in order have the value of the last of them.
      if (frame === 'peers' && row + 1 < rows && peers[row + 1] === 0) continue;
      const value = name === 'count' ? count : name === 'sum' ? sum : sum / count;
      const isKnown = name === 'count' || count > 0 ? 1 : 0;
      for (; first <= row; first++) {
        values[first] = value;
        known[first] = isKnown;
      }
    }
    Object.assign(last, { sum, count, first });
    return true;
  };
  for (let from = 0; from < rows; from += STEP_ROWS) {
    if (!grow(from, Math.min(rows, from + STEP_ROWS))) return undefined;
    yield;
  }
  return { form: 'number', type, length: rows, values, valid: known };
}

const isPlainNumber = (type: DataType): boolean => ['int', 'float'].includes(familyOf(type));

function* running(
  call: AggregateExpression,
  type: DataType,
  { from, to, peers, values }: Part,
  [column]: readonly Column[],
  frame: Frame,
): Generator<void, void> {
  const state = runningOf(aggregateName(call.name), type, column?.type);
  const read = column === undefined || call.star ? () => true : reader(column);
  const add = (row: number): void => {
    const value = read(row) ?? null;
    if (value !== null) state.add(value);
  };
  let steps = 0;
  for (const peer of runs(frame === 'rows' ? undefined : peers, from, to)) {
    for (let row = peer.from; row < peer.to; row++) add(row);
    values.fill(state.value(), peer.from, peer.to);
    steps += peer.to - peer.from;
    if (steps < STEP_ROWS) continue;
    steps = 0;
    yield;
  }
}

function runningOf(name: string, type: DataType, argument: DataType | undefined): Running {
  switch (name) {
    case 'count': {
      let count = 0n;
      return { add: () => count++, value: () => count };
    }
    case 'min':
    case 'bool_and':
      return bound(1);
    case 'max':
    case 'bool_or':
      return bound(-1);
    default:
      return name === 'avg' ? means(argument as DataType) : sums(type, argument as DataType);
  }
}

function bound(sign: number): Running {
  let least: Value = null;
  return {
    add: (value) => {
      if (least === null || compareValues(value, least) * sign < 0) least = value;
    },
    value: () => least,
  };
}

function sums(type: DataType, argument: DataType): Running {
  let count = 0;
  if (familyOf(argument) === 'float') {
    let sum = 0;
    return {
      add: (value) => {
        sum += Number(value);
        count++;
      },
      value: () => (count === 0 ? null : sum),
    };
  }
  let sum = 0n;
  const check = sumCheck(type, 'A running sum');
  return {
    add: (value) => {
      sum += BigInt(value as number | bigint);
      count++;
      check(sum);
    },
    value: () => (count === 0 ? null : sum),
  };
}

function means(argument: DataType): Running {
  let count = 0;
  const family = familyOf(argument);
  const scale = family === 'decimal' ? 10 ** (argument as Decimal).scale : 1;
  let sum: bigint | number = family === 'float' ? 0 : 0n;
  return {
    add: (value) => {
      count++;
      sum = typeof sum === 'number' ? sum + Number(value) : sum + BigInt(value as number | bigint);
    },
    value: () => {
      if (count === 0) return null;
      return typeof sum === 'number' ? sum / count : meanOf(sum, scale * count);
    },
  };
}
