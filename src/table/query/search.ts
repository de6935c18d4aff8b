/**
 * `searchVectors` returns the rows whose vectors are nearest to the query's, nearest first or in an
 * order asked for. Of several query vectors, each has its own limit, and without such an order the
 * rows of each come together. It can use an index (nearest.ts). With `prefilter` only rows that
 * match the predicate are ranked; without it the nearest rows are filtered afterwards, so fewer may
 * remain. If each row of the column holds several vectors, the query vectors count together as one
 * query (vector/late-interaction.ts), and no index is used.
 */
import {
  type Data,
  getBit,
  type Offsets,
  offsetAt,
  type RecordBatchStream,
} from '../../arrow/index.ts';
import type { HeldMemory } from '../../request-memory.ts';
import { createLateSearch, type LateBatch } from '../../vector/index.ts';
import { readFields } from '../fragments/index.ts';
import { readingIndexes } from '../indexes/index.ts';
import {
  type BatchPlace,
  matchingRows,
  pipelined,
  planScan,
  type ScanPlan,
} from '../read/index.ts';
import type { Engine, Snapshot } from '../versions/index.ts';
import { inTurns, Turn } from '../work/index.ts';
import { planFound } from './found-columns.ts';
import { type FoundOrder, orderedFound } from './found-order.ts';
import {
  DISTANCE,
  distancesOf,
  type Found,
  foundStream,
  NOTHING_FOUND,
  postfiltered,
} from './found-rows.ts';
import { type Block, joinedMatches, nearestRows, type SearchRequest } from './nearest.ts';
import {
  elementTypeOf,
  fieldData,
  isMultivector,
  isWithin,
  listSizeOf,
  type VectorColumn,
  vectorColumn,
  vectorsOf,
} from './vector-column.ts';

/** Rows nearest first; with several vectors those of the first come first. */
export async function searchVectors(
  engine: Engine,
  snapshot: Snapshot,
  request: SearchRequest & { readonly order?: FoundOrder | undefined },
): Promise<RecordBatchStream> {
  const column = vectorColumn(snapshot, request.vectorColumn, request.vectors);
  // For a column with several vectors in a row, the query vectors are one query.
  const multivector = isMultivector(column);
  const added = distancesOf(multivector ? 1 : request.vectors.length);
  const plan = await planFound(engine, snapshot, { ...request, filter: undefined }, added);
  const held = plan.memory.hold(`The nearest rows of ${request.vectors.length} query vectors`);
  let found: Found;
  try {
    const nearest = multivector ? nearestMultivectors : nearestRows;
    found = await readingIndexes(engine, snapshot, () =>
      nearest(engine, snapshot, request, column, plan, held),
    );
    if (!request.prefilter && request.filter !== undefined) {
      const asked = { ...request, memory: plan.memory };
      found = await postfiltered(engine, snapshot, asked, request.filter, found, added);
    }
    if (request.order !== undefined)
      found = await orderedFound(plan, found, DISTANCE, request.order);
  } finally {
    held.end();
  }
  return foundStream(plan, found, added);
}

/**
 * The rows nearest to all query vectors together, of those that match where the request has a
 * prefilter.
 */
async function nearestMultivectors(
  engine: Engine,
  snapshot: Snapshot,
  request: SearchRequest,
  column: VectorColumn,
  plan: Pick<ScanPlan, 'limit' | 'offset' | 'memory'>,
  held: HeldMemory,
): Promise<Found> {
  const { counters, signal } = request;
  const names = [column.column];
  const scanned = await planScan(engine, snapshot, {
    columns: names,
    filter: request.prefilter ? request.filter : undefined,
    counters,
    signal,
    memory: plan.memory,
  });
  const wanted = Math.min(plan.limit + plan.offset, snapshot.rowCount);
  if (wanted === 0) return NOTHING_FOUND;
  const dimension = listSizeOf(column.field.type);
  const search = createLateSearch({
    metric: request.metric ?? 'l2',
    dimension,
    elementType: elementTypeOf(column),
    queries: request.vectors,
    k: wanted,
    lowerBound: request.lowerBound,
    upperBound: request.upperBound,
  });
  const blocks: Block[] = [];
  const turn = new Turn(engine.env);
  let position = 0;
  const read = async (place: BatchPlace) => {
    const start = position;
    position += place.rows;
    blocks.push({ start, firstRowId: (BigInt(place.entry.id) << 32n) | BigInt(place.first) });
    const selection = await matchingRows(scanned, place);
    if (selection?.length === 0) return undefined;
    const [data] = await readFields(scanned, place, names, undefined);
    return { batch: rowsOf(column, data as Data, place.rows, selection), start };
  };
  for await (const { batch, start } of pipelined(scanned, read)) {
    await inTurns(turn, search.add(batch, start), signal);
    held.set(2 * search.heldBytes);
  }
  const matches = await inTurns(turn, search.finish(), signal);
  const { queries: _, ...found } = await inTurns(
    turn,
    joinedMatches([matches], plan.offset, blocks),
    signal,
  );
  return found;
}

/** The selected rows of a batch that are not null, and where their vectors are. */
function rowsOf(
  column: VectorColumn,
  whole: Data,
  length: number,
  selection: Uint32Array | undefined,
): LateBatch {
  const { data, above } = fieldData(column, whole);
  const dimension = listSizeOf(column.field.type);
  const child = data.children[0] as Data;
  const offsets = data.valueOffsets as unknown as Offsets;
  const count = selection?.length ?? length;
  const [rows, starts, ends] = [0, 1, 2].map(() => new Uint32Array(count)) as [
    Uint32Array,
    Uint32Array,
    Uint32Array,
  ];
  let kept = 0;
  for (let at = 0; at < count; at++) {
    const row = selection === undefined ? at : (selection[at] as number);
    if (data.nullCount > 0 && !getBit(data.nullBitmap, data.offset + row)) continue;
    if (!isWithin(above, row)) continue;
    rows[kept] = row;
    starts[kept] = offsetAt(offsets, row);
    ends[kept] = offsetAt(offsets, row + 1);
    kept++;
  }
  return {
    vectors: vectorsOf(child, child.length, dimension),
    rows: rows.subarray(0, kept),
    starts,
    ends,
  };
}
