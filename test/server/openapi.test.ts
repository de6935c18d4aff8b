/** The OpenAPI document: whole, true to the routes, and true to what the server answers. */
import { beforeAll, describe, expect, test } from 'vitest';
import { EVERY_OPERATION, EVERY_OPERATION_NAMES } from '../../src/protocol/every-operation.ts';
import { FORM_ROUTES } from '../../src/protocol/extension-operations.ts';
import { MODELS } from '../../src/protocol/models/index.ts';
import type { OperationRow } from '../../src/protocol/operation-row.ts';
import { ALIAS_ROUTES } from '../../src/protocol/operations.ts';
import { openApiDocument } from '../../src/server/openapi.ts';
import { operationRoutes } from '../../src/server/route-table.ts';
import type { Services } from '../../src/server/routes.ts';
import type { ServerOptions } from '../../src/server.ts';
import { ARROW, ask, type Pair, restPair } from '../helpers/rest-pair.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

type Json = Readonly<Record<string, unknown>>;

interface Parameter {
  readonly $ref?: string;
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema: Json;
}

interface Item {
  readonly operationId: string;
  readonly summary: string;
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Json }>> };
  readonly responses: Readonly<Record<string, Json>>;
}

const document = JSON.parse(JSON.stringify(openApiDocument())) as Json & {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Item>>>>;
  readonly components: Readonly<Record<string, Json>>;
};

const items = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, item]) => ({ path, method, item })),
);

function* nodes(value: unknown, at = '#'): Generator<readonly [string, Json]> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield [at, value as Json];
  for (const [name, member] of Object.entries(value)) yield* nodes(member, `${at}/${name}`);
}

function resolve(reference: string): unknown {
  expect(reference).toMatch(/^#\//);
  return reference
    .slice(2)
    .split('/')
    .reduce((node: unknown, name) => (node as Json | undefined)?.[name], document);
}

const parametersOf = ({ parameters }: Item): Parameter[] =>
  parameters.map((one) => (one.$ref === undefined ? one : (resolve(one.$ref) as Parameter)));

describe('the document', () => {
  test('has what OpenAPI 3.1 asks for', () => {
    expect(document.openapi).toMatch(/^3\.1\.\d$/);
    expect(document.info).toMatchObject({ title: expect.any(String), version: expect.any(String) });
    const known = ['openapi', 'info', 'servers', 'security', 'paths', 'components'];
    expect(Object.keys(document).sort()).toEqual(known.sort());
    const { schemas, responses, parameters, securitySchemes, ...rest } = document.components;
    expect(rest).toEqual({});
    for (const part of [schemas, responses, parameters, securitySchemes]) {
      for (const name of Object.keys(part as Json)) expect(name).toMatch(/^[\w.-]+$/);
    }
    for (const scheme of (document.security as Json[]).flatMap((one) => Object.keys(one))) {
      expect(securitySchemes).toHaveProperty(scheme);
    }
  });

  test('every reference resolves', () => {
    let found = 0;
    for (const [at, node] of nodes(document)) {
      if (typeof node.$ref !== 'string') continue;
      found++;
      expect(resolve(node.$ref), `${at}: ${node.$ref}`).toBeTypeOf('object');
    }
    expect(found).toBeGreaterThan(500);
  });

  test('every model is there, and uses words of JSON Schema only', () => {
    const { schemas } = document.components as { schemas: Json };
    expect(Object.keys(schemas).sort()).toEqual(Object.keys(MODELS).sort());
    const words = new Set([
      ...['$ref', 'type', 'enum', 'const', 'anyOf', 'items', 'minItems', 'maxItems', 'minLength'],
      ...['minimum', 'maximum', 'pattern', 'format', 'properties', 'required'],
      'additionalProperties',
    ]);
    const walk = (schema: Json, at: string): void => {
      for (const word of Object.keys(schema)) expect(words, `${at}: ${word}`).toContain(word);
      const properties = (schema.properties ?? {}) as Record<string, Json>;
      for (const name of (schema.required ?? []) as string[]) {
        expect(properties, at).toHaveProperty([name]);
      }
      for (const [name, inner] of Object.entries(properties)) walk(inner, `${at}.${name}`);
      for (const inner of (schema.anyOf ?? []) as Json[]) walk(inner, `${at}|`);
      for (const word of ['items', 'additionalProperties']) {
        if (schema[word] !== undefined) walk(schema[word] as Json, `${at}[]`);
      }
    };
    for (const [name, schema] of Object.entries(schemas)) walk(schema as Json, name);
  });

  test('it has every route once, and no other', () => {
    const rows = EVERY_OPERATION_NAMES.map((name) => EVERY_OPERATION[name]);
    const own = ['GET /health', 'GET /ready', 'GET /metrics', 'GET /openapi.json'];
    const named = ({ method, path }: { method: string; path: string }): string =>
      `${method.toUpperCase()} ${path}`;
    const served = operationRoutes({} as Services).map(named);
    expect(items.map(named).sort()).toEqual([...served, ...own].sort());
    expect(served).toEqual(expect.arrayContaining([...rows, ...ALIAS_ROUTES].map(named)));
    const ids = items.map(({ item }) => item.operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('every parameter of a path is declared, and no parameter twice', () => {
    for (const { path, item } of items) {
      const parameters = parametersOf(item);
      const inPath = parameters.filter((one) => one.in === 'path');
      expect(inPath.map(({ name }) => name).sort(), path).toEqual(
        Array.from(path.matchAll(/\{(\w+)\}/g), (match) => match[1]).sort(),
      );
      for (const { required } of inPath) expect(required).toBe(true);
      const names = parameters.map((one) => `${one.in} ${one.name}`);
      expect(new Set(names).size, path).toBe(names.length);
      for (const one of parameters) expect(one.schema, `${path} ${one.name}`).toBeTypeOf('object');
    }
  });

  test.each(EVERY_OPERATION_NAMES)('%s has all its answers', (operation) => {
    const row: OperationRow = EVERY_OPERATION[operation];
    const { item } = items.find((one) => one.item.operationId === operation) as { item: Item };
    const { responses, requestBody } = item;
    const body = row.method === 'GET' ? [] : [413, 415];
    const onTable = row.path.includes('/table/{id}/');
    const writes = row.permission === 'read' && !onTable ? [] : [409];
    const errors = new Set([
      400,
      401,
      403,
      404,
      406,
      421,
      429,
      500,
      503,
      ...row.errors,
      ...(row.repeatable && !row.changes ? [] : [422]),
      ...body,
      ...writes,
    ]);
    expect(Object.keys(responses).map(Number)).toEqual([
      row.status,
      ...[...errors].sort((a, b) => a - b),
    ]);
    expect(requestBody === undefined).toBe(row.body === 'none');
    for (const status of errors) {
      const error = resolve(String(responses[status]?.$ref)) as Json & { headers?: Json };
      expect(error).toMatchObject({
        description: expect.any(String),
        content: { 'application/json': { schema: { $ref: '#/components/schemas/ErrorResponse' } } },
      });
      expect(error.headers?.['Retry-After'] !== undefined).toBe(status === 429 || status === 503);
    }
  });
});

describe('routes in a form of their own', () => {
  const itemOf = (operationId: string): Item =>
    items.find(({ item }) => item.operationId === operationId)?.item as Item;
  const shortOf = (operationId: string): unknown => {
    const { parameters, requestBody, responses } = itemOf(operationId);
    const named = parameters
      .map((one) => (one.$ref === undefined ? one : (resolve(one.$ref) as Parameter)))
      .map((one) => `${one.in} ${one.name}${one.required ? '!' : ''}`);
    const body = Object.keys(requestBody?.content ?? {});
    return { parameters: named, body, answers: Object.keys(responses) };
  };

  test('the bytes of a blob', () => {
    const errors = ['400', '401', '403', '404', '406', '409', '421', '429', '500', '503'];
    expect(shortOf('ReadBlobBytes')).toEqual({
      parameters: [
        ...['path id!', 'path column!', 'path row_id!', 'query delimiter', 'query version'],
        ...['query branch', 'query incarnation', 'header Range', 'header If-Range'],
      ],
      body: [],
      answers: ['200', '204', '206', '416', ...errors].sort(),
    });
    const { responses } = itemOf('ReadBlobBytes');
    expect(responses[206]).toMatchObject({
      headers: { 'Content-Range': { schema: { type: 'string' } } },
      content: { 'application/octet-stream': { schema: { format: 'binary' } } },
    });
    expect(responses[204]).not.toHaveProperty('content');
    expect(responses[416]).not.toHaveProperty('content');
  });

  test('inserts in parts', () => {
    const inPath = ['path id!', 'query delimiter'];
    const of = ['query branch', 'query incarnation'];
    const upload = 'query upload_id!';
    for (const [name, query, body] of [
      ['BeginInsertInParts', [], []],
      [
        'InsertPart',
        [upload, 'query upload_part_id!', 'query mode'],
        ['application/vnd.apache.arrow.stream'],
      ],
      ['CompleteInsertInParts', [upload], []],
      ['AbortInsertInParts', [upload], []],
    ] as const) {
      expect(shortOf(name)).toMatchObject({ parameters: [...inPath, ...query, ...of], body });
      expect(Object.keys(itemOf(name).responses)).toEqual(
        expect.arrayContaining(['200', '400', '404', '409', '413', '415', '429']),
      );
    }
    const schema = { $ref: '#/components/schemas/InsertIntoTableResponse' };
    expect(itemOf('CompleteInsertInParts').responses[200]).toMatchObject({
      content: { 'application/json': { schema } },
    });
  });

  test('a server takes the parameters that are listed, and no others', async () => {
    const pair = await restPair({ root: temporaryFolder() });
    for (const [name, { method, path, query, takesData }] of Object.entries(FORM_ROUTES)) {
      const url = path.replace('{id}', 'none').replace(/\{\w+\}/g, '1');
      const listed = Object.fromEntries(
        Object.entries(query).map(([one, { type }]) => [one, type === 'integer' ? '1' : 'a']),
      );
      const body = takesData ? new Uint8Array(9) : undefined;
      const headers = takesData ? ARROW : {};
      const send = (more: string): ReturnType<typeof ask> =>
        ask(pair, method, `${url}?${new URLSearchParams(listed)}${more}`, body, headers);
      expect((await send('')).json.error, name).not.toContain('no query parameter');
      expect((await send('&other=1')).json.error, name).toContain('no query parameter "other"');
    }
  });
});

describe('the server', () => {
  let pair: Pair;
  beforeAll(async () => {
    pair = await restPair({ root: temporaryFolder() });
  });

  test('answers with the document', async () => {
    const answer = await ask(pair, 'GET', '/openapi.json');
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    const prefixHeaders = ['x-service-database-prefix', 'x-lancedb-database-prefix'];
    expect(answer.json).toEqual(openApiDocument({ headers: [], prefixHeaders }));
  });

  test('names the headers of databases, also those that were configured', async () => {
    const headersOf = async (options: ServerOptions): Promise<Record<string, string[]>> => {
      const { json } = await ask(await restPair(options), 'GET', '/openapi.json');
      const { parameters } = json.components;
      return Object.fromEntries(
        EVERY_OPERATION_NAMES.map((name) => {
          const { path, method } = EVERY_OPERATION[name];
          const found: Parameter[] = json.paths[path][method.toLowerCase()].parameters.map(
            (one: Parameter) => parameters[one.$ref?.split('/').at(-1) ?? ''] ?? one,
          );
          const names = found.filter((one) => one.in === 'header').map((one) => one.name);
          return [name, names.filter((header) => header !== 'idempotency-key')];
        }),
      );
    };
    const every = (names: string[]): Record<string, string[]> =>
      Object.fromEntries(EVERY_OPERATION_NAMES.map((name) => [name, names]));
    const prefixes = ['x-service-database-prefix', 'x-lancedb-database-prefix'];
    expect(await headersOf({ databasesRoot: temporaryFolder() })).toEqual(
      every(['x-service-database', 'x-lancedb-database', ...prefixes]),
    );
    expect(await headersOf({ root: temporaryFolder() })).toEqual(every(prefixes));
    const databaseRouting = { headers: ['X-Db'], prefixHeaders: ['x-under'] };
    expect(await headersOf({ databasesRoot: temporaryFolder(), databaseRouting })).toEqual(
      every(['x-db', 'x-under']),
    );
  });

  test.each(
    items.map(({ path, method, item }) => [`${method} ${path}`, path, method, item] as const),
  )('%s answers nothing that is not in it', async (_, path, method, { responses }) => {
    const requests: readonly [unknown, Record<string, string>][] = [
      [undefined, {}],
      [{}, {}],
      [{ id: 5, version: -1, k: 'x', filter: {} }, {}],
      ['{', { 'content-type': 'application/json' }],
      ['text', { 'content-type': 'text/plain' }],
      [new Uint8Array(9), { 'content-type': 'application/vnd.apache.arrow.stream' }],
    ];
    for (const id of ['missing', '%24', 'a%24%24b', 'x'.repeat(300)]) {
      const url = path.replaceAll(/\{\w+\}/g, id);
      for (const [body, headers] of method === 'get' ? requests.slice(0, 1) : requests) {
        const { status } = await ask(pair, method.toUpperCase(), url, body, headers);
        expect(Object.keys(responses), `${url} ${JSON.stringify(body)}`).toContain(String(status));
      }
    }
  });
});
