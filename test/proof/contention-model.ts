/**
 * A table as plain data, its changes as plain functions, and the search for the one order of changes
 * that explains a line of versions. Knows nothing of the engine: it is what the engine is held to.
 */
import { createHash } from 'node:crypto';

export type Row = readonly [id: number, grp: number, mark: string];

export type Change =
  | { readonly kind: 'append' | 'overwrite' | 'merge'; readonly rows: readonly Row[] }
  | { readonly kind: 'update'; readonly group: number; readonly to: number; readonly mark: string }
  | { readonly kind: 'delete'; readonly group: number; readonly rest: number }
  | { readonly kind: 'add column'; readonly name: string; readonly factor: number }
  | { readonly kind: 'rename column'; readonly from: string; readonly to: string }
  | { readonly kind: 'drop column'; readonly name: string }
  | { readonly kind: 'widen' }
  | { readonly kind: 'restore'; readonly version: number }
  | { readonly kind: 'compact' };

/** A delete takes the rows of a group whose ids leave this rest. */
export const MODULUS = 3;

type Cell = string | null;

export interface Content {
  /** In their order: name and type. */
  readonly columns: readonly (readonly [name: string, type: string])[];
  /** By id; cells in the order of the columns. */
  readonly rows: ReadonlyMap<number, readonly Cell[]>;
}

const BASE: Content['columns'] = [
  ['id', 'Int32'],
  ['grp', 'Int32'],
  ['mark', 'Utf8'],
];

const cellsOf = ([id, grp, mark]: Row): Cell[] => [String(id), String(grp), mark];

export const contentOf = (rows: readonly Row[]): Content => ({
  columns: BASE,
  rows: new Map(rows.map((row) => [row[0], cellsOf(row)])),
});

/** Of the columns with their types and of every cell, whatever the order of the rows. */
export function hashOf({ columns, rows }: Content): string {
  const hash = createHash('sha256').update(JSON.stringify(columns));
  for (const [, cells] of [...rows].sort(([a], [b]) => a - b)) hash.update(JSON.stringify(cells));
  return hash.digest('hex').slice(0, 24);
}

/** What a change makes of a table; undefined where it could not have been made. */
export function changed(
  before: Content,
  change: Change,
  version: (number: number) => Content | undefined,
): Content | undefined {
  const { columns, rows } = before;
  const at = (name: string): number => columns.findIndex(([known]) => known === name);
  const mapped = (cells: (old: readonly Cell[]) => readonly Cell[] | undefined): Content['rows'] =>
    new Map(
      [...rows].flatMap(([id, old]) => {
        const fresh = cells(old);
        return fresh === undefined ? [] : [[id, fresh] as const];
      }),
    );
  switch (change.kind) {
    case 'compact':
      return before;
    case 'overwrite':
      return contentOf(change.rows);
    case 'restore':
      return version(change.version);
    case 'append':
    case 'merge': {
      const joined = new Map(rows);
      for (const row of change.rows) {
        const old = joined.get(row[0]);
        if (old !== undefined && change.kind === 'append') return undefined;
        const fresh = cellsOf(row);
        joined.set(
          row[0],
          columns.map((_, nth) => fresh[nth] ?? old?.[nth] ?? null),
        );
      }
      return { columns, rows: joined };
    }
    case 'update': {
      const group = String(change.group);
      const set = (old: readonly Cell[]): readonly Cell[] =>
        old[1] === group ? [old[0] ?? null, String(change.to), change.mark, ...old.slice(3)] : old;
      return { columns, rows: mapped(set) };
    }
    case 'delete': {
      const [group, rest] = [String(change.group), change.rest];
      const keep = (old: readonly Cell[]): readonly Cell[] | undefined =>
        old[1] === group && Number(old[0]) % MODULUS === rest ? undefined : old;
      return { columns, rows: mapped(keep) };
    }
    case 'add column': {
      if (at(change.name) >= 0) return undefined;
      const value = (old: readonly Cell[]): Cell => String(Number(old[0]) * change.factor);
      return {
        columns: [...columns, [change.name, 'Int64']],
        rows: mapped((old) => [...old, value(old)]),
      };
    }
    case 'rename column': {
      const nth = at(change.from);
      if (nth < 0) return undefined;
      return {
        columns: columns.map((known, other) => (other === nth ? [change.to, known[1]] : known)),
        rows,
      };
    }
    case 'drop column': {
      const nth = at(change.name);
      if (nth < 0) return undefined;
      return { columns: columns.toSpliced(nth, 1), rows: mapped((old) => old.toSpliced(nth, 1)) };
    }
    case 'widen':
      return {
        columns: columns.map((known) => (known[0] === 'grp' ? ['grp', 'Int64'] : known)),
        rows,
      };
  }
}

export interface Line {
  /** The number of its first version, and what that holds. */
  readonly first: number;
  readonly content: Content;
  readonly newest: number;
  /** By the version that they were acknowledged with. */
  readonly acknowledged: ReadonlyMap<number, Change>;
  /** Begun by processes that were killed, or whose outcome was unknown: each is there once or not. */
  readonly open: readonly Change[];
  /** Acknowledged without a number: each is there once. */
  readonly untold: readonly Change[];
  /** What was read of the versions. */
  readonly seen: ReadonlyMap<number, string>;
}

/**
 * Whether some order of the changes gives every version: each acknowledged one where it was
 * acknowledged, each open one once at most, and every hash as it was read. Undefined if so.
 */
export function unexplained(line: Line): string | undefined {
  const { first, newest, acknowledged, untold, seen } = line;
  const open = [...untold, ...line.open];
  const contents = new Map<number, Content>([[first, line.content]]);
  if ((seen.get(first) ?? hashOf(line.content)) !== hashOf(line.content))
    return `version ${first} is not what it began with`;
  const used = new Set<number>();
  let deepest = first;
  const follow = (version: number): boolean => {
    deepest = Math.max(deepest, version);
    if (version > newest) return untold.every((_, at) => used.has(at));
    const before = contents.get(version - 1) as Content;
    const known = acknowledged.get(version);
    const candidates = known === undefined ? open.map((_, at) => at) : [-1];
    for (const at of candidates) {
      if (used.has(at)) continue;
      const change = known ?? (open[at] as Change);
      const after = changed(before, change, (number) => contents.get(number));
      if (after === undefined) continue;
      const read = seen.get(version);
      if (read !== undefined && hashOf(after) !== read) continue;
      contents.set(version, after);
      if (at >= 0) used.add(at);
      if (follow(version + 1)) return true;
      if (at >= 0) used.delete(at);
    }
    contents.delete(version);
    return false;
  };
  if (follow(first + 1)) return undefined;
  if (deepest > newest) return `of ${JSON.stringify(untold)}, acknowledged, one is not there`;
  const known = acknowledged.get(deepest);
  const made = known === undefined ? 'no acknowledged change' : JSON.stringify(known);
  return `version ${deepest} of ${newest} is explained by no order: made by ${made}, read as ${seen.get(deepest) ?? 'nothing'}`;
}
