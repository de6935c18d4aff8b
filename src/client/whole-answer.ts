/**
 * `wholeAnswer` sends a request with a body of text, or none, and returns the answer with its whole
 * body (`Answer`), whatever its status. It calls the dispatcher of Node's `fetch` directly: it uses
 * the same connections, but skips the streams and copies of `fetch`. Without such a dispatcher, or
 * if the program has replaced `fetch`, it returns undefined, and the caller uses `fetch`. An answer
 * of more than 256 MiB throws Internal, and one whose compression cannot be decoded throws
 * DamagedAnswer. A lost connection rejects with the transport's error.
 */
import { promisify } from 'node:util';
import { unzip, type ZlibOptions } from 'node:zlib';
import { DirspaceError } from '../errors.ts';
import type { Progress } from '../progress.ts';
import { currentDispatcher, UNTIMED } from './platform-fetch.ts';

/** Headers of an answer. */
export interface ReadHeaders {
  get(name: string): string | null;
  forEach(each: (value: string, name: string) => void): void;
}

/** What the client reads of an answer; a `Response` is one, too. */
export interface Answer {
  readonly status: number;
  readonly ok: boolean;
  readonly headers: ReadHeaders;
  /** Null where the body was read already. */
  readonly body: Response['body'];
  /** The body, where it was read already. */
  readonly whole?: Uint8Array;
}

interface WholeRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** An answer came whole, and what it is compressed as cannot be decoded: another would be no better. */
export class DamagedAnswer extends Error {
  constructor(cause: unknown) {
    super('The answer is damaged.', { cause });
  }
}

/** Bytes of a body that is read whole. */
export const MAX_TEXT_BYTES = 256 * 1024 * 1024;

export const tooLong = (): DirspaceError =>
  new DirspaceError('Internal', `The answer is longer than ${MAX_TEXT_BYTES} bytes.`);

/**
 * Every piece that comes restarts `progress`. Rejects with its reason where that is aborted, with
 * DamagedAnswer, or with what the connection failed with before the answer ended.
 * @throws Internal for a body of more than 256 MiB
 */
export function wholeAnswer(
  { method, url, headers, body }: WholeRequest,
  progress: Progress,
): Promise<Answer> | undefined {
  const dispatcher = isNodes(globalThis.fetch) ? currentDispatcher() : undefined;
  if (dispatcher === undefined) return undefined;
  // The slash behind the host. The address is in the form that `URL` would give it.
  const at = url.indexOf('/', 'https://'.length);
  const request = {
    origin: url.slice(0, at),
    path: url.slice(at),
    method,
    // As `fetch` says of itself.
    headers: { 'accept-encoding': 'gzip, deflate', ...headers },
    body,
    ...UNTIMED,
  };
  return new Promise<Answer>((resolve, reject) => {
    const received = (found: Received): void => resolve(answerOf(found));
    dispatcher.dispatch(request, new Receiver(progress, received, reject));
  });
}

function answerOf({ status, headers, pieces }: Received): Answer | Promise<Answer> {
  const body = pieces.length === 1 ? (pieces[0] as Uint8Array) : Buffer.concat(pieces);
  const withBody = (whole: Uint8Array): Answer => {
    return { status, ok: status >= 200 && status <= 299, headers, body: null, whole };
  };
  const coding = headers.get('content-encoding');
  return coding === null ? withBody(body) : decoded(body, coding).then(withBody);
}

const unzipped: (bytes: Uint8Array, options: ZlibOptions) => Promise<Uint8Array> = promisify(unzip);

/** Other codings than those that were offered are left as they are, as by `fetch`. */
async function decoded(bytes: Uint8Array, coding: string): Promise<Uint8Array> {
  if (!/^\s*(?:x-gzip|gzip|deflate)\s*$/i.test(coding)) return bytes;
  if (bytes.length === 0) return bytes;
  try {
    return await unzipped(bytes, { maxOutputLength: MAX_TEXT_BYTES });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLong();
    throw new DamagedAnswer(error);
  }
}

interface Received {
  readonly status: number;
  readonly headers: AnswerHeaders;
  readonly pieces: readonly Uint8Array[];
}

const latin1 = (bytes: Uint8Array): string =>
  (Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes)).toString('latin1');

/** Headers by their names in lower case; those that come more than once are joined. */
class AnswerHeaders implements ReadHeaders {
  readonly #values = new Map<string, string>();

  add(name: string, value: string): void {
    const key = name.toLowerCase();
    const before = this.#values.get(key);
    this.#values.set(key, before === undefined ? value : `${before}, ${value}`);
  }

  get(name: string): string | null {
    return this.#values.get(name) ?? null;
  }

  forEach(each: (value: string, name: string) => void): void {
    this.#values.forEach(each);
  }
}

type Abort = (reason?: unknown) => void;

/**
 * Receives one answer from a dispatcher of undici: of releases 6 and before by `onConnect` to
 * `onError`, of later ones by `onRequestStart` to `onResponseError`.
 */
class Receiver {
  readonly #progress: Progress;
  readonly #resolve: (received: Received) => void;
  readonly #reject: (error: unknown) => void;
  readonly #forget: () => void;
  readonly #pieces: Uint8Array[] = [];
  #bytes = 0;
  #status = 0;
  #headers = new AnswerHeaders();
  #abort: Abort | undefined;
  #failure: { readonly reason: unknown } | undefined;

  constructor(
    progress: Progress,
    resolve: (received: Received) => void,
    reject: (error: unknown) => void,
  ) {
    this.#progress = progress;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#forget = progress.onAbort((reason) => this.#giveUp(reason));
  }

  onConnect(abort: Abort): void {
    if (this.#failure === undefined) this.#abort = abort;
    else abort(this.#failure.reason);
  }

  onHeaders(status: number, raw: readonly Uint8Array[]): boolean {
    this.#begin(status);
    for (let at = 0; at + 1 < raw.length; at += 2) {
      this.#headers.add(latin1(raw[at] as Uint8Array), latin1(raw[at + 1] as Uint8Array));
    }
    return true;
  }

  onData(piece: Uint8Array): boolean {
    this.#progress.moved();
    this.#bytes += piece.byteLength;
    if (this.#bytes > MAX_TEXT_BYTES) this.#giveUp(tooLong());
    else this.#pieces.push(piece);
    return true;
  }

  onComplete(): void {
    this.#forget();
    this.#resolve({ status: this.#status, headers: this.#headers, pieces: this.#pieces });
  }

  onError(error: unknown): void {
    this.#forget();
    this.#reject(error);
  }

  onRequestStart(controller: { readonly abort: Abort }): void {
    this.onConnect((reason) => controller.abort(reason));
  }

  onResponseStart(_: unknown, status: number, headers: RawHeaders): void {
    this.#begin(status);
    for (const [name, value] of Object.entries(headers)) {
      for (const one of [value].flat()) this.#headers.add(name, one);
    }
  }

  onResponseData(_: unknown, piece: Uint8Array): void {
    this.onData(piece);
  }

  onResponseEnd(): void {
    this.onComplete();
  }

  onResponseError(_: unknown, error: unknown): void {
    this.onError(error);
  }

  /** Notes that go ahead of an answer, as 103, are replaced by what follows them. */
  #begin(status: number): void {
    this.#progress.moved();
    this.#headers = new AnswerHeaders();
    this.#status = status < 200 ? 0 : status;
  }

  #giveUp(reason: unknown): void {
    this.#failure = { reason };
    this.#forget?.();
    this.#reject(reason);
    this.#abort?.(reason);
  }
}

type RawHeaders = Readonly<Record<string, string | readonly string[]>>;

let known: unknown;
let knownIsNodes = false;

/** Whether it is the `fetch` that Node came with, by its text: any other may do other things. */
function isNodes(fetch: unknown): boolean {
  if (fetch !== known) {
    const text = typeof fetch === 'function' ? Function.prototype.toString.call(fetch) : '';
    knownIsNodes = text.includes("require('internal/deps/undici/undici')");
    known = fetch;
  }
  return knownIsNodes;
}
