/**
 * Handles the data buffers of Utf8View and BinaryView columns. `usedViewBytes` checks the views of
 * the rows that are not null, and counts the bytes that they point to. A view that points out of
 * the buffers throws TableSchemaValidation. `compactViews` copies these bytes into one buffer and
 * returns it with the changed views; more than fit into one (`MOST_BYTES`) throw InvalidInput.
 *
 * A view has 16 bytes: the length, then up to 12 bytes of the value. For a longer value it has the
 * first four bytes, a buffer's number and a position in that buffer.
 */
import { type Data, getBit } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { invalidColumn } from './normalise-column.ts';

/** Positions in a buffer, and offsets of 32 bits, end here. */
export const MOST_BYTES = 0x7fffffff;

/** The error for the values of one batch that one buffer cannot hold. */
export const tooManyBytes = (name: string): DirspaceError =>
  new DirspaceError(
    'InvalidInput',
    `Column ${name} cannot be written: a record batch has more than ${MOST_BYTES} bytes of its values, which is what one buffer can hold. Send smaller record batches.`,
    { details: { column: name } },
  );

/**
 * Bytes of the buffers that valid rows point at, counted again where rows share them.
 * @param held the views of all rows
 * @throws TableSchemaValidation where a row points out of the buffers
 */
export function usedViewBytes(data: Data, held: Uint8Array, nulls: number, name: string): number {
  const words = new DataView(held.buffer, held.byteOffset, held.byteLength);
  const buffers = data.variadicBuffers;
  let used = 0;
  for (let row = 0; row < data.length; row += 1) {
    if (nulls > 0 && !getBit(data.nullBitmap, data.offset + row)) continue;
    const size = words.getInt32(row * 16, true);
    if (size < 0) throw invalidColumn(name, `row ${row} has a length of ${size}`);
    if (size <= 12) continue;
    const begin = words.getInt32(row * 16 + 12, true);
    const buffer = buffers[words.getInt32(row * 16 + 8, true)];
    if (buffer === undefined || begin < 0 || begin + size > buffer.length) {
      throw invalidColumn(name, `row ${row} lies outside of its data buffers`);
    }
    used += size;
  }
  return used;
}

/**
 * The views with one buffer that holds what they point at and no more; nulls become zeros.
 * @param used what usedViewBytes said, which has checked the views
 * @throws InvalidInput for 2 GiB and more
 */
export function compactViews(
  data: Data,
  held: Uint8Array,
  nulls: number,
  used: number,
  name: string,
): { readonly views: Uint8Array; readonly heap: Uint8Array } {
  if (used > MOST_BYTES) throw tooManyBytes(name);
  const views = new Uint8Array(data.length * 16);
  const heap = new Uint8Array(used);
  const from = new DataView(held.buffer, held.byteOffset, held.byteLength);
  const to = new DataView(views.buffer);
  let end = 0;
  for (let at = 0; at < views.length; at += 16) {
    if (nulls > 0 && !getBit(data.nullBitmap, data.offset + at / 16)) continue;
    views.set(held.subarray(at, at + 16), at);
    const size = from.getInt32(at, true);
    if (size <= 12) continue;
    const begin = from.getInt32(at + 12, true);
    const buffer = data.variadicBuffers[from.getInt32(at + 8, true)] as Uint8Array;
    heap.set(buffer.subarray(begin, begin + size), end);
    to.setInt32(at + 8, 0, true);
    to.setInt32(at + 12, end, true);
    end += size;
  }
  return { views, heap };
}
