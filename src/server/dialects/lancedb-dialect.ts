/**
 * `lancedbDialect` translates between the remote mode of LanceDB's clients and the plain protocol:
 * addresses, bodies, timeouts and idempotency keys. It recognises these clients by their address or
 * headers, and changes some of their calls (`lancedbCaller`), such as a restore without a version.
 * Other files of this folder translate queries, responses and errors.
 */
import { DirspaceError, isDirspaceError } from '../../errors.ts';
import {
  type AnyOperation,
  DEFAULT_DELIMITER,
  EVERY_OPERATION,
  type Model,
  parseId,
  type RequestParts,
} from '../../protocol/index.ts';
import type { Call, Caller, RequestHeaders } from '../auth/index.ts';
import type { Dialect, RequestHead } from './dialect.ts';
import { lancedbAnswer } from './lancedb-answers.ts';
import { lancedbError } from './lancedb-errors.ts';
import { listedIndexes } from './lancedb-indexes.ts';
import { plainQuery } from './lancedb-queries.ts';

/**
 * What the clients may rely on: from 0.2.0 several vectors in one query, from 0.3.0 full-text queries
 * as trees, from 0.4.0 inserts in parts, and from 0.5.0 the bytes of blobs.
 */
const SERVER_VERSION = { 'phalanx-version': '0.5.0' };

export const lancedbDialect: Dialect = {
  name: 'lancedb',
  headers: SERVER_VERSION,
  recognizes,
  route,
  parts,
  idempotencyKey,
  timeoutMs,
  caller: lancedbCaller,
  answer: lancedbAnswer,
  error: lancedbError,
};

/**
 * A slash at the end of the path, or the client's name. Its database header alone is enough too,
 * but not beside a delimiter, which its other mode always sends and which speaks the plain protocol.
 */
function recognizes({ url, headers }: RequestHead): boolean {
  const [path = '', query = ''] = url.split('?', 2);
  if (path.length > 1 && path.endsWith('/')) return true;
  const agent = String(headers['user-agent'] ?? '');
  if (agent.startsWith('LanceDB-')) return true;
  if (headers['x-lancedb-database'] === undefined || agent.startsWith('dirspace')) return false;
  return !new URLSearchParams(query).has('delimiter');
}

const EXTENSIONS = new RegExp(
  `^/v1/(${[
    'table/[^/]+/branches/(diff|cherry_pick)',
    'table/[^/]+/(clone|fetch_blobs)',
    'table/[^/]+/blob/[^/]+/[^/]+/bytes',
    'table/[^/]+/index/[^/]+/prewarm',
    'table/[^/]+/multipart_write/(create|complete|abort)',
    'jobs/(list|describe|cancel)',
  ].join('|')})$`,
);

const LSM_WRITE_SPEC = /(?<=^\/v1\/table\/[^/]+)\/get_lsm_write_spec$/;

function route({ method, url }: RequestHead): string {
  const at = url.indexOf('?');
  const query = at < 0 ? '' : url.slice(at);
  const path = (at < 0 ? url : url.slice(0, at)).replace(/(.)\/$/, '$1');
  if (path.endsWith('/insert') && query.includes('upload_id=')) {
    const part = path.replace(/\/insert$/, '/multipart_write/part');
    return part.replace('/v1/', '/v1/dirspace/') + query;
  }
  // What these do goes beyond the protocol, and has addresses of its own there.
  if (EXTENSIONS.test(path)) return path.replace('/v1/', '/v1/dirspace/') + query;
  // No table has a specification of LSM writes. A description is an answer that names none.
  if (LSM_WRITE_SPEC.test(path)) return path.replace(LSM_WRITE_SPEC, '/describe') + query;
  if (method !== 'GET' || path !== '/v1/table') return path + query;
  // Its list of all tables is that of the root.
  const root = new URLSearchParams(query).get('delimiter') || DEFAULT_DELIMITER;
  return `/v1/namespace/${encodeURIComponent(root)}/table/list${query}`;
}

/** JSON writes keep their id when they are sent again; those with Arrow data get a new one. */
function idempotencyKey(operation: AnyOperation, headers: RequestHeaders): string | undefined {
  const id = headers['x-request-id'];
  const takesData = EVERY_OPERATION[operation].body === 'arrow-stream';
  return takesData || typeof id !== 'string' || id === '' ? undefined : `lancedb:${id}`;
}

type Members = Readonly<Record<string, unknown>>;

/** Stands for "the latest version" until the table can be asked for it. */
const LATEST = Number.MAX_SAFE_INTEGER;

function parts(
  operation: AnyOperation,
  arrived: RequestParts,
  headers: RequestHeaders,
): RequestParts {
  let sent = arrived;
  if (operation === 'MergeInsertIntoTable') return { ...sent, query: mergeQuery(sent, headers) };
  if (operation === 'AnalyzeTableQueryPlan') sent = { ...sent, query: analyzeQuery(sent) };
  const { body } = sent;
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return sent;
  const plain = plainBody(operation, body as Members);
  return plain === body ? sent : { ...sent, body: plain };
}

function mergeQuery({ query }: RequestParts, headers: RequestHeaders): RequestParts['query'] {
  const timeout = timeoutOf(headers);
  return {
    use_index: 'true',
    ...query,
    ...(timeout === undefined ? {} : { timeout: `${timeout}ms` }),
  };
}

function timeoutOf(headers: RequestHeaders): number | undefined {
  const timeout = headers['x-request-timeout-ms'];
  return typeof timeout === 'string' && /^\d{1,9}$/.test(timeout) ? Number(timeout) : undefined;
}

/** A merge has a member for it, and tells that nothing was changed. */
function timeoutMs(operation: AnyOperation, headers: RequestHeaders): number | undefined {
  return operation === 'MergeInsertIntoTable' ? undefined : timeoutOf(headers);
}

/** One server has no metrics of several nodes to add up or to leave apart. */
function analyzeQuery({ query }: RequestParts): RequestParts['query'] {
  const { distributed_metrics: _, ...plain } = query;
  return plain;
}

function plainBody(operation: AnyOperation, body: Members): Members {
  switch (operation) {
    case 'CreateNamespace':
    case 'DropNamespace':
      return { ...body, mode: unquoted(body.mode), behavior: unquoted(body.behavior) };
    case 'RenameTable': {
      const { new_namespace: target, ...rest } = body;
      return target === undefined ? body : { ...rest, new_namespace_id: target };
    }
    case 'CloneTable':
      return cloneBody(body);
    case 'RestoreTable':
      return { ...body, version: body.version ?? LATEST };
    case 'QueryTable':
    case 'AnalyzeTableQueryPlan':
      return plainQuery(body);
    case 'ExplainTableQueryPlan':
      return { ...body, query: plainQuery((body.query ?? {}) as Members) };
    case 'CreateTableIndex': {
      const { metric_type: metric, ...rest } = body;
      return metric === undefined ? body : { ...rest, distance_type: metric };
    }
    default:
      return body;
  }
}

/** The clients know a location alone; a text without a slash names the source. */
function cloneBody({ source_location: source, ...rest }: Members): Members {
  const isName = typeof source === 'string' && !source.includes('/');
  return { ...rest, ...(isName ? { source_id: parseId(source) } : { source_location: source }) };
}

/** The words come with quotes in the value itself. */
function unquoted(word: unknown): unknown {
  return typeof word === 'string' ? word.replaceAll('"', '') : word;
}

function lancedbCaller(caller: Caller): Caller {
  const call = async (asked: Call): Promise<unknown> => {
    switch (asked.operation) {
      case 'DescribeTable':
        return caller({ ...asked, request: { ...asked.request, load_detailed_metadata: true } });
      case 'RestoreTable':
        return caller(await restoreOf(asked as Call<'RestoreTable'>, caller));
      case 'ListTables':
        return namesAfter(asked as Call<'ListTables'>, caller);
      case 'ListTableIndices':
        return ifSupported(listedIndexes(asked as Call<'ListTableIndices'>, caller), () => ({
          indexes: [],
        }));
      case 'DescribeTableIndexStats':
        return ifSupported(caller(asked), () => {
          const { index_name: name } = asked.request as { index_name?: string };
          throw new DirspaceError('TableIndexNotFound', `There is no index ${name}.`);
        });
      default:
        return caller(asked);
    }
  };
  return call as Caller;
}

/** Tables of an engine that has no indices have none. */
async function ifSupported(work: Promise<unknown>, otherwise: () => unknown): Promise<unknown> {
  try {
    return await work;
  } catch (error) {
    if (isDirspaceError(error, 'Unsupported')) return otherwise();
    throw error;
  }
}

async function restoreOf(
  asked: Call<'RestoreTable'>,
  caller: Caller,
): Promise<Call<'RestoreTable'>> {
  const { version, ...request } = asked.request;
  if (version !== LATEST) return asked;
  const { id, branch } = request;
  const latest = await caller({
    operation: 'DescribeTable',
    request: {
      load_detailed_metadata: true,
      ...(id === undefined ? {} : { id }),
      ...(branch === undefined ? {} : { branch }),
    },
    options: asked.options,
  });
  return { ...asked, request: { ...request, version: latest.version ?? 0 } };
}

/** The clients give the last name they have as the token of the next page. */
async function namesAfter(
  asked: Call<'ListTables'>,
  caller: Caller,
): Promise<Model<'ListTablesResponse'>> {
  const { page_token: after = '', limit, ...request } = asked.request;
  if (after === '' && limit === undefined) return caller(asked);
  const names: string[] = [];
  let token: string | undefined;
  do {
    const page = await caller({
      ...asked,
      request: { ...request, ...(token === undefined ? {} : { page_token: token }) },
    });
    names.push(...page.tables.filter((name) => name > after));
    token = page.page_token;
  } while (token !== undefined && token !== '');
  const tables = names.slice(0, limit);
  const last = tables.at(-1);
  const more = last !== undefined && tables.length < names.length;
  return more ? { tables, page_token: last } : { tables };
}
