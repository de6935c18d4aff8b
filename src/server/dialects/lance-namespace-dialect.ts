/**
 * `lanceNamespaceDialect`: keeps clients that open tables by themselves (Lance's own, and LanceDB's
 * namespace mode) from opening a table that Lance cannot read. For such a table, DescribeTable
 * answers a location with a scheme that they do not open and, unless they ask otherwise, the
 * version and schema. A table that opens in Lance has its true location; its manifests keep Lance's
 * writers from changing it.
 */
import type { Model } from '../../protocol/index.ts';
import type { Call, Caller } from '../auth/index.ts';
import type { Dialect, RequestHead } from './dialect.ts';

/** A scheme that no such client opens. */
const CLOSED_SCHEME = 'dirspace:';

export const lanceNamespaceDialect: Dialect = {
  name: 'lance-namespace',
  headers: {},
  recognizes,
  route: ({ url }) => url,
  parts: (_, parts) => parts,
  idempotencyKey: () => undefined,
  timeoutMs: () => undefined,
  caller: detailedCaller,
  answer: (operation, response) =>
    operation === 'DescribeTable'
      ? withoutPlace(response as Model<'DescribeTableResponse'>)
      : undefined,
  error: (_, body) => body,
};

/**
 * They always send a delimiter, these two headers and no name of theirs; a client of the plain
 * protocol that leaves out its name is not taken for one.
 */
function recognizes({ url, headers }: RequestHead): boolean {
  return (
    headers['user-agent'] === undefined &&
    headers.accept === '*/*' &&
    headers['accept-encoding'] === 'gzip' &&
    /[?&]delimiter=/.test(url)
  );
}

/**
 * A table without both version and schema counts as reserved for whoever creates it: their create
 * would write its rows into the table that is there.
 */
function detailedCaller(caller: Caller): Caller {
  const call = async (asked: Call): Promise<unknown> => {
    if (asked.operation !== 'DescribeTable') return caller(asked);
    const described = asked as Call<'DescribeTable'>;
    const { load_detailed_metadata: detailed = true, ...request } = described.request;
    return caller({ ...described, request: { ...request, load_detailed_metadata: detailed } });
  };
  return call as Caller;
}

/** What is only declared is theirs to fill. */
function withoutPlace(
  described: Model<'DescribeTableResponse'>,
): Model<'DescribeTableResponse'> | undefined {
  const { version, schema, location, lance } = described;
  if (lance?.opens === true) return undefined;
  // What others wrote has no schema here, and is theirs to open.
  if (version === undefined || schema === undefined || location === undefined) return undefined;
  return { ...described, location: `${CLOSED_SCHEME}//${location}` };
}
