/** A catalog to tamper with, what lies beside it, and everything that is then asked of it. */
import nodeFs from 'node:fs';
import { openDirectoryNamespace } from '../../src/directory/directory-namespace.ts';
import { encodeChecksummed } from '../../src/json.ts';
import type { FileSystem } from '../../src/store/disk/file-system.ts';
import { collectBatches } from '../helpers/batches.ts';
import { people } from '../helpers/people.ts';
import { refusal } from './rounds.ts';

/** The folder of the table that is tampered with. */
export const TABLE = 'ns/t.table';

export interface Place {
  readonly root: string;
  readonly outside: string;
}

/** A catalog with one of everything, and beside it what must stay as it is. */
export async function prepare(folder: string): Promise<Place> {
  const [root, outside] = [`${folder}/root`, `${folder}/outside`];
  const catalog = await openDirectoryNamespace({ root, durability: 'relaxed' });
  await catalog.createNamespace({ id: ['ns'] });
  await catalog.createTable({ id: ['ns', 't'] }, people(4));
  await catalog.insertIntoTable({ id: ['ns', 't'] }, people(4, 4));
  await catalog.deleteFromTable({ id: ['ns', 't'], predicate: 'id = 1' });
  await catalog.createTableTag({ id: ['ns', 't'], tag: 'tag', version: 1 });
  await catalog.createTableBranch({ id: ['ns', 't'], name: 'b' });
  await catalog.insertIntoTable({ id: ['ns', 't'], branch: 'b' }, people(1, 9));
  await catalog.createTable({ id: ['ns', 'dropped'] }, people(1));
  await catalog.dropTable({ id: ['ns', 'dropped'] });
  await catalog.createTable({ id: ['u'] }, people(1));
  await catalog.close();
  // A hint, as the eighth version leaves one.
  const versions = nodeFs.readdirSync(`${root}/${TABLE}`).find((name) => /^versions-/.test(name));
  const { bytes } = encodeChecksummed({ version: '3'.padStart(20, '0') });
  nodeFs.writeFileSync(`${root}/${TABLE}/${versions}/latest.json`, bytes);
  // Whoever follows a link finds a whole catalog, and things that are none.
  nodeFs.cpSync(root, `${outside}/root`, { recursive: true });
  nodeFs.cpSync(`${root}/${TABLE}`, `${outside}/t.table`, { recursive: true });
  nodeFs.mkdirSync(`${outside}/letters/old`, { recursive: true });
  for (const name of ['secret', 'letters/one', 'letters/old/two']) {
    nodeFs.writeFileSync(`${outside}/${name}`, `secret ${name}`);
  }
  return { root, outside };
}

/** Every file below a folder with its bytes and what tells it from a copy. */
export function inventory(folder: string): string {
  return nodeFs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((entry) => {
      const path = `${entry.parentPath}/${entry.name}`;
      const { ino, mtimeMs, size } = nodeFs.lstatSync(path);
      const bytes = entry.isFile() ? nodeFs.readFileSync(path, 'base64') : '';
      return `${path} ${ino} ${entry.isFile() ? `${mtimeMs} ${size}` : ''} ${bytes}`;
    })
    .sort()
    .join('\n');
}

/** What is asked of the catalog that somebody tampered with; each may fail by type. */
export async function exercise(
  place: Place,
  fs: FileSystem,
  faulty: (what: string) => void,
): Promise<void> {
  const id = ['ns', 't'];
  const all = { id, k: 100 };
  type Catalog = Awaited<ReturnType<typeof openDirectoryNamespace>>;
  const read: readonly ((catalog: Catalog) => Promise<unknown>)[] = [
    (catalog) => catalog.listTables({ id: ['ns'] }),
    (catalog) => catalog.listAllTables({}),
    (catalog) => catalog.listNamespaces({}),
    (catalog) => catalog.describeNamespace({ id: ['ns'] }),
    (catalog) => catalog.describeTable({ id, load_detailed_metadata: true }),
    async (catalog) => collectBatches(await catalog.queryTable(all)),
    async (catalog) => collectBatches(await catalog.queryTable({ ...all, version: 1 })),
    async (catalog) => collectBatches(await catalog.queryTable({ ...all, branch: 'b' })),
    (catalog) => catalog.listTableTags({ id }),
    (catalog) => catalog.listTableVersions({ id }),
    (catalog) => catalog.verify({}),
    (catalog) => catalog.repair({}),
  ];
  const write: readonly ((catalog: Catalog) => Promise<unknown>)[] = [
    (catalog) => catalog.insertIntoTable({ id }, people(1, 20)),
    (catalog) => catalog.deleteFromTable({ id, predicate: 'id = 2' }),
    (catalog) => catalog.createTableTag({ id, tag: 'other', version: 1 }),
    (catalog) => catalog.createTableBranch({ id, name: 'c' }),
    (catalog) => catalog.createTable({ id: ['ns', 'new'] }, people(1)),
    (catalog) => catalog.createNamespace({ id: ['ns', 'deeper'] }),
    (catalog) =>
      catalog.optimizeTable({ id, cleanup_older_than_millis: 0, orphan_grace_millis: 0 }),
    (catalog) => catalog.cleanupTable({ id, older_than_millis: 0, orphan_grace_millis: 0 }),
    (catalog) => catalog.renameTable({ id, new_table_name: 'moved' }),
    (catalog) => catalog.dropTable({ id }),
    (catalog) => catalog.undropTable({ id: ['ns', 'dropped'] }),
    (catalog) => catalog.repair({ apply: true }),
    (catalog) => catalog.purgeTrash({ older_than_millis: 0 }),
    (catalog) => catalog.dropNamespace({ id: ['ns'], behavior: 'Cascade' }),
  ];
  for (const readOnly of [true, false]) {
    let catalog: Catalog | undefined;
    try {
      catalog = await openDirectoryNamespace({
        root: place.root,
        fs,
        readOnly,
        durability: 'relaxed',
      });
    } catch (error) {
      if (refusal(error) === undefined) faulty(`opening threw ${String(error)}`);
    }
    if (catalog === undefined) continue;
    for (const ask of readOnly ? read : write) {
      try {
        await ask(catalog);
      } catch (error) {
        if (refusal(error) === undefined)
          faulty(`${String(ask).slice(0, 60)} threw ${String(error)}`);
      }
    }
    await catalog.close();
  }
}

/** Requests that name places themselves. */
export async function hostileRequests(
  hostile: readonly string[],
  place: Place,
  fs: FileSystem,
  faulty: (what: string) => void,
): Promise<number> {
  let cases = 0;
  const catalog = await openDirectoryNamespace({ root: place.root, fs, durability: 'relaxed' });
  for (const value of hostile) {
    const requests = [
      () => catalog.registerTable({ id: ['r'], location: value }),
      () => catalog.declareTable({ id: ['d'], location: value }),
      () => catalog.createTableVersion({ id: ['ns', 't'], version: 4, manifest_path: value }),
      () => catalog.createTableTag({ id: ['ns', 't'], tag: value, version: 1 }),
      () => catalog.createTableBranch({ id: ['ns', 't'], name: value }),
      () => catalog.queryTable({ id: ['ns', 't'], branch: value, k: 1 }),
      () => catalog.describeTable({ id: ['ns', value] }),
      () => catalog.createTable({ id: [value, 't'] }, people(1)),
      () => catalog.createNamespace({ id: [value] }),
      () => catalog.describeTransaction({ id: [value] }),
      () => catalog.renameTable({ id: ['ns', 't'], new_table_name: value }),
    ];
    for (const request of requests) {
      cases++;
      try {
        await request();
        // Dots and signs are legal in names: they are escaped.
        if (value !== '.' && value !== '..') faulty(`${String(request).slice(6)}: taken, ${value}`);
      } catch (error) {
        if (refusal(error) === undefined) faulty(`${value}: threw ${String(error)}`);
      }
    }
  }
  await catalog.close();
  return cases;
}
