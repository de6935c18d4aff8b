/** Rows that the page links to as files. */
import { expect, test } from 'vitest';
import { connect } from '../../../src/sdk/connect.ts';
import { memoryFs } from '../../helpers/memory-fs.ts';
import { ask, type Pair, restPair } from '../../helpers/rest-pair.ts';
import { statementCatalog } from '../../statements/catalog.ts';

const { db } = await statementCatalog();
const people = { id: ['prod', 'people'], version: 3 };
const served = (options: object = {}): Promise<Pair> =>
  restPair({ namespace: db.namespace, ui: true, ...options });
const pair = await served();

const address = (format: string, asked: unknown, more = ''): string =>
  `/ui/rows/${format}?ask=${encodeURIComponent(JSON.stringify(asked))}${more}`;
const got = (format: string, asked: unknown, headers = {}) =>
  ask(pair, 'GET', address(format, asked), undefined, headers);

test('a version of a table is a file with a name of its own', async () => {
  const { status, headers, text } = await got('csv', people);
  expect([status, headers.get('content-type'), headers.get('content-disposition')]).toEqual([
    200,
    'text/csv; charset=utf-8',
    'attachment; filename="people-v3.csv"',
  ]);
  expect(text.split('\n').slice(0, 2)).toEqual([
    'id,name,city,age,score,active',
    '1,ada,Oslo,36,1.5,true',
  ]);
  expect(text.trim().split('\n')).toHaveLength(6);
  const older = await got('csv', { ...people, version: 2 });
  expect(older.text.trim().split('\n')).toHaveLength(3);
  expect(headers.get('cache-control')).toBe('no-store');
  expect(headers.get('content-security-policy')).toContain("default-src 'none'");
});

test('a filter, an order and columns are those of the page', async () => {
  const asked = { ...people, where: 'age > 19', order: 'name', descending: true };
  const { text } = await got('ndjson', { ...asked, columns: ['name'] });
  expect(text.trim().split('\n')).toEqual(
    ['eve', 'dee', 'bob', 'ada'].map((name) => JSON.stringify({ name })),
  );
});

test('a statement has all of its rows', async () => {
  const sql =
    'SELECT a.id FROM prod.people a, prod.people b, prod.people c, prod.people d, prod.people e';
  const { text, headers } = await got('csv', { sql });
  expect(text.trim().split('\n')).toHaveLength(5 ** 5 + 1);
  expect(headers.get('content-disposition')).toBe('attachment; filename="rows.csv"');
});

test.each([
  ['parquet', 'PAR1'],
  ['arrow', 'ARROW1'],
  ['json', '['],
  ['tsv', 'id\tname'],
])('%s', async (format, head) => {
  const { status, text } = await got(format, people);
  expect([status, text.slice(0, head.length)]).toEqual([200, head]);
});

test('no rows are a file too', async () => {
  expect((await got('csv', { ...people, where: 'id > 9', columns: ['id'] })).text).toBe('id\n');
});

test('what is wrong is told by the status', async () => {
  const details = async (format: string, asked: unknown): Promise<[number, string]> => {
    const { status, json } = await got(format, asked);
    return [status, json.detail];
  };
  expect(await details('xlsx', people)).toEqual([
    400,
    'There is no format "xlsx"; there is arrow, arrow-stream, csv, tsv, parquet, json, ndjson.',
  ]);
  for (const asked of [[], 'x', { id: 7 }, {}, { sql: 7 }]) {
    expect((await details('csv', asked))[0], JSON.stringify(asked)).toBe(400);
  }
  expect((await details('csv', { ...people, where: 'nope > 1' }))[1]).toContain('nope');
  expect((await details('csv', { sql: 'SELECT nope FROM prod.people' }))[1]).toContain('       ^');
  expect((await details('csv', { id: ['no'] }))[0]).toBe(404);
  expect((await ask(pair, 'GET', '/ui/rows/csv')).json.detail).toContain('"ask" is no JSON object');
  expect((await ask(pair, 'GET', '/ui/rows/csv?ask=%7B')).status).toBe(400);
});

test('other sites are refused, and keys hold', async () => {
  expect((await got('csv', people, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
  expect((await got('csv', people, { origin: 'http://evil.test' })).status).toBe(403);
  const auth = { apiKeys: [{ key: 'k', name: 'ada', grants: ['read:prod'] as const }] };
  const keyed = await served({ auth });
  const asked = (body: object, headers = {}) =>
    ask(keyed, 'GET', address('csv', body), undefined, headers);
  expect((await asked(people)).status).toBe(401);
  const key = { 'x-api-key': 'k' };
  expect((await asked(people, key)).status).toBe(200);
  expect((await asked({ id: ['cities'] }, key)).status).toBe(403);
  expect((await asked({ sql: 'SELECT name FROM cities' }, key)).status).toBe(403);
  const opened = await ask(keyed, 'POST', '/ui/session', { credential: 'k' });
  const cookie = { cookie: String(opened.headers.get('set-cookie')).split(';')[0] as string };
  expect((await asked(people, cookie)).status).toBe(200);
});

test('a link names its database', async () => {
  const databases: Record<string, typeof db.namespace> = {};
  for (const name of ['a', 'b']) {
    const other = await connect(`/${name}`, { fs: memoryFs() });
    await other.createTable('t', [{ from: name }]);
    databases[name] = other.namespace;
  }
  // Whatever headers other callers name one by.
  for (const headers of [undefined, ['x-db'], ['x-db', 'x-service-database']]) {
    const databaseRouting = headers === undefined ? {} : { headers };
    const several = await restPair({ databases, databaseRouting, ui: true });
    const of = (db: string) => ask(several, 'GET', address('csv', { id: ['t'] }, `&db=${db}`));
    expect((await of('b')).text).toBe('from\nb\n');
    expect((await of('c')).status).toBe(404);
    const page = { 'x-service-database': 'b' };
    const { json } = await ask(several, 'POST', '/ui/api/rows', { id: ['t'], version: 1 }, page);
    expect(json.rows).toEqual([['b']]);
  }
});

test('names are letters that headers take', async () => {
  const own = await connect('/names', { fs: memoryFs() });
  await own.createTable('-a.b-', [{ x: 1 }]);
  const other = await restPair({ namespace: own.namespace, ui: true });
  const { headers } = await ask(other, 'GET', address('csv', { id: ['-a.b-'] }));
  expect(headers.get('content-disposition')).toBe('attachment; filename="-a.b-.csv"');
});

test('the memory of a Parquet file is counted, and given back', async () => {
  const small = await served({ limits: { serverMemory: 48 * 1024 * 1024 } });
  const answer = await ask(small, 'GET', address('parquet', people));
  expect([answer.status, answer.json?.detail]).toEqual([503, expect.stringContaining('Parquet')]);
  const enough = await served({ limits: { serverMemory: 100 * 1024 * 1024 } });
  for (let at = 0; at < 3; at++) {
    expect((await ask(enough, 'GET', address('parquet', people))).status).toBe(200);
  }
});
