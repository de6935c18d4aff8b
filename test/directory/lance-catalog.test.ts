/** The table by which Lance's directory namespace knows a catalog follows it; so do moved tables. */
import { tableFromIPC } from 'apache-arrow';
import { expect, test } from 'vitest';
import { tableFromArrays } from '../../src/arrow/apache.ts';
import { readLanceManifest } from '../../src/format/index.ts';
import {
  lanceDeletionFile,
  lanceVersionFile,
  parseLanceVersionFile,
} from '../../src/lance-paths.ts';
import { connect } from '../../src/sdk/connect.ts';
import { memoryFs } from '../helpers/catalogs.ts';

type Fs = ReturnType<typeof memoryFs>;
type Db = Awaited<ReturnType<typeof connect>>;

const rows = (): never => tableFromArrays({ id: Int32Array.of(1) }) as never;
const HOME = '/c/__manifest';
const namesIn = (fs: Fs, folder: string): string[] => (fs.readdirSync(folder) as string[]).sort();
const versions = (fs: Fs): number[] =>
  namesIn(fs, `${HOME}/_versions`)
    .flatMap((name) => parseLanceVersionFile(name) ?? [])
    .reverse();

/** What the newest version lists, as an Arrow reader sees its files, sorted. */
function listed(fs: Fs): string[] {
  const path = lanceVersionFile(HOME, Math.max(...versions(fs)));
  const { fragments } = readLanceManifest(fs.readFileSync(path) as Buffer, path);
  const rows = fragments.flatMap(({ id, files, deletion }) => {
    const table = tableFromIPC(fs.readFileSync(`${HOME}/data/${files[0]?.path}`) as Buffer);
    const gone = deletion && lanceDeletionFile(HOME, id, deletion.id);
    const deleted = gone
      ? [...(tableFromIPC(fs.readFileSync(gone) as Buffer).getChild('row_id') ?? [])]
      : [];
    expect(deleted.length).toBe(deletion?.rows ?? 0);
    return table.toArray().filter((_, at) => !deleted.includes(at));
  });
  const texts = rows.map((row) => {
    const { object_id: id, object_type: type, location } = row.toJSON() as Record<string, string>;
    return `${type} ${id}${location === null ? '' : ` at ${location}`}`;
  });
  return texts.sort();
}

const synced = async (fs = memoryFs()): Promise<{ fs: Fs; db: Db }> => ({
  fs,
  db: await connect('/c', { fs, lance: 'sync' }),
});

async function verified(db: Db): Promise<unknown> {
  const { problems, leftovers } = (await db.namespace.verify?.({})) ?? {};
  return [...(problems ?? []), ...(leftovers ?? []).filter(({ kind }) => kind !== 'trash')];
}

test('it lists namespaces and tables as they come, go and move', async () => {
  const { fs, db } = await synced();
  await db.createNamespace(['prod'], { properties: { owner: 'me' } });
  await db.createNamespace(['prod', 'search']);
  await db.createTable('user', rows(), ['prod', 'search']);
  await db.createTable('con', rows());
  const { location = '' } = await db.declareTable('later', ['prod']);
  await db.createTable('plain', rows(), { properties: { lance: 'read' } });
  // An engine may write it at any time.
  const open = `table prod$later at ${location.replace('/c/', '')}`;
  expect(open).toContain('.dirspace/lance/');
  const all = [
    'namespace prod',
    'namespace prod$search',
    'table con at data/%63on.table',
    'table prod$search$user at prod/search/user.table',
  ];
  expect(listed(fs)).toEqual([...all.slice(0, 3), open, ...all.slice(3)]);
  expect(await verified(db)).toEqual([]);
  await (await db.openTable('later', ['prod']).catch(() => undefined))?.countRows();
  await db.createTable('later', rows(), ['prod'], { mode: 'overwrite' });
  expect(listed(fs)).toContain('table prod$later at prod/later.table');
  expect(listed(fs)).not.toContain(open);
  await db.renameTable('later', 'now', { namespacePath: ['prod'], newNamespacePath: [] });
  expect(listed(fs)).toContain('table now at data/now.table');
  await db.dropTable('now');
  expect(listed(fs)).toEqual(all);
  await db.undropTable('now');
  expect(listed(fs)).toContain('table now at data/now.table');
  await db.dropTable('now');
  await db.dropNamespace(['prod'], { behavior: 'cascade' });
  expect(listed(fs)).toEqual(['table con at data/%63on.table']);
  await db.dropTable('con');
  await db.dropTable('plain');
  expect(listed(fs)).toEqual([]);
  expect(await verified(db)).toEqual([]);
  const before = versions(fs);
  expect((await db.syncLance()).catalog).toMatchObject({ written: false, tables: 0 });
  expect(versions(fs)).toEqual(before);
});

test('a declared table is listed until it has rows here that Lance does not open by path', async () => {
  const { fs, db } = await synced();
  const places: Record<string, string> = {};
  for (const name of ['engine', 'here', 'fenced']) {
    const { location = '' } = await db.declareTable(name);
    places[name] = `table ${name} at ${location.replace('/c/', '')}`;
  }
  expect(listed(fs)).toEqual([places.engine, places.fenced, places.here]);
  const before = versions(fs);
  const folder = `/c/${places.engine?.split(' at ')[1]}/_versions`;
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(`${folder}/18446744073709551614.manifest`, '');
  expect((await db.syncLance()).catalog).toMatchObject({ written: false });
  expect(versions(fs)).toEqual(before);
  await db.createTable('here', rows(), [], { mode: 'overwrite' });
  await db.createTable('fenced', rows(), [], { mode: 'overwrite', lance: 'read' } as never);
  expect(listed(fs)).toEqual([places.engine, 'table here at data/here.table']);
  await db.dropTable('engine');
  expect(listed(fs)).toEqual(['table here at data/here.table']);
});

test('branches of a table that moved name its new place', async () => {
  const { fs, db } = await synced();
  const table = await db.createTable('old', rows());
  const draft = await (await table.branches()).create('draft');
  await draft.add(rows());
  await db.renameTable('old', 'new');
  const path = lanceVersionFile('/c/data/new.table/tree/draft', 2);
  const { bases } = readLanceManifest(fs.readFileSync(path) as Buffer, path);
  expect(bases.map((base) => base.path)).toEqual(['/c/data/new.table']);
  expect(
    ((await verified(db)) as { kind: string }[]).filter(({ kind }) => kind !== 'orphan'),
  ).toEqual([]);
});

test('a catalog that does not follow is written when it is asked for, table by table too', async () => {
  const fs = memoryFs();
  const db = await connect('/c', { fs, lance: 'read' });
  await db.createNamespace(['n']);
  await (await db.createTable('t', rows(), ['n'])).add(rows());
  await db.createTable('plain', rows(), { properties: { lance: 'off' } });
  expect(fs.readdirSync('/c/n/t.table/_versions')).toHaveLength(1);
  expect(fs.existsSync(HOME)).toBe(false);
  expect(await db.syncLance(['n', 't'])).toEqual({
    tables: [
      {
        location: 'n/t.table',
        opens: true,
        versions: 2,
        written: 2,
        removed: 1,
        setAside: [],
        left: [],
      },
    ],
  });
  expect(fs.existsSync(HOME)).toBe(false);
  const { tables, catalog } = await db.syncLance();
  expect(tables.map(({ location, opens, reason }) => [location, opens, reason])).toEqual([
    ['n/t.table', true, undefined],
    ['data/plain.table', false, 'It was written without Lance.'],
  ]);
  expect(catalog).toMatchObject({ version: 1, namespaces: 1, tables: 1, written: true });
  expect(listed(fs)).toEqual(['namespace n', 'table n$t at n/t.table']);
  await expect(db.syncLance(['not'])).rejects.toMatchObject({ code: 'TableNotFound' });
  expect(await verified(db)).toEqual([]);
});

test('handles at once leave the newest version with all that they made', async () => {
  const { fs } = await synced();
  const handles = await Promise.all([0, 1, 2].map(async () => (await synced(fs)).db));
  await Promise.all(
    handles.map(async (db, at) => {
      for (let turn = 0; turn < 4; turn++) await db.createNamespace([`n${at}${turn}`]);
    }),
  );
  expect(listed(fs).length).toBe(12);
  expect(await verified(handles[0] as Db)).toEqual([]);
});

test('damage is told and the next change makes up for it; what other programs keep there stays', async () => {
  const { fs, db } = await synced();
  await db.createNamespace(['n']);
  const newest = (): string => lanceVersionFile(HOME, Math.max(...versions(fs)));
  const file = `${HOME}/data/${namesIn(fs, `${HOME}/data`).at(-1)}`;
  const whole = fs.readFileSync(file) as Buffer;
  fs.writeFileSync(file, Buffer.alloc(whole.length));
  expect(await verified(db)).toMatchObject([{ kind: 'fragment', path: file.slice(3) }]);
  expect((await db.syncLance()).catalog).toMatchObject({ written: true });
  expect(listed(fs)).toEqual(['namespace n']);
  const forced = lanceVersionFile(HOME, 9);
  fs.writeFileSync(forced, 'of another program');
  expect(await verified(db)).toContainEqual(expect.objectContaining({ path: forced.slice(3) }));
  await db.createNamespace(['m']);
  expect(fs.existsSync(forced)).toBe(false);
  expect(newest()).toBe(lanceVersionFile(HOME, 3));
  fs.unlinkSync(newest());
  expect(await verified(db)).toContainEqual({ path: expect.any(String), kind: 'unsynced' });
  await db.createNamespace(['k']);
  expect(listed(fs)).toEqual(['namespace k', 'namespace m', 'namespace n']);
});

test('the catalog of another program is not touched, and a namespace cannot take the name', async () => {
  const fs = memoryFs();
  const plain = await connect('/c', { fs, lance: 'read' });
  fs.mkdirSync(`${HOME}/_versions`, { recursive: true });
  fs.writeFileSync(lanceVersionFile(HOME, 1), 'of another program');
  await expect(plain.syncLance()).rejects.toMatchObject({ code: 'InvalidTableState' });
  await expect(plain.createNamespace(['__manifest'])).rejects.toMatchObject({
    code: 'InvalidInput',
  });
  const db = await connect('/c', { fs, lance: 'sync' });
  await db.createNamespace(['n']);
  expect(versions(fs)).toEqual([1]);
  expect(String(fs.readFileSync(lanceVersionFile(HOME, 1)))).toBe('of another program');
});

test('versions that nobody can be reading any more are removed with their files', async () => {
  const { fs, db } = await synced();
  for (let turn = 0; turn < 4; turn++) await db.createNamespace([`n${turn}`]);
  const old = new Date(Date.now() - 2 * 3_600_000);
  for (const folder of ['_versions', 'data'])
    for (const name of namesIn(fs, `${HOME}/${folder}`))
      fs.utimesSync(`${HOME}/${folder}/${name}`, old, old);
  await db.createNamespace(['last']);
  expect(versions(fs)).toEqual([5]);
  // The rows that stay, and those of the change.
  expect(namesIn(fs, `${HOME}/data`).length).toBe(2);
  expect(listed(fs).length).toBe(5);
});
