/**
 * `searchVectors`: finds the rows whose vectors are nearest to the query's, by measuring vectors
 * exactly; no index is used. With `prefilter` it measures only rows that match the predicate;
 * otherwise it filters the nearest rows afterwards. Vectors that are null or hold a null never
 * match. `withoutDistance` drops the columns that the
 * search itself adds from those asked for.
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
import { stepped } from '../../stepped.ts';
import {
  type ColumnRequest,
  planScan,
  type ReadColumn,
  ROW_ID,
  type ScanPlan,
  takenInParts,
} from '../read/index.ts';
import type { Engine, Snapshot } from '../versions/index.ts';
import { inTurns } from '../work/index.ts';
import { type Found, nearestRows, type SearchRequest } from './nearest.ts';
import { vectorColumn } from './vector-column.ts';

/** The distance of a row from the query vector. */
export const DISTANCE = '_distance';
/** Which of several query vectors a row is near to. */
export const QUERY_INDEX = 'query_index';

/** Rows nearest first; with several vectors those of the first come first. */
export async function searchVectors(
  engine: Engine,
  snapshot: Snapshot,
  request: SearchRequest,
): Promise<RecordBatchStream> {
  const column = vectorColumn(snapshot, request.vectorColumn, request.vectors);
  const columns = withoutDistance(request.columns);
  const plan = await planScan(engine, snapshot, { ...request, columns, filter: undefined });
  const schema = resultSchema(plan, request.vectors.length > 1);
  const held = plan.memory.hold(`The nearest rows of ${request.vectors.length} query vectors`);
  let found: Found;
  try {
    found = await nearestRows(engine, snapshot, request, column, plan, held);
    if (!request.prefilter && request.filter !== undefined) {
      const asked = { ...request, memory: plan.memory };
      found = await postfiltered(engine, snapshot, asked, request.filter, found);
    }
  } finally {
    held.end();
  }
  return recordBatchStream(schema, foundRows(plan, schema, found));
}

function foundRows(
  plan: ScanPlan,
  schema: Schema,
  { rowIds, distances, queries }: Found,
): AsyncGenerator<RecordBatch> {
  const idsOf = (from: number, to: number): BigUint64Array => rowIds.subarray(from, to);
  const held = plan.memory.hold('The nearest rows');
  const parts = takenInParts(plan, 0, rowIds.length, idsOf);
  const step = async (): Promise<RecordBatch | undefined> => {
    held.set(rowIds.byteLength + distances.byteLength + queries.byteLength);
    const { done, value } = await parts.next();
    if (done === true) return undefined;
    const { batch, found, from } = value;
    return withDistances(
      schema,
      batch,
      Float32Array.from(found, (at) => distances[from + at] as number),
      Int32Array.from(found, (at) => queries[from + at] as number),
    );
  };
  return stepped(step, async () => {
    held.end();
    await parts.return(undefined);
  });
}

/** The nearest rows, filtered by the predicate afterwards. */
async function postfiltered(
  engine: Engine,
  snapshot: Snapshot,
  { counters, signal, memory }: SearchRequest,
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
    distances: Float32Array.from(rows, (at) => all.distances[at] as number),
    queries: Int32Array.from(rows, (at) => all.queries[at] as number),
  };
}

/** The distance is always there, so asking for it by name changes nothing. */
export function withoutDistance(columns: ColumnRequest | undefined): ColumnRequest | undefined {
  return Array.isArray(columns)
    ? columns.filter((name) => name !== DISTANCE && name !== QUERY_INDEX)
    : columns;
}

function resultSchema(plan: ScanPlan, several: boolean): Schema {
  const isRowId = (column: ReadColumn): boolean => column.kind === 'row id';
  const fields = plan.schema.fields.filter((_, at) => !isRowId(plan.columns[at] as ReadColumn));
  const rowIds = plan.schema.fields.filter((_, at) => isRowId(plan.columns[at] as ReadColumn));
  return new Schema(
    [
      ...fields,
      new Field(DISTANCE, new Float32(), true),
      ...rowIds,
      ...(several ? [new Field(QUERY_INDEX, new Int32(), true)] : []),
    ],
    plan.schema.metadata,
  );
}

function withDistances(
  schema: Schema,
  batch: RecordBatch,
  distances: Float32Array,
  queries: Int32Array,
): RecordBatch {
  const rows = batch.numRows;
  const columns = new Map(batch.schema.fields.map(({ name }, at) => [name, columnsOf(batch)[at]]));
  const data = schema.fields.map(({ name }): Data => {
    const own = columns.get(name);
    if (own !== undefined) return own;
    return name === DISTANCE
      ? dataOf(new Float32(), rows, { values: distances })
      : dataOf(new Int32(), rows, { values: queries });
  });
  return recordBatch(schema, data, rows);
}
