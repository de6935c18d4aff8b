/** Whole small files of a simulated disk. */
import type { FileSystem } from '../../src/store/disk/file-system.ts';

/** Bigger than any manifest of a simulation. */
const MOST_BYTES = 4 * 1024 * 1024;

export function readAll(fs: FileSystem, path: string): Uint8Array {
  const fd = fs.openSync(path, 'r');
  try {
    const { size } = fs.fstatSync(fd);
    if (size > MOST_BYTES) throw new Error(`${path} has ${size} bytes`);
    const bytes = new Uint8Array(size);
    for (let at = 0; at < size; ) at += fs.readSync(fd, bytes, at, size - at, at);
    return bytes;
  } finally {
    fs.closeSync(fd);
  }
}
