/**
 * `newArray` allocates a typed array of zeros, and `consecutive` one of ascending row numbers.
 * Arrays of up to 2 KiB are cut from blocks of 16 KiB, which is faster than one ArrayBuffer each.
 * The blocks are marked as shared memory (shared-memory.ts) and cannot be transferred to another
 * thread.
 */
import { markAsUntransferable } from 'node:worker_threads';
import type { TypedArray, TypedArrayConstructor } from './arrow-types.ts';
import { markShared } from './shared-memory.ts';

/** A block stays in memory while any array cut from it is in use. */
const BLOCK_BYTES = 16 * 1024;
const SMALL_BYTES = 2 * 1024;

let block = new ArrayBuffer(0);
let used = 0;

/** An array of zeros. Its buffer may be longer and shared with other small arrays. */
export function newArray<Values extends TypedArray = TypedArray>(
  Values: TypedArrayConstructor<Values>,
  length: number,
): Values {
  const bytes = length * Values.BYTES_PER_ELEMENT;
  if (bytes > SMALL_BYTES) return new Values(length);
  if (used + bytes > block.byteLength) {
    block = new ArrayBuffer(BLOCK_BYTES);
    // Transferring one array to another thread would detach all arrays of the block.
    markAsUntransferable(block);
    markShared(block);
    used = 0;
  }
  const values = new Values(block, used, length);
  used += (bytes + 7) & ~7;
  return values;
}

/** So many numbers from `from` on, each one more than the one before. */
export function consecutive(from: number, count: number): Uint32Array {
  const numbers = newArray(Uint32Array, count);
  for (let at = 0; at < count; at++) numbers[at] = from + at;
  return numbers;
}
