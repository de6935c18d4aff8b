/**
 * `Probe` searches partitions of an IVF index for the rows near one query vector; one of another
 * length than the column's throws InvalidInput. `isMeasurable` is false for a query from which no
 * distance is a number, such as one with NaN. `search` estimates each distance in a partition from
 * one bit per element. For the rows whose estimate is small enough, it estimates again from one
 * byte per element. `finish` returns the positions of the rows with the smallest estimates; the
 * caller measures their exact distances. The caller searches partitions in the order of
 * `distancesTo`, until `isEnough` tells that the rest is unlikely to hold any of the nearest.
 */
import {
  createNearest,
  type Nearest,
  type PartitionKernels,
  wrongLength,
} from '../../vector/index.ts';
import { BLOCK_ROWS, blockBytes, factsAt, lengthOf, rowBytes } from './layout.ts';
import { floatsOf, type IvfMetric } from './rows.ts';
import { turn } from './turning.ts';

export interface ProbeOptions {
  readonly metric: IvfMetric;
  readonly dimension: number;
  readonly query: ArrayLike<number>;
  /** Rows wanted. */
  readonly k: number;
  /** Rows kept, some more. */
  readonly keep: number;
}

/** A partition where kernels can reach it: its blocks, then what is known of their rows. */
export interface PartitionPlace {
  readonly kernels: PartitionKernels;
  readonly at: number;
  readonly blocks: number;
}

/** What the choice of partitions needs of one. */
export interface PartitionFacts {
  readonly rows: number;
  /** The mean squared distance of its rows from the centroid. */
  readonly spread: number;
}

/** Errors that an estimate may be off by. */
const ERRORS = 1.35;
/** Blocks taken at once; fewer while no distance is known, as all their rows are looked at. */
const AT_ONCE = 128;
const FIRST_AT_ONCE = 8;
/** Blocks between two steps. */
const STEP_BLOCKS = 2_048;
/** The parts of the kernels' memory that lie below all sketches. */
const SUMS_AT = 65_536 - 64;
const FOUND_AT = 65_536;
const OUT_AT: number = FOUND_AT + AT_ONCE * BLOCK_ROWS * 4;
const MOST_SUM = 65_535;
/** Four bytes are added as a byte. */
const MOST_BYTE = 63;
/**
 * The share of the nearest rows that the searched partitions have to hold, as estimated.
 */
const ENOUGH = 0.9;
/** After the last partition that held one of the nearest, so many more are searched. */
const MORE = 16;
const MORE_TIMES = 1.5;

/** The memory of kernels as numbers of each kind. */
interface Views {
  readonly buffer: ArrayBuffer;
  readonly bytes: Uint8Array;
  readonly shorts: Int16Array;
  readonly words: Uint32Array;
  readonly floats: Float32Array;
}

const views = new WeakMap<PartitionKernels, Views>();

/** Made anew where the memory has grown. */
function viewsOf(kernels: PartitionKernels): Views {
  const { buffer } = kernels.memory;
  const known = views.get(kernels);
  if (known?.buffer === buffer) return known;
  const made = {
    buffer,
    bytes: new Uint8Array(buffer),
    shorts: new Int16Array(buffer),
    words: new Uint32Array(buffer),
    floats: new Float32Array(buffer),
  };
  views.set(kernels, made);
  return made;
}

/**
 * With q the query less the centroid (for dot: the query), and r a row less its centroid, l2 is
 * |r|^2 + |q|^2 - 2 r.q, and dot is 1 - c.q - r.q. From one bit for each element, r.q is estimated
 * as |r|^2 / sum|r_i| times the sum of the query's elements with the signs of r. Its error is about
 * |q| times the row's `error` (RaBitQ: Gao and Long, 2024): rows are left out whose estimate, less
 * some multiple of that error, is still too large. The sums are looked up, four elements at a time,
 * in tables of bytes (André, Kermarrec and Le Scouarnec, 2015).
 */
export class Probe {
  /** False where no distance from the query is a number. Its numbers are at most 1e15. */
  readonly isMeasurable: boolean;
  /** Partitions searched. */
  probed = 0;
  readonly #options: ProbeOptions;
  readonly #length: number;
  readonly #query: Float32Array;
  readonly #near: Nearest;
  readonly #best: Nearest;
  readonly #aim: Float32Array;
  readonly #tables: Uint8Array;
  readonly #codes: Int16Array;
  #codeScale = 0;
  #hasCodes = false;
  /** The partition that held one of the nearest last, counted from 1. */
  #last = 0;

  constructor(options: ProbeOptions) {
    const { metric, dimension, query, k, keep } = options;
    if (query.length !== dimension) {
      throw wrongLength(query.length, dimension);
    }
    this.#options = options;
    this.#length = lengthOf(dimension);
    this.#query = new Float32Array(this.#length);
    this.isMeasurable = floatsOf(metric, query, 0, dimension, this.#query) !== 'none';
    turn(this.#query);
    this.#near = createNearest(keep);
    this.#best = createNearest(k);
    this.#aim = new Float32Array(this.#length);
    this.#tables = new Uint8Array(factsAt(this.#length));
    this.#codes = new Int16Array(this.#length);
  }

  /** How far it is to each of some centroids; smaller is nearer. */
  distancesTo(centroids: Float32Array): Float32Array {
    const length = this.#length;
    const query = this.#query;
    const distances = new Float32Array(centroids.length / length);
    const isDot = this.#options.metric === 'dot';
    for (let centroid = 0; centroid < distances.length; centroid += 1) {
      const at = centroid * length;
      // Two sums hide the latency of one.
      let even = 0;
      let odd = 0;
      for (let i = 0; i < length; i += 2) {
        const one = centroids[at + i] as number;
        const other = centroids[at + i + 1] as number;
        const left = query[i] as number;
        const right = query[i + 1] as number;
        if (isDot) {
          even -= one * left;
          odd -= other * right;
        } else {
          even += (one - left) * (one - left);
          odd += (other - right) * (other - right);
        }
      }
      distances[centroid] = even + odd;
    }
    return distances;
  }

  /**
   * Searches a partition. The memory below its kernels' sketches is used between two steps alone.
   * @param wanted by position, 0 for rows that are left out; undefined where none is
   * @param offset is added to positions
   */
  *search(
    place: PartitionPlace,
    centroid: Float32Array,
    wanted: Uint8Array | undefined,
    offset: number,
  ): Generator<void> {
    this.probed += 1;
    const { kernels, at, blocks } = place;
    const length = this.#length;
    const bytes = blockBytes(length);
    const stride = rowBytes(length);
    const known = at + blocks * bytes;
    const factors = this.#aimAt(centroid);
    const errors = -ERRORS * factors.reach;
    let isLaid = false;
    let since = 0;
    for (let block = 0; block < blocks; ) {
      if (!isLaid) viewsOf(kernels).bytes.set(this.#tables, 0);
      isLaid = true;
      const { limit } = this.#near;
      const some = Math.min(limit < Infinity ? AT_ONCE : FIRST_AT_ONCE, blocks - block);
      let found = kernels.estimate(
        at + block * bytes,
        some,
        0,
        this.#tables.length,
        SUMS_AT,
        factors.weight,
        factors.slope,
        factors.offset,
        errors,
        limit - factors.fixed,
        block * BLOCK_ROWS,
        FOUND_AT,
      );
      if (found > 0 && wanted !== undefined) found = this.#chosen(kernels, known, found, wanted);
      if (found > 0) this.#refine(place, known, stride, found, factors, offset);
      block += some;
      since += some;
      if (since < STEP_BLOCKS) continue;
      since = 0;
      yield;
      isLaid = false;
    }
  }

  /** Whether searching the partitions that are left is unlikely to find any of the nearest. */
  isEnough(order: Uint32Array, distances: Float32Array, facts: readonly PartitionFacts[]): boolean {
    if (this.probed < this.#last * MORE_TIMES + MORE) return false;
    const { limit } = this.#best;
    if (!(limit < Infinity)) return false;
    const isDot = this.#options.metric === 'dot';
    const size = isDot ? squares(this.#query) : 0;
    let searched = 0;
    let left = 0;
    for (let at = 0; at < order.length; at += 1) {
      const partition = order[at] as number;
      const { rows, spread } = facts[partition] as PartitionFacts;
      const far = distances[partition] as number;
      // The distances of a partition's rows are about normally distributed.
      const mean = isDot ? 1 + far : far + spread;
      const deviation = Math.sqrt((spread * (isDot ? size : 4 * far)) / this.#length) + 1e-30;
      const share = rows * shareBelow((limit - mean) / deviation);
      if (at < this.probed) searched += share;
      else left += share;
    }
    return left <= (1 - ENOUGH) * (searched + left);
  }

  /** The positions of the rows kept, in no order. Ends the search. */
  *finish(): Generator<void, Float64Array> {
    return (yield* this.#near.drain()).positions;
  }

  /** Brings the tables and the query to a centroid. */
  #aimAt(centroid: Float32Array): Factors {
    const isDot = this.#options.metric === 'dot';
    const query = this.#query;
    const aim = this.#aim;
    const { length } = aim;
    let along = 0;
    if (isDot) {
      for (let i = 0; i < length; i += 1) {
        along += (query[i] as number) * (centroid[i] as number);
      }
      aim.set(query);
    } else {
      for (let i = 0; i < length; i += 1) {
        aim[i] = (query[i] as number) - (centroid[i] as number);
      }
    }
    let squared = 0;
    let total = 0;
    let top = 0;
    for (let i = 0; i < length; i += 4) {
      const a = aim[i] as number;
      const b = aim[i + 1] as number;
      const c = aim[i + 2] as number;
      const d = aim[i + 3] as number;
      squared += a * a + b * b + c * c + d * d;
      total += a + b + c + d;
      const four = Math.abs(a) + Math.abs(b) + Math.abs(c) + Math.abs(d);
      if (four > top) top = four;
    }
    // Four elements that are rounded may be off by two together.
    const most = Math.min(MOST_BYTE, Math.floor((MOST_SUM * 4) / length)) - 2;
    const least = fillTables(aim, top > 0 ? most / top : 0, this.#tables);
    this.#hasCodes = false;
    const times = isDot ? -1 : -2;
    return {
      weight: isDot ? 0 : 1,
      fixed: isDot ? 1 - along : squared,
      // The sum with signs is twice that of the elements with a one, less that of all.
      slope: top > 0 ? (2 * times * top) / most : 0,
      offset: times * (2 * least - total),
      reach: (isDot ? 1 : 2) * Math.sqrt(squared),
      times,
    };
  }

  /**
   * The query in whole numbers of 16 bits, of which partitions without any near row have no need.
   */
  #codesOf(): Int16Array {
    const codes = this.#codes;
    if (this.#hasCodes) return codes;
    this.#hasCodes = true;
    const aim = this.#aim;
    let largest = 0;
    for (let i = 0; i < codes.length; i += 1) {
      const size = Math.abs(aim[i] as number);
      if (size > largest) largest = size;
    }
    const most = Math.min(32_767, Math.floor((2 ** 31 - 1) / (127 * codes.length)));
    const scale = largest > 0 ? most / largest : 0;
    this.#codeScale = scale;
    for (let i = 0; i < codes.length; i += 1) {
      codes[i] = rounded((aim[i] as number) * scale);
    }
    return codes;
  }

  /** Leaves of the rows found those that are wanted. */
  #chosen({ memory }: PartitionKernels, known: number, found: number, wanted: Uint8Array): number {
    const numbers = new Uint32Array(memory.buffer, FOUND_AT, found);
    const words = new Uint32Array(memory.buffer);
    const stride = rowBytes(this.#length) / 4;
    const positionAt = known / 4 + this.#length / 4 + 2;
    let count = 0;
    for (let i = 0; i < found; i += 1) {
      const row = numbers[i] as number;
      if ((wanted[words[positionAt + row * stride] as number] ?? 0) !== 0) numbers[count++] = row;
    }
    return count;
  }

  #refine(
    { kernels }: PartitionPlace,
    known: number,
    stride: number,
    found: number,
    { weight, fixed, times }: Factors,
    offset: number,
  ): void {
    const length = this.#length;
    const { shorts, words, floats } = viewsOf(kernels);
    const codesAt = this.#tables.length;
    shorts.set(this.#codesOf(), codesAt / 2);
    const end = codesAt + length * 2;
    const codeSlope = this.#codeScale > 0 ? times / this.#codeScale : 0;
    kernels.refine(FOUND_AT, found, known, stride, codesAt, end, weight, codeSlope, OUT_AT);
    const positionAt = known / 4 + length / 4 + 2;
    const near = this.#near;
    let { limit } = near;
    for (let i = 0; i < found; i += 1) {
      const distance = (floats[OUT_AT / 4 + i] as number) + fixed;
      if (!(distance < limit)) continue;
      const row = words[FOUND_AT / 4 + i] as number;
      const position = words[positionAt + (row * stride) / 4] as number;
      near.offer(distance, offset + position);
      limit = near.limit;
      if (distance < this.#best.limit) {
        this.#best.offer(distance, 0);
        this.#last = this.probed;
      }
    }
  }
}

/** Factors of the estimates of one partition. */
interface Factors {
  readonly weight: number;
  /** What the distances of all rows have in common. */
  readonly fixed: number;
  readonly slope: number;
  readonly offset: number;
  readonly reach: number;
  /** The factor by which products with the query enter a distance. */
  readonly times: number;
}

/**
 * For each four elements times `scale`, rounded, the sums of all choices of them, less the least of
 * these.
 * @returns the sum of what is the least, not scaled
 */
function fillTables(aim: Float32Array, scale: number, tables: Uint8Array): number {
  let least = 0;
  for (let i = 0; i < aim.length; i += 4) {
    const at = i * 4;
    // Whole numbers: a conversion for each of the sums would take longer than all the rest.
    const a = rounded((aim[i] as number) * scale);
    const b = rounded((aim[i + 1] as number) * scale);
    const c = rounded((aim[i + 2] as number) * scale);
    const d = rounded((aim[i + 3] as number) * scale);
    const none = -((a & (a >> 31)) + (b & (b >> 31)) + (c & (c >> 31)) + (d & (d >> 31))) | 0;
    least -= none;
    const both = (a + b) | 0;
    tables[at] = none;
    tables[at + 1] = none + a;
    tables[at + 2] = none + b;
    tables[at + 3] = none + both;
    const withC = (none + c) | 0;
    tables[at + 4] = withC;
    tables[at + 5] = withC + a;
    tables[at + 6] = withC + b;
    tables[at + 7] = withC + both;
    const withD = (none + d) | 0;
    tables[at + 8] = withD;
    tables[at + 9] = withD + a;
    tables[at + 10] = withD + b;
    tables[at + 11] = withD + both;
    const withBoth = (withC + d) | 0;
    tables[at + 12] = withBoth;
    tables[at + 13] = withBoth + a;
    tables[at + 14] = withBoth + b;
    tables[at + 15] = withBoth + both;
  }
  return scale > 0 ? least / scale : 0;
}

/** The nearest whole number, of numbers up to 32,768. */
const rounded = (value: number): number => ((value + 32_768.5) | 0) - 32_768;

function squares(vector: Float32Array): number {
  let sum = 0;
  for (const value of vector) sum += value * value;
  return sum;
}

/** The share of a normal distribution below so many deviations from its mean. */
function shareBelow(z: number): number {
  if (z < -12) return 0;
  if (z > 12) return 1;
  const t = 1 / (1 + 0.2316419 * Math.abs(z));
  const tail =
    0.3989423 *
    Math.exp((-z * z) / 2) *
    t *
    (0.3193815 + t * (-0.3565638 + t * (1.781478 + t * (-1.821256 + t * 1.330274))));
  return z < 0 ? tail : 1 - tail;
}
