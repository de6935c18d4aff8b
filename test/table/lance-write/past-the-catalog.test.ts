/**
 * What programs leave in a table's folder past the catalog: tags of versions that are set aside, folders and links
 * named like manifests, manifests that a commit could not place. Readers are told, and nothing passes for the table's.
 */
import { beforeEach, expect, test } from 'vitest';
import { decodeVersion, encodeManifest } from '../../../src/format/index.ts';
import { encodeChecksummed } from '../../../src/json.ts';
import { lanceTagsFolder, lanceVersionFile } from '../../../src/lance-paths.ts';
import type { CreateTableVersionRequest } from '../../../src/protocol/index.ts';
import { connect } from '../../../src/sdk/connect.ts';
import { filesOf } from '../../helpers/catalog-files.ts';
import { memoryFs } from '../../helpers/catalogs.ts';
import { fragmentMembers, LanceClient } from '../../helpers/lance-client.ts';
import { idsOf, people } from '../../helpers/people.ts';
import type { CatalogFiles } from '../../suites/namespace/context.ts';

const FOLDER = 'data/t.table';
const TAGS = `/c/${lanceTagsFolder(FOLDER)}`;
const id = ['t'];
let fs: ReturnType<typeof memoryFs>;
let db: Awaited<ReturnType<typeof connect>>;
let files: CatalogFiles;

beforeEach(async () => {
  fs = memoryFs();
  files = filesOf(fs, '/c');
  db = await connect('/c', { fs, lance: 'write' });
  await db.namespace.createTable({ id }, people(2));
});

const create = (request: CreateTableVersionRequest): Promise<unknown> =>
  db.namespace.createTableVersion({ id, ...request });
const insert = (from: number): Promise<unknown> =>
  db.namespace.insertIntoTable({ id }, people(1, from));
const sizeOf = (version: number): number => files.read(lanceVersionFile(FOLDER, version)).length;
async function byPath(from: number): Promise<void> {
  const client = new LanceClient(files, FOLDER);
  const { version, manifest_path } = await client.append(people(1, from), 1);
  fs.renameSync(`/${manifest_path}`, `/c/${lanceVersionFile(FOLDER, version)}`);
}
/** As pylance writes one. @param age seconds since it was written */
function tag(name: string, version: number, manifestSize: number | undefined, age = 0): void {
  fs.mkdirSync(TAGS, { recursive: true });
  const at = new Date(Date.now() - age * 1000);
  const file = { branch: null, version, createdAt: at, updatedAt: at, manifestSize };
  fs.writeFileSync(`${TAGS}/${name}.json`, JSON.stringify(file));
  fs.utimesSync(`${TAGS}/${name}.json`, at, at);
}
const tags = async (): Promise<Record<string, number>> => {
  const { tags: found } = await db.namespace.listTableTags({ id });
  return Object.fromEntries(Object.entries(found).map(([name, { version }]) => [name, version]));
};
const problems = async (): Promise<unknown> =>
  (await db.namespace.verify?.({}))?.problems.map(({ path }) => path);
const opening = async (): Promise<unknown> =>
  (await db.namespace.describeTable({ id, load_detailed_metadata: true })).lance;

test('a tag of a version by path goes aside with it, and is never one of ours of that number', async () => {
  await byPath(100);
  tag('theirs', 2, sizeOf(2), 60);
  tag('unsized', 2, undefined, 60);
  await insert(2);
  expect(await tags()).toEqual({});
  expect(files.all().filter((path) => /_refs\/tags\/.*\.json$/.test(path))).toEqual([]);
  expect(files.all().filter((path) => /\.json\.aside-/.test(path))).toHaveLength(2);
  expect(await problems()).toEqual([]);
  await insert(3);
  expect(await tags()).toEqual({});
});

test('a tag of a version of ours is adopted, whatever times a copy of the catalog gave the files', async () => {
  await insert(2);
  const size = sizeOf(2);
  tag('copied', 2, size, 60);
  tag('after', 2, size + 1);
  tag('plain', 2, undefined);
  await insert(3);
  expect(await tags()).toEqual({ after: 2, copied: 2, plain: 2 });
});

test('the file of a tag that was deleted does not bring it back', async () => {
  await db.namespace.createTableTag({ id, tag: 'gone', version: 1 });
  const path = `${TAGS}/gone.json`;
  const left = fs.readFileSync(path) as Buffer;
  await db.namespace.deleteTableTag({ id, tag: 'gone' });
  fs.writeFileSync(path, left);
  await insert(2);
  expect(await tags()).toEqual({});
});

test('a manifest of ours that another engine put in the place of one set aside gets its name back', async () => {
  await byPath(100);
  await byPath(101);
  const { renameSync } = fs;
  const path = `/c/${lanceVersionFile(FOLDER, 3)}`;
  const own = files.read(lanceVersionFile(FOLDER, 1));
  let raced = 0;
  fs.renameSync = ((from, to) => {
    if (String(from) === path && raced++ === 0) {
      renameSync.call(fs, path, `${path}.aside-00000000`);
      fs.writeFileSync(path, own);
    }
    return renameSync.call(fs, from, to);
  }) as typeof renameSync;
  // Whoever lists versions for a client of Lance takes away what stands above the newest.
  await db.namespace.listTableVersions({ id, limit: 1, descending: true }, {
    forLance: true,
  } as object);
  expect(raced).toBe(1);
  expect(Buffer.compare(fs.readFileSync(path) as Buffer, own)).toBe(0);
  expect(files.all().filter((each) => each.includes('.aside-'))).toHaveLength(2);
});

test('cleanup removes a tag that was set aside, after its grace', async () => {
  await byPath(100);
  tag('theirs', 2, sizeOf(2), 60);
  await insert(2);
  const left = (): string[] => files.all().filter((path) => path.includes('.json.aside-'));
  await db.namespace.cleanupTable?.({ id, older_than_millis: 1e12 });
  expect(left()).toHaveLength(1);
  for (const path of left()) fs.utimesSync(`/c/${path}`, 0, 0);
  await db.namespace.cleanupTable?.({ id, older_than_millis: 1e12 });
  expect(left()).toEqual([]);
});

test('detached commits by path are no damage, and go with cleanup when they are old', async () => {
  await db.namespace.createTableBranch({ id, name: 'side' });
  const client = new LanceClient(files, FOLDER);
  const { manifest_path } = await client.append(people(1, 100), 1);
  // Over the server a client cannot put the second one in its place.
  const manifest = fs.readFileSync(`/${manifest_path}`) as Buffer;
  const detached = [
    `${FOLDER}/_versions/d12679407355033079684.manifest-ae85208b-fa29-4c86-b661-512e00cedaaf`,
    `${FOLDER}/_versions/d9550474513353807628.manifest`,
    `${FOLDER}/tree/side/_versions/d12660548735142485330.manifest`,
  ];
  fs.unlinkSync(`/${manifest_path}`);
  for (const path of detached) fs.writeFileSync(`/c/${path}`, manifest);
  const written = files.all().filter((path) => path.endsWith('.lance'));
  expect(written).toHaveLength(1);
  const { problems: wrong, leftovers = [] } = (await db.namespace.verify?.({})) ?? {};
  expect(wrong).toEqual([]);
  for (const path of [...detached, ...written])
    expect(leftovers).toContainEqual({ path, kind: 'orphan' });
  const left = (): string[] =>
    files.all().filter((path) => /_versions\/d[0-9]|\.lance$/.test(path));
  const cleanup = () => db.namespace.cleanupTable?.({ id, older_than_millis: 1e12 });
  await cleanup();
  expect(left().toSorted()).toEqual([...detached, ...written].toSorted());
  await insert(2);
  for (const path of left()) fs.utimesSync(`/c/${path}`, 0, 0);
  await cleanup();
  expect(left()).toEqual([]);
  expect(await problems()).toEqual([]);
});

test('verify does not take a tag of another version for one that is adopted later', async () => {
  await insert(2);
  tag('theirs', 2, 1, 60);
  expect(await problems()).toEqual([`${FOLDER}/_refs/tags/theirs.json`]);
});

test.each(['folder', 'link'])('a %s named like a manifest: synchronizing says so', async (kind) => {
  for (const name of [lanceVersionFile(FOLDER, 9), `${FOLDER}/_versions/9.manifest`]) {
    const path = `/c/${name}`;
    if (kind === 'folder') fs.mkdirSync(path);
    else fs.symlinkSync(`/c/${lanceVersionFile(FOLDER, 1)}`, path);
    expect((await db.namespace.syncLance?.({ id }))?.tables).toMatchObject([
      { opens: false, reason: expect.stringContaining(name) },
    ]);
    if (kind === 'folder') fs.rmdirSync(path);
    else fs.unlinkSync(path);
    expect((await db.namespace.syncLance?.({ id }))?.tables).toMatchObject([{ opens: true }]);
  }
});

test('one at the name of a version of ours does not keep the others from their names', async () => {
  await insert(2);
  await insert(3);
  for (const version of [2, 3]) fs.unlinkSync(`/c/${lanceVersionFile(FOLDER, version)}`);
  fs.mkdirSync(`/c/${lanceVersionFile(FOLDER, 2)}`);
  expect((await db.namespace.syncLance?.({ id }))?.tables).toMatchObject([
    { opens: false, versions: 2, written: 1 },
  ]);
  expect(files.all()).toContain(lanceVersionFile(FOLDER, 3));
});

test('describe tells where Lance finds another version by path than the newest', async () => {
  await insert(2);
  expect(await opening()).toEqual({ opens: true });
  const newest = `/c/${lanceVersionFile(FOLDER, 2)}`;
  const bytes = fs.readFileSync(newest) as Buffer;
  fs.unlinkSync(newest);
  expect(await opening()).toMatchObject({
    by_path: expect.stringContaining('does not find version 2'),
  });
  // A version that is asked for by its number is not the newest, whatever Lance finds.
  const oldest = `/c/${lanceVersionFile(FOLDER, 1)}`;
  const first = fs.readFileSync(oldest) as Buffer;
  fs.unlinkSync(oldest);
  const older = { id, version: 1, load_detailed_metadata: true };
  expect((await db.namespace.describeTable(older)).lance).toEqual({ opens: true });
  fs.writeFileSync(oldest, first);
  fs.writeFileSync(newest, bytes.subarray(1));
  expect(await opening()).toMatchObject({ by_path: expect.stringContaining('something else') });
  // As a copied catalog has it.
  fs.writeFileSync(newest, bytes);
  expect(await opening()).toEqual({ opens: true });
  await byPath(100);
  expect(await opening()).toMatchObject({ by_path: expect.stringContaining('finds version 3') });
  await insert(3);
  expect(await opening()).toEqual({ opens: true });
});

test('describe says nothing of it for a table that has its fence', async () => {
  await db.createTable('fenced', people(1) as never, { lance: 'read' } as never);
  const request = { id: ['fenced'], load_detailed_metadata: true };
  expect((await db.namespace.describeTable(request)).lance).toEqual({ opens: true });
});

test('a number that an aborted commit of several tables took keeps clients off for one commit only', async () => {
  await insert(2);
  const client = new LanceClient(files, FOLDER);
  const path = (await db.namespace.describeTableVersion({ id })).version.manifest_path;
  const found = decodeVersion(fs.readFileSync(path) as Buffer, path);
  if (!('manifest' in found)) throw new Error('no manifest');
  const { manifest, checksum } = found;
  const batch = '00000000-0000-0000-0000-00000000abcd';
  const { table, branch, version } = manifest;
  const aborted = {
    ...manifest,
    version: version + 1,
    parent: { version, branch, checksum },
    transaction: `${table}.11111111-1111-1111-1111-111111111111`,
    batch,
  };
  fs.writeFileSync(path.replace('2.json', '3.json'), encodeManifest(aborted).bytes);
  fs.mkdirSync('/c/.dirspace/transactions', { recursive: true });
  const decision = encodeChecksummed({ format: 1, outcome: 'aborted' }).bytes;
  fs.writeFileSync(`/c/.dirspace/transactions/${batch}.json`, decision);
  const other = await connect('/c', { fs });
  const append = async (from: number): Promise<unknown> =>
    other.namespace.createTableVersion({ id, ...(await client.append(people(1, from), 1)) });
  await expect(append(3)).rejects.toMatchObject({ code: 'ConcurrentModification' });
  client.open();
  expect(client.manifest.version).toBe(4);
  expect(
    client.read(lanceVersionFile('', 4).slice('/_versions/'.length)).transaction,
  ).toMatchObject({
    operation: { kind: 'update_config' },
  });
  await append(4);
  expect(await idsOf(other.namespace, id)).toEqual([0, 1, 2, 4]);
  const { versions } = await other.namespace.listTableVersions({ id });
  expect(versions.map((each) => each.version)).toEqual([1, 2, 4, 5]);
});

test('a new file with fields that the table never had is refused, one with dropped fields is taken', async () => {
  const table = await db.openTable('t');
  const behind = new LanceClient(files, FOLDER);
  const ids = behind.manifest.fields.map((field) => field.id);
  await table.dropColumns(['name']);
  const staged = async (fields: readonly number[]): Promise<CreateTableVersionRequest> => {
    const client = new LanceClient(files, FOLDER);
    const file = await client.dataFile(people(1, 50), ids);
    const fragment = {
      id: ++client.manifest.maxFragmentId,
      files: [{ ...file, fields: [...fields] }],
      deletion: undefined,
      physicalRows: 1,
    };
    client.manifest.fragments.push(fragment);
    return client.stage([100, (into) => into.message(1, fragmentMembers(fragment))]);
  };
  const [kept, gone] = ids as [number, number];
  for (const unknown of [gone + 1, 1_000_000, -1]) {
    const message = `fragment 1 holds field ${unknown}, which the table has never had`;
    await expect(create(await staged([kept, unknown]))).rejects.toThrow(message);
  }
  await create(await staged([kept, gone]));
  expect(await idsOf(db.namespace, id)).toEqual([0, 1, 50]);
});
