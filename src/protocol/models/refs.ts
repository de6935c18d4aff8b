/**
 * Defines the JSON Schemas and TypeScript types of requests and responses about tags and branches.
 * The members that describe a tag or a branch in a list have camelCase names, as in the protocol.
 */

import { request, response } from './common.ts';
import { array, count, map, object, ref, type Static, string } from './model-schema.ts';

const id = array(string);

export const TagContents = object({ version: count, manifestSize: count }, { branch: string });
export type TagContents = Static<typeof TagContents>;

export const ListTableTagsRequest = request(
  {},
  { id, incarnation: string, page_token: string, limit: count },
);
export type ListTableTagsRequest = Static<typeof ListTableTagsRequest>;
export const ListTableTagsResponse = response(
  { tags: map(ref<TagContents>('TagContents')) },
  { page_token: string },
);
export type ListTableTagsResponse = Static<typeof ListTableTagsResponse>;

export const GetTableTagVersionRequest = request({ tag: string }, { id, incarnation: string });
export type GetTableTagVersionRequest = Static<typeof GetTableTagVersionRequest>;
export const GetTableTagVersionResponse = response({ version: count }, { branch: string });
export type GetTableTagVersionResponse = Static<typeof GetTableTagVersionResponse>;

export const CreateTableTagRequest = request(
  { tag: string, version: count },
  { id, incarnation: string, branch: string },
);
export type CreateTableTagRequest = Static<typeof CreateTableTagRequest>;
export const CreateTableTagResponse = response({}, { transaction_id: string });
export type CreateTableTagResponse = Static<typeof CreateTableTagResponse>;

export const DeleteTableTagRequest = request({ tag: string }, { id, incarnation: string });
export type DeleteTableTagRequest = Static<typeof DeleteTableTagRequest>;
export const DeleteTableTagResponse = response({}, { transaction_id: string });
export type DeleteTableTagResponse = Static<typeof DeleteTableTagResponse>;

export const UpdateTableTagRequest = request(
  { tag: string, version: count },
  { id, incarnation: string, branch: string },
);
export type UpdateTableTagRequest = Static<typeof UpdateTableTagRequest>;
export const UpdateTableTagResponse = response({}, { transaction_id: string });
export type UpdateTableTagResponse = Static<typeof UpdateTableTagResponse>;

/** `createAt` is in seconds since the epoch. */
export const BranchContents = object(
  { parentVersion: count, createAt: count, manifestSize: count },
  { parentBranch: string, metadata: map(string) },
);
export type BranchContents = Static<typeof BranchContents>;

export const ListTableBranchesRequest = request(
  {},
  { id, incarnation: string, page_token: string, limit: count },
);
export type ListTableBranchesRequest = Static<typeof ListTableBranchesRequest>;
export const ListTableBranchesResponse = response(
  { branches: map(ref<BranchContents>('BranchContents')) },
  { page_token: string },
);
export type ListTableBranchesResponse = Static<typeof ListTableBranchesResponse>;

export const CreateTableBranchRequest = request(
  { name: string },
  { id, incarnation: string, from_branch: string, from_version: count },
);
export type CreateTableBranchRequest = Static<typeof CreateTableBranchRequest>;
export const CreateTableBranchResponse = response({}, { transaction_id: string });
export type CreateTableBranchResponse = Static<typeof CreateTableBranchResponse>;

export const DeleteTableBranchRequest = request({ name: string }, { id, incarnation: string });
export type DeleteTableBranchRequest = Static<typeof DeleteTableBranchRequest>;
export const DeleteTableBranchResponse = response({}, { transaction_id: string });
export type DeleteTableBranchResponse = Static<typeof DeleteTableBranchResponse>;
