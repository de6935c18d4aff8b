/**
 * `__manifest` costs the same however large the catalog is, misses no change whatever process dies
 * or follows nothing, keeps its bytes between releases, and verify tells of every damage to it.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import {
  type DirectoryNamespace,
  openDirectoryNamespace,
} from '../../src/directory/directory-namespace.ts';
import { systemEnv } from '../../src/env.ts';
import { readLanceCatalogManifest } from '../../src/format/index.ts';
import type { LanceMode } from '../../src/lance-mode.ts';
import { lanceVersionFile, parseLanceVersionFile } from '../../src/lance-paths.ts';
import type { FileSystem } from '../../src/store/disk/file-system.ts';
import { strictFileSystem } from '../../src/store/disk/strict-fs.ts';
import { FaultyFs } from '../helpers/faulty-fs.ts';
import { casesOf } from '../helpers/long.ts';
import { memoryFs, type TestFs } from '../helpers/memory-fs.ts';
import { people } from '../helpers/people.ts';

const ROOT = '/c';
const HOME = `${ROOT}/__manifest`;
const FIXTURE = join(import.meta.dirname, '..', '..', 'fixtures', 'lance-catalog');

/** Calls between two that a process is killed at. */
const STEP = casesOf(61, 1);

interface Opening {
  readonly lance?: LanceMode;
  /** Of the process; others have died if they are in `dead`, and are of another machine in `strange`. */
  readonly pid?: number;
  readonly dead?: readonly number[];
  readonly strange?: readonly number[];
  readonly scope?: string;
}

/** Clock, ids and process are the same in every run, and the trash is not swept in the midst of one. */
function open(fs: FileSystem, opening: Opening = {}): Promise<DirectoryNamespace> {
  const { lance = 'sync', pid = 1, dead = [], strange = [], scope = '0123abcd' } = opening;
  let made = pid * 0x100000;
  return openDirectoryNamespace({
    root: ROOT,
    fs,
    lance,
    env: {
      ...systemEnv,
      now: () => 1_700_000_000_000 + made,
      sleep: (ms, signal, inBackground) =>
        inBackground === true
          ? new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error())))
          : systemEnv.sleep(ms, signal),
      uuid: () => `00000000-0000-4000-8000-${(made++).toString(16).padStart(12, '0')}`,
    },
    processes: {
      self: { scope, pid, start: 7 },
      stateOf: ({ pid }) =>
        dead.includes(pid) ? 'dead' : strange.includes(pid) ? 'unknown' : 'alive',
    },
  });
}

/** What verify says of the list, in mode `sync`. */
async function found(catalog: DirectoryNamespace): Promise<string[]> {
  const { problems, leftovers } = await catalog.verify({});
  return [...problems, ...leftovers]
    .filter(({ path }) => path.startsWith('__manifest'))
    .map(({ path, kind }) => `${kind} ${path}`);
}

const versions = (fs: TestFs): number[] =>
  (fs.readdirSync(`${HOME}/_versions`) as string[])
    .flatMap((name) => parseLanceVersionFile(name) ?? [])
    .sort((a, b) => a - b);

const newest = (fs: TestFs): ReturnType<typeof readLanceCatalogManifest> => {
  const path = lanceVersionFile(HOME, versions(fs).at(-1) as number);
  return readLanceCatalogManifest(fs.readFileSync(path) as Buffer, path);
};

const markers = (fs: TestFs): string[] =>
  (fs.readdirSync(HOME) as string[]).filter((name) => name.startsWith('.'));

async function filled(fs: FileSystem, tables: number): Promise<DirectoryNamespace> {
  const catalog = await open(fs);
  for (let at = 0; at < tables; at++) await catalog.createTable({ id: [`t${at}`] }, people(1));
  await catalog.syncLance({});
  return catalog;
}

test('a change costs as many calls in a catalog of many tables as in one of few', async () => {
  const calls = async (tables: number): Promise<number> => {
    const faulty = new FaultyFs(memoryFs() as never);
    const catalog = await filled(faulty.fs, tables);
    await catalog.createTable({ id: ['first'] }, people(1));
    faulty.arm();
    await catalog.createTable({ id: ['second'] }, people(1));
    await catalog.renameTable({ id: ['second'], new_table_name: 'other' });
    await catalog.dropTable({ id: ['other'] });
    return faulty.log.length;
  };
  expect(await calls(30)).toBe(await calls(3));
});

test('many changes are written anew together, and none is lost', { timeout: 60_000 }, async () => {
  const fs = memoryFs();
  const catalog = await open(fs as never);
  let most = 0;
  for (let at = 0; at < 300; at++) {
    await catalog.createNamespace({ id: [`n${at}`] });
    most = Math.max(most, newest(fs).added?.rows ?? 0);
  }
  expect(most).toBe(256);
  expect(newest(fs).base?.rows).toBeGreaterThan(1);
  for (let at = 0; at < 300; at += 20) await catalog.dropNamespace({ id: [`n${at}`] });
  expect((await found(catalog)).filter((text) => !text.startsWith('orphan '))).toEqual([]);
});

const operations: Record<string, (catalog: DirectoryNamespace) => Promise<unknown>> = {
  create: (catalog) => catalog.createTable({ id: ['made'] }, people(1)),
  'create in place of another': (catalog) =>
    catalog.createTable({ id: ['t0'], mode: 'overwrite' }, people(1)),
  rename: (catalog) =>
    catalog.renameTable({ id: ['t0'], new_table_name: 'new', new_namespace_id: ['n'] }),
  drop: (catalog) => catalog.dropTable({ id: ['t0'] }),
  'create a namespace': (catalog) => catalog.createNamespace({ id: ['m'] }),
  'drop a namespace': (catalog) => catalog.dropNamespace({ id: ['n'], behavior: 'cascade' }),
  'overwrite a namespace': (catalog) => catalog.createNamespace({ id: ['n'], mode: 'overwrite' }),
  properties: (catalog) =>
    catalog.updateNamespaceProperties({ id: ['n'], properties: { owner: 'me' } }),
  'fill a declared table': (catalog) => catalog.insertIntoTable({ id: ['declared'] }, people(1)),
};

test.each(Object.keys(operations))(
  'killed at any call of: %s',
  { timeout: 120_000 },
  async (name) => {
    const operation = operations[name] as (catalog: DirectoryNamespace) => Promise<unknown>;
    for (let at = 1; ; at += STEP) {
      const fs = memoryFs();
      const healthy = strictFileSystem(fs as never);
      const before = await filled(healthy, 1);
      await before.createNamespace({ id: ['n'] });
      await before.createTable({ id: ['n', 'inner'] }, people(1));
      await before.declareTable({ id: ['declared'] });
      const faulty = new FaultyFs(healthy);
      const dying = await open(faulty.fs, { pid: 2 });
      faulty.arm({ at, kind: 'kill' } as never);
      await operation(dying).catch(() => {});
      const { fired } = faulty;
      const next = await open(healthy, { pid: 3, dead: [2] });
      await next.createNamespace({ id: ['after'] });
      const told = (await found(next)).filter((text) => !/^(temporary|orphan) /.test(text));
      expect(told, `call ${at}`).toEqual([]);
      expect(markers(fs), `call ${at}`).toEqual([]);
      if (!fired) break;
    }
  },
);

test('what handles change that follow nothing is found by the next that does', async () => {
  const fs = memoryFs();
  await filled(fs as never, 1);
  const plain = await open(fs as never, { lance: 'read', pid: 2 });
  await plain.createNamespace({ id: ['n'] });
  await plain.dropTable({ id: ['t0'] });
  expect(markers(fs)).toEqual(['.stale']);
  const catalog = await open(fs as never, { pid: 3 });
  expect(await found(catalog)).toEqual([
    'unsynced __manifest/_versions/18446744073709551614.manifest',
  ]);
  await catalog.createNamespace({ id: ['m'] });
  expect(await found(catalog)).toEqual([]);
  expect(markers(fs)).toEqual([]);
});

test('a table that opens by path after its first version is found by the next change', async () => {
  const fs = memoryFs();
  const plain = await open(fs as never, { lance: 'read' });
  await plain.createTable({ id: ['t'] }, people(1));
  await plain.syncLance({});
  await plain.createTable({ id: ['later'] }, people(1));
  const catalog = await open(fs as never, { pid: 2 });
  await catalog.createNamespace({ id: ['n'] });
  expect(markers(fs)).toEqual([]);
  await catalog.insertIntoTable({ id: ['later'] }, people(1));
  expect(markers(fs)).toEqual(['.stale']);
  await catalog.createNamespace({ id: ['m'] });
  expect(await found(catalog)).toEqual([]);
});

/** Something changes, and the list is not told. */
const behindItsBack = (fs: TestFs): void => fs.renameSync(`${ROOT}/n`, `${ROOT}/moved`);

test.each([
  ['another boot', { scope: '99999999' }, undefined],
  ['a process that died', { dead: [9] }, 9],
  ['a process of another machine', { strange: [9] }, 9],
])('%s makes the next change compare all', async (_, opening, pid) => {
  const fs = memoryFs();
  const before = await filled(fs as never, 1);
  await before.createNamespace({ id: ['n'] });
  if (pid !== undefined) {
    const id = '00000000-0000-4000-8000-00000000ffff';
    fs.writeFileSync(`${HOME}/.tmp-writer-${id}-0123abcd-${pid}-7`, '');
  }
  behindItsBack(fs);
  const catalog = await open(fs as never, { pid: 2, ...opening });
  await catalog.createNamespace({ id: ['m'] });
  expect(await found(catalog)).toEqual([]);
  // Of a machine that cannot be asked a marker stays, for a week.
  const isSilent = !('strange' in opening);
  expect(markers(fs).length).toBe(isSilent ? 0 : 1);
});

test('one that changes nothing takes the number that another at work may be about to take', async () => {
  const fs = memoryFs();
  const catalog = await filled(fs as never, 1);
  await catalog.createNamespace({ id: ['n'] });
  const before = versions(fs);
  await catalog.createNamespace({ id: ['n'], mode: 'exist_ok' });
  expect(versions(fs)).toEqual(before);
  fs.writeFileSync(`${HOME}/.tmp-writer-00000000-0000-4000-8000-00000000ffff-0123abcd-9-7`, '');
  await catalog.createNamespace({ id: ['n'], mode: 'exist_ok' });
  expect(versions(fs).length).toBe(before.length + 1);
  expect(await found(catalog)).toEqual([]);
});

test('names that nothing can have leave no work behind', async () => {
  const fs = memoryFs();
  const catalog = await filled(fs as never, 1);
  const before = versions(fs);
  await expect(catalog.createTable({ id: ['a/b'] }, people(1))).rejects.toThrow();
  await expect(catalog.createNamespace({ id: [] })).rejects.toThrow();
  await expect(catalog.renameTable({ id: ['t0'], new_table_name: 'a/b' })).rejects.toThrow();
  expect([versions(fs), markers(fs)]).toEqual([before, []]);
});

/** A list with rows that stay, rows that are gone and rows that were added. */
async function made(): Promise<TestFs> {
  const fs = memoryFs();
  const plain = await open(fs as never, { lance: 'read' });
  // Their ids are then those of the fixture.
  const properties = { lance: 'sync' };
  await plain.createNamespace({ id: ['prod'], properties: { owner: 'me' } });
  await plain.createNamespace({ id: ['prod', 'search'] });
  await plain.createTable({ id: ['prod', 'search', 'user'], properties }, people(1));
  await plain.createTable({ id: ['con'], properties }, people(1));
  await plain.syncLance({});
  const catalog = await open(fs as never, { pid: 2 });
  await catalog.dropTable({ id: ['con'] });
  await catalog.createNamespace({ id: ['added'] });
  return fs;
}

/** The files of the list, by their paths below the root. */
function filesOf(
  fs: Pick<TestFs, 'readdirSync' | 'readFileSync'>,
  root: string,
): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  for (const folder of ['_versions', '_deletions', 'data'])
    for (const name of (fs.readdirSync(`${root}/__manifest/${folder}`) as string[]).sort())
      files.set(
        `__manifest/${folder}/${name}`,
        fs.readFileSync(`${root}/__manifest/${folder}/${name}`) as Buffer,
      );
  return files;
}

test('it is written byte for byte as in fixtures/lance-catalog, which Lance was seen to read', async () => {
  const files = filesOf(await made(), ROOT);
  // WRITE_FIXTURES=1 writes them anew, which a release must not do.
  if (process.env.WRITE_FIXTURES === '1')
    for (const [path, bytes] of files) {
      mkdirSync(dirname(join(FIXTURE, path)), { recursive: true });
      writeFileSync(join(FIXTURE, path), bytes);
    }
  const expected = filesOf({ readdirSync, readFileSync } as never, FIXTURE);
  expect([...files.keys()]).toEqual([...expected.keys()]);
  for (const [path, bytes] of files)
    expect(bytes.equals(expected.get(path) as Buffer), path).toBe(true);
});

test('verify tells of a bit that flipped anywhere in the newest version', {
  timeout: 120_000,
}, async () => {
  const fs = await made();
  const catalog = await open(fs as never, { pid: 3 });
  expect(await found(catalog)).toEqual([]);
  const { version, base, added } = newest(fs);
  const ofNewest = [
    lanceVersionFile('__manifest', version),
    `__manifest/data/${base?.file}.arrow`,
    `__manifest/data/${added?.file}.arrow`,
    `__manifest/_deletions/0-0-${base?.deletion?.id}.arrow`,
  ];
  for (const path of ofNewest) {
    const bytes = fs.readFileSync(`${ROOT}/${path}`) as Buffer;
    for (
      let at = 0;
      at < bytes.length;
      at += path.endsWith('manifest') ? casesOf(41, 1) : casesOf(997, 5)
    ) {
      const damaged = Buffer.from(bytes);
      damaged[at] = (damaged[at] as number) ^ (1 << (at % 8));
      fs.writeFileSync(`${ROOT}/${path}`, damaged);
      const told = await found(catalog);
      expect(
        told.filter((text) => text.endsWith(path)),
        `${path} at ${at}`,
      ).not.toEqual([]);
    }
    fs.unlinkSync(`${ROOT}/${path}`);
    expect(await found(catalog), path).not.toEqual([]);
    fs.writeFileSync(`${ROOT}/${path}`, bytes);
  }
});

test("a version that is removed while verify looks is nobody's problem", async () => {
  const fs = await made();
  let removed = '';
  const hooked = {
    ...fs,
    readdirSync: (path: string, ...rest: unknown[]) => {
      const found = (fs.readdirSync as (...all: unknown[]) => unknown[])(path, ...rest);
      if (removed === '' && path.endsWith('__manifest/_versions')) {
        removed =
          (fs.readdirSync(path) as string[])
            .filter((name) => name > '1')
            .sort()
            .at(-1) ?? '';
        fs.unlinkSync(`${path}/${removed}`);
      }
      return found;
    },
  };
  const catalog = await open(hooked as never, { pid: 3 });
  removed = '';
  expect((await catalog.verify({})).problems).toEqual([]);
  expect(removed).not.toBe('');
});

test('damage to any file of it is mended by the next synchronization', async () => {
  for (const folder of ['_versions', '_deletions', 'data']) {
    const fs = await made();
    const catalog = await open(fs as never, { pid: 3 });
    for (const name of fs.readdirSync(`${HOME}/${folder}`) as string[]) {
      const bytes = fs.readFileSync(`${HOME}/${folder}/${name}`) as Buffer;
      // Manifests still say who wrote them.
      fs.writeFileSync(`${HOME}/${folder}/${name}`, Buffer.concat([bytes, bytes.subarray(0, 1)]));
    }
    await catalog.syncLance({});
    const { problems } = await catalog.verify({});
    const { version } = newest(fs);
    expect(problems.filter(({ path }) => path.endsWith(lanceVersionFile('', version)))).toEqual([]);
    expect(problems.filter(({ kind }) => kind === 'fragment')).toEqual([]);
  }
});
