/**
 * `readRows` reads a few rows of a batch, in the order asked for, and loads and verifies only the
 * pages that hold them. Short columns, and columns whose values lie in many places, such as lists,
 * structs and views (for these `isReadAlone` is false), are read whole. It is a generator that asks
 * its caller for bytes (sparse-pages.ts) and does no I/O itself. Damage throws Corrupt. A row that
 * the batch does not have throws InvalidInput, and so do 2 GiB or more of values for one column
 * with 32-bit offsets.
 */
import {
  bitmapBytes,
  byteWidth,
  childFields,
  type Data,
  type DataType,
  dataOf,
  gatherData,
  hasLargeOffsets,
  layoutOf,
  setBit,
  strideOf,
  Type,
  valueArray,
} from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { FRAME_BYTES } from '../../ipc/index.ts';
import { decodedBytes } from './buffer-forms.ts';
import { PAGE_BYTES } from './checksums.ts';
import { type Dictionaries, decodeColumn } from './column-reader.ts';
import { chunkAt, type FragmentFooter } from './fragment-footer.ts';
import type { ColumnChunk } from './fragment-layout.ts';
import {
  type BufferSpan,
  type FrameCache,
  NO_FRAMES,
  Pages,
  type RowReader,
  SparseBuffers,
} from './sparse-pages.ts';
import { OFFSETS_BUFFER } from './wide-offsets.ts';

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
  framesOf: (column: number) => FrameCache = () => NO_FRAMES,
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
    const buffers = new SparseBuffers(pages, chunk, framesOf(column));
    return readColumn(type, chunk, pages, buffers, rows, dictionaries);
  });
  const results = readers.map(() => undefined as Data | undefined);
  // All columns ask for bytes together, so that reading many columns waits no more often than reading one.
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
  buffers: SparseBuffers,
  rows: Uint32Array,
  dictionaries: Dictionaries,
): RowReader<Data> {
  const places = placesOf(type, chunk);
  const isShort = chunk.bytes <= PAGE_BYTES * 2 && decodedBytes(chunk) <= FRAME_BYTES;
  if (places === undefined || isShort) {
    yield* pages.load([{ begin: 0, end: chunk.bytes }]);
    const whole = decodeColumn(type, chunk, pages.whole(), dictionaries, (what) =>
      pages.fail(what),
    );
    return gatherData(whole, rows);
  }
  const { validity, offsets, values, width } = places;
  if (!areLongEnough(buffers, places, chunk.nodes[0] ?? 0)) {
    throw pages.fail('a buffer is missing or too short');
  }
  const wanted: BufferSpan[] = [];
  for (const row of rows) {
    if (validity !== undefined) wanted.push(spanAt(validity, row >> 3, 1));
    if (offsets !== undefined) wanted.push(spanAt(offsets, row * width, width * 2));
    else if (width === 0) wanted.push(spanAt(values, row >> 3, 1));
    else wanted.push(spanAt(values, row * width, width));
  }
  yield* buffers.load(wanted);
  const nulls = readValidity(buffers, validity, rows);
  if (offsets !== undefined) return yield* readBinary(type, pages, buffers, rows, places, nulls);
  if (width === 0)
    return dataOf(type, rows.length, { ...nulls, values: readBits(buffers, values, rows) });
  const bytes = new Uint8Array(rows.length * width);
  for (const [at, row] of rows.entries())
    buffers.copy(values, row * width, width, bytes, at * width);
  return wrap(type, rows.length, bytes, nulls, dictionaries, pages);
}

/** Numbers of the buffers of a column; `width` is that of an offset, as it is stored, where there are some. */
interface Places {
  readonly validity: number | undefined;
  readonly offsets: number | undefined;
  readonly values: number;
  /** Bytes per row, 0 for bits. */
  readonly width: number;
}

/** Whether buffers have what so many rows need: what lies behind the end of one cannot be copied. */
function areLongEnough(
  buffers: SparseBuffers,
  { validity, offsets, values, width }: Places,
  rows: number,
): boolean {
  const bits = bitmapBytes(rows);
  if (validity !== undefined && buffers.size(validity) < bits) return false;
  return offsets === undefined
    ? buffers.size(values) >= (width === 0 ? bits : rows * width)
    : buffers.size(offsets) >= (rows + 1) * width;
}

function placesOf(type: DataType, chunk: ColumnChunk): Places | undefined {
  const validity = (chunk.nodes[1] ?? 0) > 0 ? 0 : undefined;
  switch (layoutOf(type)) {
    case 'bits':
      return { validity, offsets: undefined, values: 1, width: 0 };
    case 'fixed':
    case 'dictionary': {
      const width = byteWidth(type);
      return width > 0 ? { validity, offsets: undefined, values: 1, width } : undefined;
    }
    case 'binary':
      return {
        validity,
        offsets: OFFSETS_BUFFER,
        values: 2,
        width: chunk.isWide || hasLargeOffsets(type) ? 8 : 4,
      };
    case 'fixed-list': {
      // Vectors: the child's values are one run of numbers per row.
      const child = childFields(type)[0]?.type as DataType;
      const plain = layoutOf(child) === 'fixed' && (chunk.nodes[3] ?? 0) === 0;
      const width = strideOf(type) * byteWidth(child);
      return plain && width > 0 ? { validity, offsets: undefined, values: 2, width } : undefined;
    }
    default:
      return undefined;
  }
}

/** Whether single values of a column are read without the rest of it. */
export const isReadAlone = (type: DataType, chunk: ColumnChunk): boolean =>
  placesOf(type, chunk) !== undefined;

const spanAt = (buffer: number, position: number, bytes: number): BufferSpan => ({
  buffer,
  begin: position,
  end: position + bytes,
});

interface Nulls {
  readonly nullCount: number;
  readonly validity: Uint8Array | undefined;
}

function readValidity(
  buffers: SparseBuffers,
  buffer: number | undefined,
  rows: Uint32Array,
): Nulls {
  if (buffer === undefined) return { nullCount: 0, validity: undefined };
  const validity = readBits(buffers, buffer, rows);
  let valid = 0;
  for (let at = 0; at < rows.length; at += 1) {
    valid += ((validity[at >> 3] as number) >> (at & 7)) & 1;
  }
  return { nullCount: rows.length - valid, validity };
}

function readBits(buffers: SparseBuffers, buffer: number, rows: Uint32Array): Uint8Array {
  const bits = new Uint8Array(bitmapBytes(rows.length));
  for (const [at, row] of rows.entries()) {
    if ((buffers.byte(buffer, row >> 3) >> (row & 7)) & 1) setBit(bits, at);
  }
  return bits;
}

function* readBinary(
  type: DataType,
  pages: Pages,
  buffers: SparseBuffers,
  rows: Uint32Array,
  places: Places,
  nulls: Nulls,
): RowReader<Data> {
  const { offsets = 0, values, width } = places;
  const valueBytes = buffers.size(values);
  const pair = new Uint8Array(16);
  const view = new DataView(pair.buffer);
  const spans: BufferSpan[] = [];
  const ends = [0];
  for (const row of rows) {
    buffers.copy(offsets, row * width, width * 2, pair, 0);
    const begin = width === 4 ? view.getInt32(0, true) : Number(view.getBigInt64(0, true));
    const end = width === 4 ? view.getInt32(4, true) : Number(view.getBigInt64(8, true));
    if (begin < 0 || end < begin || end > valueBytes) throw pages.fail('an offset lies outside');
    spans.push(spanAt(values, begin, end - begin));
    ends.push((ends.at(-1) as number) + end - begin);
  }
  const total = ends.at(-1) as number;
  const isLarge = hasLargeOffsets(type);
  if (!isLarge && total > 0x7fffffff) {
    throw new DirspaceError(
      'InvalidInput',
      `${total} bytes do not fit into one column; take fewer rows.`,
    );
  }
  yield* buffers.load(spans);
  const bytes = new Uint8Array(total);
  for (const [at, { begin, end }] of spans.entries()) {
    buffers.copy(values, begin, end - begin, bytes, ends[at] as number);
  }
  return dataOf(type, rows.length, {
    ...nulls,
    offsets: isLarge ? BigInt64Array.from(ends, BigInt) : Int32Array.from(ends),
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
