/**
 * Announces writers in progress, so that cleanup does not remove their files. `announced` runs a
 * change with an engine that names its files, creates a marker in the table's folder before the
 * first of them, and removes the marker at the end; the marker of a first version stays if that
 * fails. `unannounced` returns an engine that names files without a marker. `announcedWriters`
 * tells which writers still work and which have ended; it returns undefined if the table's folder
 * is missing. A writer whose process cannot be checked, as on another machine, counts as working
 * until its marker is seven days old (`UNKNOWN_WRITER_GRACE`).
 *
 * Cleanup lists files first, then markers, then versions. So a file without a marker was either
 * committed, and a version refers to it, or never will be.
 */
import { isDirspaceError } from '../../errors.ts';
import { parseWriter, writerFile } from '../../format/index.ts';
import type { Engine } from './engine.ts';

/**
 * How long files stay whose writer may or may not be alive, as on another machine; milliseconds.
 */
export const UNKNOWN_WRITER_GRACE: number = 7 * 24 * 3_600_000;

/**
 * Runs a change of a table under an announcement, with an engine that names files for it. The marker's
 * name holds all its content, so it cannot be torn. It is not flushed, because no writer survives a
 * power loss. The marker of a first version is flushed and stays after a failure: it tells a crashed
 * first write from a table that lost its manifests.
 */
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

/** An engine that names files without an announcement, for tables built in the staging folder. */
export const unannounced = (engine: Engine): Engine => ({
  ...engine,
  newObject: () => `${engine.env.uuid()}-0`,
});

/**
 * Removes an announcement; one that cannot be removed protects its files until the process ends.
 */
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
  /** Writers that will never commit, and their announcements. */
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
