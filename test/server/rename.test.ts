/**
 * Where a rename over REST puts the table. The protocol's client for Java sends an empty list for
 * every list that its caller did not set, so only `to_root` moves a table to the root.
 */
import { beforeEach, describe, expect, test } from 'vitest';
import { connectNamespace } from '../../src/index.ts';
import { splitRequest } from '../../src/protocol/exchange.ts';
import { ask, type Pair, restPair, someRows } from '../helpers/rest-pair.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

let root: string;
let pair: Pair;

beforeEach(async () => {
  root = temporaryFolder();
  pair = await restPair({ root });
  await pair.client.createNamespace({ id: ['n'] });
  await pair.client.createTable({ id: ['n', 't'] }, someRows(3));
});

const rename = (body: object): ReturnType<typeof ask> =>
  ask(pair, 'POST', '/v1/table/n$t/rename', { new_table_name: 'u', ...body });
const tables = async (): Promise<string[]> => (await pair.client.listAllTables({})).tables;

describe('over REST', () => {
  test.each([
    {},
    { id: [], new_namespace_id: [] },
    { new_namespace_id: null },
    { new_namespace_id: [], to_root: false },
  ])('a rename with %j stays in the namespace of the path', async (body) => {
    expect((await rename(body)).status).toBe(200);
    expect(await tables()).toEqual(['n$u']);
  });

  test.each([{ to_root: true }, { to_root: true, new_namespace_id: [] }])(
    'a rename with %j goes to the root',
    async (body) => {
      expect((await rename(body)).status).toBe(200);
      expect(await tables()).toEqual(['u']);
    },
  );

  test('a rename to the root and to a namespace is refused, and nothing moves', async () => {
    const answer = await rename({ to_root: true, new_namespace_id: ['n'] });
    expect(answer).toMatchObject({ status: 400, json: { code: 13 } });
    expect(answer.json.error).toContain('Give one of them');
    expect(await tables()).toEqual(['n$t']);
  });

  test('the client moves a table to the root, as a catalog in process does', async () => {
    const moved = { id: ['n', 't'], new_table_name: 'u', new_namespace_id: [] };
    await pair.client.renameTable(moved);
    expect(await tables()).toEqual(['u']);
    await using local = await connectNamespace('dir', { root });
    await local.renameTable('u', 'v', { newNamespacePath: ['n'] });
    await local.namespace.renameTable({ id: ['n', 'v'], new_table_name: 'w', to_root: true });
    expect(await tables()).toEqual(['w']);
    const both = { id: ['w'], new_table_name: 'x', to_root: true, new_namespace_id: ['n'] };
    const invalid = { code: 'InvalidInput' };
    await expect(local.namespace.renameTable(both)).rejects.toMatchObject(invalid);
    await expect(pair.client.renameTable(both)).rejects.toMatchObject(invalid);
    expect(await tables()).toEqual(['w']);
  });

  test('a grant on a namespace covers a rename with an empty list, and no move to the root', async () => {
    const { base, fetch } = await restPair({
      root,
      auth: {
        apiKeys: [
          { name: 'n', key: 'key-of-n', grants: [{ namespace: ['n'], permission: 'admin' }] },
        ],
      },
    });
    const post = async (body: object): Promise<number> => {
      const init = {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': 'key-of-n' },
        body: JSON.stringify(body),
      };
      return (await fetch(`${base}/v1/table/n$t/rename`, init)).status;
    };
    expect(await post({ new_table_name: 'u', to_root: true })).toBe(403);
    expect(await post({ new_table_name: 'u', new_namespace_id: [] })).toBe(200);
  });
});

test('on the wire only the root has the member beyond the protocol', () => {
  const sent = (members: object): unknown =>
    splitRequest('RenameTable', { id: ['n', 't'], new_table_name: 'u', ...members }).body;
  expect(sent({})).toEqual({ new_table_name: 'u' });
  expect(sent({ to_root: false })).toEqual({ new_table_name: 'u' });
  expect(sent({ new_namespace_id: ['m'] })).toEqual({
    new_table_name: 'u',
    new_namespace_id: ['m'],
  });
  for (const root of [{ new_namespace_id: [] }, { to_root: true }]) {
    expect(sent(root)).toEqual({ new_table_name: 'u', new_namespace_id: [], to_root: true });
  }
});
