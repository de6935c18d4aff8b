/**
 * Converts errors to the REST error body (`formatErrorBody`) and back (`parseErrorBody`);
 * `ERROR_STATUSES` lists the HTTP statuses with their titles. The body reveals nothing of an error
 * that is Internal or not a DirspaceError. `parseErrorBody` finds the error code by the number in
 * the body. Where several codes share a number, the body's `context` names the code; without it,
 * the first of them counts. If the number is unknown or missing, the HTTP status in the body's
 * `type`, or else that of the response, decides together with the operation. An internal error that
 * begins with `Not supported: `, as Lance's own server sends it, becomes Unsupported.
 */
import {
  DirspaceError,
  ERROR_KINDS,
  type ErrorCode,
  isDirspaceError,
  shortened,
} from '../errors.ts';
import { type AnyOperation, isExtension, resourceKind } from './every-operation.ts';
import type { Context, ErrorResponse } from './models/index.ts';

/** `type` and `title` of each status an error may have. */
export const ERROR_STATUSES = {
  400: { type: '/errors/bad-request', title: 'Malformed request' },
  401: {
    type: '/errors/unauthorized-request',
    title: 'No valid authentication credentials for the operation',
  },
  403: { type: '/errors/forbidden-request', title: 'Not authorized to make this request' },
  404: { type: '/errors/not-found-error', title: 'Not found Error' },
  405: { type: '/errors/method-not-allowed', title: 'Method not allowed' },
  406: { type: '/errors/unsupported-operation', title: 'Operation not supported' },
  408: { type: '/errors/request-timeout', title: 'Request timeout' },
  409: { type: '/errors/conflict', title: 'Conflict' },
  413: { type: '/errors/payload-too-large', title: 'Payload too large' },
  415: { type: '/errors/unsupported-media-type', title: 'Unsupported media type' },
  417: { type: '/errors/expectation-failed', title: 'Expectation failed' },
  421: { type: '/errors/misdirected-request', title: 'Misdirected request' },
  422: {
    type: '/errors/idempotency-key-reused',
    title: 'Idempotency key used for another request',
  },
  429: { type: '/errors/too-many-requests', title: 'Too many requests' },
  431: { type: '/errors/headers-too-large', title: 'Request header fields too large' },
  500: { type: '/errors/server-error', title: 'Internal Server Error' },
  503: { type: '/errors/service-unavailable', title: 'Slow down' },
} as const;

export type ErrorStatus = keyof typeof ERROR_STATUSES;

export interface ErrorBody extends ErrorResponse {
  type: string;
  title: string;
  status: number;
  detail: string;
  instance: string;
  error: string;
}

const KIND = 'dirspace.kind';
const MAX_MESSAGE = 2000;

/** The first kind of each number: the one a number alone stands for. */
const BY_NUMBER = new Map<number, ErrorCode>();
for (const [code, { number }] of Object.entries(ERROR_KINDS)) {
  if (!BY_NUMBER.has(number)) BY_NUMBER.set(number, code as ErrorCode);
}

export interface ErrorBodyOptions {
  /** The path of the request, without its query. */
  readonly instance: string;
  /** Named in the body of an unknown failure, so that its log line can be found. */
  readonly requestId?: string;
  /** Another status than the kind's own, such as 429 for throttling. */
  readonly status?: ErrorStatus;
}

/**
 * The body that tells of `error`; answer with its `status`. What is not one of this package's
 * errors, or is Internal, becomes an opaque 500: nothing of it is shown.
 */
export function formatErrorBody(error: unknown, options: ErrorBodyOptions): ErrorBody {
  const shown = isDirspaceError(error) && error.code !== 'Internal' ? error : opaque(options);
  const status = (options.status ?? shown.status) as ErrorStatus;
  const shared = BY_NUMBER.get(shown.number) !== shown.code;
  const message = shortened(shown.message);
  return {
    ...ERROR_STATUSES[status],
    status,
    detail: message,
    instance: options.instance,
    error: message,
    code: shown.number,
    ...(shared ? { context: { [KIND]: shown.code } } : {}),
  };
}

function opaque({ requestId }: ErrorBodyOptions): DirspaceError {
  const request = requestId === undefined ? 'The request' : `The request ${requestId}`;
  return new DirspaceError('Internal', `${request} failed inside the server; its log says why.`);
}

/**
 * The error an answer with a status of 400 or more stands for. `body` is its text, JSON or not.
 * Its details have the answer's `status`, `instance` where the body has it, and as `context` what
 * the body has of it and what came beside the body.
 */
export function parseErrorBody(
  status: number,
  body: string,
  operation: AnyOperation,
  beside: Context = {},
): DirspaceError {
  const members = jsonObject(body);
  const code = kindOf(members, status, operation);
  const { instance } = members;
  const context = { ...contextIn(members.context), ...beside };
  return new DirspaceError(code, messageOf(members, status, body, operation), {
    details: {
      operation,
      status,
      ...(typeof instance === 'string' ? { instance } : {}),
      ...(Object.keys(context).length === 0 ? {} : { context }),
    },
  });
}

/** The context of a body, without the entry that says which of several kinds the error is of. */
function contextIn(value: unknown): Context {
  if (typeof value !== 'object' || value === null) return {};
  const entries = Object.entries(value);
  return Object.fromEntries(
    entries.filter(([name, text]) => name !== KIND && typeof text === 'string'),
  );
}

function jsonObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
  } catch {
    return {};
  }
}

function messageOf(
  { error, detail, title }: Readonly<Record<string, unknown>>,
  status: number,
  body: string,
  operation: AnyOperation,
): string {
  for (const text of [error, detail, title]) {
    if (typeof text === 'string' && text !== '') return text.slice(0, MAX_MESSAGE);
  }
  const page = pageTitle(body);
  if (page !== undefined) return `${operation} was answered with status ${status} and ${page}`;
  const found = body.trim().slice(0, 300);
  return `${operation} was answered with status ${status}${found === '' ? '' : `: ${found}`}`;
}

/** What gateways and other servers answer is a page for people: its title says what there is to say. */
function pageTitle(body: string): string | undefined {
  const head = body.slice(0, PAGE_HEAD).trimStart();
  if (!/^(?:<!--|<!doctype\s+html|<\?xml|<(?:html|head|body)\b)/i.test(head)) return undefined;
  const [, , text = ''] = /<(title|h1)\b[^>]*>([^<]*)/i.exec(head) ?? [];
  const title = text.replaceAll(/\s+/g, ' ').trim().slice(0, 100);
  return title === '' ? 'an HTML page' : `an HTML page titled ${JSON.stringify(title)}`;
}

/** Characters of a page that are looked at. */
const PAGE_HEAD = 4096;

function kindOf(
  { code, context, type, error }: Readonly<Record<string, unknown>>,
  status: number,
  operation: AnyOperation,
): ErrorCode {
  const first = typeof code === 'number' ? BY_NUMBER.get(code) : undefined;
  if (first === 'Internal' && isMissing(error)) return 'Unsupported';
  if (first === undefined) return kindOfStatus(statusOfType(type) ?? status, operation);
  const kind = typeof context === 'object' ? (context as Record<string, unknown> | null) : null;
  const named = kind?.[KIND];
  if (typeof named === 'string' && Object.hasOwn(ERROR_KINDS, named)) {
    if (ERROR_KINDS[named as ErrorCode].number === code) return named as ErrorCode;
  }
  return first;
}

/** How Lance's own server reports an operation that its catalog lacks: as an internal error. */
const isMissing = (error: unknown): boolean =>
  typeof error === 'string' && error.startsWith('Not supported: ');

function statusOfType(type: unknown): number | undefined {
  if (typeof type !== 'string') return undefined;
  const found = Object.entries(ERROR_STATUSES).find(([, row]) => type.endsWith(row.type));
  return found === undefined ? undefined : Number(found[0]);
}

/** What a conflict means where the operation leaves no doubt. */
const CONFLICTS: Partial<Record<AnyOperation, ErrorCode>> = {
  CreateNamespace: 'NamespaceAlreadyExists',
  DropNamespace: 'NamespaceNotEmpty',
  CreateTable: 'TableAlreadyExists',
  DeclareTable: 'TableAlreadyExists',
  RegisterTable: 'TableAlreadyExists',
  RenameTable: 'TableAlreadyExists',
  CreateMaterializedView: 'TableAlreadyExists',
  CreateTableTag: 'TableTagAlreadyExists',
  CreateTableBranch: 'TableBranchAlreadyExists',
};

const MISSING: Readonly<Record<ReturnType<typeof resourceKind>, ErrorCode>> = {
  catalog: 'TableNotFound',
  namespace: 'NamespaceNotFound',
  table: 'TableNotFound',
  transaction: 'TransactionNotFound',
  materialized_view: 'TableNotFound',
};

function kindOfStatus(status: number, operation: AnyOperation): ErrorCode {
  switch (status) {
    case 401:
      return 'Unauthenticated';
    case 403:
      return 'PermissionDenied';
    case 404:
      // A server without it has no such route.
      return isExtension(operation) ? 'Unsupported' : MISSING[resourceKind(operation)];
    case 405:
    case 406:
    case 501:
      return 'Unsupported';
    case 409:
      return CONFLICTS[operation] ?? 'ConcurrentModification';
    case 413:
      return 'PayloadTooLarge';
    case 415:
      return 'UnsupportedMediaType';
    case 429:
      return 'Throttling';
    // A request that did not arrive in time was not carried out: it may be sent again.
    case 408:
    case 503:
      return 'ServiceUnavailable';
    default:
      return status >= 400 && status < 500 ? 'InvalidInput' : 'Internal';
  }
}
