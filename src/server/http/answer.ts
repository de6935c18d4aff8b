/**
 * Builds HTTP answers: `jsonAnswer` for JSON, `arrowAnswer` for rows as Arrow IPC, `rowsAnswer` for
 * rows as a given encoder writes them, `emptyAnswer` for none, `failureAnswer` for errors and
 * `garbled` for bytes that are no request. Rows that fail before their first record batch reject,
 * so that the error still gets a status. `failureAnswer` replaces given texts, such as paths of
 * roots, in messages, and keeps the failure in the request's state for the log. A timeout becomes
 * CommitStateUnknown for a write that is not safe to repeat, and ServiceUnavailable for all other
 * requests.
 */
import {
  nullColumn,
  type RecordBatch,
  type RecordBatchStream,
  recordBatch,
  type Schema,
} from '../../arrow/index.ts';
import { DirspaceError, isDirspaceError } from '../../errors.ts';
import { encodeIpcFile, encodeIpcStream } from '../../ipc/index.ts';
import {
  ARROW_FILE_TYPE,
  ARROW_STREAM_TYPE,
  type ErrorStatus,
  EVERY_OPERATION,
  formatErrorBody,
  JSON_TYPE,
} from '../../protocol/index.ts';
import { stepped } from '../../stepped.ts';
import { type HttpAnswer, type RequestState, RequestTimeout } from './request-state.ts';

const JSON_HEADERS = { 'content-type': `${JSON_TYPE}; charset=utf-8` };

export function jsonAnswer(status: number, value: unknown): HttpAnswer {
  const body: string | undefined = JSON.stringify(value);
  if (body === undefined) {
    throw new DirspaceError('Internal', 'The catalog answered without the member to send.');
  }
  return { status, headers: JSON_HEADERS, body };
}

export function emptyAnswer(status: number): HttpAnswer {
  return { status, headers: {}, body: '' };
}

/** Rows as an Arrow IPC file, or as a stream where `accept` prefers that. */
export function arrowAnswer(
  rows: RecordBatchStream,
  accept: string | undefined,
): Promise<HttpAnswer> {
  return prefersStream(accept ?? '')
    ? rowsAnswer(rows, ARROW_STREAM_TYPE, encodeIpcStream)
    : rowsAnswer(rows, ARROW_FILE_TYPE, encodeIpcFile);
}

/**
 * Rows as `encode` writes them. Resolves once the first batch is there, so that what fails before it
 * can still be told by a status. `return` of the body lets the rows go, also where none was pulled: a
 * generator that never began would keep them.
 */
export async function rowsAnswer(
  rows: RecordBatchStream,
  type: string,
  encode: (
    rows: RecordBatchStream,
  ) => AsyncIterable<Uint8Array> | Promise<AsyncIterable<Uint8Array>>,
): Promise<HttpAnswer> {
  const started = await startRows(rows);
  const letGo = async (): Promise<void> => {
    await started[Symbol.asyncIterator]().return?.();
  };
  try {
    const bytes = await encode(started);
    return { status: 200, headers: { 'content-type': type }, body: endingWith(bytes, letGo) };
  } catch (error) {
    await letGo();
    throw error;
  }
}

/** The pieces of `body`; `end` is called as well where they are left early, begun or not. */
const endingWith = (
  body: AsyncIterable<Uint8Array>,
  end: () => Promise<void>,
): AsyncIterable<Uint8Array> => ({
  [Symbol.asyncIterator]: () => {
    const pieces = body[Symbol.asyncIterator]();
    return {
      next: () => pieces.next(),
      return: async () => {
        await pieces.return?.();
        await end();
        return { done: true, value: undefined };
      },
    };
  },
});

/** Readers that take the schema from the first batch need one: no rows are one batch of none. */
async function startRows(rows: RecordBatchStream): Promise<RecordBatchStream> {
  const { schema } = rows;
  const batches = rows[Symbol.asyncIterator]();
  const { done, value } = await batches.next();
  let first: RecordBatch | undefined = done === true ? emptyBatch(schema) : value;
  const step = async (): Promise<RecordBatch | undefined> => {
    if (first !== undefined) {
      const batch = first;
      first = undefined;
      return batch;
    }
    const next = await batches.next();
    return next.done === true ? undefined : next.value;
  };
  return { schema, [Symbol.asyncIterator]: () => stepped(step, () => batches.return?.()) };
}

const emptyBatch = (schema: Schema): RecordBatch =>
  recordBatch(
    schema,
    schema.fields.map(({ type }) => nullColumn(type, 0)),
    0,
  );

function prefersStream(accept: string): boolean {
  let stream = 0;
  let file = 0;
  for (const item of accept.split(',')) {
    const [type = '', ...parameters] = item.split(';').map((part) => part.trim().toLowerCase());
    const quality = Number(/^q=([\d.]+)$/.exec(parameters.at(-1) ?? '')?.[1] ?? 1);
    if (type === ARROW_STREAM_TYPE) stream = Math.max(stream, quality);
    else if (type === ARROW_FILE_TYPE) file = Math.max(file, quality);
  }
  return stream > 0 && stream >= file;
}

const GARBLED = {
  400: 'The request is not valid HTTP.',
  405: 'The method of the request is none that is taken here; the header Allow lists those that are.',
  408: 'The headers of the request did not arrive in time.',
  431: 'The headers of the request are too large.',
} as const;

/** The answer to bytes that are no request: there is no route, no id and no dialect to speak of. */
export function garbled(status: keyof typeof GARBLED, allowed: readonly string[] = []): HttpAnswer {
  const error = new DirspaceError(status === 405 ? 'Unsupported' : 'InvalidInput', GARBLED[status]);
  const answer = jsonAnswer(status, formatErrorBody(error, { instance: '', status }));
  if (allowed.length === 0) return answer;
  return { ...answer, headers: { ...answer.headers, allow: allowed.join(', ') } };
}

export interface FailureOptions {
  readonly retryAfterSeconds: number;
  /** Texts that must not be shown, such as the paths of roots. */
  readonly hidden: readonly string[];
  /** Another status than the kind's own. */
  readonly status?: ErrorStatus;
}

/** The answer that tells of a failure. The failure is kept in `state` for the log line. */
export function failureAnswer(
  state: RequestState,
  failure: unknown,
  options: FailureOptions,
): HttpAnswer {
  const { retryAfterSeconds, hidden, status } = options;
  const error = presentable(state, failure, hidden);
  state.failure = failure;
  let body = formatErrorBody(error, {
    instance: state.path,
    requestId: state.id,
    ...(status === undefined ? {} : { status }),
  });
  if (state.dialect !== undefined) body = state.dialect.error(state.operation, body);
  const headers: Record<string, string> = { ...JSON_HEADERS };
  if (body.status === 401) headers['www-authenticate'] = 'Bearer';
  if (body.status === 503 || body.status === 429) {
    headers['retry-after'] = String(Math.ceil(retryAfterSeconds));
  }
  return { status: body.status, headers, body: JSON.stringify(body) };
}

function presentable(state: RequestState, failure: unknown, hidden: readonly string[]): unknown {
  if (failure instanceof RequestTimeout) return timeoutError(state, failure);
  if (!isDirspaceError(failure)) return failure;
  const message = hidden.reduce((text, path) => text.replaceAll(path, '<root>'), failure.message);
  return message === failure.message
    ? failure
    : new DirspaceError(failure.code, message, { details: failure.details });
}

/** A write that was given up may still be done: a caller must not send it again blindly. */
function timeoutError({ operation }: RequestState, { timeoutMs }: RequestTimeout): DirspaceError {
  const writes = operation !== undefined && !EVERY_OPERATION[operation].repeatable;
  return writes
    ? new DirspaceError(
        'CommitStateUnknown',
        `${operation} took longer than ${timeoutMs} ms; it may still be done.`,
      )
    : new DirspaceError('ServiceUnavailable', `The request took longer than ${timeoutMs} ms.`);
}
