/** Models: every one is well formed, and untrusted JSON is checked and cleaned as documented. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isDirspaceError } from '../../src/errors.ts';
import { jsonText } from '../../src/protocol/exchange.ts';
import { MODELS, type ModelName } from '../../src/protocol/models/index.ts';
import type { JsonSchema } from '../../src/protocol/models/model-schema.ts';
import { CREATE_MODES, DROP_BEHAVIORS, INSERT_MODES, parseMode } from '../../src/protocol/modes.ts';
import { normalize } from '../../src/protocol/normalize.ts';
import { casesOf } from '../helpers/long.ts';
import { modelArbitrary } from '../helpers/model-arbitrary.ts';

const NAMES = Object.keys(MODELS) as ModelName[];

function refusal(model: ModelName, value: unknown): string {
  try {
    normalize(model, value);
  } catch (error) {
    if (isDirspaceError(error, 'InvalidInput')) return error.message;
    throw error;
  }
  throw new Error(`${model} took ${JSON.stringify(value)}`);
}

/** JSON there and back, so that prototypes and order do not count. */
const plain = (value: unknown): unknown => JSON.parse(jsonText(value));

function references(schema: JsonSchema): string[] {
  const inner = [
    ...(schema.anyOf ?? []),
    ...Object.values(schema.properties ?? {}),
    ...(schema.items === undefined ? [] : [schema.items]),
    ...(schema.additionalProperties === undefined ? [] : [schema.additionalProperties]),
  ];
  return [...(schema.$ref === undefined ? [] : [schema.$ref]), ...inner.flatMap(references)];
}

describe('every model', () => {
  it.each(NAMES)('%s refers to models that are there and lists members it has', (name) => {
    const schema = MODELS[name] as JsonSchema;
    for (const reference of references(schema)) {
      expect(Object.keys(MODELS)).toContain(reference.replace('#/components/schemas/', ''));
    }
    const members = Object.keys(schema.properties ?? {});
    for (const required of schema.required ?? []) expect(members).toContain(required);
  });

  it.each(NAMES.filter((name) => name.endsWith('Request')))(
    '%s carries identity and context',
    (name) => {
      const { properties } = MODELS[name] as JsonSchema;
      expect(properties?.identity).toEqual({ $ref: '#/components/schemas/Identity' });
      expect(properties?.context).toEqual({ $ref: '#/components/schemas/Context' });
    },
  );

  it.each(NAMES.filter((name) => name.endsWith('Response')))('%s carries context', (name) => {
    expect((MODELS[name] as JsonSchema).properties?.context).toEqual({
      $ref: '#/components/schemas/Context',
    });
  });

  it.each(NAMES)('%s takes its own values unchanged', (name) => {
    fc.assert(
      fc.property(modelArbitrary(name), (value) => {
        expect(plain(normalize(name, plain(value)))).toEqual(plain(value));
      }),
      { numRuns: casesOf(12, 25) },
    );
  });

  it.each(NAMES)('%s rejects JSON that is no object', (name) => {
    for (const value of [null, 1, 'x', true, [], undefined]) refusal(name, value);
  });

  it.each(NAMES)('%s names each required member that is missing or null', (name) => {
    const { required = [] } = MODELS[name] as JsonSchema;
    const [value] = fc.sample(modelArbitrary(name), { numRuns: 1, seed: 1 });
    for (const member of required) {
      const { [member]: _, ...rest } = value as Record<string, unknown>;
      expect(refusal(name, rest)).toContain(`${member} is missing`);
      expect(refusal(name, { ...rest, [member]: null })).toContain(`${member} is null`);
    }
  });

  it.each(NAMES)('%s takes null for each optional member, and drops it', (name) => {
    const { required = [], properties = {} } = MODELS[name] as JsonSchema;
    const [value] = fc.sample(modelArbitrary(name), { numRuns: 1, seed: 2 });
    for (const member of Object.keys(properties)) {
      if (required.includes(member) || `${name}.${member}` === 'MatchQuery.fuzziness') continue;
      const result = normalize(name, { ...(value as object), [member]: null });
      expect(Object.keys(result)).not.toContain(member);
    }
  });
});

it('null is kept where the model has it as a value', () => {
  const query = { terms: 'x', fuzziness: null };
  expect(normalize('MatchQuery', { ...query, boost: null })).toEqual(query);
});

describe('what is refused names the member', () => {
  it.each<[ModelName, unknown, string]>([
    ['DescribeTableRequest', { version: 'x' }, 'version is "x"; expected an integer >= 0'],
    ['DescribeTableRequest', { version: -1 }, 'version is -1; expected an integer >= 0'],
    ['DescribeTableRequest', { version: 1.5 }, 'version is 1.5; expected an integer >= 0'],
    ['DescribeTableRequest', { version: 2 ** 53 }, 'version is 9007199254740992; expected'],
    ['DescribeTableRequest', { id: 'a$b' }, 'id is "a$b"; expected an array'],
    ['DescribeTableRequest', { id: ['a', 1] }, 'id[1] is 1; expected a string'],
    ['DescribeTableRequest', { with_table_uri: 'true' }, 'with_table_uri is "true"; expected true'],
    ['DescribeTableRequest', { identity: { api_key: 1 } }, 'identity.api_key is 1; expected'],
    ['CreateNamespaceRequest', { properties: { 'a b': 1 } }, 'properties["a b"] is 1; expected'],
    ['CreateNamespaceRequest', { properties: { k: null } }, 'properties.k is null; expected'],
    ['CreateNamespaceRequest', { properties: [] }, 'properties is an array of 0; expected an obj'],
    ['UpdateTableRequest', { updates: [['a', '1'], ['b']] }, 'updates[1] is an array of 1; expec'],
    ['QueryTableRequest', { k: 1, vector: { single_vector: [1, '2'] } }, 'vector.single_vector[1]'],
    ['QueryTableRequest', { k: 2 ** 63 + 2048 }, 'k is 9223372036854778000; expected an integer'],
    ['QueryTableRequest', { k: -1 }, 'k is -1; expected an integer >= 0'],
    ['CreateTableIndexRequest', { column: '', index_type: 'x' }, 'column is ""; expected a string'],
    [
      'CreateTableIndexRequest',
      { column: 'a', index_type: 'x', m: 0 },
      'm is 0; expected an integer >= 1',
    ],
    ['MergeInsertIntoTableRequest', { on: 3 }, 'on is 3; expected a string that is not empty or'],
    ['MergeInsertIntoTableRequest', { on: ['a', ''] }, 'on[1] is ""; expected a string'],
    [
      'CreateMaterializedViewRequest',
      { kind: 'view', source_query: '', output_schema: '' },
      'kind is "view"; expected one of query, udtf, chunker',
    ],
  ])('%s %j', (model, value, message) => {
    expect(refusal(model, value)).toContain(`${model}: ${message}`);
  });

  it('with a message of bounded length', () => {
    const deep = { properties: { ['k'.repeat(100_000)]: 1 }, mode: 'x'.repeat(100_000) };
    expect(refusal('CreateNamespaceRequest', deep).length).toBeLessThan(600);
    expect(refusal('CreateNamespaceRequest', { id: 'x'.repeat(100_000) }).length).toBeLessThan(300);
  });

  it('for models nested beyond reason, without running out of stack', () => {
    const depth = 100_000;
    const text = `${'{"boost":{"positive":'.repeat(depth)}{}${',"negative":{}}}'.repeat(depth)}`;
    expect(refusal('StructuredFtsQuery', { query: JSON.parse(text) })).toContain('nested deeper');
  });
});

describe('what is taken', () => {
  it('lowers k to a safe integer', () => {
    const request = JSON.parse('{"k":9223372036854775807}');
    expect(normalize('QueryTableRequest', request).k).toBe(Number.MAX_SAFE_INTEGER);
    expect(normalize('QueryTableRequest', { k: 10 }).k).toBe(10);
  });

  it('keeps members it does not know', () => {
    const value = { id: ['a'], version: null, novel: { deep: null } };
    expect(normalize('DescribeTableRequest', value)).toEqual({ id: ['a'], novel: { deep: null } });
    expect(value).toHaveProperty('version');
  });

  it('keeps the nulls that remove a key of field metadata', () => {
    const updates = [{ path: 'a', metadata: { k: null, l: 'x' }, replace: null }];
    expect(plain(normalize('UpdateFieldMetadataRequest', { updates }))).toEqual({
      updates: [{ path: 'a', metadata: { k: null, l: 'x' } }],
    });
  });

  it('holds keys of maps as data, whatever their name', () => {
    const json = '{"properties":{"__proto__":"a","constructor":"b"}}';
    const { properties = {} } = normalize('CreateNamespaceRequest', JSON.parse(json));
    expect(Object.keys(properties)).toEqual(['__proto__', 'constructor']);
    expect(Object.entries(properties)).toContainEqual(['__proto__', 'a']);
    expect(properties.toString).toBeUndefined();
    expect(JSON.stringify({ properties })).toBe(json);
  });

  it('takes every integer of 64 bits, signed or not, and no other', () => {
    const taken = [0n, 2n ** 64n - 1n, -1n, -(2n ** 63n), 7n];
    expect(normalize('DeleteRowsRequest', { row_ids: taken }).row_ids).toEqual(taken);
    const mixed = [1n, '2', 3, '-4', 5n];
    expect(normalize('DeleteRowsRequest', { row_ids: mixed }).row_ids).toEqual([
      1n,
      2n,
      3n,
      -4n,
      5n,
    ]);
    expect(mixed[1]).toBe('2');
    for (const bad of [2n ** 64n, -(2n ** 63n) - 1n, 1.5, 'x', null, undefined]) {
      expect(refusal('DeleteRowsRequest', { row_ids: [1n, 2n, bad, 3n] })).toContain('row_ids[2]');
    }
    for (const bad of [Number.NaN, Infinity, '1', 1n]) {
      const vector = { single_vector: [1, -0.5, bad, 3] };
      expect(refusal('QueryTableRequest', { k: 1, vector })).toContain('single_vector[2]');
    }
  });

  it('looks at each of 100,000 row ids once and copies none', () => {
    const row_ids = Array.from(
      { length: 100_000 },
      (_, at) => (BigInt(at % 7) << 32n) + BigInt(at),
    );
    let looks = 0;
    const watched = new Proxy(row_ids, {
      get: (ids, name, receiver) => {
        if (typeof name === 'string' && /^\d/.test(name)) looks++;
        return Reflect.get(ids, name, receiver);
      },
    });
    const request = { id: ['t'], row_ids: watched };
    expect(normalize('DeleteRowsRequest', request)).toBe(request);
    expect(looks).toBe(row_ids.length);
  });

  it('does not copy what it need not change', () => {
    const vector = { single_vector: [1, 2, 3] };
    const request = { k: 1, vector };
    expect(normalize('QueryTableRequest', request)).toBe(request);
  });
});

describe('modes', () => {
  it.each(['ExistOk', 'exist_ok', 'EXIST_OK', 'existok', 'Exist_Ok'])('reads %s', (text) => {
    expect(parseMode(text, CREATE_MODES)).toBe('ExistOk');
  });

  it('takes the first word where there is none', () => {
    expect(parseMode(undefined, CREATE_MODES)).toBe('Create');
    expect(parseMode(undefined, INSERT_MODES)).toBe('Append');
  });

  it('says which words there are', () => {
    expect(() => parseMode('burn', DROP_BEHAVIORS, 'behavior')).toThrow(
      "Invalid behavior 'burn': it is one of restrict, cascade.",
    );
    expect(() => parseMode('', CREATE_MODES)).toThrow('one of create');
  });
});

describe('what 0.13.0 asks of a request', () => {
  it.each([
    ['AlterTransactionRequest', { actions: [] }, 'actions'],
    ['StringFtsQuery', { query: 'a', columns: [''] }, 'columns'],
    ['MatchQuery', { terms: 'a', column: '' }, 'column'],
    ['PhraseQuery', { terms: 'a', column: '' }, 'column'],
    ['MergeInsertIntoTableRequest', { on: [] }, 'on'],
    ['QueryTableRequest', { k: 1, minimum_nprobes: 0 }, 'minimum_nprobes'],
  ] as const)('%s refuses %j', (model, value, member) => {
    expect(refusal(model, value)).toContain(member);
  });
});
