import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { fixture } from 'dirspace/testing';

const server = await fixture({ seed: 'seed.json' });
beforeEach(() => server.reset());
after(() => server.close());

test('is told that the server is unavailable', async () => {
  server.setFaults([{ operation: 'ListTables', kind: 'unavailable', times: 1 }]);
  const list = `${server.url}/v1/namespace/prod/table/list`;
  assert.equal((await fetch(list)).status, 503);
  assert.deepEqual(await (await fetch(list)).json(), { tables: ['user'] });
});

test('begins anew', async () => {
  const users = await server.catalog.openTable('user', ['prod']);
  assert.equal(await users.countRows(), 2);
});
