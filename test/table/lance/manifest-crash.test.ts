/**
 * Every file system call of making a manifest on demand is the last one, or fails: the table is as it was,
 * the next who asks gets the manifest, and cleanup removes what was left.
 */
import { beforeAll, expect, test } from 'vitest';
import {
  type DirectoryNamespace,
  openDirectoryNamespace,
} from '../../../src/directory/directory-namespace.ts';
import type { FileSystem } from '../../../src/store/disk/file-system.ts';
import { strictFileSystem } from '../../../src/store/disk/strict-fs.ts';
import { filesOf, memoryFs, type TestFs } from '../../helpers/catalogs.ts';
import { type Fault, FaultyFs } from '../../helpers/faulty-fs.ts';
import { casesOf } from '../../helpers/long.ts';
import { grow, type Tree, treeOf } from '../../helpers/trees.ts';
import { people } from '../../suites/namespace/context.ts';

const ROOT = '/c';
const id = ['t'];
const open = (fs: FileSystem): Promise<DirectoryNamespace> =>
  openDirectoryNamespace({ root: ROOT, fs });

/** A table of two fragments with a deletion file each. */
async function made(): Promise<Tree> {
  const fs = memoryFs();
  const catalog = await open(strictFileSystem(fs));
  await catalog.createTable({ id }, people(4));
  await catalog.insertIntoTable({ id }, people(4, 4));
  await catalog.deleteFromTable({ id, predicate: 'id % 4 = 1' });
  return treeOf(fs, ROOT);
}

let tree: Tree;
beforeAll(async () => {
  tree = await made();
});

async function manifestOf(catalog: DirectoryNamespace, fs: TestFs): Promise<Buffer> {
  const { version } = await catalog.describeTableVersion({ id }, { forLance: true });
  return fs.readFileSync(version.manifest_path) as Buffer;
}

const deletionsOf = (fs: TestFs): string[] =>
  filesOf(fs, ROOT)
    .all()
    .filter((path) => /_deletions\/\d/.test(path))
    .map((path) => path.slice(path.lastIndexOf('/')));

/** A usual run takes the calls that change the disk, and some of those that fail. */
test.each<Omit<Fault, 'at'> & { readonly step: number }>([
  { kind: 'kill', changing: true, step: 1 },
  { kind: 'EIO', step: casesOf(7, 1) },
  { kind: 'ENOSPC', persistent: true, step: casesOf(5, 1) },
])('a manifest on demand: $kind at every call', async ({ step, ...fault }) => {
  let calls = 0;
  for (let at = 1; ; at += step) {
    const fs = grow(tree, ROOT);
    const healthy = strictFileSystem(fs);
    const faulty = new FaultyFs(healthy);
    const catalog = await open(faulty.fs);
    // What is read of the table is not of interest.
    await catalog.describeTable({ id, load_detailed_metadata: true });
    faulty.arm({ ...fault, at });
    await manifestOf(catalog, fs).catch(() => {});
    calls = Math.max(calls, faulty.log.length);
    const again = await open(healthy);
    const where = `call ${at}`;
    expect((await again.verify({})).problems, where).toEqual([]);
    const bytes = await manifestOf(again, fs);
    expect(bytes.subarray(-4).toString(), where).toBe('LANC');
    expect(deletionsOf(fs), where).toHaveLength(2);
    const { problems, leftovers } = await again.verify({});
    expect(problems, where).toEqual([]);
    await again.optimizeTable({ id, cleanup_older_than_millis: 0, orphan_grace_millis: 0 });
    expect((await again.verify({})).problems, where).toEqual([]);
    expect(
      leftovers.every(({ kind }) => kind !== 'orphan'),
      where,
    ).toBe(true);
    if (!faulty.fired) break;
  }
  // The manifest, its folders and two deletion files.
  expect(calls).toBeGreaterThan(8);
});
