/**
 * Marks memory that more than one result may read, such as that of cached columns (`markShared`,
 * `markSharedData`). hand-out.ts asks for the mark (`isShared`), and gives callers a copy of such
 * memory, because callers may change what they get. `apart` returns bytes that fill their
 * ArrayBuffer, and copies them if they do not.
 */
import type { Data } from './apache.ts';

const shared = new WeakSet<ArrayBufferLike>();

export const isShared = ({ buffer }: ArrayBufferView): boolean => shared.has(buffer);

/** From now on what lies in the same memory is copied before it is handed out. */
export const markShared = (buffer: ArrayBufferLike): void => {
  shared.add(buffer);
};

/** Marks all memory that a column lies in, dictionaries included. */
export function markSharedData(data: Data): void {
  const { values, valueOffsets, nullBitmap, typeIds, variadicBuffers } = data;
  for (const view of [values, valueOffsets, nullBitmap, typeIds, ...variadicBuffers]) {
    if (view !== undefined) markShared((view as ArrayBufferView).buffer);
  }
  for (const child of data.children) markSharedData(child as Data);
  for (const chunk of data.dictionary?.data ?? []) markSharedData(chunk as Data);
}

/** The bytes in an ArrayBuffer of their own; copied unless they fill theirs. */
export const apart = (bytes: Uint8Array): Uint8Array =>
  bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
