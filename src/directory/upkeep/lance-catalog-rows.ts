/**
 * Computes the rows of the list by which Lance finds a catalog's tables. `catalogRows` computes all
 * rows, and `rowsUnderName` those of one name. A namespace is listed with its properties. A table
 * is listed if Lance finds a version in its folder (`isFoundByLance`), or if its record names a
 * place below the root where programs of Lance write it. A damaged record does not hide the other
 * rows.
 */
import { isDirspaceError } from '../../errors.ts';
import {
  byLanceCatalogKey,
  type LanceCatalogRow,
  lanceCatalogRow,
  lanceFenceFile,
  lanceVersionsFolder,
  lastName,
  parseLanceVersionName,
} from '../../format/index.ts';
import type { ObjectPath } from '../../protocol/index.ts';
import { Turn } from '../../table/index.ts';
import {
  type Catalog,
  findNamespace,
  isFence,
  isTable,
  lanceHome,
  namespacesIn,
  readTableRecord,
  tableFoldersIn,
} from '../catalog/index.ts';

/** All rows, in order of their keys. */
export const catalogRows = (catalog: Catalog): Promise<LanceCatalogRow[]> => rowsBelow(catalog, []);

/** What has this name now, and whether that is a namespace. */
export interface RowsUnderName {
  readonly rows: readonly LanceCatalogRow[];
  readonly isNamespace: boolean;
}

/** @param below looks at all that is in the namespace too */
export async function rowsUnderName(
  catalog: Catalog,
  id: ObjectPath,
  below: boolean,
): Promise<RowsUnderName> {
  const folder = catalog.engine.names.possibleTableFolder(id);
  const table = folder === undefined ? undefined : await tableRow(catalog, id, folder);
  const namespace = await namespaceRow(catalog, id);
  const rows = [table, namespace].filter((row) => row !== undefined);
  if (below && namespace !== undefined) rows.push(...(await rowsBelow(catalog, id)));
  return { rows, isNamespace: namespace !== undefined };
}

async function rowsBelow(catalog: Catalog, from: ObjectPath): Promise<LanceCatalogRow[]> {
  const rows: LanceCatalogRow[] = [];
  const turn = new Turn(catalog.env);
  const visit = async (namespace: ObjectPath): Promise<void> => {
    for (const { name, folder } of await tableFoldersIn(catalog, namespace)) {
      if (turn.isOver()) await turn.pass();
      const row = await tableRow(catalog, [...namespace, name], folder);
      if (row !== undefined) rows.push(row);
    }
    for (const name of await namespacesIn(catalog, namespace)) {
      if (turn.isOver()) await turn.pass();
      const id = [...namespace, name];
      const row = await namespaceRow(catalog, id);
      if (row === undefined) continue;
      rows.push(row);
      await visit(id);
    }
  };
  await visit(from);
  return rows.sort(byLanceCatalogKey);
}

async function namespaceRow(
  catalog: Catalog,
  id: ObjectPath,
): Promise<LanceCatalogRow | undefined> {
  const properties = await readable({}, async () => {
    return (await findNamespace(catalog, id))?.properties;
  });
  return properties === undefined ? undefined : lanceCatalogRow({ id, properties });
}

async function tableRow(
  catalog: Catalog,
  id: ObjectPath,
  folder: string,
): Promise<LanceCatalogRow | undefined> {
  const location = await readable(undefined, () => openedAt(catalog, id, folder));
  return location === undefined ? undefined : lanceCatalogRow({ id, location });
}

/** Where Lance opens a table by path: in its folder, or where programs of Lance write it. */
async function openedAt(
  catalog: Catalog,
  id: ObjectPath,
  folder: string,
): Promise<string | undefined> {
  if (await isFoundByLance(catalog, folder))
    return (await isTable(catalog, { name: lastName(folder), folder })) ? folder : undefined;
  const record = await readTableRecord(catalog, folder);
  if (record?.location === undefined) return undefined;
  const home = lanceHome({ id, folder, record });
  if (home === undefined) return undefined;
  // The program that declared it may write its first version there at any time, without telling us.
  return (await isFence(catalog, home)) === undefined ? home : undefined;
}

/** Whether Lance finds a version in a folder, and not the fence alone that keeps it away. */
export async function isFoundByLance({ store }: Catalog, folder: string): Promise<boolean> {
  const versions = lanceVersionsFolder(folder);
  if (!(await store.enter(versions))) return false;
  if ((await store.head(lanceFenceFile(folder))) === undefined) return true;
  const entries = (await store.list(versions)) ?? [];
  return entries.some(({ name }) => parseLanceVersionName(name) !== undefined);
}

/** What cannot be read of one record must not hide all others. */
async function readable<Value>(otherwise: Value, read: () => Promise<Value>): Promise<Value> {
  try {
    return await read();
  } catch (error) {
    if (isDirspaceError(error, 'Corrupt') || isDirspaceError(error, 'UnsupportedFormat'))
      return otherwise;
    throw error;
  }
}
