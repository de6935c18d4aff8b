/**
 * `RestNamespace` calls a remote catalog over HTTP and implements the interface `Namespace`. Its
 * methods are derived from the operations table; `watch` is missing. A request that is safe to
 * repeat is sent again after status 429 or 503, or if the connection was lost before an answer;
 * retry.ts computes the delay. CommitStateUnknown means that a change may have been made: the
 * connection was lost or time ran out during a change that is not safe to repeat, or the answer to
 * a change cannot be understood. A refused connection, and one lost during another request, throw
 * ServiceUnavailable, as does a timeout of such a request. `close` ends the calls under way; they
 * and later ones reject with Closed.
 */
import { setMaxListeners } from 'node:events';
import type { ArrowBody } from '../arrow/index.ts';
import { DirspaceError, isDirspaceError } from '../errors.ts';
import { Progress } from '../progress.ts';
import {
  type AnyOperation,
  type CallOptions,
  type CatalogExtensions,
  type Context,
  checkedRequest,
  DEFAULT_DELIMITER,
  EVERY_OPERATION,
  EVERY_OPERATION_NAMES,
  type Identity,
  isExtension,
  jsonText,
  type Model,
  methodName,
  type Namespace,
  type NamespaceOperations,
  type OperationRow,
  parseAnswer,
  parseErrorBody,
  type RequestModel,
  resourceKind,
  splitRequest,
} from '../protocol/index.ts';
import { openAnswer, readText, SendableBody } from './client-body.ts';
import { branchesPassedOver, honoursBranch, tableOfBranch } from './client-branches.ts';
import { type ClientSettings, clientSettings, type RestOptions } from './client-options.ts';
import { addressOf, callHeaders, contextOf, withoutSecrets } from './client-request.ts';
import { boundedRows, checkHeeded } from './client-rows.ts';
import { platformFetch } from './platform-fetch.ts';
import { RETRIED_STATUSES, refusalOf, retryDelay } from './retry.ts';
import { type Answer, DamagedAnswer, wholeAnswer } from './whole-answer.ts';

type AnyRequest = Model<RequestModel<AnyOperation>> & {
  readonly identity?: Identity;
  readonly context?: Context;
};

/** What a request without an answer is told by. */
interface Outcome {
  readonly operation: AnyOperation;
  readonly row: OperationRow;
  /** Whether sending it twice does what sending it once does. */
  readonly repeatable: boolean;
}

/** What one call sends, and again where that is safe. */
interface Sending extends Outcome {
  /** The checked request, including the members that are sent as headers. */
  readonly request: AnyRequest;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | SendableBody | undefined;
}

/** An answer that came, with the clock its rest is read under. */
interface Received {
  readonly response: Answer;
  readonly progress: Progress;
}

/** The types of the methods, which `RestNamespace` defines from the operations table. */
type RemoteOperations = NamespaceOperations & Required<Omit<CatalogExtensions, 'watch'>>;
const Operations = class {} as new () => RemoteOperations;

export class RestNamespace extends Operations implements Namespace {
  readonly #settings: ClientSettings;
  readonly #closing = new AbortController();
  /** Attempts under way, which `close` ends. */
  readonly #underWay = new Set<Progress>();
  /** Whether the server honours `branch`, by its last answer that said so; undefined before any. */
  #honoursBranch: boolean | undefined;
  /** Whether the server has answered through `fetch`. */
  #reached = false;

  static {
    for (const operation of EVERY_OPERATION_NAMES) {
      const takesData = EVERY_OPERATION[operation].body === 'arrow-stream';
      Object.defineProperty(RestNamespace.prototype, methodName(operation), {
        value: takesData
          ? function (this: RestNamespace, request: AnyRequest, data: ArrowBody, o?: CallOptions) {
              return this.#call(operation, request, data, o);
            }
          : function (this: RestNamespace, request: AnyRequest, options?: CallOptions) {
              return this.#call(operation, request, undefined, options);
            },
        writable: true,
        configurable: true,
      });
    }
  }

  /** Sends nothing. Throws InvalidInput where an option cannot be used. */
  constructor(options: RestOptions) {
    super();
    this.#settings = clientSettings(options);
    // Every call that waits for another attempt listens to it, and there may be any number.
    setMaxListeners(0, this.#closing.signal);
  }

  /** Ends the calls under way; they reject with Closed, as does what is called after it. */
  async close(): Promise<void> {
    this.#closing.abort(new DirspaceError('Closed', 'The connection to the catalog was closed.'));
    for (const progress of this.#underWay) progress.abort(this.#closing.signal.reason);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #call(
    operation: AnyOperation,
    request: AnyRequest,
    data: ArrowBody | undefined,
    options: CallOptions = {},
  ): Promise<unknown> {
    this.#closing.signal.throwIfAborted();
    options.signal?.throwIfAborted();
    const sending = this.#sending(operation, request, data, options);
    try {
      await this.#checkBranch(sending, request, options);
      const received = await this.#send(sending, options);
      return await this.#read(sending, received, options);
    } finally {
      if (sending.body instanceof SendableBody) await sending.body.close();
    }
  }

  /**
   * Refuses a call on a branch if the server does not honour branches, before anything of the call
   * is sent. @throws Unsupported
   */
  async #checkBranch(
    { operation, row, request }: Sending,
    given: AnyRequest,
    options: CallOptions,
  ): Promise<void> {
    if (this.#honoursBranch === true) return;
    const table = tableOfBranch(operation, row, request);
    if (table === undefined) return;
    const honours = this.#honoursBranch ?? (await this.#askBranch(table, given, options));
    if (!honours) throw branchesPassedOver(operation, row.changes);
  }

  /** Sends a cheap read, because the headers of every answer say whether branches are honoured. */
  async #askBranch(
    table: object,
    { identity, context }: AnyRequest,
    { signal, traceContext }: CallOptions,
  ): Promise<boolean | undefined> {
    const envelope = {
      ...(identity === undefined ? {} : { identity }),
      ...(context === undefined ? {} : { context }),
    };
    try {
      const options = {
        ...(signal === undefined ? {} : { signal }),
        ...(traceContext === undefined ? {} : { traceContext }),
      };
      await this.#call('DescribeTable', { ...table, ...envelope }, undefined, options);
    } catch (error) {
      if (this.#honoursBranch === undefined) throw error;
    }
    return this.#honoursBranch;
  }

  #sending(
    operation: AnyOperation,
    request: AnyRequest,
    data: ArrowBody | undefined,
    options: CallOptions,
  ): Sending {
    const settings = this.#settings;
    const row: OperationRow = EVERY_OPERATION[operation];
    if (settings.readOnly && row.changes) {
      throw new DirspaceError('ReadOnly', `The catalog was opened read-only; no ${operation}.`);
    }
    const checked = checkedRequest(operation, request) as AnyRequest;
    const { headers, members } = callHeaders(operation, row, checked, settings.headers, options);
    const parts = splitRequest(operation, members, delimiterOf(operation, checked, settings));
    const takesJson = row.body === 'json' || row.body === 'map';
    return {
      operation,
      row,
      request: checked,
      url: addressOf(settings.base, parts),
      headers,
      body: takesJson
        ? jsonText(parts.body)
        : data === undefined
          ? undefined
          : new SendableBody(data),
      repeatable: row.repeatable || options.idempotencyKey !== undefined,
    };
  }

  /** Sends until an answer is final, repeating what is safe to repeat. */
  async #send(sending: Sending, { signal }: CallOptions): Promise<Received> {
    const { env, retries } = this.#settings;
    const timeoutMs = this.#timeout(sending);
    const callers = [this.#settings.signal, signal].filter((caller) => caller !== undefined);
    for (let attempt = 1; ; attempt++) {
      const late = (): unknown => this.#late(sending);
      const progress = new Progress(timeoutMs, late, callers, this.#underWay);
      if (this.#closing.signal.aborted) progress.abort(this.#closing.signal.reason);
      const last = attempt > retries || !sending.repeatable;
      let retryAfter: string | null = null;
      try {
        const response = await this.#attempt(sending, progress);
        const { status } = response;
        if (last || !RETRIED_STATUSES.has(status) || !canReplay(sending)) {
          return { response, progress };
        }
        retryAfter = response.headers.get('retry-after');
        const delay = retryDelay(attempt + 1, retryAfter, env);
        if (delay === undefined) return { response, progress };
        // Not waited for: a body that is shared is let go when all have let go of it.
        response.body?.cancel().catch(() => {});
        progress.end();
        await this.#pause(delay, callers);
      } catch (error) {
        progress.end();
        if (last || !canReplay(sending) || !(error instanceof LostConnection)) {
          throw error instanceof LostConnection ? this.#lost(sending, error) : error;
        }
        await this.#pause(retryDelay(attempt + 1, null, env) ?? 0, callers);
      }
    }
  }

  async #attempt(sending: Sending, progress: Progress): Promise<Answer> {
    const whole = await this.#whole(sending, progress);
    if (whole !== undefined) return whole;
    const { row, url, headers, body } = sending;
    const streamed = body instanceof SendableBody;
    const init = {
      method: row.method,
      headers,
      redirect: 'manual',
      signal: progress.signal,
      ...(body === undefined ? {} : { body: streamed ? body.open(progress) : body }),
      ...(streamed ? { duplex: 'half' } : {}),
    };
    try {
      progress.signal.throwIfAborted();
      const response = await this.#settings.fetch(url, init as RequestInit);
      this.#reached = true;
      return response;
    } catch (cause) {
      if (streamed && body.failure !== undefined) throw body.failure.error;
      if (progress.signal.aborted) throw progress.signal.reason;
      throw new LostConnection(cause);
    }
  }

  /**
   * The answer with its whole body, the quick way; undefined where it has to go through `fetch`.
   * The first of a namespace does too, which refuses some ports.
   */
  async #whole(
    { operation, row, url, headers, body, repeatable }: Sending,
    progress: Progress,
  ): Promise<Answer | undefined> {
    if (this.#settings.fetch !== platformFetch || !this.#reached) return undefined;
    if (row.answer === 'arrow-file' || body instanceof SendableBody) return undefined;
    if (progress.aborted) throw progress.reason;
    try {
      return await wholeAnswer({ method: row.method, url, headers, body }, progress);
    } catch (cause) {
      if (progress.aborted) throw progress.reason;
      if (isDirspaceError(cause)) throw cause;
      if (!(cause instanceof DamagedAnswer)) throw new LostConnection(cause);
      throw this.#lost({ operation, row, repeatable }, new LostConnection(cause.cause));
    }
  }

  async #pause(ms: number, callers: readonly AbortSignal[]): Promise<void> {
    const waiting = new Progress(0, () => undefined, [this.#closing.signal, ...callers]);
    try {
      await this.#settings.env.sleep(ms, waiting.signal);
    } finally {
      waiting.end();
    }
  }

  async #read(
    sending: Sending,
    { response, progress }: Received,
    { onContext }: CallOptions,
  ): Promise<unknown> {
    const { operation, row } = sending;
    const broken = (cause: unknown): unknown => this.#lost(sending, new LostConnection(cause));
    const context = contextOf(response.headers);
    this.#honoursBranch = honoursBranch(response) ?? this.#honoursBranch;
    try {
      onContext?.({ ...context });
    } catch (error) {
      letGo({ response, progress });
      throw error;
    }
    if (!response.ok) {
      const text = await readText(response, progress, broken);
      throw this.#failure(sending, response.status, text, context);
    }
    if (row.answer === 'arrow-file') return this.#rows(sending, { response, progress }, broken);
    const text = await readText(response, progress, broken);
    if (row.answer === 'empty') return undefined;
    const answer: { context?: Context } = parsed(operation, row, text);
    if (isExtension(operation)) return answer;
    answer.context = answer.context === undefined ? context : { ...answer.context, ...context };
    return answer;
  }

  async #rows(
    { operation, request }: Sending,
    { response, progress }: Received,
    broken: (cause: unknown) => unknown,
  ): Promise<unknown> {
    if (operation !== 'QueryTable') return openAnswer(response, progress, broken);
    const query = request as Model<'QueryTableRequest'>;
    try {
      checkHeeded(query, response.headers);
    } catch (error) {
      letGo({ response, progress });
      throw error;
    }
    return boundedRows(await openAnswer(response, progress, broken), query);
  }

  #timeout({ row }: Sending): number {
    return row.long ? this.#settings.longTimeoutMs : this.#settings.timeoutMs;
  }

  #late(sending: Sending): DirspaceError {
    const { operation, row, repeatable } = sending;
    const message = `${operation} went without progress for ${this.#timeout(sending)} ms.`;
    return new DirspaceError(outcome(row, repeatable), message, { details: { operation } });
  }

  #lost({ operation, row, repeatable }: Outcome, { cause }: LostConnection): DirspaceError {
    // Of a `fetch` that asks for headers first: nothing was sent without them.
    if (isDirspaceError(cause, 'Unauthenticated')) return cause;
    const { origin } = new URL(this.#settings.base);
    const refusal = refusalOf(cause);
    const message =
      refusal === undefined
        ? `The connection to ${origin} was lost during ${operation}.`
        : `Could not connect to ${origin} for ${operation} (${refusal}).`;
    const code = refusal === undefined ? outcome(row, repeatable) : 'ServiceUnavailable';
    return new DirspaceError(code, message, { cause, details: { operation } });
  }

  /** What a status outside 200 to 299 means. Shows no credential, though the answer may. */
  #failure(
    { operation, headers }: Sending,
    status: number,
    text: string,
    context: Context,
  ): DirspaceError {
    const error =
      status < 400
        ? this.#redirected(operation, status, context)
        : parseErrorBody(status, text, operation, context);
    return withoutSecrets(error, headers);
  }

  #redirected(operation: AnyOperation, status: number, context: Context): DirspaceError {
    return new DirspaceError(
      'InvalidInput',
      `${operation} was answered with a redirection (status ${status}); it is not followed, for the credentials would go along. Use the final address as the uri.`,
      { details: { operation, status, context } },
    );
  }
}

/**
 * The delimiter to send. Ids of a list of all tables, and those of transactions, may hold any but
 * the default one, so these operations use that, whatever the settings say. So does the root where
 * its id, the delimiter alone, would be a step of the path.
 */
function delimiterOf(
  operation: AnyOperation,
  request: AnyRequest,
  { delimiter }: ClientSettings,
): string {
  const { id = [] } = 'id' in request ? request : {};
  const isDefault =
    operation === 'ListAllTables' ||
    resourceKind(operation) === 'transaction' ||
    (id.length === 0 && /^\.{1,2}$/.test(delimiter));
  return isDefault ? DEFAULT_DELIMITER : delimiter;
}

/** Not waited for: a body that is shared is let go when all have let go of it. */
function letGo({ response, progress }: Received): void {
  progress.end();
  response.body?.cancel().catch(() => {});
}

/** A failure of the transport: no answer came, or not the whole of one. */
class LostConnection extends Error {
  constructor(cause: unknown) {
    super('The connection was lost.', { cause });
  }
}

function canReplay({ body }: Sending): boolean {
  return !(body instanceof SendableBody) || body.replayable;
}

/** What a request without an answer means: a write may have been done. */
function outcome(
  { permission }: OperationRow,
  repeatable: boolean,
): 'ServiceUnavailable' | 'CommitStateUnknown' {
  return permission === 'read' || repeatable ? 'ServiceUnavailable' : 'CommitStateUnknown';
}

/** Parses an answer. If a change got one that the protocol does not allow, it may have been made. */
function parsed(
  operation: AnyOperation,
  { permission }: OperationRow,
  text: string,
): { context?: Context } {
  try {
    return parseAnswer(operation, parseJson(operation, text));
  } catch (cause) {
    if (permission === 'read' || !isDirspaceError(cause, 'Internal')) throw cause;
    const message = `${cause.message} The change may have been done.`;
    throw new DirspaceError('CommitStateUnknown', message, { cause, details: { operation } });
  }
}

function parseJson(operation: AnyOperation, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const shown = JSON.stringify(text.slice(0, 80));
    throw new DirspaceError(
      'Internal',
      `${operation} was answered with ${shown}, which is not JSON; is the uri that of a catalog server?`,
      { cause, details: { operation } },
    );
  }
}
