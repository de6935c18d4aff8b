/**
 * Tables without a version: only declared while their folder holds no files of a table, and not to
 * be created over, nor written to, once it does.
 */
import { afterEach, describe, expect, test } from 'vitest';
import {
  type DirectoryNamespace,
  openDirectoryNamespace,
} from '../../src/directory/directory-namespace.ts';
import { deletedRunFile, versionFile } from '../../src/paths.ts';
import { Connection } from '../../src/sdk/connection.ts';
import type { Processes } from '../../src/store/processes.ts';
import { filesOf } from '../helpers/catalog-files.ts';
import { memoryFs, type TestFs } from '../helpers/memory-fs.ts';
import { outcomeOf } from '../helpers/outcome.ts';
import { idsOf, people } from '../helpers/people.ts';

const ROOT = '/c';
const t = ['n', 't'];
const FOLDER = 'n/t.table';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** Process 1 was killed. */
const processes: Processes = {
  self: { scope: '0000beef', pid: 2, start: 1 },
  stateOf: ({ pid }) => (pid === 1 ? 'dead' : 'alive'),
};

async function open(fs: TestFs): Promise<DirectoryNamespace> {
  const options = { root: ROOT, fs, durability: 'relaxed', processes } as const;
  const namespace = await openDirectoryNamespace(options);
  closing.push(() => namespace.close());
  return namespace;
}

async function declared() {
  const fs = memoryFs();
  const catalog = await open(fs);
  await catalog.createNamespace({ id: ['n'] });
  await catalog.declareTable({ id: t, properties: { k: 'v' } });
  const files = filesOf(fs as never, ROOT);
  const put = (path: string, bytes = new Uint8Array([1, 2, 3])): void => {
    fs.mkdirSync(`${ROOT}/${FOLDER}/${path}`.replace(/\/[^/]*$/, ''), { recursive: true });
    fs.writeFileSync(`${ROOT}/${FOLDER}/${path}`, bytes);
  };
  return { fs, catalog, files, put };
}

const isOnlyDeclared = async (catalog: DirectoryNamespace): Promise<boolean | undefined> => {
  const { is_only_declared: checked } = await catalog.describeTable({
    id: t,
    check_declared: true,
  });
  const detailed = await catalog.describeTable({ id: t, load_detailed_metadata: true });
  expect(detailed.is_only_declared).toBe(checked);
  expect([detailed.schema, detailed.version]).toEqual([undefined, undefined]);
  const { tables } = await catalog.listTables({ id: ['n'], include_declared: false });
  const all = await catalog.listAllTables({ include_declared: false });
  expect([tables, all.tables]).toEqual(checked ? [[], []] : [['t'], ['n$t']]);
  await catalog.tableExists({ id: t });
  return checked;
};

const OBJECT = '0a0b0c0d-1111-4222-8333-444455556666';
const WRITER = '11112222-3333-4444-8555-666677778888';

/** Files of which any makes a table more than declared. */
const STORAGE: Readonly<Record<string, readonly [path: string, kind: string]>> = {
  'a version of Lance': ['_versions/1.manifest', 'lance'],
  'a transaction of Lance': ['_transactions/0-x.txn', 'lance'],
  'deletions of Lance': ['_deletions/0-1-2.arrow', 'lance'],
  'an index of Lance': ['_indices/x/index.idx', 'lance'],
  'a reference of Lance': ['_refs/branches/b.json', 'lance'],
  'a branch of Lance': ['tree/b/_versions/1.manifest', 'lance'],
  'a temporary file of another program': ['data/.tmp-part1', 'files'],
  'data of Lance': ['data/00001111.lance', 'lance'],
  'a fragment of ours': [`data/${OBJECT}.arrow`, 'fragments'],
  'a fragment of a writer that is not announced': [`data/${WRITER}-0.arrow`, 'fragments'],
  'a deletion file': [`deletions/${OBJECT}.arrow`, 'fragments'],
  'a chunk of a manifest': [`chunks/${OBJECT}.json`, 'fragments'],
  'a version of a branch': [
    'branches/b/versions-99999999-0000/00000000000000000001.json',
    'versions',
  ],
  'a file of somebody': ['data/notes.txt', 'files'],
  'a file in a folder of data': ['data/part=1/x.parquet', 'files'],
  'a version of another incarnation': [
    'versions-99999999-0000/00000000000000000001.json',
    'versions',
  ],
};

/** Rows of others can be read where they are; what is damaged cannot. */
const codeOf = (kind: string): string => (kind === 'lance' ? 'Unsupported' : 'InvalidTableState');

/** What a table that is only declared may have in its folder. */
const HARMLESS: Readonly<Record<string, readonly string[]>> = {
  nothing: [],
  'empty folders': ['data/', '_versions/', '_transactions/', 'tree/', 'data/part=1/'],
  'temporary files': [`data/.tmp-${WRITER}`, '.tmp-y'],
  'fragments of a writer that is announced': [
    `.tmp-writer-${WRITER}-00000000-1-1`,
    `data/${WRITER}-0.arrow`,
    `data/${WRITER}-1f.arrow`,
    `chunks/${OBJECT}.json`,
  ],
  'empty folders of our own': ['branches/', 'deletions/', 'chunks/'],
};

describe.each(Object.entries(HARMLESS))('a declared table with %s', (_, paths) => {
  test('is only declared, and is created', async () => {
    const { fs, catalog, put } = await declared();
    for (const path of paths) {
      if (path.endsWith('/')) fs.mkdirSync(`${ROOT}/${FOLDER}/${path}`, { recursive: true });
      else put(path);
    }
    expect(await isOnlyDeclared(catalog)).toBe(true);
    expect((await catalog.verify({})).problems).toEqual([]);
    await expect(catalog.countTableRows({ id: t })).rejects.toThrow('no data yet');
    await catalog.createTable({ id: t }, people(2));
    expect(await idsOf(catalog, t)).toEqual([0, 1]);
    const { is_only_declared } = await catalog.describeTable({ id: t, check_declared: true });
    expect(is_only_declared).toBe(false);
  });
});

describe.each(Object.entries(STORAGE))(
  'a table without a version, but with %s',
  (_, [path, kind]) => {
    const start = async () => {
      const made = await declared();
      made.put(path);
      const all = (): string[] => made.files.all().filter((file) => file.startsWith(FOLDER));
      return { ...made, files: { all }, before: all() };
    };

    test('is not only declared, and rows cannot be had', async () => {
      const { catalog, files, before } = await start();
      expect(await isOnlyDeclared(catalog)).toBe(false);
      const refused = { code: codeOf(kind), details: { id: t, found: kind } };
      for (const read of [
        () => catalog.queryTable({ id: t, k: 1 }),
        () => catalog.countTableRows({ id: t }),
        () => catalog.getTableStats({ id: t }),
        () => catalog.insertIntoTable({ id: t }, people(1)),
        () => catalog.deleteFromTable({ id: t, predicate: 'true' }),
        () => catalog.updateTable({ id: t, updates: [['id', '1']] }),
        () =>
          catalog.mergeInsertIntoTable(
            { id: t, on: 'id', when_not_matched_insert_all: true },
            people(1),
          ),
        () => catalog.alterTableDropColumns({ id: t, columns: ['id'] }),
        () => catalog.createTableBranch({ id: t, name: 'b' }),
      ]) {
        await expect(read()).rejects.toMatchObject(refused);
      }
      const connection = new Connection(catalog);
      await expect(connection.openTable('t', ['n'])).rejects.toMatchObject({
        code: 'InvalidTableState',
        message: expect.stringContaining('no version that this catalog can read'),
      });
      expect(files.all()).toEqual(before);
    });

    test('is not created over, in no mode, and stays as it is', async () => {
      const { catalog, files, before } = await start();
      await expect(catalog.createTable({ id: t }, people(1))).rejects.toMatchObject({
        code: 'TableAlreadyExists',
        details: { id: t, found: kind },
        message: expect.stringMatching(
          /^The table n\$t already exists: its folder holds .* drop the/,
        ),
      });
      await expect(
        catalog.createTable({ id: t, mode: 'overwrite' }, people(1)),
      ).rejects.toMatchObject({ code: codeOf(kind), details: { found: kind } });
      await expect(catalog.declareTable({ id: t })).rejects.toMatchObject({
        code: 'TableAlreadyExists',
      });
      const kept = await catalog.createTable({ id: t, mode: 'exist_ok' }, people(1));
      expect(kept).toMatchObject({ properties: { k: 'v' } });
      expect(kept.version).toBeUndefined();
      expect(files.all()).toEqual(before);
    });

    test('survives optimize and cleanup, however old its files are', async () => {
      const { catalog, files, before } = await start();
      const none = { id: t, older_than_millis: 0, orphan_grace_millis: 0 };
      await catalog.cleanupTable(none);
      await outcomeOf(
        catalog.optimizeTable({ id: t, cleanup_older_than_millis: 0, orphan_grace_millis: 0 }),
      );
      expect(files.all()).toEqual(before);
    });

    test('is dropped whole, and comes back whole', async () => {
      const { catalog, files, before } = await start();
      await catalog.dropTable({ id: t });
      await catalog.createTable({ id: t }, people(1));
      expect(await idsOf(catalog, t)).toEqual([0]);
      await catalog.dropTable({ id: t });
      await catalog.undropTable({ id: t });
      await catalog.dropTable({ id: t });
      await catalog.undropTable({ id: t });
      expect(await idsOf(catalog, t)).toEqual([0]);
      expect(before.length).toBeGreaterThan(0);
      expect(files.all().length).toBeGreaterThan(0);
    });
  },
);

test('what a killed writer of the first version left is removed in time, its announcement last', async () => {
  const { catalog, files, put } = await declared();
  const mark = `.tmp-writer-${WRITER}-0000beef-1-1`;
  for (const path of [mark, `data/${WRITER}-0.arrow`]) put(path);
  const left = (): string[] => files.all().filter((path) => path.includes(WRITER));
  const cleanup = () =>
    catalog.cleanupTable({ id: t, older_than_millis: 0, orphan_grace_millis: 0 });
  const announced = `${FOLDER}/${mark}`;
  expect(left()).toContain(announced);
  expect(await isOnlyDeclared(catalog)).toBe(true);
  await cleanup();
  // The announcement goes in the same cleanup, once the files are gone that it tells of.
  expect(left()).toEqual([]);
  expect(await isOnlyDeclared(catalog)).toBe(true);
  await catalog.createTable({ id: t }, people(1));
  expect(files.all().filter((path) => path.includes('.tmp-'))).toEqual([]);
});

test('a first write that fails leaves a declared table, which the next one fills', async () => {
  const { catalog, files } = await declared();
  const failing = {
    schema: people(1).schema,
    async *[Symbol.asyncIterator]() {
      yield* people(2);
      throw new Error('the source ended early');
    },
  };
  await expect(catalog.createTable({ id: t }, failing)).rejects.toThrow('ended early');
  expect(await isOnlyDeclared(catalog)).toBe(true);
  const all = await Promise.allSettled(
    [1, 2, 3].map((count) => catalog.createTable({ id: t }, people(count))),
  );
  const won = all.findIndex(({ status }) => status === 'fulfilled');
  expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  for (const one of all) {
    if (one.status === 'rejected') expect(one.reason.code).toBe('TableAlreadyExists');
  }
  expect(await idsOf(catalog, t)).toHaveLength(won + 1);
  expect((await catalog.verify({})).leftovers.filter(({ kind }) => kind === 'orphan')).toEqual([]);
  expect(
    files.all().filter((path) => path.includes('/data/') && path.endsWith('.arrow')),
  ).toHaveLength(1);
});

describe('a table that lost its manifests', () => {
  async function lost() {
    const fs = memoryFs();
    const catalog = await open(fs);
    await catalog.createNamespace({ id: ['n'] });
    await catalog.createTable({ id: t }, people(3));
    await catalog.insertIntoTable({ id: t }, people(2, 3));
    const files = filesOf(fs as never, ROOT);
    const versions = files.all().filter((path) => /versions-.*\.json$/.test(path));
    for (const path of versions) fs.unlinkSync(`${ROOT}/${path}`);
    return { fs, files, catalog: await open(fs) };
  }

  test('is not only declared, and verify names its fragments', async () => {
    const { catalog, files } = await lost();
    expect(await isOnlyDeclared(catalog)).toBe(false);
    const fragments = files
      .all()
      .filter((path) => path.includes('/data/') && path.endsWith('.arrow'));
    expect(fragments).toHaveLength(2);
    const { ok, problems } = await catalog.verify({});
    expect(ok).toBe(false);
    expect(problems.map(({ path, kind }) => [path, kind])).toEqual(
      fragments.sort().map((path) => [path, 'fragment']),
    );
    expect(problems[0]?.what).toContain('fragment without a manifest');
    await expect(catalog.createTable({ id: t }, people(1))).rejects.toMatchObject({
      code: 'TableAlreadyExists',
      message: expect.stringContaining('let repair move the fragments into quarantine'),
    });
  });

  test('keeps its fragments until repair moves them into quarantine, and is declared then', async () => {
    const { catalog, files } = await lost();
    const bytes = (path: string) => Buffer.from(files.read(path) ?? []).toString('base64');
    const fragments = files
      .all()
      .filter((path) => path.includes('/data/') && path.endsWith('.arrow'));
    const contents = new Set(fragments.map(bytes));
    await catalog.cleanupTable({ id: t, older_than_millis: 0, orphan_grace_millis: 0 });
    expect((await catalog.repair({})).actions.map(({ path }) => path)).toEqual(fragments.sort());
    expect(await isOnlyDeclared(catalog)).toBe(false);
    const { actions, left } = await catalog.repair({ apply: true });
    expect(left).toEqual([]);
    const kept = new Set(actions.map(({ quarantined }) => bytes(quarantined as string)));
    expect(kept).toEqual(contents);
    expect(await isOnlyDeclared(catalog)).toBe(true);
    expect((await catalog.verify({})).problems).toEqual([]);
    await catalog.createTable({ id: t }, people(1, 7));
    expect(await idsOf(catalog, t)).toEqual([7]);
  });

  test('and whose deletion of versions is damaged is reported with its fragments', async () => {
    const { fs, catalog } = await lost();
    const [folder] = fs
      .readdirSync(`${ROOT}/${FOLDER}`)
      .filter((name) => /^versions-/.test(`${name}`));
    const run = deletedRunFile(`${FOLDER}/${folder}`, 1, 2);
    fs.writeFileSync(`${ROOT}/${run}`, '');
    const version = versionFile(`${FOLDER}/${folder}`, 1);
    fs.writeFileSync(`${ROOT}/${version}`, 'damaged');
    const { problems } = await catalog.verify({});
    const kinds = problems.map(({ kind }) => kind);
    expect(problems[0]?.path).toBe(version);
    expect(kinds).toEqual(['manifest', 'manifest', 'fragment', 'fragment']);
    await outcomeOf(catalog.cleanupTable({ id: t, older_than_millis: 0, orphan_grace_millis: 0 }));
    expect((await catalog.verify({})).problems).toEqual(problems);
  });
});
