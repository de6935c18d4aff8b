/**
 * Records and lists tables that were deregistered. Their folders lie in `.dirspace/detached/`, each
 * beside a record of the id that it had. `recordDetached` writes the record and must be called
 * before the folder is moved. `detachedEntries` lists folders and records, newest first; either may
 * be missing. Deregistering is meant to keep a table's files, so only a request to purge removes
 * them.
 */
import { isDirspaceError } from '../../errors.ts';
import {
  DETACHED_FOLDER,
  decodeTrash,
  joinPath,
  parseTrashRecord,
  type TrashRecord,
  trashRecordFile,
} from '../../format/index.ts';
import type { ObjectPath } from '../../protocol/index.ts';
import type { Catalog } from './catalog.ts';
import { lastTouched } from './staging.ts';
import { recordTrash } from './trash-entries.ts';

/** To be called before the folder of the table is moved to `place`. */
export const recordDetached = (catalog: Catalog, place: string, id: ObjectPath): Promise<void> =>
  recordTrash(catalog, place, 'table', id);

export interface DetachedEntry {
  readonly name: string;
  readonly folder: string;
  /** Undefined where it is missing or damaged: older releases wrote none. */
  readonly record: TrashRecord | undefined;
  readonly hasFolder: boolean;
  /** In milliseconds, by the file system's clock; undefined where nothing tells. */
  readonly since: number | undefined;
}

/** What was deregistered and has no name since, and records whose table was registered again. */
export async function detachedEntries(catalog: Catalog): Promise<DetachedEntry[]> {
  const { store } = catalog;
  const entries = (await store.list(DETACHED_FOLDER)) ?? [];
  const folders = new Set(entries.flatMap(({ name, kind }) => (kind === 'folder' ? name : [])));
  const records = entries.flatMap(({ name, kind }) =>
    kind === 'file' ? (parseTrashRecord(name) ?? []) : [],
  );
  const found: DetachedEntry[] = [];
  for (const name of new Set([...folders, ...records])) {
    const folder = joinPath(DETACHED_FOLDER, name);
    const facts = await store.head(trashRecordFile(folder));
    const since = facts?.modified ?? (await lastTouched(catalog, folder));
    const record = await readRecord(catalog, folder);
    found.push({ name, folder, record, hasFolder: folders.has(name), since });
  }
  return found.sort((left, right) => (right.since ?? 0) - (left.since ?? 0));
}

async function readRecord(catalog: Catalog, folder: string): Promise<TrashRecord | undefined> {
  const file = trashRecordFile(folder);
  try {
    const bytes = await catalog.store.get(file);
    return bytes === undefined ? undefined : decodeTrash(bytes, file);
  } catch (error) {
    if (isDirspaceError(error, 'Corrupt', 'UnsupportedFormat', 'InvalidInput')) return undefined;
    throw error;
  }
}
