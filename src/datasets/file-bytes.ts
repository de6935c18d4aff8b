/**
 * `openLanceBytes` opens one file of a Lance dataset for reading by ranges; its caller closes it. A
 * read past the end returns fewer bytes. A missing file, and anything but a regular file, throws
 * Corrupt with the path. `wholeFile` reads a whole file; it returns undefined for a missing one and
 * throws UnsupportedFormat for one over its limit. Other failures of the file system are thrown as
 * they are.
 */
import { type FileHandle, open, stat } from 'node:fs/promises';
import { DirspaceError } from '../errors.ts';
import { damaged, type LanceBytes } from '../format/index.ts';
import { tellsMissing } from '../store/index.ts';

/** Larger single reads than this make no file faster. */
const PIECE_BYTES = 1 << 22;

/** An open file; closed by who opened it. */
export interface OpenLanceFile extends LanceBytes {
  close(): Promise<void>;
}

/**
 * @param onRead told of bytes that were read
 * @throws Corrupt where a file that the dataset names is missing or is no file
 */
export async function openLanceBytes(
  path: string,
  onRead: (bytes: number) => void = () => {},
): Promise<OpenLanceFile> {
  let handle: FileHandle | undefined;
  try {
    // A named pipe would wait for its writer.
    if (!(await stat(path)).isFile()) throw damaged(path, 'it is no regular file');
    handle = await open(path, 'r');
    const { size } = await handle.stat();
    const { read } = new Reads(handle, onRead);
    return { size, read, close: () => (handle as FileHandle).close() };
  } catch (error) {
    await handle?.close();
    if (tellsMissing(error)) throw damaged(path, 'it is missing');
    throw error;
  }
}

/** A whole file of at most `most` bytes; undefined where there is none. */
export async function wholeFile(path: string, most: number): Promise<Uint8Array | undefined> {
  try {
    if (!(await stat(path)).isFile()) throw damaged(path, 'it is no regular file');
  } catch (error) {
    if (tellsMissing(error)) return undefined;
    throw error;
  }
  const file = await openLanceBytes(path);
  try {
    if (file.size > most) {
      throw new DirspaceError(
        'UnsupportedFormat',
        `The Lance file ${path} has ${file.size} bytes; at most ${most} are read.`,
        { details: { file: path } },
      );
    }
    return await file.read(0, file.size);
  } finally {
    await file.close();
  }
}

class Reads {
  readonly #handle: FileHandle;
  readonly #onRead: (bytes: number) => void;

  constructor(handle: FileHandle, onRead: (bytes: number) => void) {
    this.#handle = handle;
    this.#onRead = onRead;
  }

  /** Shorter where the file has become shorter. */
  readonly read = async (from: number, to: number): Promise<Uint8Array> => {
    const bytes = new Uint8Array(to - from);
    let filled = 0;
    while (filled < bytes.length) {
      const more = Math.min(bytes.length - filled, PIECE_BYTES);
      const { bytesRead } = await this.#handle.read(bytes, filled, more, from + filled);
      if (bytesRead === 0) return bytes.subarray(0, filled);
      filled += bytesRead;
      this.#onRead(bytesRead);
    }
    return bytes;
  };
}
