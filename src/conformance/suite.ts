/**
 * Runs the conformance cases against one target, one after the other. `conformanceSuite` hands them
 * to a test runner, whose results `reportOf` sums up, and `runConformance` runs them itself. An
 * error of the target becomes a verdict, not an exception; a target or options that cannot be used
 * throw InvalidInput. `close` of a suite, which the test runner has to call, removes what the cases
 * created, as far as the target can; `runConformance` does so at its end. A target that answers no
 * more keeps what was made.
 */
import { type Env, systemEnv } from '../env.ts';
import { isDirspaceError, isError } from '../errors.ts';
import type { OperationName } from '../protocol/index.ts';
import { CASES, isNamed, titleOf } from './cases.ts';
import { establish, isGone } from './establish.ts';
import {
  type ConformanceCase,
  type ConformanceTarget,
  type Exchange,
  httpTarget,
  Kit,
  later,
  Mismatch,
  type NotRun,
  namespaceTarget,
  type Run,
  removeWhatWasMade,
  type Stop,
  type Target,
  Undecided,
  VERDICTS,
  type Verdict,
  WrongRefusal,
} from './kit/index.ts';
import { type ConformanceOptions, checkOptions, checkTarget } from './options.ts';

export { CASES } from './cases.ts';

/** What a case came to. */
export interface CaseResult {
  readonly operation: OperationName;
  readonly name: string;
  readonly verdict: Verdict;
  /** The sentence of the protocol that the case rests on. */
  readonly basis: string;
  readonly milliseconds: number;
  /** Set for a case that failed or differs. */
  readonly expected?: string;
  readonly got?: string;
  /** Why the case was not decided or not run, or is not implemented. */
  readonly reason?: string;
  /** The same of a case that was not run, as a word for programs. */
  readonly notRun?: NotRun;
  /** The request that decided, which is the last, and its answer. */
  readonly request?: string;
  readonly answer?: string;
  /** Every request of the case, in order. */
  readonly exchanges: readonly Exchange[];
}

/** One case, to be run by a test runner. Cases that are started together run one after the other. */
export interface RunnableCase {
  readonly operation: OperationName;
  readonly name: string;
  /** `operation: name` */
  readonly title: string;
  readonly basis: string;
  /** The same result each time: a case runs once. Never rejects over what the target does. */
  run(): Promise<CaseResult>;
}

/** Cases of one target, and the end of them. */
export interface ConformanceSuite extends AsyncDisposable {
  readonly cases: readonly RunnableCase[];
  /**
   * Why the cases from some point on were not run: the server does not answer, is none of the protocol or
   * asks for credentials, or the signal was aborted. Undefined as long as cases are run.
   */
  readonly stopped: Stop | undefined;
  /** Waits for the case under way, runs no other, and drops what the cases made, where the target can. */
  close(): Promise<void>;
}

/** What all cases came to. */
export interface ConformanceReport {
  /** The address of the server, or what else was tested. */
  readonly target: string;
  readonly results: readonly CaseResult[];
  readonly totals: Readonly<Record<Verdict, number>>;
  readonly milliseconds: number;
  /** Why the run ended before its last case, if it did. */
  readonly stopped?: Stop;
}

/**
 * The cases for a server, by its base address, or for a catalog in process. Sends nothing yet.
 * @throws InvalidInput where the target or an option cannot be used, or `only` or `skip` name no case
 */
export function conformanceSuite(
  target: ConformanceTarget,
  options: ConformanceOptions = {},
): ConformanceSuite {
  checkOptions(options);
  checkTarget(target);
  return new Suite(targetOf(target, options.env), options);
}

/**
 * Runs the cases and removes what they made. Resolves whatever the target does; `stopped` of the report
 * says where the cases could not all be run.
 * @throws InvalidInput as conformanceSuite does
 */
export async function runConformance(
  target: ConformanceTarget,
  options: ConformanceOptions = {},
): Promise<ConformanceReport> {
  checkOptions(options);
  checkTarget(target);
  const env = options.env ?? systemEnv;
  const begun = env.now();
  const on = targetOf(target, options.env);
  const suite = new Suite(on, options);
  try {
    const results: CaseResult[] = [];
    for (const one of suite.cases) results.push(await one.run());
    await suite.close();
    return reportOf(on.name, results, env.now() - begun, suite.stopped);
  } finally {
    await suite.close();
  }
}

/** The report of results that a test runner has collected, with what the suite says of its end. */
export function reportOf(
  target: string,
  results: readonly CaseResult[],
  milliseconds: number,
  stopped?: Stop,
): ConformanceReport {
  const totals = Object.fromEntries(VERDICTS.map((verdict) => [verdict, 0])) as Record<
    Verdict,
    number
  >;
  for (const { verdict } of results) totals[verdict]++;
  return { target, results, totals, milliseconds, ...(stopped && { stopped }) };
}

function targetOf(target: ConformanceTarget, env: Env | undefined): Target {
  if (typeof target === 'string') return httpTarget({ uri: target }, env);
  return 'uri' in target ? httpTarget(target, env) : namespaceTarget(target);
}

/** What a run that was interrupted waits for its last answer, and then for all that it removes. */
const LAST_ANSWER_MS = 2000;
const REMOVAL_MS = 5000;

class Suite implements ConformanceSuite {
  readonly cases: readonly RunnableCase[];
  readonly #target: Target;
  readonly #env: Env;
  readonly #skip: ReadonlySet<string>;
  readonly #signal: AbortSignal | undefined;
  readonly #ended: AbortSignal;
  readonly #results = new Map<ConformanceCase, Promise<CaseResult>>();
  /**
   * Failed cases whose operation did what it should all the same: with a status of success that is
   * not listed, or before a request that was refused with a wrong status or code.
   */
  readonly #deviating = new Set<ConformanceCase>();
  readonly #name: string;
  #last: Promise<unknown> = Promise.resolve();
  #run: Promise<Run | undefined> | undefined;
  #stop: Stop | undefined;
  #gone = false;
  #closing: Promise<void> | undefined;

  constructor(target: Target, { only, skip = [], signal, env = systemEnv }: ConformanceOptions) {
    this.#target = target;
    this.#env = env;
    this.#signal = signal;
    this.#ended = later(signal, LAST_ANSWER_MS, env);
    this.#skip = new Set(skip);
    this.#name = `conformance-${env.uuid().slice(0, 8)}`;
    const wanted = CASES.filter((one) => only === undefined || isNamed(one, new Set(only)));
    this.cases = wanted.map((one) => ({
      operation: one.operation,
      name: one.name,
      title: titleOf(one),
      basis: one.basis,
      run: () => this.#inTurn(one),
    }));
  }

  get stopped(): Stop | undefined {
    if (this.#stop === undefined && this.#signal?.aborted === true) {
      this.#stop = { cause: 'interrupted', reason: 'The run was interrupted.' };
    }
    return this.#stop;
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #end(): Promise<void> {
    await this.#last;
    const run = await this.#run;
    if (run === undefined) return;
    const limit = later(this.#signal, REMOVAL_MS, this.#env);
    // Each of the requests would be waited for in vain.
    if (this.#gone && (await isGone(this.#target, this.#env, limit))) return;
    await removeWhatWasMade(run, this.#name, limit);
    const { stopped } = this;
    if (!limit.aborted || stopped?.cause !== 'interrupted') return;
    const reason = `${stopped.reason} What was made could not all be removed: ${this.#left(run)}.`;
    this.#stop = { cause: 'interrupted', reason };
  }

  #inTurn(one: ConformanceCase): Promise<CaseResult> {
    const result = this.#last.then(() =>
      this.#closing === undefined || this.#results.has(one)
        ? this.#result(one)
        : notRun(one, 'closed', 'The suite was closed.'),
    );
    this.#last = result.catch(() => {});
    return result;
  }

  #begin(): Promise<Run | undefined> {
    this.#run ??= this.#makeRun();
    return this.#run;
  }

  /** Nothing where the target turns out not to be one that cases can be run on. */
  async #makeRun(): Promise<Run | undefined> {
    if (this.#target.send !== undefined) {
      const found = await establish(this.#target, this.#name, this.#ended);
      // An interrupted request decides nothing about the server.
      if (this.#signal?.aborted !== true) this.#stop = found;
      if (this.stopped !== undefined) return undefined;
    }
    let names = 0;
    const home = [this.#name];
    const shared = {
      tables: [],
      ended: this.#ended,
      late: new Map<OperationName, number>(),
      detached: new Set<string>(),
      target: this.#target,
      works: (operation: OperationName) => this.#works(operation),
      lacks: async (operation: OperationName) => {
        const { verdict, reason } = (await this.#shown(operation)) ?? {};
        return verdict === 'not implemented' ? (reason ?? verdict) : undefined;
      },
      keptFrom: async (operation: OperationName) => {
        const { notRun: cause, reason = '' } = (await this.#shown(operation)) ?? {};
        const isKept = cause !== undefined && cause !== 'left out' && cause !== 'no server';
        return isKept ? { cause, reason } : undefined;
      },
      proceed: () => {
        const { cause, reason } = this.stopped ?? {};
        if (cause === undefined || reason === undefined) return;
        throw new Undecided('not run', reason, cause);
      },
      isGone: async (operation: OperationName) => {
        this.#gone ||= await isGone(this.#target, this.#env, this.#ended, operation);
        return this.#gone;
      },
    };
    try {
      await this.#target.call('CreateNamespace', { id: home }, undefined, () => {}, this.#ended);
      return { ...shared, home, fresh: (prefix) => `${prefix}${++names}` };
    } catch {
      // Everything is then in the root, under names that begin with that of the run.
      return { ...shared, home: [], fresh: (prefix) => `${this.#name}-${prefix}${++names}` };
    }
  }

  async #works(operation: OperationName): Promise<boolean> {
    const first = this.#firstOf(operation);
    if (first === undefined) return false;
    return (await this.#result(first)).verdict === 'passed' || this.#deviating.has(first);
  }

  /** The result of the first case of an operation: whether the operation works at all. */
  async #shown(operation: OperationName): Promise<CaseResult | undefined> {
    const first = this.#firstOf(operation);
    return first && this.#result(first);
  }

  #firstOf(operation: OperationName): ConformanceCase | undefined {
    return CASES.find((one) => one.operation === operation && one.open === undefined);
  }

  #result(one: ConformanceCase): Promise<CaseResult> {
    let result = this.#results.get(one);
    if (result === undefined) {
      result = this.#first(one);
      this.#results.set(one, result);
    }
    return result;
  }

  async #first(one: ConformanceCase): Promise<CaseResult> {
    if (isNamed(one, this.#skip)) return notRun(one, 'left out', 'It was left out by name.');
    const run = this.stopped === undefined ? await this.#begin() : undefined;
    if (run === undefined || this.stopped !== undefined) {
      const { cause, reason } = this.stopped as Stop;
      return notRun(one, cause, reason);
    }
    const begun = this.#env.now();
    const kit = new Kit(run, one.operation);
    const told = await one.run(kit).then(
      () => this.#passed(one, kit),
      (error: unknown) => {
        // The requests before did what they should; only the refusal of the last one is wrong.
        if (error instanceof WrongRefusal && succeeded(one, kit)) this.#deviating.add(one);
        return verdictOf(one, error);
      },
    );
    if (this.#gone) this.#leave(told.reason ?? '', run);
    const { exchanges } = kit;
    const { request, answer } = exchanges.at(-1) ?? {};
    return {
      operation: one.operation,
      name: one.name,
      basis: one.basis,
      milliseconds: this.#env.now() - begun,
      ...told,
      ...(request === undefined ? {} : { request }),
      ...(answer === undefined ? {} : { answer }),
      exchanges,
    };
  }

  #passed(one: ConformanceCase, { exchanges }: Kit): Told {
    const found = exchanges.find(
      ({ operation, deviation }) => operation === one.operation && deviation !== undefined,
    );
    if (found?.deviation === undefined) return { verdict: 'passed' };
    this.#deviating.add(one);
    return { verdict: 'failed', ...found.deviation };
  }

  #leave(why: string, run: Run): void {
    const reason = `The server answers no more: ${why} What was made is left in it, under ${this.#left(run)}.`;
    this.#stop ??= { cause: 'unanswered', reason };
  }

  #left({ home }: Run): string {
    return home.length > 0 ? `the namespace ${this.#name}` : `names from ${this.#name} on`;
  }
}

type Told = Pick<CaseResult, 'verdict' | 'reason' | 'notRun' | 'expected' | 'got'>;

function notRun(one: ConformanceCase, cause: NotRun, reason: string): CaseResult {
  const { operation, name, basis } = one;
  const verdict = 'not run';
  return { operation, name, basis, verdict, milliseconds: 0, reason, notRun: cause, exchanges: [] };
}

const succeeded = ({ operation }: ConformanceCase, { exchanges }: Kit): boolean =>
  exchanges.some((made) => made.operation === operation && /^2\d\d /.test(made.answer ?? ''));

/** What ended a case early. */
function verdictOf({ open }: ConformanceCase, error: unknown): Told {
  if (error instanceof Undecided) {
    const { verdict, notRun, message } = error;
    return { verdict, reason: message, ...(notRun && { notRun }) };
  }
  if (isDirspaceError(error, 'Unsupported')) {
    return { verdict: 'not implemented', reason: error.message };
  }
  const { expected, got } =
    error instanceof Mismatch ? error : { expected: 'success', got: describeError(error) };
  return { verdict: open ? 'differs' : 'failed', expected, got };
}

function describeError(error: unknown): string {
  if (!isDirspaceError(error) || error.details.unanswered) {
    return isError(error) && isDirspaceError(error) ? error.message : String(error);
  }
  if (error.details.codeMissing) {
    return `status ${String(error.details.status)} without the "code" that ErrorResponse requires: ${error.message}`;
  }
  return `code ${error.number} (${error.code}): ${error.message}`;
}
