/**
 * `ValueNumbers` numbers the values of one column of any type, so that equal values have the same
 * number in every batch. Null has number 0, both zeros have one number, and so have all NaNs.
 * `find` adds no values, and gives 0 for unknown ones; `column` turns numbers back into values.
 * The entries of a dictionary are numbered once for all batches that share it. `wordsOf` gives the
 * values of a column as two 32-bit words each, for the types of which `isOfWords` is true.
 */
import type { Data, DataType, Vector } from '../../arrow/index.ts';
import {
  type Column,
  columnOf,
  dictionaryParts,
  dictionaryRows,
  type EntryValues,
  exactText,
  familyOf,
  gatherColumn,
  isWide,
  reader,
  type Validity,
  type Value,
  validityOf,
} from '../../sql/index.ts';
import { ByteTable } from './byte-table.ts';
import { DenseIntegers } from './dense-integers.ts';
import { SpareWords } from './spare-words.ts';
import { WordTable } from './word-table.ts';

/** How the values of a type are held. */
type Kind = 'words' | 'bytes' | 'values';

/** Whether values of a type are held as two words each. */
export const isOfWords = (type: DataType): boolean => kindOf(type) === 'words';

function kindOf(type: DataType): Kind {
  switch (familyOf(type)) {
    case 'bool':
    case 'int':
    case 'float':
    case 'date':
    case 'time':
    case 'timestamp':
    case 'duration':
      return 'words';
    case 'text':
    case 'bytes':
      return 'bytes';
    default:
      return 'values';
  }
}

/** Bytes of a value in a JavaScript map, apart from its text. */
const VALUE_BYTES = 100;

/** A column, data that has a dictionary, or values of entries and the entry of each row. */
export type KeyColumn = Column | Data | EntryValues;

/**
 * The entries of a dictionary with null at the end, and their numbers as far as they were asked
 * for.
 */
interface KnownDictionary {
  readonly values: Column;
  readonly numbers: Int32Array;
}

const UNASKED = -1;

export class ValueNumbers {
  readonly #type: DataType;
  readonly #kind: Kind;
  readonly #words = new WordTable();
  readonly #dense = new DenseIntegers(this.#words);
  readonly #texts = new ByteTable();
  readonly #numbers = new Map<unknown, number>();
  readonly #values: Value[] = [];
  readonly #dictionaries = new WeakMap<Vector, KnownDictionary>();
  readonly #found = new SpareWords();
  #valueBytes = 0;

  /** @param type of the values, without a dictionary around it */
  constructor(type: DataType) {
    this.#type = type;
    this.#kind = kindOf(type);
  }

  /** All numbers given are below. */
  get size(): number {
    switch (this.#kind) {
      case 'words':
        return this.#words.size + 1;
      case 'bytes':
        return this.#texts.size + 1;
      default:
        return this.#values.length + 1;
    }
  }

  get bytes(): number {
    const ofWords = this.#words.bytes + this.#dense.bytes;
    const ofTable = this.#kind === 'words' ? ofWords : this.#texts.bytes;
    return ofTable + this.#valueBytes + this.#found.bytes;
  }

  /** Says that so many rows will be added, most of which have values of their own. */
  expect(rows: number): void {
    this.#dense.expect(rows);
  }

  /** Makes room for the values of so many rows, in steps where that takes long. */
  *reserve(rows: number): Generator<void, void> {
    if (this.#kind === 'words') yield* this.#words.reserve(rows);
    else if (this.#kind === 'bytes') yield* this.#texts.reserve(rows);
  }

  /** The number of each row: 0 for null, from 1 on for others. New values are given new ones. */
  add(column: KeyColumn): Int32Array {
    if ('rows' in column) return this.#ofEntries(column);
    return 'form' in column ? this.#added(column) : this.#ofDictionary(column);
  }

  /** Looks up the entries that rows have, each once. */
  #ofEntries({ values, rows }: EntryValues): Int32Array {
    const places = new Int32Array(values.length).fill(UNASKED);
    const asked = new Uint32Array(values.length);
    let count = 0;
    for (let row = 0; row < rows.length; row++) {
      const entry = rows[row] as number;
      if (places[entry] !== UNASKED) continue;
      places[entry] = count;
      asked[count++] = entry;
    }
    const numbers = this.#added(gatherColumn(values, asked.subarray(0, count)));
    const out = new Int32Array(rows.length);
    for (let row = 0; row < rows.length; row++) {
      out[row] = numbers[places[rows[row] as number] as number] as number;
    }
    return out;
  }

  /** Entries are looked up once for all batches that share a dictionary, those that rows have. */
  #ofDictionary(data: Data): Int32Array {
    const dictionary = data.dictionary as Vector;
    let known = this.#dictionaries.get(dictionary);
    if (known === undefined) {
      const { values } = dictionaryParts(data);
      known = { values, numbers: new Int32Array(values.length).fill(UNASKED) };
      this.#dictionaries.set(dictionary, known);
    }
    const { values, numbers } = known;
    const { values: indices } = data;
    const rows =
      indices instanceof Int32Array && data.nullCount === 0
        ? indices
        : dictionaryRows(data, numbers.length - 1);
    const out = new Int32Array(data.length);
    if (!isFilled(rows, numbers, out)) {
      const asked: number[] = [];
      for (let row = 0; row < out.length; row++) {
        const entry = entryOf(rows[row] as number, numbers);
        if (numbers[entry] !== UNASKED) continue;
        numbers[entry] = 0;
        asked.push(entry);
      }
      const given = this.#added(gatherColumn(values, Uint32Array.from(asked)));
      for (const [at, entry] of asked.entries()) numbers[entry] = given[at] as number;
      isFilled(rows, numbers, out);
    }
    return out;
  }

  /**
   * Does the same without adding: values that did not occur before give 0 too. The result is valid
   * until the next call.
   */
  find(column: Column): Int32Array {
    return this.#of(column, false, this.#found.take(column.length).fill(0));
  }

  #added(column: Column): Int32Array {
    return this.#of(column, true, new Int32Array(column.length));
  }

  /** @param out of zeros, which it returns */
  #of(column: Column, isAdding: boolean, out: Int32Array): Int32Array {
    if (column.form === 'constant') {
      const one = columnOf(column.type, [column.value]);
      const [number = 0] = this.#of(one, isAdding, new Int32Array(1));
      return out.fill(number);
    }
    if (this.#kind === 'bytes' && column.form === 'bytes') {
      this.#texts.numbers(column, isAdding, out);
    } else if (this.#kind === 'words') {
      if (this.#numberIntegers(column, isAdding, out)) return out;
      this.#numberWords(wordsOf(column), validityOf(column), isAdding, out);
    } else this.#numberOthers(column, isAdding, out);
    return out;
  }

  /** False where the values are none of 32 bits, or lie far apart. */
  #numberIntegers(column: Column, isAdding: boolean, out: Int32Array): boolean {
    if (column.form !== 'number' || !(column.values instanceof Int32Array)) return false;
    if (familyOf(column.type) === 'float') return false;
    return this.#dense.numbers(column.values, validityOf(column), isAdding, out);
  }

  /** Skips nulls: whatever the words hold there is no value. */
  #numberWords(words: Int32Array, valid: Validity, isAdding: boolean, out: Int32Array): void {
    if (valid === null) {
      this.#numberAll(words, isAdding, out);
      return;
    }
    const given = new Int32Array(words.length);
    let count = 0;
    for (let row = 0; row < out.length; row++) {
      if (valid[row] === 0) continue;
      given[2 * count] = words[2 * row] as number;
      given[2 * count + 1] = words[2 * row + 1] as number;
      count++;
    }
    const found = new Int32Array(count);
    this.#numberAll(given.subarray(0, 2 * count), isAdding, found);
    for (let row = 0, at = 0; at < count; row++) {
      if (valid[row] !== 0) out[row] = found[at++] as number;
    }
  }

  #numberAll(words: Int32Array, isAdding: boolean, out: Int32Array): void {
    if (this.#dense.numbers(words, null, isAdding, out)) return;
    if (isAdding) this.#words.numbers(words, out);
    else this.#words.known(words, out);
  }

  #numberOthers(column: Column, isAdding: boolean, out: Int32Array): void {
    const read = reader(column);
    for (let row = 0; row < out.length; row++) {
      const value = read(row);
      if (value === null || value === undefined) continue;
      if (this.#kind === 'bytes') {
        const data = typeof value === 'string' ? Buffer.from(value) : (value as Uint8Array);
        const [starts, ends] = [Int32Array.of(0), Int32Array.of(data.length)];
        const one = out.subarray(row, row + 1);
        this.#texts.numbers({ data, starts, ends, valid: null }, isAdding, one);
        continue;
      }
      const key = keyOf(value);
      let number = this.#numbers.get(key);
      if (number === undefined && isAdding) {
        this.#values.push(value);
        number = this.#values.length;
        this.#numbers.set(key, number);
        this.#valueBytes += VALUE_BYTES + (typeof key === 'string' ? 3 * key.length : 16);
      }
      out[row] = number ?? 0;
    }
  }

  /** The values of these numbers. */
  column(numbers: Int32Array): Column {
    const type = this.#type;
    const { length } = numbers;
    if (this.#kind === 'bytes') {
      return { form: 'bytes', type, length, ...this.#texts.values(numbers), dense: false };
    }
    if (this.#kind === 'words') return this.#ofWords(numbers);
    const values = Array.from(numbers, (number) =>
      number === 0 ? null : this.#values[number - 1],
    );
    return columnOf(type, values);
  }

  #ofWords(numbers: Int32Array): Column {
    const type = this.#type;
    const { length } = numbers;
    const { low, high } = this.#words;
    const family = familyOf(type);
    const words = new Int32Array(length * 2);
    const valid = new Uint8Array(length);
    let nulls = 0;
    for (let row = 0; row < length; row++) {
      const at = (numbers[row] as number) - 1;
      if (at < 0) {
        nulls++;
        continue;
      }
      valid[row] = 1;
      words[2 * row] = low[at] as number;
      words[2 * row + 1] = high[at] as number;
    }
    const known = nulls === 0 ? null : valid;
    if (family === 'bool') {
      const values = new Uint8Array(length);
      for (let row = 0; row < length; row++)
        values[row] = valid[row] === 0 ? 1 : (words[2 * row] ?? 0);
      return { form: 'truth', type, length, values };
    }
    if (family === 'float') {
      return { form: 'number', type, length, values: new Float64Array(words.buffer), valid: known };
    }
    if (isWide(type)) {
      const unsigned = family === 'int' && !(type as unknown as { isSigned: boolean }).isSigned;
      const values = unsigned ? new BigUint64Array(words.buffer) : new BigInt64Array(words.buffer);
      return { form: 'wide', type, length, values, valid: known };
    }
    const values = new Float64Array(length);
    for (let row = 0; row < length; row++) {
      values[row] = (words[2 * row + 1] as number) * 2 ** 32 + ((words[2 * row] as number) >>> 0);
    }
    return { form: 'number', type, length, values, valid: known };
  }
}

/** Two words a row, one to one with the values; those of nulls mean nothing. */
export function wordsOf(column: Column): Int32Array {
  const { length } = column;
  if (column.form === 'wide') {
    const { values } = column;
    if (values instanceof BigInt64Array || values instanceof BigUint64Array) {
      return new Int32Array(values.buffer, values.byteOffset, length * 2);
    }
    const wide = BigInt64Array.from({ length }, (_, row) => BigInt.asIntN(64, values[row] ?? 0n));
    return new Int32Array(wide.buffer);
  }
  const words = new Int32Array(length * 2);
  if (familyOf(column.type) === 'null') return words;
  if (column.form === 'truth') {
    for (let row = 0; row < length; row++) words[2 * row] = column.values[row] as number;
    return words;
  }
  if (column.form !== 'number') {
    const read = reader(column);
    const values = Array.from({ length }, (_, row) => read(row) ?? null);
    return wordsOf(columnOf(column.type, values));
  }
  const { values } = column;
  if (familyOf(column.type) === 'float') {
    const floats = new Float64Array(words.buffer);
    for (let row = 0; row < length; row++) {
      const value = values[row] as number;
      // One zero, and one NaN.
      floats[row] = value === 0 ? 0 : Number.isNaN(value) ? Number.NaN : value;
    }
    return words;
  }
  if (values instanceof Int32Array) {
    for (let row = 0; row < length; row++) {
      const value = values[row] as number;
      words[2 * row] = value;
      words[2 * row + 1] = value >> 31;
    }
    return words;
  }
  for (let row = 0; row < length; row++) {
    const value = values[row] as number;
    words[2 * row] = value;
    words[2 * row + 1] = Math.floor(value / 2 ** 32);
  }
  return words;
}

/** Gives each row the number of its entry. @returns whether all these were asked for */
function isFilled(rows: Int32Array | Uint32Array, numbers: Int32Array, out: Int32Array): boolean {
  let least = 0;
  for (let row = 0; row < out.length; row++) {
    const number = numbers[entryOf(rows[row] as number, numbers)] as number;
    out[row] = number;
    if (number < least) least = number;
  }
  return least > UNASKED;
}

/** The entry of an index into a dictionary; that of null, which is the last, past the end. */
const entryOf = (index: number, { length }: Int32Array): number =>
  index >>> 0 < length ? index : length - 1;

/** The key of a value in a map: equal for equal values alone. */
const keyOf = (value: Value): unknown => (typeof value === 'bigint' ? value : exactText(value));
