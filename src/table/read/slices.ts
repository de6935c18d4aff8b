/**
 * Evaluates expressions over a batch in slices of rows, so that a costly one yields to the event
 * loop every few milliseconds. A slice has fewer rows if the expression is costly or values are
 * long. `selectRows` finds and `countRows` counts the rows for which a predicate is true.
 * `evaluateRows` computes values; those of several slices count for requestMemory until they are
 * joined. `breathe` yields if the plan's turn is over. `byteSlices` cuts columns into slices of
 * about 4 MiB.
 */

import {
  concatData,
  type Data,
  DataType,
  dataBytes,
  sliceData,
  Vector,
} from '../../arrow/index.ts';
import { joinedIntegers } from '../../bytes.ts';
import { elapsed } from '../../env.ts';
import type {
  ColumnSource,
  CompiledExpression,
  EvaluationContext,
  RowNumbers,
} from '../../sql/index.ts';
import { drained } from '../../steps.ts';
import type { Awaitable } from '../../store/index.ts';
import { andThen, inTurns } from '../work/index.ts';
import type { ScanPlan } from './scan-plan.ts';

/** Rows times weight that are evaluated at once: a few milliseconds' work. */
const SLICE_WORK = 1 << 22;
const LEAST_ROWS = 16;
/** Values of a row with more bytes count for as many rows. */
const SHORT_BYTES = 64;
/** Slices are made smaller beyond the first, and larger up to the second. */
const SLOW_MILLISECONDS = 20;
const QUICK_MILLISECONDS = 10;

/** Columns of a batch by name, each of `rows` rows. */
export interface Rows {
  readonly columns: ReadonlyMap<string, Data>;
  readonly rows: number;
  readonly context: EvaluationContext;
}

/** Bytes of columns that are gone through at once. */
const SLICE_BYTES = 1 << 22;

/** Columns of a batch in slices of about 4 MiB, each with the number of its first row. */
export function* byteSlices(
  columns: readonly Data[],
  rows: number,
): Generator<{ readonly from: number; readonly rows: number; readonly columns: readonly Data[] }> {
  const bytes = columns.reduce((sum, data) => sum + dataBytes(data), 0);
  const most = Math.max(1, Math.floor((SLICE_BYTES * rows) / Math.max(1, bytes)));
  for (let from = 0; from < rows; from += most) {
    const count = Math.min(most, rows - from);
    const slices = columns.map((data) => sliceData(data, from, count));
    yield { from, rows: count, columns: slices };
  }
}

type Weighted = Pick<CompiledExpression, 'weight'>;

/** How many rows an expression is evaluated for at once. */
export const sliceRows = ({ weight }: Weighted, scale = 1): number =>
  Math.max(Math.max(1, Math.floor(LEAST_ROWS / scale)), Math.floor(SLICE_WORK / weight / scale));

function scaled(all: Rows, { columns }: CompiledExpression): Rows {
  const scale = scaleOf(all, columns);
  return scale === 1 ? all : { ...all, context: { ...all.context, scale } };
}

/** How many times as long as short values those of a row take, on average. */
function scaleOf({ columns, rows }: Rows, names: readonly string[]): number {
  let bytes = 0;
  for (const name of names) {
    const data = columns.get(name);
    if (data === undefined || DataType.isInt(data.type) || DataType.isFloat(data.type)) continue;
    bytes += dataBytes(data);
  }
  return Math.max(1, bytes / SHORT_BYTES / Math.max(1, rows));
}

/** Yields to the event loop where the plan's turn is over. */
export async function breathe({ turn, signal }: ScanPlan): Promise<void> {
  if (!turn.isOver()) return;
  await turn.pass();
  signal?.throwIfAborted();
}

/** Numbers of the rows for which it is true, ascending. */
export function selectRows(
  plan: ScanPlan,
  predicate: CompiledExpression,
  whole: Rows,
): Awaitable<Uint32Array> {
  const all = scaled(whole, predicate);
  const moved = (found: Uint32Array, from: number): Uint32Array =>
    from === 0 ? found : found.map((row) => row + from);
  const parts = eachSlice(plan, predicate, all, {
    *inSteps(from, count) {
      const part = sliceOf(all, from, count);
      return moved(yield* predicate.selectInSteps(sourceOf(part), part.context), from);
    },
    atOnce: () => predicate.select(sourceOf(all), all.context),
  });
  return andThen(parts, joinedIntegers);
}

/** How many rows it is true for. */
export function countRows(
  plan: ScanPlan,
  predicate: CompiledExpression,
  whole: Rows,
): Awaitable<number> {
  const all = scaled(whole, predicate);
  const counts = eachSlice(plan, predicate, all, {
    inSteps(from, length) {
      const part = sliceOf(all, from, length);
      return predicate.countInSteps(sourceOf(part), part.context);
    },
    atOnce: () => predicate.count(sourceOf(all), all.context),
  });
  return andThen(counts, (found) => found.reduce((sum, part) => sum + part, 0));
}

/** One value for each row; `use` makes a column of those of each slice. */
export function evaluateRows(
  plan: ScanPlan,
  expression: CompiledExpression,
  whole: Rows,
  evaluate: (source: ColumnSource, context: EvaluationContext) => Generator<void, Data> = (
    source,
    context,
  ) => valuesInSteps(expression, source, context),
): Awaitable<Data> {
  const all = scaled(whole, expression);
  const held = plan.memory.hold('The computed values of one batch of rows');
  let bytes = 0;
  const parts = eachSlice(plan, expression, all, {
    *inSteps(from, count) {
      const part = sliceOf(all, from, count);
      const values = yield* evaluate(sourceOf(part), part.context);
      if (count < all.rows) {
        bytes += dataBytes(values);
        held.set(bytes);
      }
      return values;
    },
    atOnce: () => drained(evaluate(sourceOf(all), all.context)),
  });
  if (!(parts instanceof Promise)) return concatData(parts);
  return parts.then(concatData).finally(() => held.end());
}

/** Values of an expression, which are one chunk, as they are made for one batch. */
function* valuesInSteps(
  expression: CompiledExpression,
  source: ColumnSource,
  context: EvaluationContext,
): Generator<void, Data> {
  const { data } = yield* expression.evaluateInSteps(source, context);
  return data[0] as Data;
}

/** Comparisons for one row that may take milliseconds: it is gone through in steps. */
const HEAVY_ROW = 1 << 20;
/** Rows of long texts that take more together are gone through in steps too. */
const HEAVY_TEXTS = 1 << 19;
/** Texts are long that take so many times as long as short values. */
const LONG_SCALE = 16;

interface SliceWork<Part> {
  inSteps(from: number, count: number): Generator<void, Part>;
  /** The result for all rows, computed at once if that takes only a moment. */
  atOnce(): Part;
}

function eachSlice<Part>(
  plan: ScanPlan,
  expression: CompiledExpression,
  { rows, context: { scale = 1 } }: Rows,
  work: SliceWork<Part>,
): Awaitable<Part[]> {
  const size = sliceRows(expression, scale);
  const { uneven, weight } = expression;
  const long = scale > LONG_SCALE && weight * scale * rows > HEAVY_TEXTS;
  const heavy = long || expression.heavy || weight * scale > HEAVY_ROW;
  if (uneven && (rows > 1 || heavy)) return slices(plan, rows, size, unevenPace(size), work);
  if (rows <= size && !heavy) return [work.atOnce()];
  return slices(plan, rows, size, () => size, work);
}

/** Rows of the next slice, by how long the last one took; undefined before the first. */
type Pace = (took: number | undefined, last: number) => number;

/** Begins with few rows, as nothing tells before how long their texts take. */
const unevenPace =
  (most: number): Pace =>
  (took, last) => {
    if (took === undefined) return Math.max(1, Math.floor(most / 64));
    if (took > SLOW_MILLISECONDS) return Math.max(1, Math.floor(last / 4));
    return took <= QUICK_MILLISECONDS ? Math.min(most, 4 * last) : last;
  };

async function slices<Part>(
  plan: ScanPlan,
  rows: number,
  size: number,
  pace: Pace,
  work: SliceWork<Part>,
): Promise<Part[]> {
  const { turn, signal } = plan;
  const { env } = plan.engine;
  const parts: Part[] = [];
  let count = pace(undefined, size);
  for (let from = 0; from < rows; ) {
    // Before the first one as well: other batches of the plan may have taken the turn.
    await breathe(plan);
    const began = elapsed(env);
    const here = Math.min(count, rows - from);
    parts.push(await inTurns(turn, work.inSteps(from, here), signal));
    from += here;
    count = pace(elapsed(env) - began, count);
  }
  return parts;
}

function sliceOf(all: Rows, from: number, count: number): Rows {
  if (count === all.rows) return all;
  const columns = new Map<string, Data>();
  for (const [name, data] of all.columns) columns.set(name, sliceData(data, from, count));
  const { rowIds, rowOffsets } = all.context;
  const context = {
    ...all.context,
    ...(rowIds === undefined ? {} : { rowIds: numbersFrom(rowIds, from, count) }),
    ...(rowOffsets === undefined ? {} : { rowOffsets: numbersFrom(rowOffsets, from, count) }),
  };
  return { columns, rows: count, context };
}

const numbersFrom = (numbers: RowNumbers, from: number, count: number): RowNumbers =>
  numbers instanceof BigUint64Array
    ? numbers.subarray(from, from + count)
    : { start: BigInt(numbers.start) + BigInt(from) };

const sourceOf = ({ columns, rows }: Rows): ColumnSource => ({
  numRows: rows,
  getChild(name) {
    const data = columns.get(name);
    return data === undefined ? null : new Vector([data]);
  },
});
