/**
 * Creates and lists the entries of the trash. An entry is a folder `<number>-<uuid>/` with a record
 * beside it: `prepareTrash` takes the next number (`newTrashFolder`) and writes the record
 * (`recordTrash`); the caller then moves the folder there. Numbers grow with each drop, whatever
 * the clocks say; simultaneous drops may share one. `trashEntries` lists the newest first, also
 * those that lack the record or the folder. `readTrashRecord` reads one record, or returns the
 * error of a damaged one. `droppedSince` tells when an entry came, by the file system's clock.
 */

import { isDirspaceError } from '../../errors.ts';
import { nextRound } from '../../event-loop.ts';
import {
  DROPS_FOLDER,
  decodeTrash,
  dropName,
  dropNumber,
  encodeTrash,
  joinPath,
  parseTrashRecord,
  TRASH_FOLDER,
  type TrashRecord,
  trashRecordFile,
} from '../../format/index.ts';
import type { ObjectPath } from '../../protocol/index.ts';
import { type Engine, writeObject } from '../../table/index.ts';
import type { Catalog } from './catalog.ts';
import { lastTouched } from './staging.ts';

export interface TrashEntry {
  /** Its name in the trash, which tells it from others of the same id. */
  readonly name: string;
  readonly folder: string;
  /** 0 for what a release without numbers dropped. */
  readonly sequence: number;
  /** Undefined where it is missing, damaged, or of a newer release. */
  readonly record: TrashRecord | undefined;
  readonly hasFolder: boolean;
  readonly hasRecord: boolean;
  /** Why the record cannot be read. */
  readonly problem: unknown;
}

const ENTRIES_A_TURN = 256;
/** Catalogs that listed their trash once. */
const LISTED = new WeakSet<Engine>();

/** Marks that stay behind the newest: a reader of the folder sees all of it or a part of it. */
const MARKS_KEPT = 16;

/**
 * A new folder in the trash, with a number above all that were dropped before. A drop marks its
 * number in a folder of its own, so that the next one need not list the trash, which may be long.
 * Marks need no flush: after a power loss every process is new, and begins with the trash itself.
 */
export async function newTrashFolder(catalog: Catalog): Promise<string> {
  const { engine, store, env } = catalog;
  const marks = await numbersIn(catalog, DROPS_FOLDER);
  const isListed = LISTED.has(engine) && marks.length > 0;
  const listed = isListed ? [] : await numbersIn(catalog, TRASH_FOLDER);
  const number =
    1 + [...marks, ...listed].reduce((most, { sequence }) => Math.max(most, sequence), 0);
  const name = dropName(number, env.uuid());
  try {
    // The first drop makes the folder.
    if (marks.length === 0) await store.createFolder(DROPS_FOLDER);
    await store.mark(joinPath(DROPS_FOLDER, name));
  } catch (error) {
    // Something else stands there: without marks every drop lists the trash.
    if (!isDirspaceError(error, 'InvalidInput', 'InvalidTableState')) throw error;
  }
  LISTED.add(engine);
  for (const mark of marks) {
    if (mark.sequence < number - MARKS_KEPT) await store.delete(joinPath(DROPS_FOLDER, mark.name));
  }
  return joinPath(TRASH_FOLDER, name);
}

/** Writes the record of what is about to be moved; returns the folder to move it to. */
export async function prepareTrash(
  catalog: Catalog,
  kind: TrashRecord['kind'],
  id: ObjectPath,
): Promise<string> {
  const folder = await newTrashFolder(catalog);
  await recordTrash(catalog, folder, kind, id);
  return folder;
}

export async function recordTrash(
  catalog: Catalog,
  folder: string,
  kind: TrashRecord['kind'],
  id: ObjectPath,
): Promise<void> {
  const record = encodeTrash({ kind, id, droppedAt: catalog.env.now() });
  await writeObject(catalog.store, trashRecordFile(folder), record);
}

/** Names of a folder that carry a number. */
async function numbersIn(
  { store }: Catalog,
  folder: string,
): Promise<{ readonly name: string; readonly sequence: number }[]> {
  const entries = (await store.list(folder)) ?? [];
  return entries
    .map(({ name }) => ({ name, sequence: dropNumber(name) }))
    .filter(({ sequence }) => sequence > 0);
}

/** Newest drop first. */
export async function trashEntries(catalog: Catalog): Promise<TrashEntry[]> {
  const names = new Map<string, { folder: boolean; record: boolean }>();
  for (const { name, kind } of (await catalog.store.list(TRASH_FOLDER)) ?? []) {
    const ofFolder = kind === 'file' ? parseTrashRecord(name) : undefined;
    const isRecord = ofFolder !== undefined;
    if (kind !== 'folder' && !isRecord) continue;
    const bare = ofFolder ?? name;
    const known = names.get(bare) ?? { folder: false, record: false };
    names.set(bare, isRecord ? { ...known, record: true } : { ...known, folder: true });
  }
  const found: TrashEntry[] = [];
  for (const [name, { folder: hasFolder, record: hasRecord }] of names) {
    if (found.length % ENTRIES_A_TURN === ENTRIES_A_TURN - 1) await nextRound();
    const folder = joinPath(TRASH_FOLDER, name);
    const read = hasRecord ? await readTrashRecord(catalog, folder) : {};
    found.push({
      name,
      folder,
      sequence: dropNumber(name),
      record: read.record,
      problem: read.problem,
      hasFolder,
      hasRecord,
    });
  }
  return found.sort(byNewest);
}

function byNewest(left: TrashEntry, right: TrashEntry): number {
  return (
    right.sequence - left.sequence ||
    (right.record?.droppedAt ?? 0) - (left.record?.droppedAt ?? 0) ||
    (left.name < right.name ? 1 : -1)
  );
}

/**
 * When it came to the trash, by the file system's own clock: that of who dropped it may be wrong.
 * Undefined where nothing tells.
 */
export async function droppedSince(
  catalog: Catalog,
  { folder, hasRecord }: TrashEntry,
): Promise<number | undefined> {
  if (!hasRecord) return lastTouched(catalog, folder);
  return (await catalog.store.head(trashRecordFile(folder)))?.modified;
}

/** What cannot be read hides its own entry only: nothing else in the trash depends on it. */
export async function readTrashRecord(
  catalog: Catalog,
  folder: string,
): Promise<{ record?: TrashRecord; problem?: unknown }> {
  const file = trashRecordFile(folder);
  try {
    const bytes = await catalog.store.get(file);
    return bytes === undefined ? {} : { record: decodeTrash(bytes, file) };
  } catch (error) {
    if (!isDirspaceError(error, 'Corrupt', 'UnsupportedFormat', 'InvalidInput')) throw error;
    return { problem: error };
  }
}
