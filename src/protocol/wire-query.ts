/**
 * Translates queries and RenameTable requests between the catalog's form and the form on the wire:
 * `toWire` before sending on the client, `fromWire` after receiving on the server. In a query on
 * the wire the number of rows (`k`) is at most 2^31 - 1 (`EVERY_ROW`), which means no limit. A
 * rename to the root is marked with `to_root`; naming another namespace too throws InvalidInput.
 * `renameTarget` returns the namespace that a rename names, or undefined if the table stays in its
 * own. `oftenPassedOver` lists the members of a query that servers of other makers may ignore or
 * treat differently.
 */
import { DirspaceError } from '../errors.ts';
import type { AnyOperation } from './every-operation.ts';
import type { QueryTableRequest, RenameTableRequest } from './models/index.ts';

/** The largest `k` of the wire; a server of this package sets no limit then. */
export const EVERY_ROW = 2 ** 31 - 1;

/** Members of the query that servers of other makers ignore or treat differently. */
export function oftenPassedOver({ order_by, vector, offset }: QueryTableRequest): string[] {
  // Empty ones search for nothing: so the SDK asks for rows as they are.
  const { single_vector: single = [], multi_vector: multi = [] } = vector ?? {};
  const several = multi.length > 1;
  const searched = single.length > 0 || multi.length > 0;
  return [
    ...(order_by === undefined || order_by.length === 0 ? [] : ['order_by']),
    ...(several ? ['multi_vector'] : []),
    ...(searched && (offset ?? 0) > 0 ? ['offset'] : []),
  ];
}

interface QueryMembers {
  readonly k?: number;
  readonly vector?: object;
}

/** The request as it is sent. */
export function toWire(operation: AnyOperation, request: object): object {
  if (operation === 'RenameTable') return renameToWire(request as RenameTableRequest);
  return mapQuery(operation, request, ({ k, vector = {}, ...members }) => ({
    ...members,
    ...(k === undefined ? {} : { k: Math.min(k, EVERY_ROW) }),
    vector,
  }));
}

/** The request that was meant by one that arrived. @throws InvalidInput for one that says two things */
export function fromWire<Request extends object>(
  operation: AnyOperation,
  request: Request,
): Request {
  if (operation === 'RenameTable') return renameFromWire(request as RenameTableRequest) as Request;
  return mapQuery(operation, request, (query) =>
    (query.k ?? 0) < EVERY_ROW ? query : { ...query, k: Number.MAX_SAFE_INTEGER },
  ) as Request;
}

/**
 * The namespace that a rename names, `[]` for the root; undefined where the table stays in its own.
 * @throws InvalidInput where the request names the root and another namespace
 */
export function renameTarget(request: RenameTableRequest): string[] | undefined {
  const { new_namespace_id: namespace, to_root: toRoot = false } = request;
  if (!toRoot) return namespace;
  if (namespace === undefined || namespace.length === 0) return [];
  throw new DirspaceError(
    'InvalidInput',
    `RenameTable: to_root moves the table to the root, and new_namespace_id names ${JSON.stringify(namespace).slice(0, 200)}. Give one of them.`,
    { details: { operation: 'RenameTable', member: 'to_root' } },
  );
}

/**
 * `to_root: true` moves a table to the root, because Lance's Java client sends an empty
 * `new_namespace_id` for none.
 */
function renameToWire(request: RenameTableRequest): object {
  const namespace = renameTarget(request);
  const { to_root: _, ...members } = request;
  return namespace?.length === 0 ? { ...members, new_namespace_id: [], to_root: true } : members;
}

function renameFromWire(request: RenameTableRequest): RenameTableRequest {
  const namespace = renameTarget(request);
  const { to_root: toRoot, new_namespace_id: _, ...members } = request;
  if (namespace === undefined || (namespace.length === 0 && !toRoot)) return members;
  return { ...members, new_namespace_id: namespace };
}

function mapQuery(
  operation: AnyOperation,
  request: object,
  change: (query: QueryMembers) => QueryMembers,
): object {
  switch (operation) {
    case 'QueryTable':
    case 'AnalyzeTableQueryPlan':
      return change(request);
    case 'ExplainTableQueryPlan': {
      const { query } = request as { readonly query?: QueryMembers };
      return query === undefined ? request : { ...request, query: change(query) };
    }
    default:
      return request;
  }
}
