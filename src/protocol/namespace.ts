/**
 * Defines `Namespace`, the interface of every catalog, in this process or on a server. It has one
 * method for each operation of the protocol, with typed requests and responses, and `close`.
 * `CallOptions` are the options of a call, such as a signal that aborts it, or the stamp by which a
 * catalog recognises a repeated write. `unsupported` makes the error for an operation that a
 * catalog lacks, and `unsupportedOperations` a base class whose methods, for the operations that
 * are given, reject with it.
 */
import type { ArrowBody, RecordBatchStream } from '../arrow/index.ts';
import { DirspaceError } from '../errors.ts';
import {
  type AnyOperation,
  type EVERY_OPERATION,
  methodName,
  type RequestModel,
  type ResponseModel,
} from './every-operation.ts';
import type { Context, Model } from './models/index.ts';
import type { OperationName } from './operations.ts';

/** Tells a repeated write from a different write under the same idempotency key. */
export interface IdempotencyStamp {
  /** The key and its owner as one text, unique among all keys of all owners. */
  readonly scope: string;
  /** What `made` begins with: the part that is known before the data of the request is read. */
  readonly request: string;
  /** At most 27 digits and lower-case letters; asked for once the data of the request was read. */
  made(): string;
  /** For the stamp of an earlier write. Rejects with IdempotencyKeyReused where this is another. */
  check(stamp: string): Promise<void>;
  /** As `check`, for the `request` of an earlier write, whose data is not known. */
  checkRequest(request: string): void;
}

/** The headers of W3C Trace Context that a request to a remote catalog carries. */
export interface TraceContext {
  readonly traceparent: string;
  readonly tracestate?: string;
}

/** What every operation takes after its request. */
export interface CallOptions {
  /** Ends the call early; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Two writes with the same key are one write, where the catalog honours it. */
  readonly idempotencyKey?: string;
  /** What the key stands for, where the caller can tell: kept with the write by catalogs that can. */
  readonly idempotencyStamp?: IdempotencyStamp;
  /**
   * The answer goes to clients that may read tables through Lance: versions name Lance's manifests, which
   * are made where they are not there yet. A REST server sets it for other clients than this package's.
   */
  readonly forLance?: boolean;
  /**
   * A description need not say whether Lance opens the table, which takes a look at the disk. A remote
   * catalog says it nevertheless.
   */
  readonly withoutLance?: boolean;
  /** The trace that the call is a part of; a catalog in process needs none. */
  readonly traceContext?: TraceContext;
  /**
   * Called once when an answer of a remote catalog begins, also where it is rows, nothing but a
   * status, or a failure: `header.<name>` for every header of it. JSON answers have the same in
   * their `context`, failures in `details.context`. A catalog in process has none to tell. What the
   * function throws rejects the call, though the server may have done it.
   */
  readonly onContext?: (context: Context) => void;
}

type Row<Op extends AnyOperation> = (typeof EVERY_OPERATION)[Op];

/** The request of an operation, in the protocol's own spelling. */
export type RequestOf<Op extends AnyOperation> = Model<RequestModel<Op>>;

/** Rows where the answer is Arrow data; nothing where it is empty; else the response model. */
export type ResponseOf<Op extends AnyOperation> = Row<Op>['answer'] extends 'arrow-file'
  ? RecordBatchStream
  : Row<Op>['answer'] extends 'empty'
    ? // biome-ignore lint/suspicious/noConfusingVoidType: it is the result of a method
      void
    : Model<ResponseModel<Op>>;

/** Operations that take Arrow data beside their request. */
export type ArrowOperation = {
  [Op in OperationName]: Row<Op>['body'] extends 'arrow-stream' ? Op : never;
}[OperationName];

type Method<Op extends OperationName> = Op extends ArrowOperation
  ? (request: RequestOf<Op>, data: ArrowBody, options?: CallOptions) => Promise<ResponseOf<Op>>
  : (request: RequestOf<Op>, options?: CallOptions) => Promise<ResponseOf<Op>>;

/** The operations alone, without the life of the object. */
export type NamespaceOperations = {
  [Op in OperationName as Uncapitalize<Op>]: Method<Op>;
};

/** A catalog, in process or remote. Operations that it lacks reject with Unsupported. */
export interface Namespace extends NamespaceOperations, AsyncDisposable {
  /** Releases what the object holds; what is called after it rejects with Closed. */
  close(): Promise<void>;
}

/** The error for an operation that a catalog does not have: status 406, code 0. */
export function unsupported(operation: string): DirspaceError {
  return new DirspaceError(
    'Unsupported',
    `The operation ${operation} is not supported by this catalog.`,
    { details: { operation } },
  );
}

/**
 * A base class whose methods reject with Unsupported, for the operations an engine does not have:
 * `class Engine extends unsupportedOperations(['CreateTableIndex']) implements Namespace`.
 */
export function unsupportedOperations<const Op extends OperationName>(
  operations: readonly Op[],
): new () => Pick<NamespaceOperations, Uncapitalize<Op>> {
  const base = class {};
  for (const operation of operations) {
    Object.defineProperty(base.prototype, methodName(operation), {
      value: () => Promise.reject(unsupported(operation)),
      writable: true,
      configurable: true,
    });
  }
  return base as new () => Pick<NamespaceOperations, Uncapitalize<Op>>;
}
