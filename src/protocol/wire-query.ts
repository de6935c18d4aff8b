/**
 * The members of a query that the wire holds otherwise than a request. The protocol's `k` is an
 * integer of 32 bits that has to be there, so its largest value is how a client asks for every row;
 * and `vector` has to be there too, as an object with nothing in it where none is searched for.
 */
import type { AnyOperation } from './every-operation.ts';

/** The largest `k` of the wire; a server of this package sets no limit then. */
export const EVERY_ROW = 2 ** 31 - 1;

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
