/**
 * `spooled` copies the bytes of a stream into a temporary file, for formats that are read from
 * their end. Except on Windows, the file is unlinked as soon as it is open, so that it disappears
 * even if the process is killed. The caller closes the result, which removes the file.
 */
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FileBytes } from '../../ipc/index.ts';
import type { ByteSource } from './byte-source.ts';

const RANGE_BYTES = 1 << 22;

export interface Spool {
  readonly ranges: FileBytes;
  close(): Promise<void>;
}

export async function spooled(source: ByteSource, signal: AbortSignal | undefined): Promise<Spool> {
  const folder = await mkdtemp(join(tmpdir(), 'dirspace-'));
  const path = join(folder, 'spool');
  let handle: Awaited<ReturnType<typeof open>> | undefined;
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  const close = async (): Promise<void> => {
    const open = handle;
    handle = undefined;
    await open?.close();
    await remove();
  };
  try {
    handle = await open(path, 'wx+', 0o600);
    const file = handle;
    // Windows removes no file that is open.
    if (process.platform !== 'win32') await remove();
    let size = 0;
    for await (const piece of source.pieces()) {
      signal?.throwIfAborted();
      await file.writeFile(piece);
      size += piece.length;
    }
    const read = async (from: number, to: number): Promise<Uint8Array> => {
      signal?.throwIfAborted();
      const bytes = new Uint8Array(to - from);
      let filled = 0;
      while (filled < bytes.length) {
        const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, from + filled);
        if (bytesRead === 0) break;
        filled += bytesRead;
      }
      return bytes.subarray(0, filled);
    };
    return { ranges: { size, read, piece: RANGE_BYTES }, close };
  } catch (error) {
    await close();
    throw error;
  }
}
