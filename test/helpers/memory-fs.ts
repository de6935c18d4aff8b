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

/** Another file system with the same folders and files, for tests that begin with the same catalog. */
export function copyOf(fs: TestFs): TestFs {
  const copied: typeof nodeFs = fs;
  const copy: typeof nodeFs = memoryFs();
  const walk = (folder: string): void => {
    for (const entry of copied.readdirSync(folder, { withFileTypes: true })) {
      const path = `${folder === '/' ? '' : folder}/${entry.name}`;
      const { atime, mtime } = copied.statSync(path);
      if (entry.isDirectory()) {
        copy.mkdirSync(path);
        walk(path);
      } else copy.writeFileSync(path, copied.readFileSync(path));
      copy.utimesSync(path, atime, mtime);
    }
  };
  walk('/');
  return copy as TestFs;
}

export const memoryFs = (): TestFs => createFsFromVolume(new Volume()) as unknown as TestFs;
