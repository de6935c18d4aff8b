/**
 * `CountKernels` counts values of a column in WebAssembly with 128-bit vectors. `atMost` counts the
 * numbers that are at most a constant. `equalTexts` counts the texts that equal a constant, or
 * returns null if texts are too long. The object owns the module and its memory. It lends parts of
 * that memory to readers (`take`), who return them by `give`, so that columns read into them need
 * no copy. `countKernels` returns null if the module cannot be loaded.
 */
import { instantiate } from '../../wasm.ts';
import { COUNT_BASE64 } from './count.wasm.ts';

interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer };
  at_most_f64(at: number, rows: number, limit: number): number;
  at_most_i64(at: number, rows: number, limit: bigint): number;
  equal_texts(
    offsets: number,
    rows: number,
    first: number,
    values: number,
    bytes: number,
    wanted: number,
    size: number,
    helpers: number,
  ): number;
}

// As count.wat lays out its memory, which never grows: what was lent of it stays where it is.
const WANTED_AT = 64;
/** The longest text that rows are compared with. */
const MOST_WANTED = 32_768;
const SLOTS_AT = 65_536;
const SLOT_BYTES = 1 << 20;
const LENT_SLOTS = 5;
const COPIES_AT = SLOTS_AT + LENT_SLOTS * SLOT_BYTES;
/** Rows copied at a time: still near the processor when they are counted. */
const BLOCK = 16_384;

export class CountKernels {
  readonly #wasm: Exports;
  readonly #bytes: Uint8Array;
  readonly #buffer: ArrayBuffer;
  readonly #slots: Uint8Array[] = [];

  constructor(wasm: Exports) {
    this.#wasm = wasm;
    this.#buffer = wasm.memory.buffer;
    this.#bytes = new Uint8Array(this.#buffer);
    for (let slot = 0; slot < LENT_SLOTS; slot += 1) {
      this.#slots.push(new Uint8Array(this.#buffer, SLOTS_AT + slot * SLOT_BYTES, SLOT_BYTES));
    }
  }

  /** At least so many bytes of the kernels' memory; undefined where none are left. */
  take(bytes: number): Uint8Array | undefined {
    return bytes > SLOT_BYTES ? undefined : this.#slots.pop();
  }

  /** False for memory that is not the kernels'. */
  give(memory: Uint8Array): boolean {
    if (memory.buffer !== this.#buffer) return false;
    this.#slots.push(memory);
    return true;
  }

  /** How many of the numbers are at most `limit`. NaN is not. */
  atMost(values: Float64Array | BigInt64Array, limit: number | bigint): number {
    const { length } = values;
    const lent = values.buffer === this.#buffer;
    let count = 0;
    for (let from = 0; from < length; from += BLOCK) {
      const rows = lent ? length : Math.min(BLOCK, length - from);
      const part = lent ? values : values.subarray(from, from + rows);
      const at = lent ? values.byteOffset : this.#copy(part, COPIES_AT);
      count +=
        values instanceof Float64Array
          ? this.#wasm.at_most_f64(at, rows, limit as number)
          : this.#wasm.at_most_i64(at, rows, limit as bigint);
      if (lent) break;
    }
    return count;
  }

  /**
   * How many texts are `wanted`; null where that cannot be told here.
   * @param offsets of texts in `values`, one more than there are texts
   */
  equalTexts(offsets: Int32Array, values: Uint8Array, wanted: Uint8Array): number | null {
    if (wanted.length > MOST_WANTED) return null;
    this.#prepare(wanted);
    const rows = offsets.length - 1;
    if (values.buffer === this.#buffer && offsets.buffer === this.#buffer) {
      return this.#equal(offsets.byteOffset, rows, 0, values.byteOffset, values.length, wanted);
    }
    let count = 0;
    for (let from = 0; from < rows; from += BLOCK) {
      const end = Math.min(rows, from + BLOCK);
      const part = offsets.subarray(from, end + 1);
      const first = part[0] as number;
      const texts = values.subarray(first, part[end - from]);
      const valuesAt = COPIES_AT + part.byteLength;
      if (texts.length > SLOT_BYTES - part.byteLength) return null;
      this.#copy(texts, valuesAt);
      const at = this.#copy(part, COPIES_AT);
      const found = this.#equal(at, end - from, first, valuesAt, texts.length, wanted);
      if (found === null) return null;
      count += found;
    }
    return count;
  }

  #equal(
    offsets: number,
    rows: number,
    first: number,
    values: number,
    bytes: number,
    { length }: Uint8Array,
  ): number | null {
    const { equal_texts } = this.#wasm;
    const found = equal_texts(offsets, rows, first, values, bytes, WANTED_AT, length, 0);
    return found < 0 ? null : found;
  }

  /** The text and what the kernel wants to know of it, as count.wat says. */
  #prepare(wanted: Uint8Array): void {
    const { length } = wanted;
    const bytes = this.#bytes;
    bytes.fill(0, 0, WANTED_AT + Math.ceil(length / 16) * 16 + 16);
    bytes.fill(255, 0, Math.min(16, length));
    bytes.set(wanted, WANTED_AT);
    if (length > 4) return;
    bytes.fill(255, 16, 32);
    for (let lane = 0; lane < 4; lane += 1) {
      bytes.set(wanted, 32 + lane * 4);
      for (let k = 0; k < length; k += 1) bytes[16 + lane * 4 + k] = lane * length + k;
    }
  }

  #copy(values: ArrayBufferView, at: number): number {
    this.#bytes.set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength), at);
    return at;
  }
}

let kernels: CountKernels | null | undefined;

/** Null where the module's instructions are not known. */
export function countKernels(): CountKernels | null {
  if (kernels === undefined) {
    const wasm = instantiate<Exports>(COUNT_BASE64);
    kernels = wasm === null ? null : new CountKernels(wasm);
  }
  return kernels;
}
