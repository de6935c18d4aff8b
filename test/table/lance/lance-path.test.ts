/** What Lance finds by the path of a table follows the table, and its cleanup; other programs' files stay. */
import { expect, test } from 'vitest';
import {
  Field,
  Int32,
  Struct,
  Table,
  tableFromArrays,
  vectorFromArray,
} from '../../../src/arrow/apache.ts';
import { systemEnv } from '../../../src/env.ts';
import { isDirspaceError } from '../../../src/errors.ts';
import { readLanceManifest } from '../../../src/format/index.ts';
import { lanceVersionFile, parseLanceVersionFile } from '../../../src/lance-paths.ts';
import { connect } from '../../../src/sdk/connect.ts';
import { memoryFs } from '../../helpers/catalogs.ts';

type Fs = ReturnType<typeof memoryFs>;
type Db = Awaited<ReturnType<typeof connect>>;

const ids = (...values: number[]): never =>
  tableFromArrays({ id: Int32Array.from(values) }) as never;
const namesIn = (fs: Fs, folder: string): string[] =>
  fs.existsSync(folder) ? (fs.readdirSync(folder) as string[]).sort() : [];
const versionsIn = (fs: Fs, dataset: string): (number | undefined)[] =>
  namesIn(fs, `${dataset}/_versions`).map(parseLanceVersionFile).reverse();
const T = '/c/data/t.table';
const manifest = (version: number, dataset = T): string => lanceVersionFile(dataset, version);

async function verified(db: Db): Promise<{ problems: unknown; leftovers: unknown }> {
  const { problems, leftovers } = (await db.namespace.verify?.({})) ?? {};
  return { problems, leftovers };
}
const CLEAN = { problems: [], leftovers: [] };

async function synced(fs = memoryFs()): Promise<{ fs: Fs; db: Db }> {
  return { fs, db: await connect('/c', { fs, lance: 'sync' }) };
}

test('every commit, tag and branch is followed at once', async () => {
  const { fs, db } = await synced();
  const table = await db.createTable('t', ids(1, 2, 3));
  const follows = async (): Promise<void> => {
    const { versions } = await db.namespace.listTableVersions({ id: ['t'] });
    expect(versionsIn(fs, T)).toEqual(versions.map(({ version }) => version));
    expect(await verified(db)).toEqual(CLEAN);
  };
  await follows();
  for (const change of [
    () => table.add(ids(4)),
    () => table.delete('id = 2'),
    () => table.update({ where: 'id = 1', valuesSql: { id: '9' } }),
    () => table.addColumns([{ name: 'more', valueSql: 'id + 1' }]),
    () => table.alterColumns([{ path: 'more', rename: 'less' }]),
    () => table.dropColumns(['less']),
    () => table.optimize(),
    async () => {
      await table.checkout(2);
      await table.restore();
    },
    () => db.createTable('t', ids(7), { mode: 'overwrite' }),
  ]) {
    await change();
    await follows();
  }
  const again = await db.openTable('t');
  const tags = await again.tags();
  await tags.create('one', 1);
  await tags.create('two', 2);
  expect(namesIn(fs, `${T}/_refs/tags`)).toEqual(['one.json', 'two.json']);
  await tags.update('one', 3);
  const tag = JSON.parse(String(fs.readFileSync(`${T}/_refs/tags/one.json`, 'utf8')));
  expect(tag).toMatchObject({ branch: null, version: 3 });
  expect(tag.manifestSize).toBe((fs.statSync(manifest(3)) as { size: number }).size);
  await tags.delete('two');
  expect(namesIn(fs, `${T}/_refs/tags`)).toEqual(['one.json']);
  const branches = await again.branches();
  const draft = await branches.create('Draft');
  await draft.add(ids(8));
  const newest = await again.version();
  expect(versionsIn(fs, `${T}/tree/Draft`)).toEqual([newest, newest + 1]);
  expect(namesIn(fs, `${T}/_refs/branches`)).toEqual(['Draft.json']);
  await follows();
  await branches.delete('Draft');
  expect(namesIn(fs, `${T}/_refs/branches`)).toEqual([]);
  expect(namesIn(fs, `${T}/tree`)).toEqual([]);
  // The files of the branch stay until cleanup.
  expect(await verified(db)).toMatchObject({ problems: [] });
});

test('a commit stands whatever becomes of its manifest for Lance, and the next one makes up for it', async () => {
  const { fs, db } = await synced();
  const table = await db.createTable('t', ids(1));
  const { linkSync } = fs;
  fs.linkSync = ((from: string, to: string) => {
    if (String(to).includes('_versions'))
      throw Object.assign(new Error('full'), { code: 'ENOSPC' });
    return linkSync.call(fs, from, to);
  }) as never;
  await table.add(ids(2));
  await (await table.tags()).create('named', 2);
  expect(await table.countRows()).toBe(2);
  expect(versionsIn(fs, T)).toEqual([1]);
  const { problems, leftovers } = await verified(db);
  expect(problems).toEqual([]);
  expect(leftovers).toContainEqual({ path: manifest(2).slice(3), kind: 'unsynced' });
  fs.linkSync = linkSync;
  await table.add(ids(3));
  expect(versionsIn(fs, T)).toEqual([1, 2, 3]);
  expect(await verified(db)).toEqual(CLEAN);
});

test('a table of its own mode follows in a catalog that does not, and not the other way round', async () => {
  const fs = memoryFs();
  const db = await connect('/c', { fs, lance: 'read' });
  await db.createTable('t', ids(1), { properties: { lance: 'sync' } });
  await (await db.openTable('t')).add(ids(2));
  expect(versionsIn(fs, T)).toEqual([1, 2]);
  await (await db.createTable('plain', ids(1))).add(ids(2));
  expect(versionsIn(fs, '/c/data/plain.table')).toEqual([0]);
  const following = await connect('/c', { fs, lance: 'sync' });
  await (await following.openTable('plain')).add(ids(3));
  expect(versionsIn(fs, '/c/data/plain.table')).toEqual([1, 2, 3]);
  await following.createTable('off', ids(1), { properties: { lance: 'read' } });
  expect(versionsIn(fs, '/c/data/off.table')).toEqual([0]);
});

test('versions that go take their manifests along, and those of other programs stay', async () => {
  const { fs, db } = await synced();
  const table = await db.createTable('t', ids(1));
  for (const id of [2, 3, 4]) await table.add(ids(id));
  await (await table.tags()).create('keep', 2);
  const draft = await (await table.branches()).create('draft');
  await draft.add(ids(5));
  fs.writeFileSync(manifest(9), 'of another program');
  await table.optimize({ cleanupOlderThan: new Date(), compaction: false });
  expect(versionsIn(fs, T)).toEqual([2, 4, 9]);
  expect((await verified(db)).problems).toMatchObject([
    { kind: 'manifest', path: manifest(9).slice(3) },
  ]);
  await db.namespace.cleanupTable?.({ id: ['t'], older_than_millis: 0 });
  expect(versionsIn(fs, T)).toEqual([2, 4, 9]);
});

test('a manifest that is in the way of a version is set aside, and cleanup removes it one day', async () => {
  const { fs, db } = await synced();
  const table = await db.createTable('t', ids(1));
  fs.writeFileSync(manifest(2), 'of another program');
  await table.add(ids(2));
  expect(String(fs.readFileSync(manifest(2)))).not.toBe('of another program');
  const aside = namesIn(fs, `${T}/_versions`).filter((name) => name.includes('.aside-'));
  expect(aside.length).toBe(1);
  expect(await verified(db)).toEqual({
    problems: [],
    leftovers: [{ path: `data/t.table/_versions/${aside[0]}`, kind: 'orphan' }],
  });
});

test('damage of what Lance finds is told, file by file', async () => {
  const { fs, db } = await synced();
  const table = await db.createTable('t', ids(1));
  await table.add(ids(2));
  await (await table.tags()).create('one', 1);
  await (await table.branches()).create('draft');
  const tag = `${T}/_refs/tags/one.json`;
  const branch = `${T}/_refs/branches/draft.json`;
  const inBranch = manifest(2, `${T}/tree/draft`);
  for (const [path, kind] of [
    [manifest(1), 'manifest'],
    [inBranch, 'manifest'],
    [tag, 'tag'],
    [branch, 'branch'],
  ] as const) {
    const whole = fs.readFileSync(path) as Buffer;
    for (const damaged of [Buffer.alloc(0), whole.subarray(1), whole.subarray(0, -2)]) {
      fs.unlinkSync(path);
      fs.writeFileSync(path, damaged);
      expect((await verified(db)).problems).toMatchObject([{ kind, path: path.slice(3) }]);
    }
    fs.unlinkSync(path);
    expect(await verified(db)).toEqual({
      problems: [],
      leftovers: [{ path: path.slice(3), kind: 'unsynced' }],
    });
    fs.mkdirSync(path);
    expect((await verified(db)).problems).toMatchObject([{ path: path.slice(3) }]);
    fs.rmdirSync(path);
    fs.writeFileSync(path, whole);
    expect(await verified(db)).toEqual(CLEAN);
  }
  fs.mkdirSync(`${T}/tree/other/_versions`, { recursive: true });
  fs.writeFileSync(manifest(1, `${T}/tree/other`), 'x');
  fs.writeFileSync(`${T}/_refs/tags/theirs.json`, '{}');
  expect((await verified(db)).problems).toMatchObject([
    { kind: 'tag', path: 'data/t.table/_refs/tags/theirs.json' },
    { kind: 'manifest' },
  ]);
});

test('a version that Lance cannot read has a manifest that Lance refuses, so that no older one is the newest', async () => {
  const { fs, db } = await synced();
  const pair = new Struct([new Field('a', new Int32(), true)]);
  const rows = (...values: unknown[]): never =>
    new Table({ pair: vectorFromArray(values, pair) }) as never;
  const table = await db.createTable('t', rows({ a: 1 }));
  await table.add(rows(null));
  await table.delete('pair is null');
  expect(versionsIn(fs, T)).toEqual([1, 2, 3]);
  const size = (version: number): number =>
    (fs.statSync(manifest(version)) as { size: number }).size;
  expect(size(2)).toBeLessThan(size(1));
  expect(await verified(db)).toEqual(CLEAN);
});

test('handles at once leave no version without its manifest', async () => {
  const fs = memoryFs();
  const { db } = await synced(fs);
  await db.createTable('t', ids(0));
  const others = await Promise.all([1, 2, 3].map(async () => (await synced(fs)).db));
  await Promise.all(
    others.map(async (other, at) => {
      const table = await other.openTable('t');
      for (let turn = 0; turn < 6; turn++) await table.add(ids(at * 10 + turn));
    }),
  );
  expect(versionsIn(fs, T)).toEqual(Array.from({ length: 19 }, (_, at) => at + 1));
  expect(await verified(db)).toEqual(CLEAN);
});

test('a writer that outlived its table changes nothing for the one that took its name', async () => {
  const { fs, db } = await synced();
  const old = await db.createTable('t', ids(1));
  await db.dropTable('t');
  await db.createTable('t', ids(2));
  const before = fs.readFileSync(manifest(1)) as Buffer;
  const error = await old.add(ids(3)).catch((reason: unknown) => reason);
  expect(isDirspaceError(error as Error, 'TableNotFound')).toBe(true);
  expect(versionsIn(fs, T)).toEqual([1]);
  expect(Buffer.compare(fs.readFileSync(manifest(1)) as Buffer, before)).toBe(0);
  expect(await verified(db)).toMatchObject({ problems: [] });
});

test('what refused writers left is no damage, and a synchronization removes it when it is old', async () => {
  const { fs, db } = await synced();
  await db.createTable('t', ids(1));
  const data = `${T}/data/011101100100010011110111f2b9e14efa9d95ee6606e8e8ac.lance`;
  const transaction = `${T}/_transactions/1-f6d8fe70-b79a-41f1-ab37-30f6f2881395.txn`;
  fs.mkdirSync(`${T}/_transactions`);
  for (const file of [data, transaction]) fs.writeFileSync(file, 'x');
  expect(await verified(db)).toEqual({
    problems: [],
    leftovers: [
      { path: data.slice(3), kind: 'orphan' },
      { path: `${T}/_transactions`.slice(3), kind: 'orphan' },
    ],
  });
  await db.syncLance(['t']);
  expect(fs.existsSync(data)).toBe(true);
  // Ages are by the clock of the file system: that of a process may be days ahead.
  const env = { ...systemEnv, now: () => Date.now() + 30 * 24 * 3_600_000 };
  await (await connect('/c', { fs, env })).syncLance(['t']);
  expect(fs.existsSync(data)).toBe(true);
  const old = new Date(Date.now() - 8 * 24 * 3_600_000);
  for (const file of [data, transaction]) fs.utimesSync(file, old, old);
  // While Lance reads a manifest of another program, that may refer to them.
  const theirs = manifest(2, `${T}/tree/theirs`);
  fs.mkdirSync(`${T}/tree/theirs/_versions`, { recursive: true });
  fs.writeFileSync(theirs, 'x');
  await db.syncLance(['t']);
  expect(fs.existsSync(data)).toBe(true);
  fs.unlinkSync(theirs);
  expect((await db.syncLance(['t'])).tables[0]?.removed).toBe(2);
  expect([data, transaction].map((file) => fs.existsSync(file))).toEqual([false, false]);
});

test.each(['read', 'sync', 'write'] as const)(
  'files that a killed client of Lance was writing are no damage and go after a week: %s',
  async (lance) => {
    const { fs } = await synced();
    const db = await connect('/c', { fs, lance });
    const table = await db.createTable('t', ids(1));
    await table.add(ids(2));
    await (await table.branches()).create('draft');
    await db.syncLance(['t']);
    const folders = ['data', '_versions', '_deletions', '_transactions', '_refs/tags'];
    const names = ['.tmp9VJEcK', '18446744073709551612.manifest#1'];
    const files = [...folders, '_refs/branches', 'tree/draft/_versions'].flatMap((folder) => {
      fs.mkdirSync(`${T}/${folder}`, { recursive: true });
      return names.map((name) => `${T}/${folder}/${name}`);
    });
    const left = (): string[] => files.filter((file) => fs.existsSync(file));
    const age = (days: number): void => {
      const then = new Date(Date.now() - days * 24 * 3_600_000);
      for (const file of files) {
        fs.writeFileSync(file, 'x');
        fs.utimesSync(file, then, then);
      }
    };
    const optimize = () =>
      table.optimize({
        cleanupOlderThan: new Date(0),
        deleteUnverified: true,
        compaction: false,
      });
    age(6);
    const { problems, leftovers } = await verified(db);
    expect(problems).toEqual([]);
    // Of the folder of transactions verify tells as a whole.
    expect(leftovers).toHaveLength(files.length - 1);
    expect(leftovers).toContainEqual({ path: `${T}/data/.tmp9VJEcK`.slice(3), kind: 'temporary' });
    await optimize();
    await db.syncLance(['t']);
    expect(left()).toEqual(files);
    age(8);
    await optimize();
    expect(left()).toEqual([]);
    age(8);
    expect((await db.syncLance(['t'])).tables[0]?.removed).toBe(files.length);
    expect(left()).toEqual([]);
    expect((await verified(db)).problems).toEqual([]);
    expect(await table.countRows()).toBe(2);
  },
);

test('names that are almost those of files in the making are told as before', async () => {
  const { fs, db } = await synced();
  await db.createTable('t', ids(1));
  const names = ['.tmp9VJEc', '.tmp9VJEcKx', '.tmp9VJE_K', 'x#', '#1', 'x#1a'];
  const files = ['data', '_versions'].flatMap((at) => names.map((name) => `${T}/${at}/${name}`));
  for (const file of files) fs.writeFileSync(file, 'x');
  const { problems, leftovers } = await verified(db);
  expect(problems).toHaveLength(files.length);
  expect(leftovers).toEqual([]);
});

test('a forced version is told, set aside when asked, and its rows stay where they are', async () => {
  const { fs, db } = await synced();
  const table = await db.createTable('t', ids(1));
  await table.add(ids(2));
  const tag = `${T}/_refs/tags/theirs.json`;
  fs.mkdirSync(`${T}/_refs/tags`, { recursive: true });
  fs.writeFileSync(manifest(3), 'of another program');
  fs.writeFileSync(tag, '{}');
  expect((await verified(db)).problems).toMatchObject([
    { kind: 'manifest', path: manifest(3).slice(3) },
    { kind: 'tag', path: tag.slice(3) },
  ]);
  const [found] = (await db.syncLance(['t'])).tables;
  expect(found).toMatchObject({ opens: true, versions: 2, left: [tag.slice(3)] });
  expect(found?.setAside).toEqual([expect.stringMatching(/\.manifest\.aside-/)]);
  expect(String(fs.readFileSync(`/c/${found?.setAside[0]}`))).toBe('of another program');
  expect(versionsIn(fs, T).filter((version) => version !== undefined)).toEqual([1, 2]);
  expect((await verified(db)).problems).toMatchObject([{ kind: 'tag' }]);
});

test('names of manifests at which Lance opens nothing are told, and set aside when asked', async () => {
  const { fs, db } = await synced();
  const table = await db.createTable('t', ids(1));
  await (await table.branches()).create('draft');
  const mine = fs.readFileSync(manifest(1)) as Buffer;
  const strange = [
    // Lance's earlier names, also with the bytes of one of ours; and a version larger than any.
    [`${T}/_versions/99.manifest`, 'of another program'],
    [`${T}/_versions/1.manifest`, mine],
    [`${T}/_versions/00000000000000000001.manifest`, 'of another program'],
    [`${T}/tree/draft/_versions/7.manifest`, 'of another program'],
  ] as const;
  for (const [path, bytes] of strange) fs.writeFileSync(path, bytes);
  const problems = strange.map(([path]) => ({
    path: path.slice(3),
    kind: 'manifest',
    what: expect.stringContaining('Lance opens no version while it is there'),
  }));
  const byPath = (one: { path: string }, other: { path: string }): number =>
    one.path < other.path ? -1 : 1;
  expect([...((await verified(db)).problems as typeof problems)].sort(byPath)).toEqual(
    problems.sort(byPath),
  );
  const [found] = (await db.syncLance(['t'])).tables;
  expect(found).toMatchObject({ opens: true, written: 0, removed: 0 });
  expect(found?.setAside).toHaveLength(strange.length);
  for (const [path, bytes] of strange) {
    expect(fs.existsSync(path)).toBe(false);
    const aside = found?.setAside.find((each) => `/c/${each}`.startsWith(`${path}.aside-`));
    expect(Buffer.from(fs.readFileSync(`/c/${aside}`) as Buffer)).toEqual(Buffer.from(bytes));
  }
  expect(await verified(db)).toMatchObject({ problems: [], leftovers: { length: strange.length } });
});

test('over REST a branch has manifests of its own, which say where the files of the table are', async () => {
  const fs = memoryFs();
  const db = await connect('/c', { fs, lance: 'read' });
  const table = await db.createTable('t', ids(1));
  const draft = await (await table.branches()).create('draft');
  await draft.add(ids(2));
  await draft.delete('id = 1');
  const { versions } = await db.namespace.listTableVersions(
    { id: ['t'], branch: 'draft' },
    { forLance: true },
  );
  expect(versions.map(({ version }) => version)).toEqual([1, 2, 3]);
  for (const { version, manifest_path: path = '' } of versions) {
    const found = readLanceManifest(fs.readFileSync(path) as Buffer, path);
    expect(found).toMatchObject({ version, branch: 'draft' });
    expect(found.bases).toMatchObject([{ id: 0, isDatasetRoot: true, path: T }]);
    expect(found.fragments.every(({ files }) => files.every(({ base }) => base === 0))).toBe(true);
  }
});

test('a copy of the catalog elsewhere is followed there once it is synchronized', async () => {
  const { fs, db } = await synced();
  const table = await db.createTable('t', ids(1));
  await (await (await table.branches()).create('draft')).add(ids(2));
  fs.renameSync('/c', '/d');
  const moved = await connect('/d', { fs });
  const branch = manifest(2, '/d/data/t.table/tree/draft');
  const base = (): unknown =>
    readLanceManifest(fs.readFileSync(branch) as Buffer, branch).bases[0]?.path;
  expect(base()).toBe(T);
  const { problems, leftovers } = await verified(moved);
  expect(problems).toEqual([]);
  expect(leftovers).toContainEqual({ path: branch.slice(3), kind: 'unsynced' });
  await moved.syncLance();
  expect(base()).toBe('/d/data/t.table');
  expect((await verified(moved)).problems).toEqual([]);
});

test.each(['off', 'read'] as const)(
  'versions that stand go on being followed once the mode is %s',
  async (mode) => {
    const { fs, db } = await synced();
    await db.createTable('t', ids(1));
    const plain = await connect('/c', { fs, lance: mode });
    const table = await plain.openTable('t');
    await table.add(ids(2));
    await (await table.tags()).create('late', 2);
    const draft = await (await table.branches()).create('draft');
    await draft.add(ids(3));
    expect(versionsIn(fs, T)).toEqual([1, 2]);
    expect(namesIn(fs, `${T}/_refs/tags`)).toEqual(['late.json']);
    expect(versionsIn(fs, `${T}/tree/draft`)).toEqual([2, 3]);
    expect(await verified(plain)).toEqual(CLEAN);
    // Its readers are told of a version that they cannot read.
    const dotted = tableFromArrays({ 'a.b': Int32Array.of(7) }) as never;
    await plain.createTable('t', dotted, { mode: 'overwrite' });
    expect(versionsIn(fs, T)).toEqual([1, 2, 3]);
    const { length } = fs.readFileSync(manifest(3)) as Uint8Array;
    expect(length).toBeLessThan((fs.readFileSync(manifest(2)) as Uint8Array).length);
    await plain.createTable('t', ids(7), { mode: 'overwrite' });
    expect(versionsIn(fs, T)).toEqual([1, 2, 3, 4]);
    expect(await verified(plain)).toEqual(CLEAN);
  },
);

test('what was synchronized once is followed, and made up for where a manifest is missing', async () => {
  const fs = memoryFs();
  const db = await connect('/c', { fs, lance: 'read' });
  const table = await db.createTable('t', ids(1));
  await table.add(ids(2));
  expect(versionsIn(fs, T)).toEqual([0]);
  await db.syncLance();
  await table.add(ids(3));
  expect(versionsIn(fs, T)).toEqual([1, 2, 3]);
  // As a crash leaves it after the version is there.
  fs.unlinkSync(manifest(3));
  expect((await verified(db)).leftovers).toContainEqual({
    path: manifest(3).slice(3),
    kind: 'unsynced',
  });
  await table.add(ids(4));
  expect(versionsIn(fs, T)).toEqual([1, 2, 3, 4]);
  expect(await verified(db)).toEqual(CLEAN);
});

test('what another program left in a table that nothing follows is not set aside by commits', async () => {
  const fs = memoryFs();
  const db = await connect('/c', { fs, lance: 'read' });
  const table = await db.createTable('t', ids(1));
  for (const version of [1, 2]) fs.writeFileSync(manifest(version), 'of another program');
  await table.add(ids(2));
  await table.add(ids(3));
  expect(versionsIn(fs, T)).toEqual([0, 1, 2]);
  expect(String(fs.readFileSync(manifest(2)))).toBe('of another program');
});

test('the manifest that keeps readers of Lance off a table written without it', async () => {
  const fs = memoryFs();
  const db = await connect('/c', { fs, lance: 'off' });
  await (await db.createTable('t', ids(1))).add(ids(2));
  for (const version of [1, 2]) {
    const told = await db.namespace.describeTableVersion(
      { id: ['t'], version },
      { forLance: true },
    );
    const path = String(told.version.manifest_path);
    const bytes = fs.readFileSync(path) as Uint8Array;
    expect(readLanceManifest(bytes, path)).toMatchObject({ version, readerFlags: 2n ** 40n });
  }
  expect(await verified(db)).toEqual(CLEAN);
  await db.namespace.cleanupTable?.({ id: ['t'], older_than_millis: 0 });
  expect((await verified(db)).problems).toEqual([]);
});
