/**
 * Defines and validates the options of a conformance run (`ConformanceOptions`, `checkOptions`),
 * and validates its target (`checkTarget`). Unknown options, members of a target and names of cases
 * throw InvalidInput: a misspelt `only` would run every case, and misspelt `headers` would send no
 * credentials.
 */
import type { Env } from '../env.ts';
import { DirspaceError } from '../errors.ts';
import { suggestion } from '../known-names.ts';
import { EVERY_OPERATION, methodName } from '../protocol/index.ts';
import { CASES, titleOf } from './cases.ts';
import type { ConformanceTarget } from './kit/index.ts';

/** Which cases are run, and until when. Each name is an operation, or `operation: name of the case`. */
export interface ConformanceOptions {
  /** These alone; all if absent. */
  readonly only?: readonly string[];
  /** These are reported as not run. */
  readonly skip?: readonly string[];
  /**
   * Ends the run: the request under way is waited for at most two seconds, no other case is run, and what
   * was made is removed as far as five seconds suffice.
   */
  readonly signal?: AbortSignal;
  readonly env?: Env;
}

const OPTIONS: Readonly<Record<keyof ConformanceOptions, true>> = {
  only: true,
  skip: true,
  signal: true,
  env: true,
};

const SERVER_MEMBERS = ['uri', 'headers', 'fetch', 'timeoutMs'];

/** @throws InvalidInput that names the option, and the one or the case that was meant */
export function checkOptions(options: ConformanceOptions): void {
  checkMembers(options, 'options', 'option', Object.keys(OPTIONS));
  const { only, skip, signal, env } = options;
  if (only !== undefined) checkCases('only', only);
  if (skip !== undefined) checkCases('skip', skip);
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw invalid('signal', `signal is ${kindOf(signal)}; give an AbortSignal.`);
  }
  if (env !== undefined && typeof env?.now !== 'function') {
    throw invalid('env', `env is ${kindOf(env)}; give an object with now, uuid, random and sleep.`);
  }
}

/** @throws InvalidInput where it is no address, no server and no catalog */
export function checkTarget(target: ConformanceTarget): void {
  if (typeof target === 'string') return;
  const expected =
    'give the base address of a server, { uri, headers, fetch, timeoutMs }, or a catalog in process';
  if (typeof target !== 'object' || target === null) {
    throw invalid('target', `The target is ${kindOf(target)}; ${expected}.`);
  }
  if ('uri' in target) {
    checkMembers(target, 'target', 'member of the target', SERVER_MEMBERS);
    const { headers, fetch } = target;
    if (headers !== undefined && (typeof headers !== 'object' || headers === null)) {
      throw invalid(
        'headers',
        `headers is ${kindOf(headers)}; give an object of names and values.`,
      );
    }
    if (fetch !== undefined && typeof fetch !== 'function') {
      throw invalid('fetch', `fetch is ${kindOf(fetch)}; give a function.`);
    }
    return;
  }
  const methods = Object.keys(EVERY_OPERATION).map((one) => methodName(one as never));
  const isCatalog = methods.some(
    (name) => typeof (target as unknown as Record<string, unknown>)[name] === 'function',
  );
  if (isCatalog) return;
  const names = Object.keys(target);
  const hint = suggestion(names[0] ?? '', SERVER_MEMBERS);
  const found = names.length === 0 ? 'no members' : `the members ${names.slice(0, 8).join(', ')}`;
  throw invalid(
    'target',
    `The target has ${found}, and no operation of the protocol; ${expected}.${hint}`,
  );
}

function checkMembers(value: unknown, what: string, noun: string, known: readonly string[]): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid(what, `${what} is ${kindOf(value)}; give an object.`);
  }
  const unknown = Object.keys(value).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const shown = JSON.stringify(unknown.slice(0, 80));
  throw invalid(
    unknown.slice(0, 80),
    `There is no ${noun} ${shown}; there is ${known.join(', ')}.${suggestion(unknown, known)}`,
  );
}

function checkCases(option: 'only' | 'skip', names: unknown): void {
  if (!Array.isArray(names) || names.some((name) => typeof name !== 'string')) {
    const found = Array.isArray(names) ? 'an array of other things' : kindOf(names);
    throw invalid(option, `${option} is ${found}; give an array of strings.`);
  }
  const known = new Set(CASES.flatMap((one) => [one.operation, titleOf(one)]));
  const unknown: string | undefined = names.find((name) => !known.has(name));
  if (unknown === undefined) return;
  throw invalid(
    option,
    `${option} names ${JSON.stringify(unknown.slice(0, 200))}, which is no operation and no "operation: case".${suggestion(unknown, [...known])}`,
  );
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

const invalid = (member: string, message: string): DirspaceError =>
  new DirspaceError('InvalidInput', message, { details: { member } });
