/**
 * `sieveOf` makes a filter for one query. The filter rules out rows that are farther away than a
 * limit, by their sketches alone (sketch.ts). `candidates` returns the rows that remain, in no
 * order and only until the next call; measuring these finds the same rows as measuring all, as
 * `aimAt` proves. `sieveOf` returns undefined for a query whose numbers are too large or too small.
 * The idea is that of the VA-file (Weber, Schek and Blott, 1998).
 */
import type { Metric } from './elements.ts';
import type { PreparedQuery } from './query.ts';
import {
  ETA,
  GROUP_ROWS,
  gammaOf,
  groupBytes,
  groupsAt,
  LARGEST,
  NORMS_AT,
  paddedOf,
  type Sketch,
  SQUARES_AT,
} from './sketch.ts';

/** Rows sifted at once: few enough that a limit which sinks meanwhile is soon used. */
export const SIFTED_ROWS = 1024;
/** The address where the kernels find the query and leave what they find. */
const FOUND_AT = 65_536;
/** No sketch begins before. */
export const SKETCHES_AT: number = 2 * 65_536;
const SMALLEST = 1e-20;
const TINY = 1e-30;
/** What sums of squares of doubles err by, and more. */
const DOUBLES = 2 ** -36;

export interface Sieve {
  /**
   * Rows of the `count` from `from` on that may be within `limit`, in no order, until the next call:
   * they lie in the memory of the kernels. At most SIFTED_ROWS from a multiple of 4.
   */
  candidates(limit: number, from: number, count: number): Uint32Array;
}

/** Undefined where the query's numbers are too large or too small. */
export function sieveOf(sketch: Sketch, metric: Metric, query: PreparedQuery): Sieve | undefined {
  const { dimension, kernels, at } = sketch;
  const centre = new Float32Array(kernels.memory.buffer, at, dimension);
  const aim = aimAt(metric, query.vector as Float32Array, centre);
  if (aim === undefined) return undefined;
  const { codes } = aim;
  const sizes = metric === 'l2' ? SQUARES_AT : NORMS_AT;
  const groups = at + groupsAt(dimension);
  const group = groupBytes(dimension);
  return {
    candidates(limit, from, count) {
      const { buffer } = kernels.memory;
      new Int16Array(buffer, 0, codes.length).set(codes);
      const { slope, reach, weight, least } = aim.within(limit);
      const found = kernels.sift(
        groups + (from / GROUP_ROWS) * group,
        Math.ceil(count / GROUP_ROWS),
        sizes,
        0,
        codes.byteLength,
        slope,
        reach,
        weight,
        least,
        from,
        FOUND_AT,
      );
      const rows = new Uint32Array(buffer, FOUND_AT, found);
      // The kernel sifts two groups at once: beyond the last row are others, or none.
      if (count % (2 * GROUP_ROWS) === 0) return rows;
      return rows.filter((row) => row < from + count);
    },
  };
}

/** Factors of the kernel's formula. */
interface Factors {
  readonly slope: number;
  readonly reach: number;
  readonly weight: number;
  readonly least: number;
}

interface Aim {
  /** P */
  readonly codes: Int16Array;
  within(limit: number): Factors;
}

/**
 * A row that is ruled out is farther by the kernels' own arithmetic, roundings included. The proof:
 *
 * In what follows y is x - centre, s its sketch step * code, r its `left` (|y - s| <= r), q the
 * query, p the query less the centre for l2 and else the query itself, t * P what is left of p when
 * it is made of whole numbers of 16 bits, e = |p - t * P|, n the dimension, u = 2^-24, gamma twice
 * the relative error of a sum of n products, and eta = 32 u, where the kernel's own formula errs by
 * less than 8 u of the sum of its terms' sizes.
 *
 * l2. The kernels' sum is at least |x - q|^2 * (1 - gamma) - n * 2^-149. Where it is at most the
 * limit, |y - p| <= sqrt((limit + n * 2^-149) * (1 + 2 gamma)), and |s - tP| <= R + r, where R is
 * that root plus e. Squared: 2 s.tP + 2 R r - (|s|^2 - r^2) >= |tP|^2 - R^2. As 2 |s.tP| <= |s|^2 +
 * |tP|^2, taking |s|^2, |tP|^2 times 1 - eta and r^2, R r, R^2 times 1 + eta makes up for
 * roundings.
 *
 * dot. The distance is 1 - the sum, rounded to float32: where it is at most the limit, the sum is
 * at least T = 1 - limit - |limit| * 2^-22. It is at most x.q + gamma |x| |q|, and x.q is at most
 * centre.tP + s.tP + r |tP| + |x| e. So s.tP + r |tP| - W |x| >= T - centre.tP, W = -e - gamma |q|.
 *
 * cosine. The sum is divided by the root of two sums of squares, so that the quotient errs by 4
 * gamma at most, of rows with tiny squares as well, which are summed in doubles. As above, with T
 * |x| |q| in place of T: s.tP + r |tP| - W |x| >= -centre.tP, W = (T - 4 gamma) |q| - e.
 *
 * Of both, |s.tP| <= (|x| + |centre| + r) * |tP|: eta times that is given to W, the right-hand side
 * and the factor of r. What is too small for a float32 adds less than 1e-30, as steps are 1e-18 or
 * more and no query is taken whose largest element is below 1e-20; with LARGEST nothing overflows.
 */
function aimAt(metric: Metric, query: Float32Array, centre: Float32Array): Aim | undefined {
  const dimension = query.length;
  const numbers = new Float64Array(query);
  let largest = 0;
  let inCentre = 0;
  let squares = 0;
  for (let i = 0; i < dimension; i += 1) {
    if (metric === 'l2') numbers[i] = (numbers[i] as number) - (centre[i] as number);
    largest = Math.max(largest, Math.abs(numbers[i] as number));
    inCentre += (centre[i] as number) ** 2;
    squares += (numbers[i] as number) ** 2;
  }
  if (!(largest >= SMALLEST && largest <= LARGEST)) return undefined;
  const scale = largest / Math.min(32_767, Math.floor((2 ** 31 - 1) / (127 * dimension)));
  const codes = new Int16Array(paddedOf(dimension));
  let left = 0;
  let size = 0;
  let alongCentre = 0;
  for (let i = 0; i < dimension; i += 1) {
    const code = Math.round((numbers[i] as number) / scale);
    codes[i] = code;
    left += ((numbers[i] as number) - code * scale) ** 2;
    size += (code * scale) ** 2;
    alongCentre += code * scale * (centre[i] as number);
  }
  // Doubles err as well, if by far less than any float32.
  const e = Math.sqrt(left) * (1 + ETA) + Math.sqrt(size) * 2 ** -40;
  const within =
    metric === 'l2'
      ? squaresWithin(dimension, scale, size, e)
      : productsWithin(metric, dimension, scale, Math.sqrt(squares), e, {
          along: alongCentre,
          size: Math.sqrt(inCentre),
        });
  return { codes, within };
}

function squaresWithin(dimension: number, scale: number, size: number, e: number) {
  const growth = 1 + 2 * gammaOf(dimension);
  return (limit: number): Factors => {
    const reach = Math.sqrt(Math.max(0, limit + dimension * 2 ** -149) * growth) + e;
    return {
      slope: 2 * scale,
      reach: 2 * reach * (1 + ETA),
      weight: 1,
      least: size * (1 - ETA) - reach * reach * (1 + ETA) - TINY,
    };
  };
}

function productsWithin(
  metric: Metric,
  dimension: number,
  scale: number,
  norm: number,
  e: number,
  centre: { readonly along: number; readonly size: number },
) {
  const gamma = gammaOf(dimension);
  // |q| from below and from above; |tP| is at most the latter and e.
  const [low, high] = [norm * (1 - DOUBLES), norm * (1 + DOUBLES)];
  const size = high + e;
  return (limit: number): Factors => {
    const atLeast = 1 - limit - Math.abs(limit) * 2 ** -22 - TINY;
    const cosine = atLeast - 4 * gamma;
    const [exact, fixed] =
      metric === 'dot' ? [-gamma * high - e, atLeast] : [cosine * (cosine > 0 ? low : high) - e, 0];
    const slack = ETA * (Math.abs(fixed) + centre.size * size) + 1e-18 * Math.abs(exact) + TINY;
    return {
      slope: scale,
      reach: size * (1 + 2 * ETA),
      // Made less as the norms, which are off by gamma, want it.
      weight: exact - (2 * gamma + 2 * ETA) * Math.abs(exact) - ETA * size,
      least: fixed - centre.along - slack,
    };
  };
}
