/** A client and a server in one process, with and without a socket between them. */
import { afterAll } from 'vitest';
import {
  type RecordBatchStream,
  recordBatchStream,
  tableFromArrays,
} from '../../src/arrow/apache.ts';
import { RestNamespace } from '../../src/client/client.ts';
import type { RestOptions } from '../../src/client/client-options.ts';
import { encodeIpcStream } from '../../src/ipc/encode/ipc-stream.ts';
import { createServer, type ServerOptions, startServer } from '../../src/server.ts';

const closers: (() => Promise<void>)[] = [];

afterAll(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

export type Wire = 'inject' | 'socket';

export interface Pair {
  readonly client: RestNamespace;
  readonly base: string;
  readonly fetch: typeof fetch;
  close(): Promise<void>;
}

export async function restPair(
  options: ServerOptions,
  { wire = 'inject', ...client }: Partial<RestOptions> & { readonly wire?: Wire } = {},
): Promise<Pair> {
  // A machine that runs several tests at once is late without being busy with this.
  const limits = { maxEventLoopDelayMs: 0, ...options.limits };
  const pair = await (wire === 'inject' ? injected : listening)({ ...options, limits });
  const rest = new RestNamespace({ uri: pair.base, fetch: pair.fetch, ...client });
  const close = async (): Promise<void> => {
    await rest.close();
    await pair.close();
  };
  closers.push(close);
  return { client: rest, base: pair.base, fetch: pair.fetch, close };
}

type Ends = Omit<Pair, 'client'>;

async function injected(options: ServerOptions): Promise<Ends> {
  const server = await createServer(options);
  return { base: 'http://server.test', fetch: server.fetch, close: () => server.close() };
}

async function listening(options: ServerOptions): Promise<Ends> {
  const server = await startServer(options);
  return { base: server.url, fetch, close: () => server.close() };
}

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever came
  readonly json: any;
}

/** Sends a request as it is; an object is sent as JSON. */
export async function ask(
  { fetch: send, base }: Pick<Pair, 'fetch' | 'base'>,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answered> {
  const raw = body instanceof Uint8Array || typeof body === 'string';
  const type = body === undefined || raw ? {} : { 'content-type': 'application/json' };
  const response = await send(base + path, {
    method,
    headers: { ...type, ...headers },
    ...(body === undefined ? {} : { body: raw ? (body as string) : JSON.stringify(body) }),
  });
  const text = await response.text();
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {}
  return { status: response.status, headers: response.headers, text, json };
}

export const ARROW = { 'content-type': 'application/vnd.apache.arrow.stream' };

/** Rows with an `id` from 0 on. */
export function someRows(count = 3): RecordBatchStream {
  const { schema, batches } = tableFromArrays({
    id: Int32Array.from({ length: count }, (_, at) => at),
  });
  return recordBatchStream(schema, batches);
}

export async function streamBytes(rows: RecordBatchStream = someRows()): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of encodeIpcStream(rows)) pieces.push(piece);
  return Buffer.concat(pieces);
}
