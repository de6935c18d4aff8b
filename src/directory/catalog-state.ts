/**
 * Finds what changed in a catalog between two looks at it, for watch.ts. `readState` reads the
 * state of all below a namespace from the store: namespaces, tables, newest versions, branches and
 * tags; it throws Corrupt for a damaged table. `compareStates` turns the difference between two
 * states into a list of events, in an order in which they could have happened. `readTable` reads
 * one table, and returns undefined if it is missing; `compareTables` lists the events of its
 * versions, branches and tags.
 */
import { isDirspaceError } from '../errors.ts';
import { type CatalogEvent, formatId, type ObjectPath } from '../protocol/index.ts';
import type { Branch } from '../table/index.ts';
import {
  type Catalog,
  findNamespace,
  findTable,
  namespacesIn,
  storedTable,
  tableFoldersIn,
} from './catalog/index.ts';

export interface BranchState {
  /** Names the branch's folder: a recreated branch has another one. */
  readonly folder: string;
  readonly first: number;
  readonly latest: number;
}

export interface TableState {
  readonly id: ObjectPath;
  readonly incarnation: string;
  readonly branches: ReadonlyMap<string, BranchState>;
  readonly tags: ReadonlyMap<string, { readonly branch: string; readonly version: number }>;
}

export interface NamespaceState {
  readonly id: ObjectPath;
  /** Names this namespace among all that have its name; undefined where its record is damaged. */
  readonly incarnation: string | undefined;
}

export interface CatalogState {
  /** By string id, parents before children. */
  readonly namespaces: ReadonlyMap<string, NamespaceState>;
  readonly tables: ReadonlyMap<string, TableState>;
}

/**
 * Reads a namespace and all below it; the root, which is always there, is no part of the state. A
 * namespace whose record is damaged is still listed. @throws Corrupt for a damaged table
 */
export async function readState(catalog: Catalog, below: ObjectPath): Promise<CatalogState> {
  const namespaces = new Map<string, NamespaceState>();
  const tables = new Map<string, TableState>();
  const note = async (id: ObjectPath): Promise<void> => {
    const state = await readNamespaceState(catalog, id);
    if (state !== undefined) namespaces.set(formatId(id), state);
  };
  const visit = async (namespace: ObjectPath): Promise<void> => {
    for (const { name } of await tableFoldersIn(catalog, namespace)) {
      const state = await readTable(catalog, [...namespace, name]);
      if (state !== undefined) tables.set(formatId(state.id), state);
    }
    for (const name of await namespacesIn(catalog, namespace)) {
      const id = [...namespace, name];
      await note(id);
      await visit(id);
    }
  };
  if (below.length > 0) await note(below);
  await visit(below);
  return { namespaces, tables };
}

async function readNamespaceState(
  catalog: Catalog,
  id: ObjectPath,
): Promise<NamespaceState | undefined> {
  try {
    const record = await findNamespace(catalog, id);
    return record === undefined ? undefined : { id, incarnation: record.id };
  } catch (error) {
    if (isDirspaceError(error, 'Corrupt')) return { id, incarnation: undefined };
    throw error;
  }
}

export async function readTable(catalog: Catalog, id: ObjectPath): Promise<TableState | undefined> {
  const table = await findTable(catalog, id);
  if (table === undefined) return undefined;
  const stored = storedTable(catalog, table);
  const branches = new Map<string, BranchState>();
  const read = async (branch: Branch): Promise<void> => {
    const first = (branch.record?.parentVersion ?? 0) + 1;
    const latest = (await branch.newest())?.version ?? 0;
    branches.set(branch.branch, { folder: branch.folder, first, latest });
  };
  await read(stored.main);
  for (const branch of await stored.branches()) await read(branch);
  return { id, incarnation: table.record.id, branches, tags: await stored.tags() };
}

/**
 * What happened between two states. Namespaces come before what is created in them, and go after
 * what was dropped from them or moved out of them; one that was overwritten goes and comes again.
 */
export function compareStates(before: CatalogState, after: CatalogState): CatalogEvent[] {
  const replaced = replacedNamespaces(before, after);
  const inReplaced = (id: ObjectPath): boolean =>
    id.some((_, depth) => replaced.has(formatId(id.slice(0, depth + 1))));
  const created = [...after.namespaces.values()].filter(
    ({ id }) => inReplaced(id) || !before.namespaces.has(formatId(id)),
  );
  const gone = [...before.namespaces.values()].reverse();
  const { dropped, arrived } = compareTableSets(before, after);
  const ofNamespaces = (
    type: 'namespace_created' | 'namespace_dropped',
    states: readonly NamespaceState[],
    again: boolean,
  ): CatalogEvent[] =>
    states.filter(({ id }) => inReplaced(id) === again).map(({ id }) => ({ type, namespace: id }));
  const ofTables = (again: boolean): CatalogEvent[] =>
    arrived.filter(({ table }) => inReplaced(table.id) === again).flatMap(({ events }) => events);
  return [
    ...ofNamespaces('namespace_created', created, false),
    // A name may be dropped and taken again between two looks: the old table goes first.
    ...dropped,
    ...ofTables(false),
    ...ofNamespaces('namespace_dropped', gone, true),
    ...ofNamespaces('namespace_created', created, true),
    ...ofTables(true),
    ...ofNamespaces(
      'namespace_dropped',
      gone.filter(({ id }) => !after.namespaces.has(formatId(id))),
      false,
    ),
  ];
}

/** Keys of the namespaces that took the place of others of the same name. */
function replacedNamespaces(before: CatalogState, after: CatalogState): ReadonlySet<string> {
  const replaced = new Set<string>();
  for (const [key, { incarnation }] of after.namespaces) {
    const known = before.namespaces.get(key)?.incarnation;
    if (known !== undefined && incarnation !== undefined && known !== incarnation)
      replaced.add(key);
  }
  return replaced;
}

interface TableChanges {
  readonly dropped: readonly CatalogEvent[];
  /** What happened to each table that is there. */
  readonly arrived: readonly {
    readonly table: TableState;
    readonly events: readonly CatalogEvent[];
  }[];
}

function compareTableSets(before: CatalogState, after: CatalogState): TableChanges {
  const gone = new Map<string, TableState>();
  for (const [key, table] of before.tables) {
    if (after.tables.get(key)?.incarnation !== table.incarnation)
      gone.set(table.incarnation, table);
  }
  const arrived = Array.from(after.tables, ([key, table]) => {
    const known = before.tables.get(key);
    if (known?.incarnation === table.incarnation) {
      return { table, events: compareTables(known, table) };
    }
    const moved = gone.get(table.incarnation);
    gone.delete(table.incarnation);
    const first: CatalogEvent =
      moved === undefined
        ? { type: 'table_created', table: table.id }
        : { type: 'table_renamed', table: table.id, from: moved.id };
    return { table, events: [first, ...compareTables(moved, table)] };
  });
  const dropped = Array.from(
    gone.values(),
    ({ id }): CatalogEvent => ({ type: 'table_dropped', table: id }),
  );
  return { dropped, arrived };
}

export function compareTables(before: TableState | undefined, after: TableState): CatalogEvent[] {
  const table = after.id;
  const events: CatalogEvent[] = [];
  for (const [branch, state] of after.branches) {
    const known = before?.branches.get(branch);
    const same = known?.folder.split('/').at(-1) === state.folder.split('/').at(-1);
    if (!same && branch !== 'main') events.push({ type: 'branch_created', table, branch });
    const from = same && known !== undefined ? known.latest + 1 : state.first;
    for (let version = from; version <= state.latest; version++) {
      events.push({ type: 'version_committed', table, branch, version });
    }
  }
  for (const branch of before?.branches.keys() ?? []) {
    if (!after.branches.has(branch)) events.push({ type: 'branch_deleted', table, branch });
  }
  for (const [tag, { branch, version }] of after.tags) {
    const known = before?.tags.get(tag);
    if (known?.version === version && known.branch === branch) continue;
    const type = known === undefined ? 'tag_created' : 'tag_updated';
    events.push({ type, table, tag, version, branch });
  }
  for (const tag of before?.tags.keys() ?? []) {
    if (!after.tags.has(tag)) events.push({ type: 'tag_deleted', table, tag });
  }
  return events;
}
