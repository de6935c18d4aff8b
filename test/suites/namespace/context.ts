/** What the parts of the namespace suite share: the catalog under test, data, and assertions. */
import { afterEach, beforeEach, expect, test as plainTest } from 'vitest';
import { ERROR_KINDS, type ErrorCode } from '../../../src/errors.ts';
import type { CatalogExtensions } from '../../../src/protocol/extensions.ts';
import type { Namespace } from '../../../src/protocol/namespace.ts';

export { idsOf, people, range, rowIdsOf, type Selection } from '../../helpers/people.ts';

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
