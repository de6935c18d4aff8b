/**
 * `rebatch` cuts and joins the record batches of a stream, in row order, so that none exceeds the
 * limits on rows and bytes (65,536 and 64 MiB unless given); a batch of one row may exceed the
 * bytes. Cutting copies nothing. Neighbouring small batches are copied together by the position of
 * their columns, so a batch that has not the columns of the schema, in its order and types and with
 * a value for each row, throws TableSchemaValidation. Batches without rows are dropped, the others
 * get the given schema. `splitBatch` and `sliceBatch` cut one batch.
 */
import { DirspaceError } from '../errors.ts';
import type { Pause } from '../steps.ts';
import type { RecordBatch, Schema } from './apache.ts';
import { batchBytes, columnsOf, recordBatch, sliceData } from './arrow-data.ts';
import { concatBatchesInSteps } from './concat.ts';
import { describeType, typesEqual } from './schema-equality.ts';

const DEFAULT_BATCH_ROWS = 65_536;
const DEFAULT_BATCH_BYTES = 64 * 1024 * 1024;

export interface BatchLimits {
  readonly rows?: number;
  /** A batch of more than one row does not exceed it. */
  readonly bytes?: number;
}

/** Slices of at most `maxRows` rows that share the batch's buffers. */
export function splitBatch(batch: RecordBatch, maxRows: number): RecordBatch[] {
  if (batch.numRows <= maxRows) return [batch];
  const parts: RecordBatch[] = [];
  for (let from = 0; from < batch.numRows; from += maxRows) {
    parts.push(sliceBatch(batch, from, Math.min(maxRows, batch.numRows - from)));
  }
  return parts;
}

/** A slice that shares the batch's buffers. */
export function sliceBatch(batch: RecordBatch, from: number, rows: number): RecordBatch {
  if (from === 0 && rows === batch.numRows) return batch;
  const columns = columnsOf(batch).map((column) => sliceData(column, from, rows));
  return recordBatch(batch.schema, columns, rows);
}

/** Halves until each part keeps the limit. */
function splitBytes(batch: RecordBatch, bytes: number): RecordBatch[] {
  if (batch.numRows <= 1 || batchBytes(batch) <= bytes) return [batch];
  const half = batch.numRows >> 1;
  return [
    ...splitBytes(sliceBatch(batch, 0, half), bytes),
    ...splitBytes(sliceBatch(batch, half, batch.numRows - half), bytes),
  ];
}

/**
 * The same rows in the same order, in batches near the limits: large ones are cut without copying,
 * runs of small ones are joined. Batches without rows are dropped. Holds no more than one batch.
 * @throws TableSchemaValidation for a batch that has other columns than the schema
 */
export async function* rebatch(
  stream: AsyncIterable<RecordBatch>,
  schema: Schema,
  limits: BatchLimits,
  pause: Pause = noPause,
): AsyncIterable<RecordBatch> {
  const pool = new Pool(
    schema,
    limits.rows ?? DEFAULT_BATCH_ROWS,
    limits.bytes ?? DEFAULT_BATCH_BYTES,
  );
  for await (const batch of stream) {
    // No hop per batch where there is nothing to give: a stream of ten-row batches has thousands.
    for (const ready of pool.add(batch)) {
      if (ready !== undefined) yield ready;
      else await pause();
    }
  }
  for (const ready of pool.flush()) {
    if (ready !== undefined) yield ready;
    else await pause();
  }
}

const noPause: Pause = () => undefined;

class Pool {
  readonly #schema: Schema;
  readonly #maxRows: number;
  readonly #maxBytes: number;
  #waiting: RecordBatch[] = [];
  #rows = 0;
  #bytes = 0;

  constructor(schema: Schema, maxRows: number, maxBytes: number) {
    this.#schema = schema;
    this.#maxRows = maxRows;
    this.#maxBytes = maxBytes;
  }

  /** Batches that are complete, undefined between two steps of joining one. */
  *add(batch: RecordBatch): Generator<RecordBatch | undefined> {
    if (batch.numRows === 0) return;
    requireFit(batch, this.#schema);
    for (const slice of splitBatch(batch, this.#maxRows)) {
      for (const part of splitBytes(slice, this.#maxBytes)) yield* this.#take(part);
    }
  }

  *#take(part: RecordBatch): Generator<RecordBatch | undefined> {
    const bytes = batchBytes(part);
    const fits =
      this.#rows + part.numRows <= this.#maxRows && this.#bytes + bytes <= this.#maxBytes;
    if (!fits) yield* this.flush();
    // Big enough to go on its own: joining it with others would copy it.
    if (this.#waiting.length === 0 && part.numRows * 2 >= this.#maxRows) {
      yield this.#withSchema(part);
      return;
    }
    this.#waiting.push(part);
    this.#rows += part.numRows;
    this.#bytes += bytes;
  }

  *flush(): Generator<RecordBatch | undefined> {
    const waiting = this.#waiting;
    if (waiting.length === 0) return;
    this.#waiting = [];
    this.#rows = 0;
    this.#bytes = 0;
    yield this.#withSchema(yield* concatBatchesInSteps(waiting));
  }

  /** Batches of one stream may differ in metadata; what leaves here has the stream's schema. */
  #withSchema(batch: RecordBatch): RecordBatch {
    if (batch.schema === this.#schema) return batch;
    return recordBatch(this.#schema, [...columnsOf(batch)], batch.numRows);
  }
}

/** @throws TableSchemaValidation naming the first column that differs */
function requireFit(batch: RecordBatch, { fields }: Schema): void {
  const columns = columnsOf(batch);
  if (columns.length !== fields.length) {
    throw misfit(`A batch of ${columns.length} columns does not fit a schema of ${fields.length}`);
  }
  for (const [at, column] of columns.entries()) {
    const field = fields[at] as Schema['fields'][number];
    const given = batch.schema.fields[at];
    const own = JSON.stringify(field.name);
    if (given !== field && given?.name !== field.name) {
      throw misfit(`A batch has ${JSON.stringify(given?.name)} in place of the column ${own}`);
    }
    if (column.length !== batch.numRows) {
      const found = `${column.length} values in a batch of ${batch.numRows} rows`;
      throw misfit(`The column ${own} has ${found}`, field.name);
    }
    if (typesEqual(column.type, field.type)) continue;
    const types = `${describeType(column.type)} in a batch and ${describeType(field.type)} in the schema`;
    throw misfit(`The column ${own} is ${types}`, field.name);
  }
}

const misfit = (what: string, column?: string): DirspaceError =>
  new DirspaceError(
    'TableSchemaValidation',
    `${what}. Give every batch the columns of the schema, in its order and types, with one value for each row. Nothing was written.`,
    column === undefined ? {} : { details: { column } },
  );
