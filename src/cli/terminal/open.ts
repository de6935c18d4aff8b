/**
 * `openConnection` opens the catalog that a command works on: a directory, or a server with the
 * credentials in the environment (`serverHeaders`). The place is `--root`, `--uri`, `$DIRSPACE_URI`
 * or the current directory; a place that can be no catalog throws UsageError. Unless the command
 * creates a catalog, a path to a missing folder, or to one without a catalog, throws
 * NamespaceNotFound.
 */

import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DirspaceError, isDirspaceError } from '../../errors.ts';
import { NAMESPACE_FILE, PRIVATE_FOLDER, ROOT_TABLES_FOLDER } from '../../paths.ts';
import { type Connection, defined } from '../../sdk/index.ts';
import { type Options, type Surroundings, UsageError } from './command.ts';

const SERVER = /^https?:\/\//i;

/** What the environment gives for servers: key, token and database. */
export function serverHeaders(env: Surroundings['env']): Record<string, string> {
  const { DIRSPACE_API_KEY: key, DIRSPACE_TOKEN: token, DIRSPACE_DATABASE: database } = env;
  return {
    ...(key ? { 'x-api-key': key } : {}),
    ...(token ? { authorization: `Bearer ${token}` } : {}),
    ...(database ? { 'x-service-database': database } : {}),
  };
}

export interface Purpose {
  readonly readOnly: boolean;
  /** Whether the command may make a catalog where there is none. */
  readonly makesCatalog?: boolean;
}

/** A directory, or a server where the place is its address. */
export async function openConnection(
  options: Options,
  { env }: Surroundings,
  { readOnly, makesCatalog = false }: Purpose,
  signal?: AbortSignal,
): Promise<Connection> {
  const given = [options.text('root'), options.text('uri')].filter((place) => place !== undefined);
  if (given.length > 1) throw new UsageError('--root and --uri are both given; one is enough.');
  const place = given[0] ?? (env.DIRSPACE_URI || '.');
  // Help and wrong usage answer without loading the engine.
  const { connect, connectNamespace } = await import('../../sdk/index.ts');
  if (!SERVER.test(place)) {
    if (options.text('uri') === place && !/^file:/i.test(place)) {
      throw new UsageError(
        `--uri is ${JSON.stringify(place)}; an address begins with http:// or https://. Give --root for a directory.`,
      );
    }
    requireCatalog(place, makesCatalog);
    return connect(place, defined({ readOnly, signal })).catch(refuseWrongUsage);
  }
  const headers = Object.entries(serverHeaders(env));
  const properties = {
    uri: place,
    ...Object.fromEntries(headers.map(([name, value]) => [`headers.${name}`, value])),
  };
  const opened = connectNamespace('rest', properties, defined({ readOnly, signal }));
  return opened.catch(refuseWrongUsage);
}

/** A root, address or header that no catalog can have was given by the user. */
function refuseWrongUsage(error: unknown): never {
  throw isDirspaceError(error, 'InvalidInput') ? new UsageError(error.message) : error;
}

/** A path that was misspelt would show an empty catalog, or make one. */
function requireCatalog(place: string, makesCatalog: boolean): void {
  if (/^[a-z][a-z0-9+.-]+:/i.test(place)) return;
  const found = mayRead(() => statSync(place, { throwIfNoEntry: false }), place);
  if (found?.isDirectory() === false) {
    throw new UsageError(
      `${JSON.stringify(place)} is no folder; --root is the folder of a catalog.`,
    );
  }
  if (makesCatalog) return;
  if (found === undefined) throw noCatalog(place, 'the folder does not exist');
  if (!mayRead(() => isCatalog(place), place))
    throw noCatalog(place, 'the folder has no namespaces and no tables');
}

/** Throws PermissionDenied where the system does not let `look` look. */
function mayRead<Found>(look: () => Found, place: string): Found {
  try {
    return look();
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code !== 'EACCES' && code !== 'EPERM') throw cause;
    const message = `The folder ${JSON.stringify(place)} cannot be read: permission is denied.`;
    throw new DirspaceError('PermissionDenied', message, { cause });
  }
}

const noCatalog = (place: string, why: string): DirspaceError =>
  new DirspaceError(
    'NamespaceNotFound',
    `There is no catalog at ${JSON.stringify(place)}: ${why}. Check --root; import and create-namespace make a new one.`,
  );

/** Whether there is anything that a catalog has. One that lost its format file is one still. */
const isCatalog = (folder: string): boolean =>
  existsSync(join(folder, PRIVATE_FOLDER)) ||
  existsSync(join(folder, ROOT_TABLES_FOLDER)) ||
  readdirSync(folder).some((name) => existsSync(join(folder, name, NAMESPACE_FILE)));
