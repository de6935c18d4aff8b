/**
 * Rows by key: an index over the key columns of rows in memory, asked with the key columns of other
 * rows, batch by batch. Null keys match nothing. Knows columns, no tables.
 */
import { type Data, DataType } from '../arrow.ts';
import { DirspaceError } from '../errors.ts';
import { reader, type Value } from '../expression/column.ts';
import { loadColumn } from '../expression/load.ts';
import { NO_BYTES, type Offsets, offsetAt } from '../format/arrow-data.ts';
import { type Layout, layoutOf } from '../format/arrow-types.ts';
import { getBit } from '../format/bitmaps.ts';
import { describeType } from '../protocol/schema-equality.ts';

export interface KeyIndex {
  /** For every indexed row the first row with its key; -1 for a null key. */
  readonly firsts: Int32Array;
  /** For every row of these columns the first indexed row with its key, or -1. */
  match(columns: readonly Data[], rows: number): Int32Array;
}

/**
 * @param columns the key columns, all of `rows` rows and of types that have an order
 * @throws InvalidInput for keys that are lists, structs and the like
 */
export function indexKeys(columns: readonly Data[], rows: number): KeyIndex {
  const [only] = columns;
  if (only !== undefined && columns.length === 1) {
    if (isWhole(only.type)) return new WordIndex(only, rows);
    if (isBytes(only.type)) return new ByteIndex(only, rows);
  }
  for (const { type } of columns) {
    if (NESTED.has(layoutOf(type))) {
      throw new DirspaceError('InvalidInput', `A ${describeType(type)} cannot be a key.`);
    }
  }
  return new TextIndex(columns, rows);
}

const NESTED: ReadonlySet<Layout> = new Set(['list', 'fixed-list', 'struct', 'union']);

/** Whole numbers of at most 64 bits, whatever they count. */
const isWhole = (type: DataType): boolean =>
  DataType.isInt(type) ||
  DataType.isTimestamp(type) ||
  DataType.isTime(type) ||
  DataType.isDuration(type) ||
  DataType.isDate(type);

const isBytes = (type: DataType): boolean =>
  DataType.isUtf8(type) ||
  DataType.isBinary(type) ||
  DataType.isLargeUtf8(type) ||
  DataType.isLargeBinary(type);

/** Slots of a table of row numbers with open addressing: no object per key. -1 is empty. */
function emptySlots(rows: number): Int32Array {
  return new Int32Array(2 ** Math.ceil(Math.log2(Math.max(16, rows * 3)))).fill(-1);
}

const validityOf = (data: Data): Uint8Array | undefined =>
  data.nullCount > 0 ? data.nullBitmap : undefined;

/** 64-bit numbers as pairs of words: a bigint per row would be an object per row. */
class WordIndex implements KeyIndex {
  readonly firsts: Int32Array;
  readonly #slots: Int32Array;
  readonly #words: Int32Array;

  constructor(column: Data, rows: number) {
    const slots = emptySlots(rows);
    const words = wordsOf(column);
    const validity = validityOf(column);
    const firsts = new Int32Array(rows);
    const mask = slots.length - 1;
    for (let row = 0; row < rows; row++) {
      if (validity !== undefined && !getBit(validity, column.offset + row)) {
        firsts[row] = -1;
        continue;
      }
      const low = words[2 * row] as number;
      const high = words[2 * row + 1] as number;
      let slot = hashWords(low, high) & mask;
      let known = slots[slot] as number;
      while (known >= 0 && (words[2 * known] !== low || words[2 * known + 1] !== high)) {
        slot = (slot + 1) & mask;
        known = slots[slot] as number;
      }
      if (known < 0) slots[slot] = row;
      firsts[row] = known < 0 ? row : known;
    }
    this.firsts = firsts;
    this.#slots = slots;
    this.#words = words;
  }

  match([column]: readonly Data[], rows: number): Int32Array {
    const asked = wordsOf(column as Data);
    const validity = validityOf(column as Data);
    const offset = column?.offset ?? 0;
    const slots = this.#slots;
    const words = this.#words;
    const mask = slots.length - 1;
    const found = new Int32Array(rows);
    for (let row = 0; row < rows; row++) {
      const low = asked[2 * row] as number;
      const high = asked[2 * row + 1] as number;
      let slot = hashWords(low, high) & mask;
      let known = slots[slot] as number;
      while (known >= 0 && (words[2 * known] !== low || words[2 * known + 1] !== high)) {
        slot = (slot + 1) & mask;
        known = slots[slot] as number;
      }
      const isNull = validity !== undefined && !getBit(validity, offset + row);
      found[row] = isNull ? -1 : known;
    }
    return found;
  }
}

function hashWords(low: number, high: number): number {
  const mixed = Math.imul(low ^ Math.imul(high, 0x85ebca6b), 0x9e3779b1);
  return mixed ^ (mixed >>> 15);
}

function wordsOf(data: Data): Int32Array {
  const values = data.values as Int32Array | BigInt64Array;
  if (values.BYTES_PER_ELEMENT === 8) {
    return new Int32Array(values.buffer, values.byteOffset, data.length * 2);
  }
  const words = new Int32Array(data.length * 2);
  for (let row = 0; row < data.length; row++) {
    const value = values[row] as number;
    words[2 * row] = value;
    words[2 * row + 1] = value < 0 ? -1 : 0;
  }
  return words;
}

/** Texts and other strings of bytes. */
class ByteIndex implements KeyIndex {
  readonly firsts: Int32Array;
  readonly #slots: Int32Array;
  readonly #bytes: Uint8Array;
  readonly #ends: Int32Array;

  constructor(column: Data, rows: number) {
    this.#slots = emptySlots(rows);
    this.#bytes = (column.values ?? NO_BYTES) as Uint8Array;
    this.#ends = endsOf(column);
    this.firsts = new Int32Array(rows);
    this.#find(column, rows, this.firsts, true);
  }

  match([column]: readonly Data[], rows: number): Int32Array {
    const found = new Int32Array(rows);
    this.#find(column as Data, rows, found, false);
    return found;
  }

  /** Rows that are not known are added, or are -1. */
  #find(column: Data, rows: number, found: Int32Array, adding: boolean): void {
    const asked = (column.values ?? NO_BYTES) as Uint8Array;
    const view = new DataView(asked.buffer, asked.byteOffset, asked.byteLength);
    const askedEnds = endsOf(column);
    const validity = validityOf(column);
    const slots = this.#slots;
    const bytes = this.#bytes;
    const ends = this.#ends;
    const mask = slots.length - 1;
    for (let row = 0; row < rows; row++) {
      if (validity !== undefined && !getBit(validity, column.offset + row)) {
        found[row] = -1;
        continue;
      }
      const begin = askedEnds[row] as number;
      const length = (askedEnds[row + 1] as number) - begin;
      let slot = hashBytes(view, begin, length) & mask;
      let known = slots[slot] as number;
      while (known >= 0) {
        const start = ends[known] as number;
        const same = (ends[known + 1] as number) - start === length;
        if (same && sameBytes(asked, begin, bytes, start, length)) break;
        slot = (slot + 1) & mask;
        known = slots[slot] as number;
      }
      if (known < 0 && adding) {
        slots[slot] = row;
        known = row;
      }
      found[row] = known;
    }
  }
}

/** Offsets as 32-bit numbers; a batch holds no more bytes than they count. */
function endsOf(data: Data): Int32Array {
  const offsets = data.valueOffsets as Offsets;
  if (offsets instanceof Int32Array) return offsets;
  if (offsetAt(offsets, data.length) > 0x7fff_ffff) {
    throw new DirspaceError('InvalidInput', 'Keys of more than 2 GiB do not fit one batch.');
  }
  return Int32Array.from(offsets, Number);
}

function hashBytes(view: DataView, begin: number, length: number): number {
  let hash = length ^ 0x811c9dc5;
  const end = begin + length;
  let at = begin;
  for (; at + 4 <= end; at += 4) {
    hash = Math.imul(hash ^ view.getInt32(at, true), 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  for (; at < end; at++) hash = Math.imul(hash ^ view.getUint8(at), 0x01000193);
  // Similar texts differ in few bits until all of them are mixed.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return hash ^ (hash >>> 13);
}

function sameBytes(
  a: Uint8Array,
  begin: number,
  b: Uint8Array,
  start: number,
  length: number,
): boolean {
  for (let at = length - 1; at >= 0; at--) if (a[begin + at] !== b[start + at]) return false;
  return true;
}

/** Several columns, or a type without a form of its own above: keys as texts. */
class TextIndex implements KeyIndex {
  readonly firsts: Int32Array;
  readonly #rows = new Map<string, number>();

  constructor(columns: readonly Data[], rows: number) {
    this.firsts = new Int32Array(rows);
    const keyOf = keyTexts(columns);
    for (let row = 0; row < rows; row++) {
      const key = keyOf(row);
      const known = key === undefined ? -1 : (this.#rows.get(key) ?? row);
      if (known === row) this.#rows.set(key as string, row);
      this.firsts[row] = known;
    }
  }

  match(columns: readonly Data[], rows: number): Int32Array {
    const found = new Int32Array(rows);
    const keyOf = keyTexts(columns);
    for (let row = 0; row < rows; row++) {
      const key = keyOf(row);
      found[row] = key === undefined ? -1 : (this.#rows.get(key) ?? -1);
    }
    return found;
  }
}

/** A text per row that differs where the keys differ; undefined where a part is null. */
function keyTexts(columns: readonly Data[]): (row: number) => string | undefined {
  const readers = columns.map((column) => reader(loadColumn(column)));
  return (row) => {
    let key = '';
    for (const read of readers) {
      const value = read(row);
      if (value === null) return undefined;
      const part = partOf(value);
      key += `${part.length}:${part}`;
    }
    return key;
  };
}

/** As SQL compares them: both zeros are one; NaN is taken as equal to itself. */
function partOf(value: Value): string {
  if (typeof value === 'string') return value;
  if (value instanceof Uint8Array) return Buffer.from(value).toString('latin1');
  if (typeof value === 'number') return String(value + 0);
  if (typeof value === 'object')
    return JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? String(part) : part));
  return String(value);
}

/** The key of one row, for messages. */
export function showKey(names: readonly string[], columns: readonly Data[], row: number): string {
  return names
    .map((name, at) => {
      const value = reader(loadColumn(columns[at] as Data))(row);
      const shown = typeof value === 'string' ? JSON.stringify(value) : partOf(value);
      return `${name} = ${shown.length > 80 ? `${shown.slice(0, 77)}...` : shown}`;
    })
    .join(', ');
}
