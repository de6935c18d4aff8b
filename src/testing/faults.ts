/**
 * Faults that a fixture answers with, by operation and count. `FaultPlan` holds those that were
 * given last; `take` gives the fault of a request and counts it. `errorOf` and `brokenAnswer` are what
 * the caller gets in place of the answer.
 */
import { DirspaceError } from '../errors.ts';
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

/** @throws InvalidInput that names the fault and the member */
export function checkFaults(value: unknown): readonly Fault[] {
  if (!Array.isArray(value)) throw invalid('', 'are no list');
  if (value.length > MOST_FAULTS) throw invalid('', `are ${value.length}; ${MOST_FAULTS} may be`);
  for (const [at, fault] of value.entries()) {
    if (typeof fault !== 'object' || fault === null || Array.isArray(fault)) {
      throw invalid(`[${at}]`, 'is no object');
    }
    for (const name of Object.keys(fault)) {
      if (!MEMBERS.includes(name)) {
        throw invalid(`[${at}]`, `has ${JSON.stringify(name)}.${suggestion(name, MEMBERS)}`);
      }
    }
    const { operation, kind, delayMs, after, times } = fault as Fault;
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
  }
  return value as Fault[];
}

const invalid = (place: string, what: string): DirspaceError =>
  new DirspaceError('InvalidInput', `The faults${place} ${what}.`, {
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

/** Ends the connection when its body is read, at once or in the middle of what it was. */
export const brokenAnswer = (answer: HttpAnswer | undefined): HttpAnswer => ({
  status: answer?.status ?? 200,
  headers: answer?.headers ?? {},
  body: brokenBody(answer?.body ?? ''),
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
  throw new Error('The connection is ended, as the faults of the fixture say.');
}
