/**
 * Exact vector search: every live row's vector is measured, the nearest are kept, and only their
 * other columns are read. The place where an index would name candidates instead.
 */
import {
  type Data,
  DataType,
  Field,
  Float32,
  Int32,
  type RecordBatch,
  type RecordBatchStream,
  recordBatchStream,
  Schema,
} from '../arrow.ts';
import { DirspaceError } from '../errors.ts';
import { columnsOf, dataOf, recordBatch } from '../format/arrow-data.ts';
import { getBit, setBit } from '../format/bitmaps.ts';
import { describeType } from '../protocol/schema-equality.ts';
import type { ElementType, Metric, VectorValues } from '../vector/elements.ts';
import { createSearch, type Match, type VectorBatch } from '../vector/search.ts';
import { matchingRows } from './batch-rows.ts';
import { type ColumnRequest, type ReadColumn, ROW_ID } from './columns.ts';
import type { Engine } from './engine.ts';
import type { IdentifiedField } from './field-ids.ts';
import { readFields } from './read-fields.ts';
import { pipelined } from './scan.ts';
import { planScan, type ScanPlan, type ScanRequest } from './scan-plan.ts';
import type { Snapshot } from './snapshot.ts';
import { takeRows } from './take.ts';

export interface SearchRequest extends ScanRequest {
  readonly vectors: readonly (readonly number[])[];
  /** If absent, the only vector column, or the only one of the query vector's length. */
  readonly vectorColumn?: string | undefined;
  readonly metric: Metric;
  /** True: the nearest of the rows that match; false: those that match of the nearest. */
  readonly prefilter: boolean;
  /** Distances from here on. */
  readonly lowerBound?: number | undefined;
  /** Distances up to before here. */
  readonly upperBound?: number | undefined;
}

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
  const found = await nearest(engine, snapshot, request, column, plan);
  const { batch, found: taken } = await takeRows(plan, found.rowIds);
  const matches = Array.from(taken, (at) => found.matches[at] as Match);
  return recordBatchStream(schema, [withDistances(schema, batch, matches)]);
}

interface Found {
  readonly matches: readonly Match[];
  /** One for each match. */
  readonly rowIds: BigUint64Array;
}

async function nearest(
  engine: Engine,
  snapshot: Snapshot,
  request: SearchRequest,
  column: IdentifiedField,
  plan: ScanPlan,
): Promise<Found> {
  const { field } = column;
  const dimension = listSizeOf(field.type);
  const filter = request.prefilter ? request.filter : undefined;
  const candidates = await planScan(engine, snapshot, {
    columns: [field.name],
    filter,
    counters: request.counters,
    signal: request.signal,
    memory: plan.memory,
  });
  const wanted = Math.min(plan.limit + plan.offset, snapshot.rowCount);
  if (wanted === 0) return { matches: [], rowIds: new BigUint64Array(0) };
  const search = createSearch({
    metric: request.metric,
    dimension,
    elementType: elementTypeOf(column),
    queries: request.vectors,
    k: wanted,
    lowerBound: request.lowerBound,
    upperBound: request.upperBound,
  });
  const blocks: { readonly start: number; readonly firstRowId: bigint }[] = [];
  let position = 0;
  const names = [field.name];
  const read = pipelined(candidates, async (place) => {
    const selection = await matchingRows(candidates, place);
    const none = selection?.length === 0;
    const [data] = none ? [] : await readFields(candidates, place, names, undefined);
    return { place, selection, data };
  });
  for await (const { place, selection, data } of read) {
    if (data === undefined) continue;
    search.add({ ...vectorsOf(data, place.rows, dimension), selection }, position);
    const firstRowId = (BigInt(place.entry.id) << 32n) | BigInt(place.first);
    blocks.push({ start: position, firstRowId });
    position += place.rows;
  }
  const matches = search.finish().flatMap((found) => found.slice(plan.offset));
  const rowIds = BigUint64Array.from(matches, (match) => {
    let block = blocks.length - 1;
    while ((blocks[block]?.start ?? 0) > match.position) block -= 1;
    const { start, firstRowId } = blocks[block] as (typeof blocks)[number];
    return firstRowId + BigInt(match.position - start);
  });
  if (request.prefilter || request.filter === undefined) return { matches, rowIds };
  const asked = { ...request, memory: plan.memory };
  return postfiltered(engine, snapshot, asked, request.filter, { matches, rowIds });
}

/** Those of the nearest rows that match. */
async function postfiltered(
  engine: Engine,
  snapshot: Snapshot,
  { counters, memory }: SearchRequest,
  filter: string,
  found: Found,
): Promise<Found> {
  const { predicate } = await planScan(engine, snapshot, { columns: [], filter, memory });
  if (predicate === undefined) return found;
  const columns = [...predicate.columns, ROW_ID];
  const plan = await planScan(engine, snapshot, { columns, counters, memory });
  const { batch, found: taken } = await takeRows(plan, found.rowIds);
  const rowIds = columnsOf(batch).at(-1)?.values as unknown as BigUint64Array;
  const kept = predicate.select(batch, { rowIds, memory: plan.memory });
  return {
    matches: Array.from(kept, (row) => found.matches[taken[row] as number] as Match),
    rowIds: BigUint64Array.from(kept, (row) => rowIds[row] as bigint),
  };
}

/** @throws InvalidInput, TableColumnNotFound naming the columns that would do */
export function vectorColumn(
  snapshot: Snapshot,
  name: string | undefined,
  [vector = []]: readonly (readonly number[])[],
): IdentifiedField {
  const able = snapshot.fields.filter(({ field }) => elementTypeNamed(field.type) !== undefined);
  const names = able.map(({ field }) => field.name).join(', ') || 'none';
  if (name === undefined) {
    const fitting = able.filter(({ field }) => listSizeOf(field.type) === vector.length);
    const [only] = able.length === 1 ? able : fitting.length === 1 ? fitting : [];
    if (only !== undefined) return only;
    throw new DirspaceError(
      'InvalidInput',
      `The table has ${able.length} vector columns (${names}); name the one to search.`,
    );
  }
  const field = snapshot.fields.find((candidate) => candidate.field.name === name);
  if (field === undefined) {
    throw new DirspaceError(
      'TableColumnNotFound',
      `There is no column ${JSON.stringify(name)}; vectors are in ${names}.`,
      { details: { column: name } },
    );
  }
  if (able.includes(field)) return field;
  throw new DirspaceError(
    'InvalidInput',
    `Column ${name} is ${describeType(field.field.type)}; a search needs a fixed_size_list of float16, float32, float64 or uint8. Vectors are in ${names}.`,
    { details: { column: name } },
  );
}

const listSizeOf = (type: DataType): number => (type as unknown as { listSize: number }).listSize;

function elementTypeNamed(type: DataType): ElementType | undefined {
  if (!DataType.isFixedSizeList(type)) return undefined;
  const element = type.children[0]?.type as DataType | undefined;
  if (DataType.isFloat(element)) {
    return (['float16', 'float32', 'float64'] as const)[element.precision];
  }
  return DataType.isInt(element) && element.bitWidth === 8 && !element.isSigned
    ? 'uint8'
    : undefined;
}

const elementTypeOf = ({ field }: IdentifiedField): ElementType =>
  elementTypeNamed(field.type) as ElementType;

/** A vector that is null, or has a null in it, never matches. */
function vectorsOf(data: Data, rows: number, dimension: number): VectorBatch {
  const child = data.children[0] as Data;
  const from = data.offset * dimension;
  const values = (child.values as unknown as Float32Array).subarray(
    from,
    from + rows * dimension,
  ) as VectorValues;
  if (child.nullCount === 0) {
    if (data.nullCount === 0) return { values, rows };
    return { values, rows, validity: data.nullBitmap, validityOffset: data.offset };
  }
  const validity = new Uint8Array((rows + 7) >> 3);
  for (let row = 0; row < rows; row++) {
    let whole = data.nullCount === 0 || getBit(data.nullBitmap, data.offset + row);
    for (let at = 0; whole && at < dimension; at++) {
      whole = getBit(child.nullBitmap, child.offset + from + row * dimension + at);
    }
    if (whole) setBit(validity, row);
  }
  return { values, rows, validity };
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

function withDistances(schema: Schema, batch: RecordBatch, matches: readonly Match[]): RecordBatch {
  const rows = matches.length;
  const columns = new Map(batch.schema.fields.map(({ name }, at) => [name, columnsOf(batch)[at]]));
  const data = schema.fields.map(({ name }): Data => {
    const own = columns.get(name);
    if (own !== undefined) return own;
    const values =
      name === DISTANCE
        ? Float32Array.from(matches, ({ distance }) => distance)
        : Int32Array.from(matches, ({ query }) => query);
    return dataOf(name === DISTANCE ? new Float32() : new Int32(), rows, { values });
  });
  return recordBatch(schema, data, rows);
}
