/**
 * Defines `DirspaceError`, the class of the errors that the library reports to its callers.
 * `isDirspaceError` tells whether a value is such an error, and whether it has one of the given
 * codes. `ERROR_KINDS` maps each code to the protocol's error number, an HTTP status and whether a
 * retry may succeed. Codes are stable across releases, messages are not. `isError` recognizes
 * errors of any realm, and `shortened` cuts very long names in a message. protocol/error-body.ts
 * converts errors to HTTP bodies.
 */

import { types } from 'node:util';

/** What is fixed for one kind of error. */
export interface ErrorKind {
  /** The protocol's error number. */
  readonly number: number;
  /** The HTTP status a server answers with. */
  readonly status: number;
  /** True when the same request may succeed if it is simply sent again. */
  readonly retryable: boolean;
}

const kind = (number: number, status: number, retryable = false): ErrorKind => ({
  number,
  status,
  retryable,
});

/** By code. Several codes share a number where the protocol has only one for them. */
export const ERROR_KINDS = {
  Unsupported: kind(0, 406),
  NamespaceNotFound: kind(1, 404),
  NamespaceAlreadyExists: kind(2, 409),
  NamespaceNotEmpty: kind(3, 409),
  TableNotFound: kind(4, 404),
  TableAlreadyExists: kind(5, 409),
  TableIndexNotFound: kind(6, 404),
  TableIndexAlreadyExists: kind(7, 409),
  TableTagNotFound: kind(8, 404),
  TableTagAlreadyExists: kind(9, 409),
  TransactionNotFound: kind(10, 404),
  TableVersionNotFound: kind(11, 404),
  TableColumnNotFound: kind(12, 400),
  InvalidInput: kind(13, 400),
  /** A real clash with another writer: re-read, decide, and try again. */
  ConcurrentModification: kind(14, 409),
  PermissionDenied: kind(15, 403),
  Unauthenticated: kind(16, 401),
  ServiceUnavailable: kind(17, 503, true),
  Internal: kind(18, 500),
  InvalidTableState: kind(19, 409),
  TableSchemaValidation: kind(20, 400),
  Throttling: kind(21, 503, true),
  TableBranchNotFound: kind(22, 404),
  TableBranchAlreadyExists: kind(23, 409),
  /** The commit may or may not be visible; nothing of it was cleaned up. */
  CommitStateUnknown: kind(18, 500),
  /** Stored bytes do not match what the catalog says of them. */
  Corrupt: kind(18, 500),
  /** Written by a newer format or with a feature this release does not know. */
  UnsupportedFormat: kind(0, 406),
  /** The catalog was opened read-only. */
  ReadOnly: kind(15, 403),
  /** A handle was used after close(). */
  Closed: kind(13, 400),
  /** Disk full, too many open files, and their like. */
  ResourceExhausted: kind(17, 503, true),
  /** The server does not answer for the host that the request names. */
  MisdirectedRequest: kind(13, 421),
  /** An idempotency key stands for one request, and came with another. */
  IdempotencyKeyReused: kind(13, 422),
  PayloadTooLarge: kind(13, 413),
  UnsupportedMediaType: kind(13, 415),
} as const satisfies Record<string, ErrorKind>;

/** `TableNotFound` and its like: stable across releases. */
export type ErrorCode = keyof typeof ERROR_KINDS;

/** What an error carries beside its code and message. */
export interface DirspaceErrorOptions {
  /** What was thrown underneath. */
  readonly cause?: unknown;
  /** Facts for programs: ids, names, positions. Never secrets, never server paths. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/**
 * An error that the library throws on purpose. Tell errors apart by `code`, not by class, so that
 * two copies of the package in one process understand each other.
 */
export class DirspaceError extends Error {
  override readonly name = 'DirspaceError';
  /** What tells errors apart. */
  readonly code: ErrorCode;
  /** The protocol's number. */
  readonly number: number;
  /** The HTTP status a server answers with. */
  readonly status: number;
  /** True when the same call may succeed if it is simply made again. */
  readonly retryable: boolean;
  /** Facts for programs, such as `{id, version}`; empty where there are none. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, message: string, options: DirspaceErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    const found = ERROR_KINDS[code];
    this.code = code;
    this.number = found.number;
    this.status = found.status;
    this.retryable = found.retryable;
    this.details = options.details ?? {};
  }
}

/** Characters in a row without a space, such as a name, and how many of more are told. */
const [LONGEST, TOLD] = [1_000, 200];
const LONG = new RegExp(`\\S{${LONGEST + 1},}`, 'g');

/** Names of any length come from requests and files; a message tells the beginning of one that is too long to read. */
export function shortened(message: string): string {
  if (message.length <= LONGEST) return message;
  return message.replace(
    LONG,
    (run) => `${run.slice(0, TOLD)}... (${run.length.toLocaleString('en')} characters)`,
  );
}

/**
 * Whether a value is an Error, of this realm or of another: jest runs programs in a realm of their own,
 * and what Node's modules throw is of the outer one.
 */
export function isError(value: unknown): value is Error {
  return value instanceof Error || types.isNativeError(value);
}

/** Narrows to a DirspaceError, of one of `codes` where any are given. */
export function isDirspaceError<Code extends ErrorCode>(
  error: unknown,
  ...codes: readonly Code[]
): error is DirspaceError & { readonly code: Code } {
  if (!isError(error) || error.name !== 'DirspaceError') return false;
  const { code } = error as DirspaceError;
  return codes.length === 0 || (codes as readonly string[]).includes(code);
}
