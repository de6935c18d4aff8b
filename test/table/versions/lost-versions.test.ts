/** The newest versions of a branch are lost: evidence of it is refused, and repair accepts the rest. */
import nodeFs from 'node:fs';
import { afterEach, describe, expect, test } from 'vitest';
import {
  type DirectoryNamespace,
  openDirectoryNamespace,
} from '../../../src/directory/directory-namespace.ts';
import { decodeVersion } from '../../../src/format/catalog/manifest.ts';
import { Connection, connect } from '../../../src/index.ts';
import { encodeChecksummed } from '../../../src/json.ts';
import { latestFile, TABLE_FILE, versionFile } from '../../../src/paths.ts';
import type { FileSystem } from '../../../src/store/disk/file-system.ts';
import { strictFileSystem } from '../../../src/store/disk/strict-fs.ts';
import { deleteVersions } from '../../../src/table/history/delete-versions.ts';
import { acceptVersion } from '../../../src/table/verify/accept-version.ts';
import { resolveHead, type TableBranch } from '../../../src/table/versions/head.ts';
import { filesOf, memoryFs, type TestFs } from '../../helpers/catalogs.ts';
import {
  declared,
  draftOf,
  land,
  outcomeOf,
  ROOT,
  type TestEngine,
  testEngine,
} from '../../helpers/engines.ts';
import { FaultyFs } from '../../helpers/faulty-fs.ts';
import { casesOf } from '../../helpers/long.ts';
import { idsOf, people, range } from '../../helpers/people.ts';
import { temporaryFolder } from '../../helpers/temporary.ts';
import { grow, treeOf } from '../../helpers/trees.ts';

const hint = (version: number | bigint): Uint8Array =>
  encodeChecksummed({ version: `${version}`.padStart(20, '0') }).bytes;

/** Folders whose versions are listed at once, and those that are looked into from the hint on. */
const FOLDERS = [
  ['one block', 4_096],
  ['many blocks', 8_192],
] as const;

/** An engine to which folders have so many bytes. */
function engineWith(bytes: number, options?: Parameters<typeof testEngine>[0]): TestEngine {
  const engine = testEngine(options);
  engine.calls.folderFacts = async (run, ...asked) => {
    const facts = await run(...asked);
    return facts && { ...facts, size: bytes };
  };
  return engine;
}

async function versionsOf(count: number, bytes = 0) {
  const one = engineWith(bytes);
  const branch = await declared(one);
  for (let version = 1; version <= count; version++) await land(one, branch, 'create');
  const lose = (first: number, last = count): void => {
    for (let version = first; version <= last; version++)
      one.fs.unlinkSync(`${ROOT}/${versionFile(branch.folder, version)}`);
  };
  return { one, branch, lose, fresh: () => engineWith(bytes, { fs: one.fs, firstId: 9000 }) };
}

const headOf = async ({ engine }: TestEngine, branch: TableBranch): Promise<unknown> => {
  const found = await outcomeOf(resolveHead(engine, branch));
  return (found as { code?: string }).code ?? (found as { value?: { slot: number } }).value?.slot;
};

describe.each(FOLDERS)('in a folder of %s', (_, bytes) => {
  test.each(range(8, 18).map((count) => [count]))(
    'of %i versions each lost tail of 1 to 12 is refused where a hint or a handle knows better',
    async (count) => {
      for (let lost = 1; lost <= 12 && lost < count; lost++) {
        // A usual run takes the ends and a quarter of what is between, with another count another one.
        if (lost > 1 && lost < 12 && (count + lost) % casesOf(11, 1) > 0) continue;
        const { one, branch, lose, fresh } = await versionsOf(count, bytes);
        const older = fresh();
        const newest = count - lost;
        // A handle that knows a version in the middle, and has not looked since.
        const middle = Math.max(1, newest - 1);
        lose(middle + 1);
        older.fs.renameSync(`${ROOT}/${latestFile(branch.folder)}`, '/hint');
        expect(await headOf(older, branch)).toBe(middle);
        older.fs.renameSync('/hint', `${ROOT}/${latestFile(branch.folder)}`);
        if (middle < newest) {
          const again = await versionsOf(count, bytes);
          const file = versionFile(branch.folder, newest);
          one.fs.writeFileSync(`${ROOT}/${file}`, again.one.fs.readFileSync(`${ROOT}/${file}`));
        }
        const hinted = count - (count % 8);
        const expected = hinted > newest ? 'Corrupt' : newest;
        expect(await headOf(fresh(), branch), `${lost} lost`).toBe(expected);
        if (middle < newest) expect(await headOf(older, branch), `${lost} lost`).toBe(expected);
        expect(await headOf(one, branch)).toBe('Corrupt');
        if (expected === 'Corrupt') {
          expect(await outcomeOf(land(fresh(), branch))).toMatchObject({
            code: 'Corrupt',
            message: expect.stringContaining(`names version ${hinted}`),
            details: { newest, named: hinted, file: versionFile(branch.folder, newest + 1) },
          });
        }
      }
    },
  );

  test('a hint of a version that was deleted by rule is no evidence', async () => {
    for (const count of [9, 12, 17]) {
      const { one, branch, fresh } = await versionsOf(count, bytes);
      await deleteVersions(one.engine, branch, range(2, count));
      expect(await headOf(fresh(), branch)).toBe(count);
      expect((await land(fresh(), branch)).snapshot.version).toBe(count + 1);
    }
  });

  test('a list that misses the newest versions once is no evidence', async () => {
    const { branch, fresh, lose } = await versionsOf(10, bytes);
    // The hinted one was deleted, so that readers list; nothing of it is lost.
    lose(8, 8);
    for (const misses of [1, 2]) {
      const reader = fresh();
      let lists = 0;
      reader.calls.list = async (run, folder) => {
        const entries = await run(folder);
        lists += 1;
        const limit = lists <= misses ? `${6 + lists}`.padStart(20, '0') : 'z';
        return entries?.filter(({ name }) => !/^\d/.test(name) || name <= `${limit}.json`);
      };
      expect(await headOf(reader, branch)).toBe(10);
    }
  });

  test('a hint above all numbers that can be used is none', async () => {
    for (const version of [2n ** 53n - 1n, 2n ** 52n + 1n, 10n ** 19n, 0n]) {
      const { one, branch, fresh } = await versionsOf(3, bytes);
      one.fs.writeFileSync(`${ROOT}/${latestFile(branch.folder)}`, hint(version));
      expect(await headOf(fresh(), branch)).toBe(3);
      one.fs.writeFileSync(`${ROOT}/${latestFile(branch.folder)}`, hint(2n ** 52n));
      expect(await headOf(fresh(), branch)).toBe('Corrupt');
    }
  });
});

test('where a list of one block has no hint, none is looked for', async () => {
  for (const [at, [, bytes]] of FOLDERS.entries()) {
    const { branch, fresh } = await versionsOf(7, bytes);
    const reader = fresh();
    let looks = 0;
    reader.calls.getHint = (run, file) => {
      looks++;
      return run(file);
    };
    expect(await headOf(reader, branch)).toBe(7);
    expect(looks).toBe(at);
  }
});

test('a table that nobody changed costs no look at the hint', async () => {
  const { one, branch } = await versionsOf(9);
  one.calls.getHint = () => {
    throw new Error('looked at');
  };
  expect(await headOf(one, branch)).toBe(9);
});

const t = ['t'];
let opened: DirectoryNamespace[] = [];
afterEach(async () => {
  for (const catalog of opened.splice(0)) await catalog.close();
  opened = [];
});

interface Place {
  readonly fs: TestFs;
  readonly root: string;
  open(fs?: FileSystem): Promise<DirectoryNamespace>;
}

function place(kind: string, memory: TestFs = memoryFs()): Place {
  const fs = kind === 'disk' ? (nodeFs as unknown as TestFs) : memory;
  const root = kind === 'disk' ? temporaryFolder() : '/c';
  const open = async (given: FileSystem = fs as unknown as FileSystem) => {
    const catalog = await openDirectoryNamespace({
      root,
      fs: given,
      durability: 'relaxed',
      managedVersioning: kind === 'managed',
    });
    opened.push(catalog);
    return catalog;
  };
  return { fs, root, open };
}

/** Nine versions and more of a table and of a branch of it, with the files of each. */
async function make(where: Place, on: string | undefined) {
  const catalog = await where.open();
  await catalog.createTable({ id: t }, people(1));
  await catalog.createTableBranch({ id: t, name: 'side', from_version: 1 });
  const request = { id: t, ...(on === undefined ? {} : { branch: on }) };
  for (let id = 1; id < 10; id++) await catalog.insertIntoTable(request, people(1, id));
  const files = filesOf(where.fs, where.root);
  const paths = (): string[] =>
    files
      .all()
      .filter((path) => /\/0\d+\.json$/.test(path))
      .filter((path) => path.includes('/branches/') === (on !== undefined));
  const file = (version: number): string =>
    paths().find((path) => path.endsWith(`${`${version}`.padStart(20, '0')}.json`)) as string;
  return { catalog, request, files, file };
}

describe.each([
  ['disk', undefined],
  ['memory', undefined],
  ['memory', 'side'],
  ['disk', 'side'],
  ['managed', undefined],
])('%s, branch %s', (kind, on) => {
  test('versions 8 to 10 lost are refused, told by verify, and repair accepts version 7', async () => {
    const where = place(kind);
    const { catalog, request, files, file } = await make(where, on);
    const lost = [8, 9, 10].map(file);
    for (const path of lost) where.fs.unlinkSync(`${where.root}/${path}`);
    const fresh = await where.open();
    for (const handle of [fresh, catalog]) {
      await expect(idsOf(handle, t, request)).rejects.toMatchObject({ code: 'Corrupt' });
      await expect(handle.insertIntoTable(request, people(1, 90))).rejects.toMatchObject({
        code: 'Corrupt',
        message: expect.stringContaining('version 7'),
      });
      expect((await handle.verify({})).problems).toMatchObject([
        { path: lost[0], kind: 'manifest', what: expect.stringContaining('It is missing.') },
      ]);
    }
    expect(await idsOf(fresh, t, { ...request, version: 7 })).toEqual(range(0, 7));
    const before = files.all();
    const dry = await fresh.repair({});
    expect(files.all()).toEqual(before);
    expect(dry).toMatchObject({
      applied: false,
      actions: [
        { path: lost[0], why: expect.stringContaining('Version 7 is accepted: version 24 ') },
      ],
      left: [],
    });
    const done = await fresh.repair({ apply: true });
    expect(done.left).toEqual([]);
    expect(done.actions.map(({ path }) => path)).toEqual([lost[0]]);
    for (const path of before) expect(files.all()).toContain(path);
    for (const handle of [fresh, catalog, await where.open()]) {
      expect(await idsOf(handle, t, request)).toEqual(range(0, 7));
      expect((await handle.verify({})).problems).toEqual([]);
      const { versions } = await handle.listTableVersions(request);
      expect(versions.map(({ version }) => version).sort((a, b) => a - b)).toEqual([
        ...range(1, 8),
        24,
      ]);
    }
    const { version } = await catalog.insertIntoTable(request, people(1, 90));
    expect(version).toBe(25);
    expect((await (await where.open()).repair({ apply: true })).actions).toEqual([]);
    expect(await idsOf(await where.open(), t, request)).toEqual([...range(0, 7), 90]);
  });

  test('cleanup leaves the files of lost versions alone until repair has accepted the loss', async () => {
    const where = place(kind);
    const { files, file } = await make(where, on);
    const fragments = (): string[] => files.all().filter((path) => path.includes('/data/'));
    const before = fragments();
    for (const path of [8, 9, 10].map(file)) where.fs.unlinkSync(`${where.root}/${path}`);
    const everything = { id: t, older_than_millis: 0, orphan_grace_millis: 0 };
    const fresh = await where.open();
    await expect(fresh.cleanupTable(everything)).rejects.toMatchObject({ code: 'Corrupt' });
    expect(fragments()).toEqual(before);
    await fresh.repair({ apply: true });
    expect(await fresh.cleanupTable(everything)).toMatchObject({ files_removed: 3 });
  });

  test('a torn end takes its numbers along, whatever the hint says', async () => {
    const where = place(kind);
    const { catalog, request, files, file } = await make(where, on);
    await catalog.createTableTag({ id: t, tag: 'torn', version: 9, ...(on ? { branch: on } : {}) });
    const torn = [9, 10].map(file);
    for (const path of torn) files.write(path, files.read(path).slice(0, 50));
    where.fs.unlinkSync(`${where.root}/${file(8)}`);
    const fresh = await where.open();
    const dry = await fresh.repair({});
    expect(dry.actions.map(({ path }) => path)).toEqual(torn.toReversed());
    const done = await fresh.repair({ apply: true });
    for (const { quarantined } of done.actions)
      expect(files.read(quarantined as string)).toHaveLength(50);
    expect(done.left.map(({ kind }) => kind)).toEqual(['tag']);
    expect(await idsOf(await where.open(), t, request)).toEqual(range(0, 7));
    expect((await catalog.insertIntoTable(request, people(1, 90))).version).toBe(27);
  });
});

test('the version that repair makes is one that writers of Lance may build on, where the mode is write', async () => {
  const fs = memoryFs();
  const open = () => openDirectoryNamespace({ root: '/c', fs, lance: 'write' });
  const catalog = await open();
  await catalog.createTable({ id: t }, people(1));
  for (let id = 1; id < 9; id++) await catalog.insertIntoTable({ id: t }, people(1, id));
  const files = filesOf(fs, '/c');
  const versions = files.all().filter((path) => /versions-.*\/0\d+\.json$/.test(path));
  for (const path of versions.slice(7)) fs.unlinkSync(`/c/${path}`);
  const fresh = await open();
  await fresh.repair({ apply: true });
  const { version } = await fresh.describeTableVersion({ id: t });
  const path = version.manifest_path.slice('/c/'.length);
  const found = decodeVersion(files.read(path), path);
  expect(found).toMatchObject({ manifest: { lanceWrites: true } });
  expect(found).toHaveProperty('manifest.lanceTransaction', expect.any(String));
  expect((await fresh.verify({})).problems).toEqual([]);
});

test('repair that cannot read the record of the table has removed nothing', async () => {
  const one = testEngine();
  const branch = await declared(one);
  for (const kind of ['create', 'append', 'append'] as const)
    await land(one, branch, draftOf(kind, { lance: true }));
  const two = testEngine({ fs: one.fs, firstId: 1000 });
  const cause = new Error('no disk at all');
  two.calls.get = async (get, path) => {
    if (path.endsWith(TABLE_FILE)) throw cause;
    return get(path);
  };
  const before = await two.engine.store.list(branch.folder);
  const plan = { branch, accepted: 2, first: 3, last: 20, torn: [], manifests: [] };
  await expect(acceptVersion(two.engine, plan)).rejects.toBe(cause);
  expect(await two.engine.store.list(branch.folder)).toEqual(before);
  two.calls.get = undefined;
  await acceptVersion(two.engine, plan);
  expect((await resolveHead(two.engine, branch))?.snapshot.version).toBe(21);
});

test('without any version, and a hint of one, repair leaves a table that is only declared', async () => {
  const where = place('memory');
  const { request, files, file } = await make(where, undefined);
  const lost = range(1, 11).map(file);
  for (const path of lost) where.fs.unlinkSync(`${where.root}/${path}`);
  const fresh = await where.open();
  await expect(idsOf(fresh, t, request)).rejects.toMatchObject({ code: 'Corrupt' });
  // The branch that is whole keeps the table from being declared, so the evidence stays.
  const kept = await fresh.repair({ apply: true });
  expect(kept.actions).toEqual([]);
  expect(kept.left.map(({ path }) => path)).toContain(lost[0]);
  await expect(idsOf(fresh, t, request)).rejects.toMatchObject({ code: 'Corrupt' });
  await fresh.deleteTableBranch({ id: t, name: 'side' });
  const { actions } = await fresh.repair({ apply: true });
  expect(actions.filter(({ path }) => path.endsWith('latest.json'))).toHaveLength(1);
  expect(
    files.all().filter((path) => /t\.table\/.*latest/.test(path) && !path.includes('branches')),
  ).toEqual([]);
  expect(await fresh.describeTable({ id: t, check_declared: true })).toMatchObject({
    is_only_declared: true,
  });
});

test('a run that was deleted and has lost what came after it is mended as well', async () => {
  const where = place('memory');
  const { catalog, request, file } = await make(where, undefined);
  await catalog.batchDeleteTableVersions({
    id: t,
    ranges: [{ start_version: 3, end_version: 10 }],
  });
  where.fs.unlinkSync(`${where.root}/${file(10)}`);
  const fresh = await where.open();
  await expect(idsOf(fresh, t, request)).rejects.toMatchObject({ code: 'Corrupt' });
  expect((await fresh.repair({ apply: true })).left).toEqual([]);
  expect(await idsOf(fresh, t, request)).toEqual([0, 1]);
  expect((await catalog.insertIntoTable(request, people(1, 90))).version).toBe(27);
});

const DAMAGES: Readonly<Record<string, (fs: TestFs, path: string, version: number) => void>> = {
  lost: (fs, path) => fs.unlinkSync(path),
  torn: (fs, path) => fs.truncateSync(path, 20),
  mixed: (fs, path, version) => (version === 9 ? fs.truncateSync(path, 20) : fs.unlinkSync(path)),
};

test.each(Object.keys(DAMAGES))(
  'a repair of a %s end that is killed at any call can be repeated',
  async (damage) => {
    const damaged = place('memory');
    const { request, file } = await make(damaged, undefined);
    for (const version of [8, 9, 10])
      DAMAGES[damage]?.(damaged.fs, `${damaged.root}/${file(version)}`, version);
    const tree = treeOf(damaged.fs, damaged.root);
    for (let at = 1, fired = true; fired; at += casesOf(11, 1)) {
      const where = place('memory', grow(tree, '/c'));
      const faulty = new FaultyFs(strictFileSystem(where.fs));
      const dying = await where.open(faulty.fs);
      await dying.verify({});
      faulty.arm({ at, kind: 'kill', changing: true });
      await outcomeOf(dying.repair({ apply: true }));
      fired = faulty.fired;
      const fresh = await where.open();
      const found = await outcomeOf(idsOf(fresh, t, request));
      if ('value' in (found as object)) expect(found).toEqual({ value: range(0, 7) });
      else expect(found, `call ${at}`).toMatchObject({ code: 'Corrupt' });
      // Nothing is written over a number that was used before, whether or not repair goes on.
      const early = (await outcomeOf(fresh.insertIntoTable(request, people(1, 80)))) as {
        value?: { version: number };
      };
      if (early.value !== undefined) expect(early.value.version).toBeGreaterThan(23);
      const { left } = await fresh.repair({ apply: true });
      expect(left, `call ${at}`).toEqual([]);
      const { version } = await fresh.insertIntoTable(request, people(1, 90));
      expect(Number(version)).toBeGreaterThan(23);
      const rows = [...range(0, 7), ...(early.value === undefined ? [] : [80]), 90];
      expect(await idsOf(await where.open(), t, request), `call ${at}`).toEqual(rows);
      expect((await fresh.verify({})).problems).toEqual([]);
    }
  },
);

test('what is sound is opened while the newest versions of main are lost', async () => {
  const root = temporaryFolder();
  const db = await connect(root);
  const table = await db.createTable('t', [{ a: 1 }]);
  for (let a = 2; a <= 10; a++) await table.add([{ a }]);
  await (await table.branches()).create('br');
  await (await table.tags()).create('old', 3);
  await db.close();
  const folder = `${root}/data/t.table`;
  const versions = nodeFs.readdirSync(folder).find((name) => name.startsWith('versions-'));
  for (const version of [8, 9, 10])
    nodeFs.unlinkSync(versionFile(`${folder}/${versions}`, version));
  const again = await connect(root);
  await expect(again.openTable('t')).rejects.toMatchObject({ code: 'Corrupt' });
  expect(await (await again.openTable('t', [], { version: 7 })).countRows()).toBe(7);
  const branch = await again.openTable('t', [], { branch: 'br' });
  await branch.add([{ a: 11 }]);
  expect(await branch.countRows()).toBe(11);
  expect(await (await again.openTable('t', [], { tag: 'old' })).countRows()).toBe(3);
  await again.close();
});

describe.each(['tag', 'branch'])('a %s names the newest version, which is lost', (kind) => {
  const id = ['t'];

  async function named() {
    const fs = memoryFs();
    const open = (): Promise<DirectoryNamespace> =>
      openDirectoryNamespace({ root: ROOT, fs: strictFileSystem(fs) });
    const catalog = await open();
    await catalog.createTable({ id }, people(1));
    for (let at = 0; at < 9; at++) await catalog.insertIntoTable({ id }, people(1));
    if (kind === 'tag') await catalog.createTableTag({ id, tag: 'kept', version: 10 });
    else await catalog.createTableBranch({ id, name: 'kept' });
    const folder = filesOf(fs, ROOT)
      .all()
      .find((path) => /t\.table\/versions-[^/]*\/$/.test(path)) as string;
    for (const version of [9, 10])
      fs.unlinkSync(`${ROOT}/${versionFile(folder.slice(0, -1), version)}`);
    return open();
  }

  test('no other version gets its number', async () => {
    const catalog = await named();
    expect(await outcomeOf(catalog.insertIntoTable({ id }, people(1)))).toMatchObject({
      code: 'Corrupt',
      details: { newest: 8, named: 10 },
    });
    await catalog.repair({ apply: true });
    const { version } = await catalog.insertIntoTable({ id }, people(1));
    expect(version).toBeGreaterThan(10);
    const { versions } = await catalog.listTableVersions({ id });
    expect(versions.map((each) => each.version)).not.toContain(10);
  });
});

test('a tag of an older version does not take the hint back', async () => {
  const fs = memoryFs();
  const catalog = await openDirectoryNamespace({ root: ROOT, fs: strictFileSystem(fs) });
  await catalog.createTable({ id: ['t'] }, people(1));
  for (let at = 0; at < 9; at++) await catalog.insertIntoTable({ id: ['t'] }, people(1));
  const file = filesOf(fs, ROOT)
    .all()
    .find((path) => path.endsWith('/latest.json')) as string;
  await catalog.createTableTag({ id: ['t'], tag: 'new', version: 10 });
  await catalog.createTableTag({ id: ['t'], tag: 'old', version: 2 });
  await catalog.createTableBranch({ id: ['t'], name: 'side', from_version: 3 });
  expect(JSON.parse(fs.readFileSync(`${ROOT}/${file}`, 'utf8') as string).version).toMatch(
    /^0+10$/,
  );
});

describe.each(FOLDERS)('a version in the middle of %s is lost', (_, bytes) => {
  test.each(range(1, 22))(
    'version %i of 22: the newest counts, also for who was there before',
    async (lost) => {
      for (const isOpen of [false, true]) {
        const { one, branch, lose, fresh } = await versionsOf(22, bytes);
        const reader = fresh();
        if (isOpen) expect(await headOf(reader, branch)).toBe(22);
        lose(lost, lost);
        expect(await headOf(reader, branch)).toBe(22);
        expect((await land(isOpen ? one : reader, branch)).snapshot.version).toBe(23);
      }
    },
  );

  test('a handle that has not looked since does not use its number again', async () => {
    for (const lost of [9, 10, 11, 12, 13, 14]) {
      const { one, branch, lose, fresh } = await versionsOf(8, bytes);
      const older = fresh();
      expect(await headOf(older, branch)).toBe(8);
      for (let version = 9; version <= 15; version++) await land(one, branch, 'create');
      lose(lost, lost);
      expect((await land(older, branch)).snapshot.version, `${lost} lost`).toBe(16);
    }
  });
});

test.each(['a folder', 'a link'])(
  '%s where the newest version should be is damage',
  async (what) => {
    const fs = memoryFs();
    const catalog = await openDirectoryNamespace({ root: ROOT, fs: strictFileSystem(fs) });
    const id = ['t'];
    await catalog.createTable({ id }, people(1));
    for (let at = 1; at < 5; at++) await catalog.insertIntoTable({ id }, people(1, at));
    await catalog.createTableTag({ id, tag: 'kept', version: 3 });
    await catalog.createTableBranch({ id, name: 'side', from_version: 2 });
    const newest = filesOf(fs, ROOT)
      .all()
      .find((path) => path.endsWith('/00000000000000000005.json')) as string;
    fs.renameSync(`${ROOT}/${newest}`, '/elsewhere');
    if (what === 'a folder') fs.mkdirSync(`${ROOT}/${newest}`);
    else fs.symlinkSync('/elsewhere', `${ROOT}/${newest}`);
    const fresh = await openDirectoryNamespace({ root: ROOT, fs: strictFileSystem(fs) });
    const connection = new Connection(fresh);
    for (const [options, rows] of [
      [{ version: 3 }, 3],
      [{ tag: 'kept' }, 3],
      [{ branch: 'side' }, 2],
    ] as const) {
      expect(await (await connection.openTable('t', [], options)).countRows()).toBe(rows);
    }
    expect(await outcomeOf(fresh.insertIntoTable({ id }, people(1)))).toMatchObject({
      code: 'Corrupt',
      details: { file: newest },
    });
  },
);
