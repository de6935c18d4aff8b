/**
 * Views the buffers of another copy of apache-arrow as the typed arrays that this package's copy
 * needs. Builders of that copy may leave off the values of nulls at the end, so a `Sizer` for data
 * with nulls fills up a buffer that is too short; without nulls such a buffer throws InvalidInput.
 * `validityOf` returns the bitmap of nulls, or undefined if no row is null or missing. Rows that
 * are missing at the end are null in it; if none is missing, a bitmap that is too short throws
 * InvalidInput.
 */
import { type DataType, hasLargeOffsets, type valueArray } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';

type ArrayMaker = ReturnType<typeof valueArray>;

interface BitmapLike {
  readonly length: number;
  readonly offset: number;
  readonly nullBitmap?: Uint8Array;
}

/** Bitmap of data with `nullCount` nulls that should have `length` values; undefined if none is. */
export function validityOf(
  data: BitmapLike,
  nullCount: number,
  length: number,
): Uint8Array | undefined {
  const missing = length - data.length;
  if (nullCount === 0 && missing === 0) return undefined;
  const bits = data.offset + length;
  const bitmap = data.nullBitmap;
  if (missing === 0) {
    if (bitmap !== undefined && bitmap.length * 8 >= bits) return bitmap;
    throw broken('a bitmap of nulls is too short');
  }
  const grown = new Uint8Array(Math.ceil(bits / 64) * 8);
  for (let i = data.offset; i < data.offset + data.length; i++) {
    const valid = nullCount === 0 || ((bitmap?.[i >> 3] ?? 0) >> (i & 7)) & 1;
    if (valid) grown[i >> 3]! |= 1 << (i & 7);
  }
  return grown;
}

/** Views buffers as the arrays our copy wants, whatever array type the other copy used. */
export class Sizer {
  readonly type: DataType;
  /** True when there are nulls, whose values builders leave off at the end. */
  readonly lacking: boolean;

  constructor(type: DataType, lacking: boolean) {
    this.type = type;
    this.lacking = lacking;
  }

  array<M extends ArrayMaker>(
    maker: M,
    view: ArrayBufferView | undefined,
    least: number,
  ): InstanceType<M> {
    const width = maker.BYTES_PER_ELEMENT;
    const bytes = view?.byteLength ?? 0;
    const count = Math.floor(bytes / width);
    if (count < least) {
      if (!this.lacking) throw broken(`a ${this.type} is cut short`);
      return new maker(this.#padded(view, least * width), 0, least) as InstanceType<M>;
    }
    if (view === undefined) return new maker(0) as InstanceType<M>;
    if (Object.getPrototypeOf(view) === maker.prototype) return view as InstanceType<M>;
    if (view.byteOffset % width === 0) {
      return new maker(view.buffer, view.byteOffset, count) as InstanceType<M>;
    }
    return new maker(this.#padded(view, count * width), 0, count) as InstanceType<M>;
  }

  offsets(view: ArrayBufferView | undefined, length: number): Int32Array | BigInt64Array {
    const maker = hasLargeOffsets(this.type) ? BigInt64Array : Int32Array;
    const found = this.array(maker as ArrayMaker, view, 0) as Int32Array | BigInt64Array;
    if (found.length > length) return found;
    if (found.length > 0 && !this.lacking)
      throw broken(`the offsets of a ${this.type} are cut short`);
    if (found.length === 0 && length > 0 && !this.lacking)
      throw broken(`a ${this.type} lacks offsets`);
    const grown = new maker(length + 1);
    grown.set(found as never);
    grown.fill((found.at(-1) ?? grown[0]) as never, found.length);
    return grown;
  }

  #padded(view: ArrayBufferView | undefined, size: number): ArrayBuffer {
    const out = new Uint8Array(size);
    if (view !== undefined) {
      const used = Math.min(size, view.byteLength);
      out.set(new Uint8Array(view.buffer, view.byteOffset, used));
    }
    return out.buffer;
  }
}

export const broken = (what: string): DirspaceError =>
  new DirspaceError('InvalidInput', `The Arrow data is inconsistent: ${what}.`);
