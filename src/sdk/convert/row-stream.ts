/**
 * Turns rows into a stream of record batches, by a given schema or an inferred one. `arrayStream`
 * infers from all rows of an array and can be read again. `rowStream` infers from the first
 * `batchRows` rows of a source and can be read once. `tableOfRows` builds the record batches of all
 * rows at once. A record batch with a column of more than 2 GiB is split. Rows without columns and
 * without a schema throw InvalidInput. So does `requireColumns` if a type is given for a column
 * that the data lacks.
 */
import {
  type RecordBatch,
  type RecordBatchStream,
  recordBatchStream,
  type Schema,
} from '../../arrow/index.ts';
import { DirspaceError, isDirspaceError } from '../../errors.ts';
import { suggestion } from '../../known-names.ts';
import { type BuildContext, buildBatch, buildContext, type Records } from '../build/index.ts';
import { givenInRows } from './given.ts';
import { type ColumnTypes, inferSchema, type VectorColumns } from './infer.ts';
import { once, type RowSource } from './source.ts';

/** What was asked of the stream, however the data comes. */
export interface StreamPlan {
  readonly schema: Schema | undefined;
  /** Whether columns and members of the schema that the data does not have are left out. */
  readonly partial: boolean;
  readonly vectors: VectorColumns | undefined;
  /** Of columns whose types are not inferred, nor those of the data. */
  readonly types: ColumnTypes | undefined;
  /** Whether rows are of a JSON file: whole numbers become integers, and long ones fit floats. */
  readonly wholeNumbers: boolean;
  readonly batchRows: number;
  readonly signal: AbortSignal | undefined;
}

const INFERRED =
  ' The type was inferred from the first values there; pass a schema to choose another.';

const LATER =
  ' The columns were inferred from the first rows. A schema takes columns that come later.';

const FIRST_ROWS = ' Of the columns there are, only those of the first rows were taken.';

/** @param isWhole whether no rows follow */
function schemaOfRows(rows: readonly unknown[], plan: StreamPlan, isWhole = false): Schema {
  const { schema: asked } = plan;
  if (asked !== undefined) {
    return plan.partial ? givenInRows(asked, rows as Records) : asked;
  }
  const schema = inferSchema(rows, plan.vectors, plan.types, plan.wholeNumbers, isWhole);
  if (schema.fields.length === 0) {
    // Only rows without columns are left; the first that is no row at all says so itself.
    if (rows.length > 0) buildBatch(schema, rows, 0, buildContext());
    throw new DirspaceError(
      'InvalidInput',
      'At least one record or a schema needs to be provided: there are no rows with columns to infer one from.',
    );
  }
  requireColumns(schema, plan.types);
  return schema;
}

/**
 * A type for a column that the data does not have is a misspelt name.
 * @param isOfRows whether rows gave the schema, of which later ones may have more columns
 * @throws InvalidInput
 */
export function requireColumns(
  { fields }: Schema,
  types: ColumnTypes | undefined,
  isOfRows = true,
): void {
  if (types === undefined) return;
  const names = fields.map((field) => field.name);
  for (const name of types.keys()) {
    if (names.includes(name)) continue;
    throw new DirspaceError(
      'InvalidInput',
      `A type is given for the column ${JSON.stringify(name)}, which ${isOfRows ? 'the first rows do' : 'the data does'} not have.${suggestion(name, names)}${isOfRows ? ' A schema takes columns that come later.' : ''}`,
      { details: { column: name } },
    );
  }
}

const contextFor = ({ schema, types, wholeNumbers }: StreamPlan, hint = ''): BuildContext =>
  buildContext({
    roundsIntegers: wholeNumbers,
    hint: (column, isMissing = false) => {
      if (schema !== undefined) return hint;
      if (isMissing) return LATER;
      return hasType(column, types) ? '' : INFERRED;
    },
  });

/** Whether a type is given for the column, or for the one that it is a part of. */
function hasType(column: string, types: ColumnTypes | undefined): boolean {
  for (const name of types?.keys() ?? []) {
    if (column.startsWith(name) && /^(?:$|[.[])/.test(column.slice(name.length))) return true;
  }
  return false;
}

/** Can be read again and again. */
export function arrayStream(rows: readonly unknown[], plan: StreamPlan): RecordBatchStream {
  const { batchRows, signal } = plan;
  const schema = schemaOfRows(rows, plan);
  return {
    schema,
    async *[Symbol.asyncIterator](): AsyncIterator<RecordBatch> {
      const context = contextFor(plan);
      for (let start = 0; start < rows.length; start += batchRows) {
        signal?.throwIfAborted();
        const part = rows.length <= batchRows ? rows : rows.slice(start, start + batchRows);
        yield* batchesOf(schema, part, start, context);
      }
    },
  };
}

/** All rows at once, as `arrayStream` reads them with `partial`; `change` may give the inferred schema other types. */
export function tableOfRows(
  rows: readonly unknown[],
  asked: Schema | undefined,
  vectors: VectorColumns | undefined,
  change: (inferred: Schema) => Schema,
): { readonly schema: Schema; readonly batches: RecordBatch[] } {
  const plan: StreamPlan = {
    schema: asked,
    partial: true,
    vectors,
    types: undefined,
    wholeNumbers: false,
    batchRows: Math.max(1, rows.length),
    signal: undefined,
  };
  const schema = change(schemaOfRows(rows, plan));
  return { schema, batches: [...batchesOf(schema, rows, 0, contextFor(plan))] };
}

/** One batch, or several when the values are too large for one. */
function* batchesOf(
  schema: Schema,
  rows: readonly unknown[],
  base: number,
  context: BuildContext,
): Generator<RecordBatch> {
  let batch: RecordBatch;
  try {
    batch = buildBatch(schema, rows, base, context);
  } catch (error) {
    if (rows.length < 2 || !isDirspaceError(error, 'PayloadTooLarge')) throw error;
    const half = rows.length >> 1;
    yield* batchesOf(schema, rows.slice(0, half), base, context);
    yield* batchesOf(schema, rows.slice(half), base + half, context);
    return;
  }
  yield batch;
}

/** Can be read once; takes no more rows than it is asked for, but for the first batch. */
export async function rowStream(source: RowSource, plan: StreamPlan): Promise<RecordBatchStream> {
  const { batchRows } = plan;
  const looks = plan.schema === undefined || plan.partial;
  const first = looks ? await source.take(batchRows) : undefined;
  const isWhole = first !== undefined && first.length < batchRows;
  const schema = schemaOfRows(first ?? [], plan, isWhole);
  async function* batches(): AsyncGenerator<RecordBatch> {
    const context = contextFor(plan, schema === plan.schema ? undefined : FIRST_ROWS);
    let pending = first;
    try {
      for (let base = 0; ; ) {
        const rows = pending ?? (await source.take(batchRows));
        pending = undefined;
        if (rows.length > 0) yield* batchesOf(schema, rows, base, context);
        if (rows.length < batchRows) return;
        base += rows.length;
      }
    } finally {
      await source.close();
    }
  }
  return recordBatchStream(schema, once(batches()));
}
