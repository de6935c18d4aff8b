/** What a catalog should hold, as plain data, and the operations that the random kills hit. */

/** Ids of the rows of each version, from the first on; undefined once it was removed. */
export type Versions = readonly (readonly number[] | undefined)[];
export type Id = readonly [namespace: string, table: string];

export interface CatalogState {
  readonly namespaces: Readonly<Record<string, Readonly<Record<string, Versions>>>>;
  readonly trash: readonly (readonly [namespace: string, table: string, Versions])[];
  /** The next row. */
  readonly next: number;
}

export const emptyState: CatalogState = { namespaces: {}, trash: [], next: 1 };

export type Operation =
  | { readonly kind: 'create namespace'; readonly ns: string }
  | {
      readonly kind: 'drop namespace';
      readonly ns: string;
      readonly behavior: 'restrict' | 'cascade';
    }
  | {
      readonly kind: 'create' | 'append' | 'overwrite';
      readonly id: Id;
      readonly rows: readonly number[];
    }
  | { readonly kind: 'delete rows'; readonly id: Id; readonly row: number }
  | { readonly kind: 'update'; readonly id: Id; readonly row: number; readonly to: number }
  | { readonly kind: 'rename'; readonly id: Id; readonly to: Id }
  | { readonly kind: 'compact' | 'clean up' | 'drop' | 'undrop'; readonly id: Id };

/** Whether an operation that may find nothing to do made a version. */
export interface Done {
  readonly made: boolean;
}

const NAMESPACES = ['a', 'b', 'c'];
const TABLES = ['t', 'u', 'v'];
/** Tables are replaced before their history grows long. */
const MOST_VERSIONS = 12;
const KINDS: readonly Operation['kind'][] = [
  ...(['create namespace', 'drop namespace', 'create', 'create', 'append', 'append'] as const),
  ...(['append', 'overwrite', 'delete rows', 'update', 'compact', 'compact', 'clean up'] as const),
  ...(['rename', 'drop', 'undrop'] as const),
];

const pick = <Item>(random: () => number, list: readonly Item[]): Item | undefined =>
  list[Math.floor(random() * list.length)];

export const tablesOf = (state: CatalogState): Id[] =>
  Object.entries(state.namespaces).flatMap(([ns, tables]) =>
    Object.keys(tables).map((name): Id => [ns, name]),
  );

const versionsOf = (state: CatalogState, [ns, name]: Id): Versions =>
  state.namespaces[ns]?.[name] ?? [];
const newestOf = (state: CatalogState, id: Id): readonly number[] =>
  versionsOf(state, id).at(-1) ?? [];

/** The next operation: always one that can succeed. */
export function choose(random: () => number, state: CatalogState): Operation {
  const namespaces = Object.keys(state.namespaces);
  const free = namespaces.flatMap((ns) =>
    TABLES.filter((name) => state.namespaces[ns]?.[name] === undefined).map(
      (name): Id => [ns, name],
    ),
  );
  const undroppable = state.trash.filter(([ns, name]) =>
    free.some(([freeNs, freeName]) => freeNs === ns && freeName === name),
  );
  const fresh = (): number[] =>
    Array.from({ length: 1 + Math.floor(random() * 3) }, (_, at) => state.next + at);
  for (;;) {
    const kind = pick(random, KINDS) as Operation['kind'];
    const table = pick(random, tablesOf(state));
    const place = pick(random, free);
    const full = table === undefined || versionsOf(state, table).length >= MOST_VERSIONS;
    if (kind === 'create namespace') {
      const ns = pick(random, NAMESPACES) as string;
      if (state.namespaces[ns] === undefined) return { kind, ns };
    } else if (kind === 'drop namespace') {
      const ns = pick(random, namespaces);
      if (ns === undefined || namespaces.length < 2) continue;
      const empty = Object.keys(state.namespaces[ns] ?? {}).length === 0;
      return { kind, ns, behavior: empty ? 'restrict' : 'cascade' };
    } else if (kind === 'create') {
      if (place !== undefined) return { kind, id: place, rows: fresh() };
    } else if (kind === 'undrop') {
      const found = pick(random, undroppable);
      if (found !== undefined) return { kind, id: [found[0], found[1]] };
    } else if (table === undefined) {
      // Nothing below works without one.
    } else if (kind === 'rename') {
      if (place !== undefined) return { kind, id: table, to: place };
    } else if (kind === 'drop' || kind === 'clean up') return { kind, id: table };
    else if (full) {
      // What follows makes a version.
    } else if (kind === 'compact') return { kind, id: table };
    else if (kind === 'append' || kind === 'overwrite') return { kind, id: table, rows: fresh() };
    else {
      const row = pick(random, newestOf(state, table));
      if (row === undefined) continue;
      if (kind === 'delete rows') return { kind, id: table, row };
      return { kind: 'update', id: table, row, to: state.next };
    }
  }
}

type Mutable = {
  namespaces: Record<string, Record<string, Versions>>;
  trash: (readonly [string, string, Versions])[];
  next: number;
};

/** The state after an operation. */
export function applied(before: CatalogState, operation: Operation, done?: Done): CatalogState {
  const state = structuredClone(before) as Mutable;
  if ('rows' in operation) state.next += operation.rows.length;
  if (operation.kind === 'update') state.next++;
  if (operation.kind === 'create namespace') {
    state.namespaces[operation.ns] = {};
    return state;
  }
  if (operation.kind === 'drop namespace') {
    for (const [table, versions] of Object.entries(state.namespaces[operation.ns] ?? {}))
      state.trash.push([operation.ns, table, versions]);
    delete state.namespaces[operation.ns];
    return state;
  }
  const [ns, name] = operation.id;
  const tables = state.namespaces[ns] as Record<string, Versions>;
  const versions = tables[name] ?? [];
  const newest = versions.at(-1) ?? [];
  switch (operation.kind) {
    case 'create':
      tables[name] = [operation.rows];
      break;
    case 'append':
      tables[name] = [...versions, [...newest, ...operation.rows]];
      break;
    case 'overwrite':
      tables[name] = [...versions, operation.rows];
      break;
    case 'delete rows':
      tables[name] = [...versions, newest.filter((row) => row !== operation.row)];
      break;
    case 'update':
      tables[name] = [
        ...versions,
        [...newest.filter((row) => row !== operation.row), operation.to],
      ];
      break;
    case 'compact':
      if (done?.made !== false) tables[name] = [...versions, newest];
      break;
    case 'clean up':
      tables[name] = versions.map((rows, at) => (at === versions.length - 1 ? rows : undefined));
      break;
    case 'rename': {
      const [toNs, toName] = operation.to;
      (state.namespaces[toNs] as Record<string, Versions>)[toName] = versions;
      delete tables[name];
      break;
    }
    case 'drop':
      state.trash.push([ns, name, versions]);
      delete tables[name];
      break;
    case 'undrop': {
      const at = state.trash.findLastIndex(([from, table]) => from === ns && table === name);
      tables[name] = state.trash[at]?.[2] as Versions;
      state.trash.splice(at, 1);
    }
  }
  return state;
}

/** What a caller sees of it, in one order, so that two of them compare as text. */
export const visible = (namespaces: CatalogState['namespaces']): string =>
  JSON.stringify(
    Object.keys(namespaces)
      .sort()
      .map((ns) => [
        ns,
        Object.entries(namespaces[ns] ?? {})
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([name, versions]) => [name, versions.map((rows) => rows ?? 'removed')]),
      ]),
  );

/**
 * The states that a catalog may be in when the operation was under way: as before, as after, and
 * for a cleanup those in between, where some of the versions are gone, the oldest first.
 */
export function possible(before: CatalogState, operation: Operation): CatalogState[] {
  const after = applied(before, operation);
  const states = [{ ...before, next: after.next }, after];
  if (operation.kind !== 'clean up') return states;
  const [ns, name] = operation.id;
  const versions = versionsOf(before, operation.id);
  for (let gone = 1; gone < versions.length; gone++) {
    const left = versions.map((rows, at) => (at < gone ? undefined : rows));
    const tables = { ...before.namespaces[ns], [name]: left };
    states.push({ ...after, namespaces: { ...before.namespaces, [ns]: tables } });
  }
  return states;
}
