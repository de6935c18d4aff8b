/**
 * Bounds memory: `RequestMemory` that of one request, `ServerMemory` that of all requests of a
 * server, and `BatchMemory` that of the values computed for one record batch. Callers announce
 * bytes with `take` before they allocate them, and return them with `giveBack`. `HeldMemory` counts
 * one thing that grows and shrinks; its holder must call `end`. The memory of the process is not
 * measured. Too many bytes of a request or record batch throw InvalidInput, and too many of the
 * server throw ServiceUnavailable. Record batches that stream through a server share half of its
 * memory: one may always pass, others wait in line, 10 seconds at most by default. When memory is
 * short, the answer whose reader has been slow longest is cut off, after 5 seconds or more.
 */
import { DirspaceError } from './errors.ts';
import { RegexpBudget } from './regexp-budget.ts';

/** Bytes for one request of a program that uses the engine itself. */
export const DEFAULT_REQUEST_MEMORY: number = 1024 * 1024 * 1024;

/** A scan works on so many batches at once; each may have this share of the request's memory. */
const BATCHES_AT_ONCE = 4;

/** How long a batch of rows waits for memory, in milliseconds, where nothing else is said. */
const DEFAULT_WAIT = 10_000;
/** While batches wait, slow readers are looked for this often, in milliseconds. */
const LOOK_MILLIS = 250;

/** An answer being sent, which holds memory until its reader has taken it. */
export interface SlowAnswer {
  /** Milliseconds that it has waited for a reader that takes little; 0 where it does not wait. */
  waited(): number;
  /** Breaks it off. */
  end(): void;
}

/** Where memory is short, answers whose readers were slow for this many milliseconds are cut off. */
export const SLOW_MILLIS = 5_000;

/** Bytes that are given back between two calls of `released`. */
const RELEASED_BYTES = 32 * 1024 * 1024;

interface Waiting {
  readonly bytes: number;
  readonly enter: () => void;
}

/**
 * The memory that all requests of a server may have together. What a request makes and keeps is taken
 * at once or refused; batches of rows that pass through wait in line for theirs.
 */
export class ServerMemory {
  readonly limit: number;
  readonly #waitMillis: number;
  readonly #waiting = new Set<Waiting>();
  readonly #answers = new Set<SlowAnswer>();
  /** Called after every RELEASED_BYTES given back: there may be garbage worth collecting. */
  released: (() => void) | undefined;
  #taken = 0;
  #givenBack = 0;
  /** Bytes of batches that pass through. */
  #passing = 0;
  #looking: NodeJS.Timeout | undefined;

  /** @param waitMillis how long a batch of rows waits for its memory */
  constructor(limit: number, waitMillis: number = DEFAULT_WAIT) {
    this.limit = limit;
    this.#waitMillis = waitMillis;
  }

  /** Bytes that were taken and not given back. */
  get taken(): number {
    return this.#taken;
  }

  /** Most bytes of batches that pass through, so that they leave room for what requests keep. */
  get passing(): number {
    return this.limit / 2;
  }

  /** @throws ServiceUnavailable */
  take(bytes: number, what: string): void {
    if (this.#taken + bytes > this.limit) {
      this.#endSlowest();
      throw beyondServerMemory(what, bytes, this.limit);
    }
    this.#taken += bytes;
  }

  giveBack(bytes: number): void {
    this.#taken = Math.max(0, this.#taken - bytes);
    this.#givenBack += bytes;
    if (this.#givenBack > RELEASED_BYTES) {
      this.#givenBack = 0;
      this.released?.();
    }
    this.#letIn();
  }

  /** Counts memory that grows and shrinks outside any request; the caller ends it. */
  hold(what: string): HeldMemory {
    return new HeldMemory(this, what);
  }

  /** Takes memory for a batch that streams through; false where there is not enough now. */
  tryPass(bytes: number): boolean {
    if (this.#waiting.size > 0 || !this.#fits(bytes)) return false;
    this.#taken += bytes;
    this.#passing += bytes;
    return true;
  }

  /**
   * Waits in line for memory for a batch that streams through. One batch may always pass, so that
   * requests make progress. Rejects with ServiceUnavailable after too long, and with the signal's reason.
   */
  pass(bytes: number, what: string, signal: AbortSignal | undefined): Promise<void> {
    if (this.tryPass(bytes)) return Promise.resolve();
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(signal.reason);
        return;
      }
      const end = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', leave);
        this.#waiting.delete(waiting);
      };
      const leave = (): void => {
        end();
        reject(signal?.reason);
        this.#letIn();
      };
      const giveUp = (): void => {
        end();
        reject(beyondServerMemory(what, bytes, this.limit));
        this.#letIn();
      };
      const waiting: Waiting = {
        bytes,
        enter: () => {
          end();
          this.#taken += bytes;
          this.#passing += bytes;
          resolve();
        },
      };
      const timer = setTimeout(giveUp, this.#waitMillis).unref();
      signal?.addEventListener('abort', leave, { once: true });
      this.#waiting.add(waiting);
      this.#look();
    });
  }

  /** Takes more memory for a batch that turned out larger. @throws ServiceUnavailable */
  grow(bytes: number, what: string): void {
    this.take(bytes, what);
    this.#passing += bytes;
  }

  /** Gives back memory of a batch that has passed. */
  passed(bytes: number): void {
    this.#passing -= bytes;
    this.giveBack(bytes);
  }

  /** Registers an answer being sent until the function returned is called. */
  sending(answer: SlowAnswer): () => void {
    this.#answers.add(answer);
    return () => this.#answers.delete(answer);
  }

  #fits(bytes: number): boolean {
    if (this.#passing === 0) return true;
    return this.#taken + bytes <= this.limit && this.#passing + bytes <= this.passing;
  }

  #letIn(): void {
    for (const waiting of this.#waiting) {
      if (!this.#fits(waiting.bytes)) return;
      waiting.enter();
    }
  }

  #look(): void {
    this.#looking ??= setTimeout(() => {
      this.#looking = undefined;
      if (this.#waiting.size === 0) return;
      this.#endSlowest();
      this.#look();
    }, LOOK_MILLIS).unref();
  }

  /** Breaks off the answer that has waited longest for a slow reader, where there is one. */
  #endSlowest(): void {
    let slowest: SlowAnswer | undefined;
    let most = SLOW_MILLIS;
    for (const answer of this.#answers) {
      const waited = answer.waited();
      if (waited < most) continue;
      most = waited;
      slowest = answer;
    }
    if (slowest === undefined) return;
    this.#answers.delete(slowest);
    slowest.end();
  }
}

const beyondServerMemory = (what: string, bytes: number, limit: number): DirspaceError =>
  new DirspaceError(
    'ServiceUnavailable',
    `${what} would take ${bytes} bytes more, and with those of the other requests under way that is beyond serverMemory (${limit} bytes). Try again when they are done, or raise serverMemory.`,
    { details: { limit: 'serverMemory', serverMemory: limit } },
  );

/** The memory of one request. */
export class RequestMemory {
  readonly limit: number;
  readonly #server: ServerMemory | undefined;
  readonly #regexp: RegexpBudget;
  #taken = 0;

  /**
   * @param server what is taken counts there as well
   * @param regexp the work of regular expressions of the same request
   */
  constructor(
    limit: number = DEFAULT_REQUEST_MEMORY,
    server?: ServerMemory,
    regexp: RegexpBudget = new RegexpBudget(),
  ) {
    this.limit = limit;
    this.#server = server;
    this.#regexp = regexp;
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
    if (this.#taken + bytes > this.limit) {
      throw beyondRequestMemory(
        this.#taken === 0
          ? `${what} would take ${bytes} bytes, which is beyond requestMemory (${this.limit} bytes)`
          : `${what} would take ${bytes} bytes more, and with the ${this.#taken} bytes that the request has already that is beyond requestMemory (${this.limit} bytes)`,
        this.limit,
      );
    }
    this.#server?.take(bytes, what);
    this.#taken += bytes;
  }

  giveBack(bytes: number): void {
    const given = Math.min(bytes, this.#taken);
    this.#taken -= given;
    this.#server?.giveBack(given);
  }

  /** Counts memory that grows and shrinks during the request; the caller ends it. */
  hold(what: string): HeldMemory {
    return new HeldMemory(this, what);
  }

  /** As `hold`, but counted for the server alone; undefined if there is none. */
  holdOfServer(what: string): HeldMemory | undefined {
    return this.#server?.hold(what);
  }

  /** The part that an expression may use while it is evaluated for one batch of rows. */
  batch(): BatchMemory {
    const share = Math.floor(this.limit / BATCHES_AT_ONCE);
    return new BatchMemory(Math.min(share, this.limit - this.#taken), this.limit, this.#regexp);
  }
}

/** The bytes of one thing, such as the rows that a sort collects. */
export class HeldMemory {
  readonly #memory: Pick<RequestMemory, 'take' | 'giveBack'>;
  readonly #what: string;
  #bytes = 0;

  constructor(memory: Pick<RequestMemory, 'take' | 'giveBack'>, what: string) {
    this.#memory = memory;
    this.#what = what;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Changes the count to `bytes`. @throws as RequestMemory.take; the count then stays as it was */
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
  /** That of the whole request. */
  readonly regexp: RegexpBudget;
  readonly #most: number;
  readonly #limit: number;

  constructor(most: number, limit: number, regexp: RegexpBudget) {
    this.#most = most;
    this.#limit = limit;
    this.regexp = regexp;
  }

  /** Asked before a text of `length` code units is made. @throws InvalidInput */
  text(length: number): void {
    this.take(TEXT_OVERHEAD + 2 * length);
  }

  /** Asked before `bytes` are taken. @throws InvalidInput */
  take(bytes: number): void {
    this.used += bytes;
    if (this.used > this.#most) {
      throw beyondRequestMemory(
        `The computed values of one batch of rows would take ${this.used} bytes or more, and may take ${this.#most}, their share of requestMemory (${this.#limit} bytes)`,
        this.#limit,
        'Send smaller record batches, compute less or shorter values',
      );
    }
  }
}

const ASK_LESS = 'Ask for fewer rows, columns or groups, or send less data at once';

function beyondRequestMemory(found: string, limit: number, advice = ASK_LESS): DirspaceError {
  return new DirspaceError('InvalidInput', `${found}. ${advice}, or raise requestMemory.`, {
    details: { limit: 'requestMemory', requestMemory: limit },
  });
}
