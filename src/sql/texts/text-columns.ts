/**
 * Reads and changes the layout of text columns, for functions that work on their bytes. `spanOf`
 * tells between which bytes the texts lie, and `isAscii` whether all of these are ASCII. `gathered`
 * copies the texts one after the other if they lie far apart. `textBytes` gives computed texts in
 * UTF-8. `TextWriter` writes a new column in
 * that way: `bytes` adds to the text of a row, `end` has to be called behind each row, and `column`
 * returns the result. Both claim the memory of the copy from the request's budget. `copyText`
 * copies few bytes fast. A column's values have at most `MOST_COLUMN_BYTES` bytes, and
 * `checkColumnBytes` refuses more.
 */
import type { DataType } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import type { BatchMemory } from '../../request-memory.ts';
import {
  type BytesColumn,
  type Column,
  reader,
  type Validity,
  validityOf,
} from '../typed/index.ts';
import { textKernels } from './text-kernels.ts';

/** Bytes that the values of a column have together at most: offsets of 32 bits reach no further. */
export const MOST_COLUMN_BYTES = 2 ** 31 - 1;

interface Span {
  /** Between the first byte of a text and the last one. */
  readonly from: number;
  readonly to: number;
  /** Of all texts together: more than the span where texts share bytes. */
  readonly bytes: number;
}

export function spanOf({ starts, ends, length, dense }: BytesColumn): Span {
  if (length === 0) return { from: 0, to: 0, bytes: 0 };
  if (dense) {
    const [from, to] = [starts[0] as number, ends[length - 1] as number];
    return { from, to, bytes: to - from };
  }
  let [from, to, bytes] = [starts[0] as number, ends[0] as number, 0];
  for (let row = 0; row < length; row++) {
    const [start, end] = [starts[row] as number, ends[row] as number];
    if (start < from) from = start;
    if (end > to) to = end;
    bytes += end - start;
  }
  return { from, to, bytes };
}

/** Bytes that lie between texts of a column and are gone through as well. */
const GAPS = 1 << 16;

/** Texts whose bytes lie together: the column itself, or one with copies. */
export function gathered(column: BytesColumn, memory: BatchMemory): BytesColumn {
  if (column.dense) return column;
  const { from, to, bytes } = spanOf(column);
  return to - from <= 2 * bytes + GAPS ? column : packedTexts(column, memory, bytes);
}

/** The same texts, one after the other. @param bytes of all of them */
function packedTexts(column: BytesColumn, memory: BatchMemory, bytes: number): BytesColumn {
  const writer = new TextWriter(column.length, bytes, memory);
  const { starts, ends } = column;
  const source = wordBytes(column.data);
  for (let row = 0; row < column.length; row++) {
    writer.bytes(source, starts[row] as number, ends[row] as number);
    writer.end();
  }
  return writer.column(column.type, column.valid);
}

/** @throws InvalidInput for more bytes than the values of a column have */
export function checkColumnBytes(bytes: number): void {
  if (bytes <= MOST_COLUMN_BYTES) return;
  throw new DirspaceError(
    'InvalidInput',
    `The values of one batch of rows have ${bytes} bytes or more, and a column holds ${MOST_COLUMN_BYTES} at most. Compute shorter values.`,
  );
}

/** Bytes of computed texts that are written between two steps. */
const STEP_BYTES = 1 << 16;

/** A column of texts in UTF-8: the column itself, or one of the texts that were computed. */
export function* textBytes(column: Column, memory: BatchMemory): Generator<void, BytesColumn> {
  if (column.form === 'bytes') return column;
  const { type, length } = column;
  const read = reader(column);
  const starts = new Int32Array(length);
  const ends = new Int32Array(length);
  const isConstant = column.form === 'constant';
  const rows = isConstant ? Math.min(1, length) : length;
  let bytes = 0;
  for (let row = 0, work = 0; row < rows; row++) {
    const text = read(row) ?? null;
    const size = text === null ? 0 : Buffer.byteLength(text as string);
    memory.take(size);
    starts[row] = bytes;
    bytes += size;
    checkColumnBytes(bytes);
    ends[row] = bytes;
    work += size;
    if (work < STEP_BYTES) continue;
    work = 0;
    yield;
  }
  const data = Buffer.allocUnsafeSlow(bytes);
  for (let row = 0, work = 0; row < rows; row++) {
    const text = read(row) ?? null;
    if (text !== null) work += data.write(text as string, starts[row] as number);
    if (work < STEP_BYTES) continue;
    work = 0;
    yield;
  }
  if (isConstant) ends.fill(bytes);
  return {
    form: 'bytes',
    type,
    length,
    data,
    starts,
    ends,
    dense: !isConstant,
    valid: validityOf(column),
  };
}

/** Whether all bytes between the first text and the last are ASCII; false where nothing tells it fast. */
export function isAscii(column: BytesColumn): boolean {
  const kernels = textKernels();
  if (kernels === null) return false;
  const { from, to, bytes } = spanOf(column);
  if (to - from > 2 * bytes + GAPS) return false;
  return kernels.firstHigh(column.data, from, to) === to;
}

/** Longer ones are copied by the runtime. */
const SHORT_COPY = 160;

/** Bytes with a view of them that reads four at once. */
export interface WordBytes {
  readonly data: Uint8Array;
  readonly words: DataView;
}

export const wordBytes = (data: Uint8Array): WordBytes => ({
  data,
  words: new DataView(data.buffer, data.byteOffset, data.byteLength),
});

/** Copies the bytes `from` to `to`, four at a time: a block copy of few takes longer to set up. */
export function copyText(
  { data, words }: WordBytes,
  from: number,
  to: number,
  into: WordBytes,
  at: number,
): void {
  const shift = at - from;
  if (to - from > SHORT_COPY) {
    into.data.set(data.subarray(from, to), at);
    return;
  }
  let next = from;
  if (to - from < 4) {
    for (; next < to; next++) into.data[next + shift] = data[next] as number;
    return;
  }
  const last = to - 4;
  for (; next < last; next += 4) {
    into.words.setInt32(next + shift, words.getInt32(next, true), true);
  }
  into.words.setInt32(last + shift, words.getInt32(last, true), true);
}

/** Writes the texts of a column, one row after the other, into memory that is known to suffice. */
export class TextWriter {
  readonly #data: Uint8Array;
  readonly #into: WordBytes;
  readonly #offsets: Int32Array;
  #at = 0;
  #row = 0;

  /** @param bytes that are written at most */
  constructor(rows: number, bytes: number, memory: BatchMemory) {
    memory.take(bytes);
    this.#data = Buffer.allocUnsafeSlow(bytes);
    this.#into = wordBytes(this.#data);
    this.#offsets = new Int32Array(rows + 1);
  }

  /** Adds bytes to the text of the row. */
  bytes(source: WordBytes, from: number, to: number): void {
    if (to <= from) return;
    copyText(source, from, to, this.#into, this.#at);
    this.#at += to - from;
  }

  /** Adds the bytes of ASCII in the opposite order. */
  reversed(data: Uint8Array, from: number, to: number): void {
    const out = this.#data;
    let at = this.#at;
    for (let k = to - 1; k >= from; k--) out[at++] = data[k] as number;
    this.#at = at;
  }

  /** Ends the text of the row. */
  end(): void {
    this.#offsets[++this.#row] = this.#at;
  }

  column(type: DataType, valid: Validity): BytesColumn {
    return denseColumn(type, this.#data, this.#offsets.subarray(0, this.#row + 1), valid);
  }
}

/** Values that lie one after the other: row i from the i-th of the offsets to the next one. */
export const denseColumn = (
  type: DataType,
  data: Uint8Array,
  offsets: Int32Array,
  valid: Validity,
): BytesColumn => ({
  ...{ form: 'bytes', type, length: offsets.length - 1, data },
  ...{ starts: offsets.subarray(0, -1), ends: offsets.subarray(1), dense: true, valid },
});
