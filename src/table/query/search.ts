/**
 * `searchVectors`: finds the rows whose vectors are nearest to the query's, by measuring vectors
 * exactly; no index is used. With `prefilter` it measures only rows that match the predicate;
 * otherwise it filters the nearest rows afterwards. Vectors that are null or hold a null never
 * match. `vectorColumn` finds the column to search. `withoutDistance` drops the columns that the
 * search itself adds from those asked for.
 */
import {
  columnsOf,
  type Data,
  DataType,
  dataOf,
  describeType,
  Field,
  Float32,
  getBit,
  Int32,
  type RecordBatch,
  type RecordBatchStream,
  recordBatch,
  recordBatchStream,
  Schema,
  setBit,
} from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { suggestion } from '../../known-names.ts';
import type { HeldMemory } from '../../request-memory.ts';
import { stepped } from '../../stepped.ts';
import {
  createSearch,
  type ElementType,
  type Matches,
  type Metric,
  type VectorBatch,
  type VectorValues,
} from '../../vector/index.ts';
import type { IdentifiedField } from '../fields/index.ts';
import { readFields } from '../fragments/index.ts';
import {
  type ColumnRequest,
  matchingRows,
  pipelined,
  planScan,
  type ReadColumn,
  ROW_ID,
  type ScanPlan,
  type ScanRequest,
  takenInParts,
} from '../read/index.ts';
import type { Engine, Snapshot } from '../versions/index.ts';
import { inTurns, Turn } from '../work/index.ts';

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
  const held = plan.memory.hold(`The nearest rows of ${request.vectors.length} query vectors`);
  let found: Found;
  try {
    found = await nearest(engine, snapshot, request, column, plan, held);
  } finally {
    held.end();
  }
  return recordBatchStream(schema, foundRows(plan, schema, found));
}

/** Rows near to the query vectors, one entry for each in all three. */
interface Found {
  readonly rowIds: BigUint64Array;
  readonly distances: Float32Array;
  /** Which query vector each is near to. */
  readonly queries: Int32Array;
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

async function nearest(
  engine: Engine,
  snapshot: Snapshot,
  request: SearchRequest,
  column: IdentifiedField,
  plan: ScanPlan,
  held: HeldMemory,
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
  if (wanted === 0) return NOTHING;
  const search = createSearch({
    metric: request.metric,
    dimension,
    elementType: elementTypeOf(column),
    queries: request.vectors,
    k: wanted,
    lowerBound: request.lowerBound,
    upperBound: request.upperBound,
  });
  const blocks: Block[] = [];
  let position = 0;
  const names = [field.name];
  const read = pipelined(candidates, async (place) => {
    const selection = await matchingRows(candidates, place);
    const none = selection?.length === 0;
    const [data] = none ? [] : await readFields(candidates, place, names, undefined);
    return { place, selection, data };
  });
  const turn = new Turn(engine.env);
  for await (const { place, selection, data } of read) {
    if (data === undefined) continue;
    const batch = { ...vectorsOf(data, place.rows, dimension), selection };
    await inTurns(turn, search.add(batch, position), request.signal);
    // Once more for the joined matches, which are made while these are still there.
    held.set(2 * search.heldBytes);
    const firstRowId = (BigInt(place.entry.id) << 32n) | BigInt(place.first);
    blocks.push({ start: position, firstRowId });
    position += place.rows;
  }
  const matches = await inTurns(turn, search.finish(), request.signal);
  const found = await inTurns(turn, joined(matches, plan.offset, blocks), request.signal);
  if (request.prefilter || request.filter === undefined) return found;
  const asked = { ...request, memory: plan.memory };
  return postfiltered(engine, snapshot, asked, request.filter, found);
}

const NOTHING: Found = {
  rowIds: new BigUint64Array(0),
  distances: new Float32Array(0),
  queries: new Int32Array(0),
};

/** A batch that was searched: the position of its first row, and its row id. */
interface Block {
  readonly start: number;
  readonly firstRowId: bigint;
}

/** Matches handled between two steps. */
const STEP_ROWS = 16_384;

/** The matches of all queries, each without its first `offset`, by row ids in place of positions. */
function* joined(
  matches: readonly Matches[],
  offset: number,
  blocks: readonly Block[],
): Generator<void, Found> {
  const total = matches.reduce((sum, { positions }) => sum + restOf(positions, offset), 0);
  const found = {
    rowIds: new BigUint64Array(total),
    distances: new Float32Array(total),
    queries: new Int32Array(total),
  };
  let count = 0;
  for (const [query, { positions, distances }] of matches.entries()) {
    for (let at = offset; at < positions.length; at++) {
      found.rowIds[count] = rowIdAt(blocks, positions[at] as number);
      found.distances[count] = distances[at] as number;
      found.queries[count] = query;
      count += 1;
      if (count % STEP_ROWS === 0) yield;
    }
  }
  return found;
}

const restOf = ({ length }: Float64Array, offset: number): number => Math.max(0, length - offset);

function rowIdAt(blocks: readonly Block[], position: number): bigint {
  let low = 0;
  let high = blocks.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if ((blocks[middle] as Block).start <= position) low = middle;
    else high = middle - 1;
  }
  const { start, firstRowId } = blocks[low] as Block;
  return firstRowId + BigInt(position - start);
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
      `There is no column ${JSON.stringify(name)}; vectors are in ${names}.${suggestion(
        name,
        able.map(({ field: vectors }) => vectors.name),
      )}`,
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
