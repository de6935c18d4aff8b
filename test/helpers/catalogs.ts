/** Directory catalogs for tests: on the real disk or in memory, with their files in reach. */
import nodeFs from 'node:fs';
import { createFsFromVolume, Volume } from 'memfs';
import {
  type DirectoryNamespace,
  type DirectoryOptions,
  openDirectoryNamespace,
} from '../../src/directory/directory-namespace.ts';
import type { FileSystem } from '../../src/store/file-store.ts';
import type { CatalogFiles, Subject } from '../suites/namespace/context.ts';
import { temporaryFolder } from './temporary.ts';

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

type Options = Omit<DirectoryOptions, 'root' | 'fs'>;

/** A fresh catalog as the namespace suite wants it. */
export async function directorySubject(
  place: 'disk' | 'memory',
  options: Options = {},
): Promise<Subject> {
  const fs = place === 'disk' ? undefined : memoryFs();
  const root = place === 'disk' ? temporaryFolder() : '/some/catalog';
  const opened: DirectoryNamespace[] = [];
  const open = async (more: Options = {}): Promise<DirectoryNamespace> => {
    const namespace = await openDirectoryNamespace({ root, fs, ...options, ...more });
    opened.push(namespace);
    return namespace;
  };
  return {
    namespace: await open(),
    files: filesOf(fs ?? nodeFs, root),
    managed: options.managedVersioning ?? false,
    reopen: open,
    close: async () => {
      for (const namespace of opened) await namespace.close();
    },
  };
}
