/**
 * Programs that write by path, past the catalog: what they put where Lance looks for versions is none of the
 * table, and commits, clients over the catalog and readers by path go on without it.
 */
import { beforeEach, expect, test } from 'vitest';
import { isOwnLanceManifest } from '../../../src/format/index.ts';
import { lanceVersionFile } from '../../../src/lance-paths.ts';
import type { CreateTableVersionRequest } from '../../../src/protocol/index.ts';
import { connect } from '../../../src/sdk/connect.ts';
import { filesOf } from '../../helpers/catalog-files.ts';
import { memoryFs } from '../../helpers/catalogs.ts';
import { LanceClient } from '../../helpers/lance-client.ts';
import { idsOf, people } from '../../helpers/people.ts';
import type { CatalogFiles } from '../../suites/namespace/context.ts';

const FOLDER = 'data/t.table';
const T = `/c/${FOLDER}`;
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

const opened = (branch?: string): LanceClient => new LanceClient(files, FOLDER, branch);
const create = (request: CreateTableVersionRequest): Promise<unknown> =>
  db.namespace.createTableVersion({ id, ...request });
/** What a client does that was given the folder: it gives its manifest the name itself. */
async function byPath(from: number, client = opened()): Promise<void> {
  const { version, manifest_path } = await client.append(people(1, from), 1);
  const staged = `/${manifest_path}`;
  const dataset = staged.slice(0, staged.lastIndexOf('/_versions/'));
  fs.renameSync(staged, lanceVersionFile(dataset, version));
}
const versionsAt = (dataset = FOLDER): number[] =>
  files
    .all()
    .filter((path) => /^_versions\/[0-9]{20}\.manifest$/.test(path.slice(dataset.length + 1)))
    .filter((path) => path.startsWith(`${dataset}/`))
    .map((path) => Number(2n ** 64n - 1n - BigInt(path.slice(-29, -9))))
    .reverse();
const isOurs = (version: number, dataset = FOLDER): boolean =>
  isOwnLanceManifest(files.read(lanceVersionFile(dataset, version)));
const aside = (): string[] => files.all().filter((path) => path.includes('.manifest.aside-'));
const told = async (): Promise<unknown> =>
  (await db.namespace.verify?.({}))?.problems.map(({ path, what }) => [path, what]);
const insert = (from: number, branch?: string): Promise<unknown> =>
  db.namespace.insertIntoTable(
    { id, ...(branch === undefined ? {} : { branch }) },
    people(1, from),
  );

test('versions by path: verify tells them, and our next commit sets them aside', async () => {
  for (const from of [100, 101, 102]) await byPath(from);
  expect(versionsAt()).toEqual([1, 2, 3, 4]);
  const what = expect.stringContaining('The next commit over the catalog sets it aside');
  expect(await told()).toEqual([4, 3, 2].map((at) => [lanceVersionFile(FOLDER, at), what]));
  expect(await idsOf(db.namespace, id)).toEqual([0, 1]);
  await insert(2);
  expect(versionsAt()).toEqual([1, 2]);
  expect(isOurs(2)).toBe(true);
  expect(aside()).toHaveLength(3);
  expect(await told()).toEqual([]);
  await create(await opened().append(people(1, 3), 1));
  expect(await idsOf(db.namespace, id)).toEqual([0, 1, 2, 3]);
});

test('a client that built on one is refused, and it and others go on at once', async () => {
  const client = opened();
  await byPath(100);
  await byPath(101);
  const misled = opened();
  await expect(create(await misled.append(people(1, 102), 1))).rejects.toMatchObject({
    code: 'ConcurrentModification',
  });
  expect(versionsAt()).toEqual([1]);
  expect(aside()).toHaveLength(2);
  await create(await client.append(people(1, 2), 1));
  await create(await opened().append(people(1, 3), 1));
  expect(await idsOf(db.namespace, id)).toEqual([0, 1, 2, 3]);
  expect(await told()).toEqual([]);
});

test('a client that opens the table is shown none, and builds on ours', async () => {
  await insert(2);
  await byPath(100);
  const { versions } = await db.namespace.listTableVersions({ id, limit: 1, descending: true }, {
    forLance: true,
  } as object);
  expect(versions.map(({ version }) => version)).toEqual([2]);
  expect(versionsAt()).toEqual([1, 2]);
  expect(aside()).toHaveLength(1);
  await create(await opened().append(people(1, 3), 1));
  expect(await idsOf(db.namespace, id)).toEqual([0, 1, 2, 3]);
});

test('a restore by path, whose manifest names us as its writer', async () => {
  const restored = opened();
  const request = restored.stage([106, (into) => into.integer(1, 1)], {
    extra: (into) =>
      into
        .text(12, '1-00000000.txn')
        .message(13, (writer) => writer.text(1, 'dirspace').text(2, '1.0.0')),
  });
  fs.renameSync(`/${request.manifest_path}`, `/c/${lanceVersionFile(FOLDER, 2)}`);
  expect(await told()).toHaveLength(1);
  await expect(create(await opened().append(people(1, 100), 1))).rejects.toThrow();
  expect(versionsAt()).toEqual([1]);
  expect(aside()).toHaveLength(1);
});

test('a manifest of ours stays ours when texts in it, or damage, look like the transaction of a restore', async () => {
  await db.namespace.updateTableSchemaMetadata({ id, metadata: { file: '1-00000000.txn' } });
  const bytes = files.read(lanceVersionFile(FOLDER, 2));
  expect(isOwnLanceManifest(bytes)).toBe(true);
  expect(isOwnLanceManifest(bytes.slice(0, -1))).toBe(true);
  expect(isOwnLanceManifest(new Uint8Array(8))).toBe(false);
});

test('behind a gap, as a writer leaves it that had read what was set aside', async () => {
  await byPath(100);
  await byPath(101);
  fs.unlinkSync(`/c/${lanceVersionFile(FOLDER, 2)}`);
  const misled = opened();
  await expect(create(await misled.append(people(1, 102), 1))).rejects.toThrow();
  expect(versionsAt()).toEqual([1]);
});

test('one that takes the number while ours is published loses its name', async () => {
  const client = opened();
  const { linkSync } = fs;
  const { manifest_path } = await client.append(people(1, 100), 1);
  let raced = 0;
  fs.linkSync = ((from, to) => {
    if (String(to) === `/c/${lanceVersionFile(FOLDER, 2)}` && raced++ === 0)
      fs.renameSync(`/${manifest_path}`, String(to));
    return linkSync.call(fs, from, to);
  }) as typeof linkSync;
  await insert(2);
  expect(raced).toBeGreaterThan(1);
  expect(isOurs(2)).toBe(true);
  expect(aside()).toHaveLength(1);
  expect(await idsOf(db.namespace, id)).toEqual([0, 1, 2]);
  expect(await told()).toEqual([]);
});

test('what another engine put in its place meanwhile is not taken away', async () => {
  await byPath(100);
  const { renameSync } = fs;
  const path = `/c/${lanceVersionFile(FOLDER, 2)}`;
  let raced = 0;
  fs.renameSync = ((from, to) => {
    if (String(from) === path && raced++ === 0) {
      renameSync.call(fs, path, `${path}.aside-00000000`);
      const made = files.all().find((each) => /\/lance\/.*[^0-9]2\.manifest$/.test(each));
      fs.linkSync(`/c/${made}`, path);
    }
    return renameSync.call(fs, from, to);
  }) as typeof renameSync;
  await insert(2);
  expect(raced).toBe(1);
  expect(isOurs(2)).toBe(true);
  expect(aside()).toHaveLength(1);
  expect(await told()).toEqual([]);
});

test.each(['sync', 'read'] as const)(
  'a table that clients of Lance may not write keeps what was forced past the fence: %s',
  async (lance) => {
    await db.createTable('other', people(2) as never, { lance } as never);
    await db.namespace.syncLance?.({});
    const client = new LanceClient(files, 'data/other.table');
    await byPath(100, client);
    await byPath(101, client);
    await db.namespace.insertIntoTable({ id: ['other'] }, people(1, 2));
    expect(versionsAt('data/other.table')).toEqual([1, 2, 3]);
    expect(await told()).toEqual([
      [lanceVersionFile('data/other.table', 3), expect.stringContaining('past the fence')],
    ]);
  },
);

test('a number of ours that was taken before a commit could place its own', async () => {
  const { linkSync } = fs;
  fs.linkSync = ((from, to) => {
    if (String(to).startsWith(`${T}/_versions/`))
      throw Object.assign(new Error('EIO'), { code: 'EIO' });
    return linkSync.call(fs, from, to);
  }) as typeof linkSync;
  await insert(2);
  fs.linkSync = linkSync;
  await byPath(100);
  expect(isOurs(2)).toBe(false);
  await insert(3);
  expect(versionsAt()).toEqual([1, 2, 3]);
  expect([isOurs(2), isOurs(3)]).toEqual([true, true]);
  expect(await told()).toEqual([]);
});

test('on branches as on main', async () => {
  await db.namespace.createTableBranch({ id, name: 'b' });
  await insert(2, 'b');
  const dataset = `${FOLDER}/tree/b`;
  const before = versionsAt(dataset);
  await byPath(100, opened('b'));
  expect(versionsAt(dataset)).toHaveLength(before.length + 1);
  await insert(3, 'b');
  await byPath(101, opened('b'));
  await byPath(102, opened('b'));
  await insert(4, 'b');
  expect(versionsAt(dataset)).toHaveLength(before.length + 2);
  for (const version of versionsAt(dataset)) expect(isOurs(version, dataset)).toBe(true);
  expect(await told()).toEqual([]);
});

test('engines at once take nothing of each other away', async () => {
  const other = await connect('/c', { fs });
  for (let at = 0; at < 6; at++) {
    await byPath(100 + at);
    await Promise.all([
      insert(10 + at),
      other.namespace.insertIntoTable({ id }, people(1, 20 + at)),
    ]);
  }
  expect(versionsAt()).toEqual(Array.from({ length: 13 }, (_, at) => at + 1));
  for (const version of versionsAt()) expect(isOurs(version)).toBe(true);
  expect(await told()).toEqual([]);
});
