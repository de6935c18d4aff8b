/**
 * A catalog in the mode `sync` that an earlier release wrote, whose manifests for Lance name neither the encodings
 * of fields nor primary keys: nothing is wrong with it, its damage is found, and what follows builds on it.
 */
import nodeFs from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { DirectoryNamespace } from '../../../src/directory/directory-namespace.ts';
import { openCatalog } from '../../../src/directory/open-catalog.ts';
import { readLanceCatalogManifest, readLanceManifest } from '../../../src/format/index.ts';
import { LANCE_CATALOG, lanceVersionFile } from '../../../src/lance-paths.ts';
import { connect } from '../../../src/sdk/connect.ts';
import { systemProcesses } from '../../../src/store/processes.ts';
import type { TestFs } from '../../helpers/memory-fs.ts';
import { grow, treeOf } from '../../helpers/trees.ts';

const EARLIER = treeOf(nodeFs, join(import.meta.dirname, '../../../fixtures/lance-earlier'));
const FOLDER = 'prod/people.table';
let fs: TestFs;
let db: Awaited<ReturnType<typeof connect>>;

beforeEach(async () => {
  fs = grow(EARLIER, '/c');
  db = await connect('/c', { fs });
});

const found = async (): Promise<{ problems: string[]; leftovers: string[] }> => {
  const { problems = [], leftovers = [] } = (await db.namespace.verify?.({})) ?? {};
  return {
    problems: problems.map(({ path }) => path),
    leftovers: leftovers.map(({ kind, path }) => `${kind} ${path}`),
  };
};
const manifest = (path: string): ReturnType<typeof readLanceManifest> =>
  readLanceManifest(fs.readFileSync(`/c/${path}`) as Buffer, path);

/** Of a branch, where deletion files lay in another place then: they are made anew with its next change. */
const OF_BRANCH = [
  ...[3, 4].map((version) => `unsynced ${lanceVersionFile(`${FOLDER}/tree/side`, version)}`),
  ...[3, 4].map((version) => expect.stringMatching(`^orphan .*/lance/.*${version}.manifest$`)),
];

test('verify finds nothing wrong, and Lance finds the newest version by path', async () => {
  const { problems, leftovers } = await found();
  expect(problems).toEqual([]);
  expect(leftovers).toHaveLength(OF_BRANCH.length);
  expect(leftovers).toEqual(expect.arrayContaining(OF_BRANCH));
  const described = await db.describeTable('people', ['prod'], { load_detailed_metadata: true });
  expect(described.lance).toEqual({ opens: true });
  const people = await db.openTable('people', ['prod']);
  const rows = await people.query().select(['id', 'name']).toArray();
  expect(rows).toEqual([
    { id: 1, name: 'Ada' },
    { id: 3, name: 'Alan' },
    { id: 4, name: 'Grace' },
  ]);
  // Nothing was written anew.
  expect(manifest(lanceVersionFile(FOLDER, 3)).fields[0]?.primaryKey).toBe(false);
});

test('every damaged byte of a manifest for Lance is a problem', async () => {
  for (const of of [FOLDER, LANCE_CATALOG]) {
    const path = lanceVersionFile(of, 2);
    const bytes = fs.readFileSync(`/c/${path}`) as Buffer;
    const damaged = Uint8Array.from(bytes);
    for (let at = 0; at < bytes.length; at += 23) {
      damaged[at] = (bytes[at] as number) ^ 1;
      fs.writeFileSync(`/c/${path}`, damaged);
      expect((await found()).problems, `${path} at ${at}`).toContain(path);
      damaged[at] = bytes[at] as number;
    }
    fs.writeFileSync(`/c/${path}`, bytes);
  }
});

test('a commit goes on from it, and a synchronization writes all of it anew', async () => {
  const people = await db.openTable('people', ['prod']);
  await people.add([{ id: 5, name: 'Edsger', tags: [] }]);
  const keys = (): boolean[] =>
    [3, 4].map(
      (version) => manifest(lanceVersionFile(FOLDER, version)).fields[0]?.primaryKey === true,
    );
  expect(keys()).toEqual([false, true]);
  expect((await found()).problems).toEqual([]);
  await db.syncLance();
  expect(keys()).toEqual([true, true]);
  const { problems, leftovers } = await found();
  expect(problems).toEqual([]);
  expect(leftovers.filter((line) => line.startsWith('unsynced'))).toEqual([]);
});

const listing = (version: number): ReturnType<typeof readLanceCatalogManifest> => {
  const path = lanceVersionFile(LANCE_CATALOG, version);
  return readLanceCatalogManifest(fs.readFileSync(`/c/${path}`) as Buffer, path);
};

/** Adds to the list of all tables as a process of that machine and boot. */
async function addNamespace(scope: string): Promise<void> {
  const { self } = systemProcesses();
  const { catalog, store, autoCompaction } = await openCatalog({
    root: '/c',
    fs,
    processes: { self: { ...self, scope }, stateOf: () => 'alive' },
  });
  const namespace = new DirectoryNamespace(catalog, store, autoCompaction);
  await namespace.createNamespace({ id: ['more'] });
  await namespace.close();
}

test('within one boot, the list of all tables keeps the file of its rows', async () => {
  const { base, scope } = listing(2);
  await addNamespace(scope);
  expect(listing(3)).toMatchObject({ scope, base, added: { rows: 2 } });
});

test('after another boot, the list of all tables is written anew', async () => {
  await addNamespace('another');
  expect(listing(3)).toMatchObject({ scope: 'another', base: { rows: 3 }, added: undefined });
  expect(listing(3).base?.file).not.toBe(listing(2).base?.file);
});
