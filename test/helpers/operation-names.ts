/** The names of all operations of the protocol. */
import { OPERATIONS, type OperationName } from '../../src/protocol/operations.ts';

export const OPERATION_NAMES = Object.keys(OPERATIONS) as readonly OperationName[];
