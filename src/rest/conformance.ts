/**
 * Runs a list of cases against a server of the protocol and says of each whether it passed. What
 * the cases ask is in the files beside this one; nothing is known of any server.
 */
import { type Env, systemEnv } from '../env.ts';
import { DirspaceError, isDirspaceError } from '../errors.ts';
import type { OperationName } from '../protocol/operations.ts';
import { RestNamespace } from './client.ts';
import { clientSettings, type RestOptions } from './client-options.ts';
import { CATALOG_CASES } from './conformance-catalog.ts';
import { INDEX_CASES } from './conformance-indexes.ts';
import { type ConformanceCase, type Kit, Mismatch } from './conformance-kit.ts';
import { ROW_CASES } from './conformance-rows.ts';
import { TABLE_CASES } from './conformance-tables.ts';
import { VERSION_CASES } from './conformance-versions.ts';

export type Outcome = 'pass' | 'fail' | 'unsupported' | 'skipped';

export interface CaseResult {
  readonly operation: OperationName;
  readonly name: string;
  readonly outcome: Outcome;
  readonly expected?: string;
  readonly got?: string;
}

export interface ConformanceReport {
  readonly uri: string;
  readonly results: readonly CaseResult[];
  readonly totals: Readonly<Record<Outcome, number>>;
}

export interface ConformanceOptions extends RestOptions {
  /** Operations, or `operation: case`, that are not run. */
  readonly skip?: readonly string[];
}

export const CASES: readonly ConformanceCase[] = [
  ...CATALOG_CASES,
  ...TABLE_CASES,
  ...VERSION_CASES,
  ...ROW_CASES,
  ...INDEX_CASES,
];

/**
 * What was made is removed, where the server can. Throws where there is no server, and InvalidInput
 * where there is no case to skip; what a server does wrong is in the report.
 */
export async function runConformance(options: ConformanceOptions): Promise<ConformanceReport> {
  const { skip = [], ...rest } = options;
  checkSkips(skip);
  const settings = clientSettings(rest);
  const env: Env = rest.env ?? systemEnv;
  const catalog = new RestNamespace(rest);
  const home = [`conformance-${env.uuid().slice(0, 8)}`];
  let names = 0;
  const kit: Kit = {
    catalog,
    home,
    fresh: (prefix) => `${prefix}${++names}`,
    send: async (method, path, { body, type, headers } = {}) => {
      const response = await settings.fetch(settings.base + path, {
        method,
        headers: {
          ...Object.fromEntries(settings.headers),
          ...(type === undefined ? {} : { 'content-type': type }),
          ...headers,
        },
        ...(body === undefined ? {} : { body }),
      });
      const bytes = new Uint8Array(await response.arrayBuffer());
      return { status: response.status, headers: response.headers, bytes, json: jsonOf(bytes) };
    },
  };
  const results: CaseResult[] = [];
  try {
    await catalog.createNamespace({ id: home }).catch(throwUnanswered);
    for (const item of CASES) results.push(await runCase(item, kit, skip));
  } finally {
    await catalog.dropNamespace({ id: home, behavior: 'Cascade' }).catch(() => {});
    await catalog.close();
  }
  const totals = { pass: 0, fail: 0, unsupported: 0, skipped: 0 };
  for (const { outcome } of results) totals[outcome]++;
  return { uri: rest.uri, results, totals };
}

/** A misspelt one would leave out nothing, and nobody would know. */
function checkSkips(skip: readonly string[]): void {
  const known = new Set<string>(
    CASES.flatMap(({ operation, name }) => [operation, `${operation}: ${name}`]),
  );
  const unknown = skip.find((text) => !known.has(text));
  if (unknown === undefined) return;
  throw new DirspaceError('InvalidInput', `There is no case ${JSON.stringify(unknown)} to skip.`);
}

/** A failure without a status is none that a server told of. */
function throwUnanswered(error: unknown): void {
  if (!isDirspaceError(error) || error.details.status === undefined) throw error;
}

async function runCase(
  { operation, name, run }: ConformanceCase,
  kit: Kit,
  skip: readonly string[],
): Promise<CaseResult> {
  if (skip.includes(operation) || skip.includes(`${operation}: ${name}`)) {
    return { operation, name, outcome: 'skipped' };
  }
  try {
    await run(kit);
    return { operation, name, outcome: 'pass' };
  } catch (error) {
    if (isDirspaceError(error, 'Unsupported')) return { operation, name, outcome: 'unsupported' };
    const { expected, got } =
      error instanceof Mismatch ? error : { expected: 'success', got: describeError(error) };
    return { operation, name, outcome: 'fail', expected, got };
  }
}

function describeError(error: unknown): string {
  if (isDirspaceError(error)) return `${error.code} (code ${error.number}): ${error.message}`;
  return String(error);
}

function jsonOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}
