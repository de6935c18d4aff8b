/**
 * Defines `Relation`, the stream of rows that a step of a plan yields, and `Work`, which the steps
 * of one statement share: their memory, their pauses for other work, and the signal that aborts
 * them. The functions are used by several steps: they run work with pauses (`run`, `oneStep`), keep
 * all batches of a relation in memory (`collected`, `asOneBatch`), estimate the bytes of values and
 * rows (`valueBytes`, `rowBytes`), find a column of a batch (`dataNamed`), and evaluate expressions
 * over batches (`columnReader`) and over both sides of a join (`keyReaders`). `BATCH_ROWS` and
 * `BATCH_BYTES` bound batches.
 */
import {
  batchBytes,
  columnsOf,
  concatBatchesInSteps,
  type Data,
  dataBytes,
  layoutOf,
  type RecordBatch,
  type Schema,
  sliceData,
} from '../../arrow/index.ts';
import type { HeldMemory, RequestMemory } from '../../request-memory.ts';
import { type Column, compileTree, type Expression } from '../../sql/index.ts';
import { inTurns, type Turn } from '../../table/index.ts';
import type { JoinStep } from '../steps/index.ts';

export interface Relation {
  readonly schema: Schema;
  batches(): AsyncGenerator<RecordBatch>;
}

export interface Work {
  readonly memory: RequestMemory;
  readonly turn: Turn;
  readonly signal: AbortSignal | undefined;
  /** The rows of the round before, of the recursive queries around this part of a plan. */
  readonly working?: ReadonlyMap<object, readonly RecordBatch[]>;
}

/** Runs steps, other work going on in between, and after the last: work of one step counts too. */
export const run = <Result>(work: Work, steps: Generator<void, Result>): Promise<Result> =>
  inTurns(work.turn, endedByStep(steps), work.signal);

function* endedByStep<Result>(steps: Generator<void, Result>): Generator<void, Result> {
  const result = yield* steps;
  yield;
  return result;
}

/** A place where other work may go on. */
export function* oneStep(): Generator<void, void> {
  yield;
}

export { BATCH_ROWS } from '../aggregates/index.ts';
/** A batch of repeated rows ends once it has about so many bytes. */
export const BATCH_BYTES: number = 8 << 20;

type KeyReader = ReturnType<typeof columnReader>;

/** Computes the keys of a join over batches of its left side, and of its right side. */
export const keyReaders = (
  keys: JoinStep['keys'],
  left: Relation,
  right: Relation,
  work: Work,
): readonly [ofLeft: KeyReader, ofRight: KeyReader] => [
  columnReader(
    keys.map((key) => key.left),
    left.schema,
    work,
  ),
  columnReader(
    keys.map((key) => key.right),
    right.schema,
    work,
  ),
];

/** Computes columns of a batch, which may read others that were computed before. */
export type ColumnReader = (
  batch: RecordBatch,
  computed?: ReadonlyMap<string, Column>,
) => Promise<Column[]>;

/** Computes trees over batches of one schema. */
export function columnReader(
  trees: readonly Expression[],
  schema: Schema,
  work: Work,
): ColumnReader {
  const compiled = trees.map((tree) => compileTree(tree, schema));
  return async (batch, computed) => {
    const columns: Column[] = [];
    const context = { memory: work.memory, ...(computed && { computed }) };
    for (const tree of compiled) {
      columns.push(await run(work, tree.columnInSteps(batch, context)));
    }
    return columns;
  };
}

/**
 * About how many bytes a value of a column takes, by its row. Items of a list that are no texts, and
 * those of lists of fixed size, count with their mean.
 */
export function valueBytes(data: Data): (row: number) => number {
  const { valueOffsets: offsets, children } = data;
  const layout = layoutOf(data.type);
  if (layout === 'view' || layout === 'union') return (row) => dataBytes(sliceData(data, row, 1));
  if (layout === 'struct') {
    const parts = children.map(valueBytes);
    return (row) => parts.reduce((bytes, of) => bytes + of(row), 0);
  }
  if (offsets === undefined || (layout !== 'binary' && layout !== 'list')) {
    const width = meanBytes(data);
    return () => width;
  }
  if (layout === 'binary') return (row) => Number(offsets[row + 1]) - Number(offsets[row]);
  const [items] = children;
  const ends = items !== undefined && layoutOf(items.type) === 'binary' ? items.valueOffsets : null;
  const width = items === undefined ? 0 : ends ? OFFSET_BYTES : meanBytes(items);
  return (row) => {
    const [from, to] = [Number(offsets[row]), Number(offsets[row + 1])];
    return (to - from) * width + (ends ? Number(ends[to]) - Number(ends[from]) : 0);
  };
}

const OFFSET_BYTES = 4;

const meanBytes = (data: Data): number => dataBytes(data) / Math.max(1, data.length);

/** The same of all columns together. */
export function rowBytes(batch: RecordBatch): (row: number) => number {
  const columns = columnsOf(batch).map(valueBytes);
  return (row) => columns.reduce((bytes, of) => bytes + of(row), 0);
}

/** The column of a batch by its name. */
export function dataNamed(batch: RecordBatch, name: string): Data {
  const at = batch.schema.fields.findIndex((field) => field.name === name);
  return columnsOf(batch)[at] as Data;
}

/**
 * Keeps all rows of a relation in `batches`, and counts their bytes in `held`.
 * @param isEnough asked after each batch; a promise is waited for, and may have replaced the batches
 */
export async function collected(
  input: Relation,
  held: HeldMemory,
  isEnough: (rows: number, bytes: number) => Promise<void> | undefined = () => undefined,
  batches: RecordBatch[] = [],
): Promise<RecordBatch[]> {
  let bytes = 0;
  let rows = 0;
  for await (const batch of input.batches()) {
    if (batch.numRows === 0) continue;
    batches.push(batch);
    bytes += batchBytes(batch);
    rows += batch.numRows;
    held.set(bytes);
    const enough = isEnough(rows, bytes);
    if (enough === undefined) continue;
    await enough;
    bytes = batches.reduce((sum, kept) => sum + batchBytes(kept), 0);
    rows = batches.reduce((sum, kept) => sum + kept.numRows, 0);
    held.set(bytes);
  }
  return batches;
}

/** All rows as one batch; there is at least one batch. */
export async function asOneBatch(
  batches: readonly RecordBatch[],
  work: Work,
): Promise<RecordBatch> {
  const [only] = batches;
  if (only !== undefined && batches.length === 1) return only;
  return run(work, concatBatchesInSteps(batches));
}
