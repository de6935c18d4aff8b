/**
 * Opens or reads a file that a version refers to; another size than the version says throws
 * Corrupt. `openObject` opens the file of a fragment, `readObject` reads it, and `openSized` opens
 * any file. If a file is missing, `missingFile` finds out why and returns the error to throw:
 * cleanup deleted the version (TableVersionNotFound), the table is gone (TableNotFound), or the
 * file is lost (Corrupt). It returns undefined if the file is there by now, to be looked for again;
 * after eight tries it returns Corrupt instead. `closedOnFailure` closes a file if the work with it
 * fails.
 */
import { DirspaceError } from '../../errors.ts';
import { entryFile, type FragmentEntry } from '../../format/index.ts';
import { corrupt } from '../../json.ts';
import type { Awaitable, ObjectReader } from '../../store/index.ts';
import { andThen, type Turn } from '../work/index.ts';
import type { Engine } from './engine.ts';
import { incarnationAt, tableLeft } from './incarnation.ts';
import type { Snapshot } from './snapshot.ts';

/** How often a table may leave and come back while one of its files is looked for. */
const MOST_TRIES = 8;

/** @throws TableVersionNotFound, Corrupt */
export const openObject = (
  engine: Engine,
  snapshot: Snapshot,
  entry: FragmentEntry,
): Awaitable<ObjectReader> =>
  openSized(engine, snapshot, entryFile(snapshot.branch.tableFolder, entry), entry.bytes);

/** A file of that size which the version refers to. @throws TableVersionNotFound, Corrupt */
export function openSized(
  engine: Engine,
  snapshot: Snapshot,
  file: string,
  size: number,
  tries = 1,
): Awaitable<ObjectReader> {
  return andThen(engine.store.open(file), (object): Awaitable<ObjectReader> => {
    if (object === undefined)
      return missing(engine, snapshot, file, tries, () =>
        openSized(engine, snapshot, file, size, tries + 1),
      );
    if (object.size === size) return object;
    object.close();
    throw otherSize(file, object.size, size);
  });
}

/** The whole file; its folder is looked at once a turn. @throws TableVersionNotFound, Corrupt */
export function readObject(
  engine: Engine,
  snapshot: Snapshot,
  entry: FragmentEntry,
  turn: Turn | undefined,
  tries = 1,
): Awaitable<Uint8Array> {
  const file = entryFile(snapshot.branch.tableFolder, entry);
  const found = engine.store.get(file, turn?.entered, entry.bytes);
  if (turn !== undefined) turn.entered = found instanceof Uint8Array;
  return andThen(found, (bytes): Awaitable<Uint8Array> => {
    if (bytes === undefined)
      return missing(engine, snapshot, file, tries, () =>
        readObject(engine, snapshot, entry, turn, tries + 1),
      );
    if (bytes.length === entry.bytes) return bytes;
    throw otherSize(file, bytes.length, entry.bytes);
  });
}

const otherSize = (file: string, found: number, size: number): Error =>
  corrupt(file, `it has ${found} bytes instead of ${size}`);

async function missing<Found>(
  engine: Engine,
  snapshot: Snapshot,
  file: string,
  tries: number,
  again: () => Awaitable<Found>,
): Promise<Found> {
  const error = await missingFile(engine, snapshot, file, tries);
  if (error !== undefined) throw error;
  return again();
}

/** Runs `work`, and closes the object if that fails. */
export function closedOnFailure<Result>(
  object: ObjectReader,
  work: () => Awaitable<Result>,
): Awaitable<Result> {
  const failed = (error: unknown): never => {
    object.close();
    throw error;
  };
  try {
    const result = work();
    return result instanceof Promise ? result.catch(failed) : result;
  } catch (error) {
    return failed(error);
  }
}

/**
 * A file that a version refers to was not found: its version or its table is gone, or it is damage.
 * Undefined where all of them are there, to look for it again: the table was away for a moment,
 * dropped and brought back. `tries` is how often that was done.
 */
export async function missingFile(
  engine: Engine,
  snapshot: Snapshot,
  file: string,
  tries: number,
): Promise<DirspaceError | undefined> {
  // The mark of a deleted run has the name of its first version, and another size.
  const isThere = async (): Promise<boolean> =>
    (await engine.store.head(snapshot.file))?.size === snapshot.manifestBytes;
  const { tableFolder, incarnation } = snapshot.branch;
  // A file missed once may have gone between two looks, together with its table.
  for (let isAgain = false; ; isAgain = true) {
    if (await isThere()) {
      if ((await engine.store.head(file)) !== undefined) {
        if (tries < MOST_TRIES) return undefined;
        return corrupt(file, `it is there, and ${tries} times it could not be found to be read`);
      }
      if (isAgain)
        return corrupt(file, `it is missing, and version ${snapshot.version} refers to it`);
      continue;
    }
    const found = await incarnationAt(engine, tableFolder);
    if (found !== incarnation) return tableLeft(incarnation, found);
    if (isAgain) break;
  }
  return new DirspaceError(
    'TableVersionNotFound',
    `Version ${snapshot.version} was removed by cleanup while it was being read. Tag versions that must stay readable.`,
    { details: { version: snapshot.version } },
  );
}
