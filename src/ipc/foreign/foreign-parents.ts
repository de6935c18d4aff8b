/**
 * `checkCounted` runs a check on the values of a foreign column inside other columns. If it fails,
 * it checks again only the values that count, and makes all others null. If that fails too, the
 * fault goes to the caller's `refuse`. A value does not count if it lies in a null struct or list,
 * or in no list at all, or where no row of a union refers to it: the Arrow format allows any bytes
 * there. The `countedIn...` functions find the values that count. `checkUnionRows` does the same for
 * the rows of a union.
 */
import {
  bitmapBytes,
  countBits,
  type DataParts,
  getBit,
  type Offsets,
  offsetAt,
  setBits,
} from '../../arrow/index.ts';
import type { Refuse } from '../codecs/index.ts';
import { checkUnion, type Validity } from './foreign-values.ts';

/**
 * A bitmap of the first `rows` rows, with a bit for each that no null lies above; undefined where
 * all are so. Made when it is asked for: a column that asks has shown by then that it has bytes for
 * so many rows, while the counts of nodes above it may be forged.
 */
export type Counted = (rows: number) => Validity;

/** The values of a struct without nulls count where the struct does. */
export function countedInStruct(
  validity: Validity,
  counted: Counted | undefined,
): Counted | undefined {
  if (validity === undefined) return counted;
  return (rows) => both(validity, counted?.(rows), rows);
}

export function countedInFixedLists(
  stride: number,
  validity: Validity,
  counted: Counted | undefined,
): Counted | undefined {
  if (validity === undefined && counted === undefined) return undefined;
  return (rows) => {
    const lists = Math.ceil(rows / stride);
    const valid = both(validity, counted?.(lists), lists);
    if (valid === undefined) return undefined;
    const bits = new Uint8Array(bitmapBytes(rows));
    for (let list = 0; list < lists; list += 1) {
      const begin = list * stride;
      if (isSet(valid, list)) setBits(bits, begin, Math.min(stride, rows - begin));
    }
    return bits;
  };
}

/** @param offsets checked before, against `items` */
export function countedInLists(
  offsets: Offsets,
  lists: number,
  items: number,
  validity: Validity,
  counted: Counted | undefined,
): Counted | undefined {
  const isWhole = offsetAt(offsets, 0) === 0 && offsetAt(offsets, lists) === items;
  if (isWhole && validity === undefined && counted === undefined) return undefined;
  // Every member of a struct asks for the same.
  let made: Uint8Array | undefined;
  let known = 0;
  return (rows) => {
    const asked = Math.min(rows, items);
    if (made !== undefined && asked <= known) return made;
    const valid = both(validity, counted?.(lists), lists);
    made = new Uint8Array(bitmapBytes(asked));
    known = asked;
    for (let list = 0; list < lists; list += 1) {
      if (valid !== undefined && !isSet(valid, list)) continue;
      const begin = offsetAt(offsets, list);
      const end = Math.min(offsetAt(offsets, list + 1), asked);
      if (begin < end) setBits(made, begin, end - begin);
    }
    return made;
  };
}

/**
 * The values of a union's child that rows refer to: of a sparse union the others may be anything.
 * @param offsets of a dense union; they may point anywhere
 */
export function countedInUnion(
  id: number,
  typeIds: Int8Array,
  offsets: Int32Array | undefined,
  counted: Counted | undefined,
): Counted {
  return (rows) => {
    const visible = counted?.(typeIds.length);
    const bits = new Uint8Array(bitmapBytes(rows));
    for (let row = 0; row < typeIds.length; row += 1) {
      if (typeIds[row] !== id || (visible !== undefined && !isSet(visible, row))) continue;
      const at = offsets === undefined ? row : (offsets[row] as number);
      if (at >= 0 && at < rows) setBits(bits, at, 1);
    }
    return bits;
  };
}

/** Rows past the end of a bitmap are those that no parent has. */
const isSet = (bitmap: Uint8Array, row: number): boolean =>
  row >>> 3 < bitmap.length && getBit(bitmap, row);

function both(one: Validity, other: Validity, rows: number): Validity {
  if (one === undefined || other === undefined) return one ?? other;
  const bits = new Uint8Array(bitmapBytes(rows));
  for (let at = 0; at < bits.length; at += 1) bits[at] = (one[at] ?? 0) & (other[at] ?? 0);
  return bits;
}

class Unfit extends Error {}

const unfit: Refuse = (problem) => {
  throw new Unfit(problem);
};

/**
 * Checks the values of a column that are not null, and if that fails those that also have no null
 * above them: the others are nulls then.
 */
export function* checkCounted(
  parts: DataParts,
  rows: number,
  counted: Counted | undefined,
  refuse: Refuse,
  check: (validity: Validity, refuse: Refuse) => Generator<undefined, void>,
): Generator<undefined, DataParts> {
  const { validity } = parts;
  if (counted === undefined) {
    yield* check(validity, refuse);
    return parts;
  }
  try {
    yield* check(validity, unfit);
    return parts;
  } catch (error) {
    if (!(error instanceof Unfit)) throw error;
  }
  const visible = counted(rows);
  const valid = visible && new Uint8Array(bitmapBytes(rows));
  valid?.forEach((_, at) => {
    valid[at] = (visible?.[at] ?? 0) & (validity?.[at] ?? 255);
  });
  yield* check(valid ?? validity, refuse);
  if (valid === undefined) return parts;
  return { ...parts, nullCount: rows - countBits(valid, 0, rows), validity: valid };
}

/** Of a union's rows. */
export interface UnionRows {
  readonly typeIds: Int8Array;
  /** Of a dense union. */
  readonly offsets: Int32Array | undefined;
}

/**
 * Checks the rows of a union, and if that fails those that have no null above them: the others become
 * rows of the first child then.
 * @param known the ids of its types
 */
export function* checkUnionRows(
  rows: UnionRows,
  known: Int32Array,
  lengths: readonly number[],
  counted: Counted | undefined,
  refuse: Refuse,
): Generator<undefined, UnionRows> {
  const check = ({ typeIds, offsets }: UnionRows, refused: Refuse): Generator<undefined, void> =>
    checkUnion(typeIds, offsets, known, lengths, refused);
  try {
    yield* check(rows, counted === undefined ? refuse : unfit);
    return rows;
  } catch (error) {
    if (!(error instanceof Unfit)) throw error;
  }
  const visible = counted?.(rows.typeIds.length);
  const typeIds = rows.typeIds.slice();
  const offsets = rows.offsets?.slice();
  // A child without values has none to point at.
  const child = Math.max(
    0,
    lengths.findIndex((length) => length > 0),
  );
  for (let row = 0; visible !== undefined && row < typeIds.length; row += 1) {
    if (isSet(visible, row)) continue;
    typeIds[row] = known[child] as number;
    if (offsets !== undefined) offsets[row] = 0;
  }
  const mended = { typeIds, offsets };
  yield* check(mended, refuse);
  return mended;
}
