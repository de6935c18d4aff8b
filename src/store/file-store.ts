/**
 * `FileStore` implements `Store` over node:fs or any object of its shape, such as memfs.
 * `openFileStore` opens one at a root, and creates the root unless the store is read-only. Failed
 * calls of the file system throw the errors of disk/store-error.ts. But `getHint` and `putHint`
 * ignore failures, `alias` returns false if no link can be made, and `realPath` throws the system's
 * own error. In a read-only store writing calls throw ReadOnly; only `alias` returns whether the
 * link is there already. Small reads and metadata use synchronous calls, which are faster for them.
 * Long writes and flushes go through the thread pool, so that they do not block the process.
 */

import nodeFs from 'node:fs';
import { type Env, systemEnv } from '../env.ts';
import { DirspaceError } from '../errors.ts';
import { parentFolder } from '../paths.ts';
import { hintsOf } from './change-hints.ts';
import {
  absoluteFolder,
  absolutePath,
  aliasFolder,
  atomic,
  type Capabilities,
  ChangeTimes,
  canonicalRoot,
  closeQuietly,
  type Disk,
  type Durability,
  enterFolder,
  enterIfThere,
  errnoOf,
  type FileSystem,
  type FolderAlias,
  findAlias,
  folders,
  isNodeFileSystem,
  isSystemFailure,
  lookAt,
  missingFolder,
  openFlags,
  Pace,
  probeCapabilities,
  readFolder,
  realPathSoFar,
  requireFolder,
  SMALL,
  storeError,
  strictFileSystem,
  symbolicLink,
  tellsMissing,
} from './disk/index.ts';
import { FileReader, FileWriter } from './object-io.ts';
import type {
  Awaitable,
  Entry,
  FolderFacts,
  ObjectFacts,
  ObjectReader,
  ObjectWriter,
  Store,
} from './store.ts';

/** Bytes of a file that is copied. */
const COPIED_AT_ONCE = 4 << 20;
/** Longer ones were not written by the engine, in bytes. */
const LARGEST_HINT = 4096;

export interface FileStoreOptions {
  /** Any path; made canonical once, here. */
  readonly root: string;
  /** node:fs when left out. Anything else is held to POSIX's refusals by a strict wrapper. */
  readonly fs?: FileSystem;
  /** `full` (the default): what is acknowledged survives a power loss. `relaxed`: no flushes. */
  readonly durability?: Durability;
  /** Creates and writes nothing, the root included; write calls throw ReadOnly. */
  readonly readOnly?: boolean;
  readonly env?: Env;
}

export function openFileStore(options: FileStoreOptions): FileStore {
  return new FileStore(options);
}

export class FileStore implements Store {
  /** Absolute and canonical. */
  readonly root: string;
  readonly readOnly: boolean;
  readonly durability: Durability;
  /** What the calls go to: the given file system or the strict wrapper around it. */
  readonly fs: FileSystem;
  /** The file system as it was given: the identity that stores over it share. */
  readonly given: FileSystem;
  readonly env: Env;
  readonly #disk: Disk;
  readonly #changes: ChangeTimes;
  readonly #scratch: Uint8Array;
  /** Folders made by `create` whose own names are not on disk yet. */
  readonly #unflushed = new Set<string>();

  constructor(options: FileStoreOptions) {
    this.given = options.fs ?? nodeFs;
    this.fs = strictFileSystem(this.given);
    this.readOnly = options.readOnly ?? false;
    this.durability = options.durability ?? 'full';
    this.env = options.env ?? systemEnv;
    this.root = canonicalRoot(this.fs, options.root, {
      readOnly: this.readOnly,
      durable: this.durability === 'full',
    });
    this.#scratch = scratchOf(this.fs);
    const { fs, root } = this;
    // The clock of this machine is that of its disks, whatever clock the caller brings.
    const clock = isNodeFileSystem(this.given) ? systemEnv : this.env;
    this.#changes = new ChangeTimes(this.given, root, clock);
    const hints = isNodeFileSystem(this.given) ? undefined : hintsOf(this.given);
    const prefix = root.endsWith('/') ? root : `${root}/`;
    this.#disk = {
      fs,
      root,
      prefix,
      full: this.durability === 'full',
      readOnly: this.readOnly,
      env: this.env,
      flags: openFlags(fs),
      pace: new Pace(),
      changed:
        hints === undefined
          ? () => {}
          : (folder) => hints.emit(folder === '' ? root : prefix + folder),
    };
  }

  /**
   * True when the folder is there and no link stands in its chain below the root, false when it
   * is missing; '' is the root. Reads check the last two parts: call this once an operation.
   */
  enter(folder: string, isOftenMissing = false): boolean {
    return (isOftenMissing ? enterIfThere : enterFolder)(this.#disk, folder);
  }

  hasFolder(folder: string): boolean {
    return lookAt(this.#disk, folder)?.isDirectory() === true;
  }

  /** The absolute path of a file or folder; '' is the root. Checks the form, touches no disk. */
  locate(path: string): string {
    return absoluteFolder(this.#disk, path);
  }

  /** Resolves the links of an absolute path, as far as it exists. Throws the file system's error. */
  realPath(path: string): string {
    return realPathSoFar(this.fs, path);
  }

  /** A store on the same file system over another folder; undefined where there is none. */
  openBeside(folder: string): FileStore | undefined {
    if (!this.given.existsSync(folder)) return undefined;
    const { given: fs, durability, readOnly, env } = this;
    return new FileStore({ root: folder, fs, durability, readOnly, env });
  }

  /** What the file system under the root can do, found out by trying in `.dirspace/`. */
  probe(): Capabilities {
    return probeCapabilities(this.#disk);
  }

  /** A miss costs ten times a `head`: where one is likely, call `head` first. */
  get(path: string, entered = false, expected = -1): Awaitable<Uint8Array | undefined> {
    const fd = this.#openToRead(path, entered);
    if (fd === undefined) return undefined;
    const { fs } = this;
    const scratch = this.#scratch;
    let handedOver = false;
    try {
      let filled = 0;
      for (;;) {
        const count = fs.readSync(fd, scratch, filled, scratch.byteLength - filled, null);
        if (count === 0) return scratch.slice(0, filled);
        filled += count;
        if (filled === expected) return scratch.slice(0, filled);
        if (filled === scratch.byteLength) break;
      }
      handedOver = true;
      return readWhole(this.#reader(path, fd));
    } catch (error) {
      throw storeError(error, 'read', path);
    } finally {
      if (!handedOver) closeQuietly(fs, fd);
    }
  }

  getHint(path: string): Uint8Array | undefined {
    try {
      // Most tables have none, and an exception costs several times the look.
      if (!this.fs.existsSync(absolutePath(this.#disk, path))) return undefined;
      const fd = this.#openToRead(path, false);
      if (fd === undefined) return undefined;
      try {
        const found = new Uint8Array(LARGEST_HINT + 1);
        const count = this.fs.readSync(fd, found, 0, found.byteLength, null);
        return count > LARGEST_HINT ? undefined : found.subarray(0, count);
      } finally {
        closeQuietly(this.fs, fd);
      }
    } catch (error) {
      if (isSystemFailure(error) || (error as Error).name === 'DirspaceError') return undefined;
      throw error;
    }
  }

  /** Undefined for anything but a file. */
  head(path: string): ObjectFacts | undefined {
    absolutePath(this.#disk, path);
    const stat = lookAt(this.#disk, path);
    if (stat === undefined) return undefined;
    if (stat.isSymbolicLink()) throw symbolicLink(path);
    if (!stat.isFile()) return undefined;
    const settled = this.#changes.isSettled(stat, stat.mtimeMs);
    return { size: stat.size, modified: stat.mtimeMs, inode: stat.ino, settled };
  }

  folderFacts(folder: string, entered = false): FolderFacts | undefined {
    if (!entered && !enterFolder(this.#disk, folder)) return undefined;
    const stat = lookAt(this.#disk, folder);
    if (stat?.isSymbolicLink()) throw symbolicLink(folder);
    if (!stat?.isDirectory()) return undefined;
    // The change time: unlike the modification time, programs that copy files cannot set it.
    const modified = stat.ctimeMs;
    const settled = isNodeFileSystem(this.given) && this.#changes.isSettled(stat, modified);
    return { size: stat.size, modified, inode: stat.ino, settled };
  }

  open(path: string): ObjectReader | undefined {
    const fd = this.#openToRead(path, false);
    return fd === undefined ? undefined : this.#reader(path, fd);
  }

  /** '' is the root. Temporary files are listed too. */
  list(folder: string, entered = false): Entry[] | undefined {
    if (!entered && !enterIfThere(this.#disk, folder)) return undefined;
    let found: ReturnType<typeof readFolder>;
    try {
      found = readFolder(this.fs, absoluteFolder(this.#disk, folder));
    } catch (error) {
      if (tellsMissing(error)) return undefined;
      throw storeError(error, 'list', folder);
    }
    return found.map((entry) => ({
      name: String(entry.name),
      kind: entry.isFile() ? 'file' : entry.isDirectory() ? 'folder' : 'other',
    }));
  }

  async putIfAbsent(
    path: string,
    bytes: Uint8Array,
    after?: Promise<unknown>,
    via?: string,
  ): Promise<boolean> {
    this.#mustWrite('write', path);
    return atomic.putIfAbsent(this.#disk, path, bytes, after, via);
  }

  async link(from: string, to: string): Promise<boolean> {
    this.#mustWrite('write', to);
    return atomic.linkObject(this.#disk, from, to);
  }

  async share(from: string, to: string, copied = false): Promise<boolean> {
    this.#mustWrite('write', to);
    const named = copied ? undefined : atomic.nameAgain(this.#disk, from, to);
    return named ?? this.#copy(from, to);
  }

  async #copy(from: string, to: string): Promise<boolean> {
    const source = this.enter(parentFolder(from)) ? this.open(from) : undefined;
    if (source === undefined) return false;
    try {
      const target = this.create(to);
      try {
        for (let at = 0; at < source.size; at += COPIED_AT_ONCE) {
          const length = Math.min(COPIED_AT_ONCE, source.size - at);
          await target.write([await source.read(at, length)]);
        }
        await target.finish();
        return true;
      } catch (error) {
        await target.abort();
        throw error;
      }
    } finally {
      source.close();
    }
  }

  async put(path: string, bytes: Uint8Array, via?: string): Promise<void> {
    this.#mustWrite('write', path);
    return atomic.put(this.#disk, path, bytes, via);
  }

  putHint(path: string, bytes: Uint8Array): void {
    this.#mustWrite('write', path);
    atomic.putHint(this.#disk, path, bytes);
  }

  mark(path: string): void {
    this.#mustWrite('write', path);
    const absolute = absolutePath(this.#disk, path);
    requireFolder(this.#disk, parentFolder(path));
    try {
      this.fs.closeSync(this.fs.openSync(absolute, this.#disk.flags.createNew, 0o600));
    } catch (error) {
      if (errnoOf(error) === 'ENOENT') throw missingFolder(parentFolder(path), error);
      throw storeError(error, 'write', path);
    }
  }

  /**
   * Makes the object's own folder if that alone is missing. The folder above it must be there: a
   * writer that outlived its table must not bring back the place where the table was.
   */
  create(path: string, entered = false): ObjectWriter {
    this.#mustWrite('write', path);
    const disk = this.#disk;
    const absolute = absolutePath(disk, path);
    const folder = parentFolder(path);
    // A new folder is common here, and an exception costs ten times the look.
    const stands = entered
      ? this.hasFolder(folder)
      : disk.fs.existsSync(absoluteFolder(disk, folder)) && enterFolder(disk, folder);
    if (!stands) {
      if (!entered) requireFolder(disk, parentFolder(folder));
      if (folders.makeFolder(disk, folder) && disk.full) this.#unflushed.add(folder);
    }
    try {
      const fd = disk.fs.openSync(absolute, disk.flags.createNew, 0o600);
      return new FileWriter(disk, path, absolute, fd, () => disk.changed(folder));
    } catch (error) {
      if (errnoOf(error) === 'ENOENT') throw missingFolder(folder, error);
      throw storeError(error, 'create', path);
    }
  }

  delete(path: string, via?: string): boolean {
    this.#mustWrite('delete', path);
    return atomic.remove(this.#disk, path, via);
  }

  async createFolder(folder: string, within?: string): Promise<void> {
    this.#mustWrite('make the folder', folder);
    return folders.createFolder(this.#disk, folder, within);
  }

  /** Flushes the folders; where `create` made one, its parent too, so that its name is durable. */
  async syncFolders(list: readonly string[]): Promise<void> {
    const made = list.filter((folder) => this.#unflushed.has(folder));
    await folders.syncFolders(this.#disk, [...list, ...made.map(parentFolder)]);
    for (const folder of made) this.#unflushed.delete(folder);
  }

  async moveFolder(from: string, to: string): Promise<'moved' | 'taken' | 'missing'> {
    this.#mustWrite('move', from);
    return folders.moveFolder(this.#disk, from, to);
  }

  async renameFile(from: string, to: string): Promise<boolean> {
    this.#mustWrite('rename', from);
    return atomic.renameFile(this.#disk, from, to);
  }

  deleteEmptyFolder(folder: string): boolean {
    this.#mustWrite('remove', folder);
    return folders.deleteEmptyFolder(this.#disk, folder);
  }

  alias(path: string, folder: string): boolean {
    return aliasFolder(this.#disk, path, folder);
  }

  findAlias(path: string): FolderAlias | undefined {
    return findAlias(this.#disk, path);
  }

  async deleteFolder(folder: string, pause?: () => Promise<void>): Promise<void> {
    this.#mustWrite('remove', folder);
    return folders.deleteFolder(this.#disk, folder, pause);
  }

  #openToRead(path: string, entered: boolean): number | undefined {
    const absolute = absolutePath(this.#disk, path);
    const folder = parentFolder(path);
    if (!entered && folder !== '' && lookAt(this.#disk, folder)?.isSymbolicLink()) {
      throw symbolicLink(folder);
    }
    try {
      return this.fs.openSync(absolute, this.#disk.flags.read);
    } catch (error) {
      if (tellsMissing(error)) return undefined;
      throw storeError(error, 'open', path);
    }
  }

  #reader(path: string, fd: number): FileReader {
    try {
      const stat = this.fs.fstatSync(fd);
      if (stat.isFile()) return new FileReader(this.#disk, path, fd, stat.size);
    } catch (error) {
      closeQuietly(this.fs, fd);
      throw storeError(error, 'open', path);
    }
    closeQuietly(this.fs, fd);
    throw new DirspaceError('InvalidInput', `\`${path}\` is not a file`, { details: { path } });
  }

  #mustWrite(action: string, path: string): void {
    if (!this.readOnly) return;
    throw new DirspaceError(
      'ReadOnly',
      `cannot ${action} \`${path}\`: the catalog was opened read-only`,
      { details: { path } },
    );
  }
}

async function readWhole(reader: FileReader): Promise<Uint8Array> {
  try {
    return await reader.read(0, reader.size);
  } finally {
    reader.close();
  }
}

const scratches = new WeakMap<object, Uint8Array>();

/** Synchronous reads never overlap, so all stores over one file system share the buffer. */
function scratchOf(fs: FileSystem): Uint8Array {
  let scratch = scratches.get(fs);
  if (scratch === undefined) {
    scratch = new Uint8Array(SMALL);
    scratches.set(fs, scratch);
  }
  return scratch;
}
