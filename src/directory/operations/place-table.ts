/**
 * `placeTable` renames a table that was built in staging to its place. If the place is occupied, it
 * returns `taken` and leaves the staging folder to the caller. It throws NamespaceNotFound if the
 * parent is gone. If a namespace has won the name, it takes the table out again and throws
 * TableAlreadyExists. In both cases it removes the staging folder; only a table that got rows
 * meanwhile goes to the trash. catalog/name-contest.ts decides who has the name.
 */
import { isOutside, parentFolder } from '../../format/index.ts';
import type { ObjectPath } from '../../protocol/index.ts';
import { openTable } from '../../table/index.ts';
import {
  type Catalog,
  fence,
  missingNamespace,
  moveToPlace,
  namespaceHasName,
  namespaceInTheWay,
  prepareTrash,
  readTableRecord,
} from '../catalog/index.ts';

/**
 * Renames a staged folder into place, and takes it out again if a namespace has that name.
 * @param versions that the table has so far
 */
export async function placeTable(
  catalog: Catalog,
  id: ObjectPath,
  staging: string,
  versions: number,
): Promise<'placed' | 'taken'> {
  const folder = catalog.engine.names.tableFolder(id);
  let outcome = await moveToPlace(catalog, id, staging, folder);
  if (outcome === 'missing' && id.length === 1) {
    // The folder of the root's tables is the engine's own; a user may have removed it.
    await catalog.store.createFolder(parentFolder(folder));
    outcome = await catalog.store.moveFolder(staging, folder);
  }
  if (outcome === 'missing') {
    await catalog.store.deleteFolder(staging);
    missingNamespace(id.slice(0, -1));
  }
  if (outcome === 'taken') return 'taken';
  if (!(await namespaceHasName(catalog, id))) return 'placed';
  await catalog.store.moveFolder(folder, staging);
  // Whoever saw the table in that moment may have written to it.
  if (await hasMore(catalog, staging, versions)) await moveToTrash(catalog, id, staging);
  else await catalog.store.deleteFolder(staging);
  throw namespaceInTheWay(id);
}

/** Whether a table that lies aside has newer versions than that, or rows that others wrote for it. */
async function hasMore(catalog: Catalog, folder: string, versions: number): Promise<boolean> {
  const record = await readTableRecord(catalog, folder);
  if (record === undefined) return false;
  const newest = (await openTable(catalog.engine, folder, record.id).main.highestListed()) ?? 0;
  if (newest > versions || record.location === undefined) return newest > versions;
  if (isOutside(record.location)) return false;
  return !(await fence(catalog, record.location, 'dropped'));
}

async function moveToTrash(catalog: Catalog, id: ObjectPath, folder: string): Promise<void> {
  const trash = await prepareTrash(catalog, 'table', id);
  await catalog.store.moveFolder(folder, trash);
}
