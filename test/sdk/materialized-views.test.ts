/** Materialized views through the SDK, over a directory and over REST: the same outcome and the same errors. */
import { afterEach, expect, test } from 'vitest';
import { DirspaceError } from '../../src/errors.ts';
import { connect, connectNamespace } from '../../src/sdk/connect.ts';
import { Connection } from '../../src/sdk/connection.ts';
import { createServer } from '../../src/server.ts';
import { memoryFs } from '../helpers/catalogs.ts';

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

const kinds = ['a directory', 'a server', 'a namespace of a server'] as const;

async function open(kind: (typeof kinds)[number]): Promise<Connection> {
  const db = await connect('/c', { fs: memoryFs() });
  ends.push(() => db.close());
  if (kind === 'a directory') return db;
  await db.createNamespace(['inner']);
  const server = await createServer({
    namespace: db.namespace,
    limits: { maxEventLoopDelayMs: 0 },
  });
  ends.push(() => server.close());
  const fetch = (url: string, init: RequestInit) => {
    const headers = new Headers(init.headers);
    if (kind !== 'a server') headers.set('x-service-database-prefix', 'inner');
    return server.fetch(url, { ...init, headers });
  };
  const remote = await connectNamespace('rest', { uri: 'http://x' }, { fetch } as never);
  ends.push(() => remote.close());
  return remote;
}

test.each(kinds)('over %s', async (kind) => {
  const db = await open(kind);
  const orders = await db.createTable('orders', [
    { id: 1, net: 10 },
    { id: 2, net: 200 },
  ]);
  const view = await db.createMaterializedView('large', 'orders', {
    select: ['id', ['gross', 'net * 1.5']],
    where: 'net > 50',
  });
  expect(await view.table().countRows()).toBe(0);
  expect(await view.definition()).toEqual({
    sourceTable: 'orders',
    sourceNamespace: [],
    projections: [
      ['id', '`id`'],
      ['gross', 'net * 1.5'],
    ],
    filter: 'net > 50',
    inputs: ['id', 'net'],
  });
  const turned = await db.createMaterializedView('turned', 'orders', { select: ['net', 'id'] });
  expect((await turned.definition()).inputs).toEqual(['id', 'net']);
  await db.dropTable('turned');
  const built = { mode: 'rebuild', rowsWritten: 1, sourceVersion: 1, version: 2 };
  expect(await view.refresh()).toEqual(built);
  await orders.add([{ id: 3, net: 100 }]);
  expect(await view.refresh()).toMatchObject({ mode: 'incremental', rowsWritten: 1 });
  expect(await view.refresh()).toMatchObject({ mode: 'no_op' });
  const all = [
    { id: 2, gross: 300 },
    { id: 3, gross: 150 },
  ];
  expect(await view.table().query().toArray()).toEqual(all);
  expect(await view.refresh({ sourceVersion: 1, full: true })).toMatchObject({ rowsWritten: 1 });
  expect(await db.listMaterializedViews()).toEqual(['large']);
  const again = await db.openMaterializedView('large');
  expect(again.name).toBe('large');
  await expect(db.openMaterializedView('orders')).rejects.toThrow(/is not a materialized view/);
  await expect(db.openMaterializedView('no')).rejects.toMatchObject({ code: 'TableNotFound' });
  await expect(db.createMaterializedView('large', 'orders')).rejects.toThrow(/already exists/);
  await expect(again.table().add([{ id: 9, gross: 1 }])).rejects.toThrow(/materialized view/);
  await db.dropTable('orders');
  await expect(view.refresh({ full: true })).rejects.toThrow(/dropped or renamed/);
});

test('a view of a namespace, and a source of another one', async () => {
  const db = await open('a directory');
  await db.createNamespace(['a']);
  await db.createNamespace(['b']);
  await db.createTable('t', [{ x: 1 }], ['a'] as never);
  const options = { namespacePath: ['b'], sourceNamespacePath: ['a'], select: { y: 'x + 1' } };
  const view = await db.createMaterializedView('v', 't', options);
  await view.refresh();
  expect(await view.table().query().toArray()).toEqual([{ y: 2 }]);
  expect((await view.definition()).sourceNamespace).toEqual(['a']);
  expect(await db.listMaterializedViews(['b'])).toEqual(['v']);
  expect((await db.openMaterializedView('v', { namespacePath: ['b'] })).name).toBe('v');
});

test.each([
  ['select', { select: [1] }],
  ['where', { where: 1 }],
  ['limit', { limit: 1.5 }],
  ['an option that there is not', { filter: 'x > 1' }],
])('refuses %s of another kind', async (_, options) => {
  const db = await open('a directory');
  await db.createTable('t', [{ x: 1 }]);
  const create = db.createMaterializedView('v', 't', options as never);
  await expect(create).rejects.toMatchObject({ code: 'InvalidInput' });
});

test.each(['ServiceUnavailable', 'Unauthenticated'] as const)(
  'a list of views is no shorter for %s',
  async (code) => {
    const db = await open('a directory');
    await db.createTable('t', [{ x: 1 }]);
    await db.createMaterializedView('v', 't');
    const failing = new Proxy(db.namespace, {
      get: (catalog, name) => {
        if (name === 'describeTable')
          return async () => Promise.reject(new DirspaceError(code, 'no'));
        const found: unknown = Reflect.get(catalog, name, catalog);
        return typeof found === 'function' ? found.bind(catalog) : found;
      },
    });
    await expect(new Connection(failing).listMaterializedViews()).rejects.toMatchObject({ code });
    expect(await db.listMaterializedViews()).toEqual(['v']);
  },
);
