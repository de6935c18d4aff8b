/**
 * Defines `OperationRow`, the description of one operation: its method, path, query, body, answer,
 * errors and permission. A row also says whether the operation changes the catalog, whether
 * sending it twice does the same as sending it once, and whether it may take hours. `json`, `map`,
 * `arrowStream` and `bodyless` construct rows, one for each kind of body.
 */

/** How a member travels in the query string. */
export interface QueryMember {
  /** A `string-map` is one parameter that holds a JSON object of strings. */
  readonly type: 'string' | 'integer' | 'boolean' | 'string-map';
  readonly required?: true;
  /** The value that a missing member stands for; it is documented, and not filled in. */
  readonly default?: string | boolean;
  /** May be given several times; the member is then an array. */
  readonly repeated?: true;
}

/**
 * `json`: the request's members that path and query do not carry. `map`: the bare map of the one
 * `bodyMember`. `arrow-stream`: Arrow data beside the request. `none`: all is in path and query.
 */
export type BodyKind = 'json' | 'map' | 'arrow-stream' | 'none';

/** `json`: the response model. `bare`: its one `answerMember`, unwrapped. `empty`: the status only. */
export type AnswerKind = 'json' | 'bare' | 'arrow-file' | 'empty';

/**
 * `admin`: removes history or namespaces for good, changes what is under a namespace as a whole, or
 * records behind the engine's back.
 */
export type Permission = 'read' | 'write' | 'admin';

/** A member of a request that makes it need more than the permission of its row. */
export interface StricterMember {
  readonly member: string;
  /** The mode that does so, in any spelling; every value of the member if absent. */
  readonly mode?: string;
  readonly permission: Permission;
  /** A pattern of the texts that need no more than the row's permission. */
  readonly unless?: string;
}

/** What the `id` of the path names; `catalog` operations have none. */
export type ResourceKind = 'catalog' | 'namespace' | 'table' | 'transaction' | 'materialized_view';

export interface OperationRow<
  Body extends BodyKind = BodyKind,
  Answer extends AnswerKind = AnswerKind,
> {
  readonly method: 'GET' | 'POST';
  /** Path parameters stand in braces; each is a member of the request. */
  readonly path: string;
  /** The `delimiter` parameter goes without saying. */
  readonly query: Readonly<Record<string, QueryMember>>;
  readonly body: Body;
  readonly bodyMember?: string;
  readonly answer: Answer;
  readonly answerMember?: string;
  readonly status: 200 | 201 | 202;
  /** Statuses an answer may have besides 400, 401, 403, 503 and other 5xx. */
  readonly errors: readonly number[];
  readonly permission: Permission;
  readonly stricter: readonly StricterMember[];
  /** Whether a catalog that is opened read-only refuses it. */
  readonly changes: boolean;
  /** True where sending the request twice does what sending it once does. */
  readonly repeatable: boolean;
  /** May take hours, with no sign of life before its answer; no clock ends it while it is wanted. */
  readonly long: boolean;
  /** Looks up what the catalog knows: its work does not grow with rows. */
  readonly short: boolean;
  readonly summary: string;
}

interface RowOptions<Answer extends AnswerKind> {
  readonly method?: 'GET';
  readonly query?: Readonly<Record<string, QueryMember>>;
  readonly bodyMember?: string;
  readonly answer?: Answer;
  readonly answerMember?: string;
  readonly status?: 201 | 202;
  readonly errors?: readonly number[];
  readonly stricter?: readonly StricterMember[];
  readonly changes?: false;
  readonly repeatable?: true;
  readonly long?: true;
  readonly short?: true;
}

type RowOf<Body extends BodyKind> = <Answer extends AnswerKind = 'json'>(
  path: string,
  permission: Permission,
  summary: string,
  options?: RowOptions<Answer>,
) => OperationRow<Body, Answer>;

const rowOf =
  <Body extends BodyKind>(body: Body): RowOf<Body> =>
  <Answer extends AnswerKind>(
    path: string,
    permission: Permission,
    summary: string,
    options: RowOptions<Answer> = {},
  ): OperationRow<Body, Answer> => ({
    method: 'POST',
    path,
    query: {},
    body,
    answer: 'json' as Answer,
    status: 200,
    errors: [404],
    permission,
    stricter: [],
    changes: permission !== 'read',
    repeatable: permission === 'read',
    long: false,
    short: false,
    summary,
    ...options,
  });

export const json: RowOf<'json'> = rowOf('json');
export const map: RowOf<'map'> = rowOf('map');
export const arrowStream: RowOf<'arrow-stream'> = rowOf('arrow-stream');
export const bodyless: RowOf<'none'> = rowOf('none');
