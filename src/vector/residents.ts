/**
 * `Residents` keeps vectors in the memory of the WebAssembly kernels once they are searched again,
 * because copying rows there takes twice as long as measuring them. `placeOf` returns their
 * address, or undefined if they are not there. It finds vectors by their buffer, so callers must
 * pass buffers that do not change. The memory (`ResidentRoom`) is at most 128 MiB, and all vectors
 * in it are evicted together. `reserve` grows a memory, and throws RangeError if the system has
 * none. Growing replaces the memory's buffer, so callers must then make their views anew.
 */
import type { VectorValues } from './elements.ts';

/** The memory of the kernels. */
export interface KernelMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

const PAGE = 65_536;

/** Makes a memory reach to `end`, which may replace its buffer. */
export function reserve(memory: KernelMemory, end: number): void {
  const missing = end - memory.buffer.byteLength;
  if (missing > 0) memory.grow(Math.ceil(missing / PAGE));
}

/** Below it lie the blocks of searches, the largest of which take half of it. */
export const RESIDENTS_AT: number = 32 * 1024 * 1024;
/**
 * The kernels read rows by fours, and so up to three rows past the last: two megabytes each at
 * most.
 */
const READ_PAST = 8 * 1024 * 1024;
const MOST_BYTES = 128 * 1024 * 1024;
/** Requests refused for lack of room before everything is evicted. */
const PATIENCE = 4_096;
const ALIGNMENT = 64;

/** The part of the memory that outlives a search; allocated from beginning to end. */
export class ResidentRoom {
  readonly memory: KernelMemory;
  readonly #most: number;
  #end = RESIDENTS_AT;
  #turnedAway = 0;
  /** Changes when everything allocated so far was evicted. */
  era = 0;

  constructor(memory: KernelMemory, most: number = MOST_BYTES) {
    this.memory = memory;
    this.#most = most;
  }

  /**
   * Gives an address with room for the bytes, undefined if there is none. May replace the memory's
   * buffer.
   */
  take(bytes: number): number | undefined {
    const at = this.#end;
    const end = at + Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;
    if (end > RESIDENTS_AT + this.#most) {
      this.#turnedAway += 1;
      if (this.#turnedAway > PATIENCE) this.#clear();
      return undefined;
    }
    try {
      reserve(this.memory, end + READ_PAST);
    } catch (error) {
      // The system has no more memory of this kind: the vectors stay where they are.
      if (error instanceof RangeError) return undefined;
      throw error;
    }
    this.#end = end;
    return at;
  }

  #clear(): void {
    this.era += 1;
    this.#end = RESIDENTS_AT;
    this.#turnedAway = 0;
  }
}

interface Resident {
  readonly byteOffset: number;
  readonly byteLength: number;
  readonly era: number;
  /** Searches that came by. */
  seen: number;
  /** In the memory; -1 while it is not there. */
  at: number;
}

/** The arrays kept. */
export class Residents {
  readonly #room: ResidentRoom;
  readonly #known = new WeakMap<ArrayBufferLike, Resident>();

  constructor(room: ResidentRoom) {
    this.#room = room;
  }

  /**
   * Where the array is in the memory, undefined when it is not. It is moved in as its second search
   * `begins`, which may replace the memory's buffer.
   */
  placeOf(values: VectorValues, begins: boolean): number | undefined {
    const { buffer, byteOffset, byteLength } = values;
    const { era } = this.#room;
    const known = this.#known.get(buffer);
    if (known?.byteOffset !== byteOffset || known.byteLength !== byteLength || known.era !== era) {
      if (begins) this.#known.set(buffer, { byteOffset, byteLength, era, seen: 1, at: -1 });
      return undefined;
    }
    if (known.at < 0 && begins) {
      known.seen += 1;
      if (known.seen > 1) this.#admit(values, known);
    }
    return known.at < 0 ? undefined : known.at;
  }

  #admit(values: VectorValues, resident: Resident): void {
    const { buffer, byteOffset, byteLength } = values;
    const at = this.#room.take(byteLength);
    if (at === undefined) return;
    const { memory } = this.#room;
    new Uint8Array(memory.buffer).set(new Uint8Array(buffer, byteOffset, byteLength), at);
    resident.at = at;
  }
}
