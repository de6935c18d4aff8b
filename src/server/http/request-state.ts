/**
 * `RequestState` holds the facts of one request in progress: its id, log, abort signal, byte counts
 * and the fields of its log line. The request ends when `drop` was called, because its answer was
 * sent or its caller has left, and all work given to `hold` has ended. It then calls the functions
 * given to `onEnd`, and later ones at once. `untimed` stops the clock for long work. The file also
 * defines the requests and answers of the HTTP layer, and the reasons for which a request is
 * aborted: `RequestTimeout`, `ClientGone` and `stoppingError`.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { LONGEST_TIMER } from '../../env.ts';
import { DirspaceError } from '../../errors.ts';
import { Progress } from '../../progress.ts';
import type { AnyOperation, QueryValues } from '../../protocol/index.ts';
import type { Dialect } from '../dialects/index.ts';
import type { RequestLog, Trace } from '../settings/index.ts';

/** A request as it came, over a socket or from `fetch`. */
export interface WireRequest {
  readonly method: string;
  /** Path and query as they were sent. */
  readonly url: string;
  readonly httpVersion: string;
  /** The address of the other end; undefined where the request came without a socket. */
  readonly peer: string | undefined;
  /** By their names in lower case. */
  readonly headers: IncomingHttpHeaders;
  /** The values of a header, by its name in lower case, one for each time that it was sent. */
  sent(name: string): readonly string[];
  /** It expects something else of the server than to be told to go on. */
  readonly expectsOther: boolean;
  /** Undefined where the request says that it has none. Pulled piece by piece. */
  readonly body: Readable | undefined;
  /** To be called before the body is read: a caller may wait for it before it sends the body. */
  acceptBody?(): void;
  /** Keeps a connection that stands still open until what is answered is called. */
  holdOpen?(): () => void;
}

export class RequestState {
  readonly id: string;
  readonly request: WireRequest;
  readonly dialect: Dialect | undefined;
  readonly log: RequestLog;
  readonly progress: Progress;
  /** Milliseconds since the epoch. */
  readonly started: number;
  /** The path as it was sent, without its query, which may hold secrets. */
  readonly path: string;
  readonly trace: Trace | undefined;
  /** Of the clock that only goes forward, in milliseconds. */
  readonly begun: number = performance.now();
  /** The name of the route, where there is one. */
  route: string | undefined;
  operation: AnyOperation | undefined;
  principal: string | undefined;
  database: string | undefined;
  /** What the answer tells was wrong, or why there was none. */
  failure: unknown;
  /** Why an answer ended before its body did. */
  brokenOff: unknown;
  /** Bytes of the bodies of request and answer. */
  received = 0;
  sent = 0;
  #holds = 1;
  readonly #releases: (() => void)[] = [];

  constructor(facts: {
    readonly id: string;
    readonly request: WireRequest;
    readonly url: string;
    readonly dialect: Dialect | undefined;
    readonly log: RequestLog;
    readonly started: number;
    readonly timeoutMs: number;
    readonly trace: Trace | undefined;
  }) {
    this.id = facts.id;
    this.request = facts.request;
    this.dialect = facts.dialect;
    this.log = facts.log;
    this.started = facts.started;
    this.path = facts.url.split('?', 1)[0] ?? '';
    this.trace = facts.trace;
    const late = (): unknown => new RequestTimeout(facts.timeoutMs, 'requestTimeoutMs');
    this.progress = new Progress(facts.timeoutMs, late);
  }

  get headers(): IncomingHttpHeaders {
    return this.request.headers;
  }

  /**
   * `release` is called once the request has been answered and all it started has ended; at once where
   * it has ended, as of a caller who left while something else was waited for.
   */
  onEnd(release: () => void): void {
    if (this.#holds > 0) this.#releases.push(release);
    else release();
  }

  /** Ends the request after so many milliseconds, whatever progress it makes. */
  limit(millis: number): void {
    const end = (): void => this.progress.abort(new RequestTimeout(millis));
    const timer = setTimeout(end, Math.min(millis, LONGEST_TIMER)).unref();
    this.onEnd(() => clearTimeout(timer));
  }

  /** Something that may outlast the answer, such as work that does not heed its signal. */
  hold(work: Promise<unknown>): void {
    this.#holds++;
    const drop = (): void => this.drop();
    work.then(drop, drop);
  }

  /** Work that may take as long as it takes: no clock ends it, but a caller who leaves does. */
  async untimed<T>(work: () => Promise<T>): Promise<T> {
    this.progress.pause();
    const release = this.request.holdOpen?.();
    try {
      return await work();
    } finally {
      release?.();
      this.progress.resume();
    }
  }

  /** Ends the request: the answer was sent, or its caller is gone. */
  drop(): void {
    this.#holds--;
    if (this.#holds > 0) return;
    this.progress.end();
    for (const release of this.#releases.splice(0)) release();
  }
}

/** The reason of a signal that the clock aborted. */
export class RequestTimeout extends Error {
  readonly timeoutMs: number;
  /** The limit of the server that it is; undefined where the caller gave the time. */
  readonly limit: 'requestTimeoutMs' | undefined;

  constructor(timeoutMs: number, limit?: 'requestTimeoutMs') {
    super(`The request took longer than ${timeoutMs} ms.`);
    this.timeoutMs = timeoutMs;
    this.limit = limit;
  }
}

/** The reason of a signal that was aborted because the caller is gone. */
export class ClientGone extends Error {}

/** The reason of a signal that was aborted because the server does not wait any longer. */
export function stoppingError(): DirspaceError {
  return new DirspaceError('ServiceUnavailable', 'The server is stopping; send the request again.');
}

/** A request on its way to a route. */
export interface HttpRequest {
  readonly state: RequestState;
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: QueryValues;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Pulled piece by piece where it is no text. */
  readonly body: string | AsyncIterable<Uint8Array>;
}
