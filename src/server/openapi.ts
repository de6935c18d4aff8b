/**
 * `openApiDocument` builds the OpenAPI 3.1 document of the protocol and this engine's extensions
 * from the operations table and the request and response models. The server's own routes, such as
 * `/ready`, are included; those of the browser page are not.
 */
import {
  ALIAS_ROUTES,
  type AliasRoute,
  type AnyOperation,
  API_KEY_HEADER,
  ARROW_FILE_TYPE,
  ARROW_STREAM_TYPE,
  ERROR_STATUSES,
  type ErrorStatus,
  EVERY_OPERATION,
  EVERY_OPERATION_NAMES,
  FORM_ROUTES,
  type FormAnswer,
  type FormRoute,
  IDEMPOTENCY_HEADER,
  JSON_TYPE,
  MODELS,
  type OperationRow,
  pathParameters,
  type QueryMember,
  requestModel,
  responseModel,
} from '../protocol/index.ts';

type Json = Readonly<Record<string, unknown>>;

const EVERYWHERE: readonly ErrorStatus[] = [400, 401, 403, 404, 406, 421, 429, 500, 503];
const WITH_BODY: readonly ErrorStatus[] = [413, 415];

const reference = (kind: string, name: string): Json => ({ $ref: `#/components/${kind}/${name}` });

const binary = { type: 'string', format: 'binary' };

/** Headers that select what a request is about, in lower case. */
export interface RoutingHeaders {
  readonly headers: readonly string[];
  readonly prefixHeaders: readonly string[];
}

/** @param routing names the database headers of a server; the document is about no server without it */
export function openApiDocument(
  routing: RoutingHeaders = { headers: [], prefixHeaders: [] },
): Json {
  const paths: Record<string, Record<string, unknown>> = {};
  const add = (path: string, method: string, item: Json): void => {
    paths[path] = { ...paths[path], [method.toLowerCase()]: item };
  };
  for (const operation of EVERY_OPERATION_NAMES) {
    const { path, method } = EVERY_OPERATION[operation];
    add(path, method, operationItem(operation, routing));
  }
  for (const alias of ALIAS_ROUTES) {
    add(alias.path, alias.method, operationItem(alias.operation, routing, alias));
  }
  for (const [name, route] of Object.entries(FORM_ROUTES)) {
    add(route.path, route.method, formItem(name, route, routing));
  }
  add('/health', 'GET', ownItem('health', 'Say that the server is alive'));
  add('/ready', 'GET', readyItem());
  add('/metrics', 'GET', metricsItem());
  add('/openapi.json', 'GET', ownItem('openapi', 'This document'));
  return {
    openapi: '3.1.0',
    info: {
      title: 'Catalog of namespaces and tables',
      version: '1',
      description: 'Namespaces, versioned tables of Arrow data, their tags and branches.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ apiKey: [] }, { bearer: [] }],
    paths,
    components: {
      schemas: MODELS,
      responses: errorResponses(),
      parameters: { ...sharedParameters(), ...routingParameters(routing) },
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: API_KEY_HEADER },
        bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
      },
    },
  };
}

function operationItem(operation: AnyOperation, routing: RoutingHeaders, alias?: AliasRoute): Json {
  const row: OperationRow = EVERY_OPERATION[operation];
  const names = pathParameters(alias?.path ?? row.path);
  return {
    operationId: alias === undefined ? operation : `${operation}${alias.path.split('/').join('_')}`,
    summary: alias?.summary ?? row.summary,
    tags: [row.path.split('/')[2] ?? 'catalog'],
    'x-permission': row.permission,
    ...(row.stricter.length === 0 ? {} : { 'x-permission-stricter': row.stricter }),
    parameters: [
      ...names.map((name) => (name === 'id' ? reference('parameters', 'id') : pathParameter(name))),
      reference('parameters', 'delimiter'),
      ...Object.entries(row.query).map(([name, member]) => queryParameter(name, member)),
      ...(row.repeatable && !row.changes ? [] : [reference('parameters', 'idempotencyKey')]),
      ...Object.keys(routingParameters(routing)).map((name) => reference('parameters', name)),
    ],
    ...requestBody(operation, row),
    responses: {
      [row.status]: answer(operation, row),
      ...errors(row),
    },
  };
}

/** Idempotency keys do not count there. */
function formItem(operationId: string, route: FormRoute, routing: RoutingHeaders): Json {
  const row: OperationRow = EVERY_OPERATION[route.operation];
  const { 422: _, ...refused } = errors({ ...row, method: route.method });
  const answers = Object.entries(route.answers).map(([status, form]) => [
    status,
    formAnswer(route.operation, form),
  ]);
  return {
    operationId,
    summary: route.summary,
    tags: ['dirspace'],
    'x-permission': row.permission,
    ...(row.stricter.length === 0 ? {} : { 'x-permission-stricter': row.stricter }),
    parameters: [
      ...pathParameters(route.path).map((name) =>
        name === 'id' ? reference('parameters', 'id') : pathParameter(name),
      ),
      reference('parameters', 'delimiter'),
      ...Object.entries(route.query).map(([name, member]) => queryParameter(name, member)),
      ...Object.entries(route.headers ?? {}).map(([name, asks]) => headerParameter(name, asks)),
      ...Object.keys(routingParameters(routing)).map((name) => reference('parameters', name)),
    ],
    ...(route.takesData ? arrowBody() : {}),
    responses: { ...Object.fromEntries(answers), ...refused },
  };
}

function formAnswer(operation: AnyOperation, { description, body, headers }: FormAnswer): Json {
  const told = Object.entries(headers ?? {}).map(([name, tells]) => [
    name,
    { description: tells, schema: { type: 'string' } },
  ]);
  return {
    description,
    ...(told.length === 0 ? {} : { headers: Object.fromEntries(told) }),
    ...(body === undefined ? {} : { content: formContent(operation, body) }),
  };
}

function formContent(operation: AnyOperation, body: NonNullable<FormAnswer['body']>): Json {
  if (body === 'bytes') return { 'application/octet-stream': { schema: binary } };
  if (body === 'response') {
    return { [JSON_TYPE]: { schema: reference('schemas', `${responseModel(operation)}`) } };
  }
  const members = Object.entries(body).map(([name, type]) => [name, { type }]);
  const properties = Object.fromEntries(members);
  return { [JSON_TYPE]: { schema: { type: 'object', properties, required: Object.keys(body) } } };
}

const headerParameter = (name: string, description: string): Json => ({
  name,
  in: 'header',
  required: false,
  description,
  schema: { type: 'string' },
});

const pathParameter = (name: string): Json => ({
  name,
  in: 'path',
  required: true,
  schema: { type: 'string' },
});

function queryParameter(name: string, member: QueryMember): Json {
  const item = member.type === 'string-map' ? { type: 'string' } : { type: member.type };
  const schema = member.repeated ? { type: 'array', items: item } : item;
  return {
    name,
    in: 'query',
    required: member.required ?? false,
    ...(member.type === 'string-map' ? { description: 'A JSON object of strings.' } : {}),
    ...(member.repeated ? { style: 'form', explode: true } : {}),
    schema: { ...schema, ...(member.default === undefined ? {} : { default: member.default }) },
  };
}

function requestBody(operation: AnyOperation, row: OperationRow): Json {
  if (row.body === 'none') return {};
  if (row.body === 'arrow-stream') return arrowBody();
  const schema =
    row.body === 'map'
      ? { type: 'object', additionalProperties: { type: 'string' } }
      : reference('schemas', requestModel(operation));
  return { requestBody: { content: { [JSON_TYPE]: { schema } } } };
}

const arrowBody = (): Json => ({
  requestBody: { required: true, content: { [ARROW_STREAM_TYPE]: { schema: binary } } },
});

function answer(operation: AnyOperation, row: OperationRow): Json {
  if (row.answer === 'empty') return { description: 'It is there.' };
  if (row.answer === 'arrow-file') {
    return {
      description: 'The rows, as a file or, where the Accept header asks for it, as a stream.',
      content: { [ARROW_FILE_TYPE]: { schema: binary }, [ARROW_STREAM_TYPE]: { schema: binary } },
    };
  }
  const model = responseModel(operation) as keyof typeof MODELS;
  const whole = MODELS[model] as { properties?: Readonly<Record<string, unknown>> };
  const schema =
    row.answer === 'bare'
      ? whole.properties?.[row.answerMember as string]
      : reference('schemas', model);
  return { description: 'Done.', content: { [JSON_TYPE]: { schema } } };
}

function errors(row: OperationRow): Json {
  const statuses = new Set<number>([...EVERYWHERE, ...row.errors]);
  if (row.changes || !row.repeatable) statuses.add(422);
  // Bodies that are not asked for are checked too.
  if (row.method === 'POST') for (const status of WITH_BODY) statuses.add(status);
  // A table without data yet cannot be read, which is a conflict.
  if (row.permission !== 'read' || row.path.includes('/table/{id}/')) statuses.add(409);
  return Object.fromEntries(
    [...statuses]
      .sort((left, right) => left - right)
      .map((status) => [status, reference('responses', `Error${status}`)]),
  );
}

function errorResponses(): Json {
  const content = { [JSON_TYPE]: { schema: reference('schemas', 'ErrorResponse') } };
  const waiting = {
    'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer' } },
  };
  return Object.fromEntries(
    Object.entries(ERROR_STATUSES).map(([status, { title }]) => [
      `Error${status}`,
      {
        description: title,
        ...(status === '503' || status === '429' ? { headers: waiting } : {}),
        content,
      },
    ]),
  );
}

function sharedParameters(): Json {
  return {
    id: {
      ...pathParameter('id'),
      description: 'Components joined by the delimiter; the delimiter alone is the root.',
    },
    delimiter: {
      name: 'delimiter',
      in: 'query',
      description:
        'Joins the components of ids. A list leaves out ids whose components contain it, and its context says so.',
      schema: { type: 'string', default: '$', minLength: 1 },
    },
    idempotencyKey: {
      name: IDEMPOTENCY_HEADER,
      in: 'header',
      description: 'Two requests with the same key are one.',
      schema: { type: 'string', maxLength: 255 },
    },
  };
}

/** The parameters of routing headers, by the name of each header. */
function routingParameters({ headers, prefixHeaders }: RoutingHeaders): Record<string, Json> {
  const all = [
    ...headers.map((name) => [name, 'Names the database that the request is for.'] as const),
    ...prefixHeaders.map(
      (name) =>
        [name, 'The namespace that the request sees as its root, joined by "$" or "/".'] as const,
    ),
  ];
  return Object.fromEntries(
    all.map(([name, description]) => [name, headerParameter(name, description)]),
  );
}

function readyItem(): Json {
  const item = ownItem('ready', 'Say whether the server can do its work now');
  const content = { [JSON_TYPE]: { schema: { type: 'object' } } };
  const refused = { description: 'It cannot; the reasons are listed.', content };
  return { ...item, responses: { ...(item.responses as Json), 503: refused } };
}

/** Needs credentials where operations do. */
function metricsItem(): Json {
  const { security: _, ...item } = ownItem(
    'metrics',
    'Measurements in the text format of Prometheus',
  );
  const content = { 'text/plain': { schema: { type: 'string' } } };
  const refused = [401, 403].map((status) => [status, reference('responses', `Error${status}`)]);
  const answered = { 200: { description: 'Measurements.', content } };
  return { ...item, responses: { ...answered, ...Object.fromEntries(refused) } };
}

function ownItem(operationId: string, summary: string): Json {
  const content = { [JSON_TYPE]: { schema: { type: 'object' } } };
  return {
    operationId,
    summary,
    security: [],
    parameters: [],
    responses: { 200: { description: summary, content } },
  };
}
