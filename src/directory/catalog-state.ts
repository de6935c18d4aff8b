/**
 * What a watcher knows of a catalog, and what became of it: states are read from the store, and
 * events are the difference between two of them.
 */
import type { CatalogEvent } from '../protocol/events.ts';
import { formatId, type ObjectPath } from '../protocol/ident.ts';
import { listBranches, mainBranch } from '../table/branches.ts';
import { resolveHead, type TableBranch } from '../table/head.ts';
import { listTags } from '../table/tags.ts';
import { type Catalog, findTable } from './catalog.ts';
import { namespacesIn, tablesIn } from './listing.ts';

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

export interface CatalogState {
  readonly namespaces: ReadonlyMap<string, ObjectPath>;
  readonly tables: ReadonlyMap<string, TableState>;
}

/** Reads all below a namespace. */
export async function readState(catalog: Catalog, below: ObjectPath): Promise<CatalogState> {
  const namespaces = new Map<string, ObjectPath>();
  const tables = new Map<string, TableState>();
  const visit = async (namespace: ObjectPath): Promise<void> => {
    for (const name of await tablesIn(catalog, namespace)) {
      const state = await readTable(catalog, [...namespace, name]);
      if (state !== undefined) tables.set(formatId(state.id), state);
    }
    for (const name of await namespacesIn(catalog, namespace)) {
      const id = [...namespace, name];
      namespaces.set(formatId(id), id);
      await visit(id);
    }
  };
  await visit(below);
  return { namespaces, tables };
}

export async function readTable(catalog: Catalog, id: ObjectPath): Promise<TableState | undefined> {
  const { engine } = catalog;
  const table = await findTable(catalog, id);
  if (table === undefined) return undefined;
  const incarnation = table.record.id;
  const branches = new Map<string, BranchState>();
  const read = async (branch: TableBranch, first: number): Promise<void> => {
    const latest = (await resolveHead(engine, branch))?.snapshot.version ?? 0;
    branches.set(branch.branch, { folder: branch.folder, first, latest });
  };
  await read(mainBranch(table.folder, incarnation), 1);
  for (const branch of await listBranches(engine, table.folder, incarnation)) {
    await read(branch, branch.record.parentVersion + 1);
  }
  return { id, incarnation, branches, tags: await listTags(engine, table.folder, incarnation) };
}

/** What happened between two states, parents before children. */
export function compareStates(before: CatalogState, after: CatalogState): CatalogEvent[] {
  const events: CatalogEvent[] = [];
  for (const [key, namespace] of after.namespaces) {
    if (!before.namespaces.has(key)) events.push({ type: 'namespace_created', namespace });
  }
  const gone = new Map<string, TableState>();
  for (const [key, table] of before.tables) {
    if (after.tables.get(key)?.incarnation !== table.incarnation)
      gone.set(table.incarnation, table);
  }
  const arrived: CatalogEvent[] = [];
  for (const [key, table] of after.tables) {
    const known = before.tables.get(key);
    if (known?.incarnation === table.incarnation) {
      arrived.push(...compareTables(known, table));
      continue;
    }
    const moved = gone.get(table.incarnation);
    gone.delete(table.incarnation);
    if (moved === undefined) {
      arrived.push({ type: 'table_created', table: table.id }, ...compareTables(undefined, table));
    } else {
      arrived.push({ type: 'table_renamed', table: table.id, from: moved.id });
      arrived.push(...compareTables(moved, table));
    }
  }
  // A name may be dropped and taken again between two looks: the old table goes first.
  for (const table of gone.values()) events.push({ type: 'table_dropped', table: table.id });
  events.push(...arrived);
  for (const [key, namespace] of [...before.namespaces].reverse()) {
    if (!after.namespaces.has(key)) events.push({ type: 'namespace_dropped', namespace });
  }
  return events;
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
