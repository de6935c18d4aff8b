/** verify finds every planted damage and nothing on healthy catalogs; repair gives a torn end back. */
import { afterEach, expect, test } from 'vitest';
import {
  type DirectoryNamespace,
  openDirectoryNamespace,
} from '../../src/directory/directory-namespace.ts';
import { filesOf, memoryFs, type TestFs } from '../helpers/catalogs.ts';
import { FaultyFs } from '../helpers/faulty-fs.ts';
import { LONG } from '../helpers/long.ts';
import type { CatalogFiles } from '../suites/namespace/context.ts';
import { idsOf, people, rowIdsOf } from '../suites/namespace/context.ts';

const ROOT = '/c';
const t = ['n', 't'];
const FOLDER = 'n/t.table';

let opened: DirectoryNamespace[] = [];
afterEach(async () => {
  for (const catalog of opened.splice(0)) await catalog.close();
  opened = [];
});

async function open(fs: TestFs): Promise<DirectoryNamespace> {
  const catalog = await openDirectoryNamespace({ root: ROOT, fs, durability: 'relaxed' });
  opened.push(catalog);
  return catalog;
}

interface Made {
  readonly fs: TestFs;
  readonly files: CatalogFiles;
  readonly catalog: DirectoryNamespace;
}

/** A catalog with one of everything. */
async function make(): Promise<Made> {
  const fs = memoryFs();
  const catalog = await open(fs);
  await catalog.createNamespace({ id: ['n'], properties: { a: 'b' } });
  await catalog.createNamespace({ id: ['n', 'empty'] });
  await catalog.createTable({ id: t }, people(3));
  for (let at = 1; at < 40; at++) await catalog.insertIntoTable({ id: t }, people(2, 3 * at));
  const rowIds = await rowIdsOf(catalog, t);
  await catalog.deleteRows({ id: t, row_ids: [rowIds.get(0) ?? 0n] });
  await catalog.createTableTag({ id: t, tag: 'first', version: 1 });
  await catalog.createTableBranch({ id: t, name: 'side', from_version: 5 });
  await catalog.insertIntoTable({ id: t, branch: 'side' }, people(1, 500));
  await catalog.createTable({ id: ['root_table'] }, people(4));
  await catalog.declareTable({ id: ['n', 'declared'] });
  await catalog.createTable({ id: ['dropped'] }, people(1));
  await catalog.dropTable({ id: ['dropped'] });
  return { fs, files: filesOf(fs, ROOT), catalog };
}

test('a healthy catalog has no problem, also after cleanup and with everything in it', async () => {
  const { fs, catalog } = await make();
  const report = await catalog.verify({});
  expect(report.problems).toEqual([]);
  expect(report.ok).toBe(true);
  expect(report.counts).toMatchObject({
    namespaces: 2,
    tables: 3,
    branches: 4,
    tags: 1,
    versions: 44,
    fragments: 42,
  });
  expect(new Set(report.leftovers.map(({ kind }) => kind))).toEqual(new Set(['trash']));
  await catalog.batchDeleteTableVersions({
    id: t,
    ranges: [{ start_version: 2, end_version: 20 }],
  });
  await catalog.createTable({ id: t, mode: 'overwrite' }, people(2));
  await catalog.restoreTable({ id: t, version: 1 });
  await catalog.cleanupTable({ id: t, older_than_millis: 0, orphan_grace_millis: 0 });
  const again = await (await open(fs)).verify({});
  expect(again.problems).toEqual([]);
  expect((await catalog.verify({ id: ['n'] })).counts.tables).toBe(2);
  await expect(catalog.verify({ id: ['x'] })).rejects.toMatchObject({ code: 'NamespaceNotFound' });
});

test('what another engine put into a declared table is no damage, and repair leaves it', async () => {
  const { fs, files, catalog } = await make();
  const theirs = [
    'data/0101-a.lance',
    '_versions/1.manifest',
    '_transactions/0-1.txn',
    '_deletions/0-1.arrow',
    '_latest.manifest',
  ].map((path) => `n/declared.table/${path}`);
  for (const path of theirs) {
    fs.mkdirSync(`${ROOT}/${path}`.replace(/\/[^/]*$/, ''), { recursive: true });
    files.write(path, new Uint8Array([1, 2, 3]));
  }
  const before = files.all();
  expect((await catalog.verify({})).problems).toEqual([]);
  const repaired = await catalog.repair({ apply: true });
  expect(repaired).toEqual({ applied: true, actions: [], left: [] });
  expect(files.all()).toEqual(before);
  // In a table with data of ours, what Lance does not put there either is no part of it.
  fs.mkdirSync(`${ROOT}/${FOLDER}/_strange`);
  expect((await catalog.verify({})).problems).toMatchObject([
    { path: `${FOLDER}/_strange`, kind: 'unknown' },
  ]);
});

/** Files whose every byte is covered: all but the hint and the marks of drops, which say nothing. */
const isCovered = (path: string): boolean =>
  !path.endsWith('/') && !path.endsWith('latest.json') && !/^.dirspace.(trash|drops)./.test(path);

test('a flipped bit in any file is found', async () => {
  const { files, catalog } = await make();
  const seen = new Set<string>();
  for (const path of files.all().filter(isCovered)) {
    const kind = path.replace(/[0-9a-f-]{20,}/g, '*');
    // Of each kind of file one is enough, in a long run two.
    if (seen.has(kind) && (!LONG || seen.has(`${kind} twice`))) continue;
    seen.add(seen.has(kind) ? `${kind} twice` : kind);
    const bytes = files.read(path);
    // One end and one place between, another one in each file; in a long run all of them.
    const ends = [0, 1].filter((_, at) => LONG || at === seen.size % 2);
    const between = [0.3, 0.5, 0.7, 0.9].filter((_, at) => LONG || at === (seen.size >> 1) % 4);
    const positions = [...ends, ...between].map((share) =>
      Math.min(bytes.length - 1, share === 1 ? bytes.length - 1 : Math.floor(share * bytes.length)),
    );
    for (const position of positions) {
      const damaged = bytes.slice();
      damaged[position] = (damaged[position] ?? 0) ^ 0x10;
      files.write(path, damaged);
      const report = await catalog.verify({});
      // Its properties are not covered by a checksum: an older release must be able to read it.
      if (path !== '.dirspace/format.json') {
        expect(report.ok, `${path} at ${position}`).toBe(false);
        expect(
          report.problems.some((problem) => problem.path === path),
          path,
        ).toBe(true);
      }
    }
    files.write(path, bytes);
  }
  expect(seen.size).toBeGreaterThan(8);
  expect((await catalog.verify({})).ok).toBe(true);
}, 120_000);

test('files cut short, missing or swapped are found', async () => {
  const { fs, files, catalog } = await make();
  const wanted = files.all().filter(isCovered);
  const needed = wanted.filter((path) => !/(tags|n\/empty|branches\/side\/branch)/.test(path));
  for (const path of needed.filter((_, at) => at % 7 === 0)) {
    const bytes = files.read(path);
    fs.unlinkSync(`${ROOT}/${path}`);
    if (path !== '.dirspace/format.json') {
      // The newest version of a branch is only known by its file.
      const newest = /00(41|06|1)\.json$/.test(path);
      expect((await catalog.verify({})).ok, `${path} missing`).toBe(newest);
    }
    files.write(path, bytes.slice(0, bytes.length >> 1));
    expect((await catalog.verify({})).ok, `${path} cut short`).toBe(false);
    files.write(path, bytes);
  }
  for (const pattern of [/\/data\/.*\.arrow$/, /versions-[^/]*\/0.*\.json$/, /\.table\.json$/]) {
    const [one, other] = wanted.filter((path) => pattern.test(path)).slice(-2) as [string, string];
    const [left, right] = [files.read(one), files.read(other)];
    files.write(one, right);
    files.write(other, left);
    expect((await catalog.verify({})).ok, `${one} <-> ${other}`).toBe(false);
    files.write(one, left);
    files.write(other, right);
  }
  expect((await catalog.verify({})).ok).toBe(true);
}, 120_000);

test('a call of the file system that fails is a problem, and ends no verify', async () => {
  const fs = memoryFs();
  const catalog = await open(fs);
  await catalog.createNamespace({ id: ['n'] });
  await catalog.createTable({ id: t }, people(3));
  await catalog.close();
  const refusals = new Set<string>();
  for (let at = 1; ; at += LONG ? 1 : 3) {
    const faulty = new FaultyFs(fs);
    const one = await openDirectoryNamespace({ root: ROOT, fs: faulty.fs, readOnly: true });
    faulty.arm({ at, kind: 'EIO' });
    await one.verify({ trash: true }).catch((error: Error) => refusals.add(error.message));
    const { fired } = faulty;
    faulty.arm();
    await one.close();
    if (!fired) break;
  }
  // The root is looked at first and last: where it cannot be seen, nothing is known.
  const others = [...refusals].filter((message) => !message.startsWith('The root of the catalog'));
  expect(others).toEqual([]);
});

test('stray files are problems, what crashes leave are leftovers', async () => {
  const { fs, files, catalog } = await make();
  const uuid = '00000000-0000-4000-8000-000000000000';
  const versions = files.all().find((path) => /n\/t\.table\/versions-[^/]*\/$/.test(path)) ?? '';
  const strays = [
    ...['.note.txt', 'data/x', 'n/x', '.dirspace/x', `${FOLDER}/x`, `${FOLDER}/data/x`],
    ...[`${FOLDER}/tags/.x.json`, `${FOLDER}/branches/x`, `${versions}x.json`],
    ...[`${FOLDER}/branches/side/x`, `${FOLDER}/chunks/${uuid}.arrow`, 'data/user.table'],
  ];
  for (const path of strays) {
    files.write(path, new Uint8Array(3));
    const { problems } = await catalog.verify({});
    expect(problems.map((problem) => [problem.path, problem.kind])).toEqual([[path, 'unknown']]);
    fs.unlinkSync(`${ROOT}/${path}`);
  }
  const leftovers = [
    ['note.txt', 'foreign'],
    [`${FOLDER}/data/${uuid}.arrow`, 'orphan'],
    [`${FOLDER}/deletions/${uuid}.arrow`, 'orphan'],
    [`${FOLDER}/chunks/${uuid}.json`, 'orphan'],
    [`${versions}.tmp-1`, 'temporary'],
    [`${versions}staged-${uuid}.json`, 'temporary'],
    [`.dirspace/staging/${uuid}`, 'staging'],
    [`.dirspace/intents/${uuid}.json`, 'intent'],
  ] as const;
  for (const [path, kind] of leftovers) {
    files.write(path, new Uint8Array(3));
    const report = await catalog.verify({});
    expect(report.problems, path).toEqual([]);
    expect(report.leftovers).toContainEqual({ path, kind });
    fs.unlinkSync(`${ROOT}/${path}`);
  }
  // Where Lance looks for deletion files: cleanup takes ours and those of its writers alone.
  const beside = `${FOLDER}/_deletions`;
  fs.mkdirSync(`${ROOT}/${beside}`, { recursive: true });
  for (const [name, kind] of [
    ['0-0-77.arrow', 'orphan'],
    ['0-3-77.arrow', 'orphan'],
    ['.tmpAb12cd', 'temporary'],
    ['x', 'unknown'],
    ['0-0-x.arrow', 'unknown'],
  ] as const) {
    const path = `${beside}/${name}`;
    files.write(path, new Uint8Array(3));
    const { problems, leftovers: left } = await catalog.verify({});
    const told = [...problems, ...left].filter((one) => one.path === path);
    expect(told.map((one) => one.kind)).toEqual([kind]);
    expect(problems).toHaveLength(kind === 'unknown' ? 1 : 0);
    fs.unlinkSync(`${ROOT}/${path}`);
  }
  fs.mkdirSync(`${ROOT}/${beside}/0-0-78.arrow`);
  expect((await catalog.verify({})).problems).toMatchObject([
    { path: `${beside}/0-0-78.arrow`, kind: 'unknown' },
  ]);
  fs.rmdirSync(`${ROOT}/${beside}/0-0-78.arrow`);
  fs.mkdirSync(`${ROOT}/n/litter`);
  expect((await catalog.verify({})).leftovers).toContainEqual({
    path: 'n/litter',
    kind: 'empty folder',
  });
});

const versionFile = (files: CatalogFiles, version: number): string =>
  files
    .all()
    .find((path) => path.startsWith(FOLDER) && path.endsWith(`000${version}.json`)) as string;

test('repair quarantines a torn end, unreadable tags and empty folders, and nothing more', async () => {
  const { fs, files, catalog } = await make();
  const before = await idsOf(catalog, t, { version: 39 });
  const torn = [40, 41].map((version) => versionFile(files, version));
  files.write(torn[0] as string, files.read(torn[0] as string).slice(0, 100));
  files.write(torn[1] as string, new Uint8Array(0));
  const tag = `${FOLDER}/tags/first.json`;
  files.write(tag, new Uint8Array(5));
  fs.mkdirSync(`${ROOT}/n/litter`);
  const middle = versionFile(files, 20);
  files.write(middle, files.read(middle).slice(1));

  const fresh = await open(fs);
  await expect(fresh.queryTable({ id: t, k: 1 } as never)).rejects.toMatchObject({
    code: 'Corrupt',
  });
  const tree = files.all();
  const dry = await fresh.repair({});
  expect(dry.applied).toBe(false);
  expect(files.all()).toEqual(tree);
  expect(dry.actions.map(({ path }) => path)).toEqual([torn[1], torn[0], tag, 'n/litter']);
  expect(dry.left.map(({ path }) => path)).toEqual([middle]);

  const done = await fresh.repair({ apply: true });
  expect(done.actions.map(({ path }) => path)).toEqual(dry.actions.map(({ path }) => path));
  expect(done.left.map(({ path }) => path)).toEqual([middle]);
  for (const { quarantined } of done.actions) {
    expect(fs.existsSync(`${ROOT}/${quarantined}`)).toBe(true);
  }
  expect(files.read(done.actions[1]?.quarantined as string)).toHaveLength(100);
  const record = files.all().find((path) => path.endsWith('/record.json')) as string;
  const text = Buffer.from(files.read(record)).toString();
  for (const path of [...torn, tag, 'n/litter']) expect(text).toContain(path);

  for (const reader of [fresh, await open(fs)]) {
    expect(await idsOf(reader, t)).toEqual(before);
    expect((await reader.listTableTags({ id: t })).tags).toEqual({});
  }
  const { version } = await fresh.insertIntoTable({ id: t }, people(1, 900));
  expect(version).toBe(58);
  expect(await idsOf(await open(fs), t)).toEqual([...before, 900]);
});

test('a version whose fragment is damaged is torn too; one with nothing before it stays', async () => {
  const { fs, files, catalog } = await make();
  const [only] = files.all().filter((path) => /^data\/root_table.*\.arrow$/.test(path));
  files.write(only as string, new Uint8Array(7));
  const known = new Set(files.all());
  await catalog.insertIntoTable({ id: t }, people(2, 700));
  const added = files.all().filter((path) => !known.has(path) && path.endsWith('.arrow'));
  const bytes = files.read(added[0] as string);
  bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
  files.write(added[0] as string, bytes);
  const report = await (await open(fs)).repair({ apply: true });
  expect(report.actions.map(({ path }) => path)).toEqual([
    versionFile(files, 42) ?? report.actions[0]?.path,
  ]);
  expect(report.left.map(({ path }) => path)).toEqual([only]);
  expect(await idsOf(await open(fs), t)).not.toContain(700);
});
