/**
 * Defines `Relation`, the rows that a step of a plan gives, batch by batch, and `Work`, which the
 * steps of one statement share. `collected` keeps all batches of a relation in memory and counts
 * their bytes; `columnReader` evaluates expressions over batches, and `rowsAt` picks rows from
 * several batches.
 */
import {
  batchBytes,
  columnsOf,
  concatBatchesInSteps,
  type Data,
  gatherParts,
  type RecordBatch,
  recordBatch,
  type Schema,
} from '../../arrow/index.ts';
import type { HeldMemory, RequestMemory } from '../../request-memory.ts';
import { type Column, compileTree, type Expression } from '../../sql/index.ts';
import { inTurns, type Turn } from '../../table/index.ts';

export interface Relation {
  readonly schema: Schema;
  batches(): AsyncGenerator<RecordBatch>;
}

export interface Work {
  readonly memory: RequestMemory;
  readonly turn: Turn;
  readonly signal: AbortSignal | undefined;
}

/** Runs steps, other work going on in between. */
export const run = <Result>(work: Work, steps: Generator<void, Result>): Promise<Result> =>
  inTurns(work.turn, steps, work.signal);

/** A place where other work may go on. */
export function* oneStep(): Generator<void, void> {
  yield;
}

/** Rows of the batches that steps make. */
export const BATCH_ROWS = 1 << 16;

/** Computes trees over batches of one schema. */
export function columnReader(
  trees: readonly Expression[],
  schema: Schema,
  work: Work,
): (batch: RecordBatch) => Promise<Column[]> {
  const compiled = trees.map((tree) => compileTree(tree, schema));
  return async (batch) => {
    const columns: Column[] = [];
    for (const tree of compiled) {
      columns.push(await run(work, tree.columnInSteps(batch, { memory: work.memory })));
    }
    return columns;
  };
}

/** The column of a batch by its name. */
export function dataNamed(batch: RecordBatch, name: string): Data {
  const at = batch.schema.fields.findIndex((field) => field.name === name);
  return columnsOf(batch)[at] as Data;
}

export async function collected(
  input: Relation,
  held: HeldMemory,
  isEnough: (rows: number) => Promise<void> | undefined = () => undefined,
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
    const enough = isEnough(rows);
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

/** Rows by the number of their batch and their place in it. */
export interface RowPlaces {
  readonly batch: Uint32Array;
  readonly row: Uint32Array;
}

/** These rows of the batches, in this order. */
export function* rowsAt(
  schema: Schema,
  batches: readonly RecordBatch[],
  { batch: of, row }: RowPlaces,
): Generator<void, RecordBatch[]> {
  const count = of.length;
  if (count === 0) return [];
  const counts = new Uint32Array(batches.length);
  for (let at = 0; at < count; at++) (counts[of[at] as number] as number)++;
  const placed = Array.from(counts, (rows) => ({
    rows: new Uint32Array(rows),
    places: new Uint32Array(rows),
  }));
  counts.fill(0);
  for (let at = 0; at < count; at++) {
    const batch = of[at] as number;
    const to = (counts[batch] as number)++;
    const { rows, places } = placed[batch] as (typeof placed)[number];
    rows[to] = row[at] as number;
    places[to] = at;
  }
  yield;
  const columns: Data[][] = [];
  for (const [index, { type }] of schema.fields.entries()) {
    const sources = placed.flatMap((part, batch) =>
      part.rows.length === 0
        ? []
        : [{ data: columnsOf(batches[batch] as RecordBatch)[index] as Data, ...part }],
    );
    columns.push(yield* gatherParts(type, sources, count, BATCH_ROWS));
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
