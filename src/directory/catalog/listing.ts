/**
 * Lists tables and namespaces in the order of their names. `tablesIn` and `namespacesIn` list
 * those right in one namespace, `allTables` all tables below one. A missing namespace gives
 * nothing. They cache the names in a folder as long as the folder does not change, and which of
 * them were seen to be tables or namespaces. `tableFoldersIn` lists the folders that are named
 * like tables, uncached; `isTable` tells whether such a folder holds a table.
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
import { isUnchanged, type KnownNames, type SortedNames, Turn } from '../../table/index.ts';
import type { Catalog } from './catalog.ts';
import { byCodeUnits, firstAfter } from './paging.ts';

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
export const isTable = (catalog: Catalog, { folder }: TableFolder): Promise<boolean> =>
  hasMarker(catalog, joinPath(folder, TABLE_FILE));

/** Whether the file that makes a folder a table or a namespace is there. */
async function hasMarker({ store }: Catalog, marker: string): Promise<boolean> {
  try {
    return (await store.head(marker)) !== undefined;
  } catch (error) {
    // One that is a link is listed: reading what it marks says what is wrong, others still show.
    if (isDirspaceError(error, 'InvalidInput')) return true;
    throw error;
  }
}

/** Entries of a folder that are decoded before the next look whether others wait. */
const ENTRIES_A_STEP = 1_024;

/**
 * The names in the folder of a namespace, sorted, each with whether its marker was seen: from the cache while
 * the folder stays as it was.
 *
 * Tables and namespaces come and go by renames of their folders, each of which changes the time of the
 * folder they are in: while that stays, so do the names, and what was seen once is not looked at again. A
 * folder that has no marker is looked at each time: it may become a table or a namespace in place.
 */
async function namesIn(
  { engine, env, store }: Catalog,
  parent: string,
  isRoot: boolean,
): Promise<KnownNames> {
  // Before its entries are read: what comes in between is seen the next time.
  const facts = await store.folderFacts(parent);
  const known = engine.heads.names(parent);
  if (known !== undefined && facts !== undefined && isUnchanged(known.facts, facts)) return known;
  const tables: string[] = [];
  const namespaces: string[] = [];
  const entries = facts === undefined ? undefined : await store.list(parent, true);
  const turn = new Turn(env);
  for (const [at, { name, kind }] of (entries ?? []).entries()) {
    if (at % ENTRIES_A_STEP === 0 && turn.isOver()) await turn.pass();
    if (kind !== 'folder' || (parent === '' && isEngines(name))) continue;
    const decoded = engine.names.decode(name, isRoot);
    if (decoded !== undefined) (decoded.kind === 'table' ? tables : namespaces).push(decoded.name);
  }
  const read = { facts, tables: sorted(tables), namespaces: sorted(namespaces) };
  // The names of a folder that changed just now may change without another time.
  if (facts?.settled === true) engine.heads.keepNames(parent, { ...read, facts });
  return read;
}

/** In code-unit order, as the sort of texts is without a comparison of its own. */
const sorted = (names: string[]): SortedNames => ({
  names: names.sort(),
  seen: new Uint8Array(names.length),
});

const isEngines = (folder: string): boolean =>
  folder === PRIVATE_FOLDER || folder === ROOT_TABLES_FOLDER;

/** Whether the marker of the name at that place is there: seen before, or looked for now. */
async function isSeen(
  { names, seen }: SortedNames,
  at: number,
  isThere: (name: string) => Promise<boolean>,
): Promise<boolean> {
  if (seen[at] === 0 && (await isThere(names[at] as string))) seen[at] = 1;
  return seen[at] === 1;
}

/** Those that come after `after` and have their marker, as many as told or fewer. */
async function seenNames(
  { env }: Catalog,
  sorted: SortedNames,
  isThere: (name: string) => Promise<boolean>,
  after: string | undefined,
  most: number,
): Promise<string[]> {
  const { names, seen } = sorted;
  const found: string[] = [];
  const turn = new Turn(env);
  let at = after === undefined ? 0 : firstAfter(names, (name) => name > after);
  for (; at < names.length && found.length < most; at++) {
    if (seen[at] === 0) {
      if (turn.isOver()) await turn.pass();
      if (!(await isSeen(sorted, at, isThere))) continue;
    }
    found.push(names[at] as string);
  }
  return found;
}

/** Names of the tables of a namespace that come after `after`, declared ones too; at most so many. */
export async function tablesIn(
  catalog: Catalog,
  id: ObjectPath,
  after: string | undefined,
  most: number,
): Promise<string[]> {
  const parent = catalog.engine.names.tablesFolder(id);
  const { tables } = await namesIn(catalog, parent, id.length === 0);
  return seenNames(catalog, tables, (name) => isTableAt(catalog, id, name), after, most);
}

/** Names of the namespaces right below a namespace that come after `after`; at most so many. */
export async function namespacesIn(
  catalog: Catalog,
  id: ObjectPath,
  after?: string,
  most: number = Number.MAX_SAFE_INTEGER,
): Promise<string[]> {
  const parent = catalog.engine.names.namespaceFolder(id);
  const { namespaces } = await namesIn(catalog, parent, id.length === 0);
  return seenNames(catalog, namespaces, (name) => isNamespaceAt(catalog, id, name), after, most);
}

const isTableAt = (catalog: Catalog, id: ObjectPath, name: string): Promise<boolean> =>
  isTable(catalog, { name, folder: catalog.engine.names.tableFolder([...id, name]) });

/** A folder is a namespace once it has its marker file. */
const isNamespaceAt = (catalog: Catalog, id: ObjectPath, name: string): Promise<boolean> =>
  hasMarker(catalog, joinPath(catalog.engine.names.namespaceFolder([...id, name]), NAMESPACE_FILE));

/**
 * The ids of all tables, in component-wise order; subtrees wholly before `after` are not read.
 * That is also the order of their string ids, as `$` sorts before every legal character.
 */
export async function* allTables(
  catalog: Catalog,
  after: ObjectPath | undefined,
  namespace: ObjectPath = [],
): AsyncGenerator<ObjectPath> {
  const { names } = catalog.engine;
  const isRoot = namespace.length === 0;
  const [home, folder] = [names.tablesFolder(namespace), names.namespaceFolder(namespace)];
  const inHome = await namesIn(catalog, home, isRoot);
  const { namespaces } = home === folder ? inHome : await namesIn(catalog, folder, isRoot);
  const { tables } = inHome;
  const start = after?.[namespace.length];
  const turn = new Turn(catalog.env);
  let table = firstFrom(tables.names, start);
  let inner = firstFrom(namespaces.names, start);
  while (table < tables.names.length || inner < namespaces.names.length) {
    if (turn.isOver()) await turn.pass();
    const [ofTable, ofInner] = [tables.names[table], namespaces.names[inner]];
    if (ofTable !== undefined && (ofInner === undefined || ofTable <= ofInner)) {
      const id = [...namespace, ofTable];
      const isNext = after === undefined || start === undefined || comparePaths(id, after) > 0;
      if (isNext && (await isSeen(tables, table, (name) => isTableAt(catalog, namespace, name))))
        yield id;
      table++;
    } else {
      const name = ofInner as string;
      if (await isSeen(namespaces, inner, () => isNamespaceAt(catalog, namespace, name)))
        yield* allTables(catalog, name === start ? after : undefined, [...namespace, name]);
      inner++;
    }
  }
}

/** Where the names that are no less than `start` begin. */
function firstFrom(names: readonly string[], start: string | undefined): number {
  if (start === undefined) return 0;
  return firstAfter(names, (name) => name >= start);
}

function comparePaths(left: ObjectPath, right: ObjectPath): number {
  for (let depth = 0; depth < Math.min(left.length, right.length); depth++) {
    const order = byCodeUnits(left[depth] ?? '', right[depth] ?? '');
    if (order !== 0) return order;
  }
  return left.length - right.length;
}
