/**
 * Lists the tables and the namespaces in a namespace (`tablesIn`, `namespacesIn`) and all tables of
 * a catalog (`allTables`), each in name order and, for tables, from a given name on. The names of
 * tables are cached while their folder is unchanged. `tableFoldersIn` lists folders from their
 * names alone; `isTable` looks for the record of a table.
 */
import { isDirspaceError } from '../../errors.ts';
import {
  joinPath,
  NAMESPACE_FILE,
  PRIVATE_FOLDER,
  ROOT_TABLES_FOLDER,
  TABLE_FILE,
} from '../../format/index.ts';
import type { ObjectPath } from '../../protocol/index.ts';
import { Turn } from '../../table/index.ts';
import type { Catalog } from './catalog.ts';
import { byCodeUnits } from './paging.ts';

/** A folder that is named like that of a table: others may make such folders too. */
interface TableFolder {
  readonly name: string;
  readonly folder: string;
}

/** In name order, from one read of their parent, however many there are; `isTable` tells more. */
export async function tableFoldersIn(catalog: Catalog, id: ObjectPath): Promise<TableFolder[]> {
  const { names } = catalog.engine;
  const parent = names.tablesFolder(id);
  const found: TableFolder[] = [];
  for (const entry of (await catalog.store.list(parent)) ?? []) {
    if (entry.kind !== 'folder') continue;
    const decoded = names.decode(entry.name, id.length === 0);
    if (decoded?.kind !== 'table') continue;
    found.push({ name: decoded.name, folder: joinPath(parent, entry.name) });
  }
  return found.sort((a, b) => byCodeUnits(a.name, b.name));
}

/** Whether a table is there, declared or created: looks for its record, and does not read it. */
export async function isTable({ store }: Catalog, { folder }: TableFolder): Promise<boolean> {
  try {
    return (await store.head(joinPath(folder, TABLE_FILE))) !== undefined;
  } catch (error) {
    // A record that is a link is listed: reading that table says what is wrong, others still show.
    if (isDirspaceError(error, 'InvalidInput')) return true;
    throw error;
  }
}

/** Longer than a tick of any file system's clock. A folder as young as that is read again. */
const SETTLED_MILLIS = 2_000;

/**
 * Names of the tables of a namespace that come after `after`, declared ones too.
 *
 * Tables come and go by renames of their folders, each of which changes the time of the folder they
 * are in: while that stays, so do the names, and no table is looked at again. Where a folder is
 * named like a table's and is none, every one is looked at each time: it may become one in place.
 */
export async function* tablesIn(
  catalog: Catalog,
  id: ObjectPath,
  after: string | undefined,
): AsyncGenerator<string> {
  const { engine, env, store } = catalog;
  const parent = engine.names.tablesFolder(id);
  // Before its entries are read: what comes in between is seen the next time.
  const facts = await store.folderFacts(parent);
  const known = engine.heads.names(parent);
  const turn = new Turn(env);
  if (
    known !== undefined &&
    known.facts.inode === facts?.inode &&
    known.facts.modified === facts.modified
  ) {
    for (const name of known.names) {
      if (after !== undefined && name <= after) continue;
      if (turn.isOver()) await turn.pass();
      yield name;
    }
    return;
  }
  const names: string[] = [];
  let areAll = after === undefined;
  for (const found of await tableFoldersIn(catalog, id)) {
    if (after !== undefined && found.name <= after) continue;
    if (turn.isOver()) await turn.pass();
    if (!(await isTable(catalog, found))) areAll = false;
    else {
      names.push(found.name);
      yield found.name;
    }
  }
  if (areAll && facts !== undefined && facts.modified + SETTLED_MILLIS < env.now()) {
    engine.heads.keepNames(parent, { facts, names });
  }
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
  id.length === 0 && (folder === PRIVATE_FOLDER || folder === ROOT_TABLES_FOLDER);

/**
 * The ids of all tables, in component-wise order; subtrees wholly before `after` are not read.
 * That is also the order of their string ids, as `$` sorts before every legal character.
 */
export async function* allTables(
  catalog: Catalog,
  after: ObjectPath | undefined,
  namespace: ObjectPath = [],
): AsyncGenerator<ObjectPath> {
  const folders = await tableFoldersIn(catalog, namespace);
  const children = await namespacesIn(catalog, namespace);
  const namespaces = children.map((name) => ({ name, folder: undefined }));
  const start = after?.[namespace.length];
  const turn = new Turn(catalog.env);
  for (const { name, folder } of [...folders, ...namespaces].sort((a, b) =>
    byCodeUnits(a.name, b.name),
  )) {
    if (start !== undefined && name < start) continue;
    const id = [...namespace, name];
    if (folder === undefined) yield* allTables(catalog, name === start ? after : undefined, id);
    else if (after === undefined || start === undefined || comparePaths(id, after) > 0) {
      if (turn.isOver()) await turn.pass();
      if (await isTable(catalog, { name, folder })) yield id;
    }
  }
}

function comparePaths(left: ObjectPath, right: ObjectPath): number {
  for (let depth = 0; depth < Math.min(left.length, right.length); depth++) {
    const order = byCodeUnits(left[depth] ?? '', right[depth] ?? '');
    if (order !== 0) return order;
  }
  return left.length - right.length;
}
