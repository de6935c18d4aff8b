/**
 * `PairStatistics` computes correlation, covariances and the aggregates of linear regression, such
 * as regr_slope; `PAIR_STATISTICS` lists their names. Each takes two numbers, first y and then x.
 * Rows with a null in either are left out. Means and sums of products are updated row by row, by
 * Welford's method. A result that has no value, such as a slope where all x are equal, is null, as
 * in PostgreSQL; regr_count of no rows is 0.
 */
import type { DataType } from '../../arrow/index.ts';
import { type Column, validityOf } from '../../sql/index.ts';
import {
  type Accumulator,
  type Aggregate,
  type GroupRange,
  groupsWhere,
  numbersWhere,
  roomFor,
} from './accumulator.ts';
import { doublesOf } from './sums.ts';

/** The sums of one group. */
interface Sums {
  readonly count: number;
  readonly meanX: number;
  readonly meanY: number;
  /** Sums of the products of deviations from the means. */
  readonly xx: number;
  readonly yy: number;
  readonly xy: number;
}

const RESULTS: Readonly<Record<string, (sums: Sums) => number | null>> = {
  covar_pop: ({ count, xy }) => (count > 0 ? xy / count : null),
  covar_samp: ({ count, xy }) => (count > 1 ? xy / (count - 1) : null),
  corr: ({ xx, yy, xy }) => (xx === 0 || yy === 0 ? null : correlation(xx, yy, xy)),
  regr_avgx: ({ count, meanX }) => (count > 0 ? meanX : null),
  regr_avgy: ({ count, meanY }) => (count > 0 ? meanY : null),
  regr_count: ({ count }) => count,
  regr_sxx: ({ count, xx }) => (count > 0 ? xx : null),
  regr_syy: ({ count, yy }) => (count > 0 ? yy : null),
  regr_sxy: ({ count, xy }) => (count > 0 ? xy : null),
  regr_slope: ({ xx, xy }) => (xx === 0 ? null : xy / xx),
  regr_intercept: ({ meanX, meanY, xx, xy }) => (xx === 0 ? null : meanY - (xy / xx) * meanX),
  regr_r2: ({ xx, yy, xy }) => (xx === 0 ? null : yy === 0 ? 1 : (xy / xx) * (xy / yy)),
};

/** From -1 to 1. The product of two sums may be beyond the range of doubles, where their roots are not. */
function correlation(xx: number, yy: number, xy: number): number {
  const product = xx * yy;
  const isInRange = product > 0 && product < Number.POSITIVE_INFINITY;
  const value = isInRange ? xy / Math.sqrt(product) : xy / Math.sqrt(xx) / Math.sqrt(yy);
  return Number.isNaN(value) ? value : Math.max(-1, Math.min(1, value));
}

/** The names of these aggregates. */
export const PAIR_STATISTICS: ReadonlySet<string> = new Set(Object.keys(RESULTS));

export class PairStatistics implements Accumulator {
  readonly #type: DataType;
  readonly #resultOf: (sums: Sums) => number | null;
  #counts = new Float64Array(64);
  #meansX = new Float64Array(64);
  #meansY = new Float64Array(64);
  #xx = new Float64Array(64);
  #yy = new Float64Array(64);
  #xy = new Float64Array(64);

  constructor({ name, type }: Aggregate) {
    this.#type = type;
    this.#resultOf = RESULTS[name] as (sums: Sums) => number | null;
  }

  get bytes(): number {
    return this.#counts.byteLength * 6;
  }

  add(given: Int32Array, size: number, [first, second]: readonly Column[]): void {
    const [ofY, ofX] = [first as Column, second as Column];
    const groups = groupsWhere(groupsWhere(given, validityOf(ofY)), validityOf(ofX));
    const [ys, xs] = [doublesOf(ofY), doublesOf(ofX)];
    this.#grow(size);
    for (let row = 0; row < groups.length; row++) {
      const group = groups[row] as number;
      if (group >= 0) this.#addPair(group, xs[row] as number, ys[row] as number);
    }
  }

  #grow(size: number): void {
    this.#counts = roomFor(this.#counts, size);
    this.#meansX = roomFor(this.#meansX, size);
    this.#meansY = roomFor(this.#meansY, size);
    this.#xx = roomFor(this.#xx, size);
    this.#yy = roomFor(this.#yy, size);
    this.#xy = roomFor(this.#xy, size);
  }

  #addPair(group: number, x: number, y: number): void {
    const count = (this.#counts[group] as number) + 1;
    const fromX = x - (this.#meansX[group] as number);
    const fromY = y - (this.#meansY[group] as number);
    this.#counts[group] = count;
    (this.#meansX[group] as number) += fromX / count;
    (this.#meansY[group] as number) += fromY / count;
    const nowY = y - (this.#meansY[group] as number);
    (this.#xx[group] as number) += fromX * (x - (this.#meansX[group] as number));
    (this.#yy[group] as number) += fromY * nowY;
    (this.#xy[group] as number) += fromX * nowY;
  }

  result(range: GroupRange): Column {
    const values = new Float64Array(range.to - range.from);
    const given = new Float64Array(range.to - range.from);
    for (let group = range.from; group < range.to; group++) {
      const value = this.#resultOf({
        count: this.#counts[group] ?? 0,
        meanX: this.#meansX[group] ?? 0,
        meanY: this.#meansY[group] ?? 0,
        xx: this.#xx[group] ?? 0,
        yy: this.#yy[group] ?? 0,
        xy: this.#xy[group] ?? 0,
      });
      if (value === null) continue;
      values[group - range.from] = value;
      given[group - range.from] = 1;
    }
    return numbersWhere(this.#type, values, given, range);
  }
}
