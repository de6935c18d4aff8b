/** Opening the file of a fragment as pays off for its size, and what it means that it is missing. */
import { DirspaceError } from '../errors.ts';
import type { FragmentEntry } from '../format/fragment-entry.ts';
import { corrupt } from '../format/json.ts';
import { fragmentFile } from '../format/paths.ts';
import type { Awaitable, ObjectReader } from '../store/store.ts';
import type { Engine } from './engine.ts';
import type { Snapshot } from './snapshot.ts';

/** Up to this size a file is read whole at once: less work than opening it and reading parts. */
const WHOLE_BYTES = 16 * 1024;

export function openObject(
  engine: Engine,
  snapshot: Snapshot,
  entry: FragmentEntry,
): Awaitable<ObjectReader> {
  const file = fragmentFile(snapshot.branch.tableFolder, entry.file);
  const found =
    entry.bytes <= WHOLE_BYTES
      ? wholeObject(engine.store.get(file, false, entry.bytes))
      : engine.store.open(file);
  const whole = (object: ObjectReader | undefined): Awaitable<ObjectReader> => {
    if (object === undefined) return missing(engine, snapshot, file);
    if (object.size === entry.bytes) return object;
    object.close();
    throw corrupt(file, `it has ${object.size} bytes instead of ${entry.bytes}`);
  };
  return found instanceof Promise ? found.then(whole) : whole(found);
}

async function missing(engine: Engine, snapshot: Snapshot, file: string): Promise<never> {
  throw await missingFile(engine, snapshot, file);
}

/** Of a failure before the object is handed on. */
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

function wholeObject(
  found: Awaitable<Uint8Array | undefined>,
): Awaitable<ObjectReader | undefined> {
  if (found instanceof Promise) return found.then((bytes) => bytes && inMemory(bytes));
  return found && inMemory(found);
}

/** Offsets were checked against the size, which is the entry's. */
const inMemory = (bytes: Uint8Array): ObjectReader => ({
  size: bytes.length,
  read: (offset, length, into) => {
    const found = bytes.subarray(offset, offset + length);
    if (into === undefined) return found;
    into.set(found);
    return into.subarray(0, length);
  },
  close: () => {},
});

/**
 * A file that a version refers to is gone: because the version is, or because of damage. Looked for
 * once more after the version: both may have been away for a moment, with their table.
 */
export async function missingFile(
  engine: Engine,
  snapshot: Snapshot,
  file: string,
): Promise<DirspaceError> {
  const isThere = async (path: string): Promise<boolean> =>
    (await engine.store.head(path)) !== undefined;
  if ((await isThere(snapshot.file)) && !(await isThere(file))) {
    return corrupt(file, `it is missing, and version ${snapshot.version} refers to it`);
  }
  return new DirspaceError(
    'TableVersionNotFound',
    `Version ${snapshot.version} was removed by cleanup, or its table dropped or moved, while it was being read. Tag versions that must stay readable.`,
    { details: { version: snapshot.version } },
  );
}
