/** What the page gets of a SELECT. */
import { expect, test } from 'vitest';
import { ask, restPair } from '../../helpers/rest-pair.ts';
import { statementCatalog } from '../../statements/catalog.ts';

const served = async (options: object = {}) =>
  restPair({ namespace: (await statementCatalog()).db.namespace, ui: true, ...options });

test('columns with their types, and the rows as cells', async () => {
  const pair = await served();
  const sql = 'SELECT city, count(*) AS n FROM prod.people GROUP BY city ORDER BY city';
  const { status, json } = await ask(pair, 'POST', '/ui/api/sql', { sql });
  expect({ status, json }).toEqual({
    status: 200,
    json: {
      columns: [
        { name: 'city', type: 'utf8' },
        { name: 'n', type: 'int64' },
      ],
      rows: [
        ['Oslo', '2'],
        ['Rome', '2'],
        [null, '1'],
      ],
    },
  });
  const plan = await ask(pair, 'POST', '/ui/api/ExplainSql', { sql });
  expect(plan.json.plan).toContain('Read prod.people: city');
});

test('a thousand rows, and whether there are more', async () => {
  const pair = await served();
  const of = async (rows: number): Promise<{ rows: unknown[]; is_cut?: boolean }> => {
    const people = ['a', 'b', 'c', 'd', 'e'].map((alias) => `prod.people ${alias}`).join(', ');
    const sql = `SELECT 1 AS one FROM ${people} LIMIT ${rows}`;
    return (await ask(pair, 'POST', '/ui/api/sql', { sql })).json;
  };
  const whole = await of(1_000);
  expect([whole.rows.length, whole.is_cut]).toEqual([1_000, undefined]);
  const cut = await of(1_001);
  expect([cut.rows.length, cut.is_cut]).toEqual([1_000, true]);
});

test('rights hold, and mistakes are told', async () => {
  const auth = { apiKeys: [{ key: 'k', name: 'ada', grants: ['read:prod'] as const }] };
  const pair = await served({ auth });
  const key = { 'x-api-key': 'k' };
  const asked = (body: object) => ask(pair, 'POST', '/ui/api/sql', body, key);
  expect((await asked({ sql: 'SELECT id FROM prod.people' })).status).toBe(200);
  expect((await asked({ sql: 'SELECT name FROM cities' })).status).toBe(403);
  expect((await asked({ sql: 'SELECT nope FROM prod.people' })).json.detail).toContain('       ^');
  expect((await asked({})).status).toBe(400);
});
