/**
 * The conformance suite: the cases of the protocol on one target, one at a time. Everything is made
 * in one namespace with a name of its own, which closing the suite drops.
 */
import { type Env, systemEnv } from '../env.ts';
import { DirspaceError, isDirspaceError } from '../errors.ts';
import { suggestion } from '../known-names.ts';
import type { OperationName } from '../protocol/operations.ts';
import type { ConformanceCase } from './case.ts';
import { COLUMN_CASES } from './cases/columns.ts';
import { ENTRY_CASES } from './cases/entries.ts';
import { INDEX_CASES } from './cases/indexes.ts';
import { NAMESPACE_CASES } from './cases/namespaces.ts';
import { QUERY_CASES } from './cases/queries.ts';
import { ROW_CASES } from './cases/rows.ts';
import { TABLE_CASES } from './cases/tables.ts';
import { VERSION_CASES } from './cases/versions.ts';
import type { Exchange } from './exchange.ts';
import { httpTarget } from './http-target.ts';
import { Kit, type Run } from './kit.ts';
import { namespaceTarget } from './namespace-target.ts';
import { removeWhatWasMade } from './remove.ts';
import type { ConformanceTarget, Target } from './target.ts';
import { Mismatch, Undecided, VERDICTS, type Verdict } from './verdict.ts';

export const CASES: readonly ConformanceCase[] = [
  ...NAMESPACE_CASES,
  ...TABLE_CASES,
  ...ENTRY_CASES,
  ...ROW_CASES,
  ...QUERY_CASES,
  ...COLUMN_CASES,
  ...VERSION_CASES,
  ...INDEX_CASES,
];

/** What a case came to. */
export interface CaseResult {
  readonly operation: OperationName;
  readonly name: string;
  readonly verdict: Verdict;
  /** The sentence of the protocol that the case rests on. */
  readonly basis: string;
  readonly milliseconds: number;
  /** Of a case that failed or differs. */
  readonly expected?: string;
  readonly got?: string;
  /** Why the case was not decided or not run, or is not implemented. */
  readonly reason?: string;
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

/** Which cases are run. Each entry is an operation, or `operation: name of the case`. */
export interface ConformanceOptions {
  /** These alone; all if absent. */
  readonly only?: readonly string[];
  /** These are reported as not run. */
  readonly skip?: readonly string[];
  readonly env?: Env;
}

/** Cases of one target, and the end of them. */
export interface ConformanceSuite extends AsyncDisposable {
  readonly cases: readonly RunnableCase[];
  /** Drops what the cases made, where the target can. */
  close(): Promise<void>;
}

/** What all cases came to. */
export interface ConformanceReport {
  /** The address of the server, or what else was tested. */
  readonly target: string;
  readonly results: readonly CaseResult[];
  readonly totals: Readonly<Record<Verdict, number>>;
  readonly milliseconds: number;
}

/**
 * The cases for a server, by its base address, or for a catalog in process. Sends nothing yet.
 * @throws InvalidInput where the address cannot be used, or `only` or `skip` name no case
 */
export function conformanceSuite(
  target: ConformanceTarget,
  options: ConformanceOptions = {},
): ConformanceSuite {
  return new Suite(targetOf(target, options.env), options);
}

/** Runs the cases and removes what they made. Rejects with ServiceUnavailable where no server answers. */
export async function runConformance(
  target: ConformanceTarget,
  options: ConformanceOptions = {},
): Promise<ConformanceReport> {
  const env = options.env ?? systemEnv;
  const begun = env.now();
  const on = targetOf(target, options.env);
  const suite = new Suite(on, options);
  try {
    await suite.reach();
    const results: CaseResult[] = [];
    for (const one of suite.cases) results.push(await one.run());
    return reportOf(on.name, results, env.now() - begun);
  } finally {
    await suite.close();
  }
}

/** The report of results that a test runner has collected. */
export function reportOf(
  target: string,
  results: readonly CaseResult[],
  milliseconds: number,
): ConformanceReport {
  const totals = Object.fromEntries(VERDICTS.map((verdict) => [verdict, 0])) as Record<
    Verdict,
    number
  >;
  for (const { verdict } of results) totals[verdict]++;
  return { target, results, totals, milliseconds };
}

function targetOf(target: ConformanceTarget, env?: Env): Target {
  if (typeof target === 'string') return httpTarget({ uri: target }, env);
  return 'uri' in target ? httpTarget(target, env) : namespaceTarget(target);
}

const titleOf = ({ operation, name }: ConformanceCase): string => `${operation}: ${name}`;

class Suite implements ConformanceSuite {
  readonly cases: readonly RunnableCase[];
  readonly #target: Target;
  readonly #env: Env;
  readonly #skip: ReadonlySet<string>;
  readonly #results = new Map<ConformanceCase, Promise<CaseResult>>();
  readonly #name: string;
  #last: Promise<unknown> = Promise.resolve();
  #run: Promise<Run> | undefined;

  constructor(target: Target, { only, skip = [], env = systemEnv }: ConformanceOptions) {
    checkCases('only', only ?? []);
    checkCases('skip', skip);
    this.#target = target;
    this.#env = env;
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

  /** Makes the namespace of the run. @throws the failure of a target that does not answer at all */
  async reach(): Promise<void> {
    await this.#begin();
  }

  async close(): Promise<void> {
    await this.#last;
    if (this.#run === undefined) return;
    const run = await this.#run.catch(() => undefined);
    if (run !== undefined) await removeWhatWasMade(run, this.#name);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #inTurn(one: ConformanceCase): Promise<CaseResult> {
    const result = this.#last.then(() => this.#result(one));
    this.#last = result.catch(() => {});
    return result;
  }

  #begin(): Promise<Run> {
    this.#run ??= this.#makeRun();
    return this.#run;
  }

  async #makeRun(): Promise<Run> {
    let names = 0;
    const home = [this.#name];
    const shared = {
      tables: [],
      target: this.#target,
      works: (operation: OperationName) => this.#works(operation),
      lacks: async (operation: OperationName) => {
        const { verdict, reason } = (await this.#shown(operation)) ?? {};
        return verdict === 'not implemented' ? (reason ?? verdict) : undefined;
      },
    };
    try {
      await this.#target.call('CreateNamespace', { id: home }, undefined, () => {});
      return { ...shared, home, fresh: (prefix) => `${prefix}${++names}` };
    } catch (error) {
      if (isDirspaceError(error, 'ServiceUnavailable')) throw error;
      // Everything is then in the root, under names that begin with that of the run.
      return { ...shared, home: [], fresh: (prefix) => `${this.#name}-${prefix}${++names}` };
    }
  }

  async #works(operation: OperationName): Promise<boolean> {
    return (await this.#shown(operation))?.verdict === 'passed';
  }

  /** The result of the first case of an operation: whether the operation works at all. */
  async #shown(operation: OperationName): Promise<CaseResult | undefined> {
    const first = CASES.find((one) => one.operation === operation && one.open === undefined);
    return first && this.#result(first);
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
    const { operation, name, basis } = one;
    if (isNamed(one, this.#skip)) {
      const reason = 'It was left out by name.';
      return { operation, name, basis, verdict: 'not run', milliseconds: 0, reason, exchanges: [] };
    }
    const run = await this.#begin();
    const begun = this.#env.now();
    const kit = new Kit(run, operation);
    const told = await one.run(kit).then(
      () => ({ verdict: 'passed' as const }),
      (error: unknown) => verdictOf(one, error),
    );
    const { exchanges } = kit;
    const { request, answer } = exchanges.at(-1) ?? {};
    return {
      operation,
      name,
      basis,
      milliseconds: this.#env.now() - begun,
      ...told,
      ...(request === undefined ? {} : { request }),
      ...(answer === undefined ? {} : { answer }),
      exchanges,
    };
  }
}

/** Whether the set has the case, or its whole operation. */
const isNamed = (one: ConformanceCase, names: ReadonlySet<string>): boolean =>
  names.has(one.operation) || names.has(titleOf(one));

/** What ended a case early. */
function verdictOf(
  { open }: ConformanceCase,
  error: unknown,
): Pick<CaseResult, 'verdict' | 'reason' | 'expected' | 'got'> {
  if (error instanceof Undecided) return { verdict: error.verdict, reason: error.message };
  if (isDirspaceError(error, 'Unsupported')) {
    return { verdict: 'not implemented', reason: error.message };
  }
  const { expected, got } =
    error instanceof Mismatch ? error : { expected: 'success', got: describeError(error) };
  return { verdict: open ? 'differs' : 'failed', expected, got };
}

function describeError(error: unknown): string {
  if (!isDirspaceError(error)) return String(error);
  return `code ${error.number} (${error.code}): ${error.message}`;
}

/** A misspelt name would leave out nothing, and go unnoticed. */
function checkCases(option: 'only' | 'skip', names: readonly string[]): void {
  const known = new Set(CASES.flatMap((one) => [one.operation, titleOf(one)]));
  const unknown = names.find((name) => !known.has(name));
  if (unknown === undefined) return;
  throw new DirspaceError(
    'InvalidInput',
    `${option} names ${JSON.stringify(unknown.slice(0, 200))}, which is no operation and no "operation: case".${suggestion(unknown, [...known])}`,
    { details: { member: option } },
  );
}
