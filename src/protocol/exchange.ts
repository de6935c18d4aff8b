/**
 * Translates requests and JSON responses to and from HTTP. A client splits a request into path,
 * query and body (`splitRequest`); a server joins these parts and checks the request
 * (`joinRequest`). Both throw InvalidInput for a bad one; `refuseUnknownParameters` does so for a
 * query parameter that the operation lacks. `formatAnswer` gives what is sent for a response;
 * `parseAnswer` reads it, and throws Internal if it does not fit. `jsonText` writes JSON in which
 * bigints are strings. The operations table says in which part each member belongs, and
 * wire-query.ts translates members that differ on the wire. client/ and server/ send and receive
 * the parts, and handle headers.
 */
import { DirspaceError } from '../errors.ts';
import { checkedRequest } from './checked-request.ts';
import {
  type AnyOperation,
  EVERY_OPERATION,
  pathParameters,
  type RequestModel,
  type ResponseModel,
  requestModel,
  resourceKind,
  responseModel,
} from './every-operation.ts';
import {
  checkComponent,
  DEFAULT_DELIMITER,
  equalPaths,
  formatId,
  isComponentText,
  parseId,
} from './ident.ts';
import { type JsonSchema, MODELS, type Model } from './models/index.ts';
import { normalize } from './normalize.ts';
import type { OperationRow, QueryMember } from './operation-row.ts';
import { meant, shown } from './unknown-members.ts';
import { fromWire, toWire } from './wire-query.ts';

/** Query parameters by name; an array where one is repeated. */
export type QueryValues = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The parts a request arrives in; values are percent-decoded, the body is parsed JSON. */
export interface RequestParts {
  readonly pathParameters: Readonly<Record<string, string>>;
  readonly query: QueryValues;
  /** Undefined where there is none, or where it is Arrow data. */
  readonly body?: unknown;
}

/** The parts a request is sent in. */
export interface SplitRequest extends RequestParts {
  /** Percent-encoded, without the base address. */
  readonly path: string;
}

type Members = Record<string, unknown> & { id?: unknown };

const invalid = (operation: AnyOperation, member: string, message: string): DirspaceError =>
  new DirspaceError('InvalidInput', `${operation}: ${message}`, { details: { operation, member } });

/** The parts to send for a request. Throws InvalidInput where an id cannot be sent. */
export function splitRequest<Op extends AnyOperation>(
  operation: Op,
  request: Model<RequestModel<Op>>,
  delimiter: string = DEFAULT_DELIMITER,
): SplitRequest {
  const row: OperationRow = EVERY_OPERATION[operation];
  const wire = toWire(operation, request) as Members;
  const named = pathParameters(row.path);

  const parameters: Record<string, string> = {};
  for (const name of named) {
    parameters[name] = pathParameter(operation, name, wire[name], delimiter);
  }

  const query: Record<string, string | readonly string[]> & { delimiter?: string } = {};
  if (delimiter !== DEFAULT_DELIMITER) query.delimiter = delimiter;
  for (const name in row.query) {
    const value = wire[name];
    if (value === undefined || value === null) continue;
    query[name] = formatQuery(row.query[name] as QueryMember, value);
  }

  const path = fillPath(operation, row.path, parameters);
  if (row.body === 'map') {
    const body = wire[row.bodyMember as string] ?? {};
    return { path, pathParameters: parameters, query, body };
  }
  if (row.body !== 'json') return { path, pathParameters: parameters, query };
  const body = Object.entries(wire).filter(
    ([name]) => !named.includes(name) && !Object.hasOwn(row.query, name),
  );
  return { path, pathParameters: parameters, query, body: Object.fromEntries(body) };
}

function pathParameter(
  operation: AnyOperation,
  name: string,
  value: unknown,
  delimiter: string,
): string {
  if (name !== 'id') {
    if (typeof value === 'string' && value !== '') return value;
    throw invalid(operation, name, `the request has no ${name}; it is needed.`);
  }
  const root = resourceKind(operation) === 'namespace';
  const id = (value ?? []) as string[];
  if (id.length > 0 && isWhole(operation, delimiter)) {
    if (id.length === 1) return checkComponent(id[0] as string);
    const message = `the delimiter ${JSON.stringify(delimiter)} may occur in ids of transactions, so they are one component with it; use another one.`;
    throw invalid(operation, name, message);
  }
  if (id.length > 0 || root) return formatId(id, delimiter);
  throw invalid(operation, name, 'the request has no id; an array of names is needed.');
}

/**
 * Whether the id in the path is one component: commits hand out ids of transactions with periods
 * and hyphens in them, which a delimiter must not cut.
 */
const isWhole = (operation: AnyOperation, delimiter: string): boolean =>
  resourceKind(operation) === 'transaction' && isComponentText(delimiter);

function fillPath(
  operation: AnyOperation,
  template: string,
  parameters: Readonly<Record<string, string>>,
): string {
  let path = template;
  for (const name of pathParameters(template)) {
    const value = parameters[name] as string;
    // URLs treat these as steps of the path, encoded or not.
    if (value === '.' || value === '..') {
      throw invalid(
        operation,
        name,
        `the ${name} ${JSON.stringify(value)} cannot be sent in the path of a URL.`,
      );
    }
    // Braces of a value are encoded, so those of the next name are the first ones.
    const at = path.indexOf('{');
    path = path.slice(0, at) + encodeURIComponent(value) + path.slice(at + name.length + 2);
  }
  return path;
}

function formatQuery({ type, repeated }: QueryMember, value: unknown): string | readonly string[] {
  if (type === 'string-map') return JSON.stringify(value);
  if (repeated && Array.isArray(value)) return value.length === 1 ? value[0] : value;
  return String(value);
}

/**
 * The request its parts stand for, checked against its model. A body may repeat members of path and
 * query: an `id` must agree with the path's, another path parameter is ignored, and the query
 * counts for more than the body. Query parameters that the operation does not have are refused, and
 * unknown members where it changes something. Throws InvalidInput that names the member.
 */
export function joinRequest<Op extends AnyOperation>(
  operation: Op,
  parts: RequestParts,
  delimiter: string = DEFAULT_DELIMITER,
): Model<RequestModel<Op>> {
  const row: OperationRow = EVERY_OPERATION[operation];
  const request = bodyMembers(operation, row, parts.body);

  for (const name of pathParameters(row.path)) {
    const value = parts.pathParameters[name];
    if (value === undefined || value === '') {
      throw invalid(operation, name, `the path has no ${name}.`);
    }
    request[name] = name === 'id' ? agreedId(operation, value, request.id, delimiter) : value;
  }

  refuseUnknownParameters(operation, parts.query, row.query, row.body === 'json');
  for (const name in row.query) {
    const member = row.query[name] as QueryMember;
    const value = parts.query[name];
    if (value !== undefined) request[name] = parseQuery(operation, name, member, value);
    else if (member.required && request[name] == null) {
      throw invalid(operation, name, `the query parameter "${name}" is missing.`);
    }
  }

  return fromWire(operation, checkedRequest(operation, request));
}

/**
 * Passed over, a misspelt `mode` would append where the table was to be overwritten. Throws InvalidInput.
 * @param hasBody whether members of the request that are no parameters come as JSON
 */
export function refuseUnknownParameters(
  operation: AnyOperation,
  query: QueryValues,
  members: OperationRow['query'],
  hasBody: boolean,
): void {
  for (const name of Object.keys(query)) {
    if (name === 'delimiter' || Object.hasOwn(members, name)) continue;
    const { properties } = MODELS[requestModel(operation)] as JsonSchema;
    const known = [...Object.keys(members), 'delimiter'];
    const hint =
      hasBody && Object.hasOwn(properties ?? {}, name)
        ? '; it is a member of the JSON body.'
        : meant(name, known);
    const message = `there is no query parameter ${shown(name)}${hint} There is ${known.join(', ')}.`;
    throw invalid(operation, name.slice(0, 80), message);
  }
}

function bodyMembers(operation: AnyOperation, row: OperationRow, body: unknown): Members {
  if (row.body === 'arrow-stream' || body === undefined || body === null) return {};
  if (typeof body !== 'object' || Array.isArray(body)) {
    const found = Array.isArray(body) ? 'an array' : `a ${typeof body}`;
    throw invalid(operation, '', `the body is ${found}; expected a JSON object.`);
  }
  return row.body === 'map' ? { [row.bodyMember as string]: body } : { ...body };
}

function agreedId(
  operation: AnyOperation,
  pathId: string,
  bodyId: unknown,
  delimiter: string,
): string[] {
  const id = isWhole(operation, delimiter) ? [checkComponent(pathId)] : parseId(pathId, delimiter);
  if (id.length === 0 && resourceKind(operation) !== 'namespace') {
    throw invalid(operation, 'id', 'the id in the path is the root, which has no such operation.');
  }
  // The protocol's client for Java writes an empty list where its caller set no id.
  if (bodyId === undefined || bodyId === null || isEmpty(bodyId)) return id;
  if (Array.isArray(bodyId) && equalPaths(bodyId, id)) return id;
  const isJoined = Array.isArray(bodyId) && bodyId.length === 1 && bodyId[0] === pathId;
  const hint = isJoined ? ` It is joined to one part: give the parts, ${JSON.stringify(id)}.` : '';
  throw invalid(operation, 'id', `the id in the body is not the id in the path.${hint}`);
}

const isEmpty = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

function parseQuery(
  operation: AnyOperation,
  name: string,
  member: QueryMember,
  value: string | readonly string[],
): unknown {
  if (typeof value !== 'string') {
    if (member.repeated) return value.length === 1 ? value[0] : value;
    throw invalid(operation, name, `the query parameter "${name}" is given more than once.`);
  }
  const refuse = (expected: string): DirspaceError => {
    const found = JSON.stringify(value.slice(0, 60));
    const message = `the query parameter "${name}" is ${found}; expected ${expected}.`;
    return invalid(operation, name, message);
  };
  switch (member.type) {
    case 'string':
      return value;
    case 'integer':
      if (!/^-?\d{1,16}$/.test(value)) throw refuse('an integer');
      return Number(value);
    case 'boolean':
      if (value === 'true') return true;
      if (value === 'false') return false;
      throw refuse('true or false');
    case 'string-map':
      try {
        return JSON.parse(value);
      } catch {
        throw refuse('a JSON object of strings');
      }
  }
}

/** The JSON of a body: integers too wide for its numbers are strings. */
export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    // It holds a bigint. A function that is called for each value takes several times as long.
    return JSON.stringify(value, (_, item) => (typeof item === 'bigint' ? String(item) : item));
  }
}

/** What is sent for a response: the response itself, or its one member where the answer is bare. */
export function formatAnswer<Op extends AnyOperation>(
  operation: Op,
  response: Model<ResponseModel<Op>>,
): unknown {
  const { answer, answerMember }: OperationRow = EVERY_OPERATION[operation];
  if (answer !== 'bare') return response;
  return (response as Members)[answerMember as string];
}

/**
 * The inverse of `formatAnswer` for parsed JSON, checked against the response model. Throws
 * Internal where the answer does not fit: it is the server's fault, not the request's.
 */
export function parseAnswer<Op extends AnyOperation>(
  operation: Op,
  json: unknown,
): Model<ResponseModel<Op>> {
  const { answer, answerMember }: OperationRow = EVERY_OPERATION[operation];
  const model = responseModel(operation);
  if (model === undefined) {
    throw new DirspaceError('Internal', `${operation} does not answer with JSON.`);
  }
  const value = answer === 'bare' ? { [answerMember as string]: json } : json;
  return normalize(model, value, 'Internal');
}
