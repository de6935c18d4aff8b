/**
 * The protocol's own OpenAPI document, and whether requests and answers are valid by it. Bodies of
 * Arrow data are looked at by their type only.
 */
import { readFileSync } from 'node:fs';
import { Compile } from 'typebox/schema';

type Json = Readonly<Record<string, unknown>>;

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly schema: Json & { readonly type?: string };
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema: Json }>>;
}

interface Operation {
  readonly operationId: string;
  readonly parameters: readonly Parameter[];
  readonly requestBody?: Content & { readonly required: boolean };
  readonly responses: Readonly<Record<string, Content>>;
}

export interface ProtocolDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Json>> };
}

const file = new URL('../../fixtures/protocol/openapi-0.13.0.json', import.meta.url);
export const PROTOCOL = JSON.parse(readFileSync(file, 'utf8')) as ProtocolDocument;

export interface SentRequest {
  readonly method: string;
  readonly url: string;
  readonly type: string;
  readonly body: string | Uint8Array | undefined;
}

const compiled = new Map<string, ReturnType<typeof Compile>>();

/** What is wrong with a value by a schema of the document; empty where nothing is. */
export function faultsOf(schema: Json, value: unknown): string[] {
  const key = JSON.stringify(schema);
  let validator = compiled.get(key);
  if (validator === undefined) {
    validator = Compile({ components: PROTOCOL.components, ...schema } as never);
    compiled.set(key, validator);
  }
  const [, errors] = validator.Errors(value);
  return errors.map(({ instancePath, message }) => `${instancePath || 'the value'} ${message}`);
}

/** The operation that a request is for. */
export function operationOf(method: string, pathname: string): Operation | undefined {
  for (const [template, methods] of Object.entries(PROTOCOL.paths)) {
    const pattern = template.replaceAll(/\{\w+\}/g, '[^/]+').replace(/\/$/, '/?');
    if (new RegExp(`^${pattern}$`).test(pathname)) {
      const found = methods[method.toLowerCase()];
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

/** What is wrong with a request by the document; empty where nothing is. */
export function requestFaults({ method, url, type, body }: SentRequest): string[] {
  const { pathname, searchParams } = new URL(url);
  const operation = operationOf(method, pathname);
  if (operation === undefined) return [`there is no ${method} ${pathname}`];
  const faults: string[] = [];
  const query = operation.parameters.filter((one) => one.in === 'query');
  for (const name of new Set(searchParams.keys())) {
    if (!query.some((one) => one.name === name)) faults.push(`there is no parameter ${name}`);
  }
  for (const { name, required, schema: given } of query) {
    const schema = resolved(given);
    const values = searchParams.getAll(name);
    if (values.length === 0) {
      if (required) faults.push(`the parameter ${name} is missing`);
      continue;
    }
    const value = schema.type === 'array' ? values : parsed(values[0] as string, schema.type);
    if (schema.type !== 'array' && values.length > 1) faults.push(`${name} comes twice`);
    faults.push(...faultsOf(schema, value).map((fault) => `${name}: ${fault}`));
  }
  return [...faults, ...bodyFaults(operation, type, body)];
}

/** The schema that a reference names. */
function resolved(schema: Parameter['schema']): Parameter['schema'] {
  const { $ref } = schema as { readonly $ref?: string };
  if ($ref === undefined) return schema;
  return PROTOCOL.components.schemas[$ref.slice($ref.lastIndexOf('/') + 1)] as Parameter['schema'];
}

function bodyFaults({ requestBody }: Operation, type: string, body: SentRequest['body']): string[] {
  if (requestBody === undefined) return body === undefined ? [] : ['it has a body'];
  if (body === undefined) return requestBody.required ? ['its body is missing'] : [];
  const content = requestBody.content?.[type];
  if (content === undefined) return [`its body is ${type || 'of no type'}`];
  if (type !== 'application/json') return arrowFaults(body);
  try {
    return faultsOf(content.schema, JSON.parse(String(body)));
  } catch {
    return ['its body is not JSON'];
  }
}

/** An Arrow IPC stream begins with a continuation marker. */
const arrowFaults = (body: string | Uint8Array): string[] =>
  body instanceof Uint8Array && [0, 1, 2, 3].every((at) => body[at] === 0xff)
    ? []
    : ['its body is no Arrow stream'];

function parsed(text: string, type: string | undefined): unknown {
  if (type === 'integer' || type === 'number') return Number(text);
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text;
  return text;
}

/** What is wrong with a JSON answer by the document; empty where nothing is. */
export function answerFaults(method: string, url: string, status: number, json: unknown): string[] {
  const operation = operationOf(method, new URL(url).pathname);
  const { responses = {} } = operation ?? {};
  const found = responses[String(status)] ?? (status >= 500 ? responses['5XX'] : undefined);
  if (found === undefined) return [`it has no answer ${status}`];
  const schema = found.content?.['application/json']?.schema;
  return schema === undefined ? [] : faultsOf(schema, json);
}
