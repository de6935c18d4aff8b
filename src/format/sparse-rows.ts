/**
 * Reading a few rows of a batch without its columns: only the pages that hold them are asked for,
 * and each is verified. Does no I/O: a reader is a generator that yields the ranges it needs and
 * is resumed with their bytes, so that callers may read them one by one, together, now or later.
 */
import { type Data, type DataType, Type } from '../arrow.ts';
import { DirspaceError } from '../errors.ts';
import { aligned } from './alignment.ts';
import { dataOf } from './arrow-data.ts';
import {
  byteWidth,
  childFields,
  hasLargeOffsets,
  layoutOf,
  strideOf,
  valueArray,
} from './arrow-types.ts';
import { bitmapBytes, setBit } from './bitmaps.ts';
import { damagedPage, PAGE_BYTES, pageChecksums } from './checksums.ts';
import { type Dictionaries, decodeColumn } from './column-reader.ts';
import { type ByteRange, chunkAt, type FragmentFooter } from './fragment-decoder.ts';
import type { ColumnChunk } from './fragment-layout.ts';
import { gatherData } from './gather-data.ts';
import { corrupt } from './json.ts';

/**
 * Yields ranges of the file, takes their bytes in the same order, returns the columns, which do not
 * refer to these bytes.
 */
export type RowReader<Result> = Generator<ByteRange[], Result, readonly Uint8Array[]>;

/**
 * Rows of some columns of a batch, in the order asked for, repeats allowed. Asks at most twice.
 * Types whose values lie in many places are read whole, then picked from.
 * @throws Corrupt naming the fragment; InvalidInput for a row the batch does not have
 */
export function* readRows(
  footer: FragmentFooter,
  batchIndex: number,
  columnIndexes: readonly number[],
  rows: Uint32Array,
  dictionaries: Dictionaries = new Map(),
): RowReader<Data[]> {
  const total = footer.batches[batchIndex]?.rows ?? 0;
  for (const row of rows) {
    if (row >= total) {
      throw new DirspaceError('InvalidInput', `Row ${row} is not among ${total} rows.`);
    }
  }
  const readers = columnIndexes.map((column) => {
    const chunk = chunkAt(footer, batchIndex, column);
    const type = footer.schema.fields[column]?.type as DataType;
    const pages = new Pages(footer, chunk, column, batchIndex);
    return readColumn(type, chunk, pages, rows, dictionaries);
  });
  const results = readers.map(() => undefined as Data | undefined);
  // All columns ask together, so that the number of waits does not grow with their number.
  let asking = readers.map((reader, at) => ({ at, reader, step: reader.next() }));
  while (asking.length > 0) {
    const ranges = asking.flatMap(({ step }) => (step.done ? [] : step.value));
    const answers = ranges.length === 0 ? [] : yield ranges;
    let next = 0;
    asking = asking.flatMap(({ at, reader, step }) => {
      if (step.done) {
        results[at] = step.value;
        return [];
      }
      const own = answers.slice(next, next + step.value.length);
      next += step.value.length;
      return [{ at, reader, step: reader.next(own) }];
    });
  }
  return results as Data[];
}

/** Sparse reading pays off while the rows touch few of the pages. */
function* readColumn(
  type: DataType,
  chunk: ColumnChunk,
  pages: Pages,
  rows: Uint32Array,
  dictionaries: Dictionaries,
): RowReader<Data> {
  const places = placesOf(type, chunk);
  if (places === undefined || chunk.bytes <= PAGE_BYTES * 2) {
    yield* pages.load([{ begin: 0, end: chunk.bytes }]);
    const whole = decodeColumn(type, chunk, pages.whole(), dictionaries, (what) =>
      pages.fail(what),
    );
    return gatherData(whole, rows);
  }
  const { validity, offsets, values, width } = places;
  const wanted: Span[] = [];
  for (const row of rows) {
    if (validity !== undefined) wanted.push(spanAt(validity, row >> 3, 1));
    if (offsets !== undefined) wanted.push(spanAt(offsets, row * width, width * 2));
    else if (width === 0) wanted.push(spanAt(values, row >> 3, 1));
    else wanted.push(spanAt(values, row * width, width));
  }
  yield* pages.load(wanted);
  const nulls = readValidity(pages, validity, rows);
  if (offsets !== undefined) return yield* readBinary(type, pages, rows, places, nulls);
  if (width === 0)
    return dataOf(type, rows.length, { ...nulls, values: readBits(pages, values, rows) });
  const bytes = new Uint8Array(rows.length * width);
  for (const [at, row] of rows.entries())
    pages.copy(values + row * width, width, bytes, at * width);
  return wrap(type, rows.length, bytes, nulls, dictionaries, pages);
}

/** Positions of the buffers within a column; `width` is that of an offset where there are some. */
interface Places {
  readonly validity: number | undefined;
  readonly offsets: number | undefined;
  readonly values: number;
  /** Bytes per row, 0 for bits. */
  readonly width: number;
  readonly valueBytes: number;
}

function placesOf(type: DataType, chunk: ColumnChunk): Places | undefined {
  const layout = layoutOf(type);
  const starts: number[] = [];
  let position = 0;
  for (const bytes of chunk.buffers) {
    starts.push(position);
    position += aligned(bytes);
  }
  const validity = (chunk.nodes[1] ?? 0) > 0 ? 0 : undefined;
  const [, first = 0, second = 0] = starts;
  const at = (values: number, width: number, offsets?: number): Places => ({
    validity,
    offsets,
    values,
    width,
    valueBytes: chunk.buffers[offsets === undefined ? 1 : 2] ?? 0,
  });
  switch (layout) {
    case 'bits':
      return at(first, 0);
    case 'fixed':
    case 'dictionary':
      return at(first, byteWidth(type));
    case 'binary':
      return at(second, hasLargeOffsets(type) ? 8 : 4, first);
    case 'fixed-list': {
      // Vectors: the child's values are one run of numbers per row.
      const child = childFields(type)[0]?.type as DataType;
      const plain = layoutOf(child) === 'fixed' && (chunk.nodes[3] ?? 0) === 0;
      const width = strideOf(type) * byteWidth(child);
      return plain && width > 0
        ? { ...at(second, width), valueBytes: chunk.buffers[2] ?? 0 }
        : undefined;
    }
    default:
      return undefined;
  }
}

interface Span {
  readonly begin: number;
  readonly end: number;
}

const spanAt = (buffer: number, position: number, bytes: number): Span => ({
  begin: buffer + position,
  end: buffer + position + bytes,
});

interface Nulls {
  readonly nullCount: number;
  readonly validity: Uint8Array | undefined;
}

function readValidity(pages: Pages, buffer: number | undefined, rows: Uint32Array): Nulls {
  if (buffer === undefined) return { nullCount: 0, validity: undefined };
  const validity = readBits(pages, buffer, rows);
  let valid = 0;
  for (let at = 0; at < rows.length; at += 1) {
    valid += ((validity[at >> 3] as number) >> (at & 7)) & 1;
  }
  return { nullCount: rows.length - valid, validity };
}

function readBits(pages: Pages, buffer: number, rows: Uint32Array): Uint8Array {
  const bits = new Uint8Array(bitmapBytes(rows.length));
  for (const [at, row] of rows.entries()) {
    if ((pages.byte(buffer + (row >> 3)) >> (row & 7)) & 1) setBit(bits, at);
  }
  return bits;
}

function* readBinary(
  type: DataType,
  pages: Pages,
  rows: Uint32Array,
  places: Places,
  nulls: Nulls,
): RowReader<Data> {
  const { offsets = 0, values, width, valueBytes } = places;
  const pair = new Uint8Array(16);
  const view = new DataView(pair.buffer);
  const spans: Span[] = [];
  const ends = [0];
  for (const row of rows) {
    pages.copy(offsets + row * width, width * 2, pair, 0);
    const begin = width === 4 ? view.getInt32(0, true) : Number(view.getBigInt64(0, true));
    const end = width === 4 ? view.getInt32(4, true) : Number(view.getBigInt64(8, true));
    if (begin < 0 || end < begin || end > valueBytes) throw pages.fail('an offset lies outside');
    spans.push(spanAt(values, begin, end - begin));
    ends.push((ends.at(-1) as number) + end - begin);
  }
  const total = ends.at(-1) as number;
  if (width === 4 && total > 0x7fffffff) {
    throw new DirspaceError(
      'InvalidInput',
      `${total} bytes do not fit into one column; take fewer rows.`,
    );
  }
  yield* pages.load(spans);
  const bytes = new Uint8Array(total);
  for (const [at, { begin, end }] of spans.entries()) {
    pages.copy(begin, end - begin, bytes, ends[at] as number);
  }
  return dataOf(type, rows.length, {
    ...nulls,
    offsets: width === 4 ? Int32Array.from(ends) : BigInt64Array.from(ends, BigInt),
    values: bytes,
  });
}

function wrap(
  type: DataType,
  rows: number,
  bytes: Uint8Array,
  nulls: Nulls,
  dictionaries: Dictionaries,
  pages: Pages,
): Data {
  const array = (of: DataType) => {
    const Values = valueArray(of);
    return new Values(bytes.buffer, 0, bytes.length / Values.BYTES_PER_ELEMENT);
  };
  if (type.typeId === Type.FixedSizeList) {
    const child = childFields(type)[0]?.type as DataType;
    const values = dataOf(child, rows * strideOf(type), { values: array(child) });
    return dataOf(type, rows, { ...nulls, children: [values] });
  }
  if (type.typeId !== Type.Dictionary) return dataOf(type, rows, { ...nulls, values: array(type) });
  const dictionary = dictionaries.get((type as unknown as { id: number }).id);
  if (dictionary === undefined) throw pages.fail('its dictionary was not given');
  return dataOf(type, rows, { ...nulls, values: array(type), dictionary });
}

/** The verified pages of one column that are in memory. */
class Pages {
  readonly #footer: FragmentFooter;
  readonly #chunk: ColumnChunk;
  readonly #column: number;
  readonly #batch: number;
  readonly #known = new Map<number, Uint8Array>();
  #checksums: Uint32Array | undefined;

  constructor(footer: FragmentFooter, chunk: ColumnChunk, column: number, batch: number) {
    this.#footer = footer;
    this.#chunk = chunk;
    this.#column = column;
    this.#batch = batch;
  }

  fail(what: string): DirspaceError {
    const name = this.#footer.schema.fields[this.#column]?.name;
    return corrupt(this.#footer.name, `column ${name} of batch ${this.#batch}: ${what}`);
  }

  /** Asks for the pages that hold `spans` and are not known yet, neighbours in one range. */
  *load(spans: readonly Span[]): RowReader<void> {
    const missing = new Set<number>();
    for (const { begin, end } of spans) {
      for (let page = Math.floor(begin / PAGE_BYTES); page * PAGE_BYTES < end; page += 1) {
        if (!this.#known.has(page)) missing.add(page);
      }
    }
    const runs: { first: number; pages: number }[] = [];
    for (const page of [...missing].sort((a, b) => a - b)) {
      const run = runs.at(-1);
      if (run !== undefined && run.first + run.pages === page) run.pages += 1;
      else runs.push({ first: page, pages: 1 });
    }
    if (runs.length === 0) return;
    const { offset, bytes } = this.#chunk;
    const ranges = runs.map(({ first, pages }) => ({
      offset: offset + first * PAGE_BYTES,
      length: Math.min(pages * PAGE_BYTES, bytes - first * PAGE_BYTES),
    }));
    const answers = yield ranges;
    this.#checksums ??= pageChecksums(this.#chunk.checksums);
    const checksums = this.#checksums;
    for (const [at, { first, pages }] of runs.entries()) {
      const answer = answers[at];
      if (answer === undefined || answer.length !== ranges[at]?.length) {
        throw this.fail(`${answer?.length ?? 0} bytes instead of ${ranges[at]?.length}`);
      }
      if (damagedPage(answer, first, checksums) >= 0) {
        throw this.fail('its bytes do not match their checksum');
      }
      for (let page = 0; page < pages; page += 1) {
        this.#known.set(first + page, answer.subarray(page * PAGE_BYTES, (page + 1) * PAGE_BYTES));
      }
    }
  }

  byte(position: number): number {
    const page = this.#known.get(Math.floor(position / PAGE_BYTES));
    return page?.[position % PAGE_BYTES] ?? 0;
  }

  copy(position: number, bytes: number, into: Uint8Array, at: number): void {
    for (let done = 0; done < bytes; ) {
      const page = this.#known.get(Math.floor((position + done) / PAGE_BYTES)) as Uint8Array;
      const from = (position + done) % PAGE_BYTES;
      const part = page.subarray(from, Math.min(PAGE_BYTES, from + bytes - done));
      into.set(part, at + done);
      done += part.length;
    }
  }

  /** The whole column, once all of it was loaded. */
  whole(): Uint8Array {
    const bytes = new Uint8Array(this.#chunk.bytes);
    for (const [page, part] of this.#known) bytes.set(part, page * PAGE_BYTES);
    return bytes;
  }
}

/** Runs a reader to its end with a synchronous source of bytes. */
export function runReader<Result>(
  reader: RowReader<Result>,
  read: (range: ByteRange) => Uint8Array,
): Result {
  let step = reader.next();
  while (!step.done) step = reader.next(step.value.map(read));
  return step.value;
}
