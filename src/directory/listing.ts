/** What is in a namespace, and in all of them, in name order. */
import { joinPath, NAMESPACE_FILE, PRIVATE_FOLDER } from '../format/paths.ts';
import type { ObjectPath } from '../protocol/ident.ts';
import type { Catalog } from './catalog.ts';
import { byCodeUnits } from './paging.ts';

/** Names of the tables of a namespace, declared ones too. Does not look inside them. */
export async function tablesIn(catalog: Catalog, id: ObjectPath): Promise<string[]> {
  const { names } = catalog.engine;
  const entries = (await catalog.store.list(names.tablesFolder(id))) ?? [];
  const found: string[] = [];
  for (const entry of entries) {
    if (entry.kind !== 'folder') continue;
    const decoded = names.decode(entry.name, id.length === 0);
    if (decoded?.kind === 'table') found.push(decoded.name);
  }
  return found.sort();
}

/** Names of the namespaces right below a namespace: folders with a marker file. */
export async function namespacesIn(catalog: Catalog, id: ObjectPath): Promise<string[]> {
  const { names } = catalog.engine;
  const folder = names.namespaceFolder(id);
  const entries = (await catalog.store.list(folder)) ?? [];
  const found: string[] = [];
  for (const entry of entries) {
    if (entry.kind !== 'folder' || isPrivate(entry.name, id)) continue;
    const decoded = names.decode(entry.name, id.length === 0);
    if (decoded?.kind !== 'namespace') continue;
    const marker = joinPath(joinPath(folder, entry.name), NAMESPACE_FILE);
    if ((await catalog.store.head(marker)) !== undefined) found.push(decoded.name);
  }
  return found.sort();
}

const isPrivate = (folder: string, id: ObjectPath): boolean =>
  id.length === 0 && (folder === PRIVATE_FOLDER || folder === 'data');

/**
 * The ids of all tables, in component-wise order; subtrees wholly before `after` are not read.
 * That is also the order of their string ids, as `$` sorts before every legal character.
 */
export async function* allTables(
  catalog: Catalog,
  after: ObjectPath | undefined,
  namespace: ObjectPath = [],
): AsyncGenerator<ObjectPath> {
  const tables = (await tablesIn(catalog, namespace)).map((name) => ({ name, isTable: true }));
  const below = (await namespacesIn(catalog, namespace)).map((name) => ({ name, isTable: false }));
  const start = after?.[namespace.length];
  for (const { name, isTable } of [...tables, ...below].sort((a, b) =>
    byCodeUnits(a.name, b.name),
  )) {
    if (start !== undefined && name < start) continue;
    const id = [...namespace, name];
    if (!isTable) yield* allTables(catalog, name === start ? after : undefined, id);
    else if (after === undefined || start === undefined || comparePaths(id, after) > 0) yield id;
  }
}

function comparePaths(left: ObjectPath, right: ObjectPath): number {
  for (let depth = 0; depth < Math.min(left.length, right.length); depth++) {
    const order = byCodeUnits(left[depth] ?? '', right[depth] ?? '');
    if (order !== 0) return order;
  }
  return left.length - right.length;
}
