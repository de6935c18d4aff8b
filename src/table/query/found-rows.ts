/**
 * Reads the rows that a search found, with the distance or score of each. `planFound` plans the
 * read, `foundStream` reads the rows best first, and `postfiltered` drops rows that do not match a
 * predicate. `withoutValues` removes from the columns asked for those that a search adds itself.
 */
import {
  columnsOf,
  type Data,
  dataOf,
  Field,
  Float32,
  Int32,
  type RecordBatch,
  type RecordBatchStream,
  recordBatch,
  recordBatchStream,
  Schema,
} from '../../arrow/index.ts';
import { DirspaceError, isDirspaceError } from '../../errors.ts';
import { stepped } from '../../stepped.ts';
import {
  type ColumnRequest,
  planScan,
  type ReadColumn,
  ROW_ID,
  type ScanPlan,
  type ScanRequest,
  takenInParts,
} from '../read/index.ts';
import type { Engine, Snapshot } from '../versions/index.ts';
import { inTurns } from '../work/index.ts';

/** The distance of a row from the query vector. */
export const DISTANCE = '_distance';
/** How well a row matches a full-text query. */
export const SCORE = '_score';
/** Which of several query vectors a row is near to. */
export const QUERY_INDEX = 'query_index';

/** Rows found, best first, one entry for each in all arrays. */
export interface Found {
  readonly rowIds: BigUint64Array;
  /** Distances, or scores. */
  readonly values: Float32Array;
  /** Which query vector each is near to, where there are several. */
  readonly queries?: Int32Array | undefined;
}

export const NOTHING_FOUND: Found = {
  rowIds: new BigUint64Array(0),
  values: new Float32Array(0),
};

/**
 * The plan of what is read of the rows found.
 * @throws Unsupported for an expression with what the search adds, TableColumnNotFound, InvalidInput
 */
export async function planFound(
  engine: Engine,
  snapshot: Snapshot,
  request: ScanRequest,
): Promise<ScanPlan> {
  try {
    return await planScan(engine, snapshot, request);
  } catch (error) {
    if (!isDirspaceError(error, 'TableColumnNotFound')) throw error;
    const column = String(error.details?.column).toLowerCase();
    if (![DISTANCE, SCORE, QUERY_INDEX].includes(column)) throw error;
    throw new DirspaceError(
      'Unsupported',
      `${column} is added to the rows that a search found: no expression reads it. Leave it out of what is selected, and compute with the ${column} of each row.`,
      { cause: error, details: { column } },
    );
  }
}

/** The columns of the plan for the rows found, with their values. */
export function foundStream(
  plan: ScanPlan,
  found: Found,
  value: typeof DISTANCE | typeof SCORE,
): RecordBatchStream {
  const schema = resultSchema(plan, value, found.queries !== undefined);
  return recordBatchStream(schema, foundRows(plan, schema, found, value));
}

function foundRows(
  plan: ScanPlan,
  schema: Schema,
  { rowIds, values, queries }: Found,
  name: string,
): AsyncGenerator<RecordBatch> {
  const idsOf = (from: number, to: number): BigUint64Array => rowIds.subarray(from, to);
  const held = plan.memory.hold('The rows found');
  const parts = takenInParts(plan, 0, rowIds.length, idsOf);
  const step = async (): Promise<RecordBatch | undefined> => {
    held.set(rowIds.byteLength + values.byteLength + (queries?.byteLength ?? 0));
    const { done, value } = await parts.next();
    if (done === true) return undefined;
    const { batch, found, from } = value;
    return withValues(
      schema,
      batch,
      name,
      Float32Array.from(found, (at) => values[from + at] as number),
      queries && Int32Array.from(found, (at) => queries[from + at] as number),
    );
  };
  return stepped(step, async () => {
    held.end();
    await parts.return(undefined);
  });
}

/** The rows found, filtered by the predicate afterwards. */
export async function postfiltered(
  engine: Engine,
  snapshot: Snapshot,
  { counters, signal, memory }: ScanRequest,
  filter: string,
  all: Found,
): Promise<Found> {
  const { predicate } = await planScan(engine, snapshot, { columns: [], filter, memory });
  if (predicate === undefined) return all;
  const columns = [...predicate.columns, ROW_ID];
  const plan = await planScan(engine, snapshot, { columns, counters, signal, memory });
  const kept = new Uint32Array(all.rowIds.length);
  let count = 0;
  const idsOf = (from: number, to: number): BigUint64Array => all.rowIds.subarray(from, to);
  for await (const part of takenInParts(plan, 0, kept.length, idsOf)) {
    const { batch, found, from } = part;
    const rowIds = columnsOf(batch).at(-1)?.values as unknown as BigUint64Array;
    const selecting = predicate.selectInSteps(batch, { rowIds, memory: plan.memory });
    for (const row of await inTurns(plan.turn, selecting, signal)) {
      kept[count++] = from + (found[row] as number);
    }
  }
  const rows = kept.subarray(0, count);
  return {
    rowIds: BigUint64Array.from(rows, (at) => all.rowIds[at] as bigint),
    values: Float32Array.from(rows, (at) => all.values[at] as number),
    queries: all.queries && Int32Array.from(rows, (at) => all.queries?.[at] as number),
  };
}

/** They are always there, so asking for them by name changes nothing. */
export function withoutValues(
  columns: ColumnRequest | undefined,
  ...names: readonly string[]
): ColumnRequest | undefined {
  return Array.isArray(columns) ? columns.filter((name) => !names.includes(name)) : columns;
}

function resultSchema(plan: ScanPlan, value: string, several: boolean): Schema {
  const isRowId = (column: ReadColumn): boolean => column.kind === 'row id';
  const fields = plan.schema.fields.filter((_, at) => !isRowId(plan.columns[at] as ReadColumn));
  const rowIds = plan.schema.fields.filter((_, at) => isRowId(plan.columns[at] as ReadColumn));
  return new Schema(
    [
      ...fields,
      new Field(value, new Float32(), true),
      ...rowIds,
      ...(several ? [new Field(QUERY_INDEX, new Int32(), true)] : []),
    ],
    plan.schema.metadata,
  );
}

function withValues(
  schema: Schema,
  batch: RecordBatch,
  value: string,
  values: Float32Array,
  queries: Int32Array | undefined,
): RecordBatch {
  const rows = batch.numRows;
  const columns = new Map(batch.schema.fields.map(({ name }, at) => [name, columnsOf(batch)[at]]));
  const data = schema.fields.map(({ name }): Data => {
    const own = columns.get(name);
    if (own !== undefined) return own;
    return name === value
      ? dataOf(new Float32(), rows, { values })
      : dataOf(new Int32(), rows, { values: queries });
  });
  return recordBatch(schema, data, rows);
}
