/** What the parts of the namespace suite share: the catalog under test, data, and assertions. */
import { afterEach, beforeEach, expect, test as plainTest } from 'vitest';
import { type RecordBatchStream, recordBatchStream, tableFromArrays } from '../../../src/arrow.ts';
import { ERROR_KINDS, type ErrorCode } from '../../../src/errors.ts';
import type { CatalogExtensions } from '../../../src/protocol/extensions.ts';
import type { Namespace } from '../../../src/protocol/namespace.ts';

/** The files behind the catalog, where a test can reach them. */
export interface CatalogFiles {
  readonly root: string;
  read(path: string): Uint8Array;
  write(path: string, bytes: Uint8Array): void;
  link(target: string, path: string): void;
  /** Every path below the root, sorted; folders end in `/`. */
  all(): string[];
}

/** Parts of the suite that an implementation may leave out, each with its reason. */
export type Feature =
  | 'files'
  | 'extensions'
  | 'error codes beyond the protocol'
  | 'signal reasons'
  | 'unmanaged versions';

export interface Subject {
  readonly namespace: Namespace & CatalogExtensions;
  readonly files?: CatalogFiles;
  readonly managed?: boolean;
  /** Another catalog object over the same data, with nothing cached. */
  reopen?(options?: { readonly readOnly?: boolean }): Promise<Namespace & CatalogExtensions>;
  close(): Promise<void>;
}

export interface SuiteOptions {
  /** Gives a subject over a fresh, empty catalog. */
  readonly make: () => Promise<Subject>;
  readonly without?: Partial<Record<Feature, string>>;
}

export interface Part {
  readonly test: (name: string, run: () => Promise<void>) => void;
  readonly testOf: (feature: Feature) => (name: string, run: () => Promise<void>) => void;
  /** The subject of the running test. */
  readonly subject: () => Subject;
  readonly ns: () => Required<CatalogExtensions> & Namespace;
}

/** Call inside a describe block: sets up a fresh subject for each test. */
export function partOf(options: SuiteOptions): Part {
  let current: Subject | undefined;
  beforeEach(async () => {
    current = await options.make();
  });
  afterEach(async () => {
    await current?.close();
    current = undefined;
  });
  const subject = (): Subject => {
    if (current === undefined) throw new Error('no test is running');
    return current;
  };
  return {
    test: plainTest,
    testOf: (feature) => (name, run) => {
      const reason = options.without?.[feature];
      if (reason === undefined) plainTest(name, run);
      else plainTest.skip(`${name} (left out: ${reason})`, run);
    },
    subject,
    ns: () => subject().namespace as Required<CatalogExtensions> & Namespace,
  };
}

/** Rows with ids `from` to `from + count - 1`. */
export function people(count: number, from = 0): RecordBatchStream {
  const table = tableFromArrays({
    id: Int32Array.from({ length: count }, (_, row) => from + row),
    name: Array.from({ length: count }, (_, row) => `name ${from + row}`),
  });
  return recordBatchStream(table.schema, table.batches);
}

export interface Selection {
  readonly version?: number;
  readonly branch?: string;
}

/** The `id` column of a table, in row order. */
export async function idsOf(
  namespace: Namespace,
  id: string[],
  selection: Selection = {},
): Promise<number[]> {
  const found: number[] = [];
  const stream = await namespace.queryTable({ id, k: Number.MAX_SAFE_INTEGER, ...selection });
  for await (const batch of stream) {
    for (const value of batch.getChild('id') ?? []) found.push(Number(value));
  }
  return found;
}

/** Row ids by `id` value. */
export async function rowIdsOf(
  namespace: Namespace,
  id: string[],
  selection: Selection = {},
): Promise<ReadonlyMap<number, bigint>> {
  const found = new Map<number, bigint>();
  const stream = await namespace.queryTable({
    id,
    k: Number.MAX_SAFE_INTEGER,
    with_row_id: true,
    ...selection,
  });
  for await (const batch of stream) {
    const ids = batch.getChild('id');
    const rowIds = batch.getChild('_rowid');
    for (let row = 0; row < batch.numRows; row++) {
      found.set(Number(ids?.get(row)), BigInt(rowIds?.get(row)));
    }
  }
  return found;
}

/** The whole error: its stable code, the protocol's number, the status, and a message. */
export async function expectError(work: Promise<unknown>, code: ErrorCode): Promise<Error> {
  const outcome = await work.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  expect(outcome, `expected ${code}`).toHaveProperty('error');
  const { error } = outcome as { error: Error };
  expect(error).toMatchObject({
    name: 'DirspaceError',
    code,
    number: ERROR_KINDS[code].number,
    status: ERROR_KINDS[code].status,
    retryable: ERROR_KINDS[code].retryable,
  });
  expect(error.message.length).toBeGreaterThan(20);
  return error;
}

export const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from }, (_, index) => from + index);
