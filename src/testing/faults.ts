/**
 * Defines `Fault`, with which a test fixture disturbs some requests of an operation: an error, a
 * delay or a broken connection. `checkFaults` validates a list of them, and throws InvalidInput.
 * `FaultPlan` keeps the faults of a fixture (`set`); `take` returns the first one that applies to a
 * request, and counts it, or returns undefined. `errorOf`, `droppedAnswer` and `cutAnswer` build
 * what the client then gets, and `failingFetch` a `fetch` that fails for dropped answers
 * (`isDropped`) as one over a socket does.
 */

import { DirspaceError } from '../errors.ts';
import { nextRound } from '../event-loop.ts';
import { suggestion } from '../known-names.ts';
import { EVERY_OPERATION_NAMES } from '../protocol/index.ts';
import type { HttpAnswer } from '../server/index.ts';

/** What fails, for which requests. */
export interface Fault {
  /** The name of an operation, such as `QueryTable`; any request of an operation if absent. */
  readonly operation?: string;
  /** Requests that pass before the first one fails; 0 if absent. */
  readonly after?: number;
  /** Requests that fail; all that follow if absent. */
  readonly times?: number;
  /** Milliseconds that the request waits first. */
  readonly delayMs?: number;
  /**
   * `unavailable` answers 503 with Retry-After, `conflict` 409, `error` 500, without doing the work.
   * `drop` ends the connection without an answer, before the work. `cut` does the work and ends the
   * connection in the middle of the answer's body. A delay alone if absent.
   */
  readonly kind?: 'unavailable' | 'conflict' | 'error' | 'drop' | 'cut';
}

const KINDS = ['unavailable', 'conflict', 'error', 'drop', 'cut'];
const MEMBERS = ['operation', 'after', 'times', 'delayMs', 'kind'];
const MOST_FAULTS = 1_000;
const MOST_DELAY_MS = 600_000;

/** A copy, which does not change with what was given. @throws InvalidInput that names the fault and the member */
export function checkFaults(value: unknown): readonly Fault[] {
  if (!Array.isArray(value)) throw invalid('', 'are no list');
  if (value.length > MOST_FAULTS) throw invalid('', `are ${value.length}; ${MOST_FAULTS} may be`);
  return Array.from(value, (given: unknown, at) => {
    if (typeof given !== 'object' || given === null || Array.isArray(given)) {
      throw invalid(`[${at}]`, 'is no object');
    }
    const fault: Fault = { ...given };
    for (const name of Object.keys(fault)) {
      if (MEMBERS.includes(name)) continue;
      const hint = suggestion(name, MEMBERS);
      throw invalid(`[${at}]`, `has ${JSON.stringify(name)}; it has ${MEMBERS.join(', ')}.${hint}`);
    }
    const { operation, kind, delayMs, after, times } = fault;
    if (operation !== undefined && !(EVERY_OPERATION_NAMES as string[]).includes(operation)) {
      const near = suggestion(String(operation), EVERY_OPERATION_NAMES);
      throw invalid(`[${at}].operation`, `is ${JSON.stringify(operation)}, no operation.${near}`);
    }
    if (kind !== undefined && !KINDS.includes(kind)) {
      throw invalid(`[${at}].kind`, `is ${JSON.stringify(kind)}; it is ${KINDS.join(', ')}`);
    }
    for (const [name, own] of Object.entries({ delayMs, after, times })) {
      if (own === undefined || (Number.isSafeInteger(own) && own >= 0)) continue;
      throw invalid(`[${at}].${name}`, `is ${JSON.stringify(own)}, no whole number from 0 on`);
    }
    if ((delayMs ?? 0) > MOST_DELAY_MS) {
      throw invalid(`[${at}].delayMs`, `is ${delayMs}; ${MOST_DELAY_MS} may be`);
    }
    if (kind === undefined && delayMs === undefined) {
      throw invalid(`[${at}]`, 'has neither kind nor delayMs, so nothing would fail');
    }
    return fault;
  });
}

const invalid = (place: string, what: string): DirspaceError =>
  new DirspaceError('InvalidInput', `The faults${place} ${what}${/[.?]$/.test(what) ? '' : '.'}`, {
    details: { member: `faults${place}` },
  });

export class FaultPlan {
  #rules: { readonly fault: Fault; left: number; passing: number }[] = [];

  /** Takes these in place of the ones before. @throws InvalidInput */
  set(faults: readonly Fault[]): void {
    this.#rules = checkFaults(faults).map((fault) => ({
      fault,
      left: fault.times ?? Number.POSITIVE_INFINITY,
      passing: fault.after ?? 0,
    }));
  }

  /** The first fault that is for a request, if any. */
  take(operation: string): Fault | undefined {
    for (const rule of this.#rules) {
      if (rule.left === 0 || (rule.fault.operation ?? operation) !== operation) continue;
      if (rule.passing > 0) {
        rule.passing -= 1;
        continue;
      }
      rule.left -= 1;
      return rule.fault;
    }
    return undefined;
  }
}

/** The error that a fault answers with; undefined for one that breaks the connection or delays. */
export function errorOf({ kind }: Fault): DirspaceError | undefined {
  const told = (
    code: 'ServiceUnavailable' | 'ConcurrentModification' | 'Internal',
    what: string,
  ): DirspaceError =>
    new DirspaceError(code, `${what}, as the faults of the fixture say.`, {
      details: { fault: kind },
    });
  switch (kind) {
    case 'unavailable':
      return told('ServiceUnavailable', 'The fixture is unavailable');
    case 'conflict':
      return told('ConcurrentModification', 'Another change came first');
    case 'error':
      return told('Internal', 'The fixture failed');
    default:
      return undefined;
  }
}

/** Of an answer that is none. It never reaches a client: the connection ends before the head is sent. */
const DROPPED = 'x-dropped';

/** Ends the connection before anything is sent. */
export const droppedAnswer = (): HttpAnswer => ({
  status: 200,
  headers: { [DROPPED]: '1' },
  body: brokenBody(''),
});

export const isDropped = ({ headers }: Pick<HttpAnswer, 'headers'>): boolean => DROPPED in headers;

/** A `fetch` that fails for dropped answers, as one over a socket does. */
export const failingFetch =
  (own: typeof fetch): typeof fetch =>
  async (input, init) => {
    const response = await own(input, init);
    if (!response.headers.has(DROPPED)) return response;
    const cause = await response.arrayBuffer().catch((error: unknown) => error);
    throw new TypeError('fetch failed', { cause });
  };

/** Ends the connection in the middle of the body. */
export const cutAnswer = ({ status, headers, body }: HttpAnswer): HttpAnswer => ({
  status,
  headers,
  body: brokenBody(body),
});

async function* brokenBody(body: HttpAnswer['body']): AsyncGenerator<Uint8Array> {
  if (typeof body === 'string') {
    const bytes = Buffer.from(body);
    if (bytes.length > 1) yield bytes.subarray(0, bytes.length >> 1);
  } else {
    for await (const piece of body) {
      yield piece.subarray(0, Math.max(1, piece.length >> 1));
      break;
    }
  }
  // What is sent has left the process before the connection ends.
  if (body !== '') for (let round = 0; round < 2; round++) await nextRound();
  throw new Error('The connection is ended, as the faults of the fixture say.');
}
