/**
 * Converts list views and run-end-encoded columns, which other programs write, to ordinary lists
 * (`listsOfViews`) and columns (`expandRuns`). A few bytes can stand for very many rows in these
 * forms, so both claim the expanded size from the caller's budget (foreign-budget.ts) before they
 * copy values. `lookAtViews` is called before `listsOfViews`; it refuses negative offsets and sizes
 * in rows that are not null. Faults go to the caller's `refuse`.
 */
import {
  byteWidth,
  type Data,
  gatherData,
  getBit,
  hasLargeOffsets,
  layoutOf,
  type Offsets,
  offsetAt,
  strideOf,
  type Union,
  UnionMode,
} from '../../arrow/index.ts';
import type { Refuse } from '../codecs/index.ts';
import { POSITION_BYTES } from './foreign-budget.ts';
import { isValid, type Validity } from './foreign-values.ts';

/**
 * Called before `values` values are picked, with the bytes that they take besides their positions,
 * of POSITION_BYTES each; throws where that is too much.
 */
export type Claim = (bytes: number, values: number) => void;

export type RunEnds = Int16Array | Int32Array | BigInt64Array;

/**
 * A column with each value as often as its run is long.
 * @param ends where runs end, ascending; the last may lie past the end of the column
 * @param values at least as many as there are runs
 * @param rows of the result, which must be covered by the runs
 */
export function expandRuns(
  ends: RunEnds,
  values: Data,
  rows: number,
  claim: Claim,
  refuse: Refuse,
): Data {
  const bytesOf = weigher(values);
  let bytes = 0;
  let last = 0;
  for (let run = 0; run < ends.length; run += 1) {
    const end = Number(ends[run]);
    if (end <= last) refuse(`its run ${run} ends at row ${end}, and begins at row ${last}`);
    if (last < rows) bytes += (Math.min(end, rows) - last) * bytesOf(run, run + 1);
    last = end;
  }
  if (last < rows) refuse(`its runs have ${last} of ${rows} rows`);
  claim(bytes, rows);
  const positions = new Uint32Array(rows);
  let begin = 0;
  for (let run = 0; begin < rows; run += 1) {
    const end = Math.min(Number(ends[run]), rows);
    positions.fill(run, begin, end);
    begin = end;
  }
  return gatherData(values, positions);
}

/** Where list views lead, once each was looked at. */
export interface ListViews {
  readonly offsets: Offsets;
  readonly sizes: Offsets;
  readonly length: number;
  readonly validity: Validity;
  /** Values that the lists have, counted again where they share them. */
  readonly total: number;
  /** Where the list ends that ends last. */
  readonly end: number;
  /** Where the first list begins if each begins where the one before ends, or else undefined. */
  readonly start: number | undefined;
}

/** Checks the offsets and sizes of list views; those of null rows may be anything. */
export function lookAtViews(
  offsets: Offsets,
  sizes: Offsets,
  length: number,
  validity: Validity,
  refuse: Refuse,
): ListViews {
  let [total, end, start, next, inOrder] = [0, 0, 0, 0, true];
  for (let row = 0; row < length; row += 1) {
    if (!isValid(validity, row)) continue;
    const begin = offsetAt(offsets, row);
    const size = offsetAt(sizes, row);
    if (begin < 0 || size < 0) {
      refuse(`its list view in row ${row} has ${size} values from ${begin} on`);
    }
    if (begin + size > end) end = begin + size;
    if (size === 0) continue;
    if (total === 0) start = begin;
    else if (begin !== next) inOrder = false;
    next = begin + size;
    total += size;
  }
  return { offsets, sizes, length, validity, total, end, start: inOrder ? start : undefined };
}

/** Lists with offsets that ascend, and the values they have: those of the views where these do. */
export function listsOfViews(
  views: ListViews,
  values: Data,
  claim: Claim,
  refuse: Refuse,
): { readonly offsets: Offsets; readonly values: Data } {
  const { length, validity, total, end, start } = views;
  if (end > values.length) refuse(`its list views lead to ${end} in ${values.length} values`);
  const offsets =
    views.offsets instanceof Int32Array
      ? new Int32Array(length + 1)
      : new BigInt64Array(length + 1);
  const put = (at: number, offset: number): void => {
    if (offsets instanceof Int32Array) offsets[at] = offset;
    else offsets[at] = BigInt(offset);
  };
  const sizeOf = (row: number): number => (isValid(validity, row) ? offsetAt(views.sizes, row) : 0);
  let at = start ?? 0;
  put(0, at);
  for (let row = 0; row < length; row += 1) {
    at += sizeOf(row);
    put(row + 1, at);
  }
  if (start !== undefined) return { offsets, values };
  const bytesOf = weigher(values);
  let bytes = 0;
  for (let row = 0; row < length; row += 1) {
    const begin = offsetAt(views.offsets, row);
    const size = sizeOf(row);
    if (size > 0) bytes += bytesOf(begin, begin + size);
  }
  claim(bytes, total);
  const positions = new Uint32Array(total);
  let position = 0;
  for (let row = 0; row < length; row += 1) {
    const begin = offsetAt(views.offsets, row);
    const stop = begin + sizeOf(row);
    for (let value = begin; value < stop; value += 1) {
      positions[position] = value;
      position += 1;
    }
  }
  return { offsets, values: gatherData(values, positions) };
}

/** Bytes that it takes to pick the rows of a range, which are part of a column. */
type RangeBytes = (begin: number, end: number) => number;

/** A constant for each row, and what the rows take beyond it. */
interface Weight {
  readonly each: number;
  readonly more: readonly RangeBytes[];
}

/** The bytes of ranges of rows once they are picked, and of positions in their children. */
function weigher(data: Data): RangeBytes {
  const { each, more } = weightOf(data);
  return (begin, end) => sum(more, (bytes) => bytes(begin, end)) + (end - begin) * each;
}

const sum = <Item>(items: readonly Item[], of: (item: Item) => number): number => {
  let total = 0;
  for (const item of items) total += of(item);
  return total;
};

function weightOf(data: Data): Weight {
  const { type } = data;
  const validity = data.nullCount > 0 ? 1 / 8 : 0;
  switch (layoutOf(type)) {
    case 'null':
      return { each: 0, more: [] };
    case 'bits':
      return { each: validity + 1 / 8, more: [] };
    case 'fixed':
    case 'dictionary':
      return { each: validity + byteWidth(type), more: [] };
    case 'view':
      return { each: validity + 16, more: [running(data.length, viewedBytes(data))] };
    case 'binary': {
      const offsets = data.valueOffsets as Offsets;
      return {
        each: validity + (hasLargeOffsets(type) ? 8 : 4),
        more: [(begin, end) => offsetAt(offsets, end) - offsetAt(offsets, begin)],
      };
    }
    case 'list': {
      const offsets = data.valueOffsets as Offsets;
      const bytesOf = weigher(data.children[0] as Data);
      return {
        each: validity + (hasLargeOffsets(type) ? 8 : 4),
        more: [
          (begin, end) => {
            const [from, to] = [offsetAt(offsets, begin), offsetAt(offsets, end)];
            return bytesOf(from, to) + (to - from) * POSITION_BYTES;
          },
        ],
      };
    }
    case 'fixed-list': {
      const stride = strideOf(type);
      const { each, more } = weightOf(data.children[0] as Data);
      return {
        each: validity + stride * (each + POSITION_BYTES),
        more: more.map((bytes) => (begin, end) => bytes(begin * stride, end * stride)),
      };
    }
    case 'struct': {
      const { each, more } = weightsOf(data);
      return { each: validity + each, more };
    }
    case 'union': {
      if ((type as Union).mode === UnionMode.Dense) return denseWeight(data);
      const { each, more } = weightsOf(data);
      return { each: 1 + each, more };
    }
  }
}

/** Of children that each have the rows of their parent. */
function weightsOf(data: Data): Weight {
  const weights = data.children.map((child) => weightOf(child as Data));
  return { each: sum(weights, ({ each }) => each), more: weights.flatMap(({ more }) => more) };
}

/** Rows are looked at once for each child, and their positions held as numbers. */
function denseWeight(data: Data): Weight {
  const children = data.children.map((child) => weigher(child as Data));
  const childOf = new Map(Array.from((data.type as Union).typeIds, (id, at) => [id, at] as const));
  const [typeIds, offsets] = [data.typeIds as Int8Array, data.valueOffsets as Int32Array];
  const bytesAt = (row: number): number => {
    const offset = offsets[row] as number;
    return children[childOf.get(typeIds[row] as number) as number]?.(offset, offset + 1) ?? 0;
  };
  return { each: 5 + 8 + children.length * 4, more: [running(data.length, bytesAt)] };
}

/** Texts longer than a view, which are written out for each row in the end. */
function viewedBytes(data: Data): (row: number) => number {
  const held = data.values as Uint8Array;
  const words = new DataView(held.buffer, held.byteOffset, held.byteLength);
  const { nullCount, nullBitmap, offset } = data;
  return (row) => {
    if (nullCount > 0 && !getBit(nullBitmap, offset + row)) return 0;
    const bytes = words.getInt32(row * 16, true);
    return bytes > 12 ? bytes : 0;
  };
}

/** Sums over ranges out of sums from the first row on. */
function running(length: number, bytesAt: (row: number) => number): RangeBytes {
  const sums = new Float64Array(length + 1);
  for (let row = 0; row < length; row += 1) sums[row + 1] = (sums[row] as number) + bytesAt(row);
  return (begin, end) => (sums[end] as number) - (sums[begin] as number);
}
