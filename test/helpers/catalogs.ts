/** Directory catalogs for tests: on the real disk or in memory, with their files in reach. */
import nodeFs from 'node:fs';
import {
  type DirectoryNamespace,
  type DirectoryOptions,
  openDirectoryNamespace,
} from '../../src/directory/directory-namespace.ts';
import type { Subject } from '../suites/namespace/context.ts';
import { filesOf } from './catalog-files.ts';
import { memoryFs, type TestFs } from './memory-fs.ts';
import { temporaryFolder } from './temporary.ts';

export { filesOf, memoryFs, type TestFs };

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
