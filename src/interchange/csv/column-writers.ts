/**
 * `columnWriter` writes the fields of one column of CSV into Arrow's buffers, batch by batch.
 * Texts, and types that field-stores.ts stores, are written from the bytes of the file without a
 * JavaScript value in between. The caller's function (`BuildColumn`) builds columns of the other
 * types; without this function they throw Unsupported. A field that does not fit throws no error:
 * its row is marked, and the caller takes the rows back by `truncate`. `finish` returns the column.
 */
import {
  bitmapBytes,
  concatData,
  type Data,
  type DataType,
  type Dictionary,
  dataOf,
  type Field,
  setBit,
  Type,
  type TypedArray,
} from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { parseExactJson } from '../json/index.ts';
import { textOf } from './csv-numbers.ts';
import { isNullText } from './csv-options.ts';
import {
  type CsvDialect,
  type CsvScanner,
  ESCAPED,
  QUOTED,
  startOf,
  unescaped,
} from './csv-scanner.ts';
import { mayBeEmpty } from './csv-types.ts';
import { isOfNumbers, pointed } from './decimal-comma.ts';
import { type FieldStore, storeOf } from './field-stores.ts';

/** Makes a column from JavaScript values; a value that does not fit throws TableSchemaValidation. */
export type BuildColumn = (field: Field, values: readonly unknown[]) => Data;

/** One column of the file. */
export interface CsvColumn {
  readonly field: Field;
  /** Its type was found out: only what is written as programs write it counts. */
  readonly isGuessed: boolean;
}

/** What writers of one file share. */
export interface WriterOptions {
  readonly dialect: CsvDialect;
  /** Texts without quotes that are null, beside the empty one. */
  readonly nulls: readonly Uint8Array[];
  /** Whether an empty field without quotes is null. */
  readonly emptyIsNull: boolean;
  /** Numbers have a comma before their fraction. */
  readonly hasDecimalComma: boolean;
  readonly build: BuildColumn | undefined;
  /** Most rows of a batch. */
  readonly batchRows: number;
}

export interface ColumnWriter {
  /** Bytes of the texts so far. */
  readonly size: number;
  /**
   * Adds the field in `column` of all rows of the scanner. Marks rows whose field does not fit in
   * `bad`, and answers whether there are any.
   */
  append(bytes: Uint8Array, scanner: CsvScanner, column: number, bad: Uint8Array): boolean;
  /** Forgets rows from `length` on. */
  truncate(length: number): void;
  /** The rows so far as one column. The writer begins anew. */
  finish(): Data;
}

export function columnWriter(column: CsvColumn, options: WriterOptions): ColumnWriter {
  const { type } = column.field;
  if (type.typeId === Type.Utf8 || type.typeId === Type.LargeUtf8) {
    return new TextWriter(column, options);
  }
  const store = storeOf(type, column.isGuessed);
  if (store === undefined) return new BuiltWriter(column, options);
  const hasComma = options.hasDecimalComma && isOfNumbers(type);
  return new FixedWriter(column, options, hasComma ? withComma(store) : store);
}

/** As the store, of numbers with a decimal comma. */
const withComma = (store: FieldStore): FieldStore => ({
  ...store,
  into: (values) => {
    const put = store.into(values);
    return (bytes, start, end, row) => {
      const number = pointed(bytes, start, end);
      return number !== undefined && put(number, 0, number.length, row);
    };
  },
});

/** Which rows of a batch are null; whether a field is. */
class Nulls {
  readonly #bits: Uint8Array;
  readonly #nulls: readonly Uint8Array[];
  readonly #emptyIsNull: boolean;
  count = 0;

  constructor({ batchRows, nulls, emptyIsNull }: WriterOptions) {
    this.#bits = new Uint8Array(bitmapBytes(batchRows)).fill(255);
    this.#nulls = nulls;
    this.#emptyIsNull = emptyIsNull;
  }

  /** Whether a field without quotes is one of the texts that mean null. */
  means(bytes: Uint8Array, start: number, end: number): boolean {
    return start === end ? this.#emptyIsNull : isNullText(this.#nulls, bytes, start, end);
  }

  add(row: number): void {
    this.#bits[row >> 3]! &= ~(1 << (row & 7));
    this.count++;
  }

  truncate(from: number, to: number): void {
    for (let row = from; row < to; row++) {
      if (((this.#bits[row >> 3] as number) & (1 << (row & 7))) !== 0) continue;
      setBit(this.#bits, row);
      this.count--;
    }
  }

  /** Its parts of a column of so many rows; all rows are valid afterwards. */
  finish(rows: number): { nullCount: number; validity?: Uint8Array } {
    const nullCount = this.count;
    if (nullCount === 0) return { nullCount };
    const validity = this.#bits.slice(0, bitmapBytes(rows));
    this.#bits.fill(255);
    this.count = 0;
    return { nullCount, validity };
  }
}

class FixedWriter implements ColumnWriter {
  readonly size = 0;
  readonly #column: CsvColumn;
  readonly #options: WriterOptions;
  readonly #store: FieldStore;
  readonly #nulls: Nulls;
  #values: TypedArray;
  #put: ReturnType<FieldStore['into']>;
  #length = 0;

  constructor(column: CsvColumn, options: WriterOptions, store: FieldStore) {
    this.#column = column;
    this.#options = options;
    this.#store = store;
    this.#nulls = new Nulls(options);
    this.#values = store.array(options.batchRows);
    this.#put = store.into(this.#values);
  }

  append(bytes: Uint8Array, scanner: CsvScanner, column: number, bad: Uint8Array): boolean {
    const { bounds, rows, columns } = scanner;
    const [nulls, put, base] = [this.#nulls, this.#put, this.#length];
    const { nullable } = this.#column.field;
    let hasBad = false;
    for (let row = 0, slot = 2 * column; row < rows; row++, slot += 2 * columns) {
      const entry = bounds[slot] as number;
      const start = startOf(entry);
      const end = bounds[slot + 1] as number;
      let fits: boolean;
      if (end === start || ((entry & QUOTED) === 0 && nulls.means(bytes, start, end))) {
        // No number is empty, quoted or not.
        nulls.add(base + row);
        fits = nullable;
      } else if ((entry & ESCAPED) !== 0) {
        const plain = unescaped(bytes, start, end, this.#options.dialect);
        fits = put(plain, 0, plain.length, base + row);
      } else fits = put(bytes, start, end, base + row);
      if (fits) continue;
      bad[row] = 1;
      hasBad = true;
    }
    this.#length += rows;
    return hasBad;
  }

  truncate(length: number): void {
    this.#nulls.truncate(length, this.#length);
    // Bits are only ever set where values are stored.
    if (this.#column.field.type.typeId === Type.Bool) {
      const bits = this.#values as Uint8Array;
      for (let row = length; row < this.#length; row++) bits[row >> 3]! &= ~(1 << (row & 7));
    }
    this.#length = length;
  }

  finish(): Data {
    const { type } = this.#column.field;
    const length = this.#length;
    const used = this.#store.length(length);
    const values = this.#values.subarray(0, used);
    // What is handed on must not change when the next batch is written.
    const data = dataOf(type, length, { ...this.#nulls.finish(length), values });
    this.#values = this.#store.array(this.#options.batchRows);
    this.#put = this.#store.into(this.#values);
    this.#length = 0;
    return data;
  }
}

/** Fields of more bytes are copied in one call. */
const SHORT = 32;
/** Room for the texts of a column at first: a file may have tens of thousands of columns. */
const FIRST_BYTES = 1 << 10;

class TextWriter implements ColumnWriter {
  readonly #column: CsvColumn;
  readonly #options: WriterOptions;
  readonly #nulls: Nulls;
  #bytes = new Uint8Array(FIRST_BYTES);
  #offsets: Int32Array;
  #length = 0;

  constructor(column: CsvColumn, options: WriterOptions) {
    this.#column = column;
    this.#options = options;
    this.#nulls = new Nulls(options);
    this.#offsets = new Int32Array(options.batchRows + 1);
  }

  get size(): number {
    return this.#offsets[this.#length] as number;
  }

  append(bytes: Uint8Array, scanner: CsvScanner, column: number, bad: Uint8Array): boolean {
    const { bounds, rows, columns } = scanner;
    const [nulls, offsets, base] = [this.#nulls, this.#offsets, this.#length];
    const { nullable } = this.#column.field;
    let into = this.#bytes;
    let at = this.size;
    let hasBad = false;
    for (let row = 0, slot = 2 * column; row < rows; row++, slot += 2 * columns) {
      const entry = bounds[slot] as number;
      let start = startOf(entry);
      let end = bounds[slot + 1] as number;
      if ((entry & QUOTED) === 0 && nulls.means(bytes, start, end)) {
        nulls.add(base + row);
        if (!nullable) {
          bad[row] = 1;
          hasBad = true;
        }
      } else {
        let from = bytes;
        if ((entry & ESCAPED) !== 0) {
          from = unescaped(bytes, start, end, this.#options.dialect);
          [start, end] = [0, from.length];
        }
        const size = end - start;
        if (at + size > into.length) into = this.#grown(at + size);
        if (size > SHORT) into.set(from.subarray(start, end), at);
        else for (let each = 0; each < size; each++) into[at + each] = from[start + each] as number;
        at += size;
      }
      offsets[base + row + 1] = at;
    }
    this.#length += rows;
    return hasBad;
  }

  #grown(needed: number): Uint8Array<ArrayBuffer> {
    const larger = new Uint8Array(Math.max(needed, 2 * this.#bytes.length));
    larger.set(this.#bytes);
    this.#bytes = larger;
    return larger;
  }

  truncate(length: number): void {
    this.#nulls.truncate(length, this.#length);
    this.#length = length;
  }

  finish(): Data {
    const { type } = this.#column.field;
    const length = this.#length;
    const own = this.#offsets.slice(0, length + 1);
    const offsets = type.typeId === Type.LargeUtf8 ? BigInt64Array.from(own, BigInt) : own;
    const values = this.#bytes.slice(0, this.size);
    this.#length = 0;
    return dataOf(type, length, { ...this.#nulls.finish(length), offsets, values });
  }
}

/** Read from JSON. */
const NESTED: readonly Type[] = [
  ...[Type.List, Type.LargeList, Type.FixedSizeList, Type.Struct, Type.Map, Type.Union],
  Type.Interval,
];

const isJson = (type: DataType): boolean =>
  type.typeId === Type.Dictionary
    ? isJson((type as Dictionary).dictionary)
    : NESTED.includes(type.typeId);

/** Builds columns of the types that have no form in bytes here, window by window. */
class BuiltWriter implements ColumnWriter {
  readonly size = 0;
  readonly #column: CsvColumn;
  readonly #nulls: Nulls;
  readonly #dialect: CsvDialect;
  readonly #build: BuildColumn;
  readonly #hasComma: boolean;
  /** Rows of the windows so far, and the columns made of them. */
  #parts: Data[] = [];
  #length = 0;

  constructor(column: CsvColumn, options: WriterOptions) {
    const { build, dialect } = options;
    if (build === undefined) {
      const { name, type } = column.field;
      const message = `The column ${JSON.stringify(name)} cannot be read as ${type} here.`;
      throw new DirspaceError('Unsupported', message);
    }
    this.#column = column;
    this.#nulls = new Nulls(options);
    this.#dialect = dialect;
    this.#build = build;
    this.#hasComma = options.hasDecimalComma && isOfNumbers(column.field.type);
  }

  append(bytes: Uint8Array, scanner: CsvScanner, column: number, bad: Uint8Array): boolean {
    const { bounds, rows, columns } = scanner;
    const { field } = this.#column;
    const isNested = isJson(field.type);
    const hasEmpty = mayBeEmpty(field.type);
    const values: unknown[] = [];
    let hasBad = false;
    const refuse = (row: number): void => {
      bad[row] = 1;
      hasBad = true;
      values[row] = null;
    };
    for (let row = 0, slot = 2 * column; row < rows; row++, slot += 2 * columns) {
      const entry = bounds[slot] as number;
      const [start, end] = [startOf(entry), bounds[slot + 1] as number];
      const isNone = start === end && !hasEmpty;
      if (isNone || ((entry & QUOTED) === 0 && this.#nulls.means(bytes, start, end))) {
        values.push(null);
      } else {
        const isEscaped = (entry & ESCAPED) !== 0;
        let plain = isEscaped ? unescaped(bytes, start, end, this.#dialect) : undefined;
        if (this.#hasComma) {
          plain ??= bytes.subarray(start, end);
          plain = pointed(plain, 0, plain.length);
          if (plain === undefined) {
            refuse(row);
            continue;
          }
        }
        const text = textOf(plain ?? bytes, plain ? 0 : start, plain ? plain.length : end);
        values.push(text);
        if (!isNested) continue;
        try {
          values[row] = parseExactJson(text);
        } catch {
          refuse(row);
        }
      }
    }
    if (!hasBad && this.#tryBuild(field, values)) return false;
    // One value at a time tells which of them do not fit.
    for (const [row, value] of values.entries()) {
      if (bad[row] === 1 && value === null) continue;
      try {
        this.#build(field, [value]);
      } catch (error) {
        if (!(error instanceof DirspaceError)) throw error;
        refuse(row);
      }
    }
    this.#parts.push(this.#build(field.clone({ nullable: true }), values));
    this.#length += rows;
    return hasBad;
  }

  #tryBuild(field: Field, values: readonly unknown[]): boolean {
    try {
      this.#parts.push(this.#build(field, values));
      this.#length += values.length;
      return true;
    } catch (error) {
      if (!(error instanceof DirspaceError)) throw error;
      return false;
    }
  }

  /** Whole windows only, as the reader takes them back. */
  truncate(length: number): void {
    while (this.#length > length) this.#length -= this.#parts.pop()?.length ?? this.#length;
  }

  finish(): Data {
    const parts = this.#parts.length > 0 ? this.#parts : [this.#build(this.#column.field, [])];
    this.#parts = [];
    this.#length = 0;
    return concatData(parts);
  }
}
