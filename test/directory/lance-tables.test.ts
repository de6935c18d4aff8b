/** Tables that programs of others write in Lance's format: what is told of them, and what never happens to them. */
import { describe, expect, test } from 'vitest';
import {
  type DirectoryNamespace,
  openDirectoryNamespace,
} from '../../src/directory/directory-namespace.ts';
import { systemEnv } from '../../src/env.ts';
import { decodeTable, encodeTable } from '../../src/format/index.ts';
import { Connection } from '../../src/sdk/connection.ts';
import { filesOf } from '../helpers/catalog-files.ts';
import { type Dataset, writeDataset } from '../helpers/lance-writer.ts';
import { memoryFs, type TestFs } from '../helpers/memory-fs.ts';
import { outcomeOf } from '../helpers/outcome.ts';
import { idsOf, people } from '../helpers/people.ts';

const ROOT = '/c';
const t = ['n', 't'];

const open = (fs: TestFs, more: object = {}): Promise<DirectoryNamespace> =>
  openDirectoryNamespace({ root: ROOT, fs, durability: 'relaxed', ...more });

async function declared(more: object = {}) {
  const fs = memoryFs();
  const catalog = await open(fs, more);
  await catalog.createNamespace({ id: ['n'] });
  const { location = '' } = await catalog.declareTable({ id: t, properties: { k: 'v' } });
  const all = (folder: string): string[] =>
    filesOf(fs as never, ROOT)
      .all()
      .filter((path) => `${ROOT}/${path}`.startsWith(folder));
  return { fs, catalog, location, all };
}

describe.each(['v1', 'v2'] as const)(
  'a table that Lance wrote, its manifests named as %s',
  (name) => {
    const start = async () => {
      const made = await declared();
      writeDataset(made.fs, made.location, name);
      return made;
    };

    test('is created, and each of its versions is there', async () => {
      const { catalog, location } = await start();
      expect(await catalog.describeTable({ id: t, check_declared: true })).toMatchObject({
        location,
        is_only_declared: false,
        managed_versioning: false,
        properties: { k: 'v' },
      });
      const detailed = await catalog.describeTable({ id: t, load_detailed_metadata: true });
      expect(detailed).toMatchObject({ version: 3, location, is_only_declared: false });
      for (const version of [1, 2, 3]) {
        const described = await catalog.describeTable({ id: t, version });
        expect(described.location).toBe(location);
        await catalog.tableExists({ id: t, version });
      }
      for (const version of [0, 4, 99, 2 ** 53 - 1]) {
        const missing = { code: 'TableVersionNotFound' };
        await expect(catalog.describeTable({ id: t, version })).rejects.toMatchObject(missing);
        await expect(catalog.tableExists({ id: t, version })).rejects.toMatchObject(missing);
      }
      await expect(catalog.describeTable({ id: t, version: 1, branch: 'b' })).rejects.toMatchObject(
        {
          code: 'TableBranchNotFound',
        },
      );
      expect((await catalog.listTables({ id: ['n'], include_declared: false })).tables).toEqual([
        't',
      ]);
      expect((await catalog.listAllTables({ include_declared: false })).tables).toEqual(['n$t']);
    });

    test('is not touched by operations on rows, which say where the rows are', async () => {
      const { catalog, location, all } = await start();
      const before = all(location);
      for (const work of [
        () => catalog.queryTable({ id: t, k: 1 }),
        () => catalog.countTableRows({ id: t }),
        () => catalog.insertIntoTable({ id: t }, people(1)),
        () => catalog.createTable({ id: t, mode: 'overwrite' }, people(1)),
        () => catalog.deleteFromTable({ id: t, predicate: 'true' }),
        () => catalog.createTableBranch({ id: t, name: 'b' }),
      ]) {
        await expect(work()).rejects.toMatchObject({
          code: 'Unsupported',
          message: expect.stringContaining(location),
          details: { id: t, location },
        });
      }
      await expect(catalog.createTable({ id: t }, people(1))).rejects.toMatchObject({
        code: 'TableAlreadyExists',
      });
      await catalog.createTable({ id: t, mode: 'exist_ok' }, people(1));
      await catalog.cleanupTable({ id: t, older_than_millis: 0, orphan_grace_millis: 0 });
      await outcomeOf(catalog.optimizeTable({ id: t, cleanup_older_than_millis: 0 }));
      expect(all(location)).toEqual(before);
      expect(await catalog.verify({})).toMatchObject({ problems: [], leftovers: [] });
    });
  },
);

test('a table that lies where its name says, as older releases declared them, is one of Lance too', async () => {
  const { fs, catalog } = await declared();
  await catalog.dropTable({ id: t });
  const { location = '' } = await catalog.declareTable({ id: t, location: 'n/t.table' });
  expect(location).toBe(`${ROOT}/n/t.table`);
  writeDataset(fs, location);
  const detailed = await catalog.describeTable({ id: t, load_detailed_metadata: true });
  expect(detailed).toMatchObject({ version: 3, location, is_only_declared: false });
  await catalog.tableExists({ id: t, version: 2 });
  await expect(catalog.countTableRows({ id: t })).rejects.toMatchObject({ code: 'Unsupported' });
  await expect(new Connection(catalog).openTable('t', ['n'])).rejects.toMatchObject({
    code: 'Unsupported',
    message: expect.stringContaining(location),
  });
  expect((await catalog.verify({})).problems).toEqual([]);
});

describe('the location of a table that others write', () => {
  test('stays through a rename, also into another namespace, and of its namespace', async () => {
    const { fs, catalog, location } = await declared();
    writeDataset(fs, location);
    await catalog.createNamespace({ id: ['m'] });
    await catalog.renameTable({ id: t, new_table_name: 'u' });
    await catalog.renameTable({ id: ['n', 'u'], new_table_name: 'v', new_namespace_id: ['m'] });
    expect((await catalog.describeTable({ id: ['m', 'v'], version: 3 })).location).toBe(location);
    // The names that it left are free.
    await catalog.createTable({ id: t }, people(2));
    expect(await idsOf(catalog, t)).toEqual([0, 1]);
    expect(await catalog.verify({})).toMatchObject({ problems: [], leftovers: [] });
  });

  test('is never that of another table of its name', async () => {
    const { fs, catalog, location } = await declared();
    writeDataset(fs, location);
    await catalog.dropTable({ id: t });
    const again = await catalog.declareTable({ id: t });
    expect(again.location).not.toBe(location);
    // A handle on the dropped one goes on.
    writeDataset(fs, location, 'v2');
    expect(await catalog.describeTable({ id: t, check_declared: true })).toMatchObject({
      is_only_declared: true,
      location: again.location,
    });
    await catalog.dropTable({ id: t });
    const [entry] = (await catalog.listTrash({ id: ['n'] })).entries.slice(1);
    await catalog.undropTable({ id: t, trash_id: entry?.trash_id ?? '' });
    // With all that was written since.
    expect((await catalog.describeTable({ id: t, version: 3 })).location).toBe(location);
  });

  test('is removed when the trash is emptied, and closed to whoever still writes there', async () => {
    const { fs, catalog, location } = await declared();
    writeDataset(fs, location);
    const { location: dropped } = await catalog.dropTable({ id: t });
    expect(dropped).toBe(location);
    expect((await catalog.verify({})).leftovers).toContainEqual({
      path: location.slice(ROOT.length + 1),
      kind: 'trash',
    });
    await catalog.purgeTrash({ older_than_millis: 0 });
    expect(fs.statSync(location).isFile()).toBe(true);
    expect(() => writeDataset(fs, location)).toThrow(/EEXIST|ENOTDIR/);
    expect(await catalog.verify({})).toMatchObject({ problems: [], leftovers: [] });
  });

  test('goes with a namespace that is dropped, comes back with the table, and is removed with it', async () => {
    const { fs, catalog, location } = await declared();
    writeDataset(fs, location);
    await catalog.dropNamespace({ id: ['n'], behavior: 'Cascade' });
    await catalog.createNamespace({ id: ['n'] });
    await catalog.undropTable({ id: t });
    expect((await catalog.describeTable({ id: t, version: 1 })).location).toBe(location);
    await catalog.dropNamespace({ id: ['n'], behavior: 'Cascade' });
    await catalog.purgeTrash({ older_than_millis: 0 });
    expect(fs.statSync(location).isFile()).toBe(true);
  });

  test('is closed once the table has rows of its own, which lie under its name', async () => {
    for (const fill of [
      (catalog: DirectoryNamespace) => catalog.createTable({ id: t }, people(2)),
      (catalog: DirectoryNamespace) => catalog.createTable({ id: t, mode: 'overwrite' }, people(2)),
      (catalog: DirectoryNamespace) => catalog.insertIntoTable({ id: t }, people(2)),
    ]) {
      const { fs, catalog, location } = await declared();
      // What a writer makes before it has anything to put there.
      fs.mkdirSync(`${location}/data`, { recursive: true });
      await fill(catalog);
      expect(await idsOf(catalog, t)).toEqual([0, 1]);
      expect(() => writeDataset(fs, location)).toThrow(/EEXIST|ENOTDIR/);
      const { location: own } = await catalog.describeTable({ id: t });
      expect(own).toBe(`${ROOT}/n/t.table`);
      const { location: aside = '' } = await catalog.deregisterTable({ id: t });
      expect((await catalog.registerTable({ id: t, location: aside })).location).toBe(own);
      expect(await catalog.verify({})).toMatchObject({ problems: [], leftovers: [] });
      await catalog.dropTable({ id: t });
      await catalog.purgeTrash({ older_than_millis: 0 });
    }
  });

  test.each(['data/', '_versions/', '_transactions/'])(
    'is not closed over what a writer put into %s, which is not lost',
    async (folder) => {
      const { fs, catalog, location, all } = await declared();
      writeDataset(fs, location, 'v2', (path) => path.startsWith(folder));
      const before = all(location);
      const refused = { code: 'Unsupported' };
      await expect(
        catalog.createTable({ id: t, mode: 'overwrite' }, people(2)),
      ).rejects.toMatchObject(refused);
      await expect(catalog.insertIntoTable({ id: t }, people(2))).rejects.toMatchObject(refused);
      expect(all(location)).toEqual(before);
    },
  );

  test('is left alone by whatever takes its name with another one', async () => {
    const { fs, catalog, location } = await declared();
    writeDataset(fs, location);
    const { location: answered = '', context } = await catalog.deregisterTable({ id: t });
    expect(answered).toBe(location);
    expect(context).toEqual({ relative_location: location.slice(ROOT.length + 1) });
    await expect(catalog.describeTable({ id: t })).rejects.toMatchObject({ code: 'TableNotFound' });
    const back = await catalog.registerTable({ id: ['n', 'u'], location: answered });
    expect(back.location).toBe(location);
    expect((await catalog.describeTable({ id: ['n', 'u'], version: 2 })).location).toBe(location);
    // It has a name by now.
    await expect(catalog.registerTable({ id: t, location })).rejects.toMatchObject({
      code: 'InvalidInput',
      message: expect.stringContaining('No table was deregistered from'),
    });
  });

  test('makes older releases refuse the record, which names no place but its own', async () => {
    const { fs, catalog, location } = await declared();
    const text = fs.readFileSync(`${ROOT}/n/t.table/.table.json`, 'utf8') as string;
    expect(JSON.parse(text)).toMatchObject({
      features: ['location'],
      location: location.slice(ROOT.length + 1),
    });
    const file = `${ROOT}/n/t.table/.table.json`;
    const record = decodeTable(new Uint8Array(fs.readFileSync(file)), file);
    const other = '.dirspace/lance/11112222-3333-4444-8555-666677778888';
    for (const place of [other, '.dirspace/trash', 'n/u.table', '../x', '/tmp/x', '']) {
      fs.writeFileSync(file, encodeTable({ ...record, location: place }));
      await expect(catalog.describeTable({ id: t })).rejects.toMatchObject({ code: 'Corrupt' });
    }
  });
});

describe('tables that were deregistered', () => {
  test('are listed with what registers them, and stay until they are purged, by age', async () => {
    let now = Date.now();
    const env = { ...systemEnv, now: () => now };
    const { fs, catalog, location } = await declared({ env });
    writeDataset(fs, location);
    await catalog.createTable({ id: ['own'] }, people(2));
    await catalog.deregisterTable({ id: t });
    const { location: own } = await catalog.deregisterTable({ id: ['own'] });
    const listed = await catalog.listTrash({ detached: true });
    expect(listed.entries).toHaveLength(2);
    expect(listed.entries).toContainEqual({
      trash_id: expect.any(String),
      kind: 'detached',
      id: t,
      location,
      dropped_at: now,
    });
    expect(listed.entries).toContainEqual(expect.objectContaining({ id: ['own'], location: own }));
    const below = await catalog.listTrash({ id: ['n'], detached: true });
    expect(below.entries.map(({ id }) => id)).toEqual([t]);
    expect((await catalog.listTrash({})).entries).toEqual([]);
    // Nothing but a request for them removes them.
    await catalog.purgeTrash({ older_than_millis: 0 });
    const kinds = (await catalog.verify({})).leftovers.map(({ kind }) => kind);
    expect(kinds).toEqual(['detached', 'detached', 'detached']);
    const purge = (older_than_millis: number, dry_run: boolean) =>
      catalog.purgeTrash({ older_than_millis, detached: true, dry_run });
    expect((await purge(60_000, false)).removed).toBe(0);
    expect((await purge(0, true)).removed).toBe(2);
    expect(fs.statSync(location).isDirectory()).toBe(true);
    // What has a name again is not purged.
    await catalog.registerTable({ id: ['own'], location: own ?? '' });
    now += 1000;
    expect(await purge(0, false)).toEqual({ removed: 1, dry_run: false });
    expect(fs.statSync(location).isFile()).toBe(true);
    expect(await idsOf(catalog, ['own'])).toEqual([0, 1]);
    expect(await catalog.listTrash({ detached: true })).toEqual({ entries: [] });
    expect(await catalog.verify({})).toMatchObject({ problems: [], leftovers: [] });
  });

  test('are told by their folders alone where an older release left them', async () => {
    const { fs, catalog } = await declared();
    await catalog.createTable({ id: ['own'] }, people(2));
    const { location = '' } = await catalog.deregisterTable({ id: ['own'] });
    fs.unlinkSync(`${location}.json`);
    expect(await catalog.listTrash({ detached: true })).toMatchObject({
      entries: [{ kind: 'detached', id: [], location }],
    });
    expect((await catalog.listTrash({ id: ['n'], detached: true })).entries).toEqual([]);
    expect(await catalog.purgeTrash({ older_than_millis: 0, detached: true })).toMatchObject({
      removed: 1,
    });
  });
});

describe('a folder that is named like a table and is none', () => {
  const ghost = async (dataset: Dataset = 'v2') => {
    const fs = memoryFs();
    const catalog = await open(fs);
    await catalog.createNamespace({ id: ['n'] });
    // A handle that was opened before the table had a place of its own.
    writeDataset(fs, `${ROOT}/n/t.table`, dataset);
    return { fs, catalog };
  };

  test('is listed nowhere, and harms nothing', async () => {
    const { catalog } = await ghost();
    expect((await catalog.listTables({ id: ['n'] })).tables).toEqual([]);
    expect((await catalog.listAllTables({})).tables).toEqual([]);
    await expect(catalog.describeTable({ id: t })).rejects.toMatchObject({ code: 'TableNotFound' });
    expect(await catalog.verify({})).toMatchObject({
      ok: true,
      leftovers: [{ path: 'n/t.table', kind: 'ghost' }],
    });
  });

  test.each(['create', 'declare', 'rename', 'undrop', 'register'])(
    'gives its name to %s, and is kept in the quarantine',
    async (how) => {
      const { fs, catalog } = await ghost();
      await catalog.createTable({ id: ['other'] }, people(1));
      if (how === 'create') await catalog.createTable({ id: t }, people(1));
      if (how === 'declare') await catalog.declareTable({ id: t });
      if (how === 'rename')
        await catalog.renameTable({ id: ['other'], new_table_name: 't', new_namespace_id: ['n'] });
      if (how === 'register') {
        const { location = '' } = await catalog.deregisterTable({ id: ['other'] });
        await catalog.registerTable({ id: t, location });
      }
      if (how === 'undrop') {
        fs.renameSync(`${ROOT}/n/t.table`, `${ROOT}/ghost`);
        await catalog.createTable({ id: t }, people(1));
        await catalog.dropTable({ id: t });
        fs.renameSync(`${ROOT}/ghost`, `${ROOT}/n/t.table`);
        await catalog.undropTable({ id: t });
      }
      await catalog.tableExists({ id: t });
      const report = await catalog.verify({});
      expect(report.problems).toEqual([]);
      expect(report.leftovers.map(({ kind }) => kind)).toEqual(['quarantine']);
      const all = filesOf(fs as never, ROOT).all();
      expect(
        all.some((path) => /quarantine\/.*\/0-t\.table\/_versions\/.*manifest$/.test(path)),
      ).toBe(true);
    },
  );

  test('is taken away by repair', async () => {
    const { catalog } = await ghost('v1');
    const { actions } = await catalog.repair({ apply: true });
    expect(actions).toMatchObject([{ path: 'n/t.table', why: expect.stringContaining('Lance') }]);
    expect((await catalog.verify({})).leftovers.map(({ kind }) => kind)).toEqual(['quarantine']);
  });

  test('many creators over one: one of them has the name, and its rows', async () => {
    for (let round = 0; round < 10; round++) {
      const { fs, catalog } = await ghost();
      const others = await Promise.all([open(fs), open(fs), open(fs)]);
      const outcomes = await Promise.all(
        [catalog, ...others].map(async (one, at) => {
          for (let left = at * round * 6; left > 0; left--) await undefined;
          return outcomeOf(one.createTable({ id: t }, people(at + 1)));
        }),
      );
      expect(outcomes.filter((outcome) => outcome === 'ok')).toHaveLength(1);
      expect(new Set(outcomes)).toEqual(new Set(['ok', 'TableAlreadyExists']));
      expect(await idsOf(catalog, t)).toHaveLength(outcomes.indexOf('ok') + 1);
      expect((await catalog.verify({})).problems).toEqual([]);
    }
  });

  test.each([
    'versions-11112222-3333/00000000000000000001.json',
    'versions-11112222-3333/',
    'data/x.arrow',
    'notes.txt',
  ])('stays where it may be a table that lost its record: %s', async (path) => {
    const { fs, catalog } = await ghost();
    const file = `${ROOT}/n/t.table/${path}`;
    fs.mkdirSync(file.slice(0, file.lastIndexOf('/')), { recursive: true });
    if (!path.endsWith('/')) fs.writeFileSync(file, 'x');
    await expect(catalog.createTable({ id: t }, people(1))).rejects.toMatchObject({
      code: 'TableAlreadyExists',
      message: expect.stringContaining('neither a table nor a namespace'),
    });
    expect((await catalog.verify({})).ok).toBe(false);
    expect(fs.existsSync(file)).toBe(true);
  });
});

test('writers of this engine and of others fill one declared table: one of them, whole', async () => {
  for (let delay = 0; delay < 60; delay++) {
    const { fs, catalog, location } = await declared();
    const own = outcomeOf(catalog.insertIntoTable({ id: t }, people(2)));
    for (let left = delay * 8; left > 0; left--) await undefined;
    let isTheirs = true;
    try {
      // Folders first, and files in the order in which Lance writes them.
      writeDataset(fs, location, 'v2', (path) => path.startsWith('data/'));
      for (let left = 200; left > 0; left--) await undefined;
      writeDataset(fs, location);
    } catch {
      isTheirs = false;
    }
    const isOurs = (await own) === 'ok';
    expect([isOurs, isTheirs], `after ${delay}`).not.toEqual([true, true]);
    expect([isOurs, isTheirs], `after ${delay}`).not.toEqual([false, false]);
    if (isOurs) expect(await idsOf(catalog, t)).toEqual([0, 1]);
    else expect((await catalog.describeTable({ id: t, version: 3 })).location).toBe(location);
    expect((await catalog.verify({})).problems).toEqual([]);
  }
});
