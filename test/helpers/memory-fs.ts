/** Fresh file systems in memory. */
import type nodeFs from 'node:fs';
import { createFsFromVolume, Volume } from 'memfs';
import type { FileSystem } from '../../src/store/disk/file-system.ts';

// memfs asks for the user at every step of a path, which is a system call: a tenth of its time.
for (const name of ['getuid', 'getgid'] as const) {
  const id = process[name]?.();
  if (id !== undefined) process[name] = () => id;
}

/** What the engine takes, with the rest of node:fs to look behind it. */
export type TestFs = FileSystem & typeof nodeFs;

export const memoryFs = (): TestFs => createFsFromVolume(new Volume()) as unknown as TestFs;
