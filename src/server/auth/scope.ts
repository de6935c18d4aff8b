/**
 * `scopedCaller` presents one namespace of a catalog as a whole catalog. It adds a prefix to the
 * ids of requests and removes it from ids in answers and errors. Tables and jobs outside the
 * namespace are hidden, and so are transactions whose tables are all outside; a transaction that
 * names no tables is shown. PurgeTrash, and CloneTable by location, reach beyond the namespace and
 * throw Unsupported. Creating or dropping the namespace itself throws InvalidInput, as for a root.
 */
import { DirspaceError, isDirspaceError } from '../../errors.ts';
import {
  type BatchCommitTablesResponse,
  DEFAULT_DELIMITER,
  type DescribeTransactionResponse,
  formatId,
  type JobContent,
  type ListTrashResponse,
  type ObjectPath,
  parseId,
  resourceKind,
  viewSource,
} from '../../protocol/index.ts';
import { formatTable } from '../../sql/index.ts';
import type { Addressed, Call, Caller } from './call.ts';
import { filteredPage } from './listing.ts';
import { respelledTransaction } from './transaction-tables.ts';

/** `caller` as it looks from `prefix`; the root is then the namespace of that path. */
export function scopedCaller(caller: Caller, prefix: ObjectPath): Caller {
  if (prefix.length === 0) return caller;
  const scoped = async (call: Call): Promise<unknown> => {
    refuseRoot(call);
    if (call.operation === 'PurgeTrash') throw wholeCatalog(prefix);
    if (call.operation === 'CloneTable') refuseLocation(call as Call<'CloneTable'>);
    if (call.operation === 'ListAllTables') {
      const listed = call as Call<'ListAllTables'>;
      return filteredPage(caller, listed, (id) => withoutPrefix(id, prefix));
    }
    if (call.operation === 'ListJobs') {
      const { jobs } = await caller(call as Call<'ListJobs'>);
      return { jobs: jobs.flatMap((job) => jobBelow(job, prefix) ?? []) };
    }
    if (call.operation === 'CancelJob') await requireJobBelow(caller, call as never, prefix);
    if (call.operation === 'AlterTransaction') await requireBelow(caller, call, prefix);
    const answer = await caller({ ...call, request: prefixed(call, prefix) }).catch(
      (error: unknown) => {
        throw errorBelow(error, prefix, call);
      },
    );
    if (resourceKind(call.operation) === 'transaction') {
      return transactionBelow(call, answer as DescribeTransactionResponse, prefix);
    }
    if (JOB_ANSWERS.includes(call.operation)) {
      const below = jobBelow(answer as JobContent, prefix);
      if (below === undefined) throw missingJob(call as Call<'DescribeJob'>);
      return below;
    }
    if (call.operation === 'ListTrash') return trashBelow(answer as ListTrashResponse, prefix);
    if (call.operation === 'BatchCommitTables') {
      return commitBelow(answer as BatchCommitTablesResponse, prefix);
    }
    return unprefixed(answer, prefix);
  };
  return scoped as Caller;
}

/** What the root of a catalog refuses, the root of a scope refuses. */
function refuseRoot({ operation, request }: Call): void {
  if (operation !== 'CreateNamespace' && operation !== 'DropNamespace') return;
  const { id = [] } = request as Addressed;
  if (id.length > 0) return;
  const verb = operation === 'CreateNamespace' ? 'created' : 'dropped';
  throw new DirspaceError('InvalidInput', `The root namespace cannot be ${verb}.`);
}

/** A location may be that of a table elsewhere. */
function refuseLocation({ request }: Call<'CloneTable'>): void {
  if (request.source_location === undefined) return;
  throw new DirspaceError(
    'Unsupported',
    'A table of this database is cloned by its name: give source_id in place of source_location.',
    { details: { member: 'source_location' } },
  );
}

/** There is one trash for a whole catalog. */
const wholeCatalog = (prefix: ObjectPath): DirspaceError =>
  new DirspaceError(
    'Unsupported',
    `PurgeTrash empties the trash of a whole catalog, and this request addresses the namespace ${prefix.join('/')} inside one. Call it on the catalog itself.`,
  );

function prefixed(call: Call, prefix: ObjectPath): Call['request'] {
  const { operation, request } = call;
  if (resourceKind(operation) === 'transaction')
    return { ...request, id: transactionIn(request as Addressed, prefix) } as Call['request'];
  if (operation === 'CreateMaterializedView') {
    const view = request as Call<'CreateMaterializedView'>['request'];
    const source_id = [...prefix, ...viewSource(view)];
    return { ...underPrefix(view, prefix), source_id } as Call['request'];
  }
  if (operation === 'RunSql' || operation === 'ExplainSql') {
    // Without an id, names would be looked up from the root of the whole catalog.
    const { id = [] } = request as Addressed;
    return { ...request, id: [...prefix, ...id] } as Call['request'];
  }
  return underPrefix(request as Addressed, prefix) as Call['request'];
}

function underPrefix(request: Addressed, prefix: ObjectPath): Addressed {
  const { id, new_namespace_id: target, source_id, entries, operations } = request;
  return {
    ...request,
    ...(id === undefined ? {} : { id: [...prefix, ...id] }),
    ...(target === undefined ? {} : { new_namespace_id: [...prefix, ...target] }),
    ...(source_id === undefined ? {} : { source_id: [...prefix, ...source_id] }),
    ...(entries === undefined
      ? {}
      : { entries: entries.map((entry) => underPrefix(entry, prefix)) }),
    ...(operations === undefined
      ? {}
      : {
          operations: operations.map((members) =>
            Object.fromEntries(
              Object.entries(members).map(([name, member]) => [
                name,
                member === undefined ? undefined : underPrefix(member, prefix),
              ]),
            ),
          ),
        }),
  };
}

const trashBelow = ({ entries }: ListTrashResponse, prefix: ObjectPath): ListTrashResponse => ({
  entries: entries.map((entry) => ({
    ...entry,
    id: entry.id.slice(prefix.length),
    ...(entry.tables === undefined
      ? {}
      : { tables: entry.tables.map((id) => id.slice(prefix.length)) }),
  })),
});

/** Each result has one member for the operation that it is of. */
const commitBelow = (
  answer: BatchCommitTablesResponse,
  prefix: ObjectPath,
): BatchCommitTablesResponse => ({
  ...answer,
  results: answer.results.map((result) =>
    Object.fromEntries(
      Object.entries(result).map(([name, member]) => [name, stripped(member, prefix)]),
    ),
  ),
});

/** The error as clients of the database know its tables: without the prefix of their names. */
function errorBelow(error: unknown, prefix: ObjectPath, { operation }: Call): unknown {
  if (!isDirspaceError(error)) return error;
  const { code, message, cause } = error;
  // Elsewhere in a statement the same words may name something else, such as a column.
  const isSql = operation === 'RunSql' || operation === 'ExplainSql';
  const told = isSql && code.endsWith('NotFound') ? tablesBelow(message, prefix) : message;
  return new DirspaceError(code, namesBelow(told, prefix), {
    cause,
    details: detailsBelow(error.details, prefix),
  });
}

/** Removes the prefix from names of tables and namespaces in a message that writes them as SQL does. */
const tablesBelow = (message: string, prefix: ObjectPath): string =>
  ['table ', 'namespace '].reduce(
    (told, kind) => told.replaceAll(`${kind}${formatTable(prefix)}.`, kind),
    message,
  );

function namesBelow(message: string, prefix: ObjectPath): string {
  const before = formatId(prefix, DEFAULT_DELIMITER) + DEFAULT_DELIMITER;
  return message.replaceAll(before, (found, at: number) =>
    at === 0 || /[\s"'(]/.test(message[at - 1] as string) ? '' : found,
  );
}

const detailsBelow = (
  details: DirspaceError['details'],
  prefix: ObjectPath,
): DirspaceError['details'] => {
  const { id } = details;
  if (Array.isArray(id)) return { ...details, id: id.slice(prefix.length) };
  return details;
};

const JOB_ANSWERS: readonly string[] = ['BeginJob', 'DescribeJob', 'CancelJob'];

/** The job as clients of the database know its table; undefined for one of a table elsewhere. */
function jobBelow(job: JobContent, prefix: ObjectPath): JobContent | undefined {
  const { id, failure } = job;
  if (id.length <= prefix.length || prefix.some((part, at) => part !== id[at])) return undefined;
  const message = failure === undefined ? '' : namesBelow(failure.message, prefix);
  return {
    ...job,
    id: id.slice(prefix.length),
    ...(failure === undefined ? {} : { failure: { ...failure, message } }),
  };
}

const missingJob = ({ request }: Call<'DescribeJob' | 'CancelJob'>): DirspaceError =>
  new DirspaceError(
    'TransactionNotFound',
    `The job ${JSON.stringify(request.job_id.slice(0, 80))} was not found among those of the tables of this database.`,
  );

/** Before it is ended. */
async function requireJobBelow(
  caller: Caller,
  call: Call<'CancelJob'>,
  prefix: ObjectPath,
): Promise<void> {
  const { request, options } = call;
  const signal = options.signal === undefined ? {} : { signal: options.signal };
  const job = await caller({ operation: 'DescribeJob', request, options: signal });
  if (jobBelow(job, prefix) === undefined) throw missingJob(call);
}

/** A transaction of tables that are all elsewhere is not there. */
function transactionBelow(
  { request }: Call,
  answer: DescribeTransactionResponse,
  prefix: ObjectPath,
): DescribeTransactionResponse {
  const below = respelledTransaction(answer, (id) => withoutPrefix(id, prefix));
  if (below !== undefined) return below;
  const id = (request as Addressed).id?.join(DEFAULT_DELIMITER) ?? '';
  throw new DirspaceError(
    'TransactionNotFound',
    `There is no transaction ${JSON.stringify(id.slice(0, 120))} of the tables of this database.`,
  );
}

/** An id of its own, which lies in no namespace, or one after that of its table. */
const transactionIn = ({ id = [] }: Addressed, prefix: ObjectPath): string[] =>
  id.length > 1 ? [...prefix, ...id] : [...id];

/** Before anything of it is changed. */
async function requireBelow(caller: Caller, call: Call, prefix: ObjectPath): Promise<void> {
  const { options } = call;
  const found = await caller({
    operation: 'DescribeTransaction',
    request: { id: transactionIn(call.request as Addressed, prefix) },
    options: options.signal === undefined ? {} : { signal: options.signal },
  });
  transactionBelow(call, found, prefix);
}

interface AddressedAnswer {
  readonly id?: readonly string[];
  readonly namespace?: readonly string[];
  readonly materialized_view?: { readonly source: readonly string[] };
}

function unprefixed(answer: unknown, prefix: ObjectPath): unknown {
  if (typeof answer !== 'object' || answer === null || 'schema' in answer === false) {
    return stripped(answer, prefix);
  }
  // A described table has a schema, and so has a stream of rows, which is left as it is.
  return Symbol.asyncIterator in answer ? answer : stripped(answer, prefix);
}

function stripped(answer: unknown, prefix: ObjectPath): unknown {
  if (typeof answer !== 'object' || answer === null) return answer;
  const { id, namespace, materialized_view: view } = answer as AddressedAnswer;
  if (id === undefined && namespace === undefined) return answer;
  return {
    ...answer,
    ...(view === undefined
      ? {}
      : { materialized_view: { ...view, source: view.source.slice(prefix.length) } }),
    ...(id === undefined ? {} : { id: id.slice(prefix.length) }),
    ...(namespace === undefined ? {} : { namespace: namespace.slice(prefix.length) }),
  };
}

function withoutPrefix(id: string, prefix: ObjectPath): string | undefined {
  const path = parseId(id, DEFAULT_DELIMITER);
  const inside = path.length > prefix.length && prefix.every((part, at) => part === path[at]);
  return inside ? formatId(path.slice(prefix.length), DEFAULT_DELIMITER) : undefined;
}
