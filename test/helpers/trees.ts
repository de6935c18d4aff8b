/** Catalogs as values: the paths of one with their bytes, to be laid down as often as a test needs. */
import type nodeFs from 'node:fs';
import { filesOf } from './catalog-files.ts';
import { memoryFs, type TestFs } from './memory-fs.ts';

/** Every path of a catalog with its bytes; folders, which come first, have none. */
export type Tree = readonly (readonly [path: string, bytes: Uint8Array | undefined])[];

/** What `root` holds; it must have no links. */
export function treeOf(fs: typeof nodeFs, root: string): Tree {
  const files = filesOf(fs, root);
  return files.all().map((path) => [path, path.endsWith('/') ? undefined : files.read(path)]);
}

/** A tree on any file system; `root` must be there. */
export function plant(fs: typeof nodeFs, root: string, tree: Tree): void {
  for (const [path, bytes] of tree) {
    if (bytes === undefined) fs.mkdirSync(`${root}/${path}`);
    else fs.writeFileSync(`${root}/${path}`, bytes);
  }
}

/** A fresh file system in memory that holds the tree. */
export function grow(tree: Tree, root: string): TestFs {
  const fs = memoryFs();
  fs.mkdirSync(root, { recursive: true });
  plant(fs, root, tree);
  return fs;
}
