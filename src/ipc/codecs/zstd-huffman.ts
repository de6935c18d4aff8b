/**
 * `huffmanCode` builds a Huffman code from the counts of bytes, together with its description for a
 * Zstandard block. It returns undefined if fewer than two different bytes occur, or if the format
 * cannot describe the code. The next call overwrites the codes. `readHuffmanTable` in
 * zstd-tables.ts reads the description.
 */
import { fseEncodeTable, fseNormalised, fseStream, writeFseTable } from './zstd-fse.ts';

const MAX_BITS = 11;
const MAX_WEIGHTS_ACCURACY = 6;

export interface HuffmanCode {
  /** By byte: the code, and its bits in the upper 16; 0 for bytes that do not occur. */
  readonly codes: Int32Array;
  readonly description: Uint8Array;
  /** Bits that all of the literals take. */
  readonly bits: number;
}

const codes = new Int32Array(256);
const lengths = new Uint8Array(256);

/**
 * Undefined where fewer than two bytes occur, or the description has no form. The codes are overwritten
 * by the next call.
 */
export function huffmanCode(counts: Int32Array): HuffmanCode | undefined {
  const symbols: number[] = [];
  for (let symbol = 0; symbol < 256; symbol += 1) if (counts[symbol]! > 0) symbols.push(symbol);
  if (symbols.length < 2) return undefined;
  const width = codeLengths(counts, symbols);
  const last = symbols[symbols.length - 1] as number;
  codes.fill(0);
  let bits = 0;
  let position = 0;
  for (let weight = 1; weight <= width; weight += 1) {
    const length = width + 1 - weight;
    for (const symbol of symbols) {
      if (lengths[symbol] !== length) continue;
      codes[symbol] = (length << 16) | (position >> (weight - 1));
      position += 1 << (weight - 1);
      bits += length * counts[symbol]!;
    }
  }
  const weights = new Uint8Array(last);
  for (const symbol of symbols) if (symbol < last) weights[symbol] = width + 1 - lengths[symbol]!;
  const description = described(weights);
  return description === undefined ? undefined : { codes, description, bits };
}

/** Fills `lengths` of the symbols; returns the longest. */
function codeLengths(counts: Int32Array, symbols: number[]): number {
  const sorted = Uint32Array.from(symbols, (symbol) => counts[symbol]! * 256 + symbol).sort();
  const size = sorted.length;
  // Two queues: the leaves in order, and the inner nodes, which come in order too.
  const weights = new Float64Array(2 * size);
  const parents = new Int32Array(2 * size);
  for (let leaf = 0; leaf < size; leaf += 1) weights[leaf] = sorted[leaf]! >>> 8;
  let leaf = 0;
  let inner = size;
  let next = size;
  const take = (): number =>
    leaf < size && (inner === next || weights[leaf]! <= weights[inner]!) ? leaf++ : inner++;
  for (; next < 2 * size - 1; next += 1) {
    const one = take();
    const other = take();
    weights[next] = weights[one]! + weights[other]!;
    parents[one] = next;
    parents[other] = next;
  }
  const depths = new Uint8Array(2 * size);
  for (let node = 2 * size - 3; node >= 0; node -= 1) depths[node] = depths[parents[node]!]! + 1;
  // The rarest come first, with the longest codes. What is too long is cut off, and room for that made
  // by lengthening others, the rarest of them first.
  let used = 0;
  for (let each = 0; each < size; each += 1) {
    depths[each] = Math.min(depths[each]!, MAX_BITS);
    used += 1 << (MAX_BITS - depths[each]!);
  }
  for (let each = 0; used > 1 << MAX_BITS; each = each + 1 === size ? 0 : each + 1) {
    if (depths[each] === MAX_BITS) continue;
    depths[each]! += 1;
    used -= 1 << (MAX_BITS - depths[each]!);
  }
  // Room that is left goes to the most frequent ones that have use for it.
  for (let each = size - 1; each >= 0 && used < 1 << MAX_BITS; each -= 1) {
    while (depths[each]! > 1 && used + (1 << (MAX_BITS - depths[each]!)) <= 1 << MAX_BITS) {
      used += 1 << (MAX_BITS - depths[each]!);
      depths[each]! -= 1;
    }
  }
  let width = 0;
  for (let each = 0; each < size; each += 1) {
    lengths[sorted[each]! & 255] = depths[each]!;
    if (depths[each]! > width) width = depths[each]!;
  }
  return width;
}

/** Weights as halves of bytes, or coded where that is shorter. */
function described(weights: Uint8Array): Uint8Array | undefined {
  const coded = codedWeights(weights);
  const plainBytes = (weights.length + 1) >> 1;
  if (coded !== undefined && coded.length < 128 && coded.length < plainBytes) {
    const description = new Uint8Array(coded.length + 1);
    description[0] = coded.length;
    description.set(coded, 1);
    return description;
  }
  if (weights.length > 128) return undefined;
  const description = new Uint8Array(1 + plainBytes);
  description[0] = 127 + weights.length;
  for (let at = 0; at < weights.length; at += 1) {
    description[1 + (at >> 1)]! |= at % 2 === 0 ? weights[at]! << 4 : weights[at]!;
  }
  return description;
}

/** Undefined where they are too few or all the same. */
function codedWeights(weights: Uint8Array): Uint8Array | undefined {
  const counts = new Int32Array(MAX_BITS + 2);
  let most = 0;
  for (let at = 0; at < weights.length; at += 1) {
    const count = counts[weights[at]!]! + 1;
    counts[weights[at]!] = count;
    if (count > most) most = count;
  }
  if (weights.length < 4 || most === weights.length || most === 1) return undefined;
  const normalised = fseNormalised(counts, weights.length, MAX_WEIGHTS_ACCURACY);
  const table = fseEncodeTable(normalised.counts, normalised.accuracy);
  const head = writeFseTable(normalised.counts, normalised.accuracy);
  const stream = fseStream(weights, table);
  const bytes = new Uint8Array(head.length + stream.length);
  bytes.set(head);
  bytes.set(stream, head.length);
  return bytes;
}
