/**
 * `NumberKernels` computes arithmetic, comparisons and logic over whole columns in WebAssembly with
 * 128-bit vectors. It also counts and lists true rows. It owns the module and its memory, and
 * copies columns through it in blocks. Methods return null for what they cannot compute, such as a
 * result beyond 64 bits. `numberKernels` returns null for fewer than 1,024 rows, and if the module
 * cannot be loaded; callers then use their own loops.
 */

import { instantiate } from '../../wasm.ts';
import type { ArithmeticOperator, CompareOperator } from '../parse/index.ts';
import type { NumberArray } from '../typed/index.ts';
import { NUMBERS_BASE64 } from './numbers.wasm.ts';

type Loop = (rows: number) => number;
type Compare<Value> = (to: number, rows: number, flip: number, c: Value) => void;
type Comparison = 'lt' | 'le' | 'eq';

type Exports = Record<`${'add' | 'sub' | 'mul' | 'div'}_f64`, Loop> &
  Record<`${'add' | 'sub' | 'mul' | 'div' | 'rem'}_i64`, Loop> &
  Record<`${Comparison}_f64`, Compare<number>> &
  Record<`${Comparison}_i64`, Compare<bigint>> &
  Record<'min_truth' | 'max_truth', Loop> & {
    quo_i64(rows: number, power: bigint): number;
    readonly memory: { readonly buffer: ArrayBuffer };
    count_truth(rows: number, wanted: number): number;
    true_rows(rows: number, first: number): number;
  };

// As numbers.wat lays out its memory.
const RIGHT_AT = 65_536;
const TRUTH_AT = 131_072;
const OTHER_TRUTH_AT = 196_608;
const BLOCK = 8_192;
const TRUTH_BLOCK = 65_536;
/** Rows whose numbers fit where results go. */
const ROWS_BLOCK = 16_384;

/** What the kernel of quotients answers then. */
const DIVIDED_BY_ZERO = 2;

/** With fewer rows the way into the module costs more than the loop. */
const LEAST_ROWS = 1_024;

const NAMES: Readonly<Record<ArithmeticOperator, 'add' | 'sub' | 'mul' | 'div' | 'rem'>> = {
  '+': 'add',
  '-': 'sub',
  '*': 'mul',
  '/': 'div',
  '%': 'rem',
};

/** The comparison that is computed, and whether its truth is turned round. */
const COMPARISONS: Readonly<Record<CompareOperator, readonly [Comparison, flip: 0 | 2]>> = {
  '=': ['eq', 0],
  '<>': ['eq', 2],
  '<': ['lt', 0],
  '<=': ['le', 0],
  '>': ['le', 2],
  '>=': ['lt', 2],
};

class NumberKernels {
  readonly #wasm: Exports;
  readonly #left: Float64Array;
  readonly #right: Float64Array;
  readonly #wideLeft: BigInt64Array;
  readonly #wideRight: BigInt64Array;
  /** Upper halves of quotients. */
  readonly #upper: BigInt64Array;
  readonly #rows: Uint32Array;
  readonly #truth: Uint8Array;
  readonly #otherTruth: Uint8Array;

  constructor(wasm: Exports) {
    const { buffer } = wasm.memory;
    this.#wasm = wasm;
    this.#left = new Float64Array(buffer, 0, BLOCK);
    this.#right = new Float64Array(buffer, RIGHT_AT, BLOCK);
    this.#wideLeft = new BigInt64Array(buffer, 0, BLOCK);
    this.#wideRight = new BigInt64Array(buffer, RIGHT_AT, BLOCK);
    this.#upper = new BigInt64Array(buffer, TRUTH_AT, BLOCK);
    this.#rows = new Uint32Array(buffer, 0, ROWS_BLOCK);
    this.#truth = new Uint8Array(buffer, TRUTH_AT, TRUTH_BLOCK);
    this.#otherTruth = new Uint8Array(buffer, OTHER_TRUTH_AT, TRUTH_BLOCK);
  }

  /** Doubles as IEEE 754 has them; a number stands for a column of it. Null for %. */
  doubles(
    op: ArithmeticOperator,
    left: NumberArray | number,
    right: NumberArray | number,
    length: number,
  ): Float64Array | null {
    const name = NAMES[op];
    if (name === 'rem') return null;
    const out = new Float64Array(length);
    for (let from = 0; from < length; from += BLOCK) {
      const rows = Math.min(BLOCK, length - from);
      this.#placeDoubles(left, right, from, rows);
      this.#wasm[`${name}_f64`](rows);
      out.set(this.#left.subarray(0, rows), from);
    }
    return out;
  }

  /** Exact integers; null where a result may need more than 64 bits, and for a division by zero. */
  integers(
    op: ArithmeticOperator,
    left: BigInt64Array | bigint,
    right: BigInt64Array | bigint,
    length: number,
  ): BigInt64Array | null {
    const out = new BigInt64Array(length);
    for (let from = 0; from < length; from += BLOCK) {
      const rows = Math.min(BLOCK, length - from);
      if (!this.#computeWide(op, left, right, from, rows)) return null;
      out.set(this.#wideLeft.subarray(0, rows), from);
    }
    return out;
  }

  /**
   * `left * power / right`, rounded half away from zero: bigints where one needs more than 64 bits, and
   * null for a division by zero. `power` is below 2^64.
   */
  quotients(
    left: BigInt64Array,
    right: BigInt64Array | bigint,
    power: bigint,
  ): BigInt64Array | bigint[] | null {
    const out = new BigInt64Array(left.length);
    let wide: bigint[] | undefined;
    for (let from = 0; from < left.length; from += BLOCK) {
      const rows = Math.min(BLOCK, left.length - from);
      placeWide(this.#wideLeft, left, from, rows);
      if (from === 0 || typeof right !== 'bigint') placeWide(this.#wideRight, right, from, rows);
      const outcome = this.#wasm.quo_i64(rows, power);
      if (outcome === DIVIDED_BY_ZERO) return null;
      if (outcome !== 0) wide ??= Array.from(out.subarray(0, from));
      if (wide === undefined) out.set(this.#wideLeft.subarray(0, rows), from);
      else this.#pushWide(wide, rows);
    }
    return wide ?? out;
  }

  /** Adds quotients of 128 bits. */
  #pushWide(wide: bigint[], rows: number): void {
    const [lower, upper] = [this.#wideLeft, this.#upper];
    for (let row = 0; row < rows; row++) {
      const low = lower[row] as bigint;
      const high = upper[row] as bigint;
      const isShort = high === (low < 0n ? -1n : 0n);
      wide.push(isShort ? low : (high << 64n) | BigInt.asUintN(64, low));
    }
  }

  /** Truth of `value op c`; `c` is not NaN, and NaN counts as greater than all else. */
  compareNumbers(op: CompareOperator, values: NumberArray, c: number): Uint8Array {
    const [name, flip] = COMPARISONS[op];
    return this.#compare(values.length, (from, rows) => {
      place(this.#left, values, from, rows);
      this.#wasm[`${name}_f64`](TRUTH_AT, rows, flip, c);
    });
  }

  compareIntegers(op: CompareOperator, values: BigInt64Array, c: bigint): Uint8Array {
    const [name, flip] = COMPARISONS[op];
    return this.#compare(values.length, (from, rows) => {
      placeWide(this.#wideLeft, values, from, rows);
      this.#wasm[`${name}_i64`](TRUTH_AT, rows, flip, c);
    });
  }

  /** Truth of `left run right op c`, of doubles, whose results are not kept; null for %. */
  compareDoublesOf(
    run: ArithmeticOperator,
    left: NumberArray | number,
    right: NumberArray | number,
    op: CompareOperator,
    c: number,
    length: number,
  ): Uint8Array | null {
    const name = NAMES[run];
    if (name === 'rem') return null;
    const [comparison, flip] = COMPARISONS[op];
    return this.#compare(length, (from, rows) => {
      this.#placeDoubles(left, right, from, rows);
      this.#wasm[`${name}_f64`](rows);
      this.#wasm[`${comparison}_f64`](TRUTH_AT, rows, flip, c);
    });
  }

  /** The same of integers; null where `integers` is. */
  compareIntegersOf(
    run: ArithmeticOperator,
    left: BigInt64Array | bigint,
    right: BigInt64Array | bigint,
    op: CompareOperator,
    c: bigint,
    length: number,
  ): Uint8Array | null {
    const [comparison, flip] = COMPARISONS[op];
    let isWhole = true;
    const truth = this.#compare(length, (from, rows) => {
      if (!isWhole) return;
      isWhole = this.#computeWide(run, left, right, from, rows);
      this.#wasm[`${comparison}_i64`](TRUTH_AT, rows, flip, c);
    });
    return isWhole ? truth : null;
  }

  #placeDoubles(
    left: NumberArray | number,
    right: NumberArray | number,
    from: number,
    rows: number,
  ): void {
    // A result takes the place of the left side.
    place(this.#left, left, from, rows);
    if (from === 0 || typeof right !== 'number') place(this.#right, right, from, rows);
  }

  /** False where a result may need more than 64 bits, and for a division by zero. */
  #computeWide(
    op: ArithmeticOperator,
    left: BigInt64Array | bigint,
    right: BigInt64Array | bigint,
    from: number,
    rows: number,
  ): boolean {
    placeWide(this.#wideLeft, left, from, rows);
    if (from === 0 || typeof right !== 'bigint') placeWide(this.#wideRight, right, from, rows);
    if (rows % 2 === 1) {
      // Behind the last row lies what a pair would take for another one.
      this.#wideLeft[rows] = 0n;
      this.#wideRight[rows] = 0n;
    }
    return this.#wasm[`${NAMES[op]}_i64`](rows) === 0;
  }

  #compare(length: number, block: (from: number, rows: number) => void): Uint8Array {
    const out = new Uint8Array(length);
    for (let from = 0; from < length; from += BLOCK) {
      const rows = Math.min(BLOCK, length - from);
      block(from, rows);
      out.set(this.#truth.subarray(0, rows), from);
    }
    return out;
  }

  /** `truth` becomes the AND, or the OR, of both. */
  join(isAnd: boolean, truth: Uint8Array, other: Uint8Array): void {
    const run = isAnd ? this.#wasm.min_truth : this.#wasm.max_truth;
    for (let from = 0; from < truth.length; from += TRUTH_BLOCK) {
      const part = truth.subarray(from, from + TRUTH_BLOCK);
      this.#truth.set(part);
      this.#otherTruth.set(other.subarray(from, from + TRUTH_BLOCK));
      run(part.length);
      part.set(this.#truth.subarray(0, part.length));
    }
  }

  /** How many of the truth values are `wanted`. */
  count(truth: Uint8Array, wanted: number): number {
    let count = 0;
    for (let from = 0; from < truth.length; from += TRUTH_BLOCK) {
      const rows = this.#placeTruth(truth.subarray(from, from + TRUTH_BLOCK), wanted ^ 1);
      count += this.#wasm.count_truth(rows, wanted);
    }
    return count;
  }

  /** The numbers of the rows that are true, in order; `count` says how many there are. */
  trueRows(truth: Uint8Array, count: number): Uint32Array {
    const found = new Uint32Array(count);
    for (let from = 0, at = 0; from < truth.length; from += ROWS_BLOCK) {
      const rows = this.#placeTruth(truth.subarray(from, from + ROWS_BLOCK), 0);
      const part = this.#wasm.true_rows(rows, from);
      found.set(this.#rows.subarray(0, part), at);
      at += part;
    }
    return found;
  }

  /** Fills up to a multiple of sixteen rows, which it returns. */
  #placeTruth(part: Uint8Array, filling: number): number {
    const rows = (part.length + 15) & ~15;
    this.#truth.set(part);
    this.#truth.fill(filling, part.length, rows);
    return rows;
  }
}

function place(
  block: Float64Array,
  values: NumberArray | number,
  from: number,
  rows: number,
): void {
  if (typeof values === 'number') block.fill(values);
  else block.set(values.subarray(from, from + rows));
}

function placeWide(
  block: BigInt64Array,
  values: BigInt64Array | bigint,
  from: number,
  rows: number,
): void {
  if (typeof values === 'bigint') block.fill(values);
  else block.set(values.subarray(from, from + rows));
}

let kernels: NumberKernels | null | undefined;

/** Null for few rows, and where the module's instructions are not known. */
export function numberKernels(rows: number): NumberKernels | null {
  if (rows < LEAST_ROWS) return null;
  if (kernels === undefined) {
    const wasm = instantiate<Exports>(NUMBERS_BASE64);
    kernels = wasm === null ? null : new NumberKernels(wasm);
  }
  return kernels;
}
