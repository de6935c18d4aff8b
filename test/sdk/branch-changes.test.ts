/** Comparing a branch with main and bringing it over, through the SDK and as LanceDB's clients ask for it. */
import { expect, test } from 'vitest';
import { connect, connectNamespace } from '../../src/sdk/connect.ts';
import { createServer } from '../../src/server.ts';
import { memoryFs } from '../helpers/catalogs.ts';

test('a field of a struct is compared, however many the struct has', async () => {
  const db = await connect('/c', { fs: memoryFs(), lance: 'off' });
  const wide = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`member${at}`, at]));
  const table = await db.createTable('t', [{ id: 1, s: wide }]);
  const branches = await table.branches();
  const branch = await branches.create('b');
  expect(await branches.diff('b')).toMatchObject({ changedColumns: [] });
  await branch.addColumns([{ name: 's.late', valueSql: '1' }]);
  expect(await branches.diff('b')).toMatchObject({ changedColumns: [{ name: 's' }] });
});

test.each(['a directory', 'a server'])('over %s', async (kind) => {
  const local = await connect('/c', { fs: memoryFs() });
  await using server = await createServer({
    namespace: local.namespace,
    limits: { maxEventLoopDelayMs: 0 },
  });
  const fetch = (url: string, init: RequestInit) => server.fetch(url, init);
  const remote = () => connectNamespace('rest', { uri: 'http://x' }, { fetch } as never);
  const db = kind === 'a directory' ? local : await remote();
  const table = await db.createTable('t', [{ id: 1 }, { id: 2 }]);
  const branches = await table.branches();
  const branch = await branches.create('b');
  await branch.addColumns([{ name: 'twice', valueSql: 'id * 2' }]);
  await branch.add([{ id: 3, twice: 6 }]);
  const diff = await branches.diff('b');
  expect(diff).toMatchObject({
    fromBranch: 'b',
    parentVersion: 1,
    mainVersion: 1,
    branchVersion: 3,
    baseMoved: false,
    rowCountMain: 2,
    rowCountBranch: 3,
    addedColumns: [{ name: 'twice', dataType: 'float64', nullable: true }],
    errors: [],
  });
  const preview = await branches.cherryPick('b', true);
  expect(preview).toEqual({ status: 'ready', diff, preview: { promotedColumns: ['twice'] } });
  const done = await branches.cherryPick('b');
  expect(done).toMatchObject({ status: 'cherryPicked', mainVersionAfter: 2 });
  expect(await table.query().toArray()).toEqual(await branch.query().toArray());
  expect(await branches.cherryPick('b')).toMatchObject({
    status: 'failed',
    preview: { promotedColumns: [] },
    diff: { errors: [{ code: 'NO_CHANGES' }] },
  });
  const asked = { from_branch: 'b' };
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'LanceDB-Node-Client/0.39.0',
  };
  const init = { method: 'POST', headers, body: JSON.stringify(asked) };
  const told = await server.fetch('http://x/v1/table/t/branches/diff/', init);
  expect(await told.json()).toEqual({ ...(await branches.diff('b')) });
  const picked = await server.fetch('http://x/v1/table/t/branches/cherry_pick/', init);
  expect(await picked.json()).toEqual({ ...(await branches.cherryPick('b')) });
  await local.close();
});
