/**
 * `Life` provides the ids, the clock and the random numbers of a fixture, from its start or a reset
 * to the next reset. With `ids: 'sequential'` ids count from 1, random numbers repeat in each run,
 * and work in the background never begins. With a `clock`, each request of an operation advances
 * the time by a second. With both, two runs that send the same requests one after another get the
 * same bytes. `lifeOptions` validates both options, and throws InvalidInput (`invalidOption`).
 */
import { type Env, systemEnv } from '../env.ts';
import { DirspaceError } from '../errors.ts';
import { suggestion } from '../known-names.ts';
import { parseDateTime, SECONDS_PER_DAY } from '../values/index.ts';

export interface LifeOptions {
  /** Milliseconds since the epoch; the real time if undefined. */
  readonly clock: number | undefined;
  readonly isSequential: boolean;
}

const IDS = ['random', 'sequential'];
const TICK_MS = 1_000;
/** The end of the year 9999. */
const LAST_MS = 253_402_300_799_999;

/** @throws InvalidInput */
export function lifeOptions(ids: unknown, clock: unknown): LifeOptions {
  if (ids !== undefined && !IDS.includes(ids as string)) {
    const hint = suggestion(String(ids), IDS);
    throw invalidOption('ids', ids, `it is ${IDS.join(' or ')}.${hint}`);
  }
  return {
    isSequential: ids === 'sequential',
    clock: clock === undefined ? undefined : millisOf(clock),
  };
}

function millisOf(clock: unknown): number {
  const millis = clock instanceof Date ? clock.getTime() : millisOfText(clock);
  if (millis !== undefined && millis >= 0 && millis <= LAST_MS) return millis;
  const example = 'it is a time from 1970 to 9999 with its zone, such as 2026-01-01T00:00:00Z.';
  throw invalidOption('clock', clock, example);
}

function millisOfText(text: unknown): number | undefined {
  const read = typeof text === 'string' ? parseDateTime(text) : undefined;
  // A date alone is its midnight; a time of no zone would be another one on each machine.
  if (read === undefined || (read.nanos !== undefined && read.offset === undefined))
    return undefined;
  const { days, nanos = 0, offset = 0 } = read;
  return (days * SECONDS_PER_DAY - offset) * 1_000 + Math.floor(nanos / 1e6);
}

/** What is wrong with an option of a fixture. */
export const invalidOption = (option: string, value: unknown, what: string): DirspaceError =>
  new DirspaceError(
    'InvalidInput',
    `The option ${option} is ${typeof value === 'string' ? JSON.stringify(value) : String(value)}; ${what}`,
    { details: { option } },
  );

export class Life {
  readonly #isSequential: boolean;
  #time: number | undefined;
  #requests = 0;
  /** Of the catalog. */
  readonly env: Env;

  constructor({ clock, isSequential }: LifeOptions) {
    this.#time = clock;
    this.#isSequential = isSequential;
    let ids = 0;
    const random = isSequential ? replayed() : systemEnv.random;
    this.env = {
      now: () => this.now(),
      elapsed: systemEnv.now,
      uuid: () => (isSequential ? sequentialId('8', ++ids) : systemEnv.uuid()),
      random,
      sleep: isSequential ? foregroundSleep : systemEnv.sleep,
    };
  }

  now(): number {
    return this.#time ?? systemEnv.now();
  }

  /** A request of an operation has come. */
  tick(): void {
    if (this.#time !== undefined) this.#time += TICK_MS;
  }

  /** Of a request: apart from those of the catalog, so that a request more shifts none of these. */
  requestId(): string {
    return this.#isSequential ? sequentialId('9', ++this.#requests) : systemEnv.uuid();
  }

  /** The header `date` of answers, where the clock is not the real one. */
  get date(): string | undefined {
    return this.#time === undefined ? undefined : new Date(this.#time).toUTCString();
  }
}

/** Formatted as a random UUID; the variant tells the two sequences of ids apart. */
const sequentialId = (variant: '8' | '9', count: number): string =>
  `00000000-0000-4000-${variant}000-${count.toString(16).padStart(12, '0')}`;

/** Work that goes on in the background at some time, such as emptying the trash, would take ids at any moment. */
const foregroundSleep: Env['sleep'] = (ms, signal, background = false) => {
  if (!background) return systemEnv.sleep(ms, signal);
  return new Promise((_, reject) => {
    signal?.throwIfAborted();
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
};

/** The same numbers in each run, from 0 to below 1 (mulberry32). */
function replayed(): () => number {
  let state = 1;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
