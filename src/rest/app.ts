/**
 * The web framework around the routes: the only importer of Fastify and its plugin. Turns its
 * requests into ours and our answers into its replies; what a route does is routes.ts's.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { ReadableStream } from 'node:stream/web';
import underPressure from '@fastify/under-pressure';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import { DirspaceError } from '../errors.ts';
import type { QueryValues } from '../protocol/exchange.ts';
import { finishAfterBody, isUnread } from './leftover.ts';
import {
  ClientGone,
  type HttpAnswer,
  type HttpRequest,
  type RequestState,
} from './request-state.ts';

export interface Route {
  readonly method: 'GET' | 'POST';
  /** Parameters stand in braces. */
  readonly path: string;
  readonly answer: (http: HttpRequest) => HttpAnswer | Promise<HttpAnswer>;
}

export interface AppOptions {
  readonly routes: readonly Route[];
  /** Called before a request is routed; answers the address to route and what is kept of it. */
  readonly begin: (raw: IncomingMessage) => { readonly url: string; readonly state: RequestState };
  readonly failed: (state: RequestState, failure: unknown) => HttpAnswer;
  /** Called once for each request, when its answer is sent or nobody waits for it any more. */
  readonly ended: (state: RequestState, status: number) => void;
  /** The answer to bytes that are no request at all. */
  readonly garbled: () => HttpAnswer;
  /** A socket without any traffic is closed after this. */
  readonly socketTimeoutMs: number;
  /** Refuse while the event loop is later than this; 0 for never. */
  readonly maxEventLoopDelayMs: number;
}

const STATE = Symbol('state');
type Tracked = IncomingMessage & { [STATE]?: RequestState };

function stateOf(request: FastifyRequest): RequestState {
  return (request.raw as Tracked)[STATE] as RequestState;
}

export async function createApp(options: AppOptions): Promise<FastifyInstance> {
  const app = fastify({
    routerOptions: { maxParamLength: 16_384 },
    exposeHeadRoutes: false,
    http: { requireHostHeader: false },
    connectionTimeout: options.socketTimeoutMs,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    // Bodies are read by the routes, which know how large they may be.
    bodyLimit: Number.MAX_SAFE_INTEGER,
    rewriteUrl: (raw) => {
      const { url, state } = options.begin(raw);
      (raw as Tracked)[STATE] = state;
      return url;
    },
    frameworkErrors: (error, request, reply) => {
      track(request as FastifyRequest, reply as FastifyReply, options);
      return fail(request as FastifyRequest, reply as FastifyReply, error, options);
    },
    clientErrorHandler: (_, socket) => refuseGarbled(socket, options.garbled()),
  });
  // What Node would answer by itself, without a body.
  app.server.on('checkExpectation', (raw, reply) => app.server.emit('request', raw, reply));
  app.server.on('connect', (_, socket: Socket) => refuseGarbled(socket, options.garbled()));
  // Those of requests that no route is for are not read at all.
  app.removeAllContentTypeParsers();
  app.addHttpMethod('POST', { hasBody: false, overrideExisting: true });
  const isBusy = await busyness(app, options.maxEventLoopDelayMs);
  app.addHook('onRequest', (request, reply, done) => {
    track(request, reply, options);
    if (!isBusy()) return done();
    const busy = new DirspaceError('ServiceUnavailable', 'The server is too busy now.');
    fail(request, reply, busy, options);
  });
  app.setErrorHandler((error, request, reply) => fail(request, reply, error, options));
  app.setNotFoundHandler((request, reply) => fail(request, reply, new RouteNotFound(), options));
  for (const route of options.routes) {
    app.route({
      method: route.method,
      url: route.path.replace(/\{(\w+)\}/g, ':$1'),
      handler: (request, reply) => {
        void answer(route, request, reply, options);
      },
    });
  }
  await app.ready();
  return app;
}

/** Whether the event loop is later than that, which is measured once a second. */
async function busyness(app: FastifyInstance, maxEventLoopDelay: number): Promise<() => boolean> {
  if (maxEventLoopDelay === 0) return () => false;
  let isBusy = (): boolean => false;
  // In a scope without routes: its own hook has the route of every request described to it.
  await app.register(async (scope) => {
    await scope.register(underPressure, { maxEventLoopDelay });
    isBusy = () => scope.isUnderPressure();
  });
  return isBusy;
}

/** The reason why nothing answers at an address. */
export class RouteNotFound extends Error {}

async function answer(
  route: Route,
  request: FastifyRequest,
  reply: FastifyReply,
  options: AppOptions,
): Promise<void> {
  try {
    const http = {
      state: stateOf(request),
      parameters: request.params as Readonly<Record<string, string>>,
      query: request.query as QueryValues,
    };
    send(reply, await route.answer(http));
  } catch (failure) {
    fail(request, reply, failure, options);
  }
}

function track(request: FastifyRequest, reply: FastifyReply, options: AppOptions): void {
  const state = stateOf(request);
  const gone = (): void => state.progress.abort(new ClientGone());
  request.raw.once('error', gone);
  // Requests without a socket tell of their end this way only.
  const caller = callers.getStore();
  caller?.addEventListener('abort', gone, { once: true });
  let finished = false;
  reply.raw.once('finish', () => {
    finished = true;
  });
  reply.raw.once('close', () => {
    caller?.removeEventListener('abort', gone);
    if (!finished) gone();
    options.ended(state, reply.raw.statusCode);
    state.drop();
  });
}

function fail(
  request: FastifyRequest,
  reply: FastifyReply,
  failure: unknown,
  { failed }: AppOptions,
): FastifyReply {
  return send(reply, failed(stateOf(request), ofFramework(failure)));
}

/** What the framework refuses is the request's fault; it tells so by a status. */
function ofFramework(failure: unknown): unknown {
  const { statusCode, code } = failure as { statusCode?: unknown; code?: unknown };
  if (typeof code !== 'string' || !code.startsWith('FST_ERR_')) return failure;
  if (typeof statusCode !== 'number' || statusCode < 400 || statusCode > 499) return failure;
  const kind = statusCode === 415 ? 'UnsupportedMediaType' : 'InvalidInput';
  return new DirspaceError(kind, (failure as Error).message, { cause: failure });
}

function send(reply: FastifyReply, { status, headers, body }: HttpAnswer): FastifyReply {
  const { raw } = reply.request;
  if (isUnread(raw)) {
    reply.hijack();
    const all = { ...stringHeaders(reply), ...headers };
    void finishAfterBody(raw, reply.raw, { status, headers: all, body });
    return reply;
  }
  if (typeof body === 'string') {
    // Past the framework: there are no hooks between it and a text that is ready.
    reply.hijack();
    const length = Buffer.byteLength(body);
    // ASCII is copied as it is, together with the header.
    const encoding = length === body.length ? 'latin1' : 'utf8';
    reply.raw.writeHead(status, { ...headers, 'content-length': length }).end(body, encoding);
    return reply;
  }
  reply.code(status).headers(headers);
  return reply.send(Readable.from(body, { objectMode: true }));
}

function stringHeaders(reply: FastifyReply): Record<string, string> {
  return Object.fromEntries(
    Object.entries(reply.getHeaders()).map(([name, value]) => [name, String(value)]),
  );
}

function refuseGarbled(socket: Socket, { status, headers, body }: HttpAnswer): void {
  if (!socket.writable || typeof body !== 'string') {
    socket.destroy();
    return;
  }
  const lines = [
    `HTTP/1.1 ${status} Bad Request`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`);
}

/** The signal of a caller without a socket, on its way through the framework. */
const callers = new AsyncLocalStorage<AbortSignal>();

/** Sends requests to the app without a socket, in the manner of `fetch`. */
export function appFetch(app: FastifyInstance): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    // The signal of the new request goes when the request does, and nothing holds that.
    const signal = init?.signal ?? (input instanceof Request ? input.signal : undefined);
    signal?.throwIfAborted();
    if (!signal) return inject(app, request);
    const answer = callers.run(signal, () => inject(app, request));
    let stop: (() => void) | undefined;
    const aborted = new Promise<never>((_, reject) => {
      stop = () => reject(signal.reason);
      signal.addEventListener('abort', stop, { once: true });
    });
    try {
      return await Promise.race([answer, aborted]);
    } finally {
      if (stop !== undefined) signal.removeEventListener('abort', stop);
    }
  };
}

async function inject(app: FastifyInstance, request: Request): Promise<Response> {
  const { pathname, search, host } = new URL(request.url);
  const headers: Record<string, string> = Object.fromEntries(request.headers);
  headers.host ??= host;
  // Its length is not known, but that it is there has to be said.
  if (request.body !== null) headers['transfer-encoding'] = 'chunked';
  const result = await app.inject({
    method: request.method as 'GET' | 'POST',
    url: pathname + search,
    headers,
    payloadAsStream: true,
    ...(request.body === null ? {} : { payload: Readable.from(request.body) }),
  });
  const { res } = result.raw as unknown as { res: ServerResponse };
  const stream = result.stream();
  stream.once('close', () => {
    if (!stream.readableEnded) res.destroy();
  });
  const answered = new Headers();
  for (const [name, value] of Object.entries(result.headers)) {
    for (const item of [value].flat()) if (item !== undefined) answered.append(name, String(item));
  }
  const { statusCode: status } = result;
  const bare = status === 204 || status === 304;
  const body = bare ? null : (ReadableStream.from(ownChunks(stream)) as unknown as WebStream);
  return new Response(body, { status, headers: answered });
}

type WebStream = globalThis.ReadableStream;

/** Without a socket in between, chunks would be the memory that others are cut from. */
function ownChunks(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]() {
      const source = chunks[Symbol.asyncIterator]();
      return {
        next: async () => {
          const { done, value } = await source.next();
          return done === true ? { done, value } : { done: false, value: new Uint8Array(value) };
        },
        return: async (value) => (await source.return?.(value)) ?? { done: true, value },
      };
    },
  };
}
