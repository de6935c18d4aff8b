/** Who may describe a transaction: whoever may read its tables, and nobody learns of others. */
import { beforeAll, describe, expect, test } from 'vitest';
import { openDirectoryNamespace } from '../../src/directory/directory-namespace.ts';
import type { Grant } from '../../src/server.ts';
import { ask, type Pair, restPair, someRows } from '../helpers/rest-pair.ts';
import { stubNamespace } from '../helpers/stub-namespace.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

const grant = (permission: Grant['permission'], ...namespace: string[]): Grant => ({
  namespace,
  permission,
});

const apiKeys = [
  { key: 'root-key', name: 'root', grants: [grant('admin')] },
  { key: 'owner-key', name: 'owner', grants: [grant('admin', 'prod')] },
  { key: 'reader-key', name: 'reader', grants: [grant('read', 'prod')] },
  { key: 'narrow-key', name: 'narrow', grants: [grant('read', 'prod', 'a')] },
  { key: 'other-key', name: 'other', grants: [grant('admin', 'production')] },
  { key: 'nobody-key', name: 'nobody', grants: [] },
];

let pair: Pair;
const made: Record<string, string> = {};

const describeAs = (
  name: string,
  transaction: string,
  headers: Record<string, string> = {},
): ReturnType<typeof ask> =>
  ask(
    pair,
    'POST',
    `/v1/transaction/${transaction}/describe`,
    {},
    { 'x-api-key': `${name}-key`, ...headers },
  );

beforeAll(async () => {
  const namespace = await openDirectoryNamespace({ root: temporaryFolder() });
  for (const id of [['prod'], ['secret']]) await namespace.createNamespace({ id });
  const own = await namespace.createTable({ id: ['prod', 'a'] }, someRows());
  const foreign = await namespace.createTable({ id: ['secret', 'c'] }, someRows());
  const batch = (...ids: string[][]) =>
    namespace.batchCommitTables({ operations: ids.map((id) => ({ declare_table: { id } })) });
  made.own = own.transaction_id ?? '';
  made.foreign = foreign.transaction_id ?? '';
  made.batch = (await batch(['prod', 'x'], ['prod', 'y'])).transaction_id ?? '';
  made.mixed = (await batch(['prod', 'z'], ['secret', 'z'])).transaction_id ?? '';
  pair = await restPair({ namespace, auth: { apiKeys } });
});

describe('a transaction is described to', () => {
  test.each([
    ['own', { root: 200, owner: 200, reader: 200, narrow: 200, other: 403, nobody: 403 }],
    ['batch', { root: 200, owner: 200, reader: 200, narrow: 403, other: 403, nobody: 403 }],
    ['foreign', { root: 200, owner: 403, reader: 403, narrow: 403, other: 403, nobody: 403 }],
    ['mixed', { root: 200, owner: 403, reader: 403, narrow: 403, other: 403, nobody: 403 }],
  ])('%s', async (which, expected) => {
    const found = await Promise.all(
      Object.keys(expected).map(async (name) => [
        name,
        (await describeAs(name, made[which] ?? '')).status,
      ]),
    );
    expect(Object.fromEntries(found)).toEqual(expected);
  });

  test('whoever inserts', async () => {
    const inserted = await pair.client.insertIntoTable(
      { id: ['prod', 'a'], identity: { api_key: 'owner-key' } },
      someRows(),
    );
    expect(await describeAs('owner', inserted.transaction_id ?? '')).toMatchObject({
      status: 200,
      json: { status: 'Succeeded', properties: { table: 'prod$a', version: '2' } },
    });
  });

  test('nobody else, who does not learn whether it is there', async () => {
    const mask = (text: string, id: string): string => text.replaceAll(id, '');
    const missing = '00000000-0000-4000-8000-000000000000';
    for (const [there, gone] of [
      [made.mixed ?? '', missing],
      [made.foreign ?? '', `${missing}.${missing}`],
    ] as const) {
      const one = await describeAs('reader', there);
      const two = await describeAs('reader', gone);
      expect([one.status, mask(one.text, there)]).toEqual([403, mask(two.text, gone)]);
    }
  });

  test('the properties of a batch name its tables', async () => {
    expect((await describeAs('reader', made.batch ?? '')).json).toEqual({
      status: 'Succeeded',
      properties: { kind: 'batch', tables: 'prod$x,prod$y' },
    });
  });

  test('a property that a caller sets does not give its transaction other tables', async () => {
    const set = { setPropertyAction: { key: 'table', value: 'prod$a' } };
    const altered = await ask(
      pair,
      'POST',
      `/v1/transaction/${made.foreign}/alter`,
      { actions: [set] },
      { 'x-api-key': 'root-key' },
    );
    expect(altered.status).toBe(400);
    expect((await describeAs('reader', made.foreign ?? '')).status).toBe(403);
  });

  test.each([{ kind: 'batch' }, { tables: '' }, undefined])(
    'only who may read everything, where it does not tell its tables: %j',
    async (properties) => {
      const silent = await restPair({
        namespace: stubNamespace({
          describeTransaction: () => ({ status: 'Succeeded', ...(properties && { properties }) }),
        }),
        auth: { apiKeys },
      });
      const status = async (name: string): Promise<number> =>
        (
          await ask(
            silent,
            'POST',
            '/v1/transaction/00000000/describe',
            {},
            { 'x-api-key': `${name}-key` },
          )
        ).status;
      expect([await status('root'), await status('owner')]).toEqual([200, 403]);
    },
  );

  test('a caller without grants costs the catalog nothing', async () => {
    let asked = 0;
    const counting = await restPair({
      namespace: stubNamespace({ describeTransaction: () => ++asked }),
      auth: { apiKeys },
    });
    const path = `/v1/transaction/${made.own}/describe`;
    expect((await ask(counting, 'POST', path, {}, { 'x-api-key': 'nobody-key' })).status).toBe(403);
    expect(asked).toBe(0);
  });
});

describe('below a database prefix', () => {
  const below = { 'x-service-database-prefix': 'prod' };

  test('names are relative to it', async () => {
    expect((await describeAs('root', made.own ?? '', below)).json.properties.table).toBe('a');
    expect((await describeAs('reader', made.batch ?? '', below)).json.properties.tables).toBe(
      'x,y',
    );
    expect((await describeAs('root', made.mixed ?? '', below)).json.properties.tables).toBe('z');
  });

  test('so is the table whose id is before that of its transaction', async () => {
    const own = `a$${made.own}`;
    expect((await describeAs('root', own, below)).json.properties.table).toBe('a');
    expect((await describeAs('root', `prod$${own}`, below)).status).toBe(404);
    expect((await describeAs('root', `prod$${own}`)).json.properties.table).toBe('prod$a');
    expect((await describeAs('root', `x$${made.batch}`, below)).status).toBe(200);
    const path = `/v1/transaction/${own}/alter`;
    const actions = [{ setPropertyAction: { key: 'named', value: 'v' } }];
    const headers = { 'x-api-key': 'root-key', ...below };
    expect((await ask(pair, 'POST', path, { actions }, headers)).status).toBe(200);
  });

  test('transactions of other tables are not found, and not altered', async () => {
    expect((await describeAs('root', made.foreign ?? '', below)).status).toBe(404);
    const path = `/v1/transaction/${made.foreign}/alter`;
    const actions = [{ setPropertyAction: { key: 'k', value: 'v' } }];
    const headers = { 'x-api-key': 'root-key' };
    expect((await ask(pair, 'POST', path, { actions }, { ...headers, ...below })).status).toBe(404);
    expect((await describeAs('root', made.foreign ?? '')).json.properties).not.toHaveProperty('k');
    const own = `/v1/transaction/${made.own}/alter`;
    expect(
      (await ask(pair, 'POST', own, { actions }, { ...headers, ...below })).json,
    ).toMatchObject({ properties: { k: 'v', table: 'a' } });
  });
});
