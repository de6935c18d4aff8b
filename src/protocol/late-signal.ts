/**
 * The signal of a call that is made when somebody asks for it. Making one takes the engine longer
 * than many a call does, and its garbage outlives the call.
 */
import type { CallOptions, IdempotencyStamp, TraceContext } from './namespace.ts';

/** Whoever may end a call. */
export interface Abortable {
  readonly signal: AbortSignal;
  readonly aborted: boolean;
}

const SOURCE = Symbol('source');

interface LateOptions extends CallOptions {
  readonly [SOURCE]?: Abortable;
}

export function lateOptions(
  source: Abortable,
  idempotencyKey?: string,
  idempotencyStamp?: IdempotencyStamp,
  traceContext?: TraceContext,
): CallOptions {
  const options = {
    get signal() {
      return source.signal;
    },
    [SOURCE]: source,
  };
  if (traceContext !== undefined) Object.assign(options, { traceContext });
  if (idempotencyKey === undefined) return options;
  const stamped = idempotencyStamp === undefined ? {} : { idempotencyStamp };
  return Object.assign(options, { idempotencyKey }, stamped);
}

/** Throws the reason where the call was ended before it began; makes no signal for that. */
export function throwIfAborted(options: CallOptions | undefined): void {
  const source = (options as LateOptions | undefined)?.[SOURCE];
  if (source === undefined || source.aborted) options?.signal?.throwIfAborted();
}
