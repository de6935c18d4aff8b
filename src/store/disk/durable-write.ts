/**
 * Writes bytes to open files (`writeSmall` synchronously, `writeAll` through the thread pool), and
 * flushes files and folders to disk. Flushes go through the thread pool, because a synchronous one
 * blocks the process; only `flushFolderSync`, for the time before a catalog is open, is
 * synchronous. Folders are not flushed on Windows, or if the file system refuses it. Most failures
 * are the system's own errors; `flushFolders` throws those of store-error.ts. `closeQuietly` and
 * `unlinkQuietly` ignore errors.
 */
import { joined } from '../../bytes.ts';
import { type Disk, SMALL } from './disk.ts';
import { completed, errnoOf, type FileSystem } from './file-system.ts';
import { absoluteFolder } from './safe-path.ts';
import { storeError } from './store-error.ts';

/** The most buffers one vectored write may carry (IOV_MAX). */
const MOST_VECTORS = 1024;
/** Buffers below this are copied together: a vector costs more than the copy. */
const TINY = 4096;

function noProgress(): Error {
  return Object.assign(new Error('a write made no progress'), { code: 'EIO' });
}

export function writeSmall(fs: FileSystem, fd: number, bytes: Uint8Array): void {
  let at = 0;
  while (at < bytes.byteLength) {
    const written = fs.writeSync(fd, bytes, at, bytes.byteLength - at, null);
    if (!(written > 0)) throw noProgress();
    at += written;
  }
}

/** Appends the buffers at the descriptor's position. */
export async function writeAll(
  fs: FileSystem,
  fd: number,
  buffers: readonly Uint8Array[],
): Promise<void> {
  let pending = joinTiny(buffers);
  while (pending.length > 0) {
    const batch = pending.slice(0, MOST_VECTORS);
    const written = await completed<number>((done) => fs.writev(fd, batch, null, done));
    if (!(written > 0)) throw noProgress();
    pending = dropWritten(pending, written);
  }
}

function joinTiny(buffers: readonly Uint8Array[]): Uint8Array[] {
  const out: Uint8Array[] = [];
  let run: Uint8Array[] = [];
  let runLength = 0;
  const flush = (): void => {
    if (run.length > 0) out.push(joined(run));
    run = [];
    runLength = 0;
  };
  for (const buffer of buffers) {
    if (buffer.byteLength === 0) continue;
    if (buffer.byteLength >= TINY) {
      flush();
      out.push(buffer);
      continue;
    }
    if (runLength + buffer.byteLength > SMALL) flush();
    run.push(buffer);
    runLength += buffer.byteLength;
  }
  flush();
  return out;
}

function dropWritten(buffers: Uint8Array[], written: number): Uint8Array[] {
  let left = written;
  let index = 0;
  while (index < buffers.length && left >= (buffers[index] as Uint8Array).byteLength) {
    left -= (buffers[index] as Uint8Array).byteLength;
    index++;
  }
  const rest = buffers.slice(index);
  if (left > 0) rest[0] = (rest[0] as Uint8Array).subarray(left);
  return rest;
}

/** Contents and size reach the disk. */
export function flushFile(fs: FileSystem, fd: number): Promise<void> {
  return completed<void>((done) => fs.fdatasync(fd, done));
}

/**
 * The names inside a folder reach the disk. Windows has no such call and some file systems refuse
 * it on folders: there the names are as durable as the platform makes them. `begins` is called right
 * before the disk is asked: an error after that leaves it open what is on the disk, for good.
 */
export async function flushFolder(
  disk: Disk,
  folder: string,
  begins: () => void = () => {},
): Promise<void> {
  if (process.platform === 'win32') return;
  const { fs } = disk;
  const fd = fs.openSync(absoluteFolder(disk, folder), disk.flags.folder);
  try {
    begins();
    await completed<void>((done) => fs.fsync(fd, done));
  } catch (error) {
    if (!isRefusal(error)) throw error;
  } finally {
    closeQuietly(fs, fd);
  }
}

/** For the one moment before anything else goes on in a root. */
export function flushFolderSync(fs: FileSystem, absolute: string): void {
  if (process.platform === 'win32') return;
  const fd = fs.openSync(absolute, 'r');
  try {
    fs.fsyncSync(fd);
  } catch (error) {
    if (!isRefusal(error)) throw error;
  } finally {
    closeQuietly(fs, fd);
  }
}

function isRefusal(error: unknown): boolean {
  const errno = errnoOf(error);
  return errno === 'EINVAL' || errno === 'ENOTSUP';
}

/** Flushes the folders side by side, each once, and fails only when all have settled. */
export async function flushFolders(disk: Disk, folders: readonly string[]): Promise<void> {
  const results = await Promise.allSettled(
    [...new Set(folders)].map((folder) =>
      flushFolder(disk, folder).catch((error: unknown) => {
        throw storeError(error, 'flush', folder);
      }),
    ),
  );
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}

export function closeQuietly(fs: FileSystem, fd: number): void {
  try {
    fs.closeSync(fd);
  } catch {
    // The descriptor is gone either way, and what mattered was flushed before.
  }
}

export function unlinkQuietly(fs: FileSystem, absolute: string): void {
  try {
    fs.unlinkSync(absolute);
  } catch {
    // A leftover of a known kind: cleanup sweeps it.
  }
}
