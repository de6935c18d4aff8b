/**
 * The moment a table that was built aside takes its name: one rename, unless a table or a namespace
 * has the name.
 */
import { DirspaceError } from '../errors.ts';
import { joinPath, NAMESPACE_FILE, parentFolder } from '../format/paths.ts';
import type { ObjectPath } from '../protocol/ident.ts';
import { type Catalog, missingNamespace, showId } from './catalog.ts';

/** Renames a staged folder into place, and takes it out again if a namespace has that name. */
export async function placeTable(
  catalog: Catalog,
  id: ObjectPath,
  staging: string,
): Promise<'placed' | 'taken'> {
  const folder = catalog.engine.names.tableFolder(id);
  let outcome = await catalog.store.moveFolder(staging, folder);
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
  // A namespace of the same name may have come meanwhile; it looks for us just as we look for it.
  try {
    await refuseNamespaceOfThatName(catalog, id);
  } catch (error) {
    await catalog.store.moveFolder(folder, staging);
    await catalog.store.deleteFolder(staging);
    throw error;
  }
  return 'placed';
}

export async function refuseNamespaceOfThatName(catalog: Catalog, id: ObjectPath): Promise<void> {
  const marker = joinPath(catalog.engine.names.namespaceFolder(id), NAMESPACE_FILE);
  if ((await catalog.store.head(marker)) === undefined) return;
  throw new DirspaceError(
    'TableAlreadyExists',
    `${showId(id)} is a namespace; a table cannot have the same name. Choose another name.`,
    { details: { id } },
  );
}

export const tableExists = (id: ObjectPath): DirspaceError =>
  new DirspaceError(
    'TableAlreadyExists',
    `The table ${showId(id)} already exists. Use mode exist_ok to open it, overwrite to replace its content, or drop it first.`,
    { details: { id } },
  );
