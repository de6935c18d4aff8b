/**
 * Defines `FileSystem`, the part of node:fs that the store calls; node:fs and the `fs` of memfs
 * have it. `checkFileSystem` throws InvalidInput for an object that lacks one of the required
 * methods or the constants. `errnoOf` returns the code of a failed call, or undefined. `completed`
 * makes a promise of a call with a callback, `readFolder` lists a folder, and `canonicalPath`
 * resolves links. `openFlags` gives the flags by which files are opened without following a link.
 */

import { DirspaceError, isError } from '../../errors.ts';

/** What `stat` tells of a file: memfs and `node:fs` tell more. */
export interface FileStat {
  readonly size: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly ino: number;
  readonly dev: number;
  readonly nlink: number;
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}

/** Only `code` tells errors apart; messages hold absolute paths and are never shown. */
export interface SystemError extends Error {
  readonly code?: string | undefined;
}

/** An entry of a listed folder, its kind known. */
export interface DirectoryEntry {
  readonly name: string | Uint8Array;
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}

type Done = (error?: SystemError | null) => void;
type Answer<T> = (error?: SystemError | null, value?: T) => void;

/** The methods of `node:fs` that are called: memfs has them, and a wrapper may. */
export interface FileSystem {
  readonly constants: { readonly [name: string]: unknown };

  openSync(path: string, flags: number | string, mode?: number): number;
  closeSync(fd: number): void;
  readSync(
    fd: number,
    buffer: Uint8Array,
    offset: number,
    length: number,
    position: number | null,
  ): number;
  writeSync(
    fd: number,
    buffer: Uint8Array,
    offset: number,
    length: number,
    position: number | null,
  ): number;
  ftruncateSync(fd: number, length: number): void;
  fstatSync(fd: number): FileStat;
  statSync(path: string): FileStat;
  lstatSync(path: string): FileStat;
  lstatSync(path: string, options: { throwIfNoEntry: false }): FileStat | undefined;
  readdirSync(
    path: string,
    options: { withFileTypes: true },
  ): readonly (DirectoryEntry | string | Uint8Array)[];
  mkdirSync(path: string, options: { recursive?: boolean; mode?: number }): unknown;
  renameSync(from: string, to: string): void;
  linkSync(existing: string, added: string): void;
  unlinkSync(path: string): void;
  /** Left out where there are no symbolic links. */
  symlinkSync?(target: string, path: string): void;
  readlinkSync?(path: string): string | Uint8Array;
  rmdirSync(path: string): void;
  /** Tells the kind of file system by the number that Linux gives it. Left out where unknown. */
  statfsSync?(path: string): { readonly type: number };
  utimes(path: string, atime: Date, mtime: Date, callback: Done): void;
  existsSync(path: string): boolean;
  realpathSync: {
    (path: string): string | Uint8Array;
    native?: (path: string) => string | Uint8Array;
  };

  read(
    fd: number,
    buffer: Uint8Array,
    offset: number,
    length: number,
    position: number,
    callback: Answer<number>,
  ): void;
  writev(
    fd: number,
    buffers: Uint8Array[],
    position: number | null,
    callback: Answer<number>,
  ): void;
  fsync(fd: number, callback: Done): void;
  fsyncSync(fd: number): void;
  fdatasync(fd: number, callback: Done): void;
}

const METHODS = [
  'openSync',
  'closeSync',
  'readSync',
  'writeSync',
  'ftruncateSync',
  'fstatSync',
  'lstatSync',
  'statSync',
  'readdirSync',
  'mkdirSync',
  'rmdirSync',
  'renameSync',
  'linkSync',
  'unlinkSync',
  'existsSync',
  'realpathSync',
  'read',
  'writev',
  'fsync',
  'fsyncSync',
  'fdatasync',
  'utimes',
] as const satisfies readonly (keyof FileSystem)[];

/** @throws InvalidInput for what is not of the shape of `node:fs`, such as a memfs Volume by itself */
export function checkFileSystem(fs: FileSystem): void {
  const missing: string[] = METHODS.filter((name) => typeof fs[name] !== 'function');
  if (typeof fs.constants !== 'object' || fs.constants === null) missing.push('constants');
  if (missing.length === 0) return;
  throw new DirspaceError(
    'InvalidInput',
    `The option fs has no ${missing.slice(0, 6).join(', ')}${missing.length > 6 ? ', ...' : ''}; give node:fs or an object of its shape, such as memfs's "fs" or what its createFsFromVolume answers.`,
    { details: { missing } },
  );
}

/** The entries of a folder. Asked with file types, every file system answers objects. */
export function readFolder(fs: FileSystem, absolute: string): readonly DirectoryEntry[] {
  return fs.readdirSync(absolute, { withFileTypes: true }) as readonly DirectoryEntry[];
}

/** Resolves every link in one call. */
export function canonicalPath(fs: FileSystem, path: string): string {
  return String((fs.realpathSync.native ?? fs.realpathSync)(path));
}

/** Awaits one callback-style call. */
export function completed<T>(start: (callback: Answer<T>) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    start((error, value) => {
      if (error) reject(error);
      else resolve(value as T);
    });
  });
}

export interface OpenFlags {
  /** Never through a symbolic link, and never waiting for the other end of a named pipe. */
  readonly read: number;
  readonly createNew: number;
  readonly overwrite: number;
  readonly folder: number;
}

/** A flag the platform lacks counts as zero. */
export function openFlags(fs: FileSystem): OpenFlags {
  const flag = (name: string): number => {
    const value = fs.constants[name];
    return typeof value === 'number' ? value : 0;
  };
  const safe = flag('O_NOFOLLOW') | flag('O_NONBLOCK');
  return {
    read: flag('O_RDONLY') | safe,
    createNew: flag('O_WRONLY') | flag('O_CREAT') | flag('O_EXCL') | safe,
    overwrite: flag('O_WRONLY') | flag('O_CREAT') | safe,
    folder: flag('O_RDONLY') | flag('O_DIRECTORY') | flag('O_NOFOLLOW'),
  };
}

/** The errno name of a failed call, or undefined for anything that is not one. */
export function errnoOf(error: unknown): string | undefined {
  if (!isError(error)) return undefined;
  const { code } = error as SystemError;
  return typeof code === 'string' ? code : undefined;
}
