/**
 * Typed arrays for a few values. An ArrayBuffer of its own takes the system longer to make, and to
 * take back, than a few values take to copy: small arrays are cut from blocks they share.
 */
import { markAsUntransferable } from 'node:worker_threads';
import type { TypedArray, TypedArrayConstructor } from './arrow-types.ts';
import { markShared } from './shared-memory.ts';

/** What somebody who keeps one small array keeps with it, at most. */
const BLOCK_BYTES = 16 * 1024;
const SMALL_BYTES = 2 * 1024;

let block = new ArrayBuffer(0);
let used = 0;

/** An array of zeros; its buffer may be longer, and then belongs to others too. */
export function newArray<Values extends TypedArray = TypedArray>(
  Values: TypedArrayConstructor<Values>,
  length: number,
): Values {
  const bytes = length * Values.BYTES_PER_ELEMENT;
  if (bytes > SMALL_BYTES) return new Values(length);
  if (used + bytes > block.byteLength) {
    block = new ArrayBuffer(BLOCK_BYTES);
    // Transferred to another thread with one array, it would be gone from all of them.
    markAsUntransferable(block);
    markShared(block);
    used = 0;
  }
  const values = new Values(block, used, length);
  used += (bytes + 7) & ~7;
  return values;
}
