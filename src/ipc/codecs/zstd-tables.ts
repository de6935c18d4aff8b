/**
 * Builds the decoding tables of Zstandard's two entropy codes from their descriptions in a block:
 * finite state entropy (`readFseTable`) and Huffman (`readHuffmanTable`). `fseTable` builds one
 * from counts, and `singleTable` that of one symbol. An invalid description goes to the caller's
 * `refuse`. `BackwardBits` reads a bit stream from its end to its beginning; `bitsAt` reads bits at
 * any position.
 */
import type { Refuse } from './flatbuffer.ts';

/** By state: its symbol, how many bits to read for the next state, and what to add to them. */
export interface FseTable {
  readonly accuracy: number;
  readonly symbols: Uint8Array;
  readonly bits: Uint8Array;
  readonly bases: Uint16Array;
}

/** By the next `width` bits: the symbol, and above it how many of them its code takes. */
export interface HuffmanTable {
  readonly width: number;
  readonly entries: Uint16Array;
}

const highestBit = (value: number): number => 31 - Math.clz32(value);

/**
 * `count` bits from bit `position` on, at most 25. The three bytes after the last one looked at
 * must exist, or reading gets slow; bits that do not exist are zero.
 */
export function bitsAt(bytes: Uint8Array, position: number, count: number): number {
  const at = position >> 3;
  const word =
    (bytes[at] as number) |
    ((bytes[at + 1] as number) << 8) |
    ((bytes[at + 2] as number) << 16) |
    ((bytes[at + 3] as number) << 24);
  return (word >>> (position & 7)) & ((1 << count) - 1);
}

/** Bytes to read behind the end of what is meant. */
const SLACK = 4;

/** A copy that bitsAt can read to its end. */
function withSlack(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(bytes.length + SLACK);
  copy.set(bytes);
  return copy;
}

/** Bits of a stream that is read from its end to its beginning. */
export class BackwardBits {
  /** The stream, with bytes behind it that are not its. */
  readonly bytes: Uint8Array;
  /** How many bits are left. */
  left: number;
  readonly #refuse: Refuse;

  constructor(bytes: Uint8Array, refuse: Refuse) {
    const last = bytes[bytes.length - 1] ?? 0;
    // The highest bit set in the last byte marks where the stream begins.
    if (last === 0) refuse('a bit stream of its Zstandard frame has no beginning');
    this.bytes = withSlack(bytes);
    this.#refuse = refuse;
    this.left = bytes.length * 8 - 8 + highestBit(last);
  }

  /** Takes bits, at most 25; refuses when there are not as many. */
  take(count: number): number {
    this.left -= count;
    if (this.left < 0) this.#refuse('a bit stream of its Zstandard frame is cut short');
    return bitsAt(this.bytes, this.left, count);
  }
}

/** The table of a distribution; a count of -1 stands for less than one. */
export function fseTable(counts: readonly number[], accuracy: number, refuse: Refuse): FseTable {
  const size = 1 << accuracy;
  const symbols = new Uint8Array(size);
  const next = new Uint16Array(counts.length);
  let high = size - 1;
  for (let symbol = 0; symbol < counts.length; symbol += 1) {
    next[symbol] = Math.abs(counts[symbol] as number);
    if (counts[symbol] === -1) {
      symbols[high] = symbol;
      high -= 1;
    }
  }
  const step = (size >> 1) + (size >> 3) + 3;
  let position = 0;
  for (let symbol = 0; symbol < counts.length; symbol += 1) {
    const count = counts[symbol] as number;
    for (let each = 0; each < count; each += 1) {
      symbols[position] = symbol;
      do position = (position + step) & (size - 1);
      while (position > high);
    }
  }
  if (position !== 0) refuse('a table of its Zstandard frame is not complete');
  const bits = new Uint8Array(size);
  const bases = new Uint16Array(size);
  for (let state = 0; state < size; state += 1) {
    const symbol = symbols[state] as number;
    const count = next[symbol] as number;
    next[symbol] = count + 1;
    bits[state] = accuracy - highestBit(count);
    bases[state] = (count << (bits[state] as number)) - size;
  }
  return { accuracy, symbols, bits, bases };
}

/** The table of one symbol alone, which takes no bits. */
export const singleTable = (symbol: number): FseTable => ({
  accuracy: 0,
  symbols: Uint8Array.of(symbol),
  bits: new Uint8Array(1),
  bases: new Uint16Array(1),
});

/** Reads the description of a table at the beginning of `bytes`. */
export function readFseTable(
  described: Uint8Array,
  maxAccuracy: number,
  maxSymbol: number,
  refuse: Refuse,
): { table: FseTable; bytes: number } {
  // No description is longer: it has at most 256 symbols of 10 bits.
  const bytes = withSlack(described.subarray(0, 384));
  const accuracy = bitsAt(bytes, 0, 4) + 5;
  if (accuracy > maxAccuracy) refuse('a table of its Zstandard frame is too large');
  const counts: number[] = [];
  let position = 4;
  let remaining = 1 << accuracy;
  while (remaining > 0) {
    // Small values take one bit less: as many as would else have no use.
    const width = highestBit(remaining + 1) + 1;
    const lowest = (1 << (width - 1)) - 1;
    const short = (1 << width) - 2 - remaining;
    let value = bitsAt(bytes, position, width);
    if ((value & lowest) < short) {
      value &= lowest;
      position += width - 1;
    } else {
      if (value > lowest) value -= short;
      position += width;
    }
    const count = value - 1;
    counts.push(count);
    remaining -= Math.abs(count);
    let repeat = count === 0 ? 3 : 0;
    while (repeat === 3) {
      repeat = bitsAt(bytes, position, 2);
      position += 2;
      for (let each = 0; each < repeat; each += 1) counts.push(0);
    }
    if (counts.length > maxSymbol + 1 || position > described.length * 8) {
      refuse('a table of its Zstandard frame is not complete');
    }
  }
  if (remaining !== 0) refuse('a table of its Zstandard frame does not add up');
  return { table: fseTable(counts, accuracy, refuse), bytes: (position + 7) >> 3 };
}

const MAX_HUFFMAN_BITS = 11;

/** Reads the description of a Huffman code at the beginning of `bytes`. */
export function readHuffmanTable(
  bytes: Uint8Array,
  refuse: Refuse,
): { table: HuffmanTable; bytes: number } {
  const head = bytes[0] ?? 0;
  const packed = head >= 128;
  const taken = 1 + (packed ? (head - 126) >> 1 : head);
  if (taken > bytes.length) refuse('a Huffman code of its Zstandard frame is cut short');
  const weights = packed
    ? Array.from({ length: head - 127 }, (_, index) => {
        const pair = bytes[1 + (index >> 1)] as number;
        return index % 2 === 0 ? pair >> 4 : pair & 15;
      })
    : codedWeights(bytes.subarray(1, taken), refuse);
  return { table: huffmanTable(weights, refuse), bytes: taken };
}

/** Two states take turns on one stream, until it ends. */
function codedWeights(bytes: Uint8Array, refuse: Refuse): number[] {
  const { table, bytes: described } = readFseTable(bytes, 6, 255, refuse);
  const stream = new BackwardBits(bytes.subarray(described), refuse);
  const states = [stream.take(table.accuracy), stream.take(table.accuracy)];
  const weights: number[] = [];
  for (let turn = 0; weights.length < 255; turn = 1 - turn) {
    const state = states[turn] as number;
    weights.push(table.symbols[state] as number);
    const bits = table.bits[state] as number;
    if (bits > stream.left) {
      weights.push(table.symbols[states[1 - turn] as number] as number);
      return weights;
    }
    states[turn] = (table.bases[state] as number) + stream.take(bits);
  }
  return refuse('a Huffman code of its Zstandard frame has too many symbols');
}

function huffmanTable(weights: number[], refuse: Refuse): HuffmanTable {
  const sum = weights.reduce((total, weight) => total + (weight === 0 ? 0 : 2 ** (weight - 1)), 0);
  const width = sum === 0 ? 0 : highestBit(sum) + 1;
  const rest = 2 ** width - sum;
  // The weight of the last symbol is not written: it fills the code up.
  if (sum === 0 || width > MAX_HUFFMAN_BITS || (rest & (rest - 1)) !== 0 || weights.length > 255) {
    refuse('a Huffman code of its Zstandard frame does not add up');
  }
  weights.push(highestBit(rest) + 1);
  const entries = new Uint16Array(1 << width);
  let position = 0;
  for (let weight = 1; weight <= width; weight += 1) {
    const bits = (width + 1 - weight) << 8;
    for (let symbol = 0; symbol < weights.length; symbol += 1) {
      if (weights[symbol] !== weight) continue;
      const end = position + (1 << (weight - 1));
      entries.fill(bits | symbol, position, end);
      position = end;
    }
  }
  return { width, entries };
}
