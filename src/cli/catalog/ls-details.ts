/**
 * Collects the details that `dirspace ls -l` shows (`detailsOf`): rows, bytes, newest version and
 * time of the last change of each table. `sortEntries` sorts the entries by one of these or by name
 * (`SORT_KEYS`). A table that cannot be read gets the code of its error instead of details, and the
 * listing goes on.
 */
import { isDirspaceError } from '../../errors.ts';
import type { Call } from '../terminal/index.ts';
import type { Listing } from './ls.ts';

export const SORT_KEYS = ['name', 'rows', 'bytes', 'version', 'changed'] as const;
export type SortKey = (typeof SORT_KEYS)[number];

export interface Entry {
  readonly id: readonly string[];
  readonly kind: 'namespace' | 'table';
  readonly rows?: number;
  /** Of the files of the newest version. */
  readonly bytes?: number;
  readonly version?: number;
  /** When the newest version was made, by the clock of its writer. */
  readonly changed?: string;
  /** The code of the error that the table cannot be read for, or that it is only declared. */
  readonly problem?: string;
}

/** Tables that are looked at together. */
const AT_ONCE = 8;

/** A table that goes meanwhile, or is damaged, is told with its problem and fails nothing. */
export async function detailsOf(call: Call, listings: readonly Listing[]): Promise<Entry[]> {
  const entries: Entry[] = [];
  const tables: string[][] = [];
  for (const { path, namespaces, tables: names } of listings) {
    for (const name of namespaces) entries.push({ id: [...path, name], kind: 'namespace' });
    for (const name of names) tables.push([...path, name]);
  }
  const namespaces = entries.length;
  call.progress(() => `${entries.length - namespaces} of ${tables.length} tables`);
  for (let from = 0; from < tables.length; from += AT_ONCE) {
    const group = tables.slice(from, from + AT_ONCE).map((id) => detailsOfTable(call, id));
    entries.push(...(await Promise.all(group)));
  }
  return entries;
}

async function detailsOfTable({ connection, signal }: Call, id: string[]): Promise<Entry> {
  try {
    const table = await connection.openTable(id.at(-1) ?? '', id.slice(0, -1), { signal });
    const [stats, [newest]] = await Promise.all([
      table.stats({ signal }),
      table.listVersions({ descending: true, limit: 1, signal }),
    ]);
    const time = newest?.timestamp.getTime() ?? Number.NaN;
    return {
      id,
      kind: 'table',
      rows: stats.numRows,
      bytes: stats.totalBytes,
      ...(newest === undefined ? {} : { version: newest.version }),
      ...(Number.isNaN(time) ? {} : { changed: new Date(time).toISOString() }),
    };
  } catch (error) {
    if (!isDirspaceError(error)) throw error;
    return { id, kind: 'table', problem: error.code };
  }
}

/** By name from a on, else the largest or newest first and what has no value last. */
export function sortEntries(entries: readonly Entry[], key: SortKey): Entry[] {
  const byName = (a: Entry, b: Entry): number => compare(a.id.join('/'), b.id.join('/'));
  return [...entries].sort((a, b) => {
    if (key === 'name') return byName(a, b);
    const [left, right] = [a[key], b[key]];
    if (left === undefined || right === undefined) {
      const missing = Number(left === undefined) - Number(right === undefined);
      return missing === 0 ? byName(a, b) : missing;
    }
    return compare(right, left) || byName(a, b);
  });
}

const compare = (a: string | number, b: string | number): number => (a < b ? -1 : a > b ? 1 : 0);
