/**
 * `permittedCaller` lets one `Principal` call a catalog within its grants on namespaces. Other
 * calls throw PermissionDenied, which does not reveal what exists: without rights on the whole
 * catalog, a missing job or transaction gets the same error. Lists of namespaces, tables and jobs
 * show only what the principal may read, and the namespaces that lead there. Storage credentials
 * are left out of responses unless the principal has `admin` on the table. `ANYBODY` may do
 * everything. `mayUseDatabase` tells whether a principal has a grant for a database,
 * `permittedDatabase` returns the database of a request or throws, and `checkMayReadMetrics` throws
 * unless the principal may read every database.
 */
import { DirspaceError, isDirspaceError } from '../../errors.ts';
import {
  type AnyOperation,
  type BeginJobRequest,
  type DescribeTransactionResponse,
  EVERY_OPERATION,
  JOB_OPERATIONS,
  type JobContent,
  type ObjectPath,
  type OperationRow,
  type Permission,
  parseId,
  resourceKind,
  type StricterMember,
  spellsMode,
  viewSource,
} from '../../protocol/index.ts';
import { type Addressed, addressedParts, type Call, type Caller } from './call.ts';
import type { Grant } from './grants.ts';
import { filteredPage } from './listing.ts';
import { transactionTables } from './transaction-tables.ts';

/** Who a request is from, and what they may do. */
export interface Principal {
  /** Stands in logs, and keeps idempotency keys of different callers apart. */
  readonly name: string;
  readonly grants: readonly Grant[];
}

/** The principal of every caller where a server requires no credentials: may do everything. */
export const ANYBODY: Principal = {
  name: 'anybody',
  grants: [{ namespace: [], permission: 'admin' }],
};

const RANKS: Readonly<Record<Permission, number>> = { read: 1, write: 2, admin: 3 };

function forbidden(operation: AnyOperation, because?: StricterMember): DirspaceError {
  const what =
    because === undefined
      ? `${operation} there`
      : `${operation} with ${because.member}${because.mode === undefined ? '' : ` ${because.mode}`} there, which needs ${because.permission}`;
  return new DirspaceError(
    'PermissionDenied',
    `The credentials of the request do not allow ${what}.`,
    { details: { operation } },
  );
}

/** Whether any grant of the principal is for the database. */
export function mayUseDatabase({ grants }: Principal, database: string): boolean {
  return grants.some((grant) => grant.database === undefined || grant.database === database);
}

/** Which database a request names, and whether by its host. */
interface NamedDatabase {
  readonly database: string | undefined;
  readonly byHost: boolean;
}

/**
 * The database of a request. A host that names one the caller may not use is like one that names
 * none: it must not tell which there are. @throws PermissionDenied, and what `unnamed` makes
 */
export function permittedDatabase(
  principal: Principal,
  { database, byHost }: NamedDatabase,
  databases: { unnamed(): Error },
): string {
  const may = database !== undefined && mayUseDatabase(principal, database);
  if (may) return database;
  if (database === undefined || byHost) throw databases.unnamed();
  const what =
    principal.grants.length === 0 ? 'have no grants at all' : 'have no grants for this database';
  throw new DirspaceError('PermissionDenied', `The credentials ${what}.`);
}

/** Reading metrics needs the right to read every database. @throws PermissionDenied */
export function checkMayReadMetrics({ grants }: Principal): void {
  const everywhere = grants.filter(({ database }) => database === undefined);
  if (allows(everywhere, [], 'read')) return;
  throw new DirspaceError(
    'PermissionDenied',
    'The credentials of the request do not allow /metrics, which needs "read:$" on every database.',
  );
}

/** `caller` for one principal: refuses with PermissionDenied, and shows of lists what may be read. */
export function permittedCaller(caller: Caller, principal: Principal, database: string): Caller {
  const grants = principal.grants.filter(
    (grant) => grant.database === undefined || grant.database === database,
  );
  if (allows(grants, [], 'admin')) return caller;
  const permitted = async (call: Call): Promise<unknown> => {
    const { operation } = call;
    switch (operation) {
      case 'ListAllTables':
        if (allows(grants, [], 'read')) return caller(call);
        if (!reaches(grants, [])) throw forbidden(operation);
        return filteredPage(caller, call as Call<'ListAllTables'>, (id) =>
          allows(grants, parseId(id), 'read') ? id : undefined,
        );
      case 'ListNamespaces':
      case 'ListTables': {
        const { id = [] } = call.request as Addressed;
        if (allows(grants, id, 'read')) return caller(call);
        if (!reaches(grants, id)) throw forbidden(operation);
        const seen = operation === 'ListTables' ? readable : reachable;
        return filteredPage(caller, call as Call<'ListTables' | 'ListNamespaces'>, (name) =>
          seen(grants, [...id, name]) ? name : undefined,
        );
      }
      case 'ListJobs': {
        const { jobs } = await caller(call as Call<'ListJobs'>);
        return { jobs: jobs.filter(({ id }) => readable(grants, id)) };
      }
      case 'DescribeJob':
        return ownJob(caller, call as Call<'DescribeJob'>, grants);
      case 'CancelJob': {
        const writes = grants.some((grant) => RANKS[grant.permission] >= RANKS.write);
        if (!writes) throw forbidden(operation);
        const { request, options } = call as Call<'CancelJob'>;
        const signal = options.signal === undefined ? {} : { signal: options.signal };
        const asked: Call<'DescribeJob'> = { operation: 'DescribeJob', request, options: signal };
        const job = await ownJob(caller, asked, grants);
        // Whoever could begin it may end it.
        if (!mayBegin(job, grants)) throw forbidden(operation);
        return caller(call);
      }
      case 'DescribeTransaction':
        if (allows(grants, [], 'read')) return caller(call);
        return describeOwnTransaction(caller, call as Call<'DescribeTransaction'>, grants);
      default:
        checkCall(call, grants);
        return allows(grants, (call.request as Addressed).id ?? [], 'admin')
          ? caller(call)
          : withoutCredentials(caller, call);
    }
  };
  return permitted as Caller;
}

/**
 * The answer without credentials of the storage, which are not asked for: they reach the files of a table
 * around all that is checked here, so they need `admin` on the table.
 */
async function withoutCredentials(caller: Caller, call: Call): Promise<unknown> {
  const { vend_credentials: asked } = call.request as { readonly vend_credentials?: boolean };
  const request = asked === undefined ? call.request : { ...call.request, vend_credentials: false };
  const answer: unknown = await caller({ ...call, request } as Call);
  if (typeof answer !== 'object' || answer === null || !('storage_options' in answer))
    return answer;
  const { storage_options: _, ...rest } = answer;
  return rest;
}

/**
 * Describing a transaction needs the right to read all of its tables. A missing transaction, or one
 * that does not name its tables, is refused alike, so that a refusal does not tell which exist.
 */
async function describeOwnTransaction(
  caller: Caller,
  call: Call<'DescribeTransaction'>,
  grants: readonly Grant[],
): Promise<unknown> {
  let answer: DescribeTransactionResponse;
  try {
    answer = await caller(call);
  } catch (error) {
    throw isDirspaceError(error, 'TransactionNotFound') ? forbidden(call.operation) : error;
  }
  const tables = transactionTables(answer);
  if (tables.length > 0 && tables.every((id) => readable(grants, parseId(id)))) return answer;
  throw forbidden(call.operation);
}

/** A missing job and one of a table that may not be read are refused alike. */
async function ownJob(
  caller: Caller,
  call: Call<'DescribeJob'>,
  grants: readonly Grant[],
): Promise<JobContent> {
  try {
    const job = await caller(call);
    if (readable(grants, job.id)) return job;
  } catch (error) {
    if (!isDirspaceError(error, 'TransactionNotFound')) throw error;
  }
  throw forbidden(call.operation);
}

function mayBegin(job: JobContent, grants: readonly Grant[]): boolean {
  const call = jobCall(job);
  if (call === undefined) return false;
  try {
    checkCall(call, grants);
    return true;
  } catch {
    return false;
  }
}

/** The call that a job makes; undefined where there are no jobs of its operation. */
function jobCall({ id = [], operation, parameters = {} }: BeginJobRequest): Call | undefined {
  const known = JOB_OPERATIONS.find((one) => one === operation);
  if (known === undefined) return undefined;
  return { operation: known, request: { ...parameters, id } as never, options: {} };
}

const readable = (grants: readonly Grant[], path: ObjectPath): boolean =>
  allows(grants, path, 'read');

const reachable = (grants: readonly Grant[], path: ObjectPath): boolean =>
  allows(grants, path, 'read') || reaches(grants, path);

function checkCall(call: Call, grants: readonly Grant[]): void {
  const { operation } = call;
  if (operation === 'BeginJob') {
    const job = jobCall(call.request as BeginJobRequest);
    if (job !== undefined) {
      checkCall(job, grants);
      return;
    }
  }
  const { permission, stricter }: OperationRow = EVERY_OPERATION[operation];
  // Transactions have ids of their own, which lie in no namespace.
  if (resourceKind(operation) === 'transaction') {
    if (!allows(grants, [], permission)) throw forbidden(operation);
    return;
  }
  const parts = addressedParts(call);
  // An empty multi-table commit addresses no table: it needs the permission for the whole catalog.
  if (parts.length === 0 && !allows(grants, [], permission)) throw forbidden(operation);
  for (const part of parts) {
    const { id = [], new_table_name: name } = part;
    const location = part.location ?? part.source_location;
    if (!allows(grants, id, permission)) throw forbidden(operation);
    if (name !== undefined) {
      const target = [...(part.new_namespace_id ?? id.slice(0, -1)), name];
      if (!allows(grants, target, permission)) throw forbidden(operation);
    }
    for (const raised of stricter) {
      if (asksFor(part, raised) && !allows(grants, id, raised.permission)) {
        throw forbidden(operation, raised);
      }
    }
    // A location chosen by the caller may hold another owner's table.
    if (location !== undefined && !allows(grants, [], 'admin')) throw forbidden(operation);
  }
  if (operation === 'CloneTable') {
    const { source_id: source } = call.request as Addressed;
    if (source !== undefined && !allows(grants, source, 'read')) throw forbidden(operation);
  }
  // Whoever may create a view may read what it is of, or would read it through the view.
  if (operation === 'CreateMaterializedView') {
    const source = viewSource(call.request as Call<'CreateMaterializedView'>['request']);
    if (!allows(grants, source, 'read')) throw forbidden(operation);
  }
}

function asksFor(part: Addressed, { member, mode, unless }: StricterMember): boolean {
  const value = (part as Readonly<Record<string, unknown>>)[member];
  if (unless !== undefined) return typeof value !== 'string' || !new RegExp(unless).test(value);
  return value != null && (mode === undefined || spellsMode(value, mode));
}

/** Whether a grant covers the path. */
function allows(grants: readonly Grant[], path: ObjectPath, permission: Permission): boolean {
  return grants.some(
    (grant) =>
      RANKS[grant.permission] >= RANKS[permission] &&
      grant.namespace.length <= path.length &&
      grant.namespace.every((component, at) => component === path[at]),
  );
}

/** Whether a grant is for something below the path: its holder has to find the way. */
function reaches(grants: readonly Grant[], path: ObjectPath): boolean {
  return grants.some(
    ({ namespace }) =>
      namespace.length > path.length && path.every((component, at) => component === namespace[at]),
  );
}
