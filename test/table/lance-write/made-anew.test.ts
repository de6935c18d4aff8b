/**
 * A client of Lance that holds a table which was dropped writes to the next table of that name. Where it is behind, it
 * stages the newest manifest of the new table with its own change: only the path tells which table it had opened.
 */
import { beforeEach, expect, test, vi } from 'vitest';
import { connect } from '../../../src/sdk/connect.ts';
import { filesOf } from '../../helpers/catalog-files.ts';
import { LanceClient } from '../../helpers/lance-client.ts';
import { memoryFs, type TestFs } from '../../helpers/memory-fs.ts';
import { idsOf, people } from '../../helpers/people.ts';
import type { CatalogFiles } from '../../suites/namespace/context.ts';

const FOLDER = 'data/t.table';
const ID = { id: ['t'] };
const FOR_LANCE = { forLance: true };
type Connection = Awaited<ReturnType<typeof connect>>;
let fs: TestFs;
let db: Connection;
let files: CatalogFiles;

beforeEach(async () => {
  fs = memoryFs();
  files = filesOf(fs, '/c');
  db = await connect('/c', { fs, lance: 'write' });
  await db.namespace.createTable(ID, people(5));
});

const ids = (): Promise<number[]> => idsOf(db.namespace, ['t']);
/** The path that a client of Lance is given, relative to the root. */
const opened = async (from: Connection = db, id: string[] = ['t']): Promise<string> => {
  const { location = '' } = await from.namespace.describeTable({ id }, FOR_LANCE);
  expect(location.startsWith('/c/')).toBe(true);
  return location.slice('/c/'.length);
};
/** A client that opened the table, whose own manifest is not the newest one any more. */
async function client(place?: string): Promise<LanceClient> {
  const made = new LanceClient(files, FOLDER);
  made.opened = place ?? (await opened());
  return made;
}
const rebased = async (held: LanceClient, readVersion: number) => {
  held.open();
  const { manifest } = held;
  const last = manifest.fragments.at(-1);
  // Fragment 0 goes, as where every row of it is deleted: no file of the client's is named.
  manifest.fragments = manifest.fragments.filter(({ id }) => id !== 0);
  expect(last?.id).not.toBe(0);
  return held.stage([101, (into) => into.packed(2, [0]).text(3, 'id >= 0')], { readVersion });
};
const append = async (held: LanceClient, readVersion: number) => {
  held.open();
  const request = await held.append(people(2, 90), 2);
  expect(readVersion).toBeLessThan(held.manifest.version);
  return request;
};
/** The same name, with rows of its own and versions that the client has not read. */
async function makeAnew(): Promise<void> {
  await db.dropTable('t');
  await db.namespace.createTable(ID, people(4, 20));
  for (const first of [30, 40])
    await db.namespace.insertIntoTable({ ...ID, mode: 'append' }, people(3, first));
}
const NEXT = [20, 21, 22, 23, 30, 31, 32, 40, 41, 42];

test('describe gives clients of Lance a path of this table alone', async () => {
  const first = await opened();
  const { incarnation } = await db.namespace.describeTable({ ...ID, load_detailed_metadata: true });
  expect(first).toBe(`.dirspace/opened/${incarnation}`);
  expect(fs.readlinkSync(`/c/${first}`)).toBe('../../data/t.table');
  expect(await opened()).toBe(first);
  const uri = await db.namespace.describeTable({ ...ID, with_table_uri: true }, FOR_LANCE);
  expect(uri.table_uri).toBe(`file:///c/${first}`);
  // This package's own clients, and those of tables that Lance only reads, are given the folder.
  expect((await db.namespace.describeTable(ID)).location).toBe(`/c/${FOLDER}`);
  await db.createTable('r', [{ id: 1 }], [], { lance: 'read' });
  expect(await opened(db, ['r'])).toBe('data/r.table');

  await makeAnew();
  expect(await opened()).not.toBe(first);
  expect((await db.namespace.verify?.({}))?.problems).toEqual([]);
});

test('a catalog that another process switched since it was opened gives the same path', async () => {
  const lanceVersion = async (of: Connection) =>
    (await of.namespace.describeTableVersion({ ...ID, version: 1 }, FOR_LANCE)).version;
  for (const mode of ['read', undefined] as const) {
    const root = `/switched-${mode}`;
    if (mode !== undefined) await (await connect(root, { fs, lance: mode })).createNamespace(['n']);
    const reader = await connect(root, { fs });
    const writer = await connect(root, { fs, lance: 'write' });
    await writer.namespace.createTable(ID, people(5));
    const { location } = await reader.namespace.describeTable(ID, FOR_LANCE);
    expect(location).toContain('.dirspace/opened/');
    expect(await writer.namespace.describeTable(ID, FOR_LANCE)).toMatchObject({ location });
    expect((await lanceVersion(reader)).manifest_path).toContain('/_versions/');
    expect(await lanceVersion(reader)).toEqual(await lanceVersion(writer));
  }
});

test('the path leads to the table after a rename', async () => {
  const place = await opened();
  await db.renameTable('t', 'u');
  expect(await opened(db, ['u'])).toBe(place);
  expect(fs.readlinkSync(`/c/${place}`)).toBe('../../data/u.table');
});

test.each([
  ['an append', append],
  ['a delete of whole fragments', rebased],
])(
  '%s by a client of the dropped table is refused, and one of the new table taken',
  async (_, change) => {
    const stale = await client();
    await makeAnew();
    const request = await change(stale, 1);
    await expect(db.namespace.createTableVersion({ ...ID, ...request })).rejects.toMatchObject({
      code: 'TableNotFound',
      message: expect.stringContaining('made anew'),
    });
    expect(await ids()).toEqual(NEXT);

    const fresh = await client();
    await db.namespace.createTableVersion({ ...ID, ...(await change(fresh, 1)) });
    expect(await ids()).not.toEqual(NEXT);
  },
);

test('a client that is behind and has opened the folder itself is told to open the table again', async () => {
  const stale = await client(FOLDER);
  await makeAnew();
  const request = await rebased(stale, 1);
  await expect(db.namespace.createTableVersion({ ...ID, ...request })).rejects.toThrow(
    /has read version 1 in the folder of the table.*Open the table again/,
  );
  expect(await ids()).toEqual(NEXT);
  // One that has read the newest says in its manifest which table that was.
  const other = await client(FOLDER);
  await db.namespace.createTableVersion({ ...ID, ...(await rebased(other, 3)) });
  expect(await ids()).toEqual(NEXT.slice(4));
});

test('without symbolic links clients are given the folder, and may be behind', async () => {
  const { symlinkSync: _, ...plain } = fs;
  const other = await connect('/c', { fs: plain as never });
  expect(await opened(other)).toBe(FOLDER);
  await other.namespace.insertIntoTable({ ...ID, mode: 'append' }, people(3, 30));
  const request = await rebased(await client(FOLDER), 1);
  await other.namespace.createTableVersion({ ...ID, ...request });
  expect(await idsOf(other.namespace, ['t'])).toEqual([30, 31, 32]);
});

test('a path of no table, or below the place of another, is no staged manifest', async () => {
  const held = await client();
  const request = await append(held, 0);
  for (const [from, to] of [
    ['/_versions/', '/../t.table/_versions/'],
    ['/_versions/', '/data/../_versions/'],
    [held.opened ?? '', '.dirspace/opened'],
    [held.opened ?? '', `${held.opened}/tree/none`],
  ]) {
    const manifest_path = request.manifest_path.replace(from ?? '', to ?? '');
    expect(manifest_path).not.toBe(request.manifest_path);
    await expect(
      db.namespace.createTableVersion({ ...ID, ...request, manifest_path }),
    ).rejects.toThrow();
  }
  await db.namespace.createTableVersion({ ...ID, ...request });
  expect(await ids()).toContain(90);
});

test('old paths of dropped tables go with cleanup, those of tables that are there stay', async () => {
  const gone = await opened();
  await makeAnew();
  const live = await opened();
  await db.namespace.createTable({ id: ['m'] }, people(1));
  const moved = await opened(db, ['m']);
  await db.renameTable('m', 'n');
  const places = '/c/.dirspace/opened';
  const links = (): string[] => (fs.readdirSync(places) as string[]).sort();
  // What nobody here made stays, and so does what leads elsewhere while it is young.
  fs.writeFileSync(`${places}/file`, '');
  fs.symlinkSync('../../../elsewhere', `${places}/out`);
  const sweep = (): Promise<unknown> =>
    db.namespace.cleanupTable?.({ ...ID, older_than_millis: 1e12 }) as Promise<unknown>;
  const names = (...paths: string[]): string[] =>
    [...paths.map((path) => path.slice('.dirspace/opened/'.length)), 'file'].sort();
  await sweep();
  expect(links()).toEqual([...names(gone, live, moved), 'out'].sort());
  for (const name of links()) if (name !== 'file') fs.lutimesSync(`${places}/${name}`, 1, 1);
  await sweep();
  expect(links()).toEqual(names(live));
  // A table whose path went gets it again.
  expect(await opened(db, ['n'])).toBe(moved);
  expect(fs.readlinkSync(`/c/${moved}`)).toBe('../../data/n.table');
  // A client of the dropped one makes a folder in the place of its path, and is refused as before.
  const stale = await client(gone);
  const request = await append(stale, 1);
  await expect(db.namespace.createTableVersion({ ...ID, ...request })).rejects.toMatchObject({
    code: 'TableNotFound',
  });
});

test('what a client writes in the place of a path that was swept goes with cleanup, when it is old', async () => {
  const gone = await opened();
  await makeAnew();
  fs.unlinkSync(`/c/${gone}`);
  const stale = await client(gone);
  // As Lance's object store does it, which makes the folders of a path.
  const written = [`/c/${gone}/data/a.lance`, `/c/${gone}/_versions/1.manifest-a`];
  for (const path of written) {
    fs.mkdirSync(path.slice(0, path.lastIndexOf('/')), { recursive: true });
    fs.writeFileSync(path, 'x');
  }
  const request = await append(stale, 1);
  await expect(db.namespace.createTableVersion({ ...ID, ...request })).rejects.toMatchObject({
    code: 'TableNotFound',
  });
  const places = async (): Promise<unknown[]> => {
    const { problems = [], leftovers = [] } = (await db.namespace.verify?.({})) ?? {};
    return [...problems, ...leftovers].filter(({ path }) => path.startsWith('.dirspace/opened'));
  };
  expect(await places()).toEqual([{ path: gone, kind: 'orphan' }]);
  const sweep = () => db.namespace.cleanupTable?.({ ...ID, older_than_millis: 1e12 });
  for (const [at, path] of written.entries()) {
    await sweep();
    expect(fs.existsSync(`/c/${gone}`), `file ${at} is young`).toBe(true);
    fs.utimesSync(path, 1, 1);
  }
  // Its client may take a folder away while they are looked at.
  const list = fs.readdirSync.bind(fs) as (...given: unknown[]) => unknown;
  const listing = vi.spyOn(fs, 'readdirSync').mockImplementation(((...given: unknown[]) => {
    const found = list(...given);
    if (String(given[0]).endsWith(gone))
      fs.rmSync(`/c/${gone}/data`, { recursive: true, force: true });
    return found;
  }) as never);
  await sweep();
  listing.mockRestore();
  expect(fs.existsSync(`/c/${gone}`)).toBe(false);
  expect(await places()).toEqual([]);
  expect(await ids()).toEqual(NEXT);
});

test('a table whose path was swept gets it back from a folder that a client made there', async () => {
  const place = await opened();
  fs.unlinkSync(`/c/${place}`);
  fs.mkdirSync(`/c/${place}/data`, { recursive: true });
  fs.writeFileSync(`/c/${place}/data/a.lance`, 'x');
  const readOnly = await connect('/c', { fs, readOnly: true });
  expect(await opened(readOnly)).toBe(FOLDER);
  expect(fs.existsSync(`/c/${place}/data/a.lance`)).toBe(true);
  expect(await opened()).toBe(place);
  expect(fs.readlinkSync(`/c/${place}`)).toBe('../../data/t.table');
  expect(await db.namespace.verify?.({})).toMatchObject({ problems: [], leftovers: [] });
  const held = await client();
  await db.namespace.createTableVersion({ ...ID, ...(await append(held, 0)) });
  expect(await ids()).toContain(91);
});

test('branches that a client makes name the place, and one of another table is refused', async () => {
  const held = await client();
  const [side, made] = held.branchOff('side');
  await db.namespace.createTableVersion({ ...ID, ...made });
  const rows = await side.append(people(2, 60), 2);
  await db.namespace.createTableVersion({ ...ID, ...rows });
  expect(await idsOf(db.namespace, ['t'], { branch: 'side' })).toContain(61);

  held.opened = '.dirspace/opened/00000000-0000-0000-0000-000000000000';
  const [, other] = held.branchOff('other');
  const own = { ...other, manifest_path: other.manifest_path.replace(held.opened, FOLDER) };
  await expect(db.namespace.createTableVersion({ ...ID, ...own })).rejects.toThrow(/the base path/);
});
