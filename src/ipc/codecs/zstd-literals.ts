/**
 * `readLiterals` decodes the literals section of a Zstandard block, which is raw, one repeated
 * byte, or Huffman-coded. It also returns the Huffman code, which later blocks may use again.
 * `literalsHead` reads only the head of the section: the kind, the sizes and the Huffman code;
 * zstd-short.ts uses it. A damaged section calls the caller's `refuse`, which must throw.
 */
import type { Refuse } from './flatbuffer.ts';
import { BackwardBits, bitsAt, type HuffmanTable, readHuffmanTable } from './zstd-tables.ts';

/** Most bytes that a block may hold or give. */
export const BLOCK_BYTES = 131_072;

const CUT_SHORT = 'literals of its Zstandard frame are cut short';

export interface Literals {
  readonly literals: Uint8Array;
  /** How many bytes of the block they took. */
  readonly bytes: number;
  /** The code that later blocks may use again. */
  readonly table: HuffmanTable | undefined;
}

/** @param known the code of the last block that had one */
export function readLiterals(
  block: Uint8Array,
  known: HuffmanTable | undefined,
  refuse: Refuse,
): Literals {
  const { kind, size, from, to, isOneStream, table } = literalsHead(block, known, refuse);
  if (kind === 'plain') return { literals: block.subarray(from, to), bytes: to, table };
  const literals = new Uint8Array(size);
  if (kind === 'repeated') literals.fill(block[from] as number);
  else {
    const streams = block.subarray(from, to);
    const code = table as HuffmanTable;
    if (isOneStream) huffmanStream(streams, literals, code, refuse);
    else fourStreams(streams, literals, code, refuse);
  }
  return { literals, bytes: to, table };
}

/** What the head of the literals says, and where they are in the block. */
export interface LiteralsHead {
  /** Stored as they are, one byte that is repeated, or Huffman-coded. */
  readonly kind: 'plain' | 'repeated' | 'coded';
  readonly size: number;
  /** Of their bytes or streams, behind the description of a code. */
  readonly from: number;
  readonly to: number;
  readonly isOneStream: boolean;
  /** The code that they have, or that later blocks may use again. */
  readonly table: HuffmanTable | undefined;
}

/** Reads it with the description of a code. @param known the code of the last block that had one */
export function literalsHead(
  block: Uint8Array,
  known: HuffmanTable | undefined,
  refuse: Refuse,
): LiteralsHead {
  const byte = (at: number): number => block[at] ?? 0;
  const type = byte(0) & 3;
  const format = (byte(0) >> 2) & 3;
  if (type < 2) {
    const head = [1, 2, 1, 3][format] as number;
    const size =
      head === 1
        ? byte(0) >> 3
        : (byte(0) >> 4) | (byte(1) << 4) | (head === 3 ? byte(2) << 12 : 0);
    const to = head + (type === 1 ? 1 : size);
    if (size > BLOCK_BYTES || to > block.length) refuse(CUT_SHORT);
    const kind = type === 1 ? 'repeated' : 'plain';
    return { kind, size, from: head, to, isOneStream: false, table: known };
  }
  const width = [10, 10, 14, 18][format] as number;
  const head = (4 + 2 * width) >> 3;
  // Both sizes follow the first four bits; together they take up to 40.
  const word = byte(0) + byte(1) * 2 ** 8 + byte(2) * 2 ** 16 + byte(3) * 2 ** 24;
  const sizes = Math.floor((word + (head > 4 ? byte(4) * 2 ** 32 : 0)) / 16);
  const size = sizes % 2 ** width;
  const to = head + (Math.floor(sizes / 2 ** width) % 2 ** width);
  if (size > BLOCK_BYTES || to > block.length) refuse(CUT_SHORT);
  const read = type === 2 ? readHuffmanTable(block.subarray(head, to), refuse) : undefined;
  const table =
    read?.table ?? known ?? refuse('literals of its Zstandard frame have no Huffman code');
  const from = head + (read?.bytes ?? 0);
  return { kind: 'coded', size, from, to, isOneStream: format === 0, table };
}

/** Each stream fills a quarter; the lengths of the first three come first. */
function fourStreams(
  bytes: Uint8Array,
  output: Uint8Array,
  table: HuffmanTable,
  refuse: Refuse,
): void {
  const quarter = (output.length + 3) >> 2;
  if (bytes.length < 6 || quarter * 3 > output.length) refuse(CUT_SHORT);
  let from = 6;
  for (let stream = 0; stream < 4; stream += 1) {
    const length = (bytes[stream * 2] as number) | ((bytes[stream * 2 + 1] as number) << 8);
    const to = stream === 3 ? bytes.length : from + length;
    if (to > bytes.length) refuse(CUT_SHORT);
    const end = stream === 3 ? output.length : (stream + 1) * quarter;
    huffmanStream(bytes.subarray(from, to), output.subarray(stream * quarter, end), table, refuse);
    from = to;
  }
}

/** Fills `output` with the symbols of one stream, which must end there. */
function huffmanStream(
  bytes: Uint8Array,
  output: Uint8Array,
  table: HuffmanTable,
  refuse: Refuse,
): void {
  const stream = new BackwardBits(bytes, refuse);
  const { width, entries } = table;
  const held = stream.bytes;
  let { left } = stream;
  let at = 0;
  for (; at < output.length && left >= width; at += 1) {
    const entry = entries[bitsAt(held, left - width, width)] as number;
    output[at] = entry;
    left -= entry >> 8;
  }
  // Near the beginning of the stream a code may be shorter than the bits that are looked at.
  for (; at < output.length && left >= 0; at += 1) {
    const code = (bitsAt(held, 0, left) << (width - left)) & ((1 << width) - 1);
    const entry = entries[code] as number;
    output[at] = entry;
    left -= entry >> 8;
  }
  if (at < output.length || left !== 0) refuse('literals of its frame do not fit their stream');
}
