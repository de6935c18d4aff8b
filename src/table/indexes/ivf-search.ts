/**
 * `nearRows` finds through an IVF index the rows whose vectors are likely to be nearest to query
 * vectors. For each query vector it searches the partitions of all segments, nearest first. It
 * stops when the rest are unlikely to hold a nearer row, or at the limits of the request. The
 * result also has the rows of partitions that every search has to measure. The caller measures
 * exact distances. Damaged files throw Corrupt, and query vectors of another length InvalidInput.
 */

import { joinedFloats } from '../../bytes.ts';
import {
  type FragmentRows,
  type IvfMetric,
  NO_FRAGMENT_ROWS,
  PartitionMemory,
  Probe,
  rowsAtPositions,
  union,
} from '../../indexes/index.ts';
import { corrupt } from '../../json.ts';
import type { Engine, Snapshot } from '../versions/index.ts';
import { inTurns, Turn } from '../work/index.ts';
import type { CoveredSegment } from './coverage.ts';
import { type IvfPartition, IvfSegment } from './ivf-segment.ts';
import { entryFile, placedRuns } from './segment.ts';

export interface NearRequest {
  readonly metric: IvfMetric;
  readonly dimension: number;
  /** Elements of a vector as the index has it. */
  readonly length: number;
  readonly vectors: readonly (readonly number[])[];
  /** Rows wanted for each vector. */
  readonly k: number;
  /** Rows given for each, some more. */
  readonly keep: number;
  /** Partitions of each segment that are searched at least, and at most. */
  readonly leastProbes: number;
  readonly mostProbes: number;
  readonly signal: AbortSignal | undefined;
}

/** A segment, and 0 by position for its rows that are left out; undefined if none is. */
export interface SearchedSegment {
  readonly covered: CoveredSegment;
  readonly wanted: Uint8Array | undefined;
}

/** Positions of several segments are numbers of one heap. */
const SEGMENT_APART = 2 ** 32;

/**
 * @param fragments ids of those that the segments cover
 * @throws Corrupt
 */
export async function nearRows(
  engine: Engine,
  snapshot: Snapshot,
  request: NearRequest,
  segments: readonly SearchedSegment[],
  fragments: ReadonlySet<number>,
): Promise<FragmentRows> {
  const open: IvfSegment[] = [];
  try {
    for (const { covered } of segments) {
      open.push(await IvfSegment.open(engine, snapshot, covered.segment, request.length));
    }
    const search = new NearSearch(engine, request, segments, open);
    let rows = NO_FRAGMENT_ROWS;
    for (const [at, positions] of (await search.positions()).entries()) {
      const { segment } = (segments[at] as SearchedSegment).covered;
      const file = entryFile(snapshot, segment, 1);
      rows = union(rows, rowsAtPositions(positions.sort(), placedRuns(segment), fragments, file));
    }
    return rows;
  } finally {
    for (const segment of open) segment.close();
  }
}

/** A partition of one of the segments. */
interface Choice {
  readonly segment: number;
  readonly partition: number;
  readonly facts: IvfPartition;
}

class NearSearch {
  readonly #request: NearRequest;
  readonly #segments: readonly SearchedSegment[];
  readonly #open: readonly IvfSegment[];
  readonly #choices: readonly Choice[];
  readonly #centroids: Float32Array;
  readonly #memory = new PartitionMemory();
  readonly #turn: Turn;
  readonly #found: Set<number>[];

  constructor(
    engine: Engine,
    request: NearRequest,
    segments: readonly SearchedSegment[],
    open: readonly IvfSegment[],
  ) {
    this.#request = request;
    this.#segments = segments;
    this.#open = open;
    this.#turn = new Turn(engine.env);
    this.#found = open.map(() => new Set<number>());
    this.#choices = open.flatMap(({ partitions }, segment) =>
      partitions.map((facts, partition) => ({ segment, partition, facts })),
    );
    this.#centroids = joinedFloats(open.map(({ centroids }) => centroids));
  }

  /** By segment, what was found for all vectors. */
  async positions(): Promise<readonly Uint32Array[]> {
    for (const vector of this.#request.vectors) await this.#near(vector);
    if (this.#request.vectors.length > 0) await this.#measured();
    return this.#found.map((positions) => Uint32Array.from(positions));
  }

  async #near(query: readonly number[]): Promise<void> {
    const { metric, dimension, k, keep, signal } = this.#request;
    const probe = new Probe({ metric, dimension, query, k, keep });
    if (!probe.isMeasurable) return;
    const { leastProbes, mostProbes } = this.#request;
    const distances = probe.distancesTo(this.#centroids);
    const facts = this.#choices.map((choice) => choice.facts);
    const order = Uint32Array.from(facts.keys())
      .filter(
        (at) => (facts[at] as IvfPartition).rows > 0 && !(facts[at] as IvfPartition).isMeasured,
      )
      .sort((one, other) => (distances[one] as number) - (distances[other] as number));
    const probes = this.#open.map(() => 0);
    let next = 1;
    for (const at of order) {
      const { segment, partition } = this.#choices[at] as Choice;
      if (probe.probed >= Math.max(next, leastProbes * this.#open.length)) {
        if (probe.isEnough(order, distances, facts)) break;
        next = probe.probed + 1 + (probe.probed >> 3);
      }
      if ((probes[segment] as number) >= mostProbes) continue;
      probes[segment] = (probes[segment] as number) + 1;
      const placed = (this.#open[segment] as IvfSegment).place(partition, this.#memory);
      const place = placed instanceof Promise ? await placed : placed;
      const { centroids } = this.#open[segment] as IvfSegment;
      const { length } = this.#request;
      const centroid = centroids.subarray(partition * length, (partition + 1) * length);
      const { wanted } = this.#segments[segment] as SearchedSegment;
      const steps = probe.search(place, centroid, wanted, segment * SEGMENT_APART);
      for (let step = steps.next(); step.done !== true; step = steps.next()) await this.#pass();
      if (this.#turn.isOver()) await this.#pass();
    }
    for (const found of await inTurns(this.#turn, probe.finish(), signal)) {
      this.#add(Math.floor(found / SEGMENT_APART), found % SEGMENT_APART);
    }
  }

  /** Adds the rows that every search measures. */
  async #measured(): Promise<void> {
    for (const { segment, partition, facts } of this.#choices) {
      if (!facts.isMeasured) continue;
      const own = this.#open[segment] as IvfSegment;
      const { wanted } = this.#segments[segment] as SearchedSegment;
      for (const position of await own.positionsOf(partition, this.#memory)) {
        if (wanted === undefined || wanted[position] !== 0) this.#add(segment, position);
      }
      if (this.#turn.isOver()) await this.#pass();
    }
  }

  #add(segment: number, position: number): void {
    const { rows, name } = this.#open[segment] as IvfSegment;
    if (position >= rows) throw corrupt(name, 'it holds a row that it does not cover');
    (this.#found[segment] as Set<number>).add(position);
  }

  async #pass(): Promise<void> {
    await this.#turn.pass();
    this.#request.signal?.throwIfAborted();
  }
}
