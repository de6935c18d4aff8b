/** SELECT over REST: rights on each table that a statement reads, and the namespace of a database. */
import { tableFromIPC } from 'apache-arrow';
import { describe, expect, test } from 'vitest';
import { connectNamespace } from '../../src/sdk/connect.ts';
import { scopedCaller } from '../../src/server/auth/index.ts';
import { ask, type Pair, restPair } from '../helpers/rest-pair.ts';
import { statementCatalog } from '../statements/catalog.ts';

async function served(): Promise<Pair> {
  const { db } = await statementCatalog();
  return restPair({
    namespace: db.namespace,
    auth: {
      apiKeys: [
        { key: 'all', name: 'all', grants: ['read:$'] },
        { key: 'prod', name: 'prod', grants: ['read:prod'] },
        { key: 'none', name: 'none', grants: ['write:elsewhere'] },
      ],
    },
  });
}

const statusOf = async (pair: Pair, key: string, body: object, path = ''): Promise<number> =>
  (await ask(pair, 'POST', `/v1/dirspace/sql${path}`, body, { 'x-api-key': key })).status;

describe('rights', () => {
  test.each([
    ['all', 'SELECT * FROM cities', 200],
    ['all', 'SELECT * FROM prod.people p JOIN cities c ON p.city = c.name', 200],
    ['prod', 'SELECT * FROM prod.people', 200],
    ['prod', 'SELECT * FROM cities', 403],
    ['prod', 'SELECT * FROM missing', 403],
    ['prod', 'SELECT * FROM prod.missing', 404],
    ['prod', 'SELECT * FROM prod.people p JOIN cities c ON p.city = c.name', 403],
    ['prod', 'SELECT * FROM prod.people UNION ALL SELECT * FROM cities', 403],
    ['prod', 'SELECT * FROM (SELECT * FROM cities) q', 403],
    ['prod', 'WITH q AS (SELECT * FROM cities) SELECT * FROM q', 403],
    // Queries may stand wherever a value does.
    ...[
      'SELECT (SELECT max(name) FROM cities) FROM prod.people',
      'SELECT id FROM prod.people WHERE city IN (SELECT name FROM cities)',
      'SELECT id FROM prod.people WHERE NOT (id > 1 AND EXISTS (SELECT 1 FROM cities))',
      'SELECT max(id) FROM prod.people GROUP BY city IN (SELECT name FROM cities)',
      'SELECT max(id) FROM prod.people HAVING 1 = ANY (SELECT 1 FROM cities)',
      'SELECT id FROM prod.people ORDER BY (SELECT max(name) FROM cities)',
      'SELECT sum(id) OVER (ORDER BY (SELECT max(name) FROM cities)) FROM prod.people',
      'SELECT id FROM prod.people LIMIT (SELECT 1 FROM cities)',
      'VALUES ((SELECT max(name) FROM cities))',
      'SELECT p.id FROM prod.people p JOIN prod.people q ON p.id = (SELECT 1 FROM cities)',
      'SELECT name FROM prod.people EXCEPT SELECT name FROM cities',
      'SELECT name FROM prod.people INTERSECT ALL SELECT name FROM cities',
    ].map((sql): [string, string, number] => ['prod', sql, 403]),
    // The name of a query hides a table within what follows it, and not before.
    ['prod', 'WITH cities AS (SELECT * FROM cities) SELECT * FROM cities', 403],
    ['all', 'WITH cities AS (SELECT 1 AS x) SELECT * FROM cities', 200],
    // What reads no table needs the right to read the namespace that is named.
    ['prod', 'SELECT 1', 403],
    ['none', 'SELECT * FROM prod.people', 403],
    ['none', 'SELECT 1', 403],
    ['wrong', 'SELECT 1', 401],
    ['all', 'SELECT FROM', 400],
    // Arguments of functions of FROM have no queries; they are looked at all the same.
    ['prod', 'SELECT * FROM unnest([(SELECT max(name) FROM cities)])', 403],
    ['all', 'SELECT * FROM generate_series(1, 3)', 200],
    ['all', 'SELECT ?', 400],
  ])('%s: %s', async (key, sql, status) => {
    const pair = await served();
    expect(await statusOf(pair, key, { sql })).toBe(status);
    expect(await statusOf(pair, key, { sql }, '/explain')).toBe(status);
  });

  test('names are looked up below the namespace of a request, and rights there', async () => {
    const pair = await served();
    const sql = 'SELECT * FROM people';
    expect(await statusOf(pair, 'prod', { sql, id: ['prod'] })).toBe(200);
    expect(await statusOf(pair, 'prod', { sql })).toBe(403);
  });
});

describe('parameters', () => {
  const rowsOf = async (sql: string, parameters: unknown): Promise<unknown> => {
    const { base, fetch } = await served();
    const response = await fetch(`${base}/v1/dirspace/sql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': 'all' },
      body: JSON.stringify({ sql, parameters }),
    });
    if (!response.ok) return ((await response.json()) as { detail?: string }).detail;
    const table = tableFromIPC(new Uint8Array(await response.arrayBuffer()));
    return table.toArray().map((row) => Object.values(row.toJSON()));
  };

  test.each<[sql: string, parameters: unknown, rows: unknown[][]]>([
    ['SELECT name FROM prod.people WHERE id = ANY (?) ORDER BY id', [[1, 3]], [['ada'], ['cy']]],
    ['SELECT name FROM prod.people WHERE name = $who', { who: 'bob' }, [['bob']]],
    ['SELECT $1 AS a, $2 AS b, $3 AS c', ["'; --", null, true], [["'; --", null, true]]],
    ['SELECT CAST(? AS bigint) AS n', ['9007199254740993'], [[9007199254740993n]]],
  ])('%s with %j', async (sql, parameters, rows) => {
    expect(await rowsOf(sql, parameters)).toEqual(rows);
  });

  test.each<[sql: string, parameters: unknown, detail: string]>([
    ['SELECT ?', [], 'There is no parameter number 1'],
    ['SELECT ?', [2 ** 53], 'beyond 2^53'],
    ['SELECT ?', [{ a: 1 }], 'parameters'],
    ['SELECT ?', 'text', 'parameters'],
    [`SELECT ${'$1, '.repeat(2000)}1`, ['x'.repeat(1000)], 'with its parameters is longer than'],
  ])('refuses %s', async (sql, parameters, detail) => {
    expect(await rowsOf(sql, parameters)).toContain(detail);
  });

  test('cannot name tables, and rights are those of the statement', async () => {
    const pair = await served();
    const status = (sql: string, ...parameters: unknown[]): Promise<number> =>
      statusOf(pair, 'prod', { sql, parameters });
    expect(await status('SELECT * FROM prod.people WHERE name = ?', 'x')).toBe(200);
    expect(await status('SELECT * FROM cities WHERE name = ?', 'x')).toBe(403);
    expect(await status('SELECT * FROM ?', 'cities')).toBe(400);
    expect(await statusOf(pair, 'prod', { sql: 'SELECT ?', parameters: ['x'] }, '/explain')).toBe(
      403,
    );
  });
});

test('a database that is a namespace of a catalog has no others', async () => {
  const asked: unknown[] = [];
  const caller = scopedCaller(
    (async ({ request }: { request: unknown }) => void asked.push(request)) as never,
    ['tenant'],
  );
  for (const request of [{ sql: 'SELECT 1' }, { sql: 'SELECT 1', id: ['prod'] }]) {
    await caller({ operation: 'RunSql', request, options: {} });
    await caller({ operation: 'ExplainSql', request, options: {} });
  }
  expect(asked.map((request) => (request as { id: string[] }).id)).toEqual([
    ['tenant'],
    ['tenant'],
    ['tenant', 'prod'],
    ['tenant', 'prod'],
  ]);
});

test('a database that is a namespace is told of tables by their names in it', async () => {
  const { db } = await statementCatalog();
  const pair = restPair({ namespace: db.namespace, databaseRouting: { namespaces: true } });
  const told = async (sql: string): Promise<string> => {
    const headers = { 'x-service-database': 'prod' };
    const { json } = await ask(await pair, 'POST', '/v1/dirspace/sql', { sql }, headers);
    return (json as { detail: string }).detail;
  };
  expect(await told('SELECT * FROM missing')).toContain('The table missing was not found');
  expect(await told('SELECT * FROM people FOR VERSION AS OF 99')).toContain('the table people was');
  expect(await told('SELECT prod.nope FROM people prod')).toContain('prod.nope');
});

test('the client asks as a program in the same process does', async () => {
  const { base, fetch } = await served();
  const remote = await connectNamespace('rest', { uri: base, 'headers.x-api-key': 'all' }, {
    fetch,
  } as never);
  const query = remote.sql(
    'SELECT city, count(*) AS n FROM prod.people GROUP BY city ORDER BY n, city',
  );
  expect(await query.toArray()).toEqual([
    { city: null, n: 1n },
    { city: 'Oslo', n: 2n },
    { city: 'Rome', n: 2n },
  ]);
  expect(await query.explainPlan()).toContain('Read prod.people: city');
  expect((await query.outputSchema()).fields.map(({ name }) => name)).toEqual(['city', 'n']);
  const table = await remote.openTable('people', ['prod']);
  expect(await table.query().aggregate({ n: 'count(*)' }).toArray()).toEqual([{ n: 5n }]);
  await expect(remote.sql('SELECT nope FROM cities').toArray()).rejects.toMatchObject({
    code: 'TableColumnNotFound',
    message: expect.stringContaining('(at position 8)'),
  });
  await remote.close();
});
