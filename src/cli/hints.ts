/**
 * `explained` rewrites the message of a catalog's error for the command line, and returns the
 * error; other errors it returns as they are. It writes ids as the user types them, and adds a hint
 * if it finds one, such as the nearest existing name. Some hints query the catalog; if a query
 * fails, the message has no hint.
 */
import { type DirspaceError, isDirspaceError } from '../errors.ts';
import { nearest } from '../known-names.ts';
import type { Connection } from '../sdk/index.ts';
import { parsePath, type ShowPath } from './terminal/index.ts';

export interface TypedIds {
  /** As they were typed. */
  readonly ids: readonly string[];
  /** Every other word that may name something: a tag, a branch. */
  readonly words: readonly string[];
  readonly show: ShowPath;
  /** Whether they are of what was dropped. */
  readonly areDropped: boolean;
}

/** Changes the message of an error of the catalog, and answers the error. */
export async function explained(
  error: unknown,
  typed: TypedIds,
  connection: Connection,
  signal: AbortSignal,
): Promise<unknown> {
  if (!isDirspaceError(error)) return error;
  error.message = retyped(error.message, typed).replace(
    'createTable makes its first version',
    'import makes its first version',
  );
  const hint = await hintFor(error, typed, connection, signal).catch(() => undefined);
  if (hint !== undefined) error.message += ` ${hint}`;
  return error;
}

const NAME = '[A-Za-z0-9_.-]+';

/** Messages of a catalog join names by `$`. */
function retyped(message: string, { ids, show }: TypedIds): string {
  let text = message;
  for (const [first] of ids.map(tryPath)) {
    if (first === undefined) continue;
    const name = first.replaceAll('.', '\\.');
    const joined = new RegExp(`(?<![\\w.$/-])${name}(\\$${NAME})+`, 'g');
    text = text.replace(joined, (id) => {
      // The period of a sentence is no part of the last name.
      const [, path = '', end = ''] = /^(.*?)(\.*)$/s.exec(id) ?? [];
      return show(path.split('$')) + end;
    });
  }
  return text;
}

function tryPath(id: string): string[] {
  try {
    return parsePath(id);
  } catch {
    return [];
  }
}

async function hintFor(
  { code, details }: DirspaceError,
  typed: TypedIds,
  connection: Connection,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { ids, show, areDropped } = typed;
  if (code === 'Unauthenticated') {
    return 'What $DIRSPACE_API_KEY or $DIRSPACE_TOKEN holds is sent, where it is set.';
  }
  if (code === 'Unsupported' && details.status === 404) {
    return 'Check the path of the address; that of a server of dirspace is empty, as in http://127.0.0.1:2333.';
  }
  if (areDropped) return droppedHint(tryPath(ids[0] ?? ''), code, typed, connection, signal);
  if (code === 'TableTagNotFound' || code === 'TableBranchNotFound') {
    return referenceHint(tryPath(ids[0] ?? ''), code, typed, connection, signal);
  }
  if (code !== 'TableNotFound' && code !== 'NamespaceNotFound') return undefined;
  // A remote catalog does not tell which of several ids it is.
  const path = Array.isArray(details.id) ? details.id.map(String) : tryPath(ids[0] ?? '');
  const name = path.at(-1);
  if (name === undefined) return undefined;
  const parent = path.slice(0, -1);
  const isTable = code === 'TableNotFound';
  if (isTable && (await connection.namespaceExists(path, { signal }))) {
    return `${show(path)} is a namespace; \`dirspace ls ${path.join('/')}\` lists its tables.`;
  }
  if (!isTable && (await connection.tableExists(name, parent, { signal }))) {
    return `${show(path)} is a table; \`dirspace describe ${path.join('/')}\` shows it.`;
  }
  const parts = path.flatMap((part) => part.split('.'));
  if (parts.length > path.length && !parts.includes('')) {
    const isThere = isTable
      ? connection.tableExists(parts.at(-1) ?? '', parts.slice(0, -1), { signal })
      : connection.namespaceExists(parts, { signal });
    const id = show(parts);
    if (await isThere) return `Did you mean ${id}? Names of an id are joined by "/".`;
  }
  const near = await nearestPath(connection, path, isTable, signal);
  const elsewhere = isTable ? await pathsTo(name, connection, signal) : [];
  const meant = new Set([...(near === undefined ? [] : [near]), ...elsewhere].map(show));
  return meant.size === 0 ? undefined : `Did you mean ${[...meant].join(' or ')}?`;
}

/** Of a tag or a branch that a table does not have: the other kind of that name, or the nearest name. */
async function referenceHint(
  path: readonly string[],
  code: 'TableTagNotFound' | 'TableBranchNotFound',
  { words }: TypedIds,
  connection: Connection,
  signal: AbortSignal,
): Promise<string | undefined> {
  const table = await connection.openTable(path.at(-1) ?? '', path.slice(0, -1), { signal });
  const tags = Object.keys(await (await table.tags()).list({ signal }));
  const branches = Object.keys(await (await table.branches()).list({ signal }));
  const isTag = code === 'TableTagNotFound';
  const [known, others] = isTag ? [tags, branches] : [branches, tags];
  const other = words.find((word) => others.includes(word) && !known.includes(word));
  if (other !== undefined) {
    return isTag ? `${other} is a branch: --branch ${other}.` : `${other} is a tag: --at ${other}.`;
  }
  for (const word of words) {
    const meant = known.includes(word) ? undefined : nearest(word, known);
    if (meant !== undefined) return `Did you mean ${meant}?`;
  }
  return undefined;
}

/** The hint for a table that is not in the trash: it exists, or another of a similar name was dropped. */
async function droppedHint(
  path: readonly string[],
  code: DirspaceError['code'],
  { show }: TypedIds,
  connection: Connection,
  signal: AbortSignal,
): Promise<string | undefined> {
  const id = show(path);
  const entries = await connection.listTrash([], { signal });
  const tables = entries.flatMap(({ kind, path: dropped, tables: inside = [] }) =>
    kind === 'table' ? [dropped, ...inside] : inside,
  );
  const known = tables.filter((table) => table.length > 0).map(show);
  const inside = known.filter((table) => table.startsWith(show([...path, ''])));
  const some = inside.slice(0, MOST_TOLD).join(', ');
  const isDropped = known.includes(id);
  if (code === 'NamespaceNotFound' && isDropped) {
    const parent = show(path.slice(0, -1));
    return `The table is in the trash: \`dirspace create-namespace -p ${parent}\` makes room to bring it back to.`;
  }
  if (isDropped) return undefined;
  if (inside.length > 0)
    return `Tables are brought back one by one; in the trash of it are ${some}.`;
  const meant = nearest(id, known);
  if (meant !== undefined) return `Did you mean ${meant}?`;
  const [name = '', parent] = [path.at(-1), path.slice(0, -1)];
  if (await connection.tableExists(name, parent, { signal })) {
    return `There is a table ${id}, which is not dropped.`;
  }
  return undefined;
}

/** Names that a hint tells at most. */
const MOST_TOLD = 3;
/** Namespaces that are looked into for a table of some name. */
const MOST_NAMESPACES = 100;

/** Where in the catalog there are tables of a name, the nearest to the root first. */
async function pathsTo(
  name: string,
  connection: Connection,
  signal: AbortSignal,
): Promise<string[][]> {
  const found: string[][] = [];
  const waiting: string[][] = [[]];
  for (let at = 0; at < Math.min(waiting.length, MOST_NAMESPACES); at++) {
    const path = waiting[at] ?? [];
    if (await connection.tableExists(name, path, { signal })) found.push([...path, name]);
    if (found.length === MOST_TOLD) break;
    const { namespaces } = await connection.listNamespaces(path, { limit: MOST_NAMES, signal });
    for (const below of namespaces) waiting.push([...path, below]);
  }
  return found;
}

/** Names that are compared; a namespace of more is not read to its end for a hint. */
const MOST_NAMES = 10_000;

/** The path with each name that is not there replaced by the nearest one, as far as there is one. */
async function nearestPath(
  connection: Connection,
  path: readonly string[],
  isTable: boolean,
  signal: AbortSignal,
): Promise<string[] | undefined> {
  const found: string[] = [];
  let isOther = false;
  for (const [at, name] of path.entries()) {
    const isLast = at === path.length - 1;
    const options = { limit: MOST_NAMES, signal };
    const { namespaces } = await connection.listNamespaces(found, options);
    const tables = isLast ? await connection.tableNames(found, options) : [];
    const known = isLast && isTable ? [...tables, ...namespaces] : namespaces;
    const there = known.includes(name) ? name : nearest(name, known);
    if (there === undefined) break;
    isOther ||= there !== name;
    found.push(there);
  }
  return isOther ? found : undefined;
}
