/**
 * `windowColumn`: computes the values of one window function for rows that are in order, partition
 * after partition. A running aggregate takes the rows of its partition up to the current one, or up
 * to the last one that is equal to it in order. Throws InvalidInput for a sum that its type does
 * not hold, and for an ntile of less than 1.
 */
import type { DataType, Decimal } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import {
  type AggregateExpression,
  type Column,
  columnOf,
  compareValues,
  familyOf,
  integerRange,
  reader,
  typeText,
  type Value,
} from '../../sql/index.ts';
import { aggregateName, type WindowStep } from '../plan/index.ts';
import { resultOf } from './accumulator.ts';
import { accumulator } from './accumulators.ts';
import { endsOfFrames, framed } from './window-frames.ts';

/** For each row whether it is the first of a partition, and of rows that are equal in order. */
export interface Partitions {
  readonly partitions: Uint8Array;
  readonly peers: Uint8Array;
}

type Frame = WindowStep['frame'];

/** Rows between two steps. */
const STEP_ROWS = 1 << 14;

export function* windowColumn(
  call: AggregateExpression,
  type: DataType,
  columns: readonly Column[],
  partitions: Partitions,
  frame: Frame,
): Generator<void, Column> {
  const rows = partitions.partitions.length;
  const values: Value[] = new Array(rows);
  for (const { from, to } of runs(partitions.partitions)) {
    const part = { from, to, peers: partitions.peers, values };
    if (RANKS.has(call.name)) yield* rank(call.name, part, columns);
    else if (call.name === 'lag' || call.name === 'lead') yield* shifted(call.name, part, columns);
    else if (call.name === 'first_value' || call.name === 'last_value') {
      if (typeof frame === 'object') yield* endsOfFrames(call.name, part, columns, frame);
      else ends(call.name, part, columns, frame);
    } else if (typeof frame === 'object') {
      yield* framed(call, type, part, columns, frame);
    } else if (frame === 'whole') yield* whole(call, type, part, columns);
    else yield* running(call, type, part, columns, frame);
    yield;
  }
  return columnOf(type, values);
}

export interface Part {
  readonly from: number;
  readonly to: number;
  readonly peers: Uint8Array;
  readonly values: Value[];
}

/** Rows from one mark to the next. */
function* runs(
  marks: Uint8Array,
  begin = 0,
  end = marks.length,
): Generator<{ from: number; to: number }> {
  for (let from = begin; from < end; ) {
    let to = from + 1;
    while (to < end && marks[to] === 0) to++;
    yield { from, to };
    from = to;
  }
}

const RANKS = new Set(['row_number', 'rank', 'dense_rank', 'percent_rank', 'ntile']);

function* rank(
  name: string,
  { from, to, peers, values }: Part,
  [tiles]: readonly Column[],
): Generator<void, void> {
  const rows = to - from;
  if (name === 'ntile') {
    const count = Number(tiles === undefined ? 1 : (reader(tiles)(from) ?? 0));
    if (!(count >= 1)) throw new DirspaceError('InvalidInput', 'ntile takes a number from 1 on.');
    const [least, larger] = [Math.floor(rows / count), rows % count];
    const border = larger * (least + 1);
    for (let at = 0; at < rows; at++) {
      const tile =
        at < border ? Math.floor(at / (least + 1)) : larger + Math.floor((at - border) / least);
      values[from + at] = BigInt(tile + 1);
      if (at % STEP_ROWS === 0) yield;
    }
    return;
  }
  let first = 0;
  let dense = 0;
  for (let at = 0; at < rows; at++) {
    if (at % STEP_ROWS === 0) yield;
    if (at === 0 || peers[from + at] === 1) {
      first = at;
      dense++;
    }
    if (name === 'percent_rank') values[from + at] = rows === 1 ? 0 : first / (rows - 1);
    else {
      const number = name === 'row_number' ? at + 1 : name === 'rank' ? first + 1 : dense;
      values[from + at] = BigInt(number);
    }
  }
}

/** The value so many rows before or after. */
function* shifted(
  name: string,
  { from, to, values }: Part,
  columns: readonly Column[],
): Generator<void, void> {
  const [read, distance, otherwise] = columns.map(reader);
  const sign = name === 'lag' ? -1 : 1;
  for (let row = from; row < to; row++) {
    if (row % STEP_ROWS === 0) yield;
    const by = distance === undefined ? 1 : distance(row);
    const at = by === null ? -1 : row + sign * Number(by);
    const isThere = at >= from && at < to;
    values[row] = isThere ? (read?.(at) ?? null) : by === null ? null : (otherwise?.(row) ?? null);
  }
}

function ends(
  name: string,
  { from, to, peers, values }: Part,
  [column]: readonly Column[],
  frame: Frame,
): void {
  const read = reader(column as Column);
  if (name === 'first_value' || frame === 'whole') {
    const value = read(name === 'first_value' ? from : to - 1) ?? null;
    values.fill(value, from, to);
    return;
  }
  for (const peer of runs(frame === 'rows' ? ALL : peers, from, to)) {
    if (frame === 'rows') {
      for (let row = peer.from; row < peer.to; row++) values[row] = read(row) ?? null;
    } else values.fill(read(peer.to - 1) ?? null, peer.from, peer.to);
  }
}

const ALL = new Uint8Array(0);

/** One value for the whole partition. */
function* whole(
  call: AggregateExpression,
  type: DataType,
  { from, to, values }: Part,
  columns: readonly Column[],
): Generator<void, void> {
  const separator = call.args[1]?.kind === 'string' ? call.args[1].value : '';
  const state = accumulator({
    name: aggregateName(call.name),
    type,
    argument: call.star ? undefined : columns[0]?.type,
    separator,
    order: [],
  });
  for (let row = from; row < to; row += STEP_ROWS) {
    const count = Math.min(STEP_ROWS, to - row);
    state.add(
      new Int32Array(count),
      1,
      columns.slice(0, 1).map((column) => sliced(column, row, count)),
    );
    yield;
  }
  values.fill(reader(yield* resultOf(state, { from: 0, to: 1 }))(0) ?? null, from, to);
}

function sliced(column: Column, from: number, count: number): Column {
  const read = reader(column);
  return columnOf(
    column.type,
    Array.from({ length: count }, (_, at) => read(from + at) ?? null),
  );
}

/** A value that grows row by row. */
interface Running {
  add(value: Value): void;
  value(): Value;
}

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
  for (const peer of runs(frame === 'rows' ? everyRow(to) : peers, from, to)) {
    for (let row = peer.from; row < peer.to; row++) add(row);
    values.fill(state.value(), peer.from, peer.to);
    steps += peer.to - peer.from;
    if (steps < STEP_ROWS) continue;
    steps = 0;
    yield;
  }
}

const everyRow = (rows: number): Uint8Array => new Uint8Array(rows).fill(1);

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
  const check = sumCheck(type);
  return {
    add: (value) => {
      sum += BigInt(value as number | bigint);
      count++;
      check(sum);
    },
    value: () => (count === 0 ? null : sum),
  };
}

/** Throws InvalidInput for a sum that the type does not hold. */
export function sumCheck(type: DataType): (sum: bigint) => void {
  const digits = familyOf(type) === 'decimal' ? 10n ** BigInt((type as Decimal).precision) : 0n;
  const [least, most] = digits > 0n ? [1n - digits, digits - 1n] : integerRange(type);
  return (sum) => {
    if (sum >= least && sum <= most) return;
    throw new DirspaceError(
      'InvalidInput',
      `A running sum is ${sum}, which ${typeText(type)} does not hold; cast its argument to double or decimal.`,
    );
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
    value: () => (count === 0 ? null : Number(sum) / scale / count),
  };
}
