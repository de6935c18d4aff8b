/** Ids joined by a delimiter that names may hold: lists stay whole, or say what they leave out. */
import { beforeAll, describe, expect, test } from 'vitest';
import { RestNamespace } from '../../src/client/client.ts';
import { type Answered, ask, type Pair, restPair, someRows } from '../helpers/rest-pair.ts';
import { stubNamespace } from '../helpers/stub-namespace.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

const ALL = [['a'], ['a.b'], ['n', 'b'], ['n', 'b.c'], ['v1.2', 't'], ['z']];

let pair: Pair;
let transaction = '';

beforeAll(async () => {
  pair = await restPair({ root: temporaryFolder() });
  for (const namespace of ['n', 'v1.2']) await pair.client.createNamespace({ id: [namespace] });
  for (const id of ALL) {
    const { transaction_id = '' } = await pair.client.createTable({ id }, someRows());
    transaction = transaction_id;
  }
});

const list = (query: string, path = '/v1/tables'): Promise<Answered> =>
  ask(pair, 'GET', `${path}?${query}`);
const clientWith = (delimiter: string): RestNamespace =>
  new RestNamespace({ uri: pair.base, fetch: pair.fetch, delimiter });

describe('a list of all tables', () => {
  test.each(['/v1/tables', '/v1/table'])(
    'leaves out names that hold the delimiter, and says which: %s',
    async (path) => {
      const { status, json } = await list('delimiter=.', path);
      expect(status).toBe(200);
      expect(json.tables).toEqual(['a', 'n.b', 'z']);
      expect(json.context).toEqual({
        left_out: '3',
        left_out_because:
          'The delimiter "." occurs in these ids, which are joined by "$" here: a.b, n$b.c, v1.2$t. List with another delimiter, such as "$", to have them too.',
      });
    },
  );

  test('has no note where nothing is left out', async () => {
    for (const query of ['', 'delimiter=$', 'delimiter=%2F', 'delimiter=,']) {
      const { json } = await list(query);
      expect(json.tables).toHaveLength(ALL.length);
      expect(json).not.toHaveProperty('context');
    }
    expect((await list('delimiter=%2F')).json.tables).toContain('v1.2/t');
  });

  test('has full pages, and each notes its own', async () => {
    const pages: unknown[] = [];
    let token: string | undefined;
    do {
      const { json } = await list(
        `delimiter=.&limit=1${token === undefined ? '' : `&page_token=${encodeURIComponent(token)}`}`,
      );
      pages.push([...json.tables, json.context?.left_out]);
      token = json.page_token;
    } while (token !== undefined);
    expect(pages).toEqual([
      ['a', undefined],
      ['n.b', '1'],
      ['z', '2'],
    ]);
  });

  test('every id of it is that of a table, and those left out cannot be named', async () => {
    for (const delimiter of ['.', '-', 'b', '::', '%2F', 'a']) {
      const { json } = await list(`delimiter=${delimiter}`);
      for (const id of json.tables as string[]) {
        const path = `/v1/table/${encodeURIComponent(id)}/exists?delimiter=${delimiter}`;
        expect((await ask(pair, 'POST', path, {})).status, id).toBe(200);
      }
      expect(json.tables.length + Number(json.context?.left_out ?? 0)).toBe(ALL.length);
    }
  });

  test('a delimiter that is empty, or given twice, is refused also where nothing is listed', async () => {
    const empty = await restPair({ root: temporaryFolder() });
    for (const query of ['delimiter=', 'delimiter=.&delimiter=$']) {
      expect((await ask(empty, 'GET', `/v1/tables?${query}`)).status).toBe(400);
    }
  });

  test('is long, and the note is not', async () => {
    const many = await restPair({ root: temporaryFolder() });
    for (let table = 0; table < 12; table++) {
      await many.client.declareTable({ id: [`t.${String(table).padStart(2, '0')}`] });
    }
    const { json } = await ask(many, 'GET', '/v1/tables?delimiter=.');
    expect(json.context.left_out).toBe('12');
    expect(json.context.left_out_because).toContain('t.09 and 2 more.');
  });

  test('passes over many names in few calls, to the very page that passing over one by one gives', async () => {
    const shown = [7, 8, 400, 640, 641, 642].map((at) => String(at).padStart(4, '0'));
    const ids = Array.from({ length: 900 }, (_, at) => String(at).padStart(4, '0')).map((name) =>
      shown.includes(name) ? name : `${name}.x`,
    );
    let calls = 0;
    const listAllTables = ({ limit = 9e9, page_token: after = '' }): object => {
      calls += 1;
      const from = ids.findIndex((id) => id > after);
      const tables = from < 0 ? [] : ids.slice(from, from + limit);
      const last = tables.at(-1) ?? '';
      return last === ids.at(-1) ? { tables } : { tables, page_token: last };
    };
    const long = await restPair({ namespace: stubNamespace({ listAllTables }) });
    for (let limit = 1; limit <= 7; limit++) {
      const found: string[] = [];
      let leftOut = 0;
      for (let token = ''; ; ) {
        calls = 0;
        const path = `/v1/tables?delimiter=.&limit=${limit}&page_token=${token}`;
        const { json } = await ask(long, 'GET', path);
        expect(calls).toBeLessThan(40);
        found.push(...json.tables);
        leftOut += Number(json.context?.left_out ?? 0);
        if (json.page_token === undefined) break;
        expect(json.tables).toHaveLength(limit);
        expect(json.tables.at(-1)).toBe(json.page_token);
        token = json.page_token;
      }
      expect(found).toEqual(shown);
      expect(leftOut).toBe(ids.length - shown.length);
    }
  });

  test('of a part of a catalog tells of that part only', async () => {
    const guarded = await restPair({
      root: temporaryFolder(),
      auth: {
        apiKeys: [
          { key: 'reader', name: 'reader', grants: [{ namespace: ['n'], permission: 'read' }] },
          { key: 'all', name: 'all', grants: [{ namespace: [], permission: 'admin' }] },
        ],
      },
    });
    const admin = { 'x-api-key': 'all' };
    for (const namespace of ['n', 'm']) {
      await ask(guarded, 'POST', `/v1/namespace/${namespace}/create`, {}, admin);
      await ask(guarded, 'POST', `/v1/table/${namespace}$b.c/declare`, {}, admin);
    }
    const headers = { 'x-api-key': 'reader' };
    const { json } = await ask(guarded, 'GET', '/v1/tables?delimiter=.', undefined, headers);
    expect(json.tables).toEqual([]);
    expect(json.context.left_out_because).toContain(' n$b.c.');
    expect(json.context.left_out_because).not.toContain('m$');
  });
});

describe('a client whose delimiter is a period', () => {
  test('lists every table, with or without a limit', async () => {
    const client = clientWith('.');
    const ids = ALL.map((id) => id.join('$')).sort();
    expect((await client.listAllTables({})).tables).toEqual(ids);
    const first = await client.listAllTables({ limit: 2 });
    expect(first.tables).toEqual(ids.slice(0, 2));
    const { page_token = '' } = first;
    expect((await client.listAllTables({ page_token })).tables).toEqual(ids.slice(2));
  });

  test('describes and alters transactions, whose ids have periods in them', async () => {
    for (const delimiter of ['.', '-']) {
      const client = clientWith(delimiter);
      const { properties } = await client.describeTransaction({ id: [transaction] });
      expect(properties).toMatchObject({ table: 'z' });
      const action = { setPropertyAction: { key: 'by', value: delimiter } };
      await client.alterTransaction({ id: [transaction], actions: [action] });
      const path = `/v1/transaction/${transaction}/describe?delimiter=${delimiter}`;
      const { status, json } = await ask(pair, 'POST', path, { id: [transaction] });
      expect([status, json.properties.by]).toEqual([200, delimiter]);
    }
  });

  test('lists and describes the root', async () => {
    for (const delimiter of ['.', '..']) {
      const client = clientWith(delimiter);
      const usual = clientWith('$');
      expect(await client.listTables({})).toMatchObject({
        tables: (await usual.listTables({})).tables,
      });
      const { namespaces } = await client.listNamespaces({ id: [] });
      expect(namespaces).toEqual((await usual.listNamespaces({})).namespaces);
      await client.describeNamespace({ id: [] });
      await client.namespaceExists({});
    }
  });

  test('is told that a name with a period cannot be sent, and reads all others', async () => {
    const client = clientWith('.');
    await expect(client.describeTable({ id: ['n', 'b.c'] })).rejects.toMatchObject({
      code: 'InvalidInput',
      message: expect.stringContaining('use another one'),
    });
    expect((await client.countTableRows({ id: ['n', 'b'] })).count).toBe(3);
  });
});
