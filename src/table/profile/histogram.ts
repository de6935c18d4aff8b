/**
 * `Histogram` counts numbers in buckets of equal width in one pass. It starts with many narrow bins
 * whose width is a power of two. When a number lies outside, it doubles the width until the number
 * fits, and joins neighbouring bins. Callers give the least and greatest number of each `add`. No
 * number between these is counted twice or lost, so the counts that `buckets` returns are exact.
 * NaN and infinities are left out. `buckets` returns undefined if nothing was counted.
 */

const BINS = 4096;
/** Bins that the first numbers are spread over, at most: the rest is room for others. */
const FIRST_BINS = BINS / 2;
/** Binary digits of a double. */
const DIGITS = 52;
const LEAST_EXPONENT = -1074;

export interface Buckets {
  /** One more than there are counts, ascending; a number on an edge is in the bucket above it. */
  readonly edges: readonly number[];
  readonly counts: readonly number[];
}

export class Histogram {
  readonly #counts = new Float64Array(BINS);
  readonly #leastExponent: number;
  #exponent = Number.NaN;
  /** Where the first bin begins, in widths. */
  #origin = 0;

  /** @param whole whether all numbers are whole ones: buckets are not narrower than 1 then */
  constructor(whole: boolean) {
    this.#leastExponent = whole ? 0 : LEAST_EXPONENT;
  }

  /**
   * Counts finite numbers; others are left out.
   * @param min the least of those that count, and `max` the greatest
   * @param valid 0 for each row to be left out; null where all count
   */
  add(
    values: Float64Array | Float32Array | Int32Array,
    valid: Uint8Array | null,
    min: number,
    max: number,
  ): void {
    this.#cover(min, max);
    const scale = 2 ** -this.#exponent;
    // A scale beyond the doubles is applied in two steps.
    const [half, rest] = Number.isFinite(scale)
      ? [1, scale]
      : [2 ** 512, 2 ** (-this.#exponent - 512)];
    const origin = this.#origin;
    const counts = this.#counts;
    for (let row = 0; row < values.length; row++) {
      if (valid !== null && valid[row] === 0) continue;
      const bin = Math.floor((values[row] as number) * half * rest) - origin;
      if (bin >= 0 && bin < BINS) (counts[bin] as number) += 1;
    }
  }

  /** At most so many buckets; undefined where nothing was counted. */
  buckets(most: number): Buckets | undefined {
    const first = this.#counts.findIndex((count) => count > 0);
    if (first < 0) return undefined;
    const last = this.#counts.findLastIndex((count) => count > 0);
    const joined = Math.ceil((last - first + 1) / most);
    const counts: number[] = [];
    const edges = [this.#edge(first)];
    for (let bin = first; bin <= last; bin += joined) {
      let count = 0;
      for (let at = bin; at < Math.min(BINS, bin + joined); at++) {
        count += this.#counts[at] as number;
      }
      counts.push(count);
      edges.push(this.#edge(bin + joined));
    }
    return { edges, counts };
  }

  #edge(bin: number): number {
    const edge = scaled(this.#origin + bin, this.#exponent);
    return Math.min(Number.MAX_VALUE, Math.max(-Number.MAX_VALUE, edge));
  }

  /** Makes the bins so wide that these lie in them. */
  #cover(min: number, max: number): void {
    if (Number.isNaN(this.#exponent)) {
      this.#exponent = this.#widthFor(min, max, FIRST_BINS);
      this.#origin = floorAt(min, this.#exponent);
      return;
    }
    const low = Math.min(min, this.#edge(0));
    const high = Math.max(max, this.#edge(BINS - 1));
    if (floorAt(max, this.#exponent) - this.#origin < BINS && low === this.#edge(0)) return;
    const exponent = Math.max(this.#exponent, this.#widthFor(low, high, BINS - 1));
    const origin = floorAt(low, exponent);
    const before = this.#counts.slice();
    this.#counts.fill(0);
    for (const [bin, count] of before.entries()) {
      if (count === 0) continue;
      const at = floorOf(this.#origin + bin, exponent - this.#exponent) - origin;
      (this.#counts[at] as number) += count;
    }
    this.#exponent = exponent;
    this.#origin = origin;
  }

  /** The exponent of the least width by which all between these fit so many bins. */
  #widthFor(min: number, max: number, bins: number): number {
    const largest = Math.max(Math.abs(min), Math.abs(max));
    let exponent = Math.max(this.#leastExponent, exponentOf(largest) - DIGITS, LEAST_EXPONENT);
    // Halves, because the difference of two doubles may be none.
    const half = max / 2 - min / 2;
    exponent = Math.max(exponent, exponentOf(half / bins) - 1);
    while (floorAt(max, exponent) - floorAt(min, exponent) >= bins) exponent += 1;
    return exponent;
  }
}

/** The exponent of the highest binary digit; that of 0 is below all others. */
const exponentOf = (value: number): number =>
  value === 0 ? LEAST_EXPONENT : Math.max(LEAST_EXPONENT, Math.floor(Math.log2(value)));

/** The highest multiple of the width, as a count of widths, that is not above a value. */
const floorAt = (value: number, exponent: number): number => Math.floor(scaled(value, -exponent));

/** A value times a power of two, also where that power is no double. */
function scaled(value: number, exponent: number): number {
  const half = Math.trunc(exponent / 2);
  return value * 2 ** half * 2 ** (exponent - half);
}

/** The number of the bin that holds a bin once bins are 2^`doublings` times as wide. */
const floorOf = (bin: number, doublings: number): number =>
  bin === 0 ? 0 : doublings > 1023 ? (bin < 0 ? -1 : 0) : Math.floor(bin * 2 ** -doublings);
