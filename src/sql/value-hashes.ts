/**
 * `hashValues` hashes each value of a column to 64 bits, so that equal values can be counted and
 * rows compared without keeping the values. Columns must be of one type and loaded from Arrow data:
 * equal values then have the same hash in every batch. Both zeros count as one value, and so do all
 * NaNs and all nulls. The hash depends on random words of the process, so it must not be stored.
 * `joinHashes` mixes the hashes of one more column into those of a row, in place.
 */
import { systemEnv } from '../env.ts';
import {
  type Column,
  exactText,
  reader,
  UNKNOWN,
  type Validity,
  type Value,
} from './typed/index.ts';

/** Two words for each row, which change with each other: either is a hash by itself. */
export interface ValueHashes {
  readonly low: Int32Array;
  readonly high: Int32Array;
}

const [SEED_A = 1, SEED_B = 1, SEED_C = 1] = Array.from(
  { length: 3 },
  () => (systemEnv.random() * 2 ** 32) | 0,
);

/**
 * Of a column that was loaded from Arrow data. Two given different values share a hash with a
 * probability of about 2^-64; numbers of at most 64 bits never do.
 */
export function hashValues(column: Column): ValueHashes {
  const low = new Int32Array(column.length);
  const high = new Int32Array(column.length);
  const hashes = { low, high };
  switch (column.form) {
    case 'truth':
      for (let row = 0; row < low.length; row++) low[row] = column.values[row] as number;
      mixWords(hashes);
      nullsOf(
        hashes,
        column.values.map((truth) => (truth === UNKNOWN ? 0 : 1)),
      );
      break;
    case 'number':
      numberWords(column.values, hashes);
      mixWords(hashes);
      nullsOf(hashes, column.valid);
      break;
    case 'wide':
      wideHashes(column.values, hashes);
      nullsOf(hashes, column.valid);
      break;
    case 'bytes':
      byteHashes(column.data, column.starts, column.ends, hashes);
      nullsOf(hashes, column.valid);
      break;
    case 'list':
      listHashes(column.child, column.starts, column.ends, hashes);
      nullsOf(hashes, column.valid);
      break;
    case 'struct':
      for (const child of column.children) joinHashes(hashes, hashValues(child));
      nullsOf(hashes, column.valid);
      break;
    default: {
      const read = reader(column);
      for (let row = 0; row < low.length; row++) textHash(read(row), row, hashes);
    }
  }
  return hashes;
}

/** Adds those of another column of the same rows: the order of columns counts. */
export function joinHashes(into: ValueHashes, { low, high }: ValueHashes): void {
  for (let row = 0; row < low.length; row++) {
    add(into, row, low[row] as number);
    add(into, row, high[row] as number);
  }
}

/** Takes a word into the hash of a row. */
function add({ low, high }: ValueHashes, row: number, word: number): void {
  let a = Math.imul((low[row] as number) ^ word, 0x9e3779b1);
  a ^= a >>> 15;
  let b = (high[row] as number) + a;
  b = Math.imul(b ^ (b >>> 13), 0x85ebca6b);
  low[row] = a;
  high[row] = b ^ (b >>> 16);
}

/**
 * Mixes two words into two others, one to one. The low bits of each depend on all bits of both.
 */
function mixWords({ low, high }: ValueHashes): void {
  for (let row = 0; row < low.length; row++) {
    let a = low[row] as number;
    let b = (high[row] as number) ^ SEED_A;
    let c = Math.imul(b ^ (b >>> 16) ^ SEED_B, 0x85ebca6b);
    a ^= c ^ (c >>> 13);
    c = Math.imul(a ^ (a >>> 16) ^ SEED_C, 0xc2b2ae35);
    b ^= c ^ (c >>> 15);
    c = Math.imul(b ^ (b >>> 15), 0x27d4eb2f);
    a ^= c ^ (c >>> 16);
    low[row] = a;
    high[row] = b;
  }
}

function nullsOf({ low, high }: ValueHashes, valid: Validity): void {
  if (valid === null) return;
  for (let row = 0; row < low.length; row++) {
    if (valid[row] !== 0) continue;
    low[row] = SEED_B;
    high[row] = SEED_C;
  }
}

const NAN = 0x7ff80000;

function numberWords(
  values: Float64Array | Float32Array | Int32Array,
  { low, high }: ValueHashes,
): void {
  if (values instanceof Int32Array) {
    low.set(values);
    return;
  }
  const words = new Int32Array(values.buffer, values.byteOffset, values.byteLength >> 2);
  const wide = values instanceof Float64Array;
  for (let row = 0; row < low.length; row++) {
    const value = values[row] as number;
    if (value === 0) continue;
    if (Number.isNaN(value)) {
      high[row] = NAN;
    } else if (wide) {
      low[row] = words[2 * row] as number;
      high[row] = words[2 * row + 1] as number;
    } else low[row] = words[row] as number;
  }
}

function wideHashes(
  values: BigInt64Array | BigUint64Array | readonly bigint[],
  hashes: ValueHashes,
): void {
  const { low, high } = hashes;
  if (values instanceof BigInt64Array || values instanceof BigUint64Array) {
    const words = new Int32Array(values.buffer, values.byteOffset, low.length * 2);
    for (let row = 0; row < low.length; row++) {
      low[row] = words[2 * row] as number;
      high[row] = words[2 * row + 1] as number;
    }
    mixWords(hashes);
    return;
  }
  // What fits 64 bits has the same words as there.
  for (let row = 0; row < low.length; row++) {
    const value = values[row] ?? 0n;
    low[row] = Number(BigInt.asIntN(32, value));
    high[row] = Number(BigInt.asIntN(32, value >> 32n));
  }
  mixWords(hashes);
  for (let row = 0; row < low.length; row++) {
    let rest = values[row] ?? 0n;
    if (BigInt.asIntN(64, rest) === rest) continue;
    for (rest >>= 64n; rest !== 0n && rest !== -1n; rest >>= 32n) {
      add(hashes, row, Number(BigInt.asIntN(32, rest)));
    }
    add(hashes, row, Number(rest) + 2);
  }
}

function byteHashes(
  data: Uint8Array,
  starts: Int32Array,
  ends: Int32Array,
  { low, high }: ValueHashes,
): void {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  for (let row = 0; row < low.length; row++) {
    const end = ends[row] as number;
    let at = starts[row] as number;
    let a = SEED_A ^ (end - at);
    let b = SEED_B;
    for (; at + 4 <= end; at += 4) {
      a = Math.imul(a ^ view.getInt32(at, true), 0x9e3779b1);
      a ^= a >>> 15;
      b = Math.imul(b + a, 0x85ebca6b);
      b ^= b >>> 13;
    }
    let rest = 0;
    for (; at < end; at++) rest = (rest << 8) | (data[at] as number);
    a = Math.imul(a ^ rest, 0x9e3779b1);
    a ^= a >>> 15;
    b = Math.imul(b + a, 0x85ebca6b);
    b ^= b >>> 16;
    low[row] = Math.imul(a ^ (b >>> 11), 0xc2b2ae35) ^ (a >>> 16);
    high[row] = b;
  }
}

/** The items one after the other, and their number. */
function listHashes(
  child: Column,
  starts: Int32Array,
  ends: Int32Array,
  hashes: ValueHashes,
): void {
  const { low, high } = hashes;
  for (let row = 0; row < low.length; row++) {
    low[row] = SEED_A ^ ((ends[row] as number) - (starts[row] as number));
    high[row] = SEED_B;
  }
  if (child.form === 'number' && !(child.values instanceof Float64Array)) {
    wordItems(child.values, child.valid, starts, ends, hashes);
    return;
  }
  const items = hashValues(child);
  for (let row = 0; row < low.length; row++) {
    const end = ends[row] as number;
    for (let at = starts[row] as number; at < end; at++) {
      add(hashes, row, items.low[at] as number);
      add(hashes, row, items.high[at] as number);
    }
  }
}

/** Takes items of one word each into the hashes of their lists; a null is two words. */
function wordItems(
  values: Float32Array | Int32Array,
  valid: Validity,
  starts: Int32Array,
  ends: Int32Array,
  { low, high }: ValueHashes,
): void {
  const words = new Int32Array(values.buffer, values.byteOffset, values.length);
  const isFloat = values instanceof Float32Array;
  for (let row = 0; row < low.length; row++) {
    const end = ends[row] as number;
    let a = low[row] as number;
    let b = high[row] as number;
    for (let at = starts[row] as number; at < end; at++) {
      let word = words[at] as number;
      if (valid !== null && valid[at] === 0) {
        a = Math.imul(a ^ SEED_B, 0x9e3779b1);
        a ^= a >>> 15;
        b = Math.imul(b + a, 0x85ebca6b);
        b ^= b >>> 13;
        word = SEED_C;
      } else if (isFloat) word = floatWord(word);
      a = Math.imul(a ^ word, 0x9e3779b1);
      a ^= a >>> 15;
      b = Math.imul(b + a, 0x85ebca6b);
      b ^= b >>> 13;
    }
    low[row] = a;
    high[row] = b;
  }
}

/** One word for both zeros, and one for all NaNs. */
function floatWord(word: number): number {
  const magnitude = word & 0x7fffffff;
  if (magnitude === 0) return 0;
  return magnitude > 0x7f800000 ? NAN : word;
}

/** Values without a form of their own, such as those of maps. */
function textHash(value: Value, row: number, hashes: ValueHashes): void {
  if (value === null || value === undefined) {
    hashes.low[row] = SEED_B;
    hashes.high[row] = SEED_C;
    return;
  }
  const text = exactText(value);
  hashes.low[row] = SEED_A ^ text.length;
  hashes.high[row] = SEED_B;
  for (let at = 0; at < text.length; at++) add(hashes, row, text.charCodeAt(at));
}
