/**
 * Carries out the operations of the trash: `listTrash`, `undropTable`, which brings a table back,
 * and `purgeTrash`, which removes entries on request. `sweepTrash` removes entries whose retention
 * is over, 1,000 at most in one call, and never fails; `sweepInBackground` calls it once after a
 * catalog was opened. In a catalog that keeps no trash, `settleDrop` removes an object right after
 * its drop. `emptyTrash` removes one entry. Files outside the root that must stay keep their entry,
 * and a purge then throws InvalidTableState. `numberedAnew` gives a drop a later number.
 * trash-entries.ts creates and reads entries.
 */

import { DirspaceError, isDirspaceError } from '../../errors.ts';
import { nextRound } from '../../event-loop.ts';
import {
  isOutside,
  joinPath,
  LANCE_TABLES_FOLDER,
  NAMESPACE_FILE,
  OPENED_FOLDER,
  openedFolder,
  TABLE_FILE,
  type TableRecord,
  type TrashRecord,
  trashRecordFile,
} from '../../format/index.ts';
import type {
  ListTrashRequest,
  ListTrashResponse,
  ObjectPath,
  PurgeTrashRequest,
  PurgeTrashResponse,
  TrashItem,
  UndropTableRequest,
  UndropTableResponse,
} from '../../protocol/index.ts';
import { fileSystemTime, stagingFolder } from '../../table/index.ts';
import {
  beginWrite,
  type Catalog,
  followMove,
  locationOf,
  namespaceId,
  readTableRecord,
  requireNamespace,
  showId,
  tableId,
} from './catalog.ts';
import { detachedEntries } from './detached.ts';
import { moveToPlace } from './ghosts.ts';
import { isFence, placeOf, removeForGood } from './lance-tables.ts';
import { namespaceHasName } from './name-contest.ts';
import { removeOutsideFiles } from './outside-files.ts';
import { namespaceInTheWay, refuseNamespaceOfThatName } from './taken-names.ts';
import { droppedSince, prepareTrash, type TrashEntry, trashEntries } from './trash-entries.ts';

/** A drop that takes longer from its record to its rename lost its process, in milliseconds. */
const DROP_GRACE = 3_600_000;
/** Entries that one sweep removes, or fences and paths that it looks at; the next one goes on. */
const MOST_SWEPT = 1000;
/** Tables of a dropped namespace that are listed at most. */
const MOST_TABLES = 1000;
/** Entries of the trash that an error names at most. */
const MOST_NAMED = 5;

/**
 * Renumbers a drop that moved another table than the one it found: others dropped the first one and
 * made it anew meanwhile, and theirs came to the trash with a higher number.
 */
export async function numberedAnew(
  catalog: Catalog,
  folder: string,
  found: string,
  moved: string | undefined,
  kind: TrashRecord['kind'],
  id: ObjectPath,
): Promise<string> {
  if (moved === undefined || moved === found) return folder;
  const later = await prepareTrash(catalog, kind, id);
  const outcome = await catalog.store.moveFolder(folder, later);
  await catalog.store.delete(trashRecordFile(outcome === 'moved' ? folder : later));
  return outcome === 'moved' ? later : folder;
}

/**
 * Removes a trash folder and its record; harmless when either is gone already. The folder leaves the
 * trash in one rename first, so that whoever brings it back at this moment gets all of it or nothing.
 * Files outside the root, where they are to go, go before that.
 * @param pause runs now and then while files are removed, and may end it by throwing
 * @throws InvalidTableState where files outside the root must stay, and the entry with them
 */
export async function emptyTrash(
  catalog: Catalog,
  folder: string,
  pause?: () => Promise<void>,
): Promise<void> {
  const left = await removeOutsideFiles(catalog, folder, pause);
  if (left === undefined) return;
  const doomed = stagingFolder(catalog.env);
  const outcome = await catalog.store.moveFolder(left, doomed);
  await catalog.store.delete(trashRecordFile(left));
  if (outcome === 'moved') await removeForGood(catalog, doomed, pause);
}

/** After a drop: a catalog that keeps no trash removes it at once. Never fails the drop. */
export async function settleDrop(catalog: Catalog, folder: string): Promise<void> {
  if (catalog.trashRetention > 0) return;
  await emptyTrash(catalog, folder).catch(() => {
    // What is left goes with the next sweep.
  });
}

/**
 * Brings back the table that was dropped last under this id, alone or with its namespace, or the
 * one that lies in the entry named.
 * @throws TableNotFound when the trash has none, TableAlreadyExists; Corrupt where its record is damaged,
 * naming an older entry that could be brought back
 */
export async function undropTable(
  catalog: Catalog,
  request: UndropTableRequest,
): Promise<UndropTableResponse> {
  await beginWrite(catalog);
  const id = tableId(request.id as string[]);
  await requireNamespace(catalog, id.slice(0, -1));
  await refuseNamespaceOfThatName(catalog, id);
  const { names } = catalog.engine;
  const target = names.tableFolder(id);
  /** The newest entry of the table that is damaged. */
  let damaged: { readonly name: string; readonly cause: DirspaceError } | undefined;
  /** Entries whose records are damaged, so that it is not known what they hold. */
  const unknown: string[] = [];
  for (const entry of await trashEntries(catalog)) {
    if (request.trash_id !== undefined && entry.name !== request.trash_id) continue;
    if (isDirspaceError(entry.problem, 'UnsupportedFormat')) throw entry.problem;
    if (entry.hasFolder && entry.problem !== undefined) unknown.push(entry.name);
    const folder = folderInside(catalog, entry, id);
    if (folder === undefined) continue;
    let record: TableRecord | undefined;
    try {
      record = await readTableRecord(catalog, folder);
    } catch (cause) {
      if (!isDirspaceError(cause, 'Corrupt')) throw cause;
      damaged ??= { name: entry.name, cause };
    }
    if (record === undefined) continue;
    // What the caller dropped last is another table than an older one of the same name.
    if (damaged !== undefined) throw damagedEntry(id, damaged, entry.name);
    const outcome = await moveToPlace(catalog, id, folder, target);
    if (outcome === 'missing') continue;
    if (outcome === 'taken') {
      throw new DirspaceError(
        'TableAlreadyExists',
        `A table ${showId(id)} exists now. Rename or drop it before bringing back the dropped one.`,
        { details: { id } },
      );
    }
    if (await namespaceHasName(catalog, id)) {
      await catalog.store.moveFolder(target, folder);
      throw namespaceInTheWay(id);
    }
    if (entry.record?.kind === 'table') await catalog.store.delete(trashRecordFile(entry.folder));
    await followMove(catalog, id);
    return { id, location: await placeOf(catalog, { id, folder: target, record }) };
  }
  if (damaged !== undefined) throw damagedEntry(id, damaged);
  const where =
    request.trash_id === undefined
      ? 'the trash'
      : `the entry ${request.trash_id.slice(0, 80)} of the trash`;
  const hidden =
    unknown.length === 0
      ? ''
      : ` What ${unknown.slice(0, MOST_NAMED).join(', ')} in the trash holds is not known, as its record is damaged.`;
  throw new DirspaceError(
    'TableNotFound',
    `No dropped table ${showId(id)} is in ${where}. It was never dropped, was brought back, or was purged.${hidden}`,
    { details: { id } },
  );
}

/** @param older the entry of an older table of the same name, which can be read */
function damagedEntry(
  id: ObjectPath,
  { name, cause }: { readonly name: string; readonly cause: DirspaceError },
  older?: string,
): DirspaceError {
  const next =
    older === undefined
      ? ''
      : ` The one that was dropped before it can be read: bring that back by its trash_id, ${older}.`;
  return new DirspaceError(
    'Corrupt',
    `The dropped table ${showId(id)} in the entry ${name} of the trash cannot be brought back: ${cause.message}${next}`,
    { cause, details: { ...cause.details, id } },
  );
}

/** What was dropped at or below a namespace, newest drop first. */
export async function listTrash(
  catalog: Catalog,
  request: ListTrashRequest,
): Promise<ListTrashResponse> {
  const id = namespaceId(request.id as string[] | undefined);
  if (request.detached === true) return { entries: await listDetached(catalog, id) };
  const entries: TrashItem[] = [];
  for (const entry of await trashEntries(catalog)) {
    const { record, name } = entry;
    if (!entry.hasFolder) continue;
    if (record === undefined) {
      // Its id is not known, so it is listed for the root only.
      if (id.length === 0) entries.push({ trash_id: name, kind: 'unknown', id: [] });
      continue;
    }
    if (!id.every((part, depth) => record.id[depth] === part)) continue;
    const item = { trash_id: name, kind: record.kind, id: record.id, dropped_at: record.droppedAt };
    if (record.kind === 'table') entries.push(item);
    else entries.push({ ...item, tables: await tablesInside(catalog, entry.folder, record.id) });
  }
  return { entries };
}

/** Tables that were deregistered from at or below a namespace, and have no name since. */
async function listDetached(catalog: Catalog, id: ObjectPath): Promise<TrashItem[]> {
  const found: TrashItem[] = [];
  for (const { name, folder, record, hasFolder } of await detachedEntries(catalog)) {
    if (!hasFolder) continue;
    const was = record?.id ?? [];
    if (!id.every((part, depth) => was[depth] === part)) continue;
    const place = (await recordOrNone(catalog, folder))?.location;
    const isElsewhere =
      place !== undefined && (isOutside(place) || (await isFence(catalog, place)) === undefined);
    const location =
      isElsewhere && isOutside(place) ? place : locationOf(catalog, isElsewhere ? place : folder);
    const dropped = record === undefined ? {} : { dropped_at: record.droppedAt };
    found.push({ trash_id: name, kind: 'detached', id: was, location, ...dropped });
  }
  return found;
}

/** A table whose record is damaged is listed without what it says. */
async function recordOrNone(catalog: Catalog, folder: string): Promise<TableRecord | undefined> {
  try {
    return await readTableRecord(catalog, folder);
  } catch (error) {
    if (isDirspaceError(error, 'Corrupt', 'UnsupportedFormat')) return undefined;
    throw error;
  }
}

/**
 * Removes for good what was dropped longer ago than the age given, or deregistered if `detached` is
 * set. @throws InvalidTableState where files outside the root must stay, after the other entries
 * were removed
 */
export async function purgeTrash(
  catalog: Catalog,
  request: PurgeTrashRequest,
): Promise<PurgeTrashResponse> {
  const dryRun = request.dry_run ?? false;
  if (!dryRun) await beginWrite(catalog);
  let removed = 0;
  if (request.detached === true) {
    const now = catalog.readOnly ? catalog.env.now() : await fileSystemTime(catalog.engine);
    for (const { folder, hasFolder, since } of await detachedEntries(catalog)) {
      const least = hasFolder
        ? request.older_than_millis
        : Math.max(request.older_than_millis, DROP_GRACE);
      if (since === undefined || now - since < least) continue;
      if (hasFolder) removed += 1;
      if (!dryRun) await emptyTrash(catalog, folder);
    }
    return { removed, dry_run: dryRun };
  }
  let refusal: unknown;
  for await (const entry of expired(catalog, request.older_than_millis)) {
    try {
      if (!dryRun) await emptyTrash(catalog, entry.folder);
      if (entry.hasFolder) removed += 1;
    } catch (error) {
      if (!isDirspaceError(error, 'InvalidTableState')) throw error;
      // One entry whose files must stay keeps no other.
      refusal ??= error;
    }
  }
  if (refusal !== undefined) throw refusal;
  return { removed, dry_run: dryRun };
}

/** Removes what the catalog's retention does not keep any longer. Never fails: the next one goes on. */
export async function sweepTrash(
  catalog: Catalog,
  pause: () => Promise<void> = nextRound,
): Promise<void> {
  try {
    let left = MOST_SWEPT;
    for await (const entry of expired(catalog, catalog.trashRetention)) {
      if (left-- === 0) return;
      await pause();
      try {
        await emptyTrash(catalog, entry.folder, pause);
      } catch (error) {
        if (!isDirspaceError(error, 'InvalidTableState')) throw error;
      }
    }
    await sweepFences(catalog, pause, left);
    await sweepOpened(catalog, pause, left);
  } catch {
    // Damage in the trash is reported by verify; it must not fail the caller.
  }
}

/** A month: a program that still has a removed table open after that time met its fence long before. */
const FENCE_GRACE = 30 * 24 * 3_600_000;

/**
 * At most so many of a list, from a random one on: those that stay do not keep later sweeps from
 * the others.
 */
function some<Item>({ env }: Catalog, items: readonly Item[], most: number): readonly Item[] {
  if (items.length <= most) return items;
  const first = Math.floor(env.random() * items.length);
  return [...items.slice(first), ...items.slice(0, first)].slice(0, most);
}

/** Removes what closes the places of tables that were removed long ago. */
async function sweepFences(
  catalog: Catalog,
  pause: () => Promise<void>,
  most: number,
): Promise<void> {
  const { engine, store } = catalog;
  let now: number | undefined;
  const places = (await store.list(LANCE_TABLES_FOLDER)) ?? [];
  const files = places.filter(({ kind }) => kind === 'file');
  for (const { name } of some(catalog, files, most)) {
    await pause();
    const file = joinPath(LANCE_TABLES_FOLDER, name);
    if ((await isFence(catalog, file)) !== 'dropped') continue;
    const since = (await store.head(file))?.modified;
    now ??= await fileSystemTime(engine);
    if (since === undefined || now - since < FENCE_GRACE) continue;
    await store.delete(file);
  }
}

/**
 * Removes the paths by which clients of Lance opened tables that are gone from their place for long: a table
 * that comes back, or has another name, gets its path again when it is described. Clients of the old ones are
 * refused as before, by the incarnation in what they send; what they go on to write in the place of such a path
 * goes when the youngest file of it is as old.
 */
async function sweepOpened(
  catalog: Catalog,
  pause: () => Promise<void>,
  most: number,
): Promise<void> {
  const { engine, store } = catalog;
  const opened = (await store.list(OPENED_FOLDER)) ?? [];
  if (opened.length === 0) return;
  const now = await fileSystemTime(engine);
  for (const { name: incarnation, kind } of some(catalog, opened, most)) {
    await pause();
    const path = openedFolder(incarnation);
    if (kind === 'folder') {
      if (await hasYoung(catalog, path, now - FENCE_GRACE, pause)) continue;
      const doomed = stagingFolder(catalog.env);
      // Nothing is there to delete where another sweep was faster.
      await store.moveFolder(path, doomed);
      await store.deleteFolder(doomed, pause);
      continue;
    }
    const link = await store.findAlias(path);
    const isOld = link !== undefined && now - link.made >= FENCE_GRACE;
    const isStale = isOld && !(await isOf(catalog, link.folder, incarnation));
    if (isStale) await store.delete(path);
  }
}

/** Whether a file below the folder was changed after `since`. */
async function hasYoung(
  catalog: Catalog,
  folder: string,
  since: number,
  pause: () => Promise<void>,
): Promise<boolean> {
  for (const { name, kind } of (await catalog.store.list(folder)) ?? []) {
    await pause();
    const path = joinPath(folder, name);
    if (kind === 'folder' && (await hasYoung(catalog, path, since, pause))) return true;
    if (kind !== 'file') continue;
    const facts = await catalog.store.head(path);
    if (facts !== undefined && facts.modified > since) return true;
  }
  return false;
}

/** @param folder undefined for one outside the root */
async function isOf(
  catalog: Catalog,
  folder: string | undefined,
  incarnation: string,
): Promise<boolean> {
  if (folder === undefined || !(await catalog.store.hasFolder(folder))) return false;
  return (await readTableRecord(catalog, folder))?.id === incarnation;
}

/** In milliseconds, so that a program that ends at once does not wait for the disk. */
const FIRST_SWEEP_AFTER = 1000;
const SWEEP_PAUSE = 5;

/**
 * Sweeps the trash once, a while after the catalog was opened. Its waits do not keep the process
 * alive, and the signal ends it between any two steps.
 */
export async function sweepInBackground(catalog: Catalog, signal: AbortSignal): Promise<void> {
  try {
    await catalog.env.sleep(FIRST_SWEEP_AFTER, signal, true);
  } catch {
    return;
  }
  await sweepTrash(catalog, () => catalog.env.sleep(SWEEP_PAUSE, signal, true));
}

/** Entries older than an age in milliseconds; also records without a folder, and the reverse. */
async function* expired(catalog: Catalog, age: number): AsyncGenerator<TrashEntry> {
  const entries = await trashEntries(catalog);
  if (entries.length === 0) return;
  const now = catalog.readOnly ? catalog.env.now() : await fileSystemTime(catalog.engine);
  for (const entry of entries.reverse()) {
    if (isDirspaceError(entry.problem, 'UnsupportedFormat')) continue;
    if (entry.hasFolder && entry.record?.removing === true) {
      yield entry;
      continue;
    }
    // A record is written right before the rename that it is of.
    const least = entry.hasFolder ? age : Math.max(age, DROP_GRACE);
    const since = await droppedSince(catalog, entry);
    if (since === undefined ? !entry.hasRecord : now - since >= least) yield entry;
  }
}

/** Where the table `id` would lie in a trash entry, if it can be in there. */
function folderInside(catalog: Catalog, entry: TrashEntry, id: ObjectPath): string | undefined {
  if (!entry.hasFolder || entry.record === undefined) return undefined;
  const { kind, id: dropped, removing } = entry.record;
  if (removing === true) return undefined;
  const isPrefix = dropped.every((part, depth) => id[depth] === part);
  if (!isPrefix) return undefined;
  if (kind === 'table') return dropped.length === id.length ? entry.folder : undefined;
  if (dropped.length >= id.length) return undefined;
  const whole = catalog.engine.names.tableFolder(id);
  const namespace = catalog.engine.names.namespaceFolder(dropped);
  return `${entry.folder}${whole.slice(namespace.length)}`;
}

/** Ids of the tables of a dropped namespace, sorted. */
async function tablesInside(
  catalog: Catalog,
  folder: string,
  id: readonly string[],
): Promise<string[][]> {
  const found: string[][] = [];
  const waiting: { folder: string; id: readonly string[] }[] = [{ folder, id }];
  for (let at = waiting.shift(); at !== undefined; at = waiting.shift()) {
    for (const { name, kind } of (await catalog.store.list(at.folder)) ?? []) {
      const decoded = kind === 'folder' ? catalog.engine.names.decode(name, false) : undefined;
      if (decoded === undefined) continue;
      const inside = { folder: joinPath(at.folder, name), id: [...at.id, decoded.name] };
      const marker = decoded.kind === 'table' ? TABLE_FILE : NAMESPACE_FILE;
      if ((await catalog.store.head(joinPath(inside.folder, marker))) === undefined) continue;
      if (decoded.kind === 'namespace') waiting.push(inside);
      else if (found.push(inside.id) >= MOST_TABLES) return found;
    }
    await nextRound();
  }
  return found.sort((left, right) => (left.join('$') < right.join('$') ? -1 : 1));
}
