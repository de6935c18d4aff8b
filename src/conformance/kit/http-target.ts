/**
 * `httpTarget` sends the requests of cases to a server by plain HTTP, and records each request with
 * its final answer: after status 429 or 503 it waits and asks again, up to three times. It does not
 * use `RestNamespace`, because that client hides deviations which the suite has to find. A call
 * throws Unsupported if the answer shows that the server lacks the operation, and
 * ServiceUnavailable if there is no answer. A success with another status than the protocol lists
 * is recorded as a deviation.
 */

import { addressOf, clientSettings } from '../../client/index.ts';
import { type Env, systemEnv } from '../../env.ts';
import { DirspaceError, isError } from '../../errors.ts';
import { encodeIpcStream, openArrowBody } from '../../ipc/index.ts';
import {
  ARROW_FILE_TYPE,
  ARROW_STREAM_TYPE,
  checkedRequest,
  EVERY_OPERATION,
  JSON_TYPE,
  jsonText,
  mediaType,
  type OperationName,
  type OperationRow,
  parseAnswer,
  parseErrorBody,
  splitRequest,
} from '../../protocol/index.ts';
import { endingAfter } from '../../time-limit.ts';
import { type Exchange, shortened } from './exchange.ts';
import { readRows } from './rows.ts';
import { unlessAborted } from './signals.ts';
import type { RawAnswer, ServerTarget, Target } from './target.ts';

/** A server that asks to come again is asked so often. */
const ATTEMPTS = 4;
/** 503 and 429, by which the protocol and servers that limit requests ask a client to wait and retry. */
const COME_AGAIN: ReadonlySet<number> = new Set([429, 503]);
const MOST_WAIT_MS = 5000;

/** Throws InvalidInput for an address or a header that cannot be used. It sends nothing yet. */
export function httpTarget(server: ServerTarget, env: Env = systemEnv): Target {
  const { uri, headers = {}, fetch, timeoutMs: asked = 10_000 } = server;
  const settings = clientSettings({ uri, headers, timeoutMs: asked, ...(fetch && { fetch }) });
  const { timeoutMs } = settings;
  /** Operations that have answered with success: their 404 is no missing route. */
  const answered = new Set<OperationName>();

  const attempt = async (
    url: string,
    init: RequestInit,
    signal: AbortSignal | undefined,
  ): Promise<RawAnswer & { wait: number }> => {
    const limit =
      timeoutMs === 0 ? (signal ?? new AbortController().signal) : endingAfter(timeoutMs, signal);
    limit.throwIfAborted();
    const sent = settings.fetch(url, { ...init, redirect: 'manual', signal: limit });
    // Also of a fetch that takes no notice of its signal.
    const response = await unlessAborted(sent, limit);
    const bytes = new Uint8Array(await unlessAborted(response.arrayBuffer(), limit));
    const wait = Number(response.headers.get('retry-after') ?? '') * 1000 || 100;
    const type = mediaType(response.headers.get('content-type'));
    return { status: response.status, type, bytes, json: jsonOf(bytes), wait };
  };

  const exchange = async (
    operation: OperationName,
    url: string,
    init: RequestInit & { headers: Record<string, string> },
    record: (exchange: Exchange) => void,
    signal: AbortSignal | undefined,
  ): Promise<RawAnswer> => {
    const request = describeRequest(url, init);
    const all = {
      ...init,
      headers: {
        'user-agent': 'dirspace-conformance',
        ...Object.fromEntries(settings.headers),
        ...init.headers,
      },
    };
    for (let left = ATTEMPTS; ; left--) {
      try {
        const answer = await attempt(url, all, signal);
        if (COME_AGAIN.has(answer.status) && left > 1) {
          await env.sleep(Math.min(answer.wait, MOST_WAIT_MS), signal);
          continue;
        }
        const deviation = deviationOf(operation, answer.status);
        const exchanged = { operation, request, answer: describeAnswer(answer) };
        record(deviation === undefined ? exchanged : { ...exchanged, deviation });
        if (answer.status >= 200 && answer.status <= 299) answered.add(operation);
        return answer;
      } catch (cause) {
        const late = isTimeout(cause);
        const why = late
          ? `none within ${timeoutMs} ms`
          : isError(cause)
            ? causeOf(cause)
            : String(cause);
        record({ operation, request, answer: `no answer: ${why}` });
        throw new DirspaceError('ServiceUnavailable', `${operation} had no answer: ${why}`, {
          cause,
          details: { operation, unanswered: true, ...(late && { late }) },
        });
      }
    }
  };

  return {
    name: uri,
    call: async (operation, request, data, record, signal) => {
      const row: OperationRow = EVERY_OPERATION[operation];
      const parts = splitRequest(operation, checkedRequest(operation, request));
      const json = row.body === 'json' || row.body === 'map';
      const body = json ? jsonText(parts.body) : data && (await bytesOf(encodeIpcStream(data)));
      const type = json ? JSON_TYPE : data === undefined ? undefined : ARROW_STREAM_TYPE;
      const answer = await exchange(
        operation,
        addressOf(settings.base, parts),
        {
          method: row.method,
          headers: {
            accept: row.answer === 'arrow-file' ? ARROW_FILE_TYPE : JSON_TYPE,
            ...(type === undefined ? {} : { 'content-type': type }),
          },
          ...(body === undefined ? {} : { body: body as NonNullable<RequestInit['body']> }),
        },
        record,
        signal,
      );
      if (answer.status < 200 || answer.status > 299) {
        throw failureOf(operation, answer, answered.has(operation));
      }
      return (await answerOf(operation, row, answer)) as never;
    },
    send: (operation, method, path, { body, type }, record, signal) =>
      exchange(
        operation,
        settings.base + path,
        {
          method,
          headers: type === undefined ? {} : { 'content-type': type },
          ...(body === undefined ? {} : { body: body as NonNullable<RequestInit['body']> }),
        },
        record,
        signal,
      ),
  };
}

const isTimeout = (error: unknown): boolean =>
  isError(error) &&
  (error.name === 'TimeoutError' || (isError(error.cause) && isTimeout(error.cause)));

async function answerOf(
  operation: OperationName,
  row: OperationRow,
  { bytes, json, status }: RawAnswer,
): Promise<unknown> {
  if (row.answer === 'empty') return undefined;
  if (row.answer === 'arrow-file') return readRows(await openArrowBody(bytes, { apart: true }));
  // 204 is an answer without a body where the protocol asks for it.
  if (bytes.length === 0 && status === 204) return parseAnswer(operation, {});
  if (json === undefined) {
    throw new DirspaceError('Internal', `${operation} was answered with what is not JSON.`);
  }
  return parseAnswer(operation, json);
}

/**
 * The document lists one status of success for each operation, and clients that are generated from it
 * read the answer of that status alone. "Skip: the server must return 204" stands beside it.
 */
function deviationOf(operation: OperationName, status: number): Exchange['deviation'] {
  const expected = EVERY_OPERATION[operation].status;
  if (status < 200 || status > 299 || status === expected) return undefined;
  if (status === 204 && operation === 'DropNamespace') return undefined;
  const listed = `status ${expected}, the success that the OpenAPI document lists for ${operation}`;
  return { expected: listed, got: `status ${status}` };
}

const MEMBERS: ReadonlySet<string> = new Set(['context', 'error', 'code', 'detail', 'instance']);

/** Whether a handler wrote it: routers that find no handler answer a page, or members of their own. */
const isErrorBody = (json: unknown): boolean =>
  typeof json === 'object' &&
  json !== null &&
  'error' in json &&
  typeof json.error === 'string' &&
  Object.keys(json).every((name) => MEMBERS.has(name));

/**
 * A server without the operation may have no route for it, and no error body of the protocol. A body of
 * the protocol's form that lacks the required "code" is a handler's, and wrong.
 */
function failureOf(
  operation: OperationName,
  { status, type, bytes, json }: RawAnswer,
  isThere: boolean,
): DirspaceError {
  const hasCode = Number.isInteger((json as { code?: unknown } | undefined)?.code);
  const exists = EVERY_OPERATION[operation].answer === 'empty';
  const isHandled = isThere || isErrorBody(json);
  if (!hasCode && !isHandled && !exists && (status === 404 || status === 405)) {
    const message = `${operation} has no route: status ${status} without an error code.`;
    return new DirspaceError('Unsupported', message, { details: { operation, status } });
  }
  const error = parseErrorBody(status, new TextDecoder().decode(bytes), operation);
  if (hasCode || exists) return error;
  const details = { ...error.details, codeMissing: true, isPlain: type === 'text/plain' };
  return new DirspaceError(error.code, error.message, { details });
}

async function bytesOf(pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece);
  return new Uint8Array(Buffer.concat(all));
}

function describeRequest(url: string, { method, headers, body }: RequestInit): string {
  const type = (headers as Record<string, string>)['content-type'];
  const head = `${method} ${url}${type === undefined ? '' : ` (${type})`}`;
  if (typeof body === 'string') return shortened(`${head} ${body}`);
  return body instanceof Uint8Array ? `${head} <${body.length} bytes>` : head;
}

function describeAnswer({ status, type, bytes, json }: RawAnswer): string {
  const head = `${status}${type === '' ? '' : ` (${type})`}`;
  if (bytes.length === 0) return head;
  const text = json !== undefined || /^text\/|json/.test(type);
  return text
    ? shortened(`${head} ${new TextDecoder().decode(bytes)}`)
    : `${head} <${bytes.length} bytes>`;
}

/** The failure that a fetch wraps says more than its own. */
function causeOf({ message, cause }: Error): string {
  return isError(cause) && cause.message !== '' ? cause.message : message;
}

function jsonOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}
