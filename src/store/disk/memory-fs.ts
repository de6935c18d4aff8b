/**
 * `memoryFileSystem` creates an empty file system in memory. It has the methods of node:fs that the
 * store calls, but no symbolic links. Errors have the codes of POSIX. Some calls succeed that POSIX
 * would refuse, such as renaming a file over a folder; strict-fs.ts refuses those. The content is
 * lost with the object.
 */
import { constants } from 'node:fs';
import { type Env, systemEnv } from '../../env.ts';
import { afterRound } from '../../event-loop.ts';
import type { DirectoryEntry, FileStat, FileSystem, SystemError } from './file-system.ts';

interface Node {
  readonly ino: number;
  links: number;
  changed: number;
  modified: number;
}

interface File extends Node {
  /** Its first `size` bytes are the content. */
  bytes: Uint8Array;
  size: number;
}

interface Folder extends Node {
  readonly entries: Map<string, File | Folder>;
}

interface Opened {
  readonly node: File | Folder;
  readonly flags: number;
  /** Where the next read or write without a position begins. */
  at: number;
}

const isFolder = (node: File | Folder): node is Folder => 'entries' in node;

const failure = (code: string, call: string, path: string | number): Error =>
  Object.assign(new Error(`${code}, ${call} '${path}'`), { code, syscall: call });

/** Those of node:fs that have a text. */
const FLAGS: Readonly<Record<string, number>> = {
  r: constants.O_RDONLY,
  'r+': constants.O_RDWR,
  w: constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC,
  wx: constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL,
  a: constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND,
};

let systems = 0;

/** Each is a device of its own. */
export function memoryFileSystem(env: Env = systemEnv): FileSystem {
  return new MemoryFileSystem(env);
}

class MemoryFileSystem implements FileSystem {
  readonly constants = constants;
  readonly realpathSync = (path: string): string => {
    this.#node(path, 'realpath');
    return `/${partsOf(path).join('/')}`;
  };
  readonly #env: Env;
  readonly #device = 2 ** 40 + systems++;
  readonly #opened = new Map<number, Opened>();
  readonly #root: Folder;
  #nodes = 0;
  #descriptors = 2 ** 20;
  #time = 0;

  constructor(env: Env) {
    this.#env = env;
    this.#root = this.#made({ entries: new Map() });
  }

  openSync(path: string, given: number | string): number {
    const flags = typeof given === 'number' ? given : FLAGS[given];
    if (flags === undefined) throw failure('EINVAL', 'open', path);
    const [folder, name] = this.#place(path, 'open');
    let node = name === '' ? this.#root : folder.entries.get(name);
    const writes = (flags & (constants.O_WRONLY | constants.O_RDWR)) !== 0;
    if (node === undefined) {
      if ((flags & constants.O_CREAT) === 0) throw failure('ENOENT', 'open', path);
      node = this.#made<File>({ bytes: new Uint8Array(0), size: 0 });
      folder.entries.set(name, node);
      this.#touch(folder);
    } else if ((flags & constants.O_CREAT) !== 0 && (flags & constants.O_EXCL) !== 0) {
      throw failure('EEXIST', 'open', path);
    } else if (isFolder(node)) {
      if (writes) throw failure('EISDIR', 'open', path);
    } else if ((flags & (constants.O_DIRECTORY ?? 0)) !== 0 || path.endsWith('/')) {
      throw failure('ENOTDIR', 'open', path);
    }
    if ((flags & constants.O_TRUNC) !== 0 && !isFolder(node)) this.#resize(node, 0);
    this.#opened.set(++this.#descriptors, { node, flags, at: 0 });
    return this.#descriptors;
  }

  closeSync(fd: number): void {
    if (!this.#opened.delete(fd)) throw failure('EBADF', 'close', fd);
  }

  readSync(
    fd: number,
    buffer: Uint8Array,
    offset: number,
    length: number,
    position: number | null,
  ): number {
    const opened = this.#descriptor(fd, 'read');
    const { bytes, size } = fileOf(opened, 'read', fd);
    const from = position ?? opened.at;
    const count = Math.max(0, Math.min(length, size - from, buffer.byteLength - offset));
    if (count > 0) buffer.set(bytes.subarray(from, from + count), offset);
    if (position === null) opened.at += count;
    return count;
  }

  writeSync(
    fd: number,
    buffer: Uint8Array,
    offset: number,
    length: number,
    position: number | null,
  ): number {
    const opened = this.#descriptor(fd, 'write');
    if ((opened.flags & (constants.O_WRONLY | constants.O_RDWR)) === 0)
      throw failure('EBADF', 'write', fd);
    const file = fileOf(opened, 'write', fd);
    if (length === 0) return 0;
    const from = (opened.flags & constants.O_APPEND) !== 0 ? file.size : (position ?? opened.at);
    if (from + length > file.size) this.#resize(file, from + length);
    file.bytes.set(buffer.subarray(offset, offset + length), from);
    this.#touch(file);
    if (position === null) opened.at = from + length;
    return length;
  }

  ftruncateSync(fd: number, length: number): void {
    this.#resize(fileOf(this.#descriptor(fd, 'ftruncate'), 'ftruncate', fd), length);
  }

  fstatSync(fd: number): FileStat {
    return this.#stat(this.#descriptor(fd, 'fstat').node);
  }

  statSync(path: string): FileStat {
    return this.#stat(this.#node(path, 'stat'));
  }

  lstatSync(path: string): FileStat;
  lstatSync(path: string, options: { throwIfNoEntry: false }): FileStat | undefined;
  lstatSync(path: string, options?: { throwIfNoEntry: false }): FileStat | undefined {
    try {
      return this.statSync(path);
    } catch (error) {
      const isAbsent = (error as SystemError).code === 'ENOENT';
      if (options?.throwIfNoEntry === false && isAbsent) return undefined;
      throw error;
    }
  }

  readdirSync(path: string): readonly DirectoryEntry[] {
    const folder = this.#node(path, 'scandir');
    if (!isFolder(folder)) throw failure('ENOTDIR', 'scandir', path);
    return Array.from(folder.entries, ([name, node]) => ({ name, ...kindOf(node) }));
  }

  mkdirSync(path: string, options: { recursive?: boolean } = {}): undefined {
    let folder = this.#root;
    const parts = partsOf(path);
    if (parts.length === 0 && options.recursive !== true) throw failure('EEXIST', 'mkdir', path);
    for (const [at, name] of parts.entries()) {
      const isLast = at === parts.length - 1;
      let node = folder.entries.get(name);
      if (node !== undefined && isLast && (options.recursive !== true || !isFolder(node))) {
        throw failure('EEXIST', 'mkdir', path);
      }
      if (node === undefined) {
        if (!isLast && options.recursive !== true) throw failure('ENOENT', 'mkdir', path);
        node = this.#made<Folder>({ entries: new Map() });
        folder.entries.set(name, node);
        this.#touch(folder);
      }
      if (!isFolder(node)) throw failure('ENOTDIR', 'mkdir', path);
      folder = node;
    }
  }

  renameSync(from: string, to: string): void {
    const [folder, name] = this.#place(from, 'rename');
    const node = folder.entries.get(name);
    if (node === undefined) throw failure('ENOENT', 'rename', from);
    const [target, added] = this.#place(to, 'rename');
    const replaced = target.entries.get(added);
    if (replaced === node) return;
    if (replaced !== undefined) this.#unlinked(replaced);
    folder.entries.delete(name);
    target.entries.set(added, node);
    node.changed = this.#now();
    this.#touch(folder);
    this.#touch(target);
  }

  linkSync(existing: string, added: string): void {
    const node = this.#node(existing, 'link');
    const [folder, name] = this.#place(added, 'link');
    if (folder.entries.has(name)) throw failure('EEXIST', 'link', added);
    if (isFolder(node)) throw failure('EPERM', 'link', existing);
    folder.entries.set(name, node);
    node.links += 1;
    node.changed = this.#now();
    this.#touch(folder);
  }

  unlinkSync(path: string): void {
    const [folder, name] = this.#place(path, 'unlink');
    const node = folder.entries.get(name);
    if (node === undefined) throw failure('ENOENT', 'unlink', path);
    if (isFolder(node)) throw failure('EISDIR', 'unlink', path);
    folder.entries.delete(name);
    this.#unlinked(node);
    this.#touch(folder);
  }

  rmdirSync(path: string): void {
    const [folder, name] = this.#place(path, 'rmdir');
    const node = folder.entries.get(name);
    if (node === undefined) throw failure('ENOENT', 'rmdir', path);
    if (!isFolder(node)) throw failure('ENOTDIR', 'rmdir', path);
    if (node.entries.size > 0) throw failure('ENOTEMPTY', 'rmdir', path);
    folder.entries.delete(name);
    this.#touch(folder);
  }

  existsSync(path: string): boolean {
    return this.lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  }

  utimes(path: string, _: Date, mtime: Date, callback: (error?: SystemError | null) => void): void {
    answer(callback, () => {
      const node = this.#node(path, 'utimes');
      node.modified = mtime.getTime();
      node.changed = this.#now();
    });
  }

  read(
    fd: number,
    buffer: Uint8Array,
    offset: number,
    length: number,
    position: number,
    callback: (error?: SystemError | null, value?: number) => void,
  ): void {
    answer(callback, () => this.readSync(fd, buffer, offset, length, position));
  }

  writev(
    fd: number,
    buffers: Uint8Array[],
    position: number | null,
    callback: (error?: SystemError | null, value?: number) => void,
  ): void {
    answer(callback, () => {
      let written = 0;
      for (const buffer of buffers) {
        const at = position === null ? null : position + written;
        written += this.writeSync(fd, buffer, 0, buffer.byteLength, at);
      }
      return written;
    });
  }

  fsync(fd: number, callback: (error?: SystemError | null) => void): void {
    answer(callback, () => this.fsyncSync(fd));
  }

  fsyncSync(fd: number): void {
    this.#descriptor(fd, 'fsync');
  }

  fdatasync(fd: number, callback: (error?: SystemError | null) => void): void {
    answer(callback, () => this.fsyncSync(fd));
  }

  #made<Kind extends File | Folder>(own: Omit<Kind, keyof Node>): Kind {
    const now = this.#now();
    return { ...own, ino: ++this.#nodes, links: 1, changed: now, modified: now } as Kind;
  }

  /** Strictly later each time, so that a change is always seen. */
  #now(): number {
    this.#time = Math.max(this.#time + 0.001, this.#env.now());
    return this.#time;
  }

  #touch(node: File | Folder): void {
    node.modified = this.#now();
    node.changed = node.modified;
  }

  #unlinked(node: File | Folder): void {
    node.links -= 1;
    node.changed = this.#now();
  }

  #resize(file: File, size: number): void {
    if (size > file.bytes.length) {
      const grown = new Uint8Array(Math.max(size, 2 * file.bytes.length));
      grown.set(file.bytes.subarray(0, file.size));
      file.bytes = grown;
    } else if (size < file.size) {
      // What is cut off must not come back when the file grows again.
      file.bytes = file.bytes.slice(0, size);
    }
    file.size = size;
    this.#touch(file);
  }

  #descriptor(fd: number, call: string): Opened {
    const opened = this.#opened.get(fd);
    if (opened === undefined) throw failure('EBADF', call, fd);
    return opened;
  }

  #node(path: string, call: string): File | Folder {
    const [folder, name] = this.#place(path, call);
    const node = name === '' ? this.#root : folder.entries.get(name);
    if (node === undefined) throw failure('ENOENT', call, path);
    if (path.endsWith('/') && !isFolder(node)) throw failure('ENOTDIR', call, path);
    return node;
  }

  /** The folder that a path lies in and its name there, which is empty for the root. */
  #place(path: string, call: string): [Folder, string] {
    const parts = partsOf(path);
    const name = parts.pop() ?? '';
    let folder = this.#root;
    for (const part of parts) {
      const node = folder.entries.get(part);
      if (node === undefined) throw failure('ENOENT', call, path);
      if (!isFolder(node)) throw failure('ENOTDIR', call, path);
      folder = node;
    }
    return [folder, name];
  }

  #stat(node: File | Folder): FileStat {
    return {
      size: isFolder(node) ? 0 : node.size,
      mtimeMs: node.modified,
      ctimeMs: node.changed,
      ino: node.ino,
      dev: this.#device,
      nlink: node.links,
      ...kindOf(node),
    };
  }
}

const kindOf = (
  node: File | Folder,
): Pick<FileStat, 'isFile' | 'isDirectory' | 'isSymbolicLink'> => ({
  isFile: () => !isFolder(node),
  isDirectory: () => isFolder(node),
  isSymbolicLink: () => false,
});

function fileOf({ node }: Opened, call: string, fd: number): File {
  if (isFolder(node)) throw failure('EISDIR', call, fd);
  return node;
}

/** The names of an absolute path; `.` and `..` are resolved. */
function partsOf(path: string): string[] {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return parts;
}

/** Calls back in a later turn, as `node:fs` does, with the result or the error. */
function answer<T>(callback: (error?: SystemError | null, value?: T) => void, work: () => T): void {
  afterRound(() => {
    let value: T;
    try {
      value = work();
    } catch (error) {
      callback(error as SystemError);
      return;
    }
    callback(null, value);
  });
}
