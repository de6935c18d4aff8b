/**
 * `FileReader` reads byte ranges of one open file, and `FileWriter` appends to a new one. Reading
 * past the end throws Corrupt, and using a closed one throws Closed. At full durability a writer
 * flushes after every 2 MiB or so, and at the end. After a failed write or flush `finish` throws.
 * `abort` removes the file, even a finished one. A reader that is closed keeps its file descriptor
 * until its reads have ended, because the system would reuse the number at once.
 */
import { joined, totalLength } from '../bytes.ts';
import { DirspaceError } from '../errors.ts';
import {
  closeQuietly,
  completed,
  type Disk,
  flushFile,
  PIECE_BYTES,
  SMALL,
  storeError,
  unlinkQuietly,
  writeAll,
  writeSmall,
} from './disk/index.ts';
import type { Awaitable, ObjectReader, ObjectWriter } from './store.ts';

export class FileReader implements ObjectReader {
  readonly size: number;
  readonly #disk: Disk;
  readonly #path: string;
  readonly #fd: number;
  #underWay = 0;
  #closed = false;

  constructor(disk: Disk, path: string, fd: number, size: number) {
    this.#disk = disk;
    this.#path = path;
    this.#fd = fd;
    this.size = size;
  }

  read(offset: number, length: number, into?: Uint8Array): Awaitable<Uint8Array> {
    this.#check(offset, length);
    const bytes = into?.subarray(0, length) ?? memoryFor(length);
    let read = 0;
    if (length <= SMALL) this.#readAtOnce(offset, bytes, 0, length);
    else {
      if (into !== undefined) read = this.#readAtPace(offset, bytes);
      if (read < length) return this.#readByPool(offset, bytes, read);
    }
    return bytes;
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    if (this.#underWay === 0) closeQuietly(this.#disk.fs, this.#fd);
  }

  /**
   * Reads synchronously while the page cache answers at the speed of memory, and returns how many
   * bytes that were. Not into fresh memory: mapping its pages is left to the thread pool.
   */
  #readAtPace(offset: number, bytes: Uint8Array): number {
    const { env, pace } = this.#disk;
    let read = 0;
    while (read < bytes.length && pace.isQuick()) {
      const start = env.now();
      const end = Math.min(bytes.length, read + PIECE_BYTES);
      this.#readAtOnce(offset, bytes, read, end);
      read = end;
      pace.took(env.now() - start);
    }
    return read;
  }

  #readAtOnce(offset: number, bytes: Uint8Array, from: number, to: number): void {
    try {
      for (let at = from; at < to; ) {
        const count = this.#disk.fs.readSync(this.#fd, bytes, at, to - at, offset + at);
        if (!(count > 0)) throw this.#cut(offset, bytes.length, at);
        at += count;
      }
    } catch (error) {
      throw storeError(error, 'read', this.#path);
    }
  }

  async #readByPool(offset: number, bytes: Uint8Array, from: number): Promise<Uint8Array> {
    const { length } = bytes;
    this.#underWay++;
    try {
      let at = from;
      while (at < length) {
        const count = await completed<number>((done) =>
          this.#disk.fs.read(this.#fd, bytes, at, length - at, offset + at, done),
        );
        if (!(count > 0)) throw this.#cut(offset, length, at);
        at += count;
      }
      return bytes;
    } catch (error) {
      throw storeError(error, 'read', this.#path);
    } finally {
      this.#underWay--;
      if (this.#closed && this.#underWay === 0) closeQuietly(this.#disk.fs, this.#fd);
    }
  }

  #check(offset: number, length: number): void {
    if (this.#closed) {
      throw new DirspaceError('Closed', `\`${this.#path}\` was closed before it was read`);
    }
    const sound =
      Number.isSafeInteger(offset) && Number.isSafeInteger(length) && offset >= 0 && length >= 0;
    // Checked before any allocation: lengths may come from untrusted bytes.
    if (!sound || length > this.size - offset) {
      throw new DirspaceError(
        'Corrupt',
        `bytes ${offset} to ${offset + length} of \`${this.#path}\` were asked for, but it has ${this.size}`,
        { details: { path: this.#path, offset, length, size: this.size } },
      );
    }
  }

  #cut(offset: number, length: number, found: number): DirspaceError {
    return new DirspaceError(
      'Corrupt',
      `\`${this.#path}\` became shorter while it was read: ${found} of ${length} bytes at ${offset}`,
      { details: { path: this.#path, offset, length, found } },
    );
  }
}

/** Unzeroed memory is safe: nothing of it is returned unless all of it was read. */
const memoryFor = (bytes: number): Uint8Array =>
  bytes > SMALL
    ? new Uint8Array(Buffer.allocUnsafeSlow(bytes).buffer, 0, bytes)
    : new Uint8Array(bytes);

/** Bytes after which the disk begins to take them, while more are being made. */
const FLUSHED_AHEAD = 2 * 1024 * 1024;

export class FileWriter implements ObjectWriter {
  readonly #disk: Disk;
  readonly #path: string;
  readonly #absolute: string;
  readonly #fd: number;
  readonly #finished: () => void;
  #written = 0;
  #unflushed = 0;
  /** A flush under way. Its error is kept: the system reports one only once. */
  #flush: Promise<void> | undefined;
  #flushError: unknown;
  /** The end of the call begun last: calls use the file one after the other. */
  #tail: Promise<unknown> = Promise.resolve();
  #state: 'open' | 'failed' | 'finished' | 'closed' = 'open';

  /** `finished` is called once when the object is whole. */
  constructor(disk: Disk, path: string, absolute: string, fd: number, finished: () => void) {
    this.#disk = disk;
    this.#path = path;
    this.#absolute = absolute;
    this.#fd = fd;
    this.#finished = finished;
  }

  write(buffers: readonly Uint8Array[]): Promise<void> {
    return this.#inTurn(() => this.#writeNow(buffers));
  }

  finish(): Promise<number> {
    return this.#inTurn(() => this.#finishNow());
  }

  /** Removes the file, also one that is finished meanwhile. */
  abort(): Promise<void> {
    return this.#inTurn(() => this.#abortNow());
  }

  #inTurn<Result>(call: () => Promise<Result>): Promise<Result> {
    const next = this.#tail.then(call);
    // The chain itself never rejects: the failure is the caller's promise and the state.
    this.#tail = next.catch(() => {});
    return next;
  }

  async #finishNow(): Promise<number> {
    this.#mustBeOpen();
    const { fs, full } = this.#disk;
    try {
      await this.#flush;
      if (this.#flushError !== undefined) throw this.#flushError;
      if (full) await flushFile(fs, this.#fd);
      const { size } = fs.fstatSync(this.#fd);
      if (size !== this.#written) {
        throw new DirspaceError(
          'Internal',
          `\`${this.#path}\` has ${size} bytes after ${this.#written} were written`,
          { details: { path: this.#path, size, written: this.#written } },
        );
      }
      this.#state = 'finished';
      fs.closeSync(this.#fd);
    } catch (error) {
      if (this.#state === 'open') this.#state = 'failed';
      throw storeError(error, 'finish', this.#path);
    }
    this.#finished();
    return this.#written;
  }

  async #abortNow(): Promise<void> {
    await this.#flush;
    if (this.#state === 'closed') return;
    if (this.#state !== 'finished') closeQuietly(this.#disk.fs, this.#fd);
    this.#state = 'closed';
    unlinkQuietly(this.#disk.fs, this.#absolute);
  }

  async #writeNow(buffers: readonly Uint8Array[]): Promise<void> {
    this.#mustBeOpen();
    const { fs } = this.#disk;
    const length = totalLength(buffers);
    try {
      if (length > SMALL) await writeAll(fs, this.#fd, buffers);
      else if (length > 0) writeSmall(fs, this.#fd, joined(buffers));
      this.#written += length;
      this.#unflushed += length;
      if (this.#unflushed >= FLUSHED_AHEAD) this.#flushAhead();
    } catch (error) {
      this.#state = 'failed';
      throw storeError(error, 'write', this.#path);
    }
  }

  #flushAhead(): void {
    if (!this.#disk.full || this.#flush !== undefined) return;
    this.#unflushed = 0;
    this.#flush = flushFile(this.#disk.fs, this.#fd)
      .catch((error: unknown) => {
        this.#flushError ??= error;
      })
      .finally(() => {
        this.#flush = undefined;
      });
  }

  #mustBeOpen(): void {
    if (this.#state === 'open') return;
    throw new DirspaceError(
      'Closed',
      `\`${this.#path}\` takes no more bytes: it is ${this.#state}`,
    );
  }
}
