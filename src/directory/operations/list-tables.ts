/**
 * Carries out the operations that list tables, page by page in the order of their names.
 * `listTables` lists the tables of one namespace, or throws NamespaceNotFound. `listAllTables`
 * lists those of the whole catalog by their full ids. `include_declared: false` leaves out tables
 * that are only declared: they have no version and no other data, such as files of another program
 * or fragments of lost versions.
 */
import {
  formatId,
  type ListTablesRequest,
  type ListTablesResponse,
  type ObjectPath,
} from '../../protocol/index.ts';
import {
  allTables,
  type Catalog,
  findTable,
  isOnlyDeclared,
  namespaceId,
  pageLimit,
  pageOf,
  pageStart,
  requireNamespace,
  storedTable,
  tablesIn,
} from '../catalog/index.ts';

export async function listTables(
  catalog: Catalog,
  request: ListTablesRequest,
): Promise<ListTablesResponse> {
  const id = namespaceId(request.id);
  await requireNamespace(catalog, id);
  const limit = pageLimit(request);
  const isShown = async (name: string): Promise<boolean> =>
    request.include_declared !== false || isCreated(catalog, [...id, name]);
  let start = pageStart(request);
  const shown: string[] = [];
  for (let wanted = limit + 1; wanted > 0; wanted = limit + 1 - shown.length) {
    const names = await tablesIn(catalog, id, start, wanted);
    for (const name of names) if (await isShown(name)) shown.push(name);
    if (names.length < wanted) break;
    start = names.at(-1);
  }
  const { items, page_token } = pageOf(shown, { limit: request.limit }, (name) => name);
  return { tables: [...items], ...(page_token === undefined ? {} : { page_token }) };
}

/** All tables of the catalog by full string id, joined with `$`. */
export async function listAllTables(
  catalog: Catalog,
  request: ListTablesRequest,
): Promise<ListTablesResponse> {
  const limit = pageLimit(request);
  const start = pageStart(request);
  const found: string[] = [];
  for await (const id of allTables(catalog, start?.split('$'))) {
    if (request.include_declared === false && !(await isCreated(catalog, id))) continue;
    found.push(formatId(id));
    if (found.length > limit) break;
  }
  const { items, page_token } = pageOf(found, { limit: request.limit }, (id) => id);
  return { tables: [...items], ...(page_token === undefined ? {} : { page_token }) };
}

/** A table has been created once it has a version, or files of another program. */
async function isCreated(catalog: Catalog, id: ObjectPath): Promise<boolean> {
  const table = await findTable(catalog, id);
  if (table === undefined) return false;
  const { main } = storedTable(catalog, table);
  if ((await main.listedVersions()).length > 0) return true;
  return !(await isOnlyDeclared(catalog, table));
}
