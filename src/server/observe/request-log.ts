/**
 * `logEnd` writes one log line when a request has ended, if the logger takes its level. The level
 * is error for responses that broke off and for 5xx other than 503, warn for 429 and 503, and
 * otherwise info. A client that left is info too, unless its response had broken off.
 */
import type { Env } from '../../env.ts';
import { isDirspaceError, isError } from '../../errors.ts';
import { ClientGone, type RequestState } from '../http/index.ts';
import type { LogLevel } from '../settings/index.ts';

export function logEnd(state: RequestState, status: number, env: Env): void {
  const gone = state.progress.reason instanceof ClientGone;
  const broken = state.brokenOff !== undefined;
  const level = broken ? 'error' : levelOf(status, gone);
  if (!state.log.takes(level)) return;
  const now = env.now();
  const fields = {
    time: new Date(now).toISOString(),
    requestId: state.id,
    traceId: state.trace?.traceId,
    spanId: state.trace?.spanId,
    peer: state.request.peer,
    method: state.request.method,
    path: state.path,
    operation: state.operation,
    status: gone ? undefined : status,
    millis: now - state.started,
    principal: state.principal,
    database: state.database === '' ? undefined : state.database,
    dialect: state.dialect?.name,
  };
  const failure = state.brokenOff ?? state.failure;
  const message = gone ? 'client gone' : broken ? 'answer broken off' : 'request';
  if (failure === undefined || gone) state.log.write(level, fields, message);
  else if (level === 'error' || (level === 'warn' && hasCause(failure))) {
    state.log.write(level, { ...fields, failure }, message);
  } else {
    const reason = isUntold(state) && isDirspaceError(failure) ? failure.message : undefined;
    state.log.write(level, { ...fields, code: codeOf(failure), reason }, message);
  }
}

/** Clients of Lance say that the result is unknown in place of why their version was refused. */
const isUntold = ({ operation }: RequestState): boolean => operation === 'CreateTableVersion';

function levelOf(status: number, gone: boolean): LogLevel {
  if (gone) return 'info';
  if (status === 503 || status === 429) return 'warn';
  return status >= 500 ? 'error' : 'info';
}

/** What keeps the server from doing its work, such as a full disk, is for its operator to know. */
function hasCause(failure: unknown): boolean {
  return isError(failure) && failure.cause !== undefined;
}

function codeOf(failure: unknown): string | undefined {
  return isDirspaceError(failure) ? failure.code : undefined;
}
