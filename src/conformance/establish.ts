/**
 * `establish` checks before a run that an address is a server of the protocol, and returns
 * undefined if so. For any other address it returns the reason: no answer, credentials needed, or
 * another protocol. Without this check, a web server that answers every path with 404 would pass as
 * a server that implements nothing. `isGone` tells during a run whether the server has stopped
 * answering.
 */

import type { Env } from '../env.ts';
import { ERROR_KINDS, isDirspaceError } from '../errors.ts';
import type { OperationName } from '../protocol/index.ts';
import type { Exchange, Stop, Target } from './kit/index.ts';

/** Requests that change nothing, and whose answers have a member by which the protocol is recognised. */
const LISTS = [
  ['ListNamespaces', { id: [], limit: 1 }],
  ['ListTables', { id: [], limit: 1 }],
  ['ListAllTables', { limit: 1 }],
] as const;
/** Requests for what is not there: an answer of success shows nothing, as it may be an empty object. */
const DESCRIPTIONS = ['DescribeTable', 'DescribeNamespace'] as const;

/**
 * Answers why the run cannot begin, or nothing where one of the requests was answered in the protocol's
 * form: with what its response model says, or with an error that has a code of the protocol and the
 * status of that code. "Unsupported" alone shows nothing: a wrong path of such a server is answered so.
 */
export async function establish(
  target: Target,
  missing: string,
  signal: AbortSignal | undefined,
): Promise<Stop | undefined> {
  let late = 0;
  let last: Exchange | undefined;
  const record = (exchange: Exchange): void => {
    last = exchange;
  };
  const seen: Partial<Record<Stop['cause'], string>> = {};
  const descriptions = DESCRIPTIONS.map((operation) => [operation, { id: [missing] }] as const);
  for (const [operation, request] of [...LISTS, ...descriptions]) {
    const error: unknown = await target
      .call(operation, request as never, undefined, record, signal)
      .then(
        () => undefined,
        (failure: unknown) => failure,
      );
    const isList = LISTS.some(([name]) => name === operation);
    const cause = causeOf(error);
    const isSpoken = error === undefined ? isList : isProtocolError(error);
    if (cause === 'other protocol' && isSpoken) return undefined;
    const asked = `${last?.request ?? operation} was answered with ${last?.answer ?? String(error)}`;
    seen[cause] ??= cause === 'unanswered' && isDirspaceError(error) ? error.message : asked;
    if (!isDirspaceError(error) || !error.details.unanswered) continue;
    // Nothing listens there; or it hangs, unless it was that one operation.
    if (!error.details.late || ++late === MOST_LATE) break;
  }
  const { credentials, unanswered, 'other protocol': other } = seen;
  if (credentials !== undefined) {
    return { cause: 'credentials', reason: `${target.name} needs credentials: ${credentials}` };
  }
  if (unanswered !== undefined) {
    return { cause: 'unanswered', reason: `${target.name} does not answer: ${unanswered}` };
  }
  const hint = 'Give the base address, with the path that stands before /v1 where there is one.';
  const reason = `${target.name} is no server of this protocol: ${other}. ${hint}`;
  return { cause: 'other protocol', reason };
}

function isProtocolError(error: unknown): boolean {
  if (!isDirspaceError(error)) return false;
  const { status, codeMissing } = error.details;
  if (error.number === 0 || codeMissing || typeof status !== 'number') return false;
  return Object.values(ERROR_KINDS).some(
    (kind) => kind.number === error.number && kind.status === status,
  );
}

function causeOf(error: unknown): 'credentials' | 'unanswered' | 'other protocol' {
  if (!isDirspaceError(error)) return 'other protocol';
  const { status, unanswered } = error.details;
  if (unanswered || status === 429 || status === 503) return 'unanswered';
  return status === 401 || status === 403 ? 'credentials' : 'other protocol';
}

/** Requests that wait for their whole time in vain, before the server is held to hang. */
const MOST_LATE = 2;

/** How long a server that went away may take to come back. */
const PAUSES_MS = [0, 250, 1000];

/**
 * Whether a request that changes nothing has no answer, whatever answer that would be. It is of another
 * operation than the one that had none.
 */
export async function isGone(
  target: Target,
  env: Env,
  signal: AbortSignal,
  unanswered?: OperationName,
): Promise<boolean> {
  const operation = unanswered === 'ListNamespaces' ? 'ListTables' : 'ListNamespaces';
  for (const pause of PAUSES_MS) {
    if (signal.aborted) return true;
    if (pause > 0) await env.sleep(pause);
    const failure: unknown = await target
      .call(operation, { id: [], limit: 1 }, undefined, () => {}, signal)
      .then(
        () => undefined,
        (error: unknown) => error,
      );
    if (!isDirspaceError(failure) || failure.details.unanswered !== true) return false;
    // It has been waited for long enough.
    if (failure.details.late) return true;
  }
  return true;
}
