/** What is said where a name is taken by a table or a namespace. */
import { DirspaceError } from '../errors.ts';
import { joinPath, NAMESPACE_FILE } from '../format/paths.ts';
import type { ObjectPath } from '../protocol/ident.ts';
import { type Catalog, showId } from './catalog.ts';

/** @throws TableAlreadyExists where a namespace has the name of a table to be */
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
