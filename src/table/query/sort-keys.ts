/**
 * Compares rows by the keys of an ORDER BY, straight from the Arrow buffers. `hasOrder` tells the
 * types of columns that can be keys. `keyValues` returns the values of a key column as typed
 * arrays. `fillRanks` computes a rank for each row, a double that rises with the key (in reverse
 * for a descending one); different keys may have the same rank, unless `isFinal` is true of it.
 * `rankOfRow` and `rankOfBound` compute it of one row and of a bound of statistics. `compareKeys`
 * compares one key of two rows exactly.
 *
 * NaN counts as greater than all other numbers, both zeros are equal, and texts are ordered by
 * their bytes. Nulls come first or last as the key says, in both directions.
 */
import {
  type Data,
  DataType,
  getBit,
  NO_BYTES,
  nullColumn,
  type Offsets,
  type TypedArray,
  validityOf,
} from '../../arrow/index.ts';
import { halfValues } from '../../values/index.ts';

export interface Direction {
  readonly ascending: boolean;
  readonly nullsFirst: boolean;
}

/** The rows of one key column of one batch. */
export interface KeyValues {
  readonly values: Numbers | Words | Bytes;
  readonly isNull: ((row: number) => boolean) | undefined;
  /** For a dictionary column, the number of the value of each row. */
  readonly codes: ArrayLike<number | bigint> | undefined;
}

interface Numbers {
  readonly kind: 'numbers';
  readonly numbers: SmallNumbers;
  /** Whether NaN or an infinity may be among them. */
  readonly floating: boolean;
}

/** Integers of up to 32 bits, or floats. */
type SmallNumbers = Exclude<TypedArray, BigInt64Array | BigUint64Array>;

/** Whole numbers of 64 bits or more: `width` words of 32 bits each, lowest first. */
interface Words {
  readonly kind: 'words';
  readonly words: Uint32Array;
  readonly width: number;
  readonly signed: boolean;
}

interface Bytes {
  readonly kind: 'bytes';
  readonly bytes: Uint8Array;
  /** Where each value begins; the value ends where the next one begins. */
  readonly offsets: Int32Array | Float64Array;
}

/** Counts work that is beyond that of comparing short values, in comparisons of these. */
export interface WorkMeter {
  work: number;
}

/** Whether rows can be ordered by values of a type. */
export function hasOrder(type: DataType): boolean {
  const decoded = DataType.isDictionary(type) ? (type.dictionary as DataType) : type;
  return (
    hasNumbers(decoded) ||
    DataType.isUtf8(decoded) ||
    DataType.isLargeUtf8(decoded) ||
    DataType.isBinary(decoded) ||
    DataType.isLargeBinary(decoded) ||
    DataType.isFixedSizeBinary(decoded)
  );
}

/** Whether rows of a type are told apart by their ranks, but for rare ones. */
export const hasNumbers = (type: DataType): boolean =>
  DataType.isBool(type) ||
  DataType.isInt(type) ||
  DataType.isFloat(type) ||
  DataType.isDecimal(type) ||
  DataType.isDate(type) ||
  DataType.isTime(type) ||
  DataType.isTimestamp(type) ||
  DataType.isDuration(type);

/** @param data of a type that has an order */
export function keyValues(data: Data): KeyValues {
  const validity = validityOf(data);
  const { offset } = data;
  const isNull =
    validity === undefined ? undefined : (row: number) => !getBit(validity, offset + row);
  if (!DataType.isDictionary(data.type)) {
    return { values: plainValues(data), isNull, codes: undefined };
  }
  const codes = data.values as unknown as ArrayLike<number | bigint>;
  const [entries] = data.dictionary?.data ?? [];
  if (entries === undefined || entries.length === 0) {
    const none = nullColumn(data.type.dictionary as DataType, 0);
    return { values: plainValues(none), isNull: () => true, codes };
  }
  const { values, isNull: isNullEntry } = entryValues(entries as Data);
  const isNullRow =
    isNullEntry === undefined
      ? isNull
      : (row: number) => isNull?.(row) === true || isNullEntry(Number(codes[row]));
  return { values, isNull: isNullRow, codes };
}

const knownEntries = new WeakMap<Data, KeyValues>();

/**
 * The values of a dictionary; gives the same object for the same dictionary, which many batches
 * share.
 */
function entryValues(entries: Data): KeyValues {
  const known = knownEntries.get(entries);
  if (known !== undefined) return known;
  const made = keyValues(entries);
  knownEntries.set(entries, made);
  return made;
}

function plainValues(data: Data): KeyValues['values'] {
  const type = data.type as DataType;
  const values = data.values as ArrayBufferView | undefined;
  if (DataType.isBool(type)) {
    const bits = values as Uint8Array;
    const numbers = new Uint8Array(data.length);
    for (let row = 0; row < numbers.length; row++) {
      numbers[row] = getBit(bits, data.offset + row) ? 1 : 0;
    }
    return { kind: 'numbers', numbers, floating: false };
  }
  if (DataType.isFloat(type)) {
    const numbers = values as Float32Array | Float64Array | Uint16Array;
    const floats = numbers instanceof Uint16Array ? fromHalves(numbers) : numbers;
    return { kind: 'numbers', numbers: floats, floating: true };
  }
  if (DataType.isFixedSizeBinary(type)) {
    const { byteWidth } = type;
    const offsets = new Float64Array(data.length + 1);
    for (let row = 0; row < offsets.length; row++) offsets[row] = row * byteWidth;
    return { kind: 'bytes', bytes: values as Uint8Array, offsets };
  }
  if (data.valueOffsets !== undefined) {
    const bytes = (values ?? NO_BYTES) as Uint8Array;
    const offsets = data.valueOffsets as Offsets;
    const numbers = offsets instanceof Int32Array ? offsets : Float64Array.from(offsets, Number);
    return { kind: 'bytes', bytes, offsets: numbers };
  }
  const width = DataType.isDecimal(type)
    ? type.bitWidth / 32
    : (values as Int32Array).BYTES_PER_ELEMENT / 4;
  if (width <= 1 && !DataType.isDecimal(type)) {
    const numbers = values as unknown as SmallNumbers;
    return { kind: 'numbers', numbers, floating: false };
  }
  const { buffer, byteOffset, byteLength } = values as ArrayBufferView;
  const words = new Uint32Array(buffer, byteOffset, byteLength / 4);
  return { kind: 'words', words, width, signed: !DataType.isInt(type) || type.isSigned };
}

function fromHalves(halves: Uint16Array): Float32Array {
  const table = halfValues();
  const numbers = new Float32Array(halves.length);
  for (let row = 0; row < halves.length; row++) {
    numbers[row] = table[halves[row] as number] as number;
  }
  return numbers;
}

/** Fills `into` with the ranks of `count` rows from row `from` on. */
export function fillRanks(
  key: KeyValues,
  { ascending, nullsFirst }: Direction,
  from: number,
  count: number,
  into: Float64Array,
): void {
  fillRising(key, from, count, into);
  if (!ascending) for (let at = 0; at < count; at++) into[at] = 0 - (into[at] as number);
  const { isNull } = key;
  if (isNull === undefined) return;
  const rank = nullsFirst ? -Infinity : Infinity;
  for (let at = 0; at < count; at++) if (isNull(from + at)) into[at] = rank;
}

function fillRising(key: KeyValues, from: number, count: number, into: Float64Array): void {
  const { values, codes } = key;
  if (codes !== undefined) {
    const entries = ranksOfEntries(values);
    for (let at = 0; at < count; at++) into[at] = entries[Number(codes[from + at])] ?? 0;
    return;
  }
  switch (values.kind) {
    case 'numbers':
      fillNumbers(values, from, count, into);
      return;
    case 'words':
      for (let at = 0; at < count; at++) into[at] = rankOfWords(values, from + at);
      return;
    case 'bytes':
      fillBytes(values, from, count, into);
      return;
  }
}

const entryRanks = new WeakMap<KeyValues['values'], Float64Array>();

/** The ranks of the values of a dictionary, computed once. */
function ranksOfEntries(values: KeyValues['values']): Float64Array {
  let ranks = entryRanks.get(values);
  if (ranks === undefined) {
    ranks = new Float64Array(countOf(values));
    fillRising({ values, isNull: undefined, codes: undefined }, 0, ranks.length, ranks);
    entryRanks.set(values, ranks);
  }
  return ranks;
}

function countOf(values: KeyValues['values']): number {
  if (values.kind === 'numbers') return values.numbers.length;
  if (values.kind === 'words') return values.words.length / values.width;
  return values.offsets.length - 1;
}

function fillNumbers(
  { numbers, floating }: Numbers,
  from: number,
  count: number,
  into: Float64Array,
): void {
  const filled = count === into.length ? into : into.subarray(0, count);
  filled.set(numbers.subarray(from, from + count) as Float64Array);
  if (!floating) return;
  for (let at = 0; at < count; at++) {
    const value = filled[at] as number;
    // One bit pattern for both zeros: ranks are sorted by their bits.
    if (value === 0) filled[at] = 0;
    // False of NaN alone.
    else if (!(value <= Infinity)) filled[at] = Infinity;
  }
}

const WORD = 2 ** 32;
/** The rank of signed numbers beyond 64 bits. */
const END = 2 ** 63;

/**
 * Never falls where the numbers rise: each step is rounded once, and what does not fit 64 bits
 * counts as one of the two ends.
 */
function rankOfWords({ words, width, signed }: Words, row: number): number {
  const at = row * width;
  const top = words[at + width - 1] as number;
  const high = signed ? top | 0 : top;
  if (width === 1) return high;
  if (width === 2) return high * WORD + (words[at] as number);
  if (!fitsTwoWords(words, at, width)) return high < 0 ? -END : END;
  return ((words[at + 1] as number) | 0) * WORD + (words[at] as number);
}

/** Whether all words above the lower two repeat the sign of these. */
function fitsTwoWords(words: Uint32Array, at: number, width: number): boolean {
  const sign = (words[at + 1] as number) >>> 31 === 1 ? 0xffff_ffff : 0;
  for (let word = 2; word < width; word++) if (words[at + word] !== sign) return false;
  return true;
}

/**
 * The rank, for rising order, of a bound that statistics give; it ranks as a row of that value
 * would.
 */
export function rankOfBound(value: boolean | number | bigint | string, type: DataType): number {
  if (typeof value === 'string') {
    const bytes = Buffer.from(value);
    const rank = new Float64Array(1);
    fillBytes({ kind: 'bytes', bytes, offsets: Int32Array.of(0, bytes.length) }, 0, 1, rank);
    return rank[0] as number;
  }
  const number = Number(value) + 0;
  // As rankOfWords, which has one rank for all that is beyond 64 bits.
  return DataType.isDecimal(type) ? Math.max(-END, Math.min(END, number)) : number;
}

/** Bytes of a value that its rank is made of. */
export const PREFIX = 6;

/** The first six bytes, then the length as far as seven: 51 bits, which a double holds exactly. */
function fillBytes(
  { bytes, offsets }: Bytes,
  from: number,
  count: number,
  into: Float64Array,
): void {
  for (let at = 0; at < count; at++) {
    const begin = offsets[from + at] as number;
    into[at] = rankOfBytes(bytes, begin, (offsets[from + at + 1] as number) - begin);
  }
}

function rankOfBytes(bytes: Uint8Array, begin: number, length: number): number {
  const shown = Math.min(length, PREFIX);
  let rank = 0;
  for (let byte = 0; byte < shown; byte++) rank = rank * 256 + (bytes[begin + byte] as number);
  for (let byte = shown; byte < PREFIX; byte++) rank *= 256;
  return rank * 8 + Math.min(length, PREFIX + 1);
}

/**
 * The rank of one row; of bytes those from `depth` on, where all before are known to be the same.
 */
export function rankOfRow(
  { values, isNull, codes }: KeyValues,
  row: number,
  { ascending, nullsFirst }: Direction,
  depth: number,
): number {
  if (isNull?.(row) === true) return nullsFirst ? -Infinity : Infinity;
  const at = codes === undefined ? row : Number(codes[row]);
  const rank = rankOfValue(values, at, depth);
  return ascending ? rank : 0 - rank;
}

function rankOfValue(values: KeyValues['values'], at: number, depth: number): number {
  if (values.kind === 'words') return rankOfWords(values, at);
  if (values.kind === 'bytes') {
    const begin = (values.offsets[at] as number) + depth;
    return rankOfBytes(values.bytes, begin, (values.offsets[at + 1] as number) - begin);
  }
  const number = values.numbers[at] as number;
  return number <= Infinity ? number + 0 : Infinity;
}

/** How many bytes of two values are the same from `depth` on, up to `most`. */
export function sharedBytes(
  left: KeyValues,
  a: number,
  right: KeyValues,
  b: number,
  depth: number,
  most: number,
): number {
  if (left.values.kind !== 'bytes' || right.values.kind !== 'bytes' || most === 0) return 0;
  const [x, from, end] = bytesOf(left.values, left.codes === undefined ? a : Number(left.codes[a]));
  const [y, start, stop] = bytesOf(
    right.values,
    right.codes === undefined ? b : Number(right.codes[b]),
  );
  const begin = from + depth;
  const shift = start - from;
  const length = Math.max(0, Math.min(most, end - begin, stop - start - depth));
  if (length > SHORT) {
    const whole = x.subarray(begin, begin + length);
    if (Buffer.compare(whole, y.subarray(begin + shift, begin + shift + length)) === 0)
      return length;
  }
  let at = 0;
  while (at < length && x[begin + at] === y[begin + shift + at]) at++;
  return at;
}

const bytesOf = ({ bytes, offsets }: Bytes, at: number): [Uint8Array, number, number] => [
  bytes,
  offsets[at] as number,
  offsets[at + 1] as number,
];

/**
 * Whether rows of this rank are equal in the first key, with nothing left to compare there. It
 * depends on the rank alone, so that it holds between batches.
 */
export function isFinal(values: KeyValues['values'], rank: number): boolean {
  const size = Math.abs(rank);
  switch (values.kind) {
    case 'numbers':
      return size !== Infinity || !values.floating;
    case 'words':
      return size < 2 ** 53 || size === Infinity;
    case 'bytes':
      return size === Infinity || size % 8 <= PREFIX;
  }
}

/** Whether `isFinal` holds for all of these ranks. */
export function areFinal(values: KeyValues['values'], ranks: Float64Array): boolean {
  // Whole numbers of 32 bits and less have no other ranks.
  if (values.kind === 'numbers' && !values.floating) return true;
  for (let at = 0; at < ranks.length; at++) {
    if (!isFinal(values, ranks[at] as number)) return false;
  }
  return true;
}

/** Below 0 where row `a` of one batch comes before row `b` of another, 0 where they are equal. */
export function compareKeys(
  left: KeyValues,
  a: number,
  right: KeyValues,
  b: number,
  { ascending, nullsFirst }: Direction,
  meter: WorkMeter,
): number {
  if (left.isNull !== undefined || right.isNull !== undefined) {
    const leftIsNull = left.isNull?.(a) === true;
    const rightIsNull = right.isNull?.(b) === true;
    if (leftIsNull || rightIsNull) {
      return leftIsNull === rightIsNull ? 0 : leftIsNull === nullsFirst ? -1 : 1;
    }
  }
  const i = left.codes === undefined ? a : Number(left.codes[a]);
  const j = right.codes === undefined ? b : Number(right.codes[b]);
  const order = compareValues(left.values, i, right.values, j, meter);
  return ascending ? order : -order;
}

function compareValues(
  left: KeyValues['values'],
  a: number,
  right: KeyValues['values'],
  b: number,
  meter: WorkMeter,
): number {
  if (left.kind === 'bytes') return compareBytes(left, a, right as Bytes, b, meter);
  if (left.kind === 'words') return compareWords(left, a, right as Words, b);
  return compareNumbers(left.numbers[a] as number, (right as Numbers).numbers[b] as number);
}

function compareNumbers(a: number, b: number): number {
  if (a < b) return -1;
  if (a > b) return 1;
  if (a === b) return 0;
  const [m, n] = [Number.isNaN(a), Number.isNaN(b)];
  return m === n ? 0 : m ? 1 : -1;
}

function compareWords(left: Words, a: number, right: Words, b: number): number {
  const { width } = left;
  const flip = left.signed ? 0x8000_0000 : 0;
  for (let word = width - 1; word >= 0; word--) {
    const mask = word === width - 1 ? flip : 0;
    const x = ((left.words[a * width + word] as number) ^ mask) >>> 0;
    const y = ((right.words[b * width + word] as number) ^ mask) >>> 0;
    if (x !== y) return x < y ? -1 : 1;
  }
  return 0;
}

/** Up to here a loop is faster than a call. */
const SHORT = 64;
/** Bytes that are compared in the time of one short value. */
export const BYTES_A_COMPARISON = 512;

function compareBytes(left: Bytes, a: number, right: Bytes, b: number, meter: WorkMeter): number {
  const x = left.bytes;
  const y = right.bytes;
  const begin = left.offsets[a] as number;
  const start = right.offsets[b] as number;
  const length = (left.offsets[a + 1] as number) - begin;
  const other = (right.offsets[b + 1] as number) - start;
  const shared = length < other ? length : other;
  const near = shared < SHORT ? shared : SHORT;
  for (let at = 0; at < near; at++) {
    const order = (x[begin + at] as number) - (y[start + at] as number);
    if (order !== 0) return order;
  }
  if (shared === near) return length - other;
  meter.work += shared / BYTES_A_COMPARISON;
  return Buffer.compare(
    x.subarray(begin + near, begin + length),
    y.subarray(start + near, start + other),
  );
}
