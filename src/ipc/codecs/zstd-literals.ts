/**
 * `readLiterals`: decodes the literals section of a Zstandard block, which is raw, one repeated
 * byte, or Huffman-coded. Returns them with the number of bytes read and the Huffman code, which
 * later blocks may use again.
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
  const kind = (block[0] ?? 0) & 3;
  return kind < 2
    ? plain(block, kind === 1, known, refuse)
    : coded(block, kind === 2, known, refuse);
}

function plain(
  block: Uint8Array,
  repeated: boolean,
  known: HuffmanTable | undefined,
  refuse: Refuse,
): Literals {
  const byte = (at: number): number => block[at] ?? 0;
  const head = [1, 2, 1, 3][(byte(0) >> 2) & 3] as number;
  const size =
    head === 1 ? byte(0) >> 3 : (byte(0) >> 4) | (byte(1) << 4) | (head === 3 ? byte(2) << 12 : 0);
  const end = head + (repeated ? 1 : size);
  if (size > BLOCK_BYTES || end > block.length) refuse(CUT_SHORT);
  const literals = repeated ? new Uint8Array(size).fill(byte(head)) : block.subarray(head, end);
  return { literals, bytes: end, table: known };
}

function coded(
  block: Uint8Array,
  described: boolean,
  known: HuffmanTable | undefined,
  refuse: Refuse,
): Literals {
  const byte = (at: number): number => block[at] ?? 0;
  const format = (byte(0) >> 2) & 3;
  const width = [10, 10, 14, 18][format] as number;
  const head = (4 + 2 * width) >> 3;
  // Both sizes follow the first four bits; together they take up to 40.
  const word = byte(0) + byte(1) * 2 ** 8 + byte(2) * 2 ** 16 + byte(3) * 2 ** 24;
  const sizes = Math.floor((word + (head > 4 ? byte(4) * 2 ** 32 : 0)) / 16);
  const size = sizes % 2 ** width;
  const end = head + (Math.floor(sizes / 2 ** width) % 2 ** width);
  if (size > BLOCK_BYTES || end > block.length) refuse(CUT_SHORT);
  const read = described ? readHuffmanTable(block.subarray(head, end), refuse) : undefined;
  const table =
    read?.table ?? known ?? refuse('literals of its Zstandard frame have no Huffman code');
  const literals = new Uint8Array(size);
  const streams = block.subarray(head + (read?.bytes ?? 0), end);
  if (format === 0) huffmanStream(streams, literals, table, refuse);
  else fourStreams(streams, literals, table, refuse);
  return { literals, bytes: end, table };
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
  const { width, symbols, bits } = table;
  const held = stream.bytes;
  let { left } = stream;
  let at = 0;
  for (; at < output.length && left >= width; at += 1) {
    const code = bitsAt(held, left - width, width);
    output[at] = symbols[code] as number;
    left -= bits[code] as number;
  }
  // Near the beginning of the stream a code may be shorter than the bits that are looked at.
  for (; at < output.length && left >= 0; at += 1) {
    const code = (bitsAt(held, 0, left) << (width - left)) & ((1 << width) - 1);
    output[at] = symbols[code] as number;
    left -= bits[code] as number;
  }
  if (at < output.length || left !== 0) refuse('literals of its frame do not fit their stream');
}
