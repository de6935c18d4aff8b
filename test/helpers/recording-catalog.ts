/** A catalog that keeps what it is asked and answers what it is told. */
import { DirspaceError } from '../../src/errors.ts';
import { methodName } from '../../src/protocol/every-operation.ts';
import type { Catalog } from '../../src/sdk/handles/implementations.ts';
import { OPERATION_NAMES } from './operation-names.ts';

export interface RecordedCall {
  readonly method: string;
  readonly request: unknown;
  /** The Arrow data and the options, where there are any. */
  readonly rest: readonly unknown[];
}

type Answer = (request: never, ...rest: never[]) => unknown;

const EXTENSIONS = ['undropTable', 'updateNamespaceProperties', 'deleteRows', 'optimizeTable'];

export interface RecordingCatalog {
  readonly catalog: Catalog;
  readonly calls: RecordedCall[];
  /** The requests of one method. */
  requests(method: string): unknown[];
}

/** Methods without an answer of their own answer `{}`; `without` leaves extensions out. */
export function recordingCatalog(
  answers: Readonly<Record<string, Answer>> = {},
  options: { readonly without?: readonly string[] } = {},
): RecordingCatalog {
  const calls: RecordedCall[] = [];
  const members: Record<string | symbol, unknown> = {
    close: async () => void calls.push({ method: 'close', request: undefined, rest: [] }),
  };
  const known = [...OPERATION_NAMES.map(methodName), ...EXTENSIONS, ...Object.keys(answers)];
  for (const method of new Set<string>(known)) {
    if (options.without?.includes(method)) continue;
    members[method] = async (request: never, ...rest: never[]) => {
      calls.push({ method, request, rest });
      const answer = answers[method];
      return answer === undefined ? {} : answer(request, ...rest);
    };
  }
  members.watch = async function* () {};
  if (options.without?.includes('watch')) delete members.watch;
  return {
    catalog: members as unknown as Catalog,
    calls,
    requests: (method) => calls.filter((call) => call.method === method).map((c) => c.request),
  };
}

export const SCHEMA_JSON = {
  fields: [
    { name: 'id', nullable: true, type: { type: 'int64' } },
    { name: 'name', nullable: true, type: { type: 'utf8' } },
  ],
};

/** Answers with which tables open. */
export const TABLE_ANSWERS = {
  describeTable: ({ version }: { version?: number }) => ({
    location: '/catalog/user.table',
    table_uri: 'file:///catalog/user.table',
    version: version ?? 7,
    schema: SCHEMA_JSON,
  }),
  getTableTagVersion: ({ tag }: { tag: string }) => {
    if (tag === 'v1') return { version: 1 };
    if (tag === 'draft') return { version: 5, branch: 'work' };
    throw new DirspaceError('TableTagNotFound', `There is no tag ${tag}.`);
  },
  countTableRows: () => ({ count: 3 }),
} as const satisfies Record<string, Answer>;
