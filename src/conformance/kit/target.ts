/**
 * Defines `Target`, the interface through which cases reach a server or catalog: a call for an
 * operation and, over HTTP only, raw requests. `ConformanceTarget` and `ServerTarget` are the forms
 * in which users pass a target to the suite.
 */
import type { RecordBatch, RecordBatchStream, Schema } from '../../arrow/index.ts';
import type { Namespace, OperationName, RequestOf, ResponseOf } from '../../protocol/index.ts';
import type { Exchange } from './exchange.ts';

/** The rows of a query, read to their end. */
export interface Rows {
  readonly schema: Schema;
  readonly batches: readonly RecordBatch[];
}

/** What an operation answers, with rows at hand in place of a stream. */
export type Answered<Op extends OperationName> = Op extends 'QueryTable' ? Rows : ResponseOf<Op>;

export interface RawInit {
  readonly body?: string | Uint8Array;
  readonly type?: string;
}

/** An answer as it came. */
export interface RawAnswer {
  readonly status: number;
  readonly type: string;
  readonly bytes: Uint8Array;
  /** The body as JSON; undefined where it is none. */
  readonly json: unknown;
}

export interface Target {
  /** The address or the kind of the target, for the head of a report. */
  readonly name: string;
  /** Rejects with the error of the protocol that the answer stands for. */
  call<Op extends OperationName>(
    operation: Op,
    request: RequestOf<Op>,
    data: RecordBatchStream | undefined,
    record: (exchange: Exchange) => void,
    /** Ends the wait for the answer. */
    signal?: AbortSignal,
  ): Promise<Answered<Op>>;
  /** Sends a request as it is; undefined where the target is no server. */
  readonly send?: (
    operation: OperationName,
    method: 'GET' | 'POST',
    path: string,
    init: RawInit,
    record: (exchange: Exchange) => void,
    signal?: AbortSignal,
  ) => Promise<RawAnswer>;
}

/** A server of the protocol. */
export interface ServerTarget {
  /** Base address: scheme, host, port, and a path where it has one. */
  readonly uri: string;
  /** Sent with every request, such as credentials. They appear in no report. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Sends the requests; the one of the platform if absent. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
  /** How long the answer to one request may take, 10,000 if absent; 0 sets no limit. */
  readonly timeoutMs?: number;
}

/** The base address of a server, the same with options, or a catalog in process. */
export type ConformanceTarget = string | ServerTarget | Namespace;
