/** Writers in progress: announced before their first file, and what cleanup does beside them. */
import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { requireTable } from '../../../src/directory/catalog/catalog.ts';
import {
  DirectoryNamespace,
  openDirectoryNamespace,
} from '../../../src/directory/directory-namespace.ts';
import { openCatalog } from '../../../src/directory/open-catalog.ts';
import { parseWriter, writerFile, writerOf } from '../../../src/paths.ts';
import { strictFileSystem, trustFileSystem } from '../../../src/store/disk/strict-fs.ts';
import { type Processes, type ProcessMark, systemProcesses } from '../../../src/store/processes.ts';
import { scan } from '../../../src/table/read/scan.ts';
import { mainBranch } from '../../../src/table/versions/branches.ts';
import { snapshotAt } from '../../../src/table/versions/head.ts';
import { UNKNOWN_WRITER_GRACE } from '../../../src/table/versions/writers.ts';
import { type Fault, FaultyFs } from '../../helpers/faulty-fs.ts';
import { casesOf } from '../../helpers/long.ts';
import { memoryFs, type TestFs } from '../../helpers/memory-fs.ts';
import { people } from '../../helpers/people.ts';
import { grow, treeOf } from '../../helpers/trees.ts';

const id = ['t'];
const FOLDER = '/c/data/t.table';
const NOW_ALL = { id, older_than_millis: 0, orphan_grace_millis: 0 };
const UUID = '0123abcd-0000-4000-8000-000000000001';

let fs: TestFs;
/** Processes that count as dead, by number. */
let dead: Set<number>;
beforeEach(() => {
  fs = memoryFs();
  dead = new Set();
});

const processOf = (pid: number): Processes => ({
  self: { scope: '0000beef', pid, start: 1 },
  stateOf: ({ scope, pid: other }) =>
    scope !== '0000beef' ? 'unknown' : dead.has(other) ? 'dead' : 'alive',
});

const open = (pid: number, options: object = {}): Promise<DirectoryNamespace> =>
  openDirectoryNamespace({
    root: '/c',
    fs: strictFileSystem(fs),
    durability: 'relaxed',
    processes: processOf(pid),
    ...options,
  });

const names = (folder: string): string[] =>
  fs.existsSync(`${FOLDER}/${folder}`) ? (fs.readdirSync(`${FOLDER}/${folder}`) as string[]) : [];
const announcements = (): string[] => names('.').filter((name) => parseWriter(name) !== undefined);

test('a name tells the writer and its process, and nothing else is taken for one', () => {
  const mark = { id: UUID, scope: '0000beef', pid: 4_194_304, start: 123_456_789 };
  const name = writerFile('t', mark).slice(2);
  expect(parseWriter(name)).toEqual(mark);
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.constant(name).map((n) => n.slice(0, -1)),
      ),
      (other) => {
        const found = parseWriter(other);
        if (found !== undefined) expect(writerFile('t', found)).toBe(`t/${other}`);
      },
    ),
  );
  for (const wrong of [
    `${name}x`,
    `x${name}`,
    name.replace('beef', 'BEEF'),
    '.tmp-writer-',
    name.slice(0, 40),
  ])
    expect(parseWriter(wrong)).toBeUndefined();
  expect(writerOf(`${UUID}-0.arrow`)).toBe(UUID);
  expect(writerOf(`${UUID}-1f.json`)).toBe(UUID);
  for (const wrong of [`${UUID}.arrow`, `${UUID}-.arrow`, `${UUID}-0.txt`, `x${UUID}-0.arrow`])
    expect(writerOf(wrong)).toBeUndefined();
});

const CHANGES: Readonly<Record<string, (catalog: DirectoryNamespace) => Promise<unknown>>> = {
  append: (catalog) => catalog.insertIntoTable({ id }, people(3, 10)),
  overwrite: (catalog) => catalog.insertIntoTable({ id, mode: 'overwrite' }, people(3, 10)),
  'create in mode overwrite': (catalog) =>
    catalog.createTable({ id, mode: 'overwrite' }, people(3)),
  delete: (catalog) => catalog.deleteFromTable({ id, predicate: 'id = 1' }),
  update: (catalog) => catalog.updateTable({ id, predicate: 'id = 1', updates: [['name', "'x'"]] }),
  merge: (catalog) =>
    catalog.mergeInsertIntoTable(
      { id, on: 'id', when_matched_update_all: true, when_not_matched_insert_all: true },
      people(2, 2),
    ),
  'add a column': (catalog) =>
    catalog.alterTableAddColumns({ id, new_columns: [{ name: 'n', expression: 'id * 2' }] }),
  compact: (catalog) => catalog.optimizeTable({ id }),
};

/** A table in which every change has something to do. */
async function table(pid = 1, options: object = {}): Promise<DirectoryNamespace> {
  const catalog = await open(pid, options);
  await catalog.createTable({ id }, people(3));
  await catalog.insertIntoTable({ id }, people(3, 3));
  return catalog;
}

describe.each([false, true])('managed versioning %s', (managedVersioning) => {
  test.each(Object.keys(CHANGES))(
    '%s is announced before its first file and no more after it',
    async (name) => {
      const catalog = await table(1, { managedVersioning });
      expect(announcements()).toEqual([]);
      const before = new Set([...names('data'), ...names('deletions'), ...names('chunks')]);
      const seen = new Set<string>();
      const spied = strictFileSystem(fs);
      const original = spied.openSync.bind(spied);
      let unannounced = 0;
      const watched = {
        ...spied,
        openSync: (path: string, flags: number | string, mode?: number) => {
          const file = /\/(?:data|deletions|chunks)\/([^/]+)$/.exec(path)?.[1];
          if (file !== undefined && !fs.existsSync(path)) {
            const writer = writerOf(file);
            if (!announcements().some((each) => parseWriter(each)?.id === writer)) unannounced += 1;
            seen.add(file);
          }
          return original(path, flags, mode);
        },
      };
      await catalog.close();
      const writer = await openDirectoryNamespace({
        root: '/c',
        fs: trustFileSystem(watched as never) as never,
        durability: 'relaxed',
        managedVersioning,
        processes: processOf(1),
      });
      await CHANGES[name]?.(writer);
      expect(seen.size).toBeGreaterThan(0);
      expect([...seen].filter((file) => before.has(file))).toEqual([]);
      expect(unannounced).toBe(0);
      expect(announcements()).toEqual([]);
    },
  );
});

/** How often each has its turn; a long run takes all calls. */
const FAULTS: readonly (Omit<Fault, 'at'> & { readonly step: number })[] = [
  { kind: 'kill', changing: true, step: casesOf(9, 1) },
  { kind: 'EIO', step: casesOf(31, 1) },
];

test('killed or failing at any call, a change loses nothing to the cleanup that follows', async () => {
  await table();
  const tree = treeOf(fs, '/c');
  for (const [index, [name, change]] of Object.entries(CHANGES).entries()) {
    for (const { step, ...fault } of FAULTS) {
      for (let at = 1 + (index % step); ; at += step) {
        fs = grow(tree, '/c');
        dead = new Set();
        const faulty = new FaultyFs(strictFileSystem(fs));
        const writer = await open(2, { fs: faulty.fs });
        faulty.arm({ ...fault, at });
        await change(writer).catch(() => {});
        const { fired } = faulty;
        faulty.arm();
        const where = `${name}, ${fault.kind} at ${at}`;
        const janitor = await open(3);
        const count = async (): Promise<unknown> => (await janitor.countTableRows({ id })).count;
        const rows = await count();
        // Beside a process that may still be at it nothing of its own is touched.
        const own = [...names('data'), ...names('deletions'), ...names('chunks')].filter((file) =>
          announcements().some((each) => parseWriter(each)?.id === writerOf(file)),
        );
        await janitor.cleanupTable(NOW_ALL);
        const left = new Set([...names('data'), ...names('deletions'), ...names('chunks')]);
        expect(
          own.filter((file) => !left.has(file)),
          where,
        ).toEqual([]);
        dead.add(2);
        await janitor.cleanupTable(NOW_ALL);
        expect(await count(), where).toBe(rows);
        const { problems, leftovers } = await janitor.verify({});
        expect(problems, where).toEqual([]);
        expect(
          leftovers.filter((one) => one.kind === 'orphan'),
          where,
        ).toEqual([]);
        expect(announcements(), where).toEqual([]);
        if (!fired) break;
      }
    }
  }
}, 120_000);

test('files of a writer in progress stay, are counted, and are committed', async () => {
  const catalog = await table();
  const janitor = await open(2);
  let go = (): void => {};
  const waiting = new Promise<void>((resolve) => {
    go = resolve;
  });
  const [first, second] = [people(2, 100), people(2, 102)];
  let begun = (): void => {};
  const written = new Promise<void>((resolve) => {
    begun = resolve;
  });
  async function* slowly() {
    yield* first;
    begun();
    await waiting;
    yield* second;
  }
  const slow = await open(3, { limits: { batchRows: 1, fragmentRows: 1 } });
  const adding = slow.insertIntoTable(
    { id },
    { schema: first.schema, [Symbol.asyncIterator]: slowly },
  );
  await written;
  expect(announcements()).toHaveLength(1);
  for (let time = 0; time < 3; time++) {
    const report = await janitor.cleanupTable(NOW_ALL);
    expect(report.files_kept).toBeGreaterThan(0);
  }
  go();
  await adding;
  expect((await catalog.countTableRows({ id })).count).toBe(10);
  expect((await janitor.cleanupTable(NOW_ALL)).files_kept).toBe(0);
  expect((await janitor.verify({})).problems).toEqual([]);
});

test('optimize with cleanupOlderThan now frees the bytes of what it replaces at once', async () => {
  const catalog = await table();
  const report = await catalog.optimizeTable({ id, cleanup_older_than_millis: 0 });
  expect(report).toMatchObject({
    fragments_removed: 2,
    versions_removed: 2,
    unused_files_removed: 2,
  });
  expect(report.bytes_removed).toBeGreaterThan(500);
  expect(names('data')).toHaveLength(1);
});

test('what a killed writer left goes at once, also where nothing was asked but the default', async () => {
  const catalog = await table();
  dead.add(9);
  const mark = writerFile('t', { id: UUID, scope: '0000beef', pid: 9, start: 1 }).slice(2);
  fs.writeFileSync(`${FOLDER}/${mark}`, '');
  const left = `${FOLDER}/data/${UUID}-0.arrow`;
  fs.writeFileSync(left, 'unfinished');
  // Versions that were lost may have referred to them: nothing tells that their writer died.
  const unannounced = `${FOLDER}/data/0123abcd-0000-4000-8000-000000000003-0.arrow`;
  fs.writeFileSync(unannounced, 'not referred to');
  const plain = `${FOLDER}/data/0123abcd-0000-4000-8000-000000000002.arrow`;
  fs.writeFileSync(plain, 'of an older release');
  const report = await catalog.cleanupTable({ id, older_than_millis: 1e9 });
  expect(report).toMatchObject({ files_removed: 1, files_kept: 2 });
  expect([left, unannounced, plain].map((file) => fs.existsSync(file))).toEqual([
    false,
    true,
    true,
  ]);
  const nothing = await catalog.cleanupTable({ id, older_than_millis: 1e9 });
  expect(nothing).toMatchObject({ files_removed: 0 });
  expect(nothing).not.toHaveProperty('files_kept');
  await catalog.cleanupTable({ id, older_than_millis: 1e9, orphan_grace_millis: 0 });
  expect([unannounced, plain].map((file) => fs.existsSync(file))).toEqual([false, false]);
});

describe('the announcement of a process', () => {
  const announce = async (mark: Partial<ProcessMark>) => {
    const catalog = await table();
    const name = writerFile('t', { id: UUID, scope: '0000beef', pid: 9, start: 1, ...mark }).slice(
      2,
    );
    fs.writeFileSync(`${FOLDER}/${name}`, '');
    fs.writeFileSync(`${FOLDER}/data/${UUID}-0.arrow`, 'x');
    const age = (millis: number): void => {
      const time = new Date(Date.now() - millis);
      fs.utimesSync(`${FOLDER}/${name}`, time, time);
    };
    const isKept = async (): Promise<boolean> => {
      const dry = await catalog.cleanupTable({ ...NOW_ALL, dry_run: true });
      expect(fs.existsSync(`${FOLDER}/data/${UUID}-0.arrow`)).toBe(true);
      await catalog.cleanupTable(NOW_ALL);
      const kept = fs.existsSync(`${FOLDER}/data/${UUID}-0.arrow`);
      expect(fs.existsSync(`${FOLDER}/${name}`)).toBe(kept);
      expect(dry.files_kept).toBe(kept ? 1 : 0);
      return kept;
    };
    return { isKept, age };
  };

  test('that lives keeps its files however old', async () => {
    const { isKept, age } = await announce({});
    age(100 * UNKNOWN_WRITER_GRACE);
    expect(await isKept()).toBe(true);
  });

  test('that died keeps nothing', async () => {
    const { isKept } = await announce({});
    dead.add(9);
    expect(await isKept()).toBe(false);
  });

  test('of another machine keeps its files for a week', async () => {
    const { isKept, age } = await announce({ scope: 'ffffffff' });
    age(UNKNOWN_WRITER_GRACE - 60_000);
    expect(await isKept()).toBe(true);
    age(UNKNOWN_WRITER_GRACE + 1000);
    expect(await isKept()).toBe(false);
  });
});

test('of processes of this machine it is told whether they live, by id and start', () => {
  const { self, stateOf } = systemProcesses();
  expect(self.pid).toBe(process.pid);
  expect(stateOf(self)).toBe('alive');
  expect(stateOf({ ...self, scope: '00000000' })).toBe('unknown');
  const child = spawnSync(process.execPath, ['-e', 'console.log(process.pid)'], {
    encoding: 'utf8',
  });
  expect(stateOf({ ...self, pid: Number(child.stdout), start: 5 })).toBe('dead');
  if (process.platform === 'linux') {
    expect(self.start).toBeGreaterThan(0);
    expect(stateOf({ ...self, start: self.start + 1 })).toBe('dead');
    expect(stateOf({ ...self, pid: process.ppid, start: 1 })).toBe('dead');
    expect(stateOf({ ...self, pid: process.ppid, start: 0 })).toBe('unknown');
  }
});

test('a file of a table cannot be written unannounced', async () => {
  const { catalog } = await openCatalog({ root: '/c', fs: strictFileSystem(fs) });
  expect(() => catalog.engine.newObject()).toThrow('unannounced');
});

test('a change whose base cleanup removes meanwhile is made anew on the newer version', async () => {
  const first = await table();
  // From 32 fragments on, every change reads chunks of its base.
  for (let at = 6; at < 40; at++) await first.insertIntoTable({ id }, people(1, at));
  const { version: base } = (await first.describeTableVersion({ id })).version;
  await first.close();
  const tree = treeOf(fs, '/c');
  for (const name of ['append', 'delete', 'update', 'merge', 'add a column', 'compact']) {
    fs = grow(tree, '/c');
    const janitor = await open(2);
    let meddled = false;
    const meddle = async (): Promise<void> => {
      meddled = true;
      await janitor.optimizeTable({ id, cleanup_older_than_millis: 0, orphan_grace_millis: 0 });
    };
    const { catalog: opened, store } = await openCatalog({
      root: '/c',
      fs: strictFileSystem(fs),
      durability: 'relaxed',
      processes: processOf(3),
    });
    // Right after it has found the newest version, and before it reads anything else of it.
    const get = store.get.bind(store);
    Object.assign(store, {
      get: async (path: string, ...more: []) => {
        const bytes = await get(path, ...more);
        if (!meddled && path.endsWith(`${base}.json`)) await meddle();
        return bytes;
      },
    });
    const writer = new DirectoryNamespace(opened, store, undefined);
    await CHANGES[name]?.(writer);
    expect(meddled, name).toBe(true);
    const { count } = await janitor.countTableRows({ id });
    const difference = { append: 3, delete: -1 }[name] ?? 0;
    expect(count, name).toBe(40 + difference);
    expect((await janitor.verify({})).problems, name).toEqual([]);
  }
});

test('who reads a version that cleanup removes is told so, also where its mark stands', async () => {
  const janitor = await table();
  const { catalog } = await openCatalog({
    root: '/c',
    fs: strictFileSystem(fs),
    processes: processOf(2),
    bufferBytes: 0,
  });
  const found = await requireTable(catalog, { id });
  const branch = mainBranch(found.folder, found.record.id);
  const snapshots = [
    await snapshotAt(catalog.engine, branch, 1),
    await snapshotAt(catalog.engine, branch, 2),
  ];
  await janitor.optimizeTable({ id, cleanup_older_than_millis: 0 });
  for (const snapshot of snapshots) {
    const read = async (): Promise<void> => {
      for await (const _ of await scan(catalog.engine, snapshot, {}));
    };
    await expect(read()).rejects.toMatchObject({
      code: 'TableVersionNotFound',
      details: { version: snapshot.version },
    });
  }
});
