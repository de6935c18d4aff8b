/**
 * Collects the models of all requests and responses, and of their parts, by name as JSON Schemas
 * (`MODELS`). `Model` is the type of a model by its name. Members are named as on the wire. The
 * schemas of the protocol and of jobs are re-exported with their TypeScript types, and those of SQL
 * statements without types; those of the other extensions are in `MODELS` only.
 */
import * as columns from './columns.ts';
import { Context, ErrorResponse, Identity } from './common.ts';
import * as extensions from './extensions.ts';
import * as indices from './indices.ts';
import * as jobs from './jobs.ts';
import type { Static } from './model-schema.ts';
import * as namespaces from './namespaces.ts';
import * as query from './query.ts';
import * as refs from './refs.ts';
import * as rows from './rows.ts';
import * as schema from './schema.ts';
import * as statements from './statements.ts';
import * as tableInsight from './table-insight.ts';
import * as tables from './tables.ts';
import * as transactions from './transactions.ts';
import * as versions from './versions.ts';
import * as views from './views.ts';

export * from './columns.ts';
export { Context, ErrorResponse, Identity } from './common.ts';
export * from './indices.ts';
export * from './jobs.ts';
export * from './namespaces.ts';
export * from './query.ts';
export * from './refs.ts';
export * from './rows.ts';
export * from './schema.ts';
export * from './statements.ts';
export * from './tables.ts';
export * from './transactions.ts';
export * from './versions.ts';
export * from './views.ts';

const { JOB_OPERATIONS: _, JOB_TYPES: __, jobType: ___, ...jobModels } = jobs;

/** The JSON Schema of each model. */
export const MODELS = {
  Identity,
  Context,
  ErrorResponse,
  ...schema,
  ...namespaces,
  ...tables,
  ...versions,
  ...rows,
  ...query,
  ...columns,
  ...indices,
  ...refs,
  ...transactions,
  ...views,
  ...extensions,
  ...tableInsight,
  ...statements,
  ...jobModels,
};

/** Such as `CreateTableRequest`. */
export type ModelName = keyof typeof MODELS;

/** The type of the model of that name. */
export type Model<Name extends ModelName> = Static<(typeof MODELS)[Name]>;
export type { JsonSchema } from './model-schema.ts';
