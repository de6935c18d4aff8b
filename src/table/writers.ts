/**
 * Writers in progress. A writer of a first version announces itself in the table's folder before its
 * first file and takes that back once it has committed; its files begin with its id. A fragment
 * of a writer that is still announced was never part of a version: what a crash left is told apart
 * from a table that lost its manifests.
 */
import { isDirspaceError } from '../errors.ts';
import { writerFile } from '../format/paths.ts';
import type { Engine } from './engine.ts';
import { writeObject } from './write-object.ts';

/** Runs a change of a table with an engine that may write the table's files. */
export async function announced<Result>(
  engine: Engine,
  tableFolder: string,
  work: (engine: Engine) => Promise<Result>,
): Promise<Result> {
  const { store, env } = engine;
  const id = env.uuid();
  const file = writerFile(tableFolder, { id, scope: '00000000', pid: 0, start: 0 });
  await writeObject(store, file, new Uint8Array(0));
  await store.syncFolders([tableFolder]);
  let count = 0;
  const newObject = (): string => `${id}-${(count++).toString(16)}`;
  const result = await work({ ...engine, newObject });
  // After a failure it stays, with whatever file could not be removed, until cleanup removes both.
  await takenBack(engine, file);
  return result;
}

/** What stays is a temporary file, which cleanup removes. */
async function takenBack(engine: Engine, file: string): Promise<void> {
  try {
    await engine.store.delete(file);
  } catch (error) {
    if (!isDirspaceError(error)) throw error;
  }
}
