/**
 * `gatherParts` is a generator that builds one column from rows of several columns, and cuts it
 * into parts of as many rows as the caller asks for, a power of two. The caller gives the place of
 * each row. Values of fixed width, booleans, texts and binaries with 32-bit offsets, and columns
 * with one common dictionary are copied straight to their places. All others, such as nested
 * columns and views, are joined first and then picked, which copies twice. More than 2^31 - 1 bytes
 * of text in a part throw InvalidInput.
 */
import { type Data, type DataType, Type } from './apache.ts';
import { dataOf, NO_BYTES } from './arrow-data.ts';
import { layoutOf, strideOf, type TypedArray, valueArray } from './arrow-types.ts';
import { bitmapBytes, getBit, setBit } from './bitmaps.ts';
import { concatData } from './concat.ts';
import { gatherData } from './gather-data.ts';
import { BLOCK_ROWS, checkTotal, touch } from './gather-spans.ts';
import { newArray } from './small-arrays.ts';

/** Rows of one column. */
export interface PlacedRows {
  readonly data: Data;
  readonly rows: Uint32Array;
  /** The place of each in the result. */
  readonly places: Uint32Array;
}

/** How the result is cut: place `p` is row `p & mask` of part `p >>> shift`. */
interface Cut {
  readonly lengths: readonly number[];
  readonly shift: number;
  readonly mask: number;
}

/** Rows that are copied in one step. */
const STEP_ROWS = 1 << 14;
/** And bytes of texts, about. */
const STEP_BYTES = 1 << 22;

/**
 * @param sources of one type; together they have a row for each place below `count`, and one only
 * @param partRows rows of each part but the last, a power of two
 */
export function* gatherParts(
  type: DataType,
  sources: readonly PlacedRows[],
  count: number,
  partRows: number,
): Generator<void, Data[]> {
  const cut = cutOf(count, partRows);
  const layout = layoutOf(type);
  const dictionary = sources[0]?.data.dictionary;
  const isPlain =
    layout === 'fixed' ||
    layout === 'bits' ||
    (layout === 'binary' && sources.every(({ data }) => data.valueOffsets instanceof Int32Array)) ||
    (layout === 'dictionary' && sources.every(({ data }) => data.dictionary === dictionary));
  if (!isPlain) return yield* joinedParts(sources, count, cut);
  const nulls = yield* validities(type, sources, cut);
  const part = (at: number) => ({
    nullCount: nulls?.counts[at] ?? 0,
    validity: nulls?.bitmaps[at],
  });
  if (layout === 'binary') {
    const texts = yield* textParts(sources, cut);
    return cut.lengths.map((length, at) =>
      dataOf(type, length, { ...part(at), offsets: texts.offsets[at], values: texts.values[at] }),
    );
  }
  const values =
    layout === 'bits' ? yield* bitParts(sources, cut) : yield* fixedParts(type, sources, cut);
  return cut.lengths.map((length, at) =>
    dataOf(type, length, { ...part(at), values: values[at], dictionary }),
  );
}

function cutOf(count: number, partRows: number): Cut {
  const lengths: number[] = [];
  for (let from = 0; from < count; from += partRows) lengths.push(Math.min(partRows, count - from));
  return { lengths, shift: 31 - Math.clz32(partRows), mask: partRows - 1 };
}

/** Runs a loop over the rows `from` to `to` of each source, in steps. */
function* overRows(
  sources: readonly PlacedRows[],
  loop: (source: PlacedRows, from: number, to: number) => void,
): Generator<void> {
  for (const source of sources) {
    const { length } = source.rows;
    for (let from = 0; from < length; from += STEP_ROWS) {
      loop(source, from, Math.min(length, from + STEP_ROWS));
      yield;
    }
  }
}

function* validities(
  type: DataType,
  sources: readonly PlacedRows[],
  { lengths, shift, mask }: Cut,
): Generator<void, { counts: number[]; bitmaps: Uint8Array[] } | undefined> {
  if (type.typeId === Type.Null || sources.every(({ data }) => data.nullCount <= 0))
    return undefined;
  const bitmaps = lengths.map((length) => newArray(Uint8Array, bitmapBytes(length)));
  const counts = [...lengths];
  yield* overRows(sources, ({ data, rows, places }, from, to) => {
    const { nullBitmap, offset, nullCount } = data;
    for (let at = from; at < to; at++) {
      if (nullCount > 0 && !getBit(nullBitmap, offset + (rows[at] as number))) continue;
      const place = places[at] as number;
      setBit(bitmaps[place >>> shift] as Uint8Array, place & mask);
      counts[place >>> shift] = (counts[place >>> shift] as number) - 1;
    }
  });
  return { counts, bitmaps };
}

function* bitParts(
  sources: readonly PlacedRows[],
  { lengths, shift, mask }: Cut,
): Generator<void, Uint8Array[]> {
  const parts = lengths.map((length) => newArray(Uint8Array, bitmapBytes(length)));
  yield* overRows(sources, ({ data, rows, places }, from, to) => {
    const bits = data.values as Uint8Array;
    for (let at = from; at < to; at++) {
      if (!getBit(bits, data.offset + (rows[at] as number))) continue;
      const place = places[at] as number;
      setBit(parts[place >>> shift] as Uint8Array, place & mask);
    }
  });
  return parts;
}

function* fixedParts(
  type: DataType,
  sources: readonly PlacedRows[],
  cut: Cut,
): Generator<void, TypedArray[]> {
  const stride = strideOf(type);
  const Values = valueArray(type);
  const parts = cut.lengths.map((length) => newArray(Values, length * stride));
  const copy = stride > 1 ? copyWide(stride) : copyOf(Values.BYTES_PER_ELEMENT);
  const words = parts.map((values) => wordsOf(values, stride));
  yield* overRows(sources, ({ data, rows, places }, from, to) => {
    const source = wordsOf(data.values as TypedArray, stride);
    copy(source as never, rows, places, from, to, words as never, cut);
  });
  return parts;
}

type Copy = (
  values: never,
  rows: Uint32Array,
  places: Uint32Array,
  from: number,
  to: number,
  parts: never,
  cut: Cut,
) => void;

/** Whole numbers of the same width, which keep the bits of any value. */
function wordsOf(values: TypedArray, stride: number): TypedArray {
  if (stride > 1) return values;
  const { buffer, byteOffset, length } = values;
  switch (values.BYTES_PER_ELEMENT) {
    case 1:
      return new Uint8Array(buffer, byteOffset, length);
    case 2:
      return new Uint16Array(buffer, byteOffset, length);
    case 4:
      return new Uint32Array(buffer, byteOffset, length);
    default:
      return new Uint32Array(buffer, byteOffset, 2 * length);
  }
}

const copyOf = (bytes: number): Copy =>
  (bytes === 8 ? copy8 : bytes === 4 ? copy4 : bytes === 2 ? copy2 : copy1) as Copy;

// One function for each width: a loop that sees one kind of array is compiled to moves.
/** As two words each: a bigint would be an object. */
function copy8(
  values: Uint32Array,
  rows: Uint32Array,
  places: Uint32Array,
  from: number,
  to: number,
  parts: readonly Uint32Array[],
  { shift, mask }: Cut,
): void {
  for (let at = from; at < to; at++) {
    const place = places[at] as number;
    const part = parts[place >>> shift] as Uint32Array;
    const target = 2 * (place & mask);
    const row = 2 * (rows[at] as number);
    part[target] = values[row] as number;
    part[target + 1] = values[row + 1] as number;
  }
}

function copy4(
  values: Uint32Array,
  rows: Uint32Array,
  places: Uint32Array,
  from: number,
  to: number,
  parts: readonly Uint32Array[],
  { shift, mask }: Cut,
): void {
  for (let at = from; at < to; at++) {
    const place = places[at] as number;
    (parts[place >>> shift] as Uint32Array)[place & mask] = values[rows[at] as number] as number;
  }
}

function copy2(
  values: Uint16Array,
  rows: Uint32Array,
  places: Uint32Array,
  from: number,
  to: number,
  parts: readonly Uint16Array[],
  { shift, mask }: Cut,
): void {
  for (let at = from; at < to; at++) {
    const place = places[at] as number;
    (parts[place >>> shift] as Uint16Array)[place & mask] = values[rows[at] as number] as number;
  }
}

function copy1(
  values: Uint8Array,
  rows: Uint32Array,
  places: Uint32Array,
  from: number,
  to: number,
  parts: readonly Uint8Array[],
  { shift, mask }: Cut,
): void {
  for (let at = from; at < to; at++) {
    const place = places[at] as number;
    (parts[place >>> shift] as Uint8Array)[place & mask] = values[rows[at] as number] as number;
  }
}

/** Values of several elements, such as decimals. */
function copyWide(stride: number): Copy {
  return ((
    values: TypedArray,
    rows: Uint32Array,
    places: Uint32Array,
    from: number,
    to: number,
    parts: readonly TypedArray[],
    { shift, mask }: Cut,
  ): void => {
    const source = values as Uint8Array;
    for (let at = from; at < to; at++) {
      const place = places[at] as number;
      const begin = (rows[at] as number) * stride;
      const part = parts[place >>> shift] as Uint8Array;
      part.set(source.subarray(begin, begin + stride), (place & mask) * stride);
    }
  }) as Copy;
}

interface TextParts {
  readonly offsets: readonly Int32Array[];
  readonly values: readonly Uint8Array[];
}

function* textParts(sources: readonly PlacedRows[], cut: Cut): Generator<void, TextParts> {
  const { lengths, shift, mask } = cut;
  const offsets = lengths.map((length) => newArray(Int32Array, length + 1));
  yield* overRows(sources, ({ data, rows, places }, from, to) => {
    const spans = data.valueOffsets as Int32Array;
    for (let at = from; at < to; at++) {
      const row = rows[at] as number;
      const place = places[at] as number;
      (offsets[place >>> shift] as Int32Array)[(place & mask) + 1] =
        (spans[row + 1] as number) - (spans[row] as number);
    }
  });
  const values: Uint8Array[] = [];
  for (const ends of offsets) {
    values.push(newArray(Uint8Array, summed(ends)));
    yield;
  }
  const parts = { offsets, values };
  const views = values.map((part) => new DataView(part.buffer, part.byteOffset, part.byteLength));
  for (const source of sources) {
    const { length } = source.rows;
    const { valueOffsets, values: bytes } = source.data;
    const spans = valueOffsets as Int32Array;
    const texts = (bytes ?? NO_BYTES) as Uint8Array;
    const words = new DataView(texts.buffer, texts.byteOffset, texts.byteLength);
    let copied = 0;
    for (let from = 0; from < length; from += BLOCK_ROWS) {
      const to = Math.min(length, from + BLOCK_ROWS);
      touch(source.rows, from, to, spans, texts);
      copied += copyTexts(source, from, to, spans, texts, words, parts, views, cut);
      if (copied < STEP_BYTES && to % STEP_ROWS !== 0) continue;
      copied = 0;
      yield;
    }
    yield;
  }
  return parts;
}

/** Makes ends of lengths; the last of them. @throws InvalidInput beyond 32 bits */
function summed(lengths: Int32Array): number {
  let end = 0;
  for (let at = 1; at < lengths.length; at++) {
    end += lengths[at] as number;
    lengths[at] = end;
  }
  checkTotal(end, false);
  return end;
}

/** Up to here a loop beats the set-up of a block copy. */
const LOOP_BYTES = 160;

/** How many bytes were copied. */
function copyTexts(
  { rows, places }: PlacedRows,
  from: number,
  to: number,
  spans: Int32Array,
  texts: Uint8Array,
  words: DataView,
  { offsets, values }: TextParts,
  views: readonly DataView[],
  { shift, mask }: Cut,
): number {
  let copied = 0;
  for (let at = from; at < to; at++) {
    const row = rows[at] as number;
    const place = places[at] as number;
    const part = place >>> shift;
    let begin = spans[row] as number;
    const end = spans[row + 1] as number;
    let target = (offsets[part] as Int32Array)[place & mask] as number;
    const length = end - begin;
    copied += length;
    if (length > LOOP_BYTES) {
      (values[part] as Uint8Array).set(texts.subarray(begin, end), target);
    } else if (length < 4) {
      const bytes = values[part] as Uint8Array;
      while (begin < end) bytes[target++] = texts[begin++] as number;
    } else {
      // Texts begin anywhere; a view moves four of their bytes at a time all the same.
      const view = views[part] as DataView;
      const last = end - 4;
      const shifted = target - begin;
      for (; begin < last; begin += 4) {
        view.setInt32(begin + shifted, words.getInt32(begin, true), true);
      }
      view.setInt32(last + shifted, words.getInt32(last, true), true);
    }
  }
  return copied;
}

/** Through one column that has all rows: twice the copying. */
function* joinedParts(
  sources: readonly PlacedRows[],
  count: number,
  { lengths, mask }: Cut,
): Generator<void, Data[]> {
  const picked: Data[] = [];
  const order = new Uint32Array(count);
  let next = 0;
  for (const { data, rows, places } of sources) {
    for (let from = 0; from < rows.length; from += STEP_ROWS) {
      const some = rows.subarray(from, from + STEP_ROWS);
      picked.push(gatherData(data, some));
      for (let at = 0; at < some.length; at++) order[places[from + at] as number] = next++;
      yield;
    }
  }
  if (count === 0) return [];
  const joined = concatData(picked);
  yield;
  const parts: Data[] = [];
  for (const length of lengths) {
    const from = parts.length * (mask + 1);
    parts.push(gatherData(joined, order.subarray(from, from + length)));
    yield;
  }
  return parts;
}
