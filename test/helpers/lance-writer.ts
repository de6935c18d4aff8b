/** Puts datasets that pylance wrote where an engine would have written them: its files as they are. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestFs } from './memory-fs.ts';

/** The proofs are built into a folder of their own, from which the fixtures lie further up. */
function fixtures(from: string): string {
  const folder = join(from, 'fixtures/lance-tables');
  return existsSync(folder) ? folder : fixtures(join(from, '..'));
}

/** `v1` and `v2` name their manifests in the two ways; each has three versions and three rows. */
export type Dataset = 'v1' | 'v2';

/** The files of a dataset, by path. */
export function datasetFiles(name: Dataset): ReadonlyMap<string, Uint8Array> {
  const folder = join(fixtures(import.meta.dirname), name);
  const files = readdirSync(folder, { recursive: true, withFileTypes: true });
  return new Map(
    files
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
      .map((path) => [path.slice(folder.length + 1), new Uint8Array(readFileSync(path))]),
  );
}

/** Writes a dataset, or the files of it that are wanted, as Lance does: it makes the folders. */
export function writeDataset(
  fs: TestFs,
  location: string,
  name: Dataset = 'v2',
  wanted: (path: string) => boolean = () => true,
): void {
  for (const [path, bytes] of datasetFiles(name)) {
    if (!wanted(path)) continue;
    const file = `${location}/${path}`;
    fs.mkdirSync(file.slice(0, file.lastIndexOf('/')), { recursive: true });
    fs.writeFileSync(file, bytes);
  }
}
