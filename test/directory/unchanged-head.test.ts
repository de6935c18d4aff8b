/** A table that was read before: what is asked of the disk, and that no change is missed. */
import nodeFs from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import { connect, type Table } from '../../src/index.ts';
import { type Disk, listed } from '../helpers/listed-fs.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

const rows = (...values: number[]) => values.map((a) => ({ a }));

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** A table of two rows that `reader` has read often enough to know it. */
async function known() {
  const root = temporaryFolder();
  const writer = await connect(root);
  await writer.createNamespace(['ns']);
  const table = await writer.createTable('t', rows(1, 2), ['ns']);
  const disk: Disk = { calls: [], around: undefined };
  const { calls } = disk;
  const db = await connect(root, { fs: listed(disk) });
  closing.push(
    () => writer.close(),
    () => db.close(),
  );
  const reader = await db.openTable('t', ['ns']);
  const read = async () => (await reader.query().toArray()).map(({ a }) => a);
  for (let time = 0; time < 3; time++) expect(await read()).toEqual([1, 2]);
  calls.length = 0;
  return { root, writer, table, db, reader, read, disk, calls, folder: `${root}/ns/t.table` };
}

test('three looks find that nothing has changed', async () => {
  const { reader, read, calls } = await known();
  expect(await read()).toEqual([1, 2]);
  const [first, second] = ['lstat 00000000000000000001.json', 'lstat 00000000000000000002.json'];
  expect(calls).toEqual([second, first, second]);
  calls.length = 0;
  expect(await reader.takeOffsets([1]).toArray()).toEqual([{ a: 2 }]);
  expect(await reader.countRows('a > 1')).toBe(1);
  expect(calls.length).toBe(6);
});

test.each<[string, (table: Table) => Promise<unknown>]>([
  ['adds', (table) => table.add(rows(3))],
  ['deletes', (table) => table.delete('a = 2')],
  ['updates', (table) => table.update({ values: { a: 9 }, where: 'a = 2' })],
  ['merges', (table) => table.mergeInsert('a').whenNotMatchedInsertAll().execute(rows(2, 3))],
  ['alters', (table) => table.alterColumns([{ path: 'a', rename: 'b' }])],
  ['adds columns', (table) => table.addColumns([{ name: 'b', valueSql: 'a + 1' }])],
  ['restores', (table) => table.restore(1)],
  ['overwrites', (table) => table.add(rows(4), { mode: 'overwrite' })],
  ['compacts', (table) => table.add(rows(3)).then(() => table.optimize())],
])('a handle that %s finds with three looks that nothing has changed since', async (_, change) => {
  const { reader, calls } = await known();
  await change(reader);
  calls.length = 0;
  await reader.countRows();
  const found = calls.filter((call) => call.startsWith('lstat'));
  const [newest, next] = [found[1], found[0]] as [string, string];
  expect(calls).toEqual([next, newest, next]);
});

test('a table that is away at the first look hides nothing', async () => {
  const { table, read, disk, folder } = await known();
  await table.add(rows(3));
  let away = '';
  disk.around = (call, run) => {
    disk.around = undefined;
    away = call;
    nodeFs.renameSync(folder, `${folder}.away`);
    try {
      return run();
    } finally {
      nodeFs.renameSync(`${folder}.away`, folder);
    }
  };
  expect(await read()).toEqual([1, 2, 3]);
  expect(away).toBe('lstat 00000000000000000002.json');
});

test('what somebody else adds, deletes, overwrites or restores is read next', async () => {
  const { table, read } = await known();
  await table.add(rows(3));
  expect(await read()).toEqual([1, 2, 3]);
  expect(await read()).toEqual([1, 2, 3]);
  await table.delete('a = 2');
  expect(await read()).toEqual([1, 3]);
  expect(await read()).toEqual([1, 3]);
  await table.add(rows(9), { mode: 'overwrite' });
  expect(await read()).toEqual([9]);
});

test('a table that was dropped is gone, and another one of its name is not read', async () => {
  const { writer, read, db } = await known();
  await writer.dropTable('t', ['ns']);
  await expect(read()).rejects.toMatchObject({ code: 'TableNotFound' });
  await writer.createTable('t', rows(7, 8), ['ns']);
  await expect(read()).rejects.toThrow('was dropped and made anew');
  const anew = await db.openTable('t', ['ns']);
  for (let time = 0; time < 3; time++) {
    expect(await anew.query().toArray()).toEqual(rows(7, 8));
    await expect(read()).rejects.toThrow('was dropped and made anew');
  }
});

test('a table that was renamed or whose namespace was dropped is gone', async () => {
  const renamed = await known();
  await renamed.writer.renameTable('t', 'u', { namespacePath: ['ns'] });
  await expect(renamed.read()).rejects.toMatchObject({ code: 'TableNotFound' });
  const dropped = await known();
  await dropped.writer.dropNamespace(['ns'], { behavior: 'cascade' });
  await expect(dropped.read()).rejects.toMatchObject({ code: 'TableNotFound' });
});

test('a table made anew in its place is read', async () => {
  const { writer, read } = await known();
  await writer.createTable('t', rows(5), ['ns'], { mode: 'overwrite' });
  expect(await read()).toEqual([5]);
});

test('a link to a copy, planted in the place of the table, is refused', async () => {
  const { root, folder, read } = await known();
  nodeFs.cpSync(folder, `${root}-copy`, { recursive: true });
  nodeFs.rmSync(folder, { recursive: true });
  nodeFs.symlinkSync(`${root}-copy`, folder);
  try {
    await expect(read()).rejects.toMatchObject({ message: expect.stringContaining('link') });
  } finally {
    nodeFs.rmSync(`${root}-copy`, { recursive: true });
  }
});

test('an append to a table known reads nothing of it', async () => {
  const { reader, read, calls } = await known();
  await reader.add(rows(3));
  calls.length = 0;
  await reader.add(rows(4));
  expect(calls.filter((call) => call.endsWith('table.json'))).toEqual([]);
  expect(await read()).toEqual([1, 2, 3, 4]);
});

test('an append never goes to another table that is in the place by then', async () => {
  const { writer, reader } = await known();
  await reader.add(rows(3));
  await writer.dropTable('t', ['ns']);
  await expect(reader.add(rows(4))).rejects.toMatchObject({ code: 'TableNotFound' });
  const anew = await writer.createTable('t', rows(5), ['ns']);
  await expect(reader.add(rows(6))).rejects.toThrow('was dropped and made anew');
  expect(await anew.query().toArray()).toEqual(rows(5));
});

test('an append to a table known goes through no link, not even to the very same files', async () => {
  const { reader, root, folder } = await known();
  await reader.add(rows(3));
  const moved = `${root}-moved`;
  const files = () => nodeFs.readdirSync(moved, { recursive: true }).sort();
  nodeFs.renameSync(folder, moved);
  nodeFs.symlinkSync(moved, folder);
  try {
    const before = files();
    const link = { message: expect.stringContaining('link') };
    await expect(reader.add(rows(4))).rejects.toMatchObject(link);
    expect(files()).toEqual(before);
  } finally {
    nodeFs.rmSync(moved, { recursive: true });
  }
});

test('what goes wrong after an append was published is not its failure', async () => {
  const { reader, read, disk, folder } = await known();
  const published = (): boolean =>
    nodeFs.readdirSync(folder, { recursive: true }).some((name) => /\/0+2\.json$/.test(`${name}`));
  let failed = 0;
  disk.around = (call, run) => {
    if (call === 'lstat 00000000000000000002.json' && published()) {
      failed++;
      throw Object.assign(new Error('EIO'), { code: 'EIO' });
    }
    return run();
  };
  await reader.add(rows(3));
  disk.around = undefined;
  expect(failed).toBe(1);
  expect(await read()).toEqual([1, 2, 3]);
});
