/**
 * `appFetch` wraps the request handler as a `fetch` function that takes a Request and returns a
 * Response, without a socket. Aborting the signal that it is given aborts the work. A Response that
 * nobody reads is broken off when the request times out.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import { ReadableStream } from 'node:stream/web';
import type { Exchange, Handler } from './app.ts';
import type { HttpAnswer, WireRequest } from './request-state.ts';

/** Sends requests to `handle`, whatever host their addresses name. */
export function appFetch(handle: Handler): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    // The signal of the new request goes when the request does, and nothing holds that.
    const signal = init?.signal ?? (input instanceof Request ? input.signal : undefined);
    signal?.throwIfAborted();
    const wire = wireRequest(request);
    const exchange = handle(wire);
    const call = new Call(exchange, wire, signal);
    const response = exchange.answer.then((answer) => call.respond(answer));
    const sent = wire.body === undefined ? response : call.unlessBroken(wire.body, response);
    return signal === undefined ? sent : call.unlessAborted(sent);
  };
}

function wireRequest(request: Request): WireRequest {
  const { pathname, search, host } = new URL(request.url);
  const headers: IncomingHttpHeaders = Object.fromEntries(request.headers);
  headers.host ??= host;
  return {
    method: request.method,
    url: pathname + search,
    httpVersion: '1.1',
    peer: undefined,
    headers,
    sent: (name) => [headers[name] ?? []].flat(),
    expectsOther: false,
    body: request.body === null ? undefined : Readable.from(request.body),
  };
}

/** One request and its caller, who may leave at any time. */
class Call {
  readonly #exchange: Exchange;
  readonly #request: WireRequest;
  readonly #signal: AbortSignal | undefined;
  readonly #leave = (): void => this.#exchange.gone();

  constructor(exchange: Exchange, request: WireRequest, signal: AbortSignal | undefined) {
    this.#exchange = exchange;
    this.#request = request;
    this.#signal = signal;
    signal?.addEventListener('abort', this.#leave, { once: true });
  }

  /** As `work`, but rejects with the signal's reason as soon as that is aborted. */
  async unlessAborted<T>(work: Promise<T>): Promise<T> {
    const signal = this.#signal as AbortSignal;
    let stop = (): void => {};
    const aborted = new Promise<never>((_, reject) => {
      stop = () => reject(signal.reason);
      signal.addEventListener('abort', stop, { once: true });
    });
    try {
      return await Promise.race([work, aborted]);
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  /** As `work`, but rejects as the caller's own body fails. */
  async unlessBroken<T>(body: Readable, work: Promise<T>): Promise<T> {
    let failed = (_: Error): void => {};
    const broken = new Promise<never>((_, reject) => {
      failed = (error) => {
        reject(error);
        this.#exchange.gone();
      };
    });
    body.on('error', failed);
    return await Promise.race([work, broken]);
  }

  respond({ status, headers, body }: HttpAnswer): Response {
    const bare = status === 204 || status === 304 || this.#request.method === 'HEAD';
    if (typeof body === 'string') {
      if (!bare) this.#exchange.state.sent += Buffer.byteLength(body);
      this.#end(status);
      return new Response(bare ? null : body, { status, headers });
    }
    const pieces = ReadableStream.from(this.#pieces(status, body));
    return new Response(pieces as unknown as globalThis.ReadableStream, { status, headers });
  }

  /** Copies: without a socket in between, pieces would be the memory that others are cut from. */
  #pieces(status: number, body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    const { progress } = this.#exchange.state;
    const source = body[Symbol.asyncIterator]();
    let open = true;
    let forget = (): void => {};
    const finish = (complete: boolean): void => {
      if (!open) return;
      open = false;
      forget();
      if (!complete) {
        this.#exchange.gone();
        void source.return?.().catch(() => {});
      }
      this.#end(status);
    };
    // A response that is never read has no other end.
    forget = progress.onAbort(() => finish(false));
    const next = async (): Promise<IteratorResult<Uint8Array>> => {
      try {
        const { done, value } = await progress.race(source.next());
        progress.moved();
        if (done !== true) {
          this.#exchange.state.sent += value.byteLength;
          return { done: false, value: new Uint8Array(value) };
        }
        finish(true);
        return { done: true, value: undefined };
      } catch (error) {
        this.#exchange.broken(error);
        finish(false);
        throw this.#signal?.aborted === true ? this.#signal.reason : error;
      }
    };
    const leave = async (): Promise<IteratorResult<Uint8Array>> => {
      finish(false);
      return { done: true, value: undefined };
    };
    return { [Symbol.asyncIterator]: () => ({ next, return: leave }) };
  }

  #end(status: number): void {
    this.#signal?.removeEventListener('abort', this.#leave);
    this.#request.body?.destroy();
    this.#exchange.end(status);
  }
}
