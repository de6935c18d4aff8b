/**
 * `ShortDecoder` decodes the blocks of a Zstandard frame of up to 2 MiB of content with the kernels
 * of zstd.wat, which nothing else may use until the frame is done. It is several times as fast as
 * zstd-blocks.ts, which needs no WebAssembly and has no such limit. Damaged blocks, and content
 * longer than the caller allows, go to the caller's `refuse`. `content` returns what was decoded,
 * in memory that the next frame overwrites.
 */
import type { Refuse } from './flatbuffer.ts';
import type { Block } from './zstd-blocks.ts';
import { AT, type ZstdKernels } from './zstd-kernels.ts';
import { literalsHead } from './zstd-literals.ts';
import {
  LITERAL_CODES,
  MATCH_CODES,
  readSequences,
  type SequenceTables,
} from './zstd-sequences.ts';
import type { FseTable, HuffmanTable } from './zstd-tables.ts';

/** By code of an offset: the least one, and the bits that follow. */
const OFFSET_CODES = {
  bases: Int32Array.from({ length: 32 }, (_, code) => 1 << code),
  bits: Uint8Array.from({ length: 32 }, (_, code) => code),
};
const CODES = [LITERAL_CODES, OFFSET_CODES, MATCH_CODES];
const TABLE_BYTES = 4_096;

/** Decodes one frame, block by block. Nothing else may use the kernels meanwhile. */
export class ShortDecoder {
  readonly #kernels: ZstdKernels;
  readonly #most: number;
  readonly #refuse: Refuse;
  /** The bytes of the content so far. */
  size = 0;
  #huffman: HuffmanTable | undefined;
  #tables: SequenceTables | undefined;

  /** @param most bytes that the content may have */
  constructor(kernels: ZstdKernels, most: number, refuse: Refuse) {
    this.#kernels = kernels;
    this.#most = Math.min(most, kernels.most);
    this.#refuse = refuse;
    const { run } = kernels;
    run.near.value = 1;
    run.second.value = 4;
    run.third.value = 8;
  }

  /** What was decoded, in memory that the next frame overwrites. */
  content(): Uint8Array {
    return this.#kernels.bytes.subarray(AT.content, AT.content + this.size);
  }

  decode(input: Uint8Array, { kind, bytes, from, to }: Block): void {
    const memory = this.#kernels.bytes;
    if (kind === 2) {
      this.#compressed(input.subarray(from, to));
      return;
    }
    if (this.size + bytes > this.#most) this.#overflow();
    const at = AT.content + this.size;
    if (kind === 0) memory.set(input.subarray(from, to), at);
    else memory.fill(input[from] as number, at, at + bytes);
    this.size += bytes;
  }

  #overflow(): never {
    return this.#refuse('its Zstandard frame holds more bytes than are declared');
  }

  #compressed(block: Uint8Array): void {
    const { bytes, halves, run } = this.#kernels;
    const head = literalsHead(block, this.#huffman, this.#refuse);
    bytes.set(block, AT.input);
    const literalsAt = AT.literals;
    if (head.kind === 'plain')
      bytes.copyWithin(literalsAt, AT.input + head.from, AT.input + head.to);
    else if (head.kind === 'repeated') {
      bytes.fill(block[head.from] as number, literalsAt, literalsAt + head.size);
    } else {
      const { width, entries } = head.table as HuffmanTable;
      halves.set(entries, AT.huffman);
      const [at, end] = [AT.input + head.from, AT.input + head.to];
      if (run.unhuffman(at, end, head.size, width, head.isOneStream ? 0 : 1) !== 0) {
        this.#refuse('literals of its frame do not fit their stream');
      }
    }
    this.#huffman = head.table;
    let end = AT.content + this.size;
    let used: number = literalsAt;
    const read = readSequences(block.subarray(head.to), this.#tables, this.#refuse);
    if (read !== undefined) {
      const { count, tables, at } = read;
      this.#tables = tables;
      let widths = 0;
      for (let kind = 0; kind < 3; kind += 1) {
        const table = tables[kind] as FseTable;
        widths |= table.accuracy << (4 * kind);
        this.#place(table, kind);
      }
      end = run.execute(
        AT.input + head.to + at,
        AT.input + block.length,
        count,
        widths,
        end,
        AT.content + this.#most,
        head.size,
      );
      if (end < 0) this.#refuse(PROBLEMS[-end - 1] as string);
      used = run.literal.value;
    }
    const rest = literalsAt + head.size - used;
    if (end + rest > AT.content + this.#most) this.#overflow();
    bytes.copyWithin(end, used, used + rest);
    this.size = end + rest - AT.content;
  }

  #place({ symbols, bits, bases }: FseTable, kind: number): void {
    const { words } = this.#kernels;
    const { bases: values, bits: more } = CODES[kind] as typeof OFFSET_CODES;
    let at = (AT.decode + kind * TABLE_BYTES) >> 2;
    for (let state = 0; state < symbols.length; state += 1) {
      const code = symbols[state] as number;
      words[at] = bases[state]! | (bits[state]! << 16) | (more[code]! << 24);
      words[at + 1] = values[code]!;
      at += 2;
    }
  }
}

const PROBLEMS = [
  'sequences of its frame do not fit their stream',
  'sequences of its frame hold more than is declared',
  'a match in its Zstandard frame leads out of its bounds',
];
