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
    if (isWhole(only.type)) return indexed(wordKeys, columns, rows);
    if (isBytes(only.type)) return indexed(byteKeys, columns, rows);
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

/** Keys of one column: hashes, and equality with the rows of another. */
interface Keys<Self> {
  readonly length: number;
  readonly validity: Uint8Array | undefined;
  readonly offset: number;
  hash(row: number): number;
  equals(row: number, other: Self, otherRow: number): boolean;
}

function indexed<Own extends Keys<Own>>(
  keysOf: (data: Data) => Own,
  columns: readonly Data[],
  rows: number,
): KeyIndex {
  return new HashIndex(keysOf, keysOf(columns[0] as Data), rows);
}

/** Open addressing over row numbers: no object per key. */
class HashIndex<Own extends Keys<Own>> implements KeyIndex {
  readonly firsts: Int32Array;
  readonly #keysOf: (data: Data) => Own;
  readonly #keys: Own;
  readonly #slots: Int32Array;
  readonly #mask: number;

  constructor(keysOf: (data: Data) => Own, keys: Own, rows: number) {
    this.#keysOf = keysOf;
    this.#keys = keys;
    const size = 2 ** Math.ceil(Math.log2(Math.max(16, rows * 3)));
    this.#mask = size - 1;
    this.#slots = new Int32Array(size).fill(-1);
    this.firsts = new Int32Array(rows);
    for (let row = 0; row < rows; row++) this.firsts[row] = this.#insert(row);
  }

  #insert(row: number): number {
    const keys = this.#keys;
    if (isNull(keys, row)) return -1;
    for (let slot = keys.hash(row) & this.#mask; ; slot = (slot + 1) & this.#mask) {
      const known = this.#slots[slot] as number;
      if (known < 0) {
        this.#slots[slot] = row;
        return row;
      }
      if (keys.equals(row, keys, known)) return known;
    }
  }

  match([column]: readonly Data[], rows: number): Int32Array {
    const asked = this.#keysOf(column as Data);
    const keys = this.#keys;
    const slots = this.#slots;
    const mask = this.#mask;
    const found = new Int32Array(rows);
    const nulls = asked.validity !== undefined;
    for (let row = 0; row < rows; row++) {
      if (nulls && isNull(asked, row)) {
        found[row] = -1;
        continue;
      }
      let slot = asked.hash(row) & mask;
      let known = slots[slot] as number;
      while (known >= 0 && !asked.equals(row, keys, known)) {
        slot = (slot + 1) & mask;
        known = slots[slot] as number;
      }
      found[row] = known;
    }
    return found;
  }
}

const isNull = <Own>({ validity, offset }: Keys<Own>, row: number): boolean =>
  validity !== undefined && !getBit(validity, offset + row);

const validityOf = (data: Data): Uint8Array | undefined =>
  data.nullCount > 0 ? data.nullBitmap : undefined;

/** 64-bit numbers as pairs of words: a bigint per row would be an object per row. */
class WordKeys implements Keys<WordKeys> {
  readonly length: number;
  readonly validity: Uint8Array | undefined;
  readonly offset: number;
  readonly words: Int32Array;

  constructor(data: Data) {
    this.length = data.length;
    this.validity = validityOf(data);
    this.offset = data.offset;
    this.words = wordsOf(data);
  }

  hash(row: number): number {
    const low = this.words[2 * row] as number;
    const high = this.words[2 * row + 1] as number;
    const mixed = Math.imul(low ^ Math.imul(high, 0x85ebca6b), 0x9e3779b1);
    return mixed ^ (mixed >>> 15);
  }

  equals(row: number, other: WordKeys, otherRow: number): boolean {
    return (
      this.words[2 * row] === other.words[2 * otherRow] &&
      this.words[2 * row + 1] === other.words[2 * otherRow + 1]
    );
  }
}

const wordKeys = (data: Data): WordKeys => new WordKeys(data);

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

class ByteKeys implements Keys<ByteKeys> {
  readonly length: number;
  readonly validity: Uint8Array | undefined;
  readonly offset: number;
  readonly bytes: Uint8Array;
  readonly #offsets: Offsets;

  constructor(data: Data) {
    this.length = data.length;
    this.validity = validityOf(data);
    this.offset = data.offset;
    this.bytes = (data.values ?? NO_BYTES) as Uint8Array;
    this.#offsets = data.valueOffsets as Offsets;
  }

  hash(row: number): number {
    const end = offsetAt(this.#offsets, row + 1);
    let hash = 0x811c9dc5;
    for (let at = offsetAt(this.#offsets, row); at < end; at++) {
      hash = Math.imul(hash ^ (this.bytes[at] as number), 0x01000193);
    }
    // Similar texts differ in few bits until all of them are mixed.
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    return hash ^ (hash >>> 16);
  }

  equals(row: number, other: ByteKeys, otherRow: number): boolean {
    const begin = offsetAt(this.#offsets, row);
    const length = offsetAt(this.#offsets, row + 1) - begin;
    const start = offsetAt(other.#offsets, otherRow);
    if (offsetAt(other.#offsets, otherRow + 1) - start !== length) return false;
    for (let at = 0; at < length; at++) {
      if (this.bytes[begin + at] !== other.bytes[start + at]) return false;
    }
    return true;
  }
}

const byteKeys = (data: Data): ByteKeys => new ByteKeys(data);

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
