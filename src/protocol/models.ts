/**
 * Every model of the protocol by its name: the JSON Schema as a value, the TypeScript type beside
 * it. Members are exactly the wire's. What an operation does with them is not known here.
 */
import * as columns from './models/columns.ts';
import { Context, ErrorResponse, Identity } from './models/common.ts';
import * as extensions from './models/extensions.ts';
import * as indices from './models/indices.ts';
import * as namespaces from './models/namespaces.ts';
import * as query from './models/query.ts';
import * as refs from './models/refs.ts';
import * as rows from './models/rows.ts';
import * as schema from './models/schema.ts';
import * as tables from './models/tables.ts';
import * as transactions from './models/transactions.ts';
import * as versions from './models/versions.ts';
import * as views from './models/views.ts';
import type { Static } from './typebox.ts';

export * from './models/columns.ts';
export { Context, ErrorResponse, Identity } from './models/common.ts';
export * from './models/indices.ts';
export * from './models/namespaces.ts';
export * from './models/query.ts';
export * from './models/refs.ts';
export * from './models/rows.ts';
export * from './models/schema.ts';
export * from './models/tables.ts';
export * from './models/transactions.ts';
export * from './models/versions.ts';
export * from './models/views.ts';

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
};

/** Such as `CreateTableRequest`. */
export type ModelName = keyof typeof MODELS;

/** The type of the model of that name. */
export type Model<Name extends ModelName> = Static<(typeof MODELS)[Name]>;
