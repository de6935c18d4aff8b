/** The real file system, told of every call that reads or changes something outside a root. */
import nodeFs from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { FileSystem } from '../../src/store/disk/file-system.ts';
import { trustFileSystem } from '../../src/store/disk/strict-fs.ts';

export interface GuardOptions {
  /** Canonical. */
  readonly root: string;
  escaped(call: string, path: string): void;
  /** Before every call that names a path. */
  before?(call: string, path: string): void;
}

/**
 * Where a path leads is looked up right before the call, in the same turn of the event loop, or
 * asked of the open descriptor: nobody in this process can change it in between.
 */
export function guardedFs({ root, escaped, before }: GuardOptions): FileSystem {
  const inside = (path: string): boolean => path === root || path.startsWith(`${root}/`);
  /** The place that a name stands for, the name itself not followed. */
  const placeOf = (path: string): string | undefined => {
    try {
      return join(nodeFs.realpathSync(dirname(path)), basename(path));
    } catch {
      return undefined;
    }
  };
  const checkName = (call: string, path: string): void => {
    before?.(call, path);
    // The root itself is made in the folder above it.
    if (path === root) return;
    const place = placeOf(path);
    if (place !== undefined && !inside(place)) escaped(call, `${path} -> ${place}`);
  };
  const checkTarget = (call: string, path: string): void => {
    before?.(call, path);
    try {
      const target = nodeFs.realpathSync(path);
      if (!inside(target)) escaped(call, `${path} -> ${target}`);
    } catch {
      // Nothing there: nothing is read.
    }
  };
  return trustFileSystem({
    ...nodeFs,
    openSync: (path: string, flags: number | string, mode?: number) => {
      before?.('open', path);
      const fd = nodeFs.openSync(path, flags, mode);
      const target = nodeFs.readlinkSync(`/proc/self/fd/${fd}`);
      if (!inside(target)) escaped('open', `${path} -> ${target}`);
      return fd;
    },
    readdirSync: (path: string, options: { withFileTypes: true }) => {
      checkTarget('readdir', path);
      return nodeFs.readdirSync(path, options);
    },
    mkdirSync: (path: string, options: { recursive?: boolean; mode?: number }) => {
      checkName('mkdir', path);
      return nodeFs.mkdirSync(path, options);
    },
    renameSync: (from: string, to: string) => {
      checkName('rename', from);
      checkName('rename', to);
      nodeFs.renameSync(from, to);
    },
    linkSync: (existing: string, added: string) => {
      checkName('link', existing);
      checkName('link', added);
      nodeFs.linkSync(existing, added);
    },
    unlinkSync: (path: string) => {
      checkName('unlink', path);
      nodeFs.unlinkSync(path);
    },
    rmdirSync: (path: string) => {
      checkName('rmdir', path);
      nodeFs.rmdirSync(path);
    },
    utimes: (path: string, atime: Date, mtime: Date, callback: never) => {
      checkName('utimes', path);
      nodeFs.utimes(path, atime, mtime, callback);
    },
  }) as unknown as FileSystem;
}
