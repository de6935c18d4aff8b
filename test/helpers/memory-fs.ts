/** Fresh file systems in memory, and what lies in a catalog on any of them. */
import type nodeFs from 'node:fs';
import { createFsFromVolume, Volume } from 'memfs';
import type { FileSystem } from '../../src/store/file-system.ts';
import type { CatalogFiles } from '../suites/namespace/context.ts';

/** What the engine takes, with the rest of node:fs to look behind it. */
export type TestFs = FileSystem & typeof nodeFs;

export const memoryFs = (): TestFs => createFsFromVolume(new Volume()) as unknown as TestFs;

export function filesOf(fs: typeof nodeFs, root: string): CatalogFiles {
  const walk = (folder: string): string[] =>
    fs.readdirSync(`${root}/${folder}`, { withFileTypes: true }).flatMap((entry) => {
      const path = `${folder}${String(entry.name)}`;
      return entry.isDirectory() ? [`${path}/`, ...walk(`${path}/`)] : [path];
    });
  return {
    root,
    read: (path) => new Uint8Array(fs.readFileSync(`${root}/${path}`)),
    write: (path, bytes) => fs.writeFileSync(`${root}/${path}`, bytes),
    link: (target, path) => fs.symlinkSync(target, `${root}/${path}`),
    all: () => walk('').sort(),
  };
}
