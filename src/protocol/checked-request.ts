/** The one way from what a caller gave to a request that an engine or a server may act upon. */
import {
  type AnyOperation,
  EVERY_OPERATION,
  type RequestModel,
  requestModel,
} from './every-operation.ts';
import type { Model } from './models/index.ts';
import { normalize } from './normalize.ts';
import { refuseUnknownMembers } from './unknown-members.ts';

/**
 * The request as its model wants it. Operations that change something refuse members that nothing
 * knows; operations that read pass over them.
 * @throws InvalidInput that names the member
 */
export function checkedRequest<Op extends AnyOperation>(
  operation: Op,
  value: unknown,
): Model<RequestModel<Op>> {
  const model = requestModel(operation);
  if (EVERY_OPERATION[operation].changes) refuseUnknownMembers(model, value);
  return normalize(model, value);
}
