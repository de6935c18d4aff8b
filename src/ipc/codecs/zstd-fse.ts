/**
 * Builds encoding tables for Zstandard's finite state entropy code (FSE): `fseNormalised` scales
 * the counts of the symbols to a table's size, `fseEncodeTable` builds the table, and
 * `writeFseTable` writes its description for a block. `fseStream` encodes the weights of a Huffman
 * code; zstd.wat encodes sequences. zstd-tables.ts decodes the descriptions and weights.
 */

export interface Normalised {
  /** They add up to 2^accuracy; -1 stands for less than one. None lies behind the last symbol. */
  readonly counts: Int32Array;
  readonly accuracy: number;
}

export interface FseEncodeTable {
  readonly accuracy: number;
  /** By position: the state after, counted from the size of the table on. */
  readonly states: Uint16Array;
  /** By symbol: what to add to a state for the number of its bits, and for the position. */
  readonly changes: Int32Array;
}

const MIN_ACCURACY = 5;

/** @param maxAccuracy of the table; fewer values get a smaller one */
export function fseNormalised(counts: Int32Array, total: number, maxAccuracy: number): Normalised {
  let last = counts.length - 1;
  while (counts[last] === 0) last -= 1;
  let symbols = 0;
  for (let symbol = 0; symbol <= last; symbol += 1) if (counts[symbol]! > 0) symbols += 1;
  const wanted = Math.max(31 - Math.clz32(Math.max(total - 1, 1)) - 2, MIN_ACCURACY);
  const needed = 32 - Math.clz32(symbols);
  const accuracy = Math.min(maxAccuracy, Math.max(wanted, needed));
  const size = 1 << accuracy;
  const normalised = new Int32Array(last + 1);
  let left = size;
  let most = 0;
  for (let symbol = 0; symbol <= last; symbol += 1) {
    const count = counts[symbol]!;
    if (count === 0) continue;
    const share = (count / total) * size;
    const rounded = share < 1 ? -1 : Math.round(share);
    normalised[symbol] = rounded;
    left -= Math.abs(rounded);
    if (normalised[symbol]! > normalised[most]!) most = symbol;
  }
  // What was rounded up is taken from those that lose least by it, one at a time.
  while (left < 0) {
    let best = -1;
    let loss = Infinity;
    for (let symbol = 0; symbol <= last; symbol += 1) {
      if (normalised[symbol]! < 2) continue;
      const each = counts[symbol]! * Math.log2(normalised[symbol]! / (normalised[symbol]! - 1));
      if (each < loss) [best, loss] = [symbol, each];
    }
    normalised[best]! -= 1;
    left += 1;
  }
  normalised[most]! += left;
  return { counts: normalised, accuracy };
}

/** @param counts as of `fseNormalised` */
export function fseEncodeTable(
  counts: Int32Array | readonly number[],
  accuracy: number,
): FseEncodeTable {
  const size = 1 << accuracy;
  const symbols = new Uint8Array(size);
  const changes = new Int32Array(counts.length * 2);
  const starts = new Int32Array(counts.length);
  let high = size - 1;
  let total = 0;
  for (let symbol = 0; symbol < counts.length; symbol += 1) {
    const count = counts[symbol]!;
    starts[symbol] = total;
    if (count === 0) continue;
    if (count === -1) {
      symbols[high] = symbol;
      high -= 1;
    }
    const places = Math.abs(count);
    const bits = places === 1 ? accuracy : accuracy - (31 - Math.clz32(places - 1));
    changes[symbol * 2] = places === 1 ? (accuracy << 16) - size : (bits << 16) - (places << bits);
    changes[symbol * 2 + 1] = total - places;
    total += places;
  }
  const step = (size >> 1) + (size >> 3) + 3;
  let position = 0;
  for (let symbol = 0; symbol < counts.length; symbol += 1) {
    for (let each = 0; each < counts[symbol]!; each += 1) {
      symbols[position] = symbol;
      do position = (position + step) & (size - 1);
      while (position > high);
    }
  }
  const states = new Uint16Array(size);
  for (let state = 0; state < size; state += 1) {
    const symbol = symbols[state]!;
    states[starts[symbol]!] = size + state;
    starts[symbol]! += 1;
  }
  return { accuracy, states, changes };
}

/** Bits from the lowest on. */
class Bits {
  #bytes = new Uint8Array(512);
  #count = 0;

  put(value: number, count: number): void {
    for (let each = 0; each < count; each += 1) {
      if ((value >>> each) & 1) this.#bytes[this.#count >> 3]! |= 1 << (this.#count & 7);
      this.#count += 1;
    }
  }

  bytes(): Uint8Array {
    return this.#bytes.subarray(0, (this.#count + 7) >> 3);
  }
}

/** The description of a table. */
export function writeFseTable(counts: Int32Array, accuracy: number): Uint8Array {
  const bits = new Bits();
  bits.put(accuracy - MIN_ACCURACY, 4);
  let remaining = 1 << accuracy;
  for (let symbol = 0; remaining > 0; symbol += 1) {
    const count = counts[symbol]!;
    // Small values take one bit less: as many as would else have no use.
    const width = 32 - Math.clz32(remaining + 1);
    const lowest = (1 << (width - 1)) - 1;
    const short = (1 << width) - 2 - remaining;
    const value = count + 1;
    if (value < short) bits.put(value, width - 1);
    else bits.put(value > lowest ? value + short : value, width);
    remaining -= Math.abs(count);
    if (count !== 0) continue;
    let zeros = 0;
    while (counts[symbol + 1] === 0) {
      zeros += 1;
      symbol += 1;
    }
    for (; zeros >= 3; zeros -= 3) bits.put(3, 2);
    bits.put(zeros, 2);
  }
  return bits.bytes();
}

/** Encodes symbols with two states that take turns; a reader gets the first symbol from the first. */
export function fseStream(symbols: Uint8Array, table: FseEncodeTable): Uint8Array {
  const { accuracy, states: after, changes } = table;
  const bits = new Bits();
  const states = [0, 0];
  for (let at = symbols.length - 1; at >= 0; at -= 1) {
    const symbol = symbols[at]!;
    const add = changes[symbol * 2]!;
    const place = changes[symbol * 2 + 1]!;
    const turn = at & 1;
    const state = states[turn]!;
    if (at >= symbols.length - 2) {
      const count = (add + 32_768) >> 16;
      states[turn] = after[(((count << 16) - add) >> count) + place]!;
    } else {
      const count = (state + add) >> 16;
      bits.put(state, count);
      states[turn] = after[(state >> count) + place]!;
    }
  }
  bits.put(states[1]!, accuracy);
  bits.put(states[0]!, accuracy);
  bits.put(1, 1);
  return bits.bytes();
}
