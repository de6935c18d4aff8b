/**
 * The members of a query that the wire holds otherwise than a request. The protocol's `k` is an
 * integer of 32 bits that has to be there, so its largest value is how a client asks for every row;
 * and `vector` has to be there too, as an object with nothing in it where none is searched for.
 */
import type { AnyOperation } from './every-operation.ts';
import type { QueryTableRequest } from './models.ts';

/** The largest `k` of the wire; a server of this package sets no limit then. */
export const EVERY_ROW = 2 ** 31 - 1;

/** Members that the query makes use of and that servers of others pass over, or do otherwise. */
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
  return mapQuery(operation, request, ({ k, vector = {}, ...members }) => ({
    ...members,
    ...(k === undefined ? {} : { k: Math.min(k, EVERY_ROW) }),
    vector,
  }));
}

/** The request that was meant by one that arrived. */
export function fromWire<Request extends object>(
  operation: AnyOperation,
  request: Request,
): Request {
  return mapQuery(operation, request, (query) =>
    (query.k ?? 0) < EVERY_ROW ? query : { ...query, k: Number.MAX_SAFE_INTEGER },
  ) as Request;
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
