/**
 * `answerOperation` carries out one request of an operation and returns the HTTP answer; errors are
 * thrown. It authenticates the caller, waits for the body (of Arrow data, for the first bytes) and
 * then for a place in the queue. Then it calls the catalog through scope and permissions (auth/). A
 * write that is repeated under its idempotency key gets the stored answer. `Services` are the parts
 * of the server that requests share. A special route, such as that of blobs, passes a `Form`, whose
 * `work` gets an `Order`.
 */
import type { ArrowBody, RecordBatchStream } from '../arrow/index.ts';
import { DirspaceError } from '../errors.ts';
import {
  type AliasRoute,
  type AnyOperation,
  APPLIED_HEADER,
  DEFAULT_DELIMITER,
  EVERY_OPERATION,
  type FormRoute,
  formatAnswer,
  HEADER_CONTEXT,
  IDEMPOTENCY_HEADER,
  type IdempotencyStamp,
  joinRequest,
  jsonText,
  lateOptions,
  type Namespace,
  type ObjectPath,
  type OperationRow,
  OWN_CLIENT,
  oftenPassedOver,
  preparedInSteps,
  type QueryTableRequest,
  type QueryValues,
  type RequestOf,
  refuseUnknownParameters,
} from '../protocol/index.ts';
import { type HeldMemory, RequestMemory, type ServerMemory } from '../request-memory.ts';
import { runSteps } from '../steps.ts';
import {
  bodyCredentials,
  type Call,
  type Caller,
  callerOf,
  delimitedCaller,
  type Principal,
  permittedCaller,
  permittedDatabase,
  scopedCaller,
} from './auth/index.ts';
import type { Databases } from './databases.ts';
import {
  type Arrivals,
  type Arriving,
  arrowAnswer,
  arrowPieces,
  bodyBegun,
  checkArrowBody,
  emptyAnswer,
  type HttpAnswer,
  type HttpRequest,
  jsonAnswer,
  pauseOf,
  ReaderPace,
  type RequestState,
  readJson,
} from './http/index.ts';
import {
  type AnswerCache,
  checkKey,
  checkSameData,
  digest,
  type KeptAnswer,
  SummedData,
  stampOf,
} from './idempotency.ts';
import { hideCredentials, type Identification } from './identity.ts';
import type { Admission, Limits } from './settings/index.ts';
import type { Uploads } from './uploads.ts';

export interface Services {
  readonly databases: Databases;
  readonly identification: Identification;
  readonly arrivals: Arrivals;
  /** One admission for operations that look something up, so that they do not wait for work on rows, and one for all others. */
  readonly admission: { readonly short: Admission; readonly other: Admission };
  readonly limits: Required<Limits>;
  readonly answers: AnswerCache;
  readonly uploads: Uploads;
  /** Counts large JSON bodies as well. */
  readonly serverMemory: ServerMemory;
}

type Members = Record<string, unknown> & { readonly context?: Readonly<Record<string, string>> };

/** What a form does its work with: within the request, and with the rights of its caller. */
export interface Order {
  /** The checked request. */
  readonly request: RequestOf<AnyOperation>;
  /** The rows that came with it. */
  readonly pieces: AsyncIterable<Uint8Array> | undefined;
  /** Names the caller, and the catalog with the table, and nothing else does. */
  readonly caller: string;
  readonly table: string;
  /** Resolves where the caller may do the operation; does nothing else. */
  permitted(): Promise<void>;
  /** Calls the operation. With a signal of its own, the call may outlast the request. */
  call(request: object, data?: ArrowBody, signal?: AbortSignal): Promise<unknown>;
  /** Calls another operation about the same table. */
  ask(operation: AnyOperation, request: object): Promise<unknown>;
}

/** A request of a route that does an operation in a form of its own. */
export interface Form {
  readonly route: FormRoute;
  /** Stands for the JSON body. */
  readonly body?: object;
  readonly work: (order: Order) => Promise<HttpAnswer>;
}

/** Answers a request of an operation. Throws what is wrong with it. */
export async function answerOperation(
  services: Services,
  operation: AnyOperation,
  alias: AliasRoute | undefined,
  http: HttpRequest,
  form?: Form,
): Promise<HttpAnswer> {
  const { state } = http;
  const row: OperationRow = EVERY_OPERATION[operation];
  state.operation = operation;
  const own = state.dialect?.timeoutMs(operation, state.headers);
  if (own !== undefined) state.limit(own);

  const asking = services.identification.identify(operation, state);
  const { principal, read } = asking instanceof Promise ? await asking : asking;
  state.principal = principal.name;
  const located = services.databases.target(state.headers);
  const target = located instanceof Promise ? await located : located;
  state.database = target.database;
  // Before a place is taken: who may do nothing here must not hold one from others.
  const database = permittedDatabase(principal, target, services.databases);
  const { limits } = services;
  const caller = services.identification.required ? principal.name : (state.request.peer ?? '');
  // Nor is one taken while a body is waited for, so that half a request holds none.
  const { arrivals } = services;
  const arriving = { caller, arrivals, pace: limits, progress: state.progress };
  const takesData = form === undefined ? row.body === 'arrow-stream' : form.route.takesData;
  if (takesData) {
    checkArrowBody(state.request, limits.maxArrowBytes);
    await bodyBegun(state, arriving);
  }
  const body =
    takesData || row.method === 'GET'
      ? undefined
      : form !== undefined
        ? form.body
        : read === undefined
          ? await countedJson(services, state, arriving)
          : read.body;

  const id = http.parameters[alias?.idParameter ?? 'id'];
  const table = id === undefined ? undefined : `${target.database}\0${id}`;
  const admission = services.admission[row.short ? 'short' : 'other'];
  const entered = admission.enter(table, caller, state.progress);
  state.onEnd(typeof entered === 'function' ? entered : await entered);

  const asked =
    form === undefined ? http : { ...http, query: queryOf(operation, form.route, http.query) };
  const sent = requestOf(operation, alias, asked, body, services.identification.required);
  const steps = preparedInSteps(operation, sent);
  const request =
    steps === undefined ? sent : ((await runSteps(steps, pauseOf(state.progress))) as typeof sent);
  const found = services.databases.catalog(database);
  const catalog = found instanceof Promise ? await state.progress.race(found) : found;
  const dialected = callerFor(catalog, principal, database, target.prefix, state);
  const done = delimitedCaller(dialected, delimiterOf(http.query.delimiter));
  const pieces = takesData ? arrowPieces(state, limits.maxArrowBytes, limits) : undefined;
  if (form !== undefined) {
    const call = (wanted: object, data?: ArrowBody, signal?: AbortSignal): Promise<unknown> => {
      const own = lateOptions(state.progress, undefined, undefined, state.trace?.context);
      const options = signal === undefined ? own : { signal };
      const given = data === undefined ? {} : { data };
      const work = done({ operation, request: wanted, ...given, options } as Call);
      if (signal === undefined) state.hold(work);
      work.catch((failure) => services.databases.noteFailure(database, failure)).catch(() => {});
      return signal === undefined ? state.progress.race(work) : work;
    };
    const checked = permittedCaller(unmade(operation, callerOf(catalog)), principal, database);
    return form.work({
      request,
      pieces,
      caller: principal.name,
      table: `${database}\0${target.prefix.join('$')}\0${jsonText((request as Members).id)}`,
      call,
      permitted: () => {
        const asked = { operation, request, options: lateOptions(state.progress) } as Call;
        return scopedCaller(checked, target.prefix)(asked).then(() => {}, passUnmade);
      },
      ask: (other, wanted) => {
        const options = lateOptions(state.progress);
        return state.progress.race(done({ operation: other, request: wanted, options } as Call));
      },
    });
  }
  const call = (
    key: string | undefined,
    data: ArrowBody | undefined,
    stamp?: IdempotencyStamp,
  ): Promise<unknown> => {
    const late = lateOptions(state.progress, key, stamp, state.trace?.context);
    const work = done({
      operation,
      request,
      ...(data === undefined ? {} : { data }),
      // No copy: that would read the signal, and so make one for every request.
      options: Object.assign(late, { forLance: state.headers['user-agent'] !== OWN_CLIENT }),
    } as Call);
    state.hold(work);
    work.catch((failure) => services.databases.noteFailure(database, failure)).catch(() => {});
    const wanted = (): Promise<unknown> => state.progress.race(work);
    return row.long ? state.untimed(wanted) : wanted();
  };

  const key = idempotencyKey(row, operation, state);
  if (key === undefined) {
    return formAnswer(operation, await call(undefined, pieces), http, request);
  }
  // An answer that is kept must not outlive the right to what it tells.
  const permitted = permittedCaller(unmade(operation, callerOf(catalog)), principal, database);
  const options = lateOptions(state.progress);
  const checked = scopedCaller(permitted, target.prefix)({ operation, request, options } as Call);
  await checked.catch(passUnmade);
  // One request of one principal, whatever it asks of which object.
  const scope = digest(principal.name, key, state.dialect?.name ?? '');
  const members = jsonText(withoutIdentity(sent));
  const fingerprint = digest(operation, database, id ?? '', members, target.prefix.join('$'));
  const { answer, repeated } = await services.answers.once(scope, fingerprint, async () => {
    const data = pieces && new SummedData(pieces);
    const stamp = stampOf(scope, fingerprint, data);
    const response = await call(digest(principal.name, operation, key), data, stamp);
    const formed = (await formAnswer(operation, response, http, request)) as KeptAnswer;
    return {
      ...formed,
      ...(data === undefined ? {} : { data: data.sum }),
      ...(hasCredentials(response) ? { vendedTo: jsonText(principal.grants) } : {}),
    };
  });
  if (!repeated) return answer;
  if (pieces !== undefined && answer.data !== undefined) await checkSameData(pieces, answer.data);
  return replay(answer, principal);
}

/** The parameters of the operation among those of a route. Throws for what the route does not have. */
function queryOf(operation: AnyOperation, route: FormRoute, query: QueryValues): QueryValues {
  refuseUnknownParameters(operation, query, route.query, false);
  const { query: members }: OperationRow = EVERY_OPERATION[operation];
  return Object.fromEntries(
    Object.entries(query).filter(([name]) => name === 'delimiter' || Object.hasOwn(members, name)),
  );
}

/** Thrown in place of a call that passed all checks of rights and is not to be made. */
class Unmade extends Error {}

/** `caller` without the calls of one operation. */
const unmade = (operation: AnyOperation, caller: Caller): Caller =>
  ((call: Call) =>
    call.operation === operation ? Promise.reject(new Unmade()) : caller(call)) as Caller;

function passUnmade(error: unknown): void {
  if (!(error instanceof Unmade)) throw error;
}

const hasCredentials = (response: unknown): boolean =>
  typeof response === 'object' && response !== null && 'storage_options' in response;

/** Storage credentials need `admin`, which a caller with other grants than the first may lack. */
function replay(answer: KeptAnswer, { grants }: Principal): HttpAnswer {
  const { vendedTo, body } = answer;
  const replayed = { ...answer, headers: { ...answer.headers, 'idempotent-replay': 'true' } };
  if (vendedTo === undefined || vendedTo === jsonText(grants)) return replayed;
  const { storage_options: _, ...rest } = JSON.parse(body) as Readonly<Record<string, unknown>>;
  return { ...replayed, body: jsonText(rest) };
}

/** Smaller bodies are not worth their count: all that may wait together are few megabytes. */
const COUNTED_BYTES = 8_192;
/** The bytes, their text, and the values in it. */
const JSON_FACTOR = 4;

/**
 * A JSON body, counted as it grows until its request has ended. Where memory is short, those whose
 * senders are slow are broken off, as answers are whose readers are slow.
 */
async function countedJson(
  { limits, serverMemory }: Services,
  state: RequestState,
  arriving: Arriving,
): Promise<unknown> {
  let held: HeldMemory | undefined;
  let pace: ReaderPace | undefined;
  let arrived = (): void => {};
  let before = 0;
  const count = (bytes: number): void => {
    if (bytes < COUNTED_BYTES) return;
    if (held === undefined) {
      const counted = new RequestMemory(limits.requestMemory, serverMemory).hold('The JSON body');
      state.onEnd(() => counted.end());
      held = counted;
      pace = new ReaderPace(() => state.progress.abort(sentSlowly()));
      arrived = serverMemory.sending(pace);
    }
    pace?.took(bytes - before);
    pace?.wait();
    before = bytes;
    held.set(JSON_FACTOR * bytes);
  };
  try {
    return await readJson(state, limits.maxJsonBytes, arriving, count, () => arrived());
  } finally {
    arrived();
  }
}

const sentSlowly = (): DirspaceError =>
  new DirspaceError(
    'ServiceUnavailable',
    'The body of the request came slower than 64 KiB a second, and others waited for the memory that it holds (serverMemory). Nothing was changed; send it again.',
    { details: { limit: 'serverMemory' } },
  );

function requestOf(
  operation: AnyOperation,
  alias: AliasRoute | undefined,
  { state, parameters, query }: HttpRequest,
  body: unknown,
  authenticated: boolean,
): RequestOf<AnyOperation> {
  const idParameter = alias?.idParameter;
  const named = idParameter === undefined ? parameters : { id: parameters[idParameter] ?? '' };
  const sent = { pathParameters: named, query, ...(body === undefined ? {} : { body }) };
  const parts = state.dialect?.parts(operation, sent, state.headers) ?? sent;
  const delimiter = delimiterOf(parts.query.delimiter);
  hideCredentials(state, bodyCredentials(body));
  const request = joinRequest(operation, parts, delimiter) as Members;
  if (request.identity === undefined && request.context === undefined) return request as never;
  // Headers come from the connection alone: a body must not choose those of a catalog behind this.
  const { identity, context, ...members } = request;
  const kept = Object.entries(context ?? {}).filter(([name]) => !name.startsWith(HEADER_CONTEXT));
  return {
    ...members,
    ...(identity === undefined || authenticated ? {} : { identity }),
    ...(kept.length === 0 ? {} : { context: Object.fromEntries(kept) }),
  } as RequestOf<AnyOperation>;
}

function withoutIdentity(request: RequestOf<AnyOperation>): unknown {
  const { identity: _, context: __, ...members } = request as Members;
  return members;
}

function delimiterOf(value: string | readonly string[] | undefined): string {
  if (value === undefined) return DEFAULT_DELIMITER;
  if (value === '') {
    throw new DirspaceError(
      'InvalidInput',
      'The query parameter "delimiter" is empty; it has one character or more.',
    );
  }
  if (typeof value === 'string') return value;
  throw new DirspaceError('InvalidInput', 'The query parameter "delimiter" is given twice.');
}

function callerFor(
  catalog: Namespace,
  principal: Principal,
  database: string,
  prefix: ObjectPath,
  { dialect }: RequestState,
): Caller {
  const permitted = permittedCaller(callerOf(catalog), principal, database);
  const scoped = scopedCaller(permitted, prefix);
  return dialect === undefined ? scoped : dialect.caller(scoped);
}

/** The key of a write; reads need none, for they may be repeated as they are. */
function idempotencyKey(
  row: OperationRow,
  operation: AnyOperation,
  { request, headers, dialect }: RequestState,
): string | undefined {
  if (row.repeatable && !row.changes) return undefined;
  const [sent, ...more] = request.sent(IDEMPOTENCY_HEADER);
  if (more.length > 0) {
    throw new DirspaceError(
      'InvalidInput',
      `The request has ${more.length + 1} ${IDEMPOTENCY_HEADER} headers; send one.`,
    );
  }
  if (sent !== undefined) return checkKey(sent);
  const own = dialect?.idempotencyKey(operation, headers);
  return own === undefined ? undefined : checkKey(own);
}

function formAnswer(
  operation: AnyOperation,
  response: unknown,
  { state }: HttpRequest,
  request: RequestOf<AnyOperation>,
): HttpAnswer | Promise<HttpAnswer> {
  const row: OperationRow = EVERY_OPERATION[operation];
  if (row.answer === 'arrow-file') {
    const answer = arrowAnswer(response as RecordBatchStream, state.headers.accept);
    const heeded = operation === 'QueryTable' ? oftenPassedOver(request as QueryTableRequest) : [];
    return heeded.length === 0 ? answer : answer.then((rows) => withSign(rows, heeded));
  }
  if (row.answer === 'empty') return emptyAnswer(row.status);
  const own = state.dialect?.answer(operation, response);
  if (own !== undefined) return jsonAnswer(row.status, own);
  return jsonAnswer(row.status, formatAnswer(operation, response as JsonResponse));
}

const withSign = (answer: HttpAnswer, heeded: readonly string[]): HttpAnswer => ({
  ...answer,
  headers: { ...answer.headers, [APPLIED_HEADER]: heeded.join(', ') },
});

type JsonResponse = Parameters<typeof formatAnswer>[1];
