/** Requests spread over path, query and body come back whole, and bare answers as well. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isDirspaceError } from '../../src/errors.ts';
import {
  type AnyOperation,
  EVERY_OPERATION,
  EVERY_OPERATION_NAMES,
  pathParameters,
  requestModel,
  resourceKind,
  responseModel,
} from '../../src/protocol/every-operation.ts';
import {
  formatAnswer,
  joinRequest,
  jsonText,
  parseAnswer,
  type RequestParts,
  splitRequest,
} from '../../src/protocol/exchange.ts';
import { formatId } from '../../src/protocol/ident.ts';
import type { OperationRow } from '../../src/protocol/operation-row.ts';
import { casesOf } from '../helpers/long.ts';
import { modelArbitrary } from '../helpers/model-arbitrary.ts';

const DELIMITERS = ['$', '.', '::', '-_', 'ab'];
const component = fc
  .stringMatching(/^[A-Za-z0-9_.-]{1,5}$/)
  .filter((text) => text !== '.' && text !== '..');

/** JSON there and back, so that prototypes and the order of members do not count. */
const plain = (value: unknown): unknown =>
  value === undefined ? undefined : JSON.parse(jsonText(value));

/** A query with the members that the wire wants, and a `k` that fits into it. */
function asOnTheWire(query: unknown): void {
  if (typeof query !== 'object' || query === null || !('k' in query)) return;
  Object.assign(query, { k: Number(query.k) % 1000 }, 'vector' in query ? {} : { vector: {} });
}

/** A request as the wire can carry it: legal ids, and nothing that has no place. */
function requestOf(operation: AnyOperation): fc.Arbitrary<Record<string, unknown>> {
  const row: OperationRow = EVERY_OPERATION[operation];
  const named = pathParameters(row.path);
  const minLength = resourceKind(operation) === 'namespace' ? 0 : 1;
  return fc
    .tuple(
      modelArbitrary(requestModel(operation)) as fc.Arbitrary<Record<string, unknown>>,
      fc.array(component, { minLength, maxLength: 3 }),
      fc.string({ minLength: 1, maxLength: 6 }).filter((text) => !/^\.\.?$/.test(text)),
    )
    .map(([drawn, id, index_name]) => {
      const request = { ...drawn };
      if (named.includes('id')) request.id = id;
      else if (row.body !== 'json') delete request.id;
      if (named.includes('index_name')) request.index_name = index_name;
      if (row.body === 'map') request[String(row.bodyMember)] ??= {};
      if (row.body !== 'json') {
        delete request.identity;
        delete request.context;
      }
      for (const query of [request, request.query]) asOnTheWire(query);
      // A server sees the root as the empty namespace that the request named, and no flag beside it.
      delete request.to_root;
      const { on } = row.body === 'json' ? {} : request;
      if (Array.isArray(on) && on.length === 1) request.on = on[0];
      return request;
    });
}

function refusal(
  operation: AnyOperation,
  parts: Partial<RequestParts>,
  delimiter?: string,
): string {
  try {
    joinRequest(operation, { pathParameters: { id: 'a$t' }, query: {}, ...parts }, delimiter);
  } catch (error) {
    if (isDirspaceError(error, 'InvalidInput')) return error.message;
    throw error;
  }
  throw new Error('the request was taken');
}

describe('split and join', () => {
  it.each(EVERY_OPERATION_NAMES)('are inverses for %s', (operation) => {
    fc.assert(
      fc.property(requestOf(operation), fc.constantFrom(...DELIMITERS), (request, wanted) => {
        let delimiter = wanted;
        const id = (request.id ?? []) as string[];
        const isTransaction = resourceKind(operation) === 'transaction';
        try {
          const dots = formatId(id, delimiter);
          if (dots === '.' || dots === '..') delimiter = '$';
          // Ids of transactions are one component with a delimiter that they may hold.
          if (isTransaction && id.length > 1 && /^[\w.-]+$/.test(delimiter)) delimiter = '$';
        } catch {
          if (!isTransaction || id.length > 1) delimiter = '$';
        }
        const sent = splitRequest(operation, request as never, delimiter);
        // What a server sees: the URL parsed, parameters decoded, the body through JSON.
        const url = new URL(sent.path, 'http://localhost');
        expect(url.pathname).toBe(sent.path);
        for (const value of Object.values(sent.pathParameters)) {
          expect(sent.path.split('/').map(decodeURIComponent)).toContain(value);
        }
        expect(sent.query.delimiter).toBe(delimiter === '$' ? undefined : delimiter);
        const parts = { ...sent, body: plain(sent.body) };
        expect(plain(joinRequest(operation, parts, delimiter))).toEqual(plain(request));
      }),
      { numRuns: casesOf(25, 60) },
    );
  });

  it('spread DescribeTable as the specification says', () => {
    const request = {
      id: ['prod', 'a_b'],
      version: 3,
      with_table_uri: true,
      load_detailed_metadata: false,
      check_declared: true,
      vend_credentials: true,
      identity: { api_key: 'k' },
    };
    expect(splitRequest('DescribeTable', request)).toEqual({
      path: '/v1/table/prod%24a_b/describe',
      pathParameters: { id: 'prod$a_b' },
      query: { with_table_uri: 'true', load_detailed_metadata: 'false', check_declared: 'true' },
      body: { version: 3, vend_credentials: true, identity: { api_key: 'k' } },
    });
  });

  it('address the root namespace by the delimiter', () => {
    expect(splitRequest('ListNamespaces', { id: [] }).path).toBe('/v1/namespace/%24/list');
    expect(splitRequest('ListNamespaces', { id: [] }, '::').path).toBe('/v1/namespace/%3A%3A/list');
    expect(
      joinRequest('ListNamespaces', { pathParameters: { id: '$' }, query: { limit: '5' } }),
    ).toEqual({ id: [], limit: 5 });
  });

  it('send properties as JSON and several keys as a repeated parameter', () => {
    expect(splitRequest('CreateTable', { id: ['t'], properties: { a: 'b' } })).toEqual({
      path: '/v1/table/t/create',
      pathParameters: { id: 't' },
      query: { properties: '{"a":"b"}' },
    });
    expect(splitRequest('MergeInsertIntoTable', { id: ['t'], on: ['a', 'b'] }).query).toEqual({
      on: ['a', 'b'],
    });
    expect(splitRequest('MergeInsertIntoTable', { id: ['t'], on: ['a'] }).query).toEqual({
      on: 'a',
    });
  });

  it('send and take a bare map', () => {
    const request = { id: ['t'], branch: 'b', metadata: { k: 'v' } };
    const sent = splitRequest('UpdateTableSchemaMetadata', request);
    expect(sent).toMatchObject({ query: { branch: 'b' }, body: { k: 'v' } });
    expect(joinRequest('UpdateTableSchemaMetadata', sent)).toEqual(request);
  });

  it.each(['.', '..'])('refuse the id %s, which a URL cannot carry', (name) => {
    expect(() => splitRequest('DescribeTable', { id: [name] })).toThrow('cannot be sent');
  });

  it('keep the id of a transaction whole, whatever it has in common with the delimiter', () => {
    const transaction = '0000abcd-1111.key-22';
    for (const delimiter of ['.', '-', '22']) {
      const parts = { pathParameters: { id: transaction }, query: {}, body: {} };
      const { id } = joinRequest('DescribeTransaction', parts, delimiter);
      expect(id).toEqual([transaction]);
      const sent = splitRequest('DescribeTransaction', { id: [transaction] }, delimiter);
      expect(sent.pathParameters.id).toBe(transaction);
    }
    const several = { id: ['a', 'b'] };
    expect(splitRequest('DescribeTransaction', several, '/').pathParameters.id).toBe('a/b');
    expect(() => splitRequest('DescribeTransaction', several, '.')).toThrow(/one component/);
    const illegal = { pathParameters: { id: 'a$b' } };
    expect(refusal('DescribeTransaction', illegal, '.')).toContain('"$"');
    const other = { pathParameters: { id: 'a.b' }, body: { id: ['a', 'b'] } };
    expect(refusal('DescribeTransaction', other, '.')).toContain('not the id in the path');
  });

  it('refuse the root under a delimiter that a URL cannot carry', () => {
    expect(() => splitRequest('ListTables', { id: [] }, '.')).toThrow('cannot be sent');
  });

  it('refuse a table request without an id', () => {
    expect(() => splitRequest('DescribeTable', {})).toThrow('DescribeTable: the request has no id');
    expect(() => splitRequest('DropTableIndex', { id: ['t'] })).toThrow('no index_name');
  });
});

describe('join', () => {
  it('takes an id in the body that agrees, and no body at all', () => {
    const pathParameters = { id: 'a$t' };
    const request = { id: ['a', 't'] };
    const ids = [['a', 't'], null, []];
    for (const body of [undefined, null, {}, ...ids.map((id) => ({ id }))]) {
      expect(joinRequest('DescribeTable', { pathParameters, query: {}, body })).toEqual(request);
      expect(joinRequest('DropTable', { pathParameters, query: {}, body })).toEqual(request);
    }
  });

  it.each([[['a', 'u']], [['a']], [['']], [['a$t']], [['a$u']], [['a$t', '']], ['a$t'], [7], [{}]])(
    'refuses the id %j in the body beside another one in the path',
    (id) => {
      expect(refusal('DescribeTable', { body: { id } })).toContain('not the id in the path');
    },
  );

  it('lets the query count for more than the body', () => {
    expect(
      joinRequest('DescribeTable', {
        pathParameters: { id: 't' },
        query: { check_declared: 'true' },
        body: { check_declared: false, with_table_uri: true },
      }),
    ).toEqual({ id: ['t'], check_declared: true, with_table_uri: true });
  });

  it('takes index names from the path, whatever the body says', () => {
    expect(
      joinRequest('DescribeTableIndexStats', {
        pathParameters: { id: 't', index_name: 'my idx/1' },
        query: {},
        body: { index_name: '' },
      }),
    ).toEqual({ id: ['t'], index_name: 'my idx/1' });
  });

  it.each<[AnyOperation, Partial<RequestParts>, string]>([
    ['DescribeTable', { query: { with_table_uri: '1' } }, '"with_table_uri" is "1"; expected true'],
    ['DescribeTable', { query: { check_declared: ['true', 'true'] } }, 'more than once'],
    ['ListTableTags', { query: { limit: 'x' } }, '"limit" is "x"; expected an integer'],
    ['ListTableTags', { query: { limit: '' } }, '"limit" is ""; expected an integer'],
    ['ListTableTags', { query: { limit: '-1' } }, 'limit is -1; expected an integer >= 0'],
    ['ListTableTags', { query: { limit: '99999999999999999999' } }, 'expected an integer'],
    ['CreateTable', { query: { properties: '{' } }, 'expected a JSON object of strings'],
    ['CreateTable', { query: { properties: '{"a":1}' } }, 'properties.a is 1'],
    ['MergeInsertIntoTable', {}, '"on" is missing'],
    ['DescribeTable', { body: [] }, 'the body is an array'],
    ['DescribeTable', { body: 'x' }, 'the body is a string'],
    ['DescribeTable', { pathParameters: { id: '$' } }, 'the id in the path is the root'],
    ['DescribeTable', { pathParameters: { id: 'a/b' } }, 'has "/" at offset 1'],
    ['DescribeTable', { pathParameters: { id: 'a$$b' } }, 'Component 2, "", is empty'],
    ['DescribeTable', { pathParameters: { id: '' } }, 'the path has no id'],
    ['DropTableIndex', { pathParameters: { id: 't' } }, 'the path has no index_name'],
  ])('%s refuses %j', (operation, parts, message) => {
    expect(refusal(operation, parts)).toContain(message);
  });
});

describe('answers', () => {
  const answered = EVERY_OPERATION_NAMES.filter((name) => responseModel(name) !== undefined);

  it.each(answered)('of %s are read as they were written', (operation) => {
    const row: OperationRow = EVERY_OPERATION[operation];
    const responses = modelArbitrary(responseModel(operation) as 'DropTableResponse');
    fc.assert(
      fc.property(responses, (response) => {
        const member = String(row.answerMember) as never;
        const whole = row.answer === 'bare' ? { [member]: response[member] ?? {} } : response;
        const sent = plain(formatAnswer(operation, whole as never));
        expect(plain(parseAnswer(operation, sent))).toEqual(plain(whole));
      }),
      { numRuns: casesOf(15, 30) },
    );
  });

  it('are bare where the protocol says so', () => {
    expect(formatAnswer('CountTableRows', { count: 7 })).toBe(7);
    expect(formatAnswer('ExplainTableQueryPlan', { plan: 'p' })).toBe('p');
    expect(formatAnswer('UpdateTableSchemaMetadata', { metadata: { a: 'b' } })).toEqual({ a: 'b' });
    expect(parseAnswer('CountTableRows', 7)).toEqual({ count: 7 });
  });

  it('that do not fit are the fault of the server', () => {
    for (const answer of [-1, '7', null, { count: 7 }]) {
      expect(() => parseAnswer('CountTableRows', answer)).toThrow(
        expect.objectContaining({ code: 'Internal' }),
      );
    }
  });
});
