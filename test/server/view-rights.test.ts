/** Who may create a view has to be allowed to read its source: else it would be read through the view. */
import { expect, test } from 'vitest';
import { connect } from '../../src/sdk/connect.ts';
import { createServer } from '../../src/server.ts';
import { memoryFs } from '../helpers/catalogs.ts';

test('a view of a table that its creator may not read is refused', async () => {
  const db = await connect('/c', { fs: memoryFs() });
  for (const name of ['own', 'other']) {
    await db.createNamespace([name]);
    await db.createTable('t', [{ x: 1 }], [name] as never);
  }
  const grants = [{ namespace: ['own'], permission: 'write' as const }];
  const auth = { apiKeys: [{ key: 'ann-key', name: 'ann', grants }] };
  await using server = await createServer({
    namespace: db.namespace,
    auth,
    limits: { maxEventLoopDelayMs: 0 },
  });
  const create = async (source_namespace: string[], more: object = {}): Promise<number> => {
    const body = {
      kind: 'query',
      output_schema: '',
      source_query: JSON.stringify({ source_table: 't', source_namespace }),
      ...more,
    };
    const headers = { 'x-api-key': 'ann-key', 'content-type': 'application/json' };
    const url = 'http://x/v1/materialized_view/own$v/create';
    const init = { method: 'POST', headers, body: JSON.stringify(body) };
    return (await server.fetch(url, init)).status;
  };
  expect(await create(['other'])).toBe(403);
  expect(await create(['own'], { source_id: ['other', 't'] })).toBe(403);
  expect(await create(['own'])).toBe(201);
});
