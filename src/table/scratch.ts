/**
 * Memory for reads whose bytes are copied out of it at once. Fresh megabytes for every batch cost
 * more than the reading: they have to be mapped, and make the collector run.
 */

/** Buffers kept for the next read, and the largest that is. */
const KEPT = 4;
const LARGEST = 16 * 1024 * 1024;

export class Scratch {
  readonly #free: Uint8Array[] = [];

  /** At least so many bytes, at an address that is a multiple of 8, of any content. */
  take(bytes: number): Uint8Array {
    const at = this.#free.findIndex((buffer) => buffer.byteLength >= bytes);
    const [found] = at < 0 ? [] : this.#free.splice(at, 1);
    return found ?? new Uint8Array(Buffer.allocUnsafeSlow(bytes).buffer, 0, bytes);
  }

  /** Only what nothing refers to any more, and nothing writes into. */
  give(buffer: Uint8Array): void {
    if (buffer.byteLength > LARGEST) return;
    if (this.#free.length === KEPT) this.#free.shift();
    this.#free.push(buffer);
  }
}
