/**
 * The fence against Lance's writers by path: which tables have it, that it stays with the table, goes once
 * versions stand there, comes back where it is missing, and is told from everything else in `_versions`.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tableFromArrays } from '../../../src/arrow/apache.ts';
import { openDirectoryNamespace } from '../../../src/directory/directory-namespace.ts';
import { isFoundByLance } from '../../../src/directory/upkeep/lance-catalog-rows.ts';
import {
  isOwnLanceManifest,
  lanceFence,
  lastName,
  readLanceManifest,
} from '../../../src/format/index.ts';
import type { LanceMode } from '../../../src/lance-mode.ts';
import {
  lanceFenceFile,
  lanceVersionFile,
  parseLanceVersionFile,
} from '../../../src/lance-paths.ts';
import { connect } from '../../../src/sdk/connect.ts';
import { strictFileSystem } from '../../../src/store/disk/strict-fs.ts';
import { filesOf, memoryFs, type TestFs } from '../../helpers/catalogs.ts';
import { FaultyFs } from '../../helpers/faulty-fs.ts';
import { casesOf } from '../../helpers/long.ts';
import { PowerLossFs } from '../../helpers/power-loss-fs.ts';
import { seeded } from '../../helpers/seeded.ts';
import { people } from '../../suites/namespace/context.ts';

type Db = Awaited<ReturnType<typeof connect>>;

const ids = (...values: number[]): never =>
  tableFromArrays({ id: Int32Array.from(values) }) as never;
const T = '/c/data/t.table';
const FENCE = lanceFenceFile(T);
const namesIn = (fs: TestFs, folder: string): string[] =>
  fs.existsSync(folder) ? (fs.readdirSync(folder) as string[]).sort() : [];
/** Of the versions that Lance finds by path; 0 is the fence. */
const foundIn = (fs: TestFs, folder = T): (number | undefined)[] =>
  namesIn(fs, `${folder}/_versions`).map(parseLanceVersionFile).reverse();
const inRoot = (path: string): string => path.slice('/c/'.length);

async function verified(db: Db): Promise<{ problems: unknown[]; leftovers: unknown[] }> {
  const { problems = [], leftovers = [] } = (await db.namespace.verify?.({})) ?? {};
  return { problems: [...problems], leftovers: [...leftovers] };
}
const CLEAN = { problems: [], leftovers: [] };
const UNSYNCED = { problems: [], leftovers: [{ path: inRoot(FENCE), kind: 'unsynced' }] };

async function fenced(mode: LanceMode = 'read'): Promise<{ fs: TestFs; db: Db }> {
  const fs = memoryFs();
  const db = await connect('/c', { fs, lance: mode });
  await db.createTable('t', ids(1, 2));
  return { fs, db };
}
/** As releases before this one left a table. */
function unfence(fs: TestFs): void {
  fs.unlinkSync(FENCE);
  fs.rmdirSync(`${T}/_versions`);
}

test('the bytes of the fence are those of the fixture, which Lance was seen to refuse', () => {
  const bytes = lanceFence();
  const golden = join(import.meta.dirname, '../../../fixtures/lance-fence.manifest');
  expect(Buffer.compare(bytes, readFileSync(golden))).toBe(0);
  expect(lanceFence()).toBe(bytes);
  const unknown = 2n ** 40n;
  expect(readLanceManifest(bytes, 'fence')).toMatchObject({
    version: 0,
    readerFlags: unknown,
    writerFlags: unknown,
  });
  expect(isOwnLanceManifest(bytes)).toBe(true);
  expect(lanceFenceFile('t')).toBe('t/_versions/18446744073709551615.manifest');
});

test.each<[LanceMode, LanceMode | undefined, number[]]>([
  ['read', undefined, [0]],
  ['sync', undefined, [1]],
  ['write', undefined, [1]],
  ['off', undefined, []],
  ['off', 'read', [0]],
  ['sync', 'read', [0]],
  ['read', 'off', []],
  ['read', 'sync', [1]],
])('a catalog in the mode %s makes a table in the mode %s', async (mode, own, found) => {
  const fs = memoryFs();
  const db = await connect('/c', { fs, lance: mode });
  await db.createTable('t', ids(1), own === undefined ? {} : { lance: own });
  expect(foundIn(fs)).toEqual(found);
  if (found.includes(0)) {
    expect(Buffer.compare(fs.readFileSync(FENCE) as Buffer, lanceFence())).toBe(0);
  }
  expect(await verified(db)).toEqual(CLEAN);
  await (await db.openTable('t')).add(ids(2));
  expect(foundIn(fs)).toEqual(found[0] === 1 ? [1, 2] : found);
  expect(await verified(db)).toEqual(CLEAN);
});

test('a declared table is open to other programs until it has rows of this engine', async () => {
  const fs = memoryFs();
  const db = await connect('/c', { fs, lance: 'read' });
  const { location = '' } = await db.namespace.declareTable({ id: ['t'] });
  expect(namesIn(fs, location)).toEqual([]);
  expect(foundIn(fs)).toEqual([]);
  await db.namespace.insertIntoTable({ id: ['t'] }, people(2));
  expect(foundIn(fs)).toEqual([0]);
  expect(await verified(db)).toEqual(CLEAN);
});

test.each<[string, (db: Db) => Promise<unknown>]>([
  ['rows are added', async (db) => (await db.openTable('t')).add(ids(3))],
  ['a column is dropped', async (db) => (await db.openTable('t')).delete('id = 1')],
  ['it is compacted', async (db) => (await db.openTable('t')).optimize()],
  ['it is overwritten', (db) => db.createTable('t', ids(3), { mode: 'overwrite' })],
  ['a tag is made', async (db) => (await (await db.openTable('t')).tags()).create('a', 1)],
  ['a branch is made', async (db) => (await (await db.openTable('t')).branches()).create('a')],
  ['it is renamed', (db) => db.renameTable('t', 'u').then(() => db.renameTable('u', 't'))],
  ['it was dropped and brought back', (db) => db.dropTable('t').then(() => db.undropTable('t'))],
])('a table of before gets its fence when %s', async (_, change) => {
  const { fs, db } = await fenced();
  await (await db.openTable('t')).add(ids(7));
  unfence(fs);
  expect(await verified(db)).toEqual(UNSYNCED);
  await change(db);
  expect(foundIn(fs)).toEqual([0]);
  expect(await verified(db)).toMatchObject({ problems: [] });
});

test('the fence goes along with the table, and stays through cleanup', async () => {
  const { fs, db } = await fenced();
  await db.createNamespace(['n']);
  await db.renameTable('t', 'u', { namespacePath: [], newNamespacePath: ['n'] });
  const moved = '/c/n/u.table';
  expect(foundIn(fs, moved)).toEqual([0]);
  await db.dropTable('u', ['n']);
  await db.undropTable('u', ['n']);
  expect(foundIn(fs, moved)).toEqual([0]);
  const { location = '' } = await db.deregisterTable('u', ['n']);
  expect(foundIn(fs, location)).toEqual([0]);
  await db.registerTable('t', location);
  expect(foundIn(fs)).toEqual([0]);
  const table = await db.openTable('t');
  await table.add(ids(5));
  await table.optimize({ cleanupOlderThan: new Date() });
  for (const dry_run of [true, false])
    await db.namespace.cleanupTable?.({
      id: ['t'],
      older_than_millis: 0,
      orphan_grace_millis: 0,
      dry_run,
    });
  expect(foundIn(fs)).toEqual([0]);
  expect(await verified(db)).toEqual(CLEAN);
});

test('the fence of a table keeps no manifest of a branch that is gone', async () => {
  const { fs, db } = await fenced();
  const left = lanceVersionFile(`${T}/tree/gone`, 1);
  fs.mkdirSync(`${T}/tree/gone/_versions`, { recursive: true });
  fs.writeFileSync(left, lanceFence());
  await db.namespace.cleanupTable?.({ id: ['t'], older_than_millis: 1e12 });
  expect(fs.existsSync(left)).toBe(false);
  expect(foundIn(fs)).toEqual([0]);
});

test('once versions stand there, no fence does', async () => {
  const { fs, db } = await fenced();
  const table = await db.openTable('t');
  await table.add(ids(3));
  await db.syncLance();
  expect(foundIn(fs)).toEqual([1, 2]);
  // As a writer leaves it that looked before they stood.
  fs.writeFileSync(FENCE, lanceFence());
  expect(await verified(db)).toEqual({
    problems: [],
    leftovers: [{ path: inRoot(FENCE), kind: 'orphan' }],
  });
  const older_than_millis = 1e12;
  const removed = await db.namespace.cleanupTable?.({ id: ['t'], older_than_millis });
  expect(removed).toMatchObject({ files_removed: 1 });
  expect(foundIn(fs)).toEqual([1, 2]);
  fs.writeFileSync(FENCE, lanceFence());
  await db.syncLance();
  expect(foundIn(fs)).toEqual([1, 2]);
  await table.add(ids(4));
  expect(foundIn(fs)).toEqual([1, 2, 3]);
  expect(await verified(db)).toEqual(CLEAN);
});

test.each<[LanceMode, LanceMode, number[]]>([
  ['read', 'sync', [1, 2]],
  ['read', 'write', [1, 2]],
  ['read', 'off', [0]],
  ['off', 'read', [0]],
  ['off', 'sync', [1, 2]],
])('a catalog is switched from %s to %s', async (from, to, found) => {
  const { fs, db } = await fenced(from);
  await db.close();
  const switched = await connect('/c', { fs, lance: to });
  await (await switched.openTable('t')).add(ids(3));
  expect(foundIn(fs)).toEqual(found);
  expect(await verified(switched)).toEqual(CLEAN);
});

test.each<[string, string[] | undefined, boolean]>([
  ['no folder of versions', undefined, false],
  ['the fence alone', ['18446744073709551615.manifest'], false],
  ['the fence and what is no manifest', ['18446744073709551615.manifest', 'x.txt'], false],
  [
    'the fence and a version',
    ['18446744073709551615.manifest', '18446744073709551614.manifest'],
    true,
  ],
  ['a version', ['18446744073709551614.manifest'], true],
  ['a version named in the older way', ['18446744073709551615.manifest', '1.manifest'], true],
])('by %s, the list of tables for Lance is told', async (_, names, isFound) => {
  const store = {
    enter: () => names !== undefined,
    head: (path: string) => (names?.includes(lastName(path)) === true ? { size: 1 } : undefined),
    list: () => names?.map((name) => ({ name, kind: 'file' })),
  };
  expect(await isFoundByLance({ store } as never, 't.table')).toBe(isFound);
});

test('a catalog that follows lists no table that has a fence', async () => {
  const { db } = await fenced('sync');
  await db.createTable('fenced', ids(1), { lance: 'read' });
  expect((await db.syncLance([])).catalog).toMatchObject({ tables: 2 });
  await db.createTable('again', ids(1), { lance: 'read' });
  expect(await verified(db)).toEqual(CLEAN);
});

const whole = lanceFence();
const flipped = Uint8Array.from(whole, (byte, at) => (at === 20 ? byte ^ 8 : byte));
const DAMAGED: [string, Uint8Array][] = [
  ['cut', whole.subarray(0, 40)],
  ['empty', new Uint8Array()],
  ['flipped', flipped],
  ['of another program', Buffer.from('of another program')],
];

test.each(DAMAGED)('a fence that is %s is found, and made up for', async (_, bytes) => {
  const { fs, db } = await fenced();
  fs.writeFileSync(FENCE, bytes);
  const { problems, leftovers } = await verified(db);
  expect(problems).toMatchObject([{ kind: 'manifest', path: inRoot(FENCE) }]);
  expect(String((problems[0] as { what: string }).what)).toContain('Synchronize');
  expect(leftovers).toEqual([]);
  await db.syncLance();
  expect(foundIn(fs).filter((version) => version !== undefined)).toEqual([1]);
  expect(await verified(db)).toMatchObject({ problems: [] });
});

test('where another program made a dataset beside the rows, the fence keeps nothing of it back', async () => {
  const { fs, db } = await fenced();
  unfence(fs);
  fs.mkdirSync(`${T}/_versions`);
  fs.writeFileSync(lanceVersionFile(T, 1), 'of another program');
  await (await db.openTable('t')).add(ids(3));
  expect(foundIn(fs)).toEqual([0, 1]);
  expect((await verified(db)).problems).toMatchObject([{ path: inRoot(lanceVersionFile(T, 1)) }]);
  const { tables } = await db.syncLance();
  expect(tables[0]?.setAside).toHaveLength(1);
  expect(foundIn(fs).filter((version) => version !== undefined)).toEqual([1, 2]);
});

test('a table that lost its versions is not taken for one of Lance', async () => {
  const { fs, db } = await fenced();
  const lost = filesOf(fs, T).all();
  for (const path of lost) if (/versions-.*\/.+/.test(path)) fs.unlinkSync(`${T}/${path}`);
  const again = await connect('/c', { fs });
  const problem = await again.namespace
    .createTable({ id: ['t'], mode: 'Overwrite' }, people(1))
    .catch((error: Error) => error.message);
  expect(String(problem)).not.toContain("Lance's format");
  expect(String(problem)).toContain('/data/');
  await db.close();
});

test('a commit stands where its fence cannot be written', async () => {
  const { fs, db } = await fenced();
  unfence(fs);
  const { linkSync } = fs;
  fs.linkSync = ((from: string, to: string) => {
    if (String(to) === FENCE) throw Object.assign(new Error('full'), { code: 'ENOSPC' });
    return linkSync.call(fs, from, to);
  }) as never;
  const table = await db.openTable('t');
  await table.add(ids(3));
  expect(await table.countRows()).toBe(3);
  expect(foundIn(fs)).toEqual([]);
  fs.linkSync = linkSync;
  await table.add(ids(4));
  expect(foundIn(fs)).toEqual([0]);
});

test.each(['kill', 'EIO'])(
  '%s at every call of creating a table: all of it, or none',
  async (kind) => {
    let calls = 0;
    for (let at = 1; ; at += casesOf(5, 1)) {
      const healthy = strictFileSystem(memoryFs());
      await (await openDirectoryNamespace({ root: '/c', fs: healthy })).close();
      const faulty = new FaultyFs(healthy);
      const catalog = await openDirectoryNamespace({ root: '/c', fs: faulty.fs });
      faulty.arm({ kind, at });
      await catalog.createTable({ id: ['t'] }, people(2)).catch(() => {});
      calls = faulty.log.length;
      const again = await openDirectoryNamespace({ root: '/c', fs: healthy });
      const { problems, leftovers } = await again.verify({});
      expect(problems, `call ${at}`).toEqual([]);
      expect(leftovers.filter(({ kind: found }) => found === 'unsynced')).toEqual([]);
      expect(healthy.existsSync(FENCE), `call ${at}`).toBe(healthy.existsSync(T));
      if (!faulty.fired) break;
    }
    expect(calls).toBeGreaterThan(20);
  },
);

test('after power is lost a table that was created has its whole fence', async () => {
  for (let seed = 1; seed <= 20; seed++) {
    const disk = new PowerLossFs();
    const catalog = await openDirectoryNamespace({ root: '/c', fs: disk.fs, durability: 'full' });
    await catalog.createTable({ id: ['t'] }, people(2));
    const next = await disk.afterPowerLoss(seeded(seed));
    const again = await openDirectoryNamespace({ root: '/c', fs: next });
    expect(await again.verify({}), `seed ${seed}`).toMatchObject(CLEAN);
    expect(next.existsSync(FENCE)).toBe(true);
  }
});
