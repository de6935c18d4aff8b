/**
 * `placeFence` writes the fence of a table, a manifest of version 0 in `_versions`, unless it is
 * there. While Lance finds no other manifest there, it takes the fence for the newest version and
 * refuses to read or write the table. Without the fence, Lance's writers would create a dataset of
 * their own beside the rows. `isFenceInUse` tells whether a file is the fence and still needed.
 */
import { lanceFence, lanceFenceFile, lanceVersionsFolder } from '../../format/index.ts';
import { type Engine, resolveHead, type TableBranch } from '../versions/index.ts';
import { foundByPath } from './lance-versions.ts';

/** Leaves a fence as it is that stands there. @param branch any one of the table */
export async function placeFence(
  { store }: Engine,
  { tableFolder, folder }: TableBranch,
): Promise<void> {
  const file = lanceFenceFile(tableFolder);
  await store.createFolder(lanceVersionsFolder(tableFolder), tableFolder);
  await store.putIfAbsent(file, lanceFence(), undefined, folder);
}

/**
 * Whether a file is the fence of a table, and Lance finds no version there, so that it has to stay.
 */
export async function isFenceInUse(
  engine: Engine,
  file: string,
  main: TableBranch,
): Promise<boolean> {
  if (file !== lanceFenceFile(main.tableFolder)) return false;
  const newest = (await resolveHead(engine, main))?.snapshot.version ?? 0;
  return (await foundByPath(engine, main, newest)) !== 'versions';
}
