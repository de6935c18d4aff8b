/**
 * `ColumnDigest` digests the values of a column, in order, by SHA-256, so that columns of any
 * length can be compared in the memory of one record batch. `add` takes rows, and `finish` returns
 * the digest, after which nothing can be added. Columns of one type with the same values have the
 * same digest, however they are cut into record batches and whatever bytes lie under nulls. Numbers
 * count by their bytes, so 0 and -0 differ. Dictionaries must hold texts or bytes; unions are not
 * supported.
 */

import { createHash, type Hash } from 'node:crypto';
import {
  Binary,
  bytesOf,
  byteWidth,
  childFields,
  type Data,
  type DataType,
  gatherData,
  getBit,
  layoutOf,
  type Offsets,
  strideOf,
  type TypedArray,
  type Vector,
} from '../../arrow/index.ts';
import { plainColumn } from '../../format/index.ts';

const DIGEST_BYTES = 32;

/** The values of dictionaries must be texts or bytes. */
export class ColumnDigest {
  /** Digests which rows are not null, and the lengths of those that vary. */
  readonly #rows: Hash = createHash('sha256');
  readonly #values: Hash = createHash('sha256');
  readonly #children: readonly ColumnDigest[];
  #items: ItemDigests | undefined;

  constructor(type: DataType) {
    this.#children = childFields(type).map((child) => new ColumnDigest(child.type));
  }

  /** Adds the rows of a column of the type. */
  add(data: Data): void {
    const { type } = data;
    const valid = validRows(data);
    switch (layoutOf(type)) {
      case 'null':
        this.#rows.update(valid);
        return;
      case 'bits': {
        const bits = data.values as Uint8Array;
        const set = (row: number): boolean => getBit(bits, data.offset + row);
        this.#rows.update(valid);
        this.#values.update(valid.map((isValid, row) => (isValid === 1 && set(row) ? 1 : 0)));
        return;
      }
      case 'fixed':
        this.#rows.update(valid);
        this.#values.update(withoutNulls(data, valid));
        return;
      case 'view':
        this.add(plainColumn(data, new Binary(), 'values'));
        return;
      case 'binary':
        for (const [from, to] of this.#spans(data, valid))
          this.#values.update(data.values.subarray(from, to));
        return;
      case 'list':
        for (const [from, to] of this.#spans(data, valid)) this.#addChildren(data, from, to);
        return;
      case 'fixed-list': {
        const size = strideOf(type);
        this.#rows.update(valid);
        for (const [from, to] of runsOf(valid)) this.#addChildren(data, from * size, to * size);
        return;
      }
      case 'dictionary':
        this.#addItems(data, valid);
        return;
      default:
        this.#rows.update(valid);
        for (const [from, to] of runsOf(valid)) this.#addChildren(data, from, to);
    }
  }

  /** The digest of all rows so far; nothing can be added afterwards. */
  finish(): string {
    const below = this.#children.map((child) => child.finish());
    return [this.#rows.digest('hex'), this.#values.digest('hex'), ...below].join();
  }

  #addChildren({ children }: Data, from: number, to: number): void {
    for (const [at, child] of children.entries()) this.#children[at]?.add(rowsOf(child, from, to));
  }

  /**
   * Adds how long the rows are. Gives the bytes, or items, of valid rows, those side by side at
   * once.
   */
  *#spans(data: Data, valid: Uint8Array): Generator<readonly [from: number, to: number]> {
    const offsets = data.valueOffsets as Offsets;
    const lengths = new Float64Array(valid.length);
    const used = valid.slice();
    for (let row = 0; row < valid.length; row++) {
      const length = Number(offsets[row + 1]) - Number(offsets[row]);
      lengths[row] = valid[row] === 1 ? length : -1;
      if (length === 0) used[row] = 1;
    }
    this.#rows.update(bytesOf(lengths));
    for (const [from, to] of runsOf(used)) yield [Number(offsets[from]), Number(offsets[to])];
  }

  /** Values stand in a dictionary in any order, so digests of them tell one row from another. */
  #addItems(data: Data, valid: Uint8Array): void {
    const dictionary = data.dictionary as Vector;
    if (this.#items?.dictionary !== dictionary) this.#items = itemDigests(dictionary);
    const { digests, present } = this.#items;
    const indices = data.values as TypedArray;
    const rows = new Uint8Array(valid.length * DIGEST_BYTES);
    for (let row = 0; row < valid.length; row++) {
      const item = Number(indices[row]);
      if (valid[row] === 1 && present[item] === 1) {
        const at = item * DIGEST_BYTES;
        rows.set(digests.subarray(at, at + DIGEST_BYTES), row * DIGEST_BYTES);
      } else valid[row] = 0;
    }
    this.#rows.update(valid);
    this.#values.update(rows);
  }
}

/** A byte for each row: 1 where there is a value. */
function validRows({ type, length, nullCount, nullBitmap, offset }: Data): Uint8Array {
  const isNull = layoutOf(type) === 'null';
  const valid = new Uint8Array(length).fill(isNull ? 0 : 1);
  if (isNull || nullCount === 0) return valid;
  for (let row = 0; row < length; row++) if (!getBit(nullBitmap, offset + row)) valid[row] = 0;
  return valid;
}

/** The bytes of values of one width, zeros in the place of nulls. */
function withoutNulls(data: Data, valid: Uint8Array): Uint8Array {
  const width = byteWidth(data.type);
  const bytes = bytesOf(data.values as TypedArray).subarray(0, data.length * width);
  if (data.nullCount === 0) return bytes;
  const copy = bytes.slice();
  for (let row = valid.indexOf(0); row >= 0; row = valid.indexOf(0, row + 1))
    copy.fill(0, row * width, (row + 1) * width);
  return copy;
}

/** Runs of bytes that are set, each from its first to before its end. */
function* runsOf(used: Uint8Array): Generator<readonly [from: number, to: number]> {
  let from = used.indexOf(1);
  while (from >= 0) {
    const end = used.indexOf(0, from);
    const to = end < 0 ? used.length : end;
    yield [from, to];
    from = end < 0 ? -1 : used.indexOf(1, to);
  }
}

function rowsOf(data: Data, from: number, to: number): Data {
  if (from === 0 && to === data.length) return data;
  const rows = Uint32Array.from({ length: to - from }, (_, at) => from + at);
  return gatherData(data, rows);
}

interface ItemDigests {
  readonly dictionary: Vector;
  readonly digests: Uint8Array;
  /** A byte for each item: 0 where it is null. */
  readonly present: Uint8Array;
}

/** Digests the items of a dictionary, which in Lance's files are texts or bytes. */
function itemDigests(dictionary: Vector): ItemDigests {
  const digests = new Uint8Array(dictionary.length * DIGEST_BYTES);
  const present = new Uint8Array(dictionary.length);
  let first = 0;
  for (const chunk of dictionary.data) {
    const { values, length } = chunk;
    const offsets = chunk.valueOffsets as Offsets;
    present.set(validRows(chunk), first);
    for (let item = 0; item < length; item++) {
      const bytes = values.subarray(Number(offsets[item]), Number(offsets[item + 1]));
      const digest = createHash('sha256').update(bytes).digest();
      digests.set(digest, (first + item) * DIGEST_BYTES);
    }
    first += length;
  }
  return { dictionary, digests, present };
}
