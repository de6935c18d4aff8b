/** Branches that writers of Lance make and write, and those of this package that they write. */
import { utimesSync, writeFileSync } from 'node:fs';
import { beforeEach, expect, test } from 'vitest';
import type { ParsedBase, ParsedDataFile } from '../../../src/format/lance/parsed-fragment.ts';
import type { CreateTableVersionRequest } from '../../../src/protocol/index.ts';
import { connect } from '../../../src/sdk/connect.ts';
import { filesOf } from '../../helpers/catalog-files.ts';
import { memoryFs } from '../../helpers/catalogs.ts';
import { guardedFs } from '../../helpers/guarded-fs.ts';
import {
  type ClientFragment,
  type ClientManifest,
  encodeClientManifest,
  fragmentMembers,
  LanceClient,
  type Operation,
} from '../../helpers/lance-client.ts';
import { idsOf, people } from '../../helpers/people.ts';
import { temporaryFolder } from '../../helpers/temporary.ts';
import type { CatalogFiles } from '../../suites/namespace/context.ts';

const FOLDER = 'data/t.table';
let db: Awaited<ReturnType<typeof connect>>;
let files: CatalogFiles;
let client: LanceClient;
let current: ReturnType<typeof memoryFs>;

beforeEach(async () => {
  const fs = memoryFs();
  current = fs;
  files = filesOf(fs, '/c');
  db = await connect('/c', { fs, lance: 'write' });
  await db.namespace.createTable({ id: ['t'] }, people(5));
  client = new LanceClient(files, FOLDER);
});

const create = (request: CreateTableVersionRequest): Promise<unknown> =>
  db.namespace.createTableVersion({ id: ['t'], ...request });
const ids = (branch?: string): Promise<number[]> =>
  idsOf(db.namespace, ['t'], branch === undefined ? {} : { branch });
const problems = async (): Promise<unknown> => (await db.namespace.verify?.({}))?.problems;
const branches = async (): Promise<unknown> =>
  (await db.namespace.listTableBranches({ id: ['t'] })).branches;

test('a branch that a client makes and writes', async () => {
  await create(await client.append(people(3, 5), 3));
  await create(client.delete(new Map([[1, [0]]])));
  const uuid = '00000000-1111-2222-3333-444444444444';
  const [dev, request] = client.branchOff('dev', uuid);
  const answer = (await create(request)) as { version: { manifest_path: string } };
  expect(answer.version).toMatchObject({ version: 3 });
  const made = `${FOLDER}/tree/dev/_versions/18446744073709551612.manifest`;
  expect(answer.version.manifest_path).toContain(made);
  expect(dev.read('18446744073709551612.manifest')).toMatchObject({
    branch: 'dev',
    transaction: { uuid, operation: { kind: 'clone' } },
    writerFlags: 17n,
  });
  // The client itself says what the branch is, and fails where that is there.
  expect(files.all().filter((path) => /_refs|manifest-/.test(path))).toEqual([]);
  expect(await branches()).toMatchObject({ dev: { parentVersion: 3 } });
  await create(await dev.append(people(2, 100), 2));
  await create(
    dev.delete(
      new Map([
        [0, [1]],
        [1, [0, 1]],
        [2, [0]],
      ]),
    ),
  );
  expect(await ids('dev')).toEqual([0, 2, 3, 4, 7, 101]);
  expect(await ids()).toEqual([0, 1, 2, 3, 4, 6, 7]);
  // One that opens the branch now finds the files of the table.
  const anew = new LanceClient(files, FOLDER, 'dev');
  await create(anew.delete(new Map([[0, [0, 1]]])));
  expect(await ids('dev')).toEqual([2, 3, 4, 7, 101]);
  expect(await problems()).toEqual([]);
});

test('a branch of a branch, with files under both base paths', async () => {
  await create(await client.append(people(3, 5), 3));
  const [dev, first] = client.branchOff('dev');
  await create(first);
  await create(await dev.append(people(2, 100), 2));
  await create(dev.delete(new Map([[2, [0]]])));
  const [deeper, second] = dev.branchOff('deeper');
  expect(deeper.manifest.bases).toHaveLength(2);
  await create(second);
  await create(
    deeper.delete(
      new Map([
        [2, [0]],
        [1, [2]],
      ]),
    ),
  );
  expect(await ids('deeper')).toEqual([0, 1, 2, 3, 4, 5, 6, 101]);
  expect(await ids('dev')).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 101]);
  expect(await branches()).toMatchObject({ deeper: { parentBranch: 'dev', parentVersion: 4 } });
});

test('a branch of this package that a client writes', async () => {
  await db.namespace.createTableBranch({ id: ['t'], name: 'mine' });
  const mine = new LanceClient(files, FOLDER, 'mine');
  await create(await mine.append(people(2, 50), 2));
  const table = await (await (await db.openTable('t')).branches()).checkout('mine');
  await table.delete('id = 0');
  mine.open();
  await create(mine.delete(new Map([[1, [1]]])));
  expect(await ids('mine')).toEqual([1, 2, 3, 4, 50]);
  expect(await problems()).toEqual([]);
});

test('two clients on one branch', async () => {
  const [dev, request] = client.branchOff('dev');
  await create(request);
  const other = new LanceClient(files, FOLDER, 'dev');
  await create(await dev.append(people(1, 50), 1));
  await expect(create(await other.append(people(1, 60), 1))).rejects.toMatchObject({
    code: 'ConcurrentModification',
  });
  const [, again] = client.branchOff('dev');
  await expect(create(again)).rejects.toMatchObject({ code: 'ConcurrentModification' });
  expect(await ids('dev')).toEqual([0, 1, 2, 3, 4, 50]);
});

test('what makes no branch', async () => {
  await create(await client.append(people(3, 5), 3));
  const [dev, request] = client.branchOff('dev');
  const { manifest } = dev;
  const staged = (
    change: Partial<ClientManifest>,
    shown: { shallow?: number; from?: string; version?: number; name?: string } = {},
    operation?: Operation,
  ): CreateTableVersionRequest => {
    const { shallow = 1, from, version = 2, name = 'dev' } = shown;
    const clone: Operation = [
      113,
      (into) => {
        into.integer(1, shallow);
        if (from !== undefined) into.text(2, from);
        into.integer(3, version).text(5, name);
      },
    ];
    const readVersion = operation === undefined ? 2 : 1;
    const options = { readVersion };
    const bytes = encodeClientManifest({ ...manifest, ...change }, operation ?? clone, options);
    return dev.stageBytes(bytes, manifest.version);
  };
  const [first, second] = manifest.fragments as [ClientFragment, ClientFragment];
  const base = manifest.bases?.[0] as ParsedBase;
  const file = second.files[0] as ParsedDataFile;
  for (const [refused, why] of [
    [staged({}, {}, [100, () => {}]), /no branch "dev" to change/],
    [staged({ branch: 'other' }), /it is of the branch "other", not of "dev"/],
    [staged({ branch: undefined }), /it is of the branch "main"/],
    [staged({}, { shallow: 0 }), /a deep clone/],
    [staged({}, { name: 'else' }), /makes the branch "else"/],
    [staged({}, { from: 'gone' }), /the branch "gone", which is not there/],
    [staged({}, { version: 1 }), /clones version 1, and it is 2/],
    [staged({ bases: [{ ...base, path: '/elsewhere' }] }), /the base path "\/elsewhere"/],
    [staged({ bases: [{ ...base, path: `${base.path}-2` }] }), /the base path/],
    [staged({ bases: [{ ...base, isDatasetRoot: false }] }), /the base path/],
    [staged({ bases: [] }), /under the base path 0/],
    [staged({ fragments: [first] }), /fragment 1 is gone/],
    [staged({ maxFragmentId: 5 }), /its largest fragment id is 5/],
    [
      staged({ fragments: [first, { ...second, files: [{ ...file, path: 'x.lance' }] }] }),
      /the new file "x.lance" under a base path/,
    ],
    [staged({ tableMetadata: new Map() }), /no dirspace.incarnation/],
  ] as const) {
    await expect(create(refused)).rejects.toThrow(why);
    expect(await branches()).toEqual({});
  }
  const other = new Map([['dirspace.incarnation', '00000000-0000-0000-0000-000000000000']]);
  await expect(create(staged({ tableMetadata: other }))).rejects.toMatchObject({
    code: 'TableNotFound',
  });
  await expect(create({ ...request, branch: 'a/b' })).rejects.toMatchObject({
    code: 'InvalidInput',
  });
  await expect(create({ ...request, branch: 'dev2' })).rejects.toMatchObject({
    code: 'TableBranchNotFound',
  });
  await create(request);
  const deletion = { ...dev.deletion(second, [0]), base: 0 };
  second.deletion = deletion;
  await expect(create(dev.stage([101, (into) => into.message(1, fragmentMembers(second))])))
    .rejects //
    .toThrow(/the new deletion file of fragment 1 under a base path/);
  // Main has no base paths, whatever is said.
  client.open();
  client.manifest.bases = [base];
  await expect(create(client.stage([110, () => {}]))).rejects.toThrow(/the base path/);
  client.open();
  client.manifest.branch = 'dev';
  await expect(create(client.stage([110, () => {}]))).rejects.toThrow(/of the branch "dev"/);
});

test('a table that clients may not write gets no branch', async () => {
  const [, request] = client.branchOff('dev');
  const closed = await connect('/c', { fs: current, lance: 'read' });
  await expect(
    closed.namespace.createTableVersion({ id: ['t'], ...request }),
  ).rejects.toMatchObject({ code: 'PermissionDenied' });
});

const lanceTag = (name: string, version: number, branch: string | null = null): void =>
  files.write(
    `${FOLDER}/_refs/tags/${name}.json`,
    Buffer.from(JSON.stringify({ branch, version, manifestSize: 1, metadata: {} })),
  );
const tags = async (): Promise<unknown> => (await db.namespace.listTableTags({ id: ['t'] })).tags;
const leftovers = async (): Promise<unknown> =>
  (await db.namespace.verify?.({}))?.leftovers.filter(({ path }) => path.includes('_refs'));

test('tags that a client writes are those of the table from the next commit on', async () => {
  const [dev, request] = client.branchOff('dev');
  await create(request);
  await create(await dev.append(people(1, 50), 1));
  lanceTag('first', 1);
  lanceTag('of.dev', 2, 'dev');
  lanceTag('gone', 9);
  lanceTag('lost', 1, 'none');
  lanceTag('no name', 1);
  files.write(`${FOLDER}/_refs/tags/damaged.json`, Buffer.from('{'));
  expect(await leftovers()).toEqual([
    { path: `${FOLDER}/_refs/tags/first.json`, kind: 'unsynced' },
    { path: `${FOLDER}/_refs/tags/of.dev.json`, kind: 'unsynced' },
    { path: `${FOLDER}/_refs/branches/dev.json`, kind: 'unsynced' },
  ]);
  await create(client.delete(new Map([[0, [0]]])));
  const adopted = { first: { version: 1 }, 'of.dev': { version: 2, branch: 'dev' } };
  expect(await tags()).toMatchObject(adopted);
  expect(Object.keys((await tags()) as object)).toEqual(['first', 'of.dev']);
  const found = (await problems()) as { path: string; kind: string }[];
  expect(found.map(({ path, kind }) => `${kind} ${path.split('/').at(-1)}`).sort()).toEqual([
    'tag damaged.json',
    'tag gone.json',
    'tag lost.json',
    'tag no name.json',
  ]);
  // It goes with the client's file.
  await db.namespace.deleteTableTag({ id: ['t'], tag: 'first' });
  await create(client.delete(new Map([[0, [0, 1, 2]]])));
  expect(Object.keys((await tags()) as object)).toEqual(['of.dev']);
});

test('a tag that a client moves is moved, and one that the table moves later is not', async () => {
  await create(client.delete(new Map([[0, [0]]])));
  lanceTag('first', 1);
  lanceTag('second', 1);
  await create(client.delete(new Map([[0, [0, 1]]])));
  expect(await tags()).toMatchObject({ first: { version: 1 }, second: { version: 1 } });
  await db.namespace.createTableTag({ id: ['t'], tag: 'own', version: 1 });
  expect(await leftovers()).toEqual([]);
  const settle = (name: string, seconds: number): void =>
    current.utimesSync(`/c/${FOLDER}/_refs/tags/${name}.json`, seconds, seconds);
  const now = Date.now() / 1000;
  for (const [name, version] of [
    ['first', 2],
    ['second', 9],
    ['own', 2],
  ] as const) {
    lanceTag(name, version);
    settle(name, now + 60);
  }
  expect(await leftovers()).toEqual([
    { path: `${FOLDER}/_refs/tags/first.json`, kind: 'unsynced' },
    { path: `${FOLDER}/_refs/tags/own.json`, kind: 'unsynced' },
  ]);
  expect((await problems()) as unknown[]).toHaveLength(1);
  await db.namespace.createTableTag({ id: ['t'], tag: 'more', version: 1 });
  // No version has the number 9: the table's own stands.
  const moved = { first: { version: 2 }, second: { version: 1 }, own: { version: 2 } };
  expect(await tags()).toMatchObject(moved);
  expect(await leftovers()).toEqual([]);
  expect(await problems()).toEqual([]);
  // Older than the table's own record.
  lanceTag('first', 1);
  settle('first', now - 3_600);
  await db.namespace.deleteTableTag({ id: ['t'], tag: 'more' });
  expect(await tags()).toMatchObject(moved);
});

test('a tag of this package that a client moves is moved, though its file says who made it', async () => {
  await create(client.delete(new Map([[0, [0]]])));
  await db.namespace.createTableTag({ id: ['t'], tag: 'own', version: 1 });
  const path = `/c/${FOLDER}/_refs/tags/own.json`;
  const made = JSON.parse(String(current.readFileSync(path)));
  expect(made).toMatchObject({ version: 1, metadata: { written_by: 'dirspace' } });
  // pylance changes these members alone.
  const moved = { ...made, version: 2, updatedAt: '2100-01-01T00:00:00.000000001Z' };
  current.writeFileSync(path, JSON.stringify(moved));
  const now = Date.now() / 1000;
  current.utimesSync(path, now + 60, now + 60);
  await db.namespace.syncLance?.({ id: ['t'] });
  expect(await tags()).toMatchObject({ own: { version: 2 } });
  expect(await leftovers()).toEqual([]);
  expect(await problems()).toEqual([]);
});

test('a tag that a client moves while another is made is not written over', async () => {
  const root = temporaryFolder();
  const path = `${root}/${FOLDER}/_refs/tags/first.json`;
  let moves = false;
  const fs = guardedFs({
    root,
    escaped: () => {},
    before: (_call, name) => {
      if (!moves || !name.includes('/tags/more')) return;
      moves = false;
      writeFileSync(path, JSON.stringify({ branch: null, version: 2, manifestSize: 1 }));
      utimesSync(path, Date.now() / 1000 + 60, Date.now() / 1000 + 60);
    },
  });
  const opened = await connect(root, { fs, lance: 'write' });
  const id = ['t'];
  await opened.namespace.createTable({ id }, people(5));
  await opened.namespace.insertIntoTable({ id }, people(1, 5));
  await opened.namespace.createTableTag({ id, tag: 'first', version: 1 });
  moves = true;
  await opened.namespace.createTableTag({ id, tag: 'more', version: 1 });
  expect(moves).toBe(false);
  await opened.namespace.deleteTableTag({ id, tag: 'more' });
  const found = (await opened.namespace.listTableTags({ id })).tags;
  expect(found).toMatchObject({ first: { version: 2 } });
  await opened.close();
});

test('a branch from which others were made stays as long as they do', async () => {
  await db.namespace.createTableBranch({ id: ['t'], name: 'dev' });
  await db.namespace.createTableBranch({ id: ['t'], name: 'inner', from_branch: 'dev' });
  await expect(db.namespace.deleteTableBranch({ id: ['t'], name: 'dev' })).rejects.toMatchObject({
    code: 'InvalidTableState',
    message:
      'The branch inner of the table t was made from the branch dev, which writers of Lance need as long as it is there. Delete the branch inner first.',
  });
  await db.namespace.deleteTableBranch({ id: ['t'], name: 'inner' });
  await db.namespace.deleteTableBranch({ id: ['t'], name: 'dev' });
  const closed = await connect('/c', { fs: current, lance: 'read' });
  const id = ['closed'];
  await closed.namespace.createTable({ id }, people(2));
  await closed.namespace.createTableBranch({ id, name: 'dev' });
  await closed.namespace.createTableBranch({ id, name: 'inner', from_branch: 'dev' });
  await closed.namespace.deleteTableBranch({ id, name: 'dev' });
});

test('cleanup keeps the versions that branches were made from', async () => {
  await create(await client.append(people(1, 50), 1));
  await db.namespace.createTableBranch({ id: ['t'], name: 'dev', from_version: 1 });
  await create(await client.append(people(1, 51), 1));
  await db.namespace.insertIntoTable({ id: ['t'] }, people(1, 52));
  const versions = async (): Promise<unknown> =>
    (await db.namespace.listTableVersions({ id: ['t'] })).versions.map(({ version }) => version);
  const cleanup = (): Promise<unknown> =>
    db.namespace.cleanupTable?.({ id: ['t'], older_than_millis: 0 } as never) as never;
  await cleanup();
  expect(await versions()).toEqual([1, 4]);
  const range = { start_version: 1, end_version: 2 };
  await expect(
    db.namespace.batchDeleteTableVersions({ id: ['t'], ranges: [range] }),
  ).rejects.toMatchObject({
    code: 'InvalidTableState',
    message:
      'Version 1 cannot be deleted: writers of Lance need it as the origin of the branch dev. No version was deleted. Delete the branch first, or leave the version out.',
  });
  await db.namespace.deleteTableBranch({ id: ['t'], name: 'dev' });
  await cleanup();
  expect(await versions()).toEqual([4]);
});

test('deletion files of a branch lie below the branch, where a cleanup of main leaves them', async () => {
  await db.namespace.deleteFromTable({ id: ['t'], predicate: 'id = 0' });
  await db.namespace.createTableBranch({ id: ['t'], name: 'dev' });
  await db.namespace.deleteFromTable({ id: ['t'], predicate: 'id = 1', branch: 'dev' });
  const links = (): string[] =>
    files
      .all()
      .filter((path) => path.startsWith(FOLDER) && /_deletions\/./.test(path))
      .map((path) => path.slice(FOLDER.length + 1, path.lastIndexOf('/')));
  expect(links()).toEqual(['_deletions', 'tree/dev/_deletions', 'tree/dev/_deletions']);
  const dev = client.branchOff('dev')[0];
  const [fragment] = dev.read('18446744073709551612.manifest').fragments;
  expect(fragment?.deletion).toMatchObject({ rows: 2, base: undefined });
  expect(fragment?.files[0]).toMatchObject({ base: 0 });
  expect(await problems()).toEqual([]);
  // Below a branch a link that no version names is a leftover, and cleanup takes it.
  const stray = `${FOLDER}/tree/dev/_deletions/7-0-77.arrow`;
  files.write(stray, Buffer.from('x'));
  const found = async (): Promise<unknown> =>
    (await db.namespace.verify?.({}))?.leftovers.filter(({ path }) => path.endsWith('-77.arrow'));
  expect(await found()).toEqual([{ path: stray, kind: 'orphan' }]);
  await db.namespace.deleteTableBranch({ id: ['t'], name: 'dev' });
  expect(links()).toEqual(['_deletions']);
  expect(await problems()).toEqual([]);
});

test('cleanup keeps the version of a tag that a client wrote last', async () => {
  await create(client.delete(new Map([[0, [0]]])));
  lanceTag('first', 1);
  await db.namespace.cleanupTable?.({ id: ['t'], older_than_millis: 0 } as never);
  expect(await tags()).toMatchObject({ first: { version: 1 } });
  expect(await idsOf(db.namespace, ['t'], { version: 1 })).toEqual([0, 1, 2, 3, 4]);
});

test('a branch that goes takes what its clients wrote with it', async () => {
  const [dev, request] = client.branchOff('dev');
  await create(request);
  await create(await dev.append(people(1, 50), 1));
  files.write(`${FOLDER}/tree/dev/_versions/latest_version_hint.json`, Buffer.from('{}'));
  files.write(
    `${FOLDER}/_refs/branches/dev.json`,
    Buffer.from(JSON.stringify({ parentBranch: null, parentVersion: 1, metadata: {} })),
  );
  expect(await leftovers()).toEqual([]);
  expect(await problems()).toEqual([]);
  await db.namespace.deleteTableBranch({ id: ['t'], name: 'dev' });
  expect(files.all().filter((path) => /_refs.*json|tree.*_versions/.test(path))).toEqual([]);
  expect(await problems()).toEqual([]);
});

test('tags of a table that clients may not write stay theirs', async () => {
  const closed = await connect('/c', { fs: current, lance: 'sync' });
  await closed.namespace.createTable({ id: ['closed'] }, people(2));
  files.write(
    'data/closed.table/_refs/tags/theirs.json',
    Buffer.from(JSON.stringify({ branch: null, version: 1 })),
  );
  await closed.namespace.createTableTag({ id: ['closed'], tag: 'ours', version: 1 });
  const found = (await closed.namespace.listTableTags({ id: ['closed'] })).tags;
  expect(Object.keys(found)).toEqual(['ours']);
});
