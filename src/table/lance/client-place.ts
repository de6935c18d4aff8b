/**
 * `clientPlace` makes a symbolic link to the folder of one table, and returns the link's path.
 * Clients of Lance open and write the table by that path. It returns undefined if no link can be
 * made; clients then open the folder itself. A real folder in the place of the link is deleted: a
 * client wrote it after the link was swept. `clientPath` finds the table that an absolute path
 * below such a link means, and returns undefined for any other path.
 *
 * No later table of the same name gets that path. A client that has not read the newest version
 * still builds its change on the newest manifest at its path. So only the path shows that the
 * client means a table that was dropped since.
 */
import { isDirspaceError } from '../../errors.ts';
import { OPENED_FOLDER, openedFolder } from '../../format/index.ts';
import type { Engine, TableBranch } from '../versions/index.ts';
import { stagingFolder } from '../work/index.ts';

/**
 * The path relative to the root. Undefined where none can be made: clients then open the table's
 * folder itself. A folder that stands there was made by a client that went on to write after its
 * path was swept: no version was made of what it holds, and it is deleted.
 */
export async function clientPlace(
  { store, env }: Engine,
  { tableFolder, incarnation }: TableBranch,
): Promise<string | undefined> {
  const place = openedFolder(incarnation);
  if (await store.alias(place, tableFolder)) return place;
  if (!(await store.hasFolder(place))) return undefined;
  const doomed = stagingFolder(env);
  try {
    const outcome = await store.moveFolder(place, doomed);
    const isThere = await store.alias(place, tableFolder);
    if (outcome === 'moved') await store.deleteFolder(doomed);
    return isThere ? place : undefined;
  } catch (error) {
    if (isDirspaceError(error, 'ReadOnly')) return undefined;
    throw error;
  }
}

export interface ClientPath {
  readonly incarnation: string;
  /** Below the table's folder. */
  readonly rest: string;
}

/**
 * The table and the rest of an absolute path that lies below such a place; undefined for any other
 * path.
 */
export function clientPath(engine: Engine, path: string): ClientPath | undefined {
  const places = `${trimmed(engine.locate(OPENED_FOLDER))}/`;
  const given = trimmed(path);
  if (!given.startsWith(places)) return undefined;
  const [incarnation = '', ...rest] = given.slice(places.length).split('/');
  return { incarnation, rest: rest.join('/') };
}

/** Lance leaves out the slash that absolute paths begin with. */
const trimmed = (path: string): string => path.replace(/^\/+/, '');
