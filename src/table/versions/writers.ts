/**
/**
 * Writers in progress. A writer announces itself in the table's folder before its first file and
 * takes that back once its commit is decided; its files begin with its id. Cleanup lists the files
 * first, then the announcements, then the versions: a file whose writer is no longer announced was
 * either committed, and a version refers to it, or never will be. All of it is in the name, so it
 * cannot be torn. It needs no flush, as after a power loss no writer is in progress, save for a
 * first version: there it also tells what a crash left from the fragments of a table that lost its
 * manifests, so that it is on disk before them and stays after a failure.
 */
import { isDirspaceError } from '../../errors.ts';
import { parseWriter, writerFile } from '../../format/index.ts';
import type { Engine } from './engine.ts';

/** How long a writer is waited for of which it cannot be told whether it lives, in milliseconds. */
export const UNKNOWN_WRITER_GRACE: number = 7 * 24 * 3_600_000;

/** Runs a change of a table with an engine that may write the table's files. */
export async function announced<Result>(
  engine: Engine,
  tableFolder: string,
  work: (engine: Engine) => Promise<Result>,
  { isFirst = false }: { readonly isFirst?: boolean } = {},
): Promise<Result> {
  const { store, env, processes } = engine;
  let file: string | undefined;
  let announcing: unknown;
  let id = '';
  let count = 0;
  const announce = async (path: string): Promise<void> => {
    await store.mark(path);
    if (isFirst) await store.syncFolders([tableFolder]);
  };
  const newObject = async (): Promise<string> => {
    if (file === undefined) {
      id = env.uuid();
      file = writerFile(tableFolder, { id, ...processes.self });
      announcing = announce(file);
    }
    await announcing;
    return `${id}-${(count++).toString(16)}`;
  };
  let hasFailed = true;
  try {
    const result = await work({ ...engine, newObject });
    hasFailed = false;
    return result;
  } finally {
    if (file !== undefined && !(isFirst && hasFailed)) await takenBack(engine, file);
  }
}

/** For a folder that no cleanup looks into: a table that is being built aside. */
export const unannounced = (engine: Engine): Engine => ({
  ...engine,
  newObject: () => `${engine.env.uuid()}-0`,
});

/** One that stays protects its files until its process ends. */
async function takenBack(engine: Engine, file: string): Promise<void> {
  try {
    await engine.store.delete(file);
  } catch (error) {
    if (!isDirspaceError(error)) throw error;
  }
}

export interface Writers {
  /** Ids of those whose files must stay. */
  readonly working: ReadonlySet<string>;
  /** Those that will never commit, and their announcements. */
  readonly ended: readonly { readonly id: string; readonly file: string }[];
}

/**
 * The writers announced in a table just now; undefined when the table's folder is not there.
 * @param now of the file system's own clock
 */
export async function announcedWriters(
  engine: Engine,
  tableFolder: string,
  now: number,
): Promise<Writers | undefined> {
  const entries = await engine.store.list(tableFolder);
  if (entries === undefined) return undefined;
  const working = new Set<string>();
  const ended: { readonly id: string; readonly file: string }[] = [];
  for (const { name } of entries) {
    const mark = parseWriter(name);
    if (mark === undefined) continue;
    const file = `${tableFolder}/${name}`;
    let state = engine.processes.stateOf(mark);
    if (state === 'unknown') {
      const since = (await engine.store.head(file))?.modified ?? now;
      state = now - since >= UNKNOWN_WRITER_GRACE ? 'dead' : 'alive';
    }
    if (state === 'alive') working.add(mark.id);
    else ended.push({ id: mark.id, file });
  }
  return { working, ended };
}
