/**
 * `TextKernels` processes the bytes of many texts in WebAssembly with 128-bit vectors. It changes
 * the case of ASCII letters, counts code points, finds bytes that are not ASCII, compares texts
 * with a part of up to 64 bytes, and finds those that contain one. The texts of a column must
 * follow each other. It owns the module and its memory, and copies columns through it in blocks;
 * the methods that go through texts return false if one is longer than a block. `textKernels`
 * returns null if the module cannot be loaded. Callers then use their own loops.
 */

import { instantiate } from '../../wasm.ts';
import { TEXTS_BASE64 } from './texts.wasm.ts';

interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer };
  high(at: number, end: number): number;
  turn_case(at: number, end: number, first: number): void;
  contains(rows: number, base: number, bytes: number, size: number): void;
  order(
    rows: number,
    base: number,
    size: number,
    less: number,
    same: number,
    more: number,
    kept: number,
  ): void;
  highs(rows: number, base: number): void;
  points(rows: number, base: number): void;
}

/** Texts that follow each other: row i is `data[starts[i] .. ends[i])`, and begins where i - 1 ends. */
interface Texts {
  readonly data: Uint8Array;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
}

// As texts.wat lays out its memory.
const OFFSETS_AT = 4_096;
const ANSWERS_AT = 131_072;
const DATA_AT = 262_144;
const DATA_BYTES = 1 << 20;
const BLOCK_ROWS = 16_384;
const MASK_AT = 512;
/** The longest part that is looked for: it is compared anew at each place. */
export const MOST_PART = 64;

const UPPER_A = 65;
const LOWER_A = 97;

/** Rows [from, to) of texts, whose bytes lie in the kernels' memory. */
interface Block {
  readonly from: number;
  readonly to: number;
  /** The offset of the first byte. */
  readonly base: number;
  readonly bytes: number;
}

class TextKernels {
  readonly #wasm: Exports;
  readonly #part: Uint8Array;
  readonly #mask: Uint8Array;
  readonly #offsets: Int32Array;
  readonly #truth: Uint8Array;
  readonly #counts: Float64Array;
  readonly #data: Uint8Array;

  constructor(wasm: Exports) {
    const { buffer } = wasm.memory;
    this.#wasm = wasm;
    this.#part = new Uint8Array(buffer, 0, MOST_PART);
    this.#mask = new Uint8Array(buffer, MASK_AT, 16);
    this.#offsets = new Int32Array(buffer, OFFSETS_AT, BLOCK_ROWS + 1);
    this.#truth = new Uint8Array(buffer, ANSWERS_AT, BLOCK_ROWS);
    this.#counts = new Float64Array(buffer, ANSWERS_AT, BLOCK_ROWS);
    this.#data = new Uint8Array(buffer, DATA_AT, DATA_BYTES);
  }

  /** The first byte of `data` from `from` on, before `to`, that is no ASCII; `to` for none. */
  firstHigh(data: Uint8Array, from: number, to: number): number {
    for (let at = from; at < to; at += DATA_BYTES) {
      const bytes = Math.min(DATA_BYTES, to - at);
      this.#data.set(data.subarray(at, at + bytes));
      const found = this.#wasm.high(DATA_AT, DATA_AT + bytes) - DATA_AT;
      if (found < bytes) return at + found;
    }
    return to;
  }

  /**
   * Writes `data[from .. to)` to `out` from 0 on, its ASCII letters in one case. Answers whether all
   * of it is ASCII.
   */
  turnCase(data: Uint8Array, from: number, to: number, upper: boolean, out: Uint8Array): boolean {
    let isAscii = true;
    for (let at = from; at < to; at += DATA_BYTES) {
      const end = Math.min(to, at + DATA_BYTES);
      this.#data.set(data.subarray(at, end));
      const until = DATA_AT + end - at;
      isAscii &&= this.#wasm.high(DATA_AT, until) === until;
      this.#wasm.turn_case(DATA_AT, until, upper ? LOWER_A : UPPER_A);
      out.set(this.#data.subarray(0, end - at), at - from);
    }
    return isAscii;
  }

  /**
   * Marks the rows that have `part`, of up to MOST_PART bytes, with 2 in `truth`, which is all 0.
   * False where a text is longer than the kernels' memory.
   * @param highs given, the texts are looked at in lower case, and those that are not ASCII are left to
   * the caller: 1 notes them here
   */
  contains(texts: Texts, part: Uint8Array, truth: Uint8Array, highs?: Uint8Array): boolean {
    this.#part.set(part);
    this.#mask.fill(0).fill(255, 0, part.length);
    return this.#blocks(texts, ({ from, to, base, bytes }) => {
      if (highs !== undefined) {
        const end = DATA_AT + bytes;
        if (this.#wasm.high(DATA_AT, end) < end) {
          this.#wasm.highs(to - from, base);
          highs.set(this.#truth.subarray(0, to - from), from);
        }
        this.#wasm.turn_case(DATA_AT, end, UPPER_A);
      }
      this.#truth.fill(0, 0, to - from);
      this.#wasm.contains(to - from, base, bytes, part.length);
      truth.set(this.#truth.subarray(0, to - from), from);
    });
  }

  /**
   * Writes `less` for each text whose bytes come before those of `part`, of up to MOST_PART bytes,
   * `same` where they are the same, and `more` where they come after them.
   * @returns false where a text is longer than the kernels' memory
   */
  order(
    texts: Texts,
    part: Uint8Array,
    [less, same, more]: readonly [number, number, number],
    truth: Uint8Array,
  ): boolean {
    this.#part.set(part);
    return this.#blocks(texts, ({ from, to, base }) => {
      this.#wasm.order(to - from, base, part.length, less, same, more, 0);
      truth.set(this.#truth.subarray(0, to - from), from);
    });
  }

  /** Writes 2 for each text that is one of `parts`, which are as in `order`, and 0 for others. */
  among(texts: Texts, parts: readonly Uint8Array[], truth: Uint8Array): boolean {
    return this.#blocks(texts, ({ from, to, base }) => {
      this.#truth.fill(0, 0, to - from);
      for (const part of parts) {
        this.#part.set(part);
        this.#wasm.order(to - from, base, part.length, 0, 2, 0, 2);
      }
      truth.set(this.#truth.subarray(0, to - from), from);
    });
  }

  /** Notes 1 for each text that is not ASCII alone, as `contains`. */
  highs(texts: Texts, found: Uint8Array): boolean {
    return this.#blocks(texts, ({ from, to, base }) => {
      this.#wasm.highs(to - from, base);
      found.set(this.#truth.subarray(0, to - from), from);
    });
  }

  /** Code points of each text, as `contains`. */
  points(texts: Texts, counts: Float64Array): boolean {
    return this.#blocks(texts, ({ from, to, base }) => {
      this.#wasm.points(to - from, base);
      counts.set(this.#counts.subarray(0, to - from), from);
    });
  }

  #blocks({ data, starts, ends }: Texts, use: (block: Block) => void): boolean {
    const { length } = starts;
    for (let from = 0; from < length; ) {
      const base = starts[from] as number;
      const to = lastWithin(ends, from, Math.min(length, from + BLOCK_ROWS), base + DATA_BYTES);
      if (to === from) return false;
      const end = ends[to - 1] as number;
      this.#offsets.set(starts.subarray(from, to));
      this.#offsets[to - from] = end;
      this.#data.set(data.subarray(base, end));
      use({ from, to, base, bytes: end - base });
      from = to;
    }
    return true;
  }
}

/** The row behind the last of [from, to) that ends at `limit` at most; `ends` is ascending. */
function lastWithin(ends: Int32Array, from: number, to: number, limit: number): number {
  if ((ends[to - 1] as number) <= limit) return to;
  let [low, high] = [from, to - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ends[middle] as number) <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

let kernels: TextKernels | null | undefined;

/** Null where the module's instructions are not known. */
export function textKernels(): TextKernels | null {
  if (kernels === undefined) {
    const wasm = instantiate<Exports>(TEXTS_BASE64);
    kernels = wasm === null ? null : new TextKernels(wasm);
  }
  return kernels;
}
