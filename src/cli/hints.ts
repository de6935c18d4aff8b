/**
 * Errors in the words of whoever typed the command: ids with the separator that was typed, and the name
 * that was probably meant. Lookups that fail add nothing.
 */
import { type DirspaceError, isDirspaceError } from '../errors.ts';
import { nearest } from '../known-names.ts';
import type { Connection } from '../sdk/connection.ts';
import { parsePath, type ShowPath } from './ids.ts';

export interface TypedIds {
  /** As they were typed. */
  readonly ids: readonly string[];
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
  error.message = retyped(error.message, typed);
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
  { ids, show, areDropped }: TypedIds,
  connection: Connection,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (areDropped) return undefined;
  if (code !== 'TableNotFound' && code !== 'NamespaceNotFound') return undefined;
  // A remote catalog does not tell which of several ids it is.
  const path = Array.isArray(details.id) ? details.id.map(String) : tryPath(ids[0] ?? '');
  const name = path.at(-1);
  if (name === undefined) return undefined;
  const parent = path.slice(0, -1);
  if (code === 'TableNotFound' && (await connection.namespaceExists(path, { signal }))) {
    return `${show(path)} is a namespace; \`dirspace ls ${show(path)}\` lists its tables.`;
  }
  if (code === 'NamespaceNotFound' && (await connection.tableExists(name, parent, { signal }))) {
    return `${show(path)} is a table; \`dirspace describe ${show(path)}\` shows it.`;
  }
  const meant = await nearestPath(connection, path, code === 'TableNotFound', signal);
  return meant === undefined ? undefined : `Did you mean ${show(meant)}?`;
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
