/** What the cases of the conformance suite are written with. Knows no case and no server. */
import { type RecordBatchStream, recordBatchStream, tableFromArrays } from '../arrow.ts';
import { isDirspaceError } from '../errors.ts';
import type { Namespace } from '../protocol/namespace.ts';
import type { OperationName } from '../protocol/operations.ts';

export interface ConformanceCase {
  readonly operation: OperationName;
  /** What is true of a server that passes. */
  readonly name: string;
  run(kit: Kit): Promise<void>;
}

/** What a case works with. */
export interface Kit {
  readonly catalog: Namespace;
  /** A fresh namespace of this run; everything is made below it. */
  readonly home: readonly string[];
  /** A name nobody else has. */
  fresh(prefix: string): string;
  /** Sends a request as it is. */
  send(method: 'GET' | 'POST', path: string, init?: RawInit): Promise<RawAnswer>;
}

export interface RawInit {
  readonly body?: string | Uint8Array;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array;
  /** The body as JSON; undefined where it is none. */
  readonly json: unknown;
}

/** What a case found to be otherwise. */
export class Mismatch extends Error {
  readonly expected: string;
  readonly got: string;

  constructor(expected: string, got: string) {
    super(`expected ${expected}, got ${got}`);
    this.expected = expected;
    this.got = got;
  }
}

/** Throws Mismatch unless the two are the same as JSON. */
export function same(what: string, got: unknown, expected: unknown): void {
  const [left, right] = [show(got), show(expected)];
  if (left !== right) throw new Mismatch(`${what} ${right}`, left);
}

export function holds(what: string, condition: boolean, got: unknown): void {
  if (!condition) throw new Mismatch(what, show(got));
}

const show = (value: unknown): string => JSON.stringify(value) ?? 'nothing';

/** Throws Mismatch unless `work` fails with that number and status; Unsupported passes through. */
export async function fails(work: Promise<unknown>, number: number, status: number): Promise<void> {
  let answer: unknown;
  try {
    answer = await work;
  } catch (error) {
    if (!isDirspaceError(error) || (error.code === 'Unsupported' && number !== 0)) throw error;
    const found = `code ${error.number} with status ${String(error.details.status)}`;
    const expected = `code ${number} with status ${status}`;
    if (found !== expected) throw new Mismatch(expected, `${found}: ${error.message}`);
    return;
  }
  throw new Mismatch(`code ${number} with status ${status}`, `success: ${show(answer)}`);
}

/** The same for a request that was sent as it is. */
export function refused({ status, json }: RawAnswer, expectedStatus: number, code?: number): void {
  same('status', status, expectedStatus);
  const body = (json ?? {}) as { code?: unknown };
  holds('an error body with an integer "code"', Number.isInteger(body.code), json);
  if (code !== undefined) same('code', body.code, code);
}

/** Rows with an `id` from `from` on and a `name`. */
export function rows(count: number, from = 0): RecordBatchStream {
  const ids = Int32Array.from({ length: count }, (_, at) => from + at);
  const names = Array.from(ids, (id) => `name ${id}`);
  const { schema, batches } = tableFromArrays({ id: ids, name: names });
  return recordBatchStream(schema, batches);
}

/** The id of a new table of `count` rows, whose ids begin at 0. */
export async function table(kit: Kit, count = 3): Promise<string[]> {
  const id = [...kit.home, kit.fresh('t')];
  await kit.catalog.createTable({ id }, rows(count));
  return id;
}

/** The id of a table that is not there, or of a namespace. */
export const missing = (kit: Kit): string[] => [...kit.home, 'missing'];
