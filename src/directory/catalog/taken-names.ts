/**
 * Builds the errors for a new table or namespace whose name is taken, which tell whether a table
 * (`tableExists`), a namespace (`namespaceInTheWay`) or a folder that is neither
 * (`strangerInTheWay`) has it. `tablePlaceTaken` looks whether a table or a stranger stands at the
 * place and returns its error. `refuseNamespaceOfThatName` throws TableAlreadyExists if a namespace
 * has the name of a new table.
 */
import { DirspaceError, type ErrorCode } from '../../errors.ts';
import { joinPath, NAMESPACE_FILE } from '../../format/index.ts';
import type { ObjectPath } from '../../protocol/index.ts';
import { type Catalog, findTable, showId } from './catalog.ts';

/** @throws TableAlreadyExists where a namespace has the name of a table to be */
export async function refuseNamespaceOfThatName(catalog: Catalog, id: ObjectPath): Promise<void> {
  // A name too long for a table is called that, not too long for a namespace.
  catalog.engine.names.tableFolder(id);
  const marker = joinPath(catalog.engine.names.namespaceFolder(id), NAMESPACE_FILE);
  if ((await catalog.store.head(marker)) !== undefined) throw namespaceInTheWay(id);
}

export const namespaceInTheWay = (id: ObjectPath): DirspaceError =>
  new DirspaceError(
    'TableAlreadyExists',
    `${showId(id)} is a namespace; a table cannot have the same name. Choose another name.`,
    { details: { id } },
  );

/** What stands at the place of a table that could not take it: a table, or nothing of the engine's. */
export async function tablePlaceTaken(
  catalog: Catalog,
  id: ObjectPath,
  byTable: DirspaceError,
): Promise<DirspaceError> {
  if ((await findTable(catalog, id)) !== undefined) return byTable;
  return strangerInTheWay('TableAlreadyExists', id, catalog.engine.names.tableFolder(id));
}

/** The error for a place taken by something that is neither a table nor a namespace. */
export const strangerInTheWay = (code: ErrorCode, id: ObjectPath, folder: string): DirspaceError =>
  new DirspaceError(
    code,
    `${showId(id)} cannot be made: at ${folder} in the catalog stands something that is neither a table nor a namespace. Move it away, or choose another name.`,
    { details: { id, folder } },
  );

/** @param instead what to do, where there are no modes of creation */
export const tableExists = (
  id: ObjectPath,
  instead = 'Use mode exist_ok to open it, overwrite to replace its content, or drop it first.',
): DirspaceError =>
  new DirspaceError('TableAlreadyExists', `The table ${showId(id)} already exists. ${instead}`, {
    details: { id },
  });
