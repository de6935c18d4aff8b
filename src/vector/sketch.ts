/**
 * `sketchForm`: builds sketches of float32 vectors, which hold one byte for each element and, for
 * each row, a bound on its distance from its sketch. Also defines their layout in memory. sieve.ts
 * derives bounds for each metric from them.
 *
 * The sketch of a row x is the vector centre + step * code, where the codes are whole numbers of
 * -127 to 127, and `left` is at least as large as the norm of x - centre - step * code.
 *
 * Why that bound holds, with u = 2^-24: the kernel computes (x - c) - step * code in three
 * roundings. Their errors are at most u * |x - c| + u * |step * code| + u * |the result|, and as
 * |x - c| is at most 127.01 * step, below 2^-15 * step for each element. The sum of squares of n
 * results is off by a factor of 1 + gamma at most, and by n * 2^-150 where squares are too small
 * for a float32: a norm of 2^-75 for each element, and no step is below 1e-18. So sqrt(sum) * (1 +
 * gamma) + sqrt(n) * 2^-13 * step is enough.
 */
import { type KernelMemory, RESIDENTS_AT, type ResidentForm } from './residents.ts';

export interface SketchKernels {
  readonly memory: KernelMemory;
  readonly quantise: (
    rows: number,
    stride: number,
    count: number,
    centre: number,
    codes: number,
    group: number,
    facts: number,
  ) => void;
  readonly sift: (
    group: number,
    count: number,
    sizes: number,
    query: number,
    end: number,
    slope: number,
    reach: number,
    weight: number,
    least: number,
    row: number,
    found: number,
  ) => number;
}

/** Four rows make a group, whose head is four float32 of each of these, then come their codes. */
export const GROUP_ROWS = 4;
export const HEAD_BYTES = 64;
/** The squared norm of step * code, made less by what roundings may add, less the square of `left`. */
export const SQUARES_AT = 32;
/** The norm of the row itself, off by a factor of 1 + gamma and by 1e-18 at most. */
export const NORMS_AT = 48;
const LEFTS = 4;
const SQUARES = SQUARES_AT / 4;
const NORMS = NORMS_AT / 4;

/** No element that is farther from 0, or from the centre, can be sketched. */
export const LARGEST = 1e15;
/** Many times what the few roundings of one formula of float32 can add, relative to its terms. */
export const ETA: number = 2 ** -19;
const CENTRE_ROWS = 64;
const BLOCK_ROWS = 256;

/** At least the relative error of a sum of `dimension` products of float32, in whatever order. */
export const gammaOf = (dimension: number): number => (dimension + 64) * 2 ** -23;

export const groupBytes = (dimension: number): number => HEAD_BYTES + GROUP_ROWS * dimension;

/**
 * Whether rows of so many elements fill the vectors of the kernels, and are worth a sketch. What is
 * made of a block of them must not reach the residents.
 */
export const isSketchable = (dimension: number): boolean =>
  dimension % 8 === 0 && dimension >= 32 && BLOCK_ROWS * (dimension + 4) * 4 <= RESIDENTS_AT;

/** The centre, whose float32 are as many as a row's, then groups. */
export function sketchForm(kernels: SketchKernels, dimension: number): ResidentForm {
  const stride = dimension * 4;
  const group = groupBytes(dimension);
  return {
    bytesOf: ({ length }) => stride + Math.ceil(length / dimension / GROUP_ROWS) * group,
    write(values, memory, at) {
      const bytes = new Uint8Array(memory.buffer);
      const centre = centreOf(values as Float32Array, dimension);
      new Float32Array(memory.buffer, at, dimension).set(centre);
      const facts = new Float32Array(memory.buffer, BLOCK_ROWS * stride, BLOCK_ROWS * 4);
      const rows = Math.floor(values.length / dimension);
      for (let from = 0; from < rows; from += BLOCK_ROWS) {
        const count = Math.min(BLOCK_ROWS, rows - from);
        const start = values.byteOffset + from * stride;
        bytes.set(new Uint8Array(values.buffer, start, count * stride), 0);
        const groups = at + stride + (from / GROUP_ROWS) * group;
        kernels.quantise(0, stride, count, at, groups + HEAD_BYTES, group, facts.byteOffset);
        for (let row = 0; row < count; row += GROUP_ROWS) {
          const headAt = groups + (row / GROUP_ROWS) * group;
          writeHead(new Float32Array(memory.buffer, headAt, HEAD_BYTES / 4), facts, row, dimension);
        }
      }
    },
  };
}

function writeHead(head: Float32Array, facts: Float32Array, row: number, dimension: number): void {
  const gamma = gammaOf(dimension);
  for (let lane = 0; lane < GROUP_ROWS; lane += 1) {
    const fact = (row + lane) * 4;
    const step = facts[fact] as number;
    const residual = Math.sqrt(facts[fact + 1] as number) * (1 + gamma);
    const left = (residual + Math.sqrt(dimension) * 2 ** -13 * step) * (1 + ETA);
    const size = step * step * (facts[fact + 2] as number);
    head[lane] = step;
    head[LEFTS + lane] = left;
    head[SQUARES + lane] = size * (1 - ETA) - left * left * (1 + ETA);
    head[NORMS + lane] = Math.sqrt(facts[fact + 3] as number);
  }
}

/** About the mean: anything will do, but from the middle of the rows the steps are least. */
function centreOf(values: Float32Array, dimension: number): Float32Array {
  const rows = Math.floor(values.length / dimension);
  const apart = Math.ceil(rows / CENTRE_ROWS) * dimension;
  const sums = new Float64Array(dimension);
  let count = 0;
  for (let at = 0; at < rows * dimension; at += apart) {
    count += 1;
    for (let i = 0; i < dimension; i += 1) {
      sums[i] = (sums[i] as number) + (values[at + i] as number);
    }
  }
  return Float32Array.from(sums, (sum) => {
    const mean = sum / count;
    return Math.abs(mean) <= LARGEST ? mean : 0;
  });
}
