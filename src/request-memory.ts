/**
 * The memory that one request may have at once for what is made while it is answered. What is about
 * to be made is counted first, so that a request beyond its bound is refused before it takes
 * anything. Counts what it is told; it measures nothing itself.
 */
import { DirspaceError } from './errors.ts';

/** Bytes for one request of a program that uses the engine itself. */
export const DEFAULT_REQUEST_MEMORY: number = 1024 * 1024 * 1024;

/** A scan works on so many batches at once; each may have this share of the request's memory. */
const BATCHES_AT_ONCE = 4;

/** The memory that all requests of a server may have together. */
export class ServerMemory {
  readonly limit: number;
  #taken = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  /** Bytes that were taken and not given back. */
  get taken(): number {
    return this.#taken;
  }

  /** @throws ServiceUnavailable */
  take(bytes: number, what: string): void {
    if (this.#taken + bytes > this.limit) {
      throw new DirspaceError(
        'ServiceUnavailable',
        `${what} would take ${bytes} bytes more, and with those of the other requests under way that is beyond serverMemory (${this.limit} bytes). Try again when they are done, or raise serverMemory.`,
        { details: { limit: 'serverMemory', serverMemory: this.limit } },
      );
    }
    this.#taken += bytes;
  }

  giveBack(bytes: number): void {
    this.#taken = Math.max(0, this.#taken - bytes);
  }
}

/** The memory of one request. */
export class RequestMemory {
  readonly limit: number;
  readonly #server: ServerMemory | undefined;
  #taken = 0;

  /** @param server what is taken counts there as well */
  constructor(limit: number = DEFAULT_REQUEST_MEMORY, server?: ServerMemory) {
    this.limit = limit;
    this.#server = server;
  }

  /** Bytes that were taken and not given back. */
  get taken(): number {
    return this.#taken;
  }

  /**
   * Counts `bytes` before they are made; `what` is named where they are refused.
   * @throws InvalidInput beyond the request's own bound, ServiceUnavailable beyond that of the server
   */
  take(bytes: number, what: string): void {
    if (this.#taken + bytes > this.limit) throw beyondRequestMemory(what, bytes, this.limit);
    this.#server?.take(bytes, what);
    this.#taken += bytes;
  }

  giveBack(bytes: number): void {
    const given = Math.min(bytes, this.#taken);
    this.#taken -= given;
    this.#server?.giveBack(given);
  }

  /** Counts what grows and shrinks while the request goes on; whoever asks for it ends it. */
  hold(what: string): HeldMemory {
    return new HeldMemory(this, what);
  }

  /** What an expression may use of it while it is evaluated for one batch of rows. */
  batch(): BatchMemory {
    const share = Math.floor(this.limit / BATCHES_AT_ONCE);
    return new BatchMemory(Math.min(share, this.limit - this.#taken), this.limit);
  }
}

/** The bytes of one thing, such as the rows that a sort collects. */
export class HeldMemory {
  readonly #memory: RequestMemory;
  readonly #what: string;
  #bytes = 0;

  constructor(memory: RequestMemory, what: string) {
    this.#memory = memory;
    this.#what = what;
  }

  /** It has so many bytes now. @throws as RequestMemory.take, with what it had before still counted */
  set(bytes: number): void {
    const more = bytes - this.#bytes;
    if (more > 0) this.#memory.take(more, this.#what);
    else this.#memory.giveBack(-more);
    this.#bytes = bytes;
  }

  /** Gives all of it back. Calling it again does nothing. */
  end(): void {
    this.set(0);
  }
}

/** Two bytes a character, and what the runtime keeps of a text and of a reference to it. */
const TEXT_OVERHEAD = 40;

/** The memory of the values that an expression makes for one batch, which live until its end. */
export class BatchMemory {
  /** Bytes counted so far; may be set back to what it was when values made since are gone. */
  used = 0;
  readonly #most: number;
  readonly #limit: number;

  constructor(most: number, limit: number) {
    this.#most = most;
    this.#limit = limit;
  }

  /** Asked before a text of `length` code units is made. @throws InvalidInput */
  text(length: number): void {
    this.take(TEXT_OVERHEAD + 2 * length);
  }

  /** Asked before `bytes` are taken. @throws InvalidInput */
  take(bytes: number): void {
    this.used += bytes;
    if (this.used > this.#most) {
      throw beyondRequestMemory('The computed values of one batch of rows', this.used, this.#limit);
    }
  }
}

function beyondRequestMemory(what: string, bytes: number, limit: number): DirspaceError {
  return new DirspaceError(
    'InvalidInput',
    `${what} would take ${bytes} bytes or more, which is beyond the share of requestMemory (${limit} bytes) that there is for it. Compute less or shorter values, or raise requestMemory.`,
    { details: { limit: 'requestMemory', requestMemory: limit } },
  );
}
