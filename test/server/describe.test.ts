/**
 * The tables of the specification for describing a table: one test for each member of the request
 * and of the answer, named after it.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import {
  Field,
  FixedSizeList,
  Float32,
  Int32,
  recordBatchStream,
  Schema,
  Struct,
  Utf8,
} from '../../src/arrow/apache.ts';
import { RestNamespace } from '../../src/client/client.ts';
import { openDirectoryNamespace } from '../../src/directory/directory-namespace.ts';
import { memoryFs } from '../helpers/catalogs.ts';
import { type Answered, ask, type Pair, restPair } from '../helpers/rest-pair.ts';
import { type Answers, stubNamespace } from '../helpers/stub-namespace.ts';
import { people } from '../suites/namespace/context.ts';

let plain: Pair;
let managed: Pair;

async function catalog(managedVersioning: boolean): Promise<Pair> {
  const namespace = await openDirectoryNamespace({
    root: '/catalog',
    fs: memoryFs(),
    managedVersioning,
    credentialVendor: async () => ({ token: 'vended', expires_at_millis: '1700000000000' }),
  });
  await namespace.createNamespace({ id: ['prod'] });
  const id = ['prod', 'user'];
  await namespace.createTable({ id, properties: { kind: 'x' } }, people(3));
  await namespace.createTableTag({ id, tag: 'first', version: 1 });
  await namespace.insertIntoTable({ id }, people(2, 3));
  await namespace.deleteFromTable({ id, predicate: 'id = 0' });
  await namespace.createTableBranch({ id, name: 'dev' });
  await namespace.insertIntoTable({ id, branch: 'dev' }, people(1, 9));
  await namespace.declareTable({ id: ['prod', 'declared'] });
  return restPair({ namespace });
}

beforeAll(async () => {
  plain = await catalog(false);
  managed = await catalog(true);
});

const described = (body: unknown, query = '', name = 'user', pair = plain): Promise<Answered> =>
  ask(pair, 'POST', `/v1/table/prod$${name}/describe${query}`, body);

const DETAILED = '?load_detailed_metadata=true';

/** The request that a catalog hears of. */
async function heard(body: unknown, query = ''): Promise<unknown> {
  let request: unknown;
  const hear = (found: unknown): object => {
    request = found;
    return {};
  };
  const namespace = stubNamespace({ describeTable: hear } as Answers);
  const answer = await ask(
    await restPair({ namespace }),
    'POST',
    `/v1/table/t/describe${query}`,
    body,
  );
  expect(answer.status).toBe(200);
  return request;
}

const refused = { status: 400, json: { code: 13, type: '/errors/bad-request' } };

describe('request', () => {
  test('no member is needed, nor a body', async () => {
    for (const body of [{}, null, undefined]) expect((await described(body)).status).toBe(200);
  });

  test('identity: an object with api_key and auth_token', async () => {
    const identity = { api_key: 'k', auth_token: 't' };
    expect(await heard({ identity })).toEqual({ id: ['t'], identity });
    for (const wrong of ['k', { api_key: 1 }, { auth_token: [] }]) {
      expect(await described({ identity: wrong })).toMatchObject(refused);
    }
  });

  test('context: an object of strings, passed on', async () => {
    expect(await heard({ context: { a: 'b' } })).toEqual({ id: ['t'], context: { a: 'b' } });
    for (const wrong of ['a', { a: 1 }]) {
      expect(await described({ context: wrong })).toMatchObject(refused);
    }
  });

  test('id: the components, which agree with the path', async () => {
    for (const id of [['prod', 'user'], []]) {
      expect((await described({ id })).status).toBe(200);
    }
    for (const id of [['prod', 'other'], ['prod$user'], 'prod$user', ['']]) {
      expect(await described({ id })).toMatchObject(refused);
    }
  });

  test('version: an integer >= 0; the latest if absent', async () => {
    expect((await described({ version: 1 }, DETAILED)).json.version).toBe(1);
    expect((await described({}, DETAILED)).json.version).toBe(3);
    for (const version of [-1, 1.5, '1', true]) {
      const answer = await described({ version });
      expect(answer).toMatchObject(refused);
      expect(answer.json.detail).toContain('version');
    }
    for (const version of [0, 99]) {
      expect(await described({ version })).toMatchObject({ status: 404, json: { code: 11 } });
    }
  });

  test('tag: the version it names; not beside version or branch', async () => {
    expect((await described({ tag: 'first' }, DETAILED)).json.version).toBe(1);
    expect(await described({ tag: 'none' })).toMatchObject({ status: 404, json: { code: 8 } });
    for (const other of [{ version: 1 }, { branch: 'dev' }]) {
      expect(await described({ tag: 'first', ...other })).toMatchObject(refused);
    }
  });

  test('branch: the main branch if absent', async () => {
    expect((await described({ branch: 'dev' }, DETAILED)).json.version).toBe(4);
    expect((await described({ branch: 'main' }, DETAILED)).json.version).toBe(3);
    expect(await described({ branch: 'none' })).toMatchObject({ status: 404, json: { code: 22 } });
  });

  test.each(['with_table_uri', 'load_detailed_metadata', 'check_declared'])(
    '%s: a boolean, in the query or in the body',
    async (member) => {
      expect(await heard({}, `?${member}=true`)).toEqual({ id: ['t'], [member]: true });
      expect(await heard({}, `?${member}=false`)).toEqual({ id: ['t'], [member]: false });
      expect(await heard({ [member]: true })).toEqual({ id: ['t'], [member]: true });
      expect(await heard({})).toEqual({ id: ['t'] });
      expect(await described({}, `?${member}=yes`)).toMatchObject(refused);
      expect(await described({ [member]: 'yes' })).toMatchObject(refused);
    },
  );

  test('vend_credentials: a boolean, in the body', async () => {
    expect(await heard({ vend_credentials: true })).toEqual({ id: ['t'], vend_credentials: true });
    expect(await described({ vend_credentials: 1 })).toMatchObject(refused);
  });

  test('the client sends the three of the query there, and the rest in the body', async () => {
    const sent: [string, unknown][] = [];
    const client = new RestNamespace({
      uri: 'http://x/base/',
      fetch: async (url, init) => {
        sent.push([url, JSON.parse(String(init.body))]);
        return new Response('{}');
      },
    });
    await client.describeTable({
      id: ['a', 'b'],
      with_table_uri: true,
      load_detailed_metadata: false,
      check_declared: true,
      vend_credentials: true,
    });
    const query = 'with_table_uri=true&load_detailed_metadata=false&check_declared=true';
    const address = `http://x/base/v1/table/a%24b/describe?${query}`;
    expect(sent).toEqual([[address, { vend_credentials: true }]]);
  });
});

describe('answer', () => {
  const json = async (...asked: Parameters<typeof described>) => (await described(...asked)).json;

  test('context: what the catalog says', async () => {
    const namespace = stubNamespace({ describeTable: () => ({ context: { a: 'b' } }) } as Answers);
    const pair = await restPair({ namespace });
    const answer = await ask(pair, 'POST', '/v1/table/t/describe', {});
    expect(answer.json).toEqual({ context: { a: 'b' } });
  });

  const detailed: readonly (readonly [member: string, value: unknown])[] = [
    ['table', 'user'],
    ['namespace', ['prod']],
    ['version', 3],
    ['schema', { fields: expect.any(Array) }],
    ['stats', { num_deleted_rows: 1, num_fragments: 2 }],
    ['metadata', {}],
  ];
  test.each(detailed)('%s: only with load_detailed_metadata', async (member, value) => {
    expect((await json({}, DETAILED))[member]).toEqual(value);
    expect(await json({ load_detailed_metadata: false })).not.toHaveProperty(member);
    expect(await json({})).not.toHaveProperty(member);
  });

  test('location: always, a place in the storage', async () => {
    for (const query of ['', DETAILED]) {
      expect((await json({}, query)).location).toBe('/catalog/prod/user.table');
    }
  });

  test('table_uri: a complete URI, only with with_table_uri', async () => {
    expect((await json({}, '?with_table_uri=true')).table_uri).toMatch(/^file:\/\/\/catalog\//);
    expect(await json({}, '?with_table_uri=false')).not.toHaveProperty('table_uri');
    expect(await json({})).not.toHaveProperty('table_uri');
  });

  test('storage_options: those vended, and when they expire, where they are asked for', async () => {
    expect((await json({ vend_credentials: true })).storage_options).toEqual({
      token: 'vended',
      expires_at_millis: '1700000000000',
    });
    for (const body of [{}, { vend_credentials: false }]) {
      expect(await json(body)).not.toHaveProperty('storage_options');
    }
  });

  test('properties: an object of strings, empty where none are set', async () => {
    expect((await json({})).properties).toEqual({ kind: 'x' });
    expect((await json({}, '', 'declared')).properties).toEqual({});
  });

  test('managed_versioning: whether versions are made through the catalog', async () => {
    expect((await json({}, '', 'declared')).managed_versioning).toBe(false);
    // Lance's clients ask the catalog for its versions, and not the folder.
    expect((await json({})).managed_versioning).toBe(true);
    expect((await json({}, '', 'user', managed)).managed_versioning).toBe(true);
  });

  test('is_only_declared: true where there is no data yet', async () => {
    expect((await json({}, '?check_declared=true', 'declared')).is_only_declared).toBe(true);
  });

  test('is_only_declared: false where there is', async () => {
    expect((await json({}, '?check_declared=true')).is_only_declared).toBe(false);
    expect((await json({}, DETAILED)).is_only_declared).toBe(false);
  });

  test('is_only_declared: absent where it was not checked', async () => {
    for (const name of ['user', 'declared']) {
      expect((await json({}, '', name)).is_only_declared ?? null).toBeNull();
    }
  });

  test('schema: fields with name, nullable, type and metadata; types with fields and length', async () => {
    const schema = new Schema(
      [
        new Field('v', new FixedSizeList(2, new Field('item', new Float32(), true)), false),
        new Field('s', new Struct([new Field('a', new Utf8(), true)]), true, new Map([['k', 'w']])),
        new Field('i', new Int32(), true),
      ],
      new Map([['whole', 'table']]),
    );
    await plain.client.createTable({ id: ['shaped'] }, recordBatchStream(schema, []));
    const answer = await ask(plain, 'POST', `/v1/table/shaped/describe${DETAILED}`, {});
    expect(answer.json.schema).toEqual({
      fields: [
        {
          name: 'v',
          nullable: false,
          type: {
            type: 'fixed_size_list',
            length: 2,
            fields: [{ name: 'item', nullable: true, type: { type: 'float32' } }],
          },
        },
        {
          name: 's',
          nullable: true,
          type: {
            type: 'struct',
            fields: [{ name: 'a', nullable: true, type: { type: 'utf8' } }],
          },
          metadata: { k: 'w' },
        },
        { name: 'i', nullable: true, type: { type: 'int32' } },
      ],
      metadata: { whole: 'table' },
    });
  });
});
