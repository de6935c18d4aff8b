/**
 * Defines `Call`, one call of an operation as a value, and `Caller`, a function that carries out
 * calls. `callerOf` returns the caller of a catalog, which rejects with Unsupported where the
 * catalog lacks the operation; scope.ts, permissions.ts and table-ids.ts wrap a caller in another
 * one. `addressedParts` lists the parts of a call for which permissions are checked, such as the
 * tables that a statement reads. It throws InvalidInput for a statement that cannot be parsed.
 */
import type { ArrowBody } from '../../arrow/index.ts';
import {
  type AnyOperation,
  type CallOptions,
  EVERY_OPERATION,
  methodName,
  type Namespace,
  type RequestOf,
  type ResponseOf,
  unsupported,
} from '../../protocol/index.ts';
import { pathsIn, statementText } from '../../statements/index.ts';

export interface Call<Op extends AnyOperation = AnyOperation> {
  readonly operation: Op;
  readonly request: RequestOf<Op>;
  /** Where the operation takes Arrow data. */
  readonly data?: ArrowBody;
  readonly options: CallOptions;
}

/** Does a call and answers as the method of `Namespace` does. */
export type Caller = <Op extends AnyOperation>(call: Call<Op>) => Promise<ResponseOf<Op>>;

type AnyMethod = (...inputs: unknown[]) => Promise<never>;
type Methods = Readonly<Record<string, AnyMethod | undefined>>;

/** Calls that reject with Unsupported where the catalog lacks an extension. */
export function callerOf(namespace: Namespace): Caller {
  return ({ operation, request, data, options }) => {
    const method = (namespace as unknown as Methods)[methodName(operation)];
    if (method === undefined) return Promise.reject(unsupported(operation));
    const takesData = EVERY_OPERATION[operation].body === 'arrow-stream';
    const inputs = takesData ? [request, data, options] : [request, options];
    // A catalog made without types may answer at once; a promise stays the one it is.
    return Promise.resolve(method.apply(namespace, inputs));
  };
}

/** The members that say what a request is about, whatever the operation. */
export interface Addressed {
  readonly id?: readonly string[];
  readonly new_namespace_id?: readonly string[];
  readonly new_table_name?: string;
  readonly location?: string;
  /** Of a clone. */
  readonly source_id?: readonly string[];
  readonly source_location?: string;
  readonly entries?: readonly Addressed[];
  readonly operations?: readonly Readonly<Record<string, Addressed | undefined>>[];
}

/** Every request a request consists of: itself, or those that a multi-table commit lists. */
export function addressedParts({ operation, request }: Call): readonly Addressed[] {
  const { entries, operations } = request as Addressed;
  if (operation === 'BatchCreateTableVersions') return entries ?? [];
  if (operation === 'RunSql' || operation === 'ExplainSql') return readParts(request as SqlRequest);
  if (operation !== 'BatchCommitTables') return [request as Addressed];
  return (operations ?? []).flatMap((members) =>
    COMMIT_MEMBERS.flatMap((name) => (members[name] === undefined ? [] : [members[name]])),
  );
}

type SqlRequest = RequestOf<'RunSql'>;

/** The tables that a statement reads; the namespace where it reads none. @throws InvalidInput */
function readParts(request: SqlRequest): Addressed[] {
  const { id = [] } = request;
  const paths = pathsIn(statementText(request));
  return paths.length === 0 ? [{ id }] : paths.map((path) => ({ id: [...id, ...path] }));
}

const COMMIT_MEMBERS = [
  'declare_table',
  'create_table_version',
  'delete_table_versions',
  'deregister_table',
] as const;
