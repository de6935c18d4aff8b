/**
 * `lateOptions` makes call options whose AbortSignal is created only when it is read, because
 * creating one takes longer than many calls. `throwIfAborted` throws the abort reason if a call is
 * aborted. It creates no signal for a call that is not aborted.
 */
import type { CallOptions, IdempotencyStamp, TraceContext } from './namespace.ts';

/** The state of a call that may be aborted; reading `signal` creates it. */
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

/** Throws the abort reason if the call is aborted already, without creating a signal. */
export function throwIfAborted(options: CallOptions | undefined): void {
  const source = (options as LateOptions | undefined)?.[SOURCE];
  if (source === undefined || source.aborted) options?.signal?.throwIfAborted();
}
