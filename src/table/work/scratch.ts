/**
 * `Scratch` pools buffers for reads, because allocating megabytes for every batch costs more than
 * reading them. It keeps at most 8 free buffers, of up to 16 MiB each and 64 MiB together.
 * `LentColumns` holds the columns that one batch has in such buffers, also those of several files
 * (`ofFile`). `giveBack` returns all of its buffers together: nothing may refer to the columns by
 * then, and no read be under way.
 */

import type { Data } from '../../arrow/index.ts';

/** Buffers kept for the next reads: of each batch under way those of a filter and of its rows. */
const KEPT = 8;
/** The largest buffer that is kept, and the bytes of all of them. */
const LARGEST = 16 * 1024 * 1024;
/** Most bytes of all buffers that are kept for the next reads. */
export const SCRATCH_BYTES: number = 64 * 1024 * 1024;

export class Scratch {
  readonly #free: Uint8Array[] = [];
  #bytes = 0;

  /** A buffer of at least so many bytes, aligned to 8, whose content is undefined. */
  take(bytes: number): Uint8Array {
    let at = -1;
    for (const [index, { byteLength }] of this.#free.entries()) {
      const best = this.#free[at]?.byteLength ?? Number.POSITIVE_INFINITY;
      if (byteLength >= bytes && byteLength < best) at = index;
    }
    const [found] = at < 0 ? [] : this.#free.splice(at, 1);
    this.#bytes -= found?.byteLength ?? 0;
    return found ?? new Uint8Array(Buffer.allocUnsafeSlow(roomFor(bytes)).buffer);
  }

  /** Returns a buffer to the pool, once nothing refers to it or writes into it. */
  give(buffer: Uint8Array): void {
    if (buffer.byteLength > LARGEST) return;
    this.#free.push(buffer);
    this.#bytes += buffer.byteLength;
    while (this.#free.length > KEPT || this.#bytes > SCRATCH_BYTES) {
      this.#bytes -= (this.#free.shift() as Uint8Array).byteLength;
    }
  }
}

/** Where memory for reads comes from, and goes back to. */
export type MemorySource = Pick<Scratch, 'take' | 'give'>;

/** The columns of one batch that lie in pooled memory while the batch is worked on. */
export class LentColumns {
  /** By position in the file. */
  readonly columns = new Map<number, Data>();
  readonly #source: MemorySource;
  readonly #memory: Uint8Array[] = [];
  readonly #others: LentColumns[] = [];

  constructor(source: MemorySource) {
    this.#source = source;
  }

  /**
   * The columns of another file that holds columns of the same rows; of the first file, this
   * object.
   */
  ofFile(index: number): LentColumns {
    if (index === 0) return this;
    this.#others[index] ??= new LentColumns(this.#source);
    return this.#others[index];
  }

  take(bytes: number): Uint8Array {
    const memory = this.#source.take(bytes);
    this.#memory.push(memory);
    return memory;
  }

  /** Nothing may refer to the columns any more, and no read be under way. */
  giveBack(): void {
    this.columns.clear();
    for (const other of this.#others) other?.giveBack();
    for (const memory of this.#memory.splice(0)) this.#source.give(memory);
  }
}

/** Rounds up, because batches of a table differ a little and the buffer should fit the next one. */
function roomFor(bytes: number): number {
  const step = Math.max(4096, 2 ** Math.floor(Math.log2(Math.max(bytes, 1)) - 2));
  return bytes > LARGEST ? bytes : Math.ceil(bytes / step) * step;
}
