/**
 * Defines the JSON Schemas and TypeScript types of the requests and responses that describe and
 * alter a transaction.
 */

import { request, response } from './common.ts';
import { array, map, object, ref, type Static, string } from './model-schema.ts';

const id = array(string);

export const DescribeTransactionRequest = request({}, { id });
export type DescribeTransactionRequest = Static<typeof DescribeTransactionRequest>;
export const DescribeTransactionResponse = response(
  { status: string },
  { properties: map(string) },
);
export type DescribeTransactionResponse = Static<typeof DescribeTransactionResponse>;

export const AlterTransactionSetStatus = object({}, { status: string });
export type AlterTransactionSetStatus = Static<typeof AlterTransactionSetStatus>;
export const AlterTransactionSetProperty = object({}, { key: string, value: string, mode: string });
export type AlterTransactionSetProperty = Static<typeof AlterTransactionSetProperty>;
export const AlterTransactionUnsetProperty = object({}, { key: string, mode: string });
export type AlterTransactionUnsetProperty = Static<typeof AlterTransactionUnsetProperty>;

/** Exactly one member is meant to be there. */
export const AlterTransactionAction = object(
  {},
  {
    setStatusAction: ref<AlterTransactionSetStatus>('AlterTransactionSetStatus'),
    setPropertyAction: ref<AlterTransactionSetProperty>('AlterTransactionSetProperty'),
    unsetPropertyAction: ref<AlterTransactionUnsetProperty>('AlterTransactionUnsetProperty'),
  },
);
export type AlterTransactionAction = Static<typeof AlterTransactionAction>;

export const AlterTransactionRequest = request(
  { actions: array(ref<AlterTransactionAction>('AlterTransactionAction'), { minItems: 1 }) },
  { id },
);
export type AlterTransactionRequest = Static<typeof AlterTransactionRequest>;
export const AlterTransactionResponse = response({ status: string }, { properties: map(string) });
export type AlterTransactionResponse = Static<typeof AlterTransactionResponse>;
