/** Engines that lack one of the things that make them safe. Nothing but the controls can ask for one. */
import { DirectoryNamespace } from '../../src/directory/directory-namespace.ts';
import { openCatalog } from '../../src/directory/open-catalog.ts';
import { type Env, systemEnv } from '../../src/env.ts';
import type { FileSystem } from '../../src/store/disk/file-system.ts';
import { trustFileSystem } from '../../src/store/disk/strict-fs.ts';

/** Publishing a version replaces the one that has the name. */
export const renamesInsteadOfLinks = (fs: FileSystem): FileSystem =>
  trustFileSystem({
    ...fs,
    linkSync: (from, to) => {
      // Only of versions: the root would be refused if its probe noticed.
      if (to.endsWith('.json')) fs.renameSync(from, to);
      else fs.linkSync(from, to);
    },
  });

/**
 * A file system whose flushes end when each of its users has one under way, so that they go through
 * the steps of a commit together. A user that makes no more of them has to leave.
 */
export function inLockstep(
  fs: FileSystem,
  users: number,
): { readonly fs: FileSystem; leave(): void } {
  let left = users;
  let waiting: (() => void)[] = [];
  const release = (): void => {
    if (waiting.length < left) return;
    const all = waiting;
    waiting = [];
    for (const done of all) done();
  };
  const together =
    (flush: FileSystem['fsync']): FileSystem['fsync'] =>
    (fd, done) =>
      flush(fd, (error) => {
        waiting.push(() => done(error));
        release();
      });
  const leave = (): void => {
    left--;
    release();
  };
  const [fsync, fdatasync] = [together(fs.fsync), together(fs.fdatasync)];
  return { fs: trustFileSystem({ ...fs, fsync, fdatasync }), leave };
}

/** What was told to be on the disk is in memory only. */
export const flushesNothing = (fs: FileSystem): FileSystem =>
  trustFileSystem({
    ...fs,
    fsync: (_, done) => queueMicrotask(done),
    fdatasync: (_, done) => queueMicrotask(done),
    fsyncSync: () => {},
  });

/** Every table of the catalog has the same incarnation. */
export async function withoutIncarnations(
  root: string,
  fs: FileSystem,
): Promise<DirectoryNamespace> {
  const { catalog, store } = await openCatalog({ root, fs });
  const env: Env = { ...systemEnv, uuid: () => '00000000-0000-4000-8000-000000000000' };
  // Tables take their ids from here; what they hold, from the engine's own source.
  return new DirectoryNamespace({ ...catalog, env }, store);
}
