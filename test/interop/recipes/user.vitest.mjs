import { fixture } from 'dirspace/testing';
import { afterAll, beforeEach, expect, test } from 'vitest';

const server = await fixture({ seed: 'seed.json' });
beforeEach(() => server.reset());
afterAll(() => server.close());

const count = () =>
  fetch(`${server.url}/v1/table/prod$user/count_rows`, { method: 'POST' }).then((answer) =>
    answer.json(),
  );

test('deletes a user', async () => {
  const users = await server.catalog.openTable('user', ['prod']);
  await users.delete("name = 'Ada'");
  expect(await count()).toBe(1);
});

test('begins anew', async () => {
  expect(await count()).toBe(2);
  expect(server.requests()).toMatchObject([{ operation: 'CountTableRows', status: 200 }]);
});
