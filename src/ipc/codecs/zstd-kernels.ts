/**
 * `zstdKernels` returns the inner loops of Zstandard in WebAssembly (zstd.wat), with views of their
 * memory. It returns null for content of more than 2 MiB, and where WebAssembly cannot run them.
 * All callers in the process share the memory, so a caller must finish a frame before other code
 * can run. zstd-encode.ts and zstd-short.ts run the loops.
 */

import { instantiate } from '../../wasm.ts';
import { ZSTD_BASE64 } from './zstd.wasm.ts';
import { LITERAL_CODES, MATCH_CODES } from './zstd-sequences.ts';

/** The most content of a frame that is encoded. */
export const FRAME_BYTES = 65_536;
/** The most content of a frame that is decoded here: some milliseconds, without a step. */
const MOST_BYTES = 2_097_152;

/** Where things lie in the memory: see zstd.wat. */
export const AT = {
  huffman: 0,
  decode: 4_096,
  codes: 16_384,
  states: 20_480,
  changes: 26_624,
  counts: 32_768,
  literals: 65_536,
  input: 196_608,
  content: 327_680,
} as const;
const [RUN_CODES, MATCH_CODES_AT, RUN_BITS, MATCH_BITS] = [34_816, 34_944, 35_072, 35_136];

interface Counter {
  value: number;
}

interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): number };
  readonly near: Counter;
  readonly second: Counter;
  readonly third: Counter;
  readonly literal: Counter;
  find(size: number): number;
  huffman(size: number, at: number, four: number): number;
  sequences(count: number, at: number, widths: number): number;
  unhuffman(at: number, end: number, size: number, width: number, four: number): number;
  execute(
    at: number,
    end: number,
    count: number,
    widths: number,
    to: number,
    stop: number,
    literals: number,
  ): number;
}

export class ZstdKernels {
  readonly run: Exports;
  readonly bytes: Uint8Array;
  readonly halves: Uint16Array;
  readonly words: Int32Array;
  /** The most content of a frame. */
  readonly most: number;

  constructor(exports: Exports, most: number) {
    this.run = exports;
    this.most = most;
    const { buffer } = exports.memory;
    this.bytes = new Uint8Array(buffer);
    this.halves = new Uint16Array(buffer);
    this.words = new Int32Array(buffer);
    this.#lengths(LITERAL_CODES, 0, 64, RUN_CODES, RUN_BITS);
    this.#lengths(MATCH_CODES, 3, 128, MATCH_CODES_AT, MATCH_BITS);
  }

  /** Codes of the lengths below `limit`, and the bits that follow each code. */
  #lengths(
    { bases, bits }: typeof LITERAL_CODES,
    least: number,
    limit: number,
    codesAt: number,
    bitsAt: number,
  ): void {
    for (let code = 0; code < bases.length; code += 1) {
      const from = Math.min((bases[code] as number) - least, limit);
      const to = Math.min((bases[code + 1] ?? Infinity) - least, limit);
      this.bytes.fill(code, codesAt + from, codesAt + to);
    }
    this.bytes.set(bits, bitsAt);
  }
}

/** Behind the content, where what is copied in pieces may end. */
const SPARE_BYTES = 64;
const PAGE_BYTES = 65_536;

let short: ZstdKernels | null | undefined;
let long: ZstdKernels | null | undefined;

/**
 * For a frame of so much content. Null for more than 2 MiB, and where the module or one of its
 * instructions is not known.
 */
export function zstdKernels(bytes: number): ZstdKernels | null {
  if (bytes > MOST_BYTES) return null;
  if (bytes <= FRAME_BYTES) {
    if (short === undefined) short = load(FRAME_BYTES);
    return short;
  }
  if (long === undefined) long = load(MOST_BYTES);
  return long;
}

function load(most: number): ZstdKernels | null {
  const exports = instantiate<Exports>(ZSTD_BASE64);
  if (exports === null) return null;
  const { memory } = exports;
  const missing = AT.content + most + SPARE_BYTES - memory.buffer.byteLength;
  if (missing > 0) memory.grow(Math.ceil(missing / PAGE_BYTES));
  return new ZstdKernels(exports, most);
}
