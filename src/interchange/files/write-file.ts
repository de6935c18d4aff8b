/**
 * `writeFile` writes pieces of bytes as one file. It writes a staging file beside the place,
 * flushes it and renames it, so that a failure or an abort leaves the place as it was. It writes to
 * pipes and devices directly. A path that is a folder, lies in a folder that does not exist, or
 * lies inside a catalog throws InvalidInput, as does a pipe without a reader. `writeStream` writes
 * the pieces to a stream of the caller, which is ended after them, or destroyed if something fails.
 */
import { constants, type Stats } from 'node:fs';
import { type FileHandle, open, realpath, rename, rm, stat } from 'node:fs/promises';
import { Socket } from 'node:net';
import { dirname, resolve } from 'node:path';
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileProblem } from './file-problem.ts';

export type Pieces = AsyncIterable<Uint8Array>;

/**
 * A file that is there is replaced, and keeps its permissions; what is no regular file, such as a pipe or
 * `/dev/null`, is written into.
 * @throws InvalidInput for a folder, a place without one, and a place in a catalog
 */
export async function writeFile(
  path: string,
  pieces: () => Pieces,
  signal: AbortSignal | undefined,
): Promise<void> {
  signal?.throwIfAborted();
  const found = await statOf(path);
  if (found?.isDirectory() === true) {
    throw fileProblem(`${JSON.stringify(path)} is a folder; name a file.`, { file: path });
  }
  if (found !== undefined && !found.isFile()) return writeInto(path, found, pieces, signal);
  // A link stays one: what it leads to is replaced.
  const target = found === undefined ? resolve(path) : await realpath(path);
  // Loaded when something is written: most programs and commands only read.
  const { lostOr, refuseInCatalog, removeAbandoned, stagingPath, syncFolder } = await import(
    '../../datasets/index.ts'
  );
  await refuseInCatalog(target, path, 'file');
  const staging = stagingPath(target);
  const mode = found === undefined ? 0o666 : found.mode & 0o777;
  const handle = await open(staging, 'wx', mode).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== 'ENOENT' && cause.code !== 'ENOTDIR') throw cause;
    const message = `${JSON.stringify(path)} cannot be written: there is no folder ${JSON.stringify(dirname(path))}.`;
    throw fileProblem(message, { file: path }, cause);
  });
  try {
    try {
      await removeAbandoned(target, staging);
      if (found !== undefined) await handle.chmod(mode);
      await writeAll(handle, pieces(), signal);
      await handle.sync();
    } finally {
      await handle.close();
    }
    signal?.throwIfAborted();
    await rename(staging, target);
  } catch (error) {
    const told = await lostOr(error, staging, path);
    await rm(staging, { force: true });
    throw told;
  }
  await syncFolder(dirname(target));
}

const statOf = (path: string): Promise<Stats | undefined> =>
  stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw error;
  });

async function writeAll(
  handle: FileHandle,
  pieces: Pieces,
  signal: AbortSignal | undefined,
): Promise<void> {
  for await (const piece of pieces) {
    signal?.throwIfAborted();
    await handle.writeFile(piece);
  }
}

async function writeInto(
  path: string,
  found: Stats,
  pieces: () => Pieces,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (!found.isFIFO()) {
    const handle = await open(path, 'w');
    try {
      return await writeAll(handle, pieces(), signal);
    } finally {
      await handle.close();
    }
  }
  // To wait for a reader would be ended by nothing, not even by the signal.
  const flags = constants.O_WRONLY | constants.O_NONBLOCK;
  const handle = await open(path, flags).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== 'ENXIO') throw cause;
    const message = `${JSON.stringify(path)} is a pipe that nobody reads; start its reader first.`;
    throw fileProblem(message, { file: path }, cause);
  });
  try {
    const pipe = new Socket({ fd: handle.fd, readable: false, writable: true });
    await writeStream(pipe, pieces(), signal);
  } finally {
    // The socket has closed the number of the file already.
    await handle.close().catch(() => {});
  }
}

/** A `WritableStream` of the web, of whatever library. */
export interface WritableStreamLike {
  getWriter(): {
    readonly ready: Promise<unknown>;
    write(bytes: Uint8Array): Promise<unknown>;
    close(): Promise<unknown>;
    abort(reason?: unknown): Promise<unknown>;
  };
}

/** The stream is ended after the last piece, and destroyed where something fails. */
export async function writeStream(
  stream: Writable | WritableStreamLike,
  pieces: Pieces,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (!('getWriter' in stream)) {
    const from = Readable.from(pieces, { objectMode: true, highWaterMark: 1 });
    return pipeline(from, stream, signal === undefined ? {} : { signal });
  }
  const writer = stream.getWriter();
  try {
    for await (const piece of pieces) {
      signal?.throwIfAborted();
      await writer.ready;
      await writer.write(piece);
    }
    await writer.close();
  } catch (error) {
    await writer.abort(error).catch(() => {});
    throw error;
  }
}
