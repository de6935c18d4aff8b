/**
 * `strictFileSystem` wraps a file system that a user passes in, and refuses calls that POSIX
 * refuses but memfs allows, such as renames over folders with content. It throws the codes of
 * POSIX, because the engine relies on them. An object that lacks methods throws InvalidInput.
 * node:fs and file systems that are declared as trusted (`trustFileSystem`) are returned unwrapped.
 * `isNodeFileSystem` recognises node:fs.
 */
import nodeFs from 'node:fs';
import { dirname } from 'node:path';
import { checkFileSystem, type FileStat, type FileSystem, readFolder } from './file-system.ts';

const LONGEST_NAME = 255;
const LONGEST_PATH = 4096;

const strictOf = new WeakMap<object, FileSystem>();
const trusted = new WeakSet<object>([nodeFs]);

/** Declares that `fs` refuses all that POSIX refuses, so that it is used as it is. */
export function trustFileSystem<T extends object>(fs: T): T {
  trusted.add(fs);
  return fs;
}

export function isNodeFileSystem(fs: object): boolean {
  return fs === nodeFs || (fs as { readonly default?: unknown }).default === nodeFs;
}

/** The same object for the same `fs`; node:fs itself and trusted ones come back unwrapped. */
export function strictFileSystem(fs: FileSystem): FileSystem {
  if (isNodeFileSystem(fs)) return nodeFs;
  if (trusted.has(fs)) return fs;
  let strict = strictOf.get(fs);
  if (strict === undefined) {
    checkFileSystem(fs);
    strict = trustFileSystem(wrap(fs));
    strictOf.set(fs, strict);
  }
  return strict;
}

function systemError(code: string, call: string, path: string): Error {
  return Object.assign(new Error(`${code}, ${call} '${path}'`), { code, syscall: call, path });
}

/**
 * Refuses what memfs allows: renames over folders with content, into a folder's own child and
 * between files and folders, links to folders, and names of any length.
 */
function wrap(fs: FileSystem): FileSystem {
  const checkName = (call: string, path: string): void => {
    const bytes = Buffer.byteLength(path);
    if (bytes <= LONGEST_NAME) return;
    if (
      bytes >= LONGEST_PATH ||
      path.split('/').some((part) => Buffer.byteLength(part) > LONGEST_NAME)
    ) {
      throw systemError('ENAMETOOLONG', call, path);
    }
  };
  const checkParent = (call: string, path: string): void => {
    if (!fs.statSync(dirname(path)).isDirectory()) throw systemError('ENOTDIR', call, path);
  };
  const look = (path: string): FileStat | undefined => {
    try {
      return fs.lstatSync(path, { throwIfNoEntry: false });
    } catch {
      return undefined;
    }
  };

  const renameSync = (from: string, to: string): void => {
    checkName('rename', from);
    checkName('rename', to);
    checkParent('rename', from);
    checkParent('rename', to);
    // The target first: where the source is gone by then, nothing is unlinked for it.
    const target = look(to);
    const source = look(from);
    if (source !== undefined) {
      if (target !== undefined && source.ino === target.ino && source.dev === target.dev) return;
      if (from.startsWith(`${to}/`)) throw systemError('ENOTEMPTY', 'rename', to);
      if (source.isDirectory()) {
        if (to.startsWith(`${from}/`)) throw systemError('EINVAL', 'rename', from);
        if (target !== undefined && !target.isDirectory()) {
          throw systemError('ENOTDIR', 'rename', to);
        }
        if (target !== undefined && readFolder(fs, to).length > 0) {
          throw systemError('ENOTEMPTY', 'rename', to);
        }
      } else if (target?.isDirectory()) {
        throw systemError('EISDIR', 'rename', to);
      }
    }
    // Left to the rename, the other names of what is replaced would keep its link count.
    if (source !== undefined && target !== undefined && !target.isDirectory()) fs.unlinkSync(to);
    fs.renameSync(from, to);
  };

  const linkSync = (existing: string, added: string): void => {
    checkName('link', added);
    const source = look(existing);
    if (source !== undefined) {
      checkParent('link', added);
      if (source.isDirectory() && look(added) === undefined) {
        throw systemError('EPERM', 'link', existing);
      }
    }
    fs.linkSync(existing, added);
  };

  const openSync = (path: string, flags: number | string, mode?: number): number => {
    checkName('open', path);
    return fs.openSync(path, flags, mode);
  };

  const mkdirSync = (path: string, options: { recursive?: boolean; mode?: number }): unknown => {
    checkName('mkdir', path);
    return fs.mkdirSync(path, options);
  };

  const realpathSync = (path: string): string => {
    if (path.endsWith('/.') && !fs.statSync(path.slice(0, -1)).isDirectory()) {
      throw systemError('ENOTDIR', 'realpath', path);
    }
    return String(fs.realpathSync(path));
  };

  const checkReadable = (fd: number): void => {
    if (fs.fstatSync(fd).isDirectory()) throw systemError('EISDIR', 'read', String(fd));
  };

  // Everything is listed: what a wrapper leaves out, some library takes from the real disk.
  return {
    constants: fs.constants,
    openSync,
    mkdirSync,
    renameSync,
    linkSync,
    lstatSync: fs.lstatSync.bind(fs),
    realpathSync,
    closeSync: (fd) => fs.closeSync(fd),
    readSync: (fd, buffer, offset, length, position) => {
      checkReadable(fd);
      return fs.readSync(fd, buffer, offset, length, position);
    },
    writeSync: (fd, buffer, offset, length, position) =>
      fs.writeSync(fd, buffer, offset, length, position),
    ftruncateSync: (fd, length) => fs.ftruncateSync(fd, length),
    fstatSync: (fd) => fs.fstatSync(fd),
    readdirSync: (path, options) => fs.readdirSync(path, options),
    unlinkSync: (path) => fs.unlinkSync(path),
    ...(fs.symlinkSync && { symlinkSync: fs.symlinkSync.bind(fs) }),
    ...(fs.readlinkSync && { readlinkSync: fs.readlinkSync.bind(fs) }),
    existsSync: (path) => fs.existsSync(path),
    rmdirSync: (path) => fs.rmdirSync(path),
    statSync: (path) => fs.statSync(path),
    read: (fd, buffer, offset, length, position, callback) =>
      fs.read(fd, buffer, offset, length, position, callback),
    writev: (fd, buffers, position, callback) => fs.writev(fd, buffers, position, callback),
    fsync: (fd, callback) => fs.fsync(fd, callback),
    fsyncSync: (fd) => fs.fsyncSync(fd),
    fdatasync: (fd, callback) => fs.fdatasync(fd, callback),
    utimes: (path, atime, mtime, callback) => fs.utimes(path, atime, mtime, callback),
  };
}
