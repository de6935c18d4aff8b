/**
 * The trash: what was dropped lies in `.dirspace/trash/<id>/`, with a record of what it was beside
 * it. Nothing live ever points there, so it can be brought back or removed at leisure.
 */
import { DirspaceError, isDirspaceError } from '../errors.ts';
import { TRASH_FOLDER } from '../format/paths.ts';
import { decodeTrash, encodeTrash, type TrashRecord } from '../format/records.ts';
import type {
  PurgeTrashRequest,
  PurgeTrashResponse,
  UndropTableRequest,
  UndropTableResponse,
} from '../protocol/extensions.ts';
import type { ObjectPath } from '../protocol/ident.ts';
import { writeObject } from '../table/write-object.ts';
import {
  beginWrite,
  type Catalog,
  locationOf,
  readTableRecord,
  requireNamespace,
  showId,
  tableId,
} from './catalog.ts';
import { namespaceHasName } from './name-contest.ts';
import { namespaceInTheWay, refuseNamespaceOfThatName } from './taken-names.ts';

interface TrashEntry {
  readonly record: TrashRecord;
  readonly folder: string;
}

const lastDrops = new WeakMap<Catalog, number>();

const recordFile = (folder: string): string => `${folder}.json`;

/** Writes the record of what is about to be moved; returns the folder to move it to. */
export async function prepareTrash(
  catalog: Catalog,
  kind: TrashRecord['kind'],
  id: ObjectPath,
): Promise<string> {
  const folder = newTrashFolder(catalog);
  await recordTrash(catalog, folder, kind, id);
  return folder;
}

export const newTrashFolder = (catalog: Catalog): string => `${TRASH_FOLDER}/${catalog.env.uuid()}`;

export async function recordTrash(
  catalog: Catalog,
  folder: string,
  kind: TrashRecord['kind'],
  id: ObjectPath,
): Promise<void> {
  // Of two drops within a millisecond the later one still counts as later.
  const droppedAt = Math.max(catalog.env.now(), (lastDrops.get(catalog) ?? 0) + 1);
  lastDrops.set(catalog, droppedAt);
  await writeObject(catalog.store, recordFile(folder), encodeTrash({ kind, id, droppedAt }));
}

/** Removes a trash folder and its record; harmless when either is gone already. */
export async function emptyTrash(catalog: Catalog, folder: string): Promise<void> {
  await catalog.store.deleteFolder(folder);
  await catalog.store.delete(recordFile(folder));
}

/**
 * Brings back the table that was dropped last under this id, alone or with its namespace.
 * @throws TableNotFound when the trash has none, TableAlreadyExists
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
  const dropped = (await listTrash(catalog)).sort(
    (left, right) => right.record.droppedAt - left.record.droppedAt,
  );
  for (const entry of dropped) {
    const folder = folderInside(catalog, entry, id);
    if (folder === undefined || (await readTableRecord(catalog, folder)) === undefined) continue;
    const outcome = await catalog.store.moveFolder(folder, target);
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
    if (entry.record.kind === 'table') await catalog.store.delete(recordFile(entry.folder));
    return { id, location: locationOf(catalog, target) };
  }
  throw new DirspaceError(
    'TableNotFound',
    `No dropped table ${showId(id)} is in the trash. It was never dropped, was brought back, or was purged.`,
    { details: { id } },
  );
}

/** Removes for good what was dropped longer ago than the age given. */
export async function purgeTrash(
  catalog: Catalog,
  request: PurgeTrashRequest,
): Promise<PurgeTrashResponse> {
  const dryRun = request.dry_run ?? false;
  if (!dryRun) await beginWrite(catalog);
  const now = Math.max(catalog.env.now(), lastDrops.get(catalog) ?? 0);
  const newest = now - request.older_than_millis;
  let removed = 0;
  for (const { record, folder } of await listTrash(catalog)) {
    if (record.droppedAt > newest) continue;
    removed += 1;
    if (!dryRun) await emptyTrash(catalog, folder);
  }
  return { removed, dry_run: dryRun };
}

async function listTrash(catalog: Catalog): Promise<TrashEntry[]> {
  const entries = (await catalog.store.list(TRASH_FOLDER)) ?? [];
  const found: TrashEntry[] = [];
  for (const { name, kind } of entries) {
    if (kind !== 'folder') continue;
    const folder = `${TRASH_FOLDER}/${name}`;
    const record = await readRecord(catalog, folder);
    if (record !== undefined) found.push({ record, folder });
  }
  return found;
}

/** A damaged record hides its own entry only: nothing else in the trash depends on it. */
async function readRecord(catalog: Catalog, folder: string): Promise<TrashRecord | undefined> {
  const file = recordFile(folder);
  const bytes = await catalog.store.get(file);
  try {
    return bytes === undefined ? undefined : decodeTrash(bytes, file);
  } catch (error) {
    if (isDirspaceError(error, 'Corrupt')) return undefined;
    throw error;
  }
}

/** Where the table `id` would lie in a trash entry, if it can be in there. */
function folderInside(catalog: Catalog, entry: TrashEntry, id: ObjectPath): string | undefined {
  const { kind, id: dropped } = entry.record;
  const isPrefix = dropped.every((part, depth) => id[depth] === part);
  if (!isPrefix) return undefined;
  if (kind === 'table') return dropped.length === id.length ? entry.folder : undefined;
  if (dropped.length >= id.length) return undefined;
  const whole = catalog.engine.names.tableFolder(id);
  const namespace = catalog.engine.names.namespaceFolder(dropped);
  return `${entry.folder}${whole.slice(namespace.length)}`;
}
