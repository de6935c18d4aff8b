/**
 * Keeps Lance's writers from the folder of a table whose versions Lance does not find there
 * (`placeFence`). Where Lance finds no manifest, it makes a dataset of its own beside the rows. The
 * fence is the manifest of version 0: Lance takes it for the newest version while no other stands
 * there, and refuses to read or write it. Once the table's versions have their manifests there,
 * these refuse writers, and the fence is removed. A new table has it from the beginning
 * (write/stage-table.ts).
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

/** Whether a file is the fence of a table, and Lance finds no version there, so that it has to stay. */
export async function isFenceInUse(
  engine: Engine,
  file: string,
  main: TableBranch,
): Promise<boolean> {
  if (file !== lanceFenceFile(main.tableFolder)) return false;
  const newest = (await resolveHead(engine, main))?.snapshot.version ?? 0;
  return (await foundByPath(engine, main, newest)) !== 'versions';
}
