/**
 * Vectors that are searched again, kept where the kernels can read them: copying rows to the kernels
 * takes twice as long as measuring them. What is kept is told by the buffer it lies in, so only
 * buffers whose bytes never change may come here.
 */
import type { VectorValues } from './elements.ts';

/** The memory of the kernels. */
export interface KernelMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

const PAGE = 65_536;
/** Below it lie the blocks of searches, the largest of which take half of it. */
export const RESIDENTS_AT: number = 32 * 1024 * 1024;
/** The kernels read rows by fours, and so up to three rows past the last: two megabytes each at most. */
const READ_PAST = 8 * 1024 * 1024;
const MOST_BYTES = 128 * 1024 * 1024;
/** Arrays turned away for want of room, after which all is let go of and the room given anew. */
const PATIENCE = 4_096;
const ALIGNMENT = 32;

interface Resident {
  readonly byteOffset: number;
  readonly byteLength: number;
  /** Searches that came by. */
  seen: number;
  /** In the memory; -1 while it is not there. */
  at: number;
}

export class Residents {
  readonly #memory: KernelMemory;
  readonly #most: number;
  #known = new WeakMap<ArrayBufferLike, Resident>();
  #end = RESIDENTS_AT;
  #turnedAway = 0;

  constructor(memory: KernelMemory, most: number = MOST_BYTES) {
    this.#memory = memory;
    this.#most = most;
  }

  /**
   * Where the array is in the memory, undefined when it is not. It is moved in as its second search
   * `begins`, which may replace the memory's buffer.
   */
  placeOf(values: VectorValues, begins: boolean): number | undefined {
    const { buffer, byteOffset, byteLength } = values;
    const known = this.#known.get(buffer);
    if (known?.byteOffset !== byteOffset || known.byteLength !== byteLength) {
      if (begins) this.#known.set(buffer, { byteOffset, byteLength, seen: 1, at: -1 });
      return undefined;
    }
    if (known.at < 0 && begins) {
      known.seen += 1;
      if (known.seen > 1) this.#admit(values, known);
    }
    return known.at < 0 ? undefined : known.at;
  }

  #clear(): void {
    this.#known = new WeakMap();
    this.#end = RESIDENTS_AT;
    this.#turnedAway = 0;
  }

  #admit(values: VectorValues, resident: Resident): void {
    const at = this.#end;
    const end = at + Math.ceil(values.byteLength / ALIGNMENT) * ALIGNMENT;
    if (end > RESIDENTS_AT + this.#most) {
      this.#turnedAway += 1;
      if (this.#turnedAway > PATIENCE) this.#clear();
      return;
    }
    const missing = end + READ_PAST - this.#memory.buffer.byteLength;
    if (missing > 0) this.#memory.grow(Math.ceil(missing / PAGE));
    const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
    new Uint8Array(this.#memory.buffer).set(bytes, at);
    this.#end = end;
    resident.at = at;
  }
}
