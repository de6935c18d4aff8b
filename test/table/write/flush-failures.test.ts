/** A flush that failed is the end of an acknowledgement: asked again, the disk may say yes to nothing. */
import { beforeEach, expect, test } from 'vitest';
import { openDirectoryNamespace } from '../../../src/directory/directory-namespace.ts';
import type { FileSystem } from '../../../src/store/disk/file-system.ts';
import { strictFileSystem, trustFileSystem } from '../../../src/store/disk/strict-fs.ts';
import { memoryFs, type TestFs } from '../../helpers/memory-fs.ts';
import { people } from '../../suites/namespace/context.ts';

const id = ['t'];
const VERSIONS = /\/versions-[^/]+$/;

/** Flushes of the folders that fit, in order, of which some fail. */
class Flushes {
  readonly seen: string[] = [];
  failing: RegExp | undefined;
  /** So many that fit go well before. */
  spared = 0;
  /** The error comes of opening the folder: the disk was not asked. */
  atOpen = false;

  over(fs: TestFs): FileSystem {
    const base = strictFileSystem(fs) as FileSystem;
    const paths = new Map<number, string>();
    const failure = (): Error => Object.assign(new Error('EIO: injected'), { code: 'EIO' });
    const isFolder = (path: string): boolean =>
      base.lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
    const bound = new Proxy(base, {
      get(target, name) {
        const value = Reflect.get(target, name) as unknown;
        return typeof value === 'function' && name !== 'realpathSync' ? value.bind(target) : value;
      },
    });
    const made = {
      ...Object.fromEntries(
        [...new Set([...Object.keys(base), ...Object.getOwnPropertyNames(base)])].map((name) => [
          name,
          Reflect.get(bound, name),
        ]),
      ),
      openSync: (path: string, flags: number | string, mode?: number) => {
        if (this.atOpen && isFolder(path) && this.#fails(path)) throw failure();
        const fd = base.openSync(path, flags, mode);
        paths.set(fd, path);
        return fd;
      },
      fsync: (fd: number, done: (error?: Error | null) => void) => {
        const path = paths.get(fd) ?? '';
        this.seen.push(path);
        if (!this.atOpen && this.#fails(path)) queueMicrotask(() => done(failure()));
        else base.fsync(fd, done as never);
      },
    };
    return trustFileSystem(made as never);
  }

  #fails(path: string): boolean {
    if (this.failing?.test(path) !== true) return false;
    if (this.spared-- > 0) return false;
    this.spared = 0;
    // Once: the system forgets what it could not write.
    this.failing = undefined;
    return true;
  }
}

let fs: TestFs;
let flushes: Flushes;
beforeEach(() => {
  fs = memoryFs();
  flushes = new Flushes();
});

async function table(managedVersioning = false) {
  const catalog = await openDirectoryNamespace({
    root: '/c',
    fs: flushes.over(fs) as never,
    managedVersioning,
  });
  await catalog.createTable({ id }, people(3));
  flushes.seen.length = 0;
  return catalog;
}

const CHANGES = {
  append: (catalog) => catalog.insertIntoTable({ id }, people(2, 3)),
  overwrite: (catalog) => catalog.insertIntoTable({ id, mode: 'overwrite' }, people(2, 3)),
  delete: (catalog) => catalog.deleteFromTable({ id, predicate: 'id = 1' }),
  update: (catalog) => catalog.updateTable({ id, predicate: 'id = 1', updates: [['name', "'x'"]] }),
} satisfies Record<
  string,
  (catalog: Awaited<ReturnType<typeof openDirectoryNamespace>>) => Promise<unknown>
>;

test.each(
  Object.keys(CHANGES).flatMap((name) => [
    [name, false],
    [name, true],
  ]) as [keyof typeof CHANGES, boolean][],
)(
  '%s (managed: %s) whose folder could not be flushed is unknown, and is not flushed again',
  async (name, managed) => {
    const catalog = await table(managed);
    flushes.failing = VERSIONS;
    await expect(CHANGES[name](catalog)).rejects.toMatchObject({
      code: 'CommitStateUnknown',
      details: { version: 2, transaction: expect.any(String) },
    });
    expect(flushes.failing).toBeUndefined();
    expect(flushes.seen.filter((path) => VERSIONS.test(path))).toHaveLength(1);
    // It is to be seen, as whoever asks for the transaction finds out.
    const { versions } = await catalog.listTableVersions({ id });
    expect(versions.map(({ version }) => version)).toEqual([1, 2]);
  },
);

test('where the folder could not even be opened the disk was not asked, and is asked now', async () => {
  const catalog = await table();
  flushes.failing = VERSIONS;
  flushes.atOpen = true;
  await CHANGES.append(catalog);
  expect(flushes.seen.filter((path) => VERSIONS.test(path))).toHaveLength(1);
});

test('rows whose folder could not be flushed are never published', async () => {
  const catalog = await table();
  flushes.failing = /\/t\.table\/data$/;
  await expect(CHANGES.append(catalog)).rejects.toMatchObject({ code: 'Internal' });
  const { versions } = await catalog.listTableVersions({ id });
  expect(versions).toHaveLength(1);
});

test('nothing is deleted because of a decision that may not be on the disk', async () => {
  const catalog = await table();
  for (let row = 3; row < 6; row++) await catalog.insertIntoTable({ id }, people(1, row));
  flushes.failing = /\/transactions$/;
  const batch = (): Promise<unknown> =>
    catalog.batchCommitTables({
      operations: [
        { delete_table_versions: { id, ranges: [{ start_version: 1, end_version: 3 }] } },
      ],
    });
  // The journal's flush is the first, the decision's the second.
  await expect(batch()).rejects.toMatchObject({ code: 'Internal' });
  flushes.failing = /\/transactions$/;
  flushes.spared = 1;
  await expect(batch()).rejects.toMatchObject({ code: 'CommitStateUnknown' });
  const { versions } = await catalog.listTableVersions({ id });
  expect(versions.map(({ version }) => version)).toEqual([1, 2, 3, 4]);
});
