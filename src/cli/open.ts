/** Opens the catalog that a command is for: a directory, or a server. */
import { existsSync } from 'node:fs';
import { DirspaceError } from '../errors.ts';
import type { Connection } from '../sdk/connection.ts';
import { defined } from '../sdk/defined.ts';
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
  const { connect, connectNamespace } = await import('../sdk/connect.ts');
  if (!SERVER.test(place)) {
    if (options.text('uri') === place && !/^file:/i.test(place)) {
      throw new UsageError(
        `--uri is ${JSON.stringify(place)}; an address begins with http:// or https://. Give --root for a directory.`,
      );
    }
    if (!makesCatalog) requireFolder(place);
    return connect(place, defined({ readOnly, signal }));
  }
  const headers = Object.entries(serverHeaders(env));
  const properties = {
    uri: place,
    ...Object.fromEntries(headers.map(([name, value]) => [`headers.${name}`, value])),
  };
  return connectNamespace('rest', properties, defined({ readOnly, signal }));
}

/** A path that was misspelt would show an empty catalog, or make one. */
function requireFolder(place: string): void {
  if (/^[a-z][a-z0-9+.-]+:/i.test(place) || existsSync(place)) return;
  throw new DirspaceError(
    'NamespaceNotFound',
    `There is no catalog at ${JSON.stringify(place)}: the folder does not exist. Check --root; import and create-namespace make a new one.`,
  );
}
