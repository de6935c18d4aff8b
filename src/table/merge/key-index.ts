/**
 * `indexKeys` builds an index of rows in memory by their key columns; its `match` finds for rows of
 * other record batches the first indexed row with the same key, or -1, and `firsts` holds that of
 * the indexed rows themselves. `indexKeys` and `match` are generators, so that the caller can yield
 * between steps. A key with a null in it matches nothing; NaN equals NaN, and 0 equals -0. Lists,
 * structs and unions as keys throw InvalidInput, and so does a single key column of texts or bytes
 * of more than 2 GiB.
 */
import {
  type Data,
  DataType,
  type Dictionary,
  describeType,
  gather,
  getBit,
  type Layout,
  layoutOf,
  NO_BYTES,
  type Offsets,
  offsetAt,
  type Vector,
  validityOf,
} from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { inSlices } from '../../steps.ts';
import { KeyFilter } from './key-filter.ts';
import { hashBytes, hashWords } from './key-hash.ts';
import { keyTexts } from './key-texts.ts';

/** Its steps take a few milliseconds at most. */
export interface KeyIndex {
  /** For every indexed row the first row with its key; -1 for a null key. */
  readonly firsts: Int32Array;
  /** For every row of these columns the first indexed row with its key, or -1. */
  match(columns: readonly Data[], rows: number): Generator<void, Int32Array>;
}

/** Consecutive rows: the key columns, all of so many rows and of types that have an order. */
export type KeyChunk = readonly Data[];

const rowsOf = ([first]: KeyChunk): number => first?.length ?? 0;

/** Rows handled between two steps. */
const STEP_ROWS = 16_384;
/** And of those whose keys are made into texts. */
const FEW_ROWS = 2_048;
/** Once so many rows of a step pass the filter, most rows match, and it is asked for no more of them. */
const MOST_PASSED = 1_024;

/**
 * @param types of the key columns
 * @throws InvalidInput for keys that are lists, structs and the like
 */
export function* indexKeys(
  types: readonly DataType[],
  chunks: readonly KeyChunk[],
): Generator<void, KeyIndex> {
  const rows = chunks.reduce((sum, chunk) => sum + rowsOf(chunk), 0);
  const [only] = types;
  const index =
    types.length === 1 && DataType.isDictionary(only)
      ? yield* CodeIndex.of(only, chunks, rows)
      : emptyIndex(types, chunks, rows);
  let start = 0;
  for (const chunk of chunks) {
    yield* index.add(chunk, start);
    start += rowsOf(chunk);
  }
  return index;
}

interface GrowingIndex extends KeyIndex {
  /** Takes the next rows, of which the first has the number `start`. */
  add(chunk: KeyChunk, start: number): Generator<void>;
}

function emptyIndex(
  types: readonly DataType[],
  chunks: readonly KeyChunk[],
  rows: number,
): GrowingIndex {
  const [only] = types;
  if (only !== undefined && types.length === 1) {
    if (isWhole(only)) return new WordIndex(rows);
    if (isBytes(only)) return new ByteIndex(chunks, rows);
  }
  for (const type of types) {
    if (NESTED.has(layoutOf(type))) {
      throw new DirspaceError('InvalidInput', `A ${describeType(type)} cannot be a key.`);
    }
  }
  return new TextIndex(rows);
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

/** 64-bit numbers as pairs of words: a bigint per row would be an object per row. */
class WordIndex implements GrowingIndex {
  readonly firsts: Int32Array;
  readonly #filter: KeyFilter;
  readonly #slots: Int32Array;
  readonly #words: Int32Array;

  constructor(rows: number) {
    this.#filter = new KeyFilter(rows);
    this.firsts = new Int32Array(rows);
    this.#slots = emptySlots(rows);
    this.#words = new Int32Array(rows * 2);
  }

  *add([column]: KeyChunk, start: number): Generator<void> {
    if (column === undefined) return;
    this.#words.set(wordsOf(column), start * 2);
    yield* this.#find(column, this.firsts, start);
  }

  *match([column]: KeyChunk, rows: number): Generator<void, Int32Array> {
    const found = new Int32Array(rows);
    yield* this.#find(column as Data, found, -1);
    return found;
  }

  /**
   * Rows that are not known are added, as rows from `start` on, or are -1 where that is below 0.
   */
  *#find(column: Data, found: Int32Array, start: number): Generator<void> {
    const adding = start >= 0;
    const into = Math.max(0, start);
    const filter = this.#filter;
    const slots = this.#slots;
    const words = this.#words;
    const asked = wordsOf(column);
    const validity = validityOf(column);
    const mask = slots.length - 1;
    let passed = 0;
    for (let row = 0; row < column.length; row++) {
      if (row % STEP_ROWS === STEP_ROWS - 1) {
        passed = 0;
        yield;
      }
      if (validity !== undefined && !getBit(validity, column.offset + row)) {
        found[into + row] = -1;
        continue;
      }
      const low = asked[2 * row] as number;
      const high = asked[2 * row + 1] as number;
      if (adding) filter.addWords(low, high);
      else if (passed < MOST_PASSED) {
        if (!filter.mayHaveWords(low, high)) {
          found[into + row] = -1;
          continue;
        }
        passed++;
      }
      let slot = hashWords(low, high) & mask;
      let known = slots[slot] as number;
      while (known >= 0 && (words[2 * known] !== low || words[2 * known + 1] !== high)) {
        slot = (slot + 1) & mask;
        known = slots[slot] as number;
      }
      if (known < 0 && adding) {
        known = into + row;
        slots[slot] = known;
      }
      found[into + row] = known;
    }
  }
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
class ByteIndex implements GrowingIndex {
  readonly firsts: Int32Array;
  readonly #filter: KeyFilter;
  readonly #slots: Int32Array;
  readonly #bytes: Uint8Array;
  readonly #ends: Int32Array;

  constructor(chunks: readonly KeyChunk[], rows: number) {
    this.#filter = new KeyFilter(rows);
    this.#slots = emptySlots(rows);
    let bytes = 0;
    for (const [column] of chunks) {
      if (column === undefined) continue;
      const ends = endsOf(column);
      bytes += (ends[column.length] as number) - (ends[0] as number);
    }
    if (bytes > 0x7fff_ffff) throw tooLong();
    this.#bytes = new Uint8Array(bytes);
    this.#ends = new Int32Array(rows + 1);
    this.firsts = new Int32Array(rows);
  }

  *add([column]: KeyChunk, start: number): Generator<void> {
    if (column === undefined) return;
    const ends = endsOf(column);
    const from = ends[0] as number;
    const base = this.#ends[start] as number;
    const bytes = (column.values ?? NO_BYTES) as Uint8Array;
    this.#bytes.set(bytes.subarray(from, ends[column.length]), base);
    for (let row = 1; row <= column.length; row++) {
      this.#ends[start + row] = base + (ends[row] as number) - from;
    }
    yield;
    yield* this.#find(column, this.firsts, start);
  }

  *match([column]: KeyChunk, rows: number): Generator<void, Int32Array> {
    const found = new Int32Array(rows);
    yield* this.#find(column as Data, found, -1);
    return found;
  }

  /**
   * Rows that are not known are added, as rows from `start` on, or are -1 where that is below 0.
   */
  *#find(column: Data, found: Int32Array, start: number): Generator<void> {
    const adding = start >= 0;
    const into = Math.max(0, start);
    const asked = (column.values ?? NO_BYTES) as Uint8Array;
    const view = new DataView(asked.buffer, asked.byteOffset, asked.byteLength);
    const askedEnds = endsOf(column);
    const validity = validityOf(column);
    const filter = this.#filter;
    const slots = this.#slots;
    const bytes = this.#bytes;
    const ends = this.#ends;
    const mask = slots.length - 1;
    let passed = 0;
    for (let row = 0; row < column.length; row++) {
      if (row % STEP_ROWS === STEP_ROWS - 1) {
        passed = 0;
        yield;
      }
      if (validity !== undefined && !getBit(validity, column.offset + row)) {
        found[into + row] = -1;
        continue;
      }
      const begin = askedEnds[row] as number;
      const length = (askedEnds[row + 1] as number) - begin;
      if (adding) filter.addBytes(view, begin, length);
      else if (passed < MOST_PASSED) {
        if (!filter.mayHaveBytes(view, begin, length)) {
          found[into + row] = -1;
          continue;
        }
        passed++;
      }
      let slot = hashBytes(view, begin, length) & mask;
      let known = slots[slot] as number;
      while (known >= 0) {
        const first = ends[known] as number;
        const same = (ends[known + 1] as number) - first === length;
        if (same && sameBytes(asked, begin, bytes, first, length)) break;
        slot = (slot + 1) & mask;
        known = slots[slot] as number;
      }
      if (known < 0 && adding) {
        known = into + row;
        slots[slot] = known;
      }
      found[into + row] = known;
    }
  }
}

/** Offsets as 32-bit numbers; a batch holds no more bytes than they count. */
function endsOf(data: Data): Int32Array {
  const offsets = data.valueOffsets as Offsets;
  if (offsets instanceof Int32Array) return offsets;
  if (offsetAt(offsets, data.length) > 0x7fff_ffff) throw tooLong();
  return Int32Array.from(offsets, Number);
}

const tooLong = (): DirspaceError =>
  new DirspaceError('InvalidInput', 'Keys of more than 2 GiB do not fit one merge.');

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

/** The number of a value that was not looked up yet. */
const UNKNOWN = -2;
/** Dictionaries whose values stay looked up: each batch of a table may have one of its own. */
const MOST_DICTIONARIES = 16;

/** Codes of a dictionary, whose values are indexed and looked up in place of those of rows. */
class CodeIndex implements GrowingIndex {
  readonly firsts: Int32Array;
  readonly #values: KeyIndex;
  /** The first row of each value, by its number in `#values`. */
  readonly #rows: Int32Array;
  /** By dictionary the number in `#values` of each of its values, -1 for one that is not there. */
  readonly #numbers = new Map<Vector, Int32Array>();

  private constructor(rows: number, values: KeyIndex) {
    this.firsts = new Int32Array(rows);
    this.#values = values;
    this.#rows = new Int32Array(values.firsts.length).fill(-1);
  }

  static *of(
    type: Dictionary,
    chunks: readonly KeyChunk[],
    rows: number,
  ): Generator<void, CodeIndex> {
    const seen = new Map<Vector, Int32Array>();
    const values: Data[] = [];
    for (const [column] of chunks) {
      const { dictionary } = column ?? {};
      if (column === undefined || dictionary === undefined) continue;
      const codes = yield* newCodes(column, numbersIn(dictionary, seen));
      if (codes.length > 0) values.push(gather(dictionary, codes));
    }
    const keys = values.map((data) => [data]);
    return new CodeIndex(rows, yield* indexKeys([type.dictionary], keys));
  }

  *add([column]: KeyChunk, start: number): Generator<void> {
    if (column === undefined) return;
    const numbers = yield* this.#learned(column);
    yield* inSlices(column.length, STEP_ROWS, (from, to) => {
      const found = rowNumbers(column, numbers, from, to);
      for (let at = 0; at < found.length; at++) {
        const number = found[at] as number;
        const row = start + from + at;
        if (number >= 0 && this.#rows[number] === -1) this.#rows[number] = row;
        this.firsts[row] = number < 0 ? -1 : (this.#rows[number] as number);
      }
    });
  }

  *match([column]: KeyChunk, rows: number): Generator<void, Int32Array> {
    const found = new Int32Array(rows);
    const numbers = yield* this.#learned(column as Data);
    yield* inSlices(rows, STEP_ROWS, (from, to) => {
      const known = rowNumbers(column as Data, numbers, from, to);
      for (let at = 0; at < known.length; at++) {
        const number = known[at] as number;
        found[from + at] = number < 0 ? -1 : (this.#rows[number] as number);
      }
    });
    return found;
  }

  /** The numbers of the values of a dictionary, those of the column's rows among them. */
  *#learned(column: Data): Generator<void, Int32Array> {
    const { dictionary } = column;
    if (dictionary === undefined) return new Int32Array(0);
    if (this.#numbers.size >= MOST_DICTIONARIES && !this.#numbers.has(dictionary)) {
      this.#numbers.clear();
    }
    const numbers = numbersIn(dictionary, this.#numbers);
    const codes = yield* newCodes(column, numbers);
    if (codes.length === 0) return numbers;
    const found = yield* this.#values.match([gather(dictionary, codes)], codes.length);
    for (let at = 0; at < codes.length; at++) {
      const number = found[at] as number;
      numbers[codes[at] as number] = number;
    }
    return numbers;
  }
}

function numbersIn(dictionary: Vector, known: Map<Vector, Int32Array>): Int32Array {
  const numbers = known.get(dictionary) ?? new Int32Array(dictionary.length).fill(UNKNOWN);
  known.set(dictionary, numbers);
  return numbers;
}

/** The codes of a column whose numbers are unknown, once each; they are -1 then. */
function* newCodes(column: Data, numbers: Int32Array): Generator<void, Uint32Array> {
  const codes = column.values as unknown as ArrayLike<number | bigint>;
  const found = new Uint32Array(Math.min(column.length, numbers.length));
  let count = 0;
  yield* inSlices(column.length, STEP_ROWS, (from, to) => {
    const known = rowNumbers(column, numbers, from, to);
    for (let at = 0; at < known.length; at++) {
      const code = Number(codes[from + at]);
      if (known[at] !== UNKNOWN || numbers[code] !== UNKNOWN) continue;
      numbers[code] = -1;
      found[count++] = code;
    }
  });
  return found.subarray(0, count);
}

/** The number of the value of each of some rows, -1 for a null. */
function rowNumbers(column: Data, numbers: Int32Array, from: number, to: number): Int32Array {
  const validity = validityOf(column);
  const codes = column.values as unknown as ArrayLike<number | bigint>;
  const found = new Int32Array(to - from);
  for (let row = from; row < to; row++) {
    const isNull = validity !== undefined && !getBit(validity, column.offset + row);
    found[row - from] = isNull ? -1 : (numbers[Number(codes[row])] ?? -1);
  }
  return found;
}

/** Several columns, or a type without a form of its own above: keys as texts. */
class TextIndex implements GrowingIndex {
  readonly firsts: Int32Array;
  readonly #rows = new Map<string, number>();

  constructor(rows: number) {
    this.firsts = new Int32Array(rows);
  }

  *add(chunk: KeyChunk, start: number): Generator<void> {
    const keyOf = keyTexts(chunk);
    const rows = rowsOf(chunk);
    for (let at = 0; at < rows; at++) {
      if (at % FEW_ROWS === FEW_ROWS - 1) yield;
      const key = keyOf(at);
      const row = start + at;
      const known = key === undefined ? -1 : (this.#rows.get(key) ?? row);
      if (known === row) this.#rows.set(key as string, row);
      this.firsts[row] = known;
    }
  }

  *match(chunk: KeyChunk, rows: number): Generator<void, Int32Array> {
    const found = new Int32Array(rows);
    const keyOf = keyTexts(chunk);
    for (let row = 0; row < rows; row++) {
      if (row % FEW_ROWS === FEW_ROWS - 1) yield;
      const key = keyOf(row);
      found[row] = key === undefined ? -1 : (this.#rows.get(key) ?? -1);
    }
    return found;
  }
}
