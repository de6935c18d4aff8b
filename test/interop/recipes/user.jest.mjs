import { fixture } from 'dirspace/testing';

let server;
beforeAll(async () => {
  server = await fixture({ seed: 'seed.json' });
});
beforeEach(() => server.reset());
afterAll(() => server.close());

test('deletes a user', async () => {
  const users = await server.catalog.openTable('user', ['prod']);
  await users.delete("name = 'Ada'");
  expect(await users.countRows()).toBe(1);
});

test('begins anew', async () => {
  const users = await server.catalog.openTable('user', ['prod']);
  expect(await users.countRows()).toBe(2);
});
