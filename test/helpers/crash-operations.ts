/** Every kind of change of a catalog, as the proofs against faults and kills make it. */
import type { DirectoryNamespace } from '../../src/directory/directory-namespace.ts';
import type { CatalogFiles } from '../suites/namespace/context.ts';
import { LanceClient } from './lance-client.ts';
import { datasetFiles } from './lance-writer.ts';
import { people, rowIdsOf } from './people.ts';
import { type Staged, stage } from './staged-version.ts';

export interface Scene {
  readonly catalog: DirectoryNamespace;
  readonly files: CatalogFiles;
  /** What `prepare` left for `run`. */
  staged: Staged[];
}

export interface CrashOperation {
  run(scene: Scene): Promise<unknown>;
  /** Tables and the like that it needs besides what `setUp` makes for all. */
  setUp?(catalog: DirectoryNamespace, files: CatalogFiles): Promise<unknown>;
  /** Done before the faults begin, right before the operation; nobody sees what it leaves. */
  prepare?(scene: Scene): Promise<unknown>;
  /** An error other than CommitStateUnknown means that nothing changed. */
  readonly exact?: true;
  /** May find nothing to do and say so, where the disk denies what there is. */
  readonly optional?: true;
  /** Commits in a way of its own where versions are managed. */
  readonly managed?: true;
}

const t = ['n', 't'];
const BATCHED = ['b1', 'b2', 'b3'];
const OLD = ['n', 'aged'];
const LANCE = ['n', 'declared'];

/** A declared table that another program has filled at its location. */
async function lanceTable(
  catalog: DirectoryNamespace,
  files: CatalogFiles,
  wanted: (path: string) => boolean = () => true,
  suffix = '',
): Promise<void> {
  const { location = '' } = await catalog.describeTable({ id: LANCE });
  const folder = location.slice(files.root.length + 1);
  for (const [path, bytes] of datasetFiles('v2'))
    if (wanted(path)) files.write(`${folder}/${path}${suffix}`, bytes);
}
/** The manifest of the newest version of that dataset. */
const THIRD = '_versions/18446744073709551612.manifest';
const isUncommitted = (path: string): boolean => path !== THIRD;

/** What every operation finds: namespaces, a table with a tag and a branch, and a dropped one. */
export async function setUp(catalog: DirectoryNamespace): Promise<void> {
  for (const name of ['n', 'm', 'empty']) await catalog.createNamespace({ id: [name] });
  await catalog.createTable({ id: t }, people(3));
  await catalog.insertIntoTable({ id: t }, people(2, 3));
  await catalog.createTableTag({ id: t, tag: 'old', version: 1 });
  await catalog.createTableBranch({ id: t, name: 'side', from_version: 1 });
  await catalog.declareTable({ id: ['n', 'declared'] });
  await catalog.createTable({ id: ['n', 'dropped'] }, people(1));
  await catalog.dropTable({ id: ['n', 'dropped'] });
}

const WRITTEN = ['n', 'written'];

/** A table that clients of Lance may write. */
const lanceWritten = (catalog: DirectoryNamespace): Promise<unknown> =>
  catalog.createTable({ id: WRITTEN, properties: { lance: 'write' } }, people(3));

/** The same in each run: runs that come to the same leave the same files. */
const CLIENT_ID = (): string => 'c11e4700-0000-4000-8000-000000000001';

/** What a client of Lance leaves before it asks for the version: rows of its own, and deleted ones. */
async function stagedByLance({ catalog, files }: Scene): Promise<unknown> {
  const { location = '' } = await catalog.describeTable({ id: WRITTEN });
  const client = new LanceClient(files, location.slice(files.root.length + 1));
  client.uuid = CLIENT_ID;
  const request = await client.update(people(2, 50), 2, new Map([[0, [1]]]));
  return catalog.createTableVersion({ id: WRITTEN, ...request });
}

/** What a client of Lance leaves before it asks for the branch. */
async function branchByLance({ catalog, files }: Scene): Promise<unknown> {
  const { location = '' } = await catalog.describeTable({ id: WRITTEN });
  const client = new LanceClient(files, location.slice(files.root.length + 1));
  client.uuid = CLIENT_ID;
  const [, request] = client.branchOff('theirs');
  return catalog.createTableVersion({ id: WRITTEN, ...request });
}

/** A tag that a client of Lance wrote by path. */
async function taggedByLance(catalog: DirectoryNamespace, files: CatalogFiles): Promise<void> {
  await lanceWritten(catalog);
  const { location = '' } = await catalog.describeTable({ id: WRITTEN });
  const folder = location.slice(files.root.length + 1);
  const { length } = files.read(`${folder}/_versions/${2n ** 64n - 2n}.manifest`);
  const tag = { branch: null, version: 1, manifestSize: length, metadata: {} };
  files.write(`${folder}/_refs/tags/theirs.json`, Buffer.from(JSON.stringify(tag)));
}

export const CRASH_OPERATIONS: Readonly<Record<string, CrashOperation>> = {
  'create a version that a client of Lance staged': {
    setUp: lanceWritten,
    run: stagedByLance,
    exact: true,
    managed: true,
  },
  'create a branch that a client of Lance staged': {
    setUp: lanceWritten,
    run: branchByLance,
    managed: true,
  },
  'adopt a tag that a client of Lance wrote': {
    setUp: taggedByLance,
    run: ({ catalog }) => catalog.syncLance({ id: WRITTEN }),
    optional: true,
  },
  'delete a tag that a client of Lance wrote': {
    setUp: async (catalog, files) => {
      await taggedByLance(catalog, files);
      await catalog.insertIntoTable({ id: WRITTEN }, people(2, 3));
    },
    run: ({ catalog }) => catalog.deleteTableTag({ id: WRITTEN, tag: 'theirs' }),
  },
  'create table': {
    run: ({ catalog }) => catalog.createTable({ id: ['n', 'new'] }, people(3)),
  },
  'clone a table': {
    setUp: (catalog) => catalog.deleteFromTable({ id: t, predicate: 'id = 1' }),
    run: ({ catalog }) => catalog.cloneTable({ id: ['n', 'new'], source_id: t }),
  },
  'copy a table': {
    run: ({ catalog }) =>
      catalog.cloneTable({ id: ['n', 'new'], source_id: t, source_tag: 'old', is_shallow: false }),
  },
  'fill a declared table': {
    run: ({ catalog }) =>
      catalog.createTable({ id: ['n', 'declared'], properties: { filled: 'yes' } }, people(3)),
    exact: true,
  },
  'insert into a declared table': {
    run: ({ catalog }) => catalog.insertIntoTable({ id: ['n', 'declared'] }, people(3)),
    exact: true,
  },
  'merge into a declared table': {
    run: ({ catalog }) =>
      catalog.mergeInsertIntoTable(
        { id: ['n', 'declared'], on: ['id'], when_not_matched_insert_all: true },
        people(3),
      ),
    exact: true,
  },
  'rename a table of Lance': {
    setUp: lanceTable,
    run: ({ catalog }) => catalog.renameTable({ id: LANCE, new_table_name: 'lent' }),
  },
  'drop a table of Lance': {
    setUp: lanceTable,
    run: ({ catalog }) => catalog.dropTable({ id: LANCE }),
  },
  'drop a table of Lance and empty the trash': {
    setUp: lanceTable,
    run: async ({ catalog }) => {
      await catalog.dropTable({ id: LANCE });
      await catalog.purgeTrash({ older_than_millis: 0 });
    },
  },
  'deregister a table of Lance and purge it': {
    setUp: lanceTable,
    run: async ({ catalog }) => {
      await catalog.deregisterTable({ id: LANCE });
      await catalog.purgeTrash({ older_than_millis: 0, detached: true });
    },
  },
  'commit a version of Lance': {
    setUp: (catalog, files) => lanceTable(catalog, files, isUncommitted),
    prepare: async ({ catalog, files }) => {
      await lanceTable(catalog, files, (path) => path.endsWith(THIRD), '-staged');
    },
    run: async ({ catalog }) => {
      const { location } = await catalog.describeTable({ id: LANCE });
      const manifest_path = `${location}/${THIRD}-staged`;
      await catalog.createTableVersion({ id: LANCE, version: 3, manifest_path });
    },
  },
  'declare a table outside of the root': {
    run: ({ catalog }) =>
      catalog.declareTable({ id: ['n', 'away'], location: 's3://bucket/lake/away' }),
  },
  'deregister a table of Lance': {
    setUp: lanceTable,
    run: ({ catalog }) => catalog.deregisterTable({ id: LANCE }),
  },
  'create table where a ghost stands': {
    setUp: async (_, files) =>
      files.write('n/ghost.table/_versions/1.manifest', new Uint8Array([1, 2, 3])),
    run: ({ catalog }) => catalog.createTable({ id: ['n', 'ghost'] }, people(3)),
  },
  'declare table': { run: ({ catalog }) => catalog.declareTable({ id: ['n', 'new'] }) },
  append: {
    run: ({ catalog }) => catalog.insertIntoTable({ id: t }, people(2, 50)),
    exact: true,
    managed: true,
  },
  overwrite: {
    run: ({ catalog }) =>
      catalog.createTable(
        { id: t, mode: 'overwrite', properties: { overwritten: 'yes' } },
        people(2, 50),
      ),
    exact: true,
  },
  'delete rows': {
    run: async ({ catalog }) => {
      const ids = await rowIdsOf(catalog, t);
      await catalog.deleteRows({ id: t, row_ids: [ids.get(0) ?? 0n, ids.get(3) ?? 0n] });
    },
    exact: true,
  },
  'delete by a predicate': {
    run: ({ catalog }) => catalog.deleteFromTable({ id: t, predicate: 'id % 2 = 0' }),
    exact: true,
  },
  update: {
    run: ({ catalog }) =>
      catalog.updateTable({ id: t, predicate: 'id >= 2', updates: [['id', 'id + 100']] }),
    exact: true,
  },
  merge: {
    run: ({ catalog }) =>
      catalog.mergeInsertIntoTable(
        {
          id: t,
          on: 'id',
          when_matched_update_all: true,
          when_not_matched_insert_all: true,
          when_not_matched_by_source_delete: true,
          when_not_matched_by_source_delete_filt: 'id = 0',
        },
        people(4, 3),
      ),
    exact: true,
  },
  // Where the disk denies its files there is nothing to join.
  compact: { run: ({ catalog }) => catalog.optimizeTable({ id: t }), exact: true, optional: true },
  'remove old versions': {
    setUp: async (catalog) => {
      await catalog.createTable({ id: OLD }, people(2));
      await catalog.createTable({ id: OLD, mode: 'overwrite' }, people(2, 10));
    },
    run: ({ catalog }) =>
      catalog.cleanupTable({ id: OLD, older_than_millis: 0, orphan_grace_millis: 0 }),
    optional: true,
  },
  rename: {
    run: ({ catalog }) =>
      catalog.renameTable({ id: t, new_table_name: 'u', new_namespace_id: ['m'] }),
  },
  drop: { run: ({ catalog }) => catalog.dropTable({ id: t }) },
  undrop: { run: ({ catalog }) => catalog.undropTable({ id: ['n', 'dropped'] }) },
  'create namespace': {
    run: ({ catalog }) => catalog.createNamespace({ id: ['n', 'new'], properties: { a: 'b' } }),
  },
  'drop namespace': { run: ({ catalog }) => catalog.dropNamespace({ id: ['empty'] }) },
  'drop namespace, cascade': {
    run: ({ catalog }) => catalog.dropNamespace({ id: ['n'], behavior: 'cascade' }),
  },
  'overwrite namespace': {
    run: ({ catalog }) =>
      catalog.createNamespace({ id: ['n'], mode: 'overwrite', properties: { new: 'yes' } }),
  },
  'change properties': {
    run: ({ catalog }) => catalog.updateNamespaceProperties({ id: ['n'], properties: { x: 'y' } }),
  },
  'create versions of three tables': {
    setUp: async (catalog) => {
      for (const name of BATCHED) {
        await catalog.createTable({ id: [name] }, people(1));
        await catalog.insertIntoTable({ id: [name] }, people(1, 1));
      }
    },
    prepare: async (scene) => {
      const { catalog: namespace, files } = scene;
      for (const name of BATCHED) scene.staged.push(await stage({ namespace, files }, [name]));
    },
    run: ({ catalog, staged }) => catalog.batchCreateTableVersions({ entries: staged }),
    exact: true,
    managed: true,
  },
  'create tag': {
    run: ({ catalog }) => catalog.createTableTag({ id: t, tag: 'new', version: 1 }),
  },
  'update tag': {
    run: ({ catalog }) => catalog.updateTableTag({ id: t, tag: 'old', version: 2 }),
  },
  'create branch': {
    run: ({ catalog }) => catalog.createTableBranch({ id: t, name: 'new', from_version: 1 }),
  },
  'delete branch': {
    run: ({ catalog }) => catalog.deleteTableBranch({ id: t, name: 'side' }),
  },
  restore: { run: ({ catalog }) => catalog.restoreTable({ id: t, version: 1 }), exact: true },
};
