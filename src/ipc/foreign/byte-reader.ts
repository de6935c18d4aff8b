/**
 * `ByteReader` takes bytes out of a stream of chunks. `take` returns as many as are asked for, or
 * fewer at the end; `peek` does so without taking them, and `rest` takes all that is left. It pulls
 * chunks as needed, so memory grows with the bytes that arrived, not with the number asked for. It
 * throws PayloadTooLarge if the stream has more than `maxBytes` in all, or more is left than `rest`
 * may take, and InvalidInput for a chunk that is no Uint8Array. `close` ends the stream early.
 */
import { DirspaceError } from '../../errors.ts';
import type { HeldMemory, RequestMemory } from '../../request-memory.ts';

/** What a source holds at first for an amount that has yet to arrive. */
const FIRST_BYTES = 65_536;

export class ByteReader {
  readonly #chunks: AsyncIterator<Uint8Array> | Iterator<Uint8Array>;
  readonly #maxBytes: number;
  readonly #held: HeldMemory | undefined;
  #chunk: Uint8Array = new Uint8Array(0);
  #pulled = 0;
  #ended = false;

  /**
   * @param maxBytes that all chunks may have; more are PayloadTooLarge
   * @param memory where an amount that is collected from several chunks counts until the next one is
   */
  constructor(
    chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    maxBytes = Number.POSITIVE_INFINITY,
    memory?: RequestMemory,
  ) {
    this.#held = memory?.hold('The Arrow data that arrived');
    this.#chunks =
      Symbol.asyncIterator in chunks ? chunks[Symbol.asyncIterator]() : chunks[Symbol.iterator]();
    this.#maxBytes = maxBytes;
  }

  /** How many bytes were taken. */
  get position(): number {
    return this.#pulled - this.#chunk.length;
  }

  /** Up to `bytes` bytes without taking them; fewer only at the end. Meant for a few bytes. */
  async peek(bytes: number): Promise<Uint8Array> {
    while (this.#chunk.length < bytes) {
      const next = await this.#pull();
      if (next === undefined) break;
      this.#chunk = this.#chunk.length === 0 ? next : Buffer.concat([this.#chunk, next]);
    }
    return this.#chunk.subarray(0, bytes);
  }

  /**
   * Up to `bytes` bytes; fewer only at the end. A view of a chunk where one has them all. Memory
   * grows with what arrives, not with what is asked for. Throws what the memory of the request does.
   */
  async take(bytes: number): Promise<Uint8Array> {
    this.#held?.set(0);
    // Nothing is taken without waiting: what follows a message without a body may come much later.
    if (this.#chunk.length === 0 && bytes > 0) this.#chunk = (await this.#pull()) ?? this.#chunk;
    if (this.#chunk.length >= bytes || this.#ended) return this.#cut(bytes);
    let held: Uint8Array = new Uint8Array(
      Math.min(bytes, Math.max(FIRST_BYTES, 2 * this.#chunk.length)),
    );
    let length = 0;
    for (;;) {
      const part = this.#cut(bytes - length);
      if (length + part.length > held.length) {
        const size = Math.min(bytes, Math.max(2 * held.length, length + part.length));
        this.#held?.set(size);
        held = grown(held, length, size);
      }
      held.set(part, length);
      length += part.length;
      if (length === bytes) return held;
      const next = await this.#pull();
      if (next === undefined) return held.subarray(0, length);
      this.#chunk = next;
    }
  }

  /** All that is left. */
  async rest(maxBytes: number): Promise<Uint8Array> {
    const bytes = await this.take(maxBytes);
    const more = await this.peek(1);
    if (more.length > 0) throw exceeds(maxBytes);
    return bytes;
  }

  /** Ends the source early. */
  async close(): Promise<void> {
    this.#held?.set(0);
    if (this.#ended) return;
    this.#ended = true;
    await this.#chunks.return?.();
  }

  #cut(bytes: number): Uint8Array {
    const part = this.#chunk.subarray(0, bytes);
    this.#chunk = this.#chunk.subarray(part.length);
    return part;
  }

  /** The next chunk that is not empty. */
  async #pull(): Promise<Uint8Array | undefined> {
    while (!this.#ended) {
      const next = await this.#chunks.next();
      if (next.done === true) {
        this.#ended = true;
        break;
      }
      const chunk: unknown = next.value;
      if (!(chunk instanceof Uint8Array)) {
        throw new DirspaceError(
          'InvalidInput',
          `Expected chunks of bytes (Uint8Array), found ${typeof chunk}.`,
        );
      }
      this.#pulled += chunk.length;
      if (this.#pulled > this.#maxBytes) throw exceeds(this.#maxBytes);
      if (chunk.length > 0) return chunk;
    }
    return undefined;
  }
}

const exceeds = (maxBytes: number): DirspaceError =>
  new DirspaceError('PayloadTooLarge', `The data has more than the ${maxBytes} bytes allowed.`);

function grown(held: Uint8Array, length: number, size: number): Uint8Array {
  const larger = new Uint8Array(size);
  larger.set(held.subarray(0, length));
  return larger;
}
