/**
 * `aggregatedFrames` computes any aggregate for the frame of each row, by adding the rows of a
 * frame as GROUP BY adds those of a group. Frames that only grow from row to row share one state,
 * if the aggregate can be read more than once. All other frames are computed one by one, so that
 * the work grows with the rows of all frames together. `distinctGroups` prepares a
 * `DistinctGroups`, which leaves out repeated values for DISTINCT; it takes the rows group after
 * group.
 */
import { consecutive, type DataType } from '../../arrow/index.ts';
import type { RequestMemory } from '../../request-memory.ts';
import {
  type AggregateExpression,
  type Column,
  columnOf,
  familyOf,
  gatherColumn,
  loadColumn,
  reader,
  type Value,
} from '../../sql/index.ts';
import {
  type Accumulator,
  accumulator,
  aggregateOf,
  BATCH_ROWS,
  columnsOfCall,
  resultOf,
} from '../aggregates/index.ts';
import { KeyNumbers } from '../keys/index.ts';
import { aggregateName } from '../plan/index.ts';
import type { FrameBounds } from './frame-bounds.ts';
import { STEP_ROWS } from './window-ranks.ts';

/** Aggregates whose state sorts or joins all values at the end, and takes no rows after that. */
const AT_THE_END: ReadonlySet<string> = new Set(
  'median quantile_cont quantile_disc mode string_agg array_agg'.split(' '),
);
/** Bytes of a result that is neither a text nor a list. */
const RESULT_BYTES = 16;

export function* aggregatedFrames(
  call: AggregateExpression,
  type: DataType,
  columns: readonly Column[],
  bounds: FrameBounds,
  memory: RequestMemory,
): Generator<void, Column> {
  const argument = columns[0]?.type;
  const taken = columns.slice(0, columnsOfCall(call).length);
  const distinct = call.distinct ? yield* distinctGroups(taken) : undefined;
  const canGrow = !AT_THE_END.has(aggregateName(call.name));
  const isLarge = ['text', 'list'].includes(familyOf(type));
  const values: Value[] = [];
  const held = memory.hold('The frames of a window');
  let bytes = 0;
  try {
    for (let row = 0; row < bounds.low.length; ) {
      const state = accumulator(aggregateOf(call, { type, argument }, memory));
      const frames = { state, taken, distinct, bounds };
      const first = row;
      distinct?.begin();
      row = yield* canGrow && isGrowing(bounds, row)
        ? grown(frames, row, values)
        : collected(frames, row, values);
      bytes += isLarge ? state.bytes : RESULT_BYTES * (row - first);
      held.set(bytes + state.bytes);
      yield;
    }
    return columnOf(type, values);
  } finally {
    held.end();
  }
}

interface Frames {
  readonly state: Accumulator;
  readonly taken: readonly Column[];
  readonly distinct: DistinctGroups | undefined;
  readonly bounds: FrameBounds;
}

/** Whether the frame of the next row begins where that of `row` does and has its rows. */
const isGrowing = ({ low, high }: FrameBounds, row: number): boolean =>
  row + 1 < low.length &&
  low[row + 1] === low[row] &&
  (high[row + 1] as number) >= (high[row] as number);

/** Computes frames that grow from row to row, with one state; returns the row after the last. */
function* grown(frames: Frames, first: number, values: Value[]): Generator<void, number> {
  const { bounds, state } = frames;
  let end = bounds.low[first] as number;
  for (let row = first; ; row++) {
    const to = bounds.high[row] as number;
    for (; end < to; end = Math.min(to, end + BATCH_ROWS)) {
      const count = Math.min(to - end, BATCH_ROWS);
      yield* addRows(frames, consecutive(end, count), new Int32Array(count), 1);
    }
    yield* readInto(values, state, 1);
    if (row % STEP_ROWS === 0) yield;
    if (!isGrowing(bounds, row)) return row + 1;
  }
}

/** Computes some frames, each as a group of its rows; returns the row after the last. */
function* collected(frames: Frames, first: number, values: Value[]): Generator<void, number> {
  const { low, high } = frames.bounds;
  const widthOf = (row: number): number => (high[row] as number) - (low[row] as number);
  let [row, size] = [first, 0];
  while (row < low.length && (row === first || size + widthOf(row) <= BATCH_ROWS)) {
    size += widthOf(row++);
  }
  const count = row - first;
  const [rows, groups] = [new Uint32Array(size), new Int32Array(size)];
  for (let group = 0, at = 0; group < count; group++) {
    const from = low[first + group] as number;
    for (let place = from; place < (high[first + group] as number); place++) {
      rows[at] = place;
      groups[at++] = group;
    }
  }
  for (let from = 0; from < size; from += BATCH_ROWS) {
    const to = Math.min(size, from + BATCH_ROWS);
    yield* addRows(frames, rows.subarray(from, to), groups.slice(from, to), count);
  }
  yield* readInto(values, frames.state, count);
  return row;
}

/** @param groups of the rows; may be changed */
function* addRows(
  { state, taken, distinct }: Frames,
  rows: Uint32Array,
  groups: Int32Array,
  size: number,
): Generator<void, void> {
  distinct?.leaveOut(rows, groups);
  if (state.reserve !== undefined) yield* state.reserve(rows.length);
  state.add(
    groups,
    size,
    taken.map((column) => gatherColumn(column, rows)),
  );
  if (rows.length >= STEP_ROWS) yield;
}

function* readInto(values: Value[], state: Accumulator, size: number): Generator<void, void> {
  const result = yield* resultOf(state, { from: 0, to: size });
  const valueAt = reader('form' in result ? result : loadColumn(result));
  for (let at = 0; at < size; at++) values.push(valueAt(at) ?? null);
}

/** Leaves out rows whose value an earlier row of their group has. Rows come group after group. */
export class DistinctGroups {
  /** The number of the value of each row, and the group that had it last, counted from 1. */
  readonly #numbers: Int32Array;
  readonly #last: Int32Array;
  #groups = 0;
  #group = -1;

  constructor(numbers: Int32Array, size: number) {
    this.#numbers = numbers;
    this.#last = new Int32Array(size);
  }

  /** Sets the groups of such rows to -1. */
  leaveOut(rows: Uint32Array, groups: Int32Array): void {
    for (let at = 0; at < rows.length; at++) {
      const group = groups[at] as number;
      if (group < 0) continue;
      if (group !== this.#group) {
        this.#group = group;
        this.#groups++;
      }
      const value = this.#numbers[rows[at] as number] as number;
      if (this.#last[value] === this.#groups) groups[at] = -1;
      else this.#last[value] = this.#groups;
    }
  }

  /** Begins with other groups, whatever their numbers. */
  begin(): void {
    this.#group = -1;
  }
}

/** Tells values of rows of columns apart. */
export function* distinctGroups(columns: readonly Column[]): Generator<void, DistinctGroups> {
  const keys = new KeyNumbers(columns.map(({ type }) => type));
  const rows = columns[0]?.length ?? 0;
  const numbers = new Int32Array(rows);
  for (let from = 0; from < rows; from += BATCH_ROWS) {
    const part = consecutive(from, Math.min(BATCH_ROWS, rows - from));
    yield* keys.reserve(part.length);
    numbers.set(keys.add(columns.map((column) => gatherColumn(column, part))), from);
    yield;
  }
  return new DistinctGroups(numbers, keys.size + 1);
}
