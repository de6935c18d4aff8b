/** A table that is visited for the first time, and one that has not changed for a while: what is asked of the disk. */
import nodeFs from 'node:fs';
import { afterEach, expect, test, vi } from 'vitest';
import { connect } from '../../src/index.ts';
import { latestFile } from '../../src/paths.ts';
import { type Disk, listed } from '../helpers/listed-fs.ts';
import { justNow, longAgo, tick } from '../helpers/long-ago.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

const rows = (...values: number[]) => values.map((a) => ({ a }));

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  for (const close of closing.splice(0)) await close();
});

/** A catalog with tables of as many versions as told. */
async function tables(...versions: number[]) {
  const root = temporaryFolder();
  const writer = await connect(root);
  closing.push(() => writer.close());
  for (const [at, count] of versions.entries()) {
    const table = await writer.createTable(`t${at}`, rows(0));
    for (let version = 2; version <= count; version++) await table.add(rows(version));
  }
  return { root, writer };
}

async function visitor(root: string, cacheBytes?: number) {
  const disk: Disk = { calls: [], around: undefined };
  const reader = await connect(root, { fs: listed(disk), ...(cacheBytes && { cacheBytes }) });
  closing.push(() => reader.close());
  disk.calls.length = 0;
  const visit = async (name: string) => {
    const table = await reader.openTable(name);
    return [await table.version(), await table.countRows()];
  };
  return { reader, disk, visit, calls: disk.calls };
}

test('the versions of a young table are listed once, and the newest is read once', async () => {
  const { root } = await tables(1, 3);
  const { visit, calls } = await visitor(root);
  for (const [name, version] of [
    ['t0', 1],
    ['t1', 3],
  ] as const) {
    calls.length = 0;
    expect(await visit(name)).toEqual([version, version]);
    expect(calls.filter((call) => call.startsWith('readdir'))).toHaveLength(1);
    const read = calls.filter((call) => /^open \d+\.json/.test(call));
    expect(read).toEqual([`open ${`${version}`.padStart(20, '0')}.json`]);
    // Between the list and the version that it ends with, none is looked for that it does not have.
    const listedAt = calls.findIndex((call) => call.startsWith('readdir'));
    expect(calls[listedAt + 1]).toBe(read[0]);
    expect(calls[listedAt + 2]).not.toMatch(new RegExp(`^lstat 0*${version + 1}\\.json`));
    expect(calls).not.toContain('open latest.json');
  }
});

test('a table is opened with its first fragment, unless that has very many columns', async () => {
  const root = temporaryFolder();
  const writer = await connect(root);
  closing.push(() => writer.close());
  await writer.createTable('narrow', rows(1));
  const many = Object.fromEntries(Array.from({ length: 1_200 }, (_, at) => [`c${at}`, at]));
  await writer.createTable('wide', [many]);
  const { reader, calls } = await visitor(root);
  const fragments = () => calls.filter((call) => /^open .*\.arrow/.test(call)).length;
  await reader.openTable('narrow');
  expect(fragments()).toBe(1);
  const wide = await reader.openTable('wide');
  expect((await wide.schema()).fields).toHaveLength(1_200);
  expect(await wide.countRows()).toBe(1);
  expect(fragments()).toBe(1);
  expect(await wide.query().select(['c1199']).toArray()).toEqual([{ c1199: 1199 }]);
  expect(fragments()).toBe(2);
});

test.each([
  [4_096, 1],
  [4_097, 0],
])('of a folder of %i bytes, with a hint, %i lists are made', async (size, lists) => {
  const { root } = await tables(9);
  const { visit, calls, disk } = await visitor(root);
  disk.around = (call, run) => {
    const found = run();
    if (call.startsWith('lstat versions-')) Object.assign(found as object, { size });
    return found;
  };
  expect(await visit('t0')).toEqual([9, 9]);
  expect(calls.filter((call) => call.startsWith('readdir'))).toHaveLength(lists);
});

test('a version that comes right after the list is read next', async () => {
  const { root, writer } = await tables(1);
  const { visit, disk } = await visitor(root);
  const folder = `${root}/data/t0.table`;
  const [versions] = nodeFs.readdirSync(folder).filter((name) => name.startsWith('versions-'));
  const table = await writer.openTable('t0');
  await table.add(rows(2));
  const second = `${folder}/${versions}/00000000000000000002.json`;
  nodeFs.renameSync(second, `${root}/aside`);
  disk.around = (call, run) => {
    const found = run();
    if (call.startsWith('readdir')) nodeFs.renameSync(`${root}/aside`, second);
    return found;
  };
  await visit('t0');
  disk.around = undefined;
  expect(await visit('t0')).toEqual([2, 2]);
});

test('a hint above all that is listed tells of a loss', async () => {
  const { root } = await tables(9);
  const folder = `${root}/data/t0.table`;
  const [versions] = nodeFs.readdirSync(folder).filter((name) => name.startsWith('versions-'));
  for (const version of [8, 9])
    nodeFs.rmSync(`${folder}/${versions}/0000000000000000000${version}.json`);
  expect(nodeFs.existsSync(latestFile(`${folder}/${versions}`))).toBe(true);
  const { visit } = await visitor(root);
  await expect(visit('t0')).rejects.toMatchObject({ code: 'Corrupt' });
});

async function unchanged() {
  const { root, writer } = await tables(1);
  const looks = longAgo();
  const reader = await connect(root);
  closing.push(() => reader.close());
  const table = await reader.openTable('t0');
  expect(await table.countRows()).toBe(1);
  tick(root);
  looks.length = 0;
  return { root, writer, table, looks };
}

test('one look finds that a table has not changed whose versions are old', async () => {
  const { table, looks } = await unchanged();
  expect(await table.countRows()).toBe(1);
  expect(looks).toEqual(['versions']);
});

test('what others commit, drop, make anew or rename is told next all the same', async () => {
  const { root, writer, table } = await unchanged();
  const other = await writer.openTable('t0');
  for (const count of [2, 3, 4]) {
    await other.add(rows(count));
    expect(await table.countRows()).toBe(count);
    tick(root);
  }
  await writer.renameTable('t0', 't1');
  await expect(table.countRows()).rejects.toMatchObject({ code: 'TableNotFound' });
  await writer.renameTable('t1', 't0');
  expect(await table.countRows()).toBe(4);
  await writer.dropTable('t0');
  await expect(table.countRows()).rejects.toMatchObject({ code: 'TableNotFound' });
  await writer.createTable('t0', rows(7, 8));
  await expect(table.countRows()).rejects.toMatchObject({ code: 'TableNotFound' });
});

test('a table that changed when it was read first needs one look only once that is long ago', async () => {
  const { root } = await tables(1);
  const reader = await connect(root);
  closing.push(() => reader.close());
  justNow();
  const table = await reader.openTable('t0');
  expect(await table.countRows()).toBe(1);
  vi.restoreAllMocks();
  const looks = longAgo();
  for (let time = 0; time < 16; time++) expect(await table.countRows()).toBe(1);
  looks.length = 0;
  expect(await table.countRows()).toBe(1);
  expect(looks).toEqual(['versions']);
});

test('a folder of versions that was replaced by a copy or a link is not taken for it', async () => {
  const { root, table } = await unchanged();
  const folder = `${root}/data/t0.table`;
  const name = nodeFs.readdirSync(folder).find((entry) => entry.startsWith('versions-'));
  const versions = `${folder}/${name}`;
  nodeFs.renameSync(versions, `${root}/away`);
  nodeFs.symlinkSync(`${root}/away`, versions);
  await expect(table.countRows()).rejects.toMatchObject({ code: 'InvalidInput' });
});

test('versions of one schema share it, and one whose fields have other ids does not', async () => {
  const { root, writer } = await tables(1, 1);
  const three = await writer.createTable('t2', [{ b: 1, a: 2 }]);
  await three.dropColumns(['b']);
  const reader = await connect(root);
  closing.push(() => reader.close());
  const schemaOf = async (name: string) =>
    (await reader.describeTable(name, [], { load_detailed_metadata: true })).schema;
  const [first, second, third] = [await schemaOf('t0'), await schemaOf('t1'), await schemaOf('t2')];
  expect(second).toBe(first);
  expect(third).toEqual(first);
  expect(third).not.toBe(first);
  expect(Object.isFrozen(first?.fields[0]?.type)).toBe(true);
  expect(await (await reader.openTable('t2')).query().toArray()).toEqual([{ a: 2 }]);
});

test('a program that only visits tables reads no rows of most', async () => {
  const { root } = await tables(...Array.from({ length: 12 }, () => 1));
  const { visit, calls } = await visitor(root);
  for (let table = 0; table < 12; table++) await visit(`t${table}`);
  expect(calls.filter((call) => call.endsWith('.arrow') && call.startsWith('open'))).toHaveLength(
    2,
  );
});

test('tables are prepared as long as they are read', async () => {
  const { root } = await tables(...Array.from({ length: 6 }, () => 1));
  const { reader, calls } = await visitor(root);
  for (let name = 0; name < 6; name++) {
    calls.length = 0;
    const table = await reader.openTable(`t${name}`);
    expect(calls.filter((call) => call.endsWith('.arrow'))).toHaveLength(1);
    expect(await table.query().toArray()).toEqual([{ a: 0 }]);
  }
});

test('what is known of tables is kept within cacheBytes', async () => {
  const { root } = await tables(...Array.from({ length: 20 }, () => 1));
  const opens = async (cacheBytes: number): Promise<number> => {
    const { visit, calls } = await visitor(root, cacheBytes);
    for (let table = 0; table < 20; table++) await visit(`t${table}`);
    calls.length = 0;
    for (let table = 0; table < 20; table++) await visit(`t${table}`);
    return calls.filter((call) => /^open \d+.json$/.test(call)).length;
  };
  // A table takes some 3 KB of it.
  expect(await opens(100_000)).toBe(0);
  expect(await opens(40_000)).toBe(20);
});
