/**
 * `nearestRows` finds the rows whose vectors are nearest to the query vectors, in a column with one
 * vector in each row. It returns their row ids and distances. If an index is used, it measures only
 * the rows that the index chooses and, unless a fast search leaves them out, the rows that the
 * index does not cover; so it may miss near rows. If memory holds a sketch of a batch, rows that
 * the sketch rules out are not read. `joinedMatches` turns the positions of matches into row ids.
 */
import type { Data } from '../../arrow/index.ts';
import type { HeldMemory } from '../../request-memory.ts';
import {
  createSearch,
  type Matches,
  type Metric,
  type Sketch,
  sketchBytes,
  type VectorSearch,
} from '../../vector/index.ts';
import { columnKey, readFields } from '../fragments/index.ts';
import {
  type BatchPlace,
  isChosen,
  matchingRows,
  pipelined,
  planScan,
  type ScanPlan,
  type ScanRequest,
} from '../read/index.ts';
import type { Engine, Snapshot } from '../versions/index.ts';
import { inTurns, Turn } from '../work/index.ts';
import { type Found, NOTHING_FOUND } from './found-rows.ts';
import { nearIndexed, vectorAccess } from './indexed-vectors.ts';
import { elementTypeOf, listSizeOf, type VectorColumn, vectorsAt } from './vector-column.ts';

export interface SearchRequest extends ScanRequest {
  readonly vectors: readonly (readonly number[])[];
  /** If absent, the only vector column, or the only one of the query vector's length. */
  readonly vectorColumn?: string | undefined;
  /** That of the column's index if absent, or l2 where it has none. */
  readonly metric?: Metric | undefined;
  /** True: the nearest of the rows that match; false: those that match of the nearest. */
  readonly prefilter: boolean;
  /** Distances from here on. */
  readonly lowerBound?: number | undefined;
  /** Distances up to before here. */
  readonly upperBound?: number | undefined;
  /** Whether all vectors are measured even where there is an index. */
  readonly isExact?: boolean | undefined;
  /** Whether rows that the index does not cover are left out; without an index none are. */
  readonly isFast?: boolean | undefined;
  /**
   * Partitions searched in each segment of an index, where neither `leastProbes` nor `mostProbes`
   * is given.
   */
  readonly nprobes?: number | undefined;
  readonly leastProbes?: number | undefined;
  readonly mostProbes?: number | undefined;
  /** So many times the rows wanted are measured of those that an index estimates to be near. */
  readonly refineFactor?: number | undefined;
}

/** The rows nearest to the query vectors, of those that match where the request has a prefilter. */
export async function nearestRows(
  engine: Engine,
  snapshot: Snapshot,
  request: SearchRequest,
  column: VectorColumn,
  plan: ScanPlan,
  held: HeldMemory,
): Promise<Found> {
  const { field } = column;
  const { counters, signal } = request;
  const { metric, used, only } = await vectorAccess(engine, snapshot, column, request);
  const scanned = await planScan(engine, snapshot, {
    columns: [column.column],
    filter: request.prefilter ? request.filter : undefined,
    counters,
    signal,
    memory: plan.memory,
  });
  const wanted = Math.min(plan.limit + plan.offset, snapshot.rowCount);
  const several = request.vectors.length > 1;
  if (wanted === 0) return { ...NOTHING_FOUND, ...(several ? { queries: new Int32Array(0) } : {}) };
  const search = createSearch({
    metric,
    dimension: listSizeOf(field.type),
    elementType: elementTypeOf(column),
    queries: request.vectors,
    k: wanted,
    lowerBound: request.lowerBound,
    upperBound: request.upperBound,
  });
  engine.sketches.begin();
  const vectors: ScanPlan = {
    ...scanned,
    ...(used === undefined ? {} : { indexed: await nearIndexed(plan, column, request, used) }),
    ...(only === undefined ? {} : { isNeedless: ({ id }) => !only.has(id) }),
  };
  const batches = new SearchedBatches(vectors, column, search, held);
  for await (const batch of pipelined(vectors, (place) => batches.sift(place))) {
    await batches.measure(batch);
  }
  const turn = new Turn(engine.env);
  const matches = await inTurns(turn, search.finish(), signal);
  const { queries, ...found } = await inTurns(
    turn,
    joinedMatches(matches, plan.offset, batches.blocks),
    signal,
  );
  return several ? { ...found, queries } : found;
}

/** A batch all of whose selected rows are to be measured. */
interface WholeBatch {
  readonly place: BatchPlace;
  readonly position: number;
  readonly selection: Uint32Array | undefined;
  readonly data: Data;
  /** The key under which a sketch of it can be kept; undefined if there is one already, or cannot be one. */
  readonly key: string | undefined;
  /** Whether the array itself is worth keeping for the kernels. */
  readonly again: boolean;
}

/** Takes the batches of a scan to a search of their vectors. */
class SearchedBatches {
  /** In row order. */
  readonly blocks: Block[] = [];
  readonly #plan: ScanPlan;
  readonly #column: VectorColumn;
  readonly #names: readonly string[];
  readonly #dimension: number;
  readonly #type: string;
  readonly #search: VectorSearch;
  readonly #held: HeldMemory;
  readonly #turn: Turn;
  #position = 0;
  /** The last batch that is being sifted: each gains from what those before it found. */
  #sifting: Promise<unknown> = Promise.resolve();

  constructor(plan: ScanPlan, column: VectorColumn, search: VectorSearch, held: HeldMemory) {
    this.#plan = plan;
    this.#column = column;
    this.#names = [column.column];
    this.#dimension = listSizeOf(column.field.type);
    this.#type = elementTypeOf(column);
    this.#search = search;
    this.#held = held;
    this.#turn = new Turn(plan.engine.env);
  }

  /**
   * Searches a batch by its sketch. The batch itself where there is none, or where it is of no use.
   */
  async sift(place: BatchPlace): Promise<WholeBatch | undefined> {
    const position = this.#position;
    this.#position += place.rows;
    const firstRowId = (BigInt(place.entry.id) << 32n) | BigInt(place.first);
    this.blocks.push({ start: position, firstRowId });
    const selection = await matchingRows(this.#plan, place);
    if (selection?.length === 0) return undefined;
    if (selection !== undefined && isChosen(this.#plan, place)) {
      await this.#take(place, position, selection);
      return undefined;
    }
    const key = this.#keyOf(place);
    const sketch = key === undefined ? null : this.#plan.engine.sketches.get(key);
    if (key !== undefined && sketch && this.#search.sifts(place.rows)) {
      const measured = this.#sifting.then(() => this.#measured(place, position, selection, sketch));
      this.#sifting = measured.catch(() => {});
      const useful = await measured;
      this.#plan.engine.sketches.judge(key, useful);
      if (useful) return undefined;
    }
    const [data] = await readFields(this.#plan, place, this.#names, undefined);
    return {
      place,
      position,
      selection,
      data: data as Data,
      key: sketch === undefined ? key : undefined,
      again: sketch === null,
    };
  }

  /** Measures a whole batch, and makes its sketch where it was searched before. */
  async measure(whole: WholeBatch): Promise<void> {
    const { place, position, selection, data, key, again } = whole;
    const { engine, signal } = this.#plan;
    const search = this.#search;
    const batch = { ...vectorsAt(this.#column, data, place.rows), selection, again };
    const bytes = sketchBytes(place.rows, this.#dimension);
    const at =
      key === undefined ? undefined : engine.sketches.admit(key, bytes, () => search.openMemory());
    if (key === undefined || at === undefined) {
      await inTurns(this.#turn, search.add(batch, position), signal);
    } else {
      let sketch: Sketch | undefined;
      try {
        sketch = await inTurns(this.#turn, search.addSketched(batch, position, at), signal);
      } finally {
        engine.sketches.made(key, sketch);
      }
    }
    this.#hold();
  }

  /** Reads and measures the rows that an index chose. */
  async #take(place: BatchPlace, position: number, rows: Uint32Array): Promise<void> {
    const [data] = await readFields(this.#plan, place, this.#names, rows);
    const vectors = vectorsAt(this.#column, data as Data, rows.length);
    const steps = this.#search.add({ ...vectors, numbers: rows }, position);
    await inTurns(this.#turn, steps, this.#plan.signal);
    this.#hold();
  }

  /** Reads and measures the rows that the sketch does not rule out; false where these are many. */
  async #measured(
    place: BatchPlace,
    position: number,
    selection: Uint32Array | undefined,
    sketch: Sketch,
  ): Promise<boolean> {
    const { signal } = this.#plan;
    let learned = false;
    for (;;) {
      const sifted = await inTurns(this.#turn, this.#search.sift(sketch, selection), signal);
      if (sifted === undefined || (sifted.forLimit && learned)) return false;
      learned = sifted.forLimit;
      const { rows } = sifted;
      if (rows.length > 0) {
        const [data] = await readFields(this.#plan, place, this.#names, rows);
        const vectors = vectorsAt(this.#column, data as Data, rows.length);
        const steps = sifted.forLimit
          ? this.#search.limit(vectors)
          : this.#search.add({ ...vectors, numbers: rows }, position);
        await inTurns(this.#turn, steps, signal);
        this.#hold();
      }
      if (!sifted.forLimit) return true;
    }
  }

  /** Once more for the joined matches, which are made while these are still there. */
  #hold(): void {
    this.#held.set(2 * this.#search.heldBytes);
  }

  #keyOf(place: BatchPlace): string | undefined {
    if (!this.#search.sketchable(place.rows)) return undefined;
    const key = columnKey(this.#plan, place, this.#names);
    const path = this.#column.members.join('.');
    return key === undefined ? undefined : `${key} ${this.#type} ${this.#dimension} ${path}`;
  }
}

/** Matches handled between two steps. */
const STEP_ROWS = 16_384;

/**
 * The matches of all queries, each without its first `offset`, by row ids in place of positions.
 */
export function* joinedMatches(
  matches: readonly Matches[],
  offset: number,
  blocks: readonly Block[],
): Generator<void, Required<Found>> {
  const total = matches.reduce((sum, { positions }) => sum + restOf(positions, offset), 0);
  const found = {
    rowIds: new BigUint64Array(total),
    values: new Float32Array(total),
    queries: new Int32Array(total),
  };
  let count = 0;
  for (const [query, { positions, distances }] of matches.entries()) {
    for (let at = offset; at < positions.length; at++) {
      found.rowIds[count] = rowIdAt(blocks, positions[at] as number);
      found.values[count] = distances[at] as number;
      found.queries[count] = query;
      count += 1;
      if (count % STEP_ROWS === 0) yield;
    }
  }
  return found;
}

const restOf = ({ length }: Float64Array, offset: number): number => Math.max(0, length - offset);

/** A batch that was searched: the position of its first row, and its row id. */
export interface Block {
  readonly start: number;
  readonly firstRowId: bigint;
}

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
