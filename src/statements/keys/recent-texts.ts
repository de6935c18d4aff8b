/**
 * `RecentTexts` is a cache of texts of up to 16 bytes with their numbers, which WebAssembly looks
 * up. All tables of the process share one cache (`recentTexts`), but a table finds only the texts
 * that it put there. `find` looks up a block of at most 4,096 rows (`BLOCK_ROWS`) and returns the
 * rows that it misses, or undefined if the texts are too long for it. The caller numbers these rows
 * and then calls `keep`. `recentTexts` returns null if the module cannot be loaded.
 */
import { instantiate } from '../../wasm.ts';
import { RECENT_BASE64 } from './recent.wasm.ts';

interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer };
  find(rows: number, base: number, bytes: number, owner: number): number;
  keep(count: number, base: number, bytes: number, owner: number): void;
}

/** Texts or binary values: that of a row is `data[starts[row] .. ends[row])`. */
export interface ByteValues {
  readonly data: Uint8Array;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  readonly valid: Uint8Array | null;
}

// As recent.wat lays out its memory.
const MOST_LENGTH = 16;
export const BLOCK_ROWS = 4_096;
const STARTS_AT = 4_096;
const ENDS_AT = 20_480;
const NUMBERS_AT = 36_864;
const MISSED_AT = 53_248;
const DATA_AT = 393_216;
const DATA_BYTES = 1 << 18;

/** Texts longer than this on average are not copied for the few short ones among them. */
const MOST_AVERAGE = 24;

/**
 * Holds 8,192 texts of up to 16 bytes. A block is up to 4,096 rows whose texts have no more than 24
 * bytes on average and 256 KiB together.
 */
export class RecentTexts {
  readonly #wasm: Exports;
  readonly #starts: Int32Array;
  readonly #ends: Int32Array;
  readonly #data: Uint8Array;
  readonly #missed: Int32Array;
  #base = 0;
  #bytes = 0;
  /** The numbers of the rows of the block that was looked up last. */
  readonly numbers: Int32Array;

  constructor(wasm: Exports) {
    const { buffer } = wasm.memory;
    this.#wasm = wasm;
    this.#starts = new Int32Array(buffer, STARTS_AT, BLOCK_ROWS);
    this.#ends = new Int32Array(buffer, ENDS_AT, BLOCK_ROWS);
    this.#data = new Uint8Array(buffer, DATA_AT, DATA_BYTES);
    this.#missed = new Int32Array(buffer, MISSED_AT, BLOCK_ROWS);
    this.numbers = new Int32Array(buffer, NUMBERS_AT, BLOCK_ROWS);
    const masks = new Uint8Array(buffer, 0, (MOST_LENGTH + 1) * 16);
    for (let length = 1; length <= MOST_LENGTH; length++) {
      masks.fill(255, length * 16, length * 17);
    }
  }

  /**
   * Looks up the rows [from, to), at most 4,096, into `numbers`. @returns those that were not
   * found, counted from `from`; undefined where the texts are too long for it
   */
  find(
    { data, starts, ends }: ByteValues,
    from: number,
    to: number,
    owner: number,
  ): Int32Array | undefined {
    const base = starts[from] as number;
    const bytes = (ends[to - 1] as number) - base;
    if (bytes < 0 || bytes > Math.min(DATA_BYTES, (to - from) * MOST_AVERAGE)) return undefined;
    this.#base = base;
    this.#bytes = bytes;
    this.#starts.set(starts.subarray(from, to));
    this.#ends.set(ends.subarray(from, to));
    this.#data.set(data.subarray(base, base + bytes));
    return this.#missed.subarray(0, this.#wasm.find(to - from, base, bytes, owner));
  }

  /** Keeps those that `find` gave and that have got a number in `numbers` since. */
  keep(missed: Int32Array, owner: number): void {
    this.#wasm.keep(missed.length, this.#base, this.#bytes, owner);
  }
}

let found: RecentTexts | null | undefined;

export function recentTexts(): RecentTexts | null {
  if (found === undefined) {
    const wasm = instantiate<Exports>(RECENT_BASE64);
    found = wasm === null ? null : new RecentTexts(wasm);
  }
  return found;
}
