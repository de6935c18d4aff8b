/**
 * `SocketServer` binds the request handler to sockets through Node's HTTP and HTTPS servers.
 * `listen` opens one address; a second call throws InvalidInput. The server limits connections,
 * applies backpressure in both directions, and times out idle sockets and slow headers. Requests
 * that a client sends without waiting for answers are served one after the other, some in each turn
 * of the event loop; too many of them close the connection. Invalid bytes, unknown methods and
 * CONNECT get an error, or a closed connection if an answer is due. `renew` replaces the
 * certificate. `close` waits until no connection is left, and `closeAllConnections` breaks them
 * off.
 */
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { DirspaceError } from '../../errors.ts';
import type { SlowAnswer } from '../../request-memory.ts';
import type { Exchange, Handler } from './app.ts';
import { hasBody } from './body.ts';
import { finishAfterBody, isUnread } from './leftover.ts';
import { Pipelines } from './pipelines.ts';
import type { HttpAnswer, WireRequest } from './request-state.ts';
import { ReaderPace } from './slow-reader.ts';
import type { Certificate } from './tls.ts';

export interface SocketOptions {
  /**
   * The answer to bytes that are no request at all, or to a method that Node does not hand on, with the
   * target of the request; asked for where it is sent.
   */
  readonly garbled: (status: 400 | 405 | 408 | 431, target?: string) => HttpAnswer;
  /** A socket without any traffic is closed after this. */
  readonly socketTimeoutMs: number;
  /** Further connections to an address are closed unanswered; 0 for any number. */
  readonly maxConnections: number;
  /** Headers that take longer are answered 408; 0 for any time. */
  readonly headersTimeoutMs: number;
  /** Knows of an answer that may have to wait for its reader until what it returns is called. */
  readonly sending: (answer: SlowAnswer) => () => void;
  /** Plain HTTP if undefined. */
  readonly certificate: Certificate | undefined;
}

/** How long a connection is kept for the next request: longer than common proxies keep theirs. */
const KEEP_ALIVE_MS = 72_000;

/** How long the connection of a refused CONNECT stays for its caller to read the answer. */
const REFUSED_MILLIS = 2_000;

/** Codes of errors of Node's parser, and the status that answers each. */
const CLIENT_ERRORS: Readonly<Record<string, 408 | 431>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_HEADER_OVERFLOW: 431,
};

interface ParserError extends NodeJS.ErrnoException {
  readonly rawPacket?: Buffer;
}

/** Longer targets are not looked for in the bytes. */
const MAX_REQUEST_LINE = 4_096;

/** Node's parser takes a method that it does not know for garbage; the line says otherwise. */
function unknownMethodTarget({ code, rawPacket }: ParserError): string | undefined {
  if (code !== 'HPE_INVALID_METHOD' || rawPacket === undefined) return undefined;
  const line = rawPacket.toString('latin1', 0, MAX_REQUEST_LINE);
  return /^[!#$%&'*+.^_`|~\w-]{1,32} ([!-~]+) HTTP\/1\.[01]\r?\n/.exec(line)?.[1];
}

/** Node looks for the word alone, which may stand beside others that nothing here can meet. */
const isContinueAlone = ({ headers: { expect = '' } }: IncomingMessage): boolean =>
  expect.split(',').every((asked) => asked.trim().toLowerCase() === '100-continue');

export class SocketServer {
  readonly #handle: Handler;
  readonly #options: SocketOptions;
  readonly #servers: Server[] = [];
  /** The newest answer of each connection. */
  readonly #newest = new WeakMap<Socket, ServerResponse>();
  readonly #pipelines = new Pipelines();
  /** Connections of CONNECT, which Node's server does not close. */
  readonly #handedOver = new Set<Socket>();
  #stopping = false;

  constructor(handle: Handler, options: SocketOptions) {
    this.#handle = handle;
    this.#options = options;
  }

  /**
   * Listens; answers the base address. `localhost` is both addresses of that name where the machine
   * has both. Throws InvalidInput where it listens already.
   */
  async listen(host: string, port: number): Promise<string> {
    if (this.#servers.length > 0) {
      throw new DirspaceError('InvalidInput', 'The server listens already; it has one address.');
    }
    const address = await this.#open(host === 'localhost' ? '127.0.0.1' : host, port);
    // Clients may take either one for the name.
    if (host === 'localhost') await this.#open('::1', address.port).catch(() => undefined);
    const named = address.address === '0.0.0.0' ? '127.0.0.1' : address.address;
    const shown = address.family === 'IPv6' ? `[${named}]` : named;
    const scheme = this.#options.certificate === undefined ? 'http' : 'https';
    return `${scheme}://${shown}:${address.port}`;
  }

  /** New connections get this certificate; those that are open stay as they are. */
  renew(certificate: Certificate): void {
    for (const server of this.#servers) (server as TlsServer).setSecureContext(certificate);
  }

  #open(host: string, port: number): Promise<AddressInfo> {
    const server = this.#create();
    this.#servers.push(server);
    return new Promise((resolve, reject) => {
      const failed = (error: Error): void => {
        this.#servers.splice(this.#servers.indexOf(server), 1);
        reject(error);
      };
      server.once('error', failed);
      server.listen({ host, port }, () => {
        server.off('error', failed);
        resolve(server.address() as AddressInfo);
      });
    });
  }

  #create(): Server {
    const { garbled, socketTimeoutMs, headersTimeoutMs, maxConnections, certificate } =
      this.#options;
    const settings = {
      requireHostHeader: false,
      keepAliveTimeout: KEEP_ALIVE_MS,
      // Bodies take as long as they move; a socket that stands still is closed below.
      requestTimeout: 0,
      // Node takes whole numbers alone.
      headersTimeout: Math.ceil(headersTimeoutMs),
      ...(headersTimeoutMs > 0
        ? { connectionsCheckingInterval: Math.ceil(headersTimeoutMs / 4) }
        : {}),
    };
    const server =
      certificate === undefined
        ? createServer(settings)
        : createTlsServer({ ...settings, ...certificate });
    if (maxConnections > 0) server.maxConnections = maxConnections;
    server.setTimeout(socketTimeoutMs);
    server.on('request', (raw, reply) => this.#serve(raw, reply));
    server.on('checkContinue', (raw, reply) =>
      this.#serve(raw, reply, isContinueAlone(raw) ? 'continue' : 'other'),
    );
    // What Node would answer by itself, without a body.
    server.on('checkExpectation', (raw, reply) => this.#serve(raw, reply, 'other'));
    server.on('connect', ({ url }, socket: Socket) => {
      this.#keepWatch(socket);
      this.#refuse(socket, () => garbled(405, url));
    });
    server.on('clientError', (error: ParserError, socket) => {
      // What comes behind `Connection: close` counts for nothing, and the answer to that request ends
      // the connection (RFC 9112, 9.6). It is read, as bytes left unread would reset the connection.
      if (error.code === 'HPE_CLOSED_CONNECTION' && this.#isOwed(socket as Socket)) return;
      this.#refuse(socket as Socket, () => {
        const target = unknownMethodTarget(error);
        if (target !== undefined) return garbled(405, target);
        return garbled(CLIENT_ERRORS[error.code ?? ''] ?? 400);
      });
    });
    return server;
  }

  /**
   * Node hands over the connection of a CONNECT without any of its listeners, and counts it no longer:
   * an error that nothing listens to would end the process. It ends with its caller, or after a while.
   */
  #keepWatch(socket: Socket): void {
    const end = (): void => {
      socket.destroy();
    };
    const timer = setTimeout(end, REFUSED_MILLIS).unref();
    this.#handedOver.add(socket);
    socket.once('close', () => {
      clearTimeout(timer);
      this.#handedOver.delete(socket);
    });
    socket.on('error', end);
    socket.once('end', () => socket.destroySoon());
    socket.resume();
  }

  #refuse(socket: Socket, answer: () => HttpAnswer): void {
    if (this.#isOwed(socket) || !socket.writable) socket.destroy();
    else refuseGarbled(socket, answer());
  }

  /**
   * Whether an answer is on its way, or to come, to a request that came whole before: what is sent then
   * would be taken for a part of it, or for it.
   */
  #isOwed(socket: Socket): boolean {
    const reply = this.#newest.get(socket);
    if (reply === undefined || reply.writableFinished) return false;
    const isEarlier = this.#pipelines.sizeOf(socket) > 1;
    return reply.headersSent || isEarlier || reply.req.complete;
  }

  #serve(raw: IncomingMessage, reply: ServerResponse, expects?: 'continue' | 'other'): void {
    const { socket } = raw;
    this.#newest.set(socket, reply);
    this.#pipelines.add(socket, reply, () => this.#begin(raw, reply, expects));
  }

  #begin(raw: IncomingMessage, reply: ServerResponse, expects?: 'continue' | 'other'): void {
    const awaiting = expects === 'continue' ? reply : undefined;
    const exchange = this.#handle(new SocketRequest(raw, awaiting, expects === 'other'));
    const { gone } = exchange;
    raw.once('error', gone);
    reply.on('error', gone);
    reply.once('close', () => {
      if (!reply.writableFinished) gone();
      exchange.end(reply.statusCode);
    });
    this.#send(raw, reply, exchange).catch((error: unknown) => {
      exchange.broken(error);
      reply.destroy();
    });
  }

  async #send(raw: IncomingMessage, reply: ServerResponse, exchange: Exchange): Promise<void> {
    const { status, headers: own, body } = await exchange.answer;
    const headers = this.#stopping ? { ...own, connection: 'close' } : own;
    if (typeof body === 'string' && raw.method !== 'HEAD') {
      exchange.state.sent += Buffer.byteLength(body);
    }
    if (isUnread(raw)) {
      await finishAfterBody(raw, reply, { status, headers, body });
    } else if (typeof body === 'string') {
      const length = Buffer.byteLength(body);
      // ASCII is copied as it is, together with the header.
      const encoding = length === body.length ? 'latin1' : 'utf8';
      const sized = status === 204 ? headers : { ...headers, 'content-length': length };
      reply.writeHead(status, sized).end(body, encoding);
    } else {
      reply.writeHead(status, headers);
      await pump(body, reply, exchange, this.#options.sending);
    }
  }

  /** Takes no more connections; resolves when there are none left. */
  async close(): Promise<void> {
    this.#stopping = true;
    await Promise.all(
      this.#servers.map((server) => new Promise((resolve) => server.close(resolve))),
    );
  }

  closeAllConnections(): void {
    for (const server of this.#servers) server.closeAllConnections();
    for (const socket of this.#handedOver) socket.destroy();
  }
}

/** A request as Node's parser made it. */
class SocketRequest implements WireRequest {
  readonly #raw: IncomingMessage;
  #awaiting: ServerResponse | undefined;
  readonly url: string;
  readonly peer: string;
  readonly expectsOther: boolean;

  /** `awaiting` is the reply of a caller who sends the body once he is told to. */
  constructor(raw: IncomingMessage, awaiting: ServerResponse | undefined, expectsOther: boolean) {
    this.#raw = raw;
    this.#awaiting = awaiting;
    this.expectsOther = expectsOther;
    this.url = raw.url ?? '/';
    // A connection that was closed does not tell it any more.
    this.peer = raw.socket.remoteAddress ?? 'unknown';
  }

  get method(): string {
    return this.#raw.method ?? 'GET';
  }

  get httpVersion(): string {
    return this.#raw.httpVersion;
  }

  get headers(): IncomingMessage['headers'] {
    return this.#raw.headers;
  }

  get body(): IncomingMessage | undefined {
    return hasBody(this.#raw.headers) ? this.#raw : undefined;
  }

  sent(asked: string): string[] {
    const { rawHeaders } = this.#raw;
    const values: string[] = [];
    for (let at = 0; at < rawHeaders.length; at += 2) {
      const name = rawHeaders[at] as string;
      if (name.length !== asked.length || name.toLowerCase() !== asked) continue;
      values.push(rawHeaders[at + 1] as string);
    }
    return values;
  }

  acceptBody(): void {
    this.#awaiting?.writeContinue();
    this.#awaiting = undefined;
  }

  holdOpen(): () => void {
    const { socket } = this.#raw;
    const { timeout = 0 } = socket;
    socket.setTimeout(0);
    return () => socket.setTimeout(timeout);
  }
}

/** Most bytes given to a connection at once: after each such piece it is known how much was taken. */
const WRITE_BYTES = 262_144;

/** Sends pieces as fast as the connection takes them. Rejects as the body fails. */
async function pump(
  body: AsyncIterable<Uint8Array>,
  reply: ServerResponse,
  exchange: Exchange,
  sending: SocketOptions['sending'],
): Promise<void> {
  const { state } = exchange;
  const breakOff = (reason: unknown): void => {
    exchange.broken(reason);
    reply.destroy();
  };
  // A reader that takes nothing hears of no failure either: the connection ends with the request.
  const forget = state.progress.onAbort(breakOff);
  const pace = new ReaderPace(() => breakOff(tooSlow()));
  const sent = sending(pace);
  const pieces = body[Symbol.asyncIterator]();
  // A function of its own, so that nothing refers to a piece while the next one is made.
  const sendNext = async (): Promise<boolean> => {
    const { done, value: piece } = await pieces.next();
    if (done === true) return false;
    for (let at = 0; at < piece.byteLength; at += WRITE_BYTES) {
      if (reply.destroyed) break;
      const part = piece.subarray(at, at + WRITE_BYTES);
      state.progress.moved();
      state.sent += part.byteLength;
      if (reply.write(part)) continue;
      pace.wait();
      await drained(reply);
      pace.took(part.byteLength);
    }
    return !reply.destroyed;
  };
  try {
    while (await sendNext());
    if (!reply.destroyed) reply.end();
  } finally {
    sent();
    forget();
    await pieces.return?.();
  }
}

const tooSlow = (): DirspaceError =>
  new DirspaceError(
    'ServiceUnavailable',
    'The reader of the answer took less than 64 KiB a second, and others waited for the memory that the answer holds (serverMemory).',
    { details: { limit: 'serverMemory' } },
  );

/** Resolves when more may be written, or never will be. */
function drained(reply: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      reply.off('drain', done);
      reply.off('close', done);
      resolve();
    };
    if (reply.destroyed) return resolve();
    reply.on('drain', done);
    reply.on('close', done);
  });
}

function refuseGarbled(socket: Socket, { status, headers, body }: HttpAnswer): void {
  if (typeof body !== 'string') {
    socket.destroy();
    return;
  }
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`);
}
