/**
 * Defines the JSON Schemas and TypeScript types that many operations share: the identity and
 * context of requests, the context of responses, and the error body. `request` and `response` build
 * the schema of one request or response from its own members and these shared ones.
 */
import {
  type AnySchema,
  count,
  map,
  type None,
  object,
  ref,
  type Static,
  string,
} from './model-schema.ts';

/** Who asks. Headers, where they are there, count for more. */
export const Identity = object({}, { api_key: string, auth_token: string });
export type Identity = Static<typeof Identity>;

/** Entries whose key starts with `header.` travel as HTTP headers. */
export const Context = map(string);
export type Context = Static<typeof Context>;

const identity = ref<Identity>('Identity');
const context = ref<Context>('Context');

/** The body of every failure over REST. Only `code` is sure to be there, for it decides. */
export const ErrorResponse = object(
  { code: count },
  {
    error: string,
    type: string,
    title: string,
    status: count,
    detail: string,
    instance: string,
    context,
  },
);
export type ErrorResponse = Static<typeof ErrorResponse>;

type Envelope<Optional> = Optional & { identity: typeof identity; context: typeof context };
type Answered<Optional> = Optional & { context: typeof context };

/** A request model: its members beside identity and context. */
export const request = <
  Required extends Record<string, AnySchema> = None,
  Optional extends Record<string, AnySchema> = None,
>(
  required: Required,
  optional: Optional = {} as Optional,
): ReturnType<typeof object<Required, Envelope<Optional>>> =>
  object(required, { ...optional, identity, context });

/** A response model: its members beside context. */
export const response = <
  Required extends Record<string, AnySchema> = None,
  Optional extends Record<string, AnySchema> = None,
>(
  required: Required,
  optional: Optional = {} as Optional,
): ReturnType<typeof object<Required, Answered<Optional>>> =>
  object(required, { ...optional, context });
