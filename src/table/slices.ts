/**
 * Expressions over a batch of rows, a slice of them at a time where they are costly, so that the
 * event loop goes on in between.
 */
import { type Data, Vector } from '../arrow.ts';
import type {
  ColumnSource,
  CompiledExpression,
  EvaluationContext,
  RowNumbers,
} from '../expression/expression.ts';
import { dataBytes, sliceData } from '../format/arrow-data.ts';
import { concatData } from '../format/concat.ts';
import type { Awaitable } from '../store/store.ts';
import { andThen } from './awaitable.ts';
import type { ScanPlan } from './scan-plan.ts';

/** Rows times weight that are evaluated at once: a few milliseconds' work. */
const SLICE_WORK = 1 << 22;
const LEAST_ROWS = 16;
/** Slices are made smaller beyond the first, and larger up to the second. */
const SLOW_MILLISECONDS = 20;
const QUICK_MILLISECONDS = 10;

/** Columns of a batch by name, each of `rows` rows. */
export interface Rows {
  readonly columns: ReadonlyMap<string, Data>;
  readonly rows: number;
  readonly context: EvaluationContext;
}

type Weighted = Pick<CompiledExpression, 'weight'>;

/** How many rows an expression is evaluated for at once. */
export const sliceRows = ({ weight }: Weighted): number =>
  Math.max(LEAST_ROWS, Math.floor(SLICE_WORK / weight));

/** Numbers of the rows for which it is true, ascending. */
export function selectRows(
  plan: ScanPlan,
  predicate: CompiledExpression,
  all: Rows,
): Awaitable<Uint32Array> {
  const { rows } = all;
  const select = (from: number, count: number): Uint32Array => {
    const part = sliceOf(all, from, count);
    const found = predicate.select(sourceOf(part), part.context);
    return from === 0 ? found : found.map((row) => row + from);
  };
  return andThen(eachSlice(plan, predicate, rows, select), joined);
}

/** How many rows it is true for. */
export function countRows(
  plan: ScanPlan,
  predicate: CompiledExpression,
  all: Rows,
): Awaitable<number> {
  const count = (from: number, length: number): number => {
    const part = sliceOf(all, from, length);
    return predicate.count(sourceOf(part), part.context);
  };
  const counts = eachSlice(plan, predicate, all.rows, count);
  return andThen(counts, (found) => found.reduce((sum, part) => sum + part, 0));
}

/** One value for each row; `use` makes a column of those of each slice. */
export function evaluateRows(
  plan: ScanPlan,
  expression: CompiledExpression,
  all: Rows,
  use: (source: ColumnSource, context: EvaluationContext) => Data,
): Awaitable<Data> {
  const held = plan.memory.hold('The computed values of one batch of rows');
  let bytes = 0;
  const evaluate = (from: number, count: number): Data => {
    const part = sliceOf(all, from, count);
    const values = use(sourceOf(part), part.context);
    if (count < all.rows) {
      bytes += dataBytes(values);
      held.set(bytes);
    }
    return values;
  };
  const parts = eachSlice(plan, expression, all.rows, evaluate);
  if (!(parts instanceof Promise)) return concatData(parts);
  return parts.then(concatData).finally(() => held.end());
}

function eachSlice<Part>(
  plan: ScanPlan,
  expression: CompiledExpression,
  rows: number,
  work: (from: number, count: number) => Part,
): Awaitable<Part[]> {
  const size = sliceRows(expression);
  if (expression.uneven && rows > 1) return slices(plan, rows, size, unevenPace(size), work);
  return rows <= size ? [work(0, rows)] : slices(plan, rows, size, () => size, work);
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
  { engine, turn, signal }: ScanPlan,
  rows: number,
  size: number,
  pace: Pace,
  work: (from: number, count: number) => Part,
): Promise<Part[]> {
  const { env } = engine;
  const parts: Part[] = [];
  let count = pace(undefined, size);
  for (let from = 0; from < rows; ) {
    // Before the first one as well: other batches of the plan may have taken the turn.
    if (turn.isOver()) {
      await turn.pass();
      signal?.throwIfAborted();
    }
    const began = env.now();
    const here = Math.min(count, rows - from);
    parts.push(work(from, here));
    from += here;
    count = pace(env.now() - began, count);
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

function joined(parts: readonly Uint32Array[]): Uint32Array {
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return only;
  const all = new Uint32Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
