/** Connections import and export Lance datasets. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { connect } from '../../src/sdk/connect.ts';
import type { WriteProgress } from '../../src/sdk/index.ts';
import { memoryFs } from '../helpers/catalogs.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

const open = () => connect('/c', { fs: memoryFs() });

test('a table goes out and comes in again, as a new one, in its place and behind its rows', async () => {
  const db = await open();
  await db.createNamespace(['n']);
  const table = await db.createTable(
    't',
    [
      { a: 1, s: 'x' },
      { a: 2, s: 'y' },
    ],
    ['n'],
  );
  await table.delete('a = 1');
  await (await table.tags()).create('first', 1);
  const [newest, first] = ['newest', 'first'].map((name) => join(temporaryFolder(), name)) as [
    string,
    string,
  ];
  expect(await db.exportLance(newest, 't', ['n'])).toEqual({
    version: 2,
    rows: 1,
    files: 1,
    bytes: expect.any(Number),
  });
  const old = await db.exportLance(first, 't', ['n'], { tag: 'first' });
  expect([old.version, old.rows]).toEqual([1, 2]);
  const made = await db.importLance(first, 'u', ['n'], { lance: 'off' });
  expect([made.name, made.namespacePath]).toEqual(['u', ['n']]);
  expect(await made.query().toArray()).toEqual([
    { a: 1, s: 'x' },
    { a: 2, s: 'y' },
  ]);
  const { properties } = await db.describeTable('u', ['n']);
  expect(properties?.lance).toBe('off');
  await expect(db.importLance(newest, 'u', ['n'])).rejects.toMatchObject({
    code: 'TableAlreadyExists',
  });
  expect(await (await db.importLance(newest, 'u', ['n'], { mode: 'append' })).countRows()).toBe(3);
  expect(await (await db.importLance(newest, 'u', ['n'], { mode: 'overwrite' })).countRows()).toBe(
    1,
  );
  await expect(
    db.importLance(newest, 'u', ['n'], { mode: 'append', lance: 'off' }),
  ).rejects.toMatchObject({ code: 'InvalidInput' });
  const main = await db.importLance(newest, 'of-main', ['n'], { branch: 'main' });
  expect(await main.countRows()).toBe(1);
  await expect(db.importLance(newest, 'v', [], { version: 2 })).rejects.toMatchObject({
    code: 'TableVersionNotFound',
  });
  await expect(db.importLance(newest, 'v', [], { to: 1 } as never)).rejects.toMatchObject({
    code: 'InvalidInput',
  });
  await expect(db.exportLance(newest, 't', ['n'])).rejects.toThrow('is there already');
});

test('a compressed table is imported from its own folder, at each version, and compressed again', async () => {
  const root = temporaryFolder();
  const db = await connect(root, { lance: 'sync' });
  const rows = Array.from({ length: 20_000 }, (_, id) => ({
    id,
    line: `GET /page/${id % 40} 200`,
  }));
  const table = await db.createTable('t', rows, [], { compression: 'zstd' });
  await table.addColumns([{ name: 'twice', valueSql: 'id * 2' }]);
  await table.delete('id % 3 = 1');
  // Of few long texts the bytes are compressed, and where they end is not.
  const long = Array.from({ length: 50 }, (_, id) => ({ id, line: 'GET '.repeat(id) }));
  await table.add(long);
  const folder = join(root, 'data/t.table');
  for (const version of [1, 2, 3, 4]) {
    const made = await db.importLance(folder, `v${version}`, [], { version, compression: 'zstd' });
    const old = await db.openTable('t', [], { version });
    expect(await made.query().toArray()).toEqual(await old.query().toArray());
    expect((await db.describeTable(`v${version}`)).properties?.compression).toBe('zstd');
  }
  const appending = { mode: 'append', compression: 'zstd' } as const;
  await expect(db.importLance(folder, 'v1', [], appending)).rejects.toThrow(/compression is given/);
  await db.close();
});

test('an import passes the options of every call on', async () => {
  const db = await open();
  await db.createTable('t', [{ a: 1 }]);
  const folder = join(temporaryFolder(), 'out');
  await db.exportLance(folder, 't');
  const made = vi.spyOn(db.namespace, 'createTable');
  const added = vi.spyOn(db.namespace, 'insertIntoTable');
  const onContext = () => {};
  await db.importLance(folder, 'u', [], { idempotencyKey: 'first', onContext });
  const second = { mode: 'append', idempotencyKey: 'second', onContext } as const;
  await db.importLance(folder, 'u', [], second);
  expect(made.mock.lastCall?.[2]).toMatchObject({ idempotencyKey: 'first', onContext });
  expect(added.mock.lastCall?.[2]).toMatchObject({ idempotencyKey: 'second', onContext });
});

test('they tell how far they are, and stop when they are told to', async () => {
  const db = await open();
  await db.createTable(
    't',
    Array.from({ length: 70_000 }, (_, a) => ({ a })),
  );
  const folder = join(temporaryFolder(), 'x');
  const told: WriteProgress[] = [];
  const progress = (at: WriteProgress): void => void told.push(at);
  await db.exportLance(folder, 't', undefined, { progress });
  expect(told.map(({ outputRows, done }) => [outputRows, done])).toEqual([
    [65_536, false],
    [70_000, false],
    [70_000, true],
  ]);
  told.length = 0;
  await db.importLance(folder, 'u', undefined, { progress });
  expect(told.at(-1)).toMatchObject({ outputRows: 70_000, totalRows: 70_000, done: true });
  await db.importLance(folder, 'u', undefined, { progress, mode: 'append' });
  expect(told.filter(({ done }) => done).length).toBe(2);

  const stop = new AbortController();
  const stopping = { signal: stop.signal, progress: () => stop.abort() };
  const other = join(temporaryFolder(), 'y');
  await expect(db.exportLance(other, 't', undefined, stopping)).rejects.toThrow('aborted');
  expect(existsSync(other)).toBe(false);
  expect(readdirSync(join(other, '..'))).toEqual([]);
  await expect(db.importLance(folder, 'v', undefined, { signal: stop.signal })).rejects.toThrow(
    'aborted',
  );
  expect(await db.tableExists('v')).toBe(false);
  await db.close();
  await expect(db.exportLance(other, 't')).rejects.toMatchObject({ code: 'Closed' });
  await expect(db.importLance(folder, 'v')).rejects.toMatchObject({ code: 'Closed' });
});
