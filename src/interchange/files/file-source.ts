/**
 * `fileSource` opens a file, a named pipe or a device of the user as a `ByteSource`. A missing file
 * and a folder throw InvalidInput. So does a file that changes or is removed while ranges of it are
 * read, because the rows would come from two files. Reading in `pieces` does not look for changes.
 */
import { createReadStream, open, type Stats } from 'node:fs';
import { open as openHandle, stat } from 'node:fs/promises';
import { Socket } from 'node:net';
import { promisify } from 'node:util';
import type { FileBytes } from '../../ipc/index.ts';
import { type ByteSource, PIECE_BYTES } from './byte-source.ts';
import { fileProblem } from './file-problem.ts';

/** @throws InvalidInput for a path where no file is, or a folder */
export async function fileSource(
  path: string,
  signal: AbortSignal | undefined,
): Promise<ByteSource> {
  const found = await stat(path).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== 'ENOENT' && cause.code !== 'ENOTDIR') throw cause;
    const place = { file: path, missing: true } as const;
    throw fileProblem(`There is no file ${JSON.stringify(path)}.`, place, cause);
  });
  return openedFile(path, found, signal);
}

/** The same of a file that was looked at already. @throws InvalidInput for a folder */
function openedFile(path: string, found: Stats, signal: AbortSignal | undefined): ByteSource {
  if (found.isDirectory()) {
    throw fileProblem(
      `${JSON.stringify(path)} is a folder, not a file, and no Lance dataset: it has no folder _versions. Name its files by a pattern, such as ${JSON.stringify(`${path.replace(/[\\/]+$/, '')}/*.csv`)}.`,
      { file: path },
    );
  }
  let read = 0;
  const isFile = found.isFile();
  const count = (bytes: number): void => {
    read += bytes;
  };
  return {
    name: path,
    size: isFile ? found.size : undefined,
    isRepeatable: isFile,
    async *pieces() {
      read = 0;
      for await (const piece of found.isFIFO() ? pipe(path, signal) : fileStream(path, signal)) {
        read += piece.length;
        yield piece;
      }
    },
    ranges: isFile ? fileRanges(path, found, count, signal) : undefined,
    bytesRead: () => read,
  };
}

/** Most bytes that are read of a file at once where no message is longer. */
const RANGE_BYTES = 1 << 22;

function fileRanges(
  path: string,
  found: Stats,
  count: (bytes: number) => void,
  signal: AbortSignal | undefined,
): FileBytes {
  const read = async (from: number, to: number): Promise<Uint8Array> => {
    signal?.throwIfAborted();
    const handle = await openHandle(path, 'r').catch((cause: NodeJS.ErrnoException) => {
      if (cause.code !== 'ENOENT') throw cause;
      const message = `${JSON.stringify(path)} was removed while it was read.`;
      throw fileProblem(message, { file: path }, cause);
    });
    try {
      const bytes = new Uint8Array(to - from);
      let filled = 0;
      while (filled < bytes.length) {
        const { bytesRead } = await handle.read(
          bytes,
          filled,
          bytes.length - filled,
          from + filled,
        );
        if (bytesRead === 0) break;
        filled += bytesRead;
      }
      // After the bytes were read: a change before and one meanwhile are both seen.
      const { dev, ino, size, mtimeMs } = await handle.stat();
      const isSame = dev === found.dev && ino === found.ino && size === found.size;
      if (!isSame || mtimeMs !== found.mtimeMs) {
        const message = `${JSON.stringify(path)} was changed while it was read.`;
        throw fileProblem(message, { file: path });
      }
      count(filled);
      return bytes.subarray(0, filled);
    } finally {
      await handle.close();
    }
  };
  return { size: found.size, read, piece: RANGE_BYTES };
}

const fileStream = (path: string, signal: AbortSignal | undefined): AsyncIterable<Uint8Array> =>
  createReadStream(path, { highWaterMark: PIECE_BYTES, ...(signal && { signal }) });

/** A read of the file system that waits for a writer can be ended by nothing, not even by exiting. */
async function* pipe(path: string, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
  const fd = await promisify(open)(path, 'r');
  const socket = new Socket({ fd, readable: true, writable: false, ...(signal && { signal }) });
  try {
    yield* socket as AsyncIterable<Uint8Array>;
  } finally {
    socket.destroy();
  }
}
