/**
 * Defines the JSON Schemas and TypeScript types of the requests and responses that create, list,
 * describe and drop namespaces, and that test whether one exists.
 */

import { request, response } from './common.ts';
import { array, count, map, type Static, string } from './model-schema.ts';

const id = array(string);
const properties = map(string);

export const CreateNamespaceRequest = request({}, { id, mode: string, properties });
export type CreateNamespaceRequest = Static<typeof CreateNamespaceRequest>;
export const CreateNamespaceResponse = response({}, { transaction_id: string, properties });
export type CreateNamespaceResponse = Static<typeof CreateNamespaceResponse>;

export const ListNamespacesRequest = request({}, { id, page_token: string, limit: count });
export type ListNamespacesRequest = Static<typeof ListNamespacesRequest>;
export const ListNamespacesResponse = response(
  { namespaces: array(string) },
  { page_token: string },
);
export type ListNamespacesResponse = Static<typeof ListNamespacesResponse>;

export const DescribeNamespaceRequest = request({}, { id });
export type DescribeNamespaceRequest = Static<typeof DescribeNamespaceRequest>;
export const DescribeNamespaceResponse = response({}, { properties });
export type DescribeNamespaceResponse = Static<typeof DescribeNamespaceResponse>;

export const DropNamespaceRequest = request({}, { id, mode: string, behavior: string });
export type DropNamespaceRequest = Static<typeof DropNamespaceRequest>;
export const DropNamespaceResponse = response({}, { properties, transaction_id: array(string) });
export type DropNamespaceResponse = Static<typeof DropNamespaceResponse>;

export const NamespaceExistsRequest = request({}, { id });
export type NamespaceExistsRequest = Static<typeof NamespaceExistsRequest>;
