/**
 * Defines `Dialect`, the interface by which the server speaks to clients that deviate from the
 * plain protocol. A dialect recognises their requests, and translates addresses, bodies, calls,
 * responses and errors. It also reads their idempotency keys and timeouts, and adds headers to each
 * answer. `RequestHead` is a request before it is routed. lancedb-dialect.ts implements a dialect.
 */
import type { AnyOperation, ErrorBody, RequestParts } from '../../protocol/index.ts';
import type { Caller, RequestHeaders } from '../auth/index.ts';

/** A request before it is routed. */
export interface RequestHead {
  readonly method: string;
  /** Path and query as they were sent. */
  readonly url: string;
  readonly headers: RequestHeaders;
}

export interface Dialect {
  readonly name: string;
  /** Whether the request is in this dialect; the first one that says so counts. */
  recognizes(head: RequestHead): boolean;
  /** The plain protocol's address for it. */
  route(head: RequestHead): string;
  /** Sent with every answer. */
  readonly headers: Readonly<Record<string, string>>;
  /** The plain protocol's parts for those that came; an Arrow body is no part. */
  parts(operation: AnyOperation, parts: RequestParts, headers: RequestHeaders): RequestParts;
  /** The key under which a repeated write can be told, where the dialect has one. */
  idempotencyKey(operation: AnyOperation, headers: RequestHeaders): string | undefined;
  /** Milliseconds that the caller gives the whole request, where it says so. */
  timeoutMs(operation: AnyOperation, headers: RequestHeaders): number | undefined;
  /** Calls as the dialect means them. */
  caller(caller: Caller): Caller;
  /** JSON to send for a response, or undefined for the plain protocol's. */
  answer(operation: AnyOperation, response: unknown): unknown;
  /** The error body to answer with; `operation` is undefined where no route was found. */
  error(operation: AnyOperation | undefined, body: ErrorBody): ErrorBody;
}
