/**
 * `checkedRequest` validates a request against the model of its operation and returns it as the
 * model's type. It throws InvalidInput if the request does not fit. If the operation changes
 * something, it also refuses unknown members (unknown-members.ts). A server calls `preparedInSteps`
 * before: it converts long lists of 64-bit integers, such as row ids, in short steps, so that the
 * check does not block the event loop. It returns undefined if there are none.
 */
import {
  type AnyOperation,
  EVERY_OPERATION,
  type RequestModel,
  requestModel,
} from './every-operation.ts';
import type { Model } from './models/index.ts';
import { normalize, wideListsInSteps } from './normalize.ts';
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

/**
 * Steps that do what takes long of checking a request, which is then checked in a moment; undefined where
 * nothing does.
 */
export const preparedInSteps = (
  operation: AnyOperation,
  request: object,
): Generator<undefined, object> | undefined => wideListsInSteps(requestModel(operation), request);
