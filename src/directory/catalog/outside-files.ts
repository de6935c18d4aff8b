/**
 * `removeOutsideFiles` removes the folders of tables that leave the trash for good, if they lie
 * outside the catalog's root. A folder is removed only if the configuration of its location allows
 * it (`dropFiles`), and kept if another table of the catalog uses it. A folder that must not be
 * removed, such as one with more than a dataset's files, throws InvalidTableState. Before files are
 * removed, the trash entry is marked by moving it to another folder, so that nothing restores the
 * table half removed. The result is the entry's folder from then on, or undefined if the entry left
 * the trash meanwhile.
 */
import { fileURLToPath } from 'node:url';
import { ruleOf } from '../../allowed-locations.ts';
import { DirspaceError, isDirspaceError } from '../../errors.ts';
import {
  DETACHED_FOLDER,
  encodeTrash,
  isInLanceDataset,
  isOutside,
  joinPath,
  lanceVersionsFolder,
  lastName,
  outsideAside,
  PRIVATE_FOLDER,
  parentFolder,
  TABLE_FILE,
  TRASH_FOLDER,
  trashRecordFile,
} from '../../format/index.ts';
import type { Store } from '../../store/index.ts';
import { writeObject } from '../../table/index.ts';
import { type Catalog, readTableRecord } from './catalog.ts';
import { newTrashFolder, readTrashRecord } from './trash-entries.ts';

/** A table outside the root, and the folder that has its record. */
interface OutsideTable {
  readonly folder: string;
  readonly incarnation: string;
  readonly location: string;
}

/**
 * The folder of the entry from then on; undefined where it left the trash meanwhile.
 * @throws InvalidTableState for a folder that must not be removed
 */
export async function removeOutsideFiles(
  catalog: Catalog,
  folder: string,
  pause: (() => Promise<void>) | undefined,
): Promise<string | undefined> {
  const isAsked = catalog.locations.some(({ dropFiles }) => dropFiles === true);
  // Deregistered tables keep their files.
  if (!isAsked || parentFolder(folder) !== TRASH_FOLDER) return folder;
  const doomed: OutsideTable[] = [];
  for await (const table of outsideTables(catalog, folder)) {
    if (ruleOf(catalog.locations, table.location)?.dropFiles === true) doomed.push(table);
  }
  if (doomed.length === 0) return folder;
  // Before the mark: what is refused can still be brought back.
  for (const table of doomed) await placeOfFiles(catalog, table);
  const marked = await markRemoving(catalog, folder);
  if (marked === undefined) return undefined;
  const inside = doomed.map((table) => ({
    ...table,
    folder: `${marked}${table.folder.slice(folder.length)}`,
  }));
  for (const table of inside) {
    await pause?.();
    await removeFiles(catalog, table, marked, pause);
  }
  return marked;
}

/**
 * Takes the entry to another number, whose record says that it is being removed: of this rename and that
 * of an undrop exactly one finds the folder.
 */
async function markRemoving(catalog: Catalog, folder: string): Promise<string | undefined> {
  const { store } = catalog;
  const { record } = await readTrashRecord(catalog, folder);
  if (record?.removing === true) return folder;
  const marked = await newTrashFolder(catalog);
  // Where the record of the drop is lost, the new one is of no table that could be brought back.
  const { kind, id, droppedAt } = record ?? { kind: 'table', id: [], droppedAt: catalog.env.now() };
  const text = encodeTrash({ kind, id, droppedAt, removing: true });
  await writeObject(store, trashRecordFile(marked), text);
  const outcome = await store.moveFolder(folder, marked);
  await store.delete(trashRecordFile(outcome === 'moved' ? folder : marked));
  return outcome === 'moved' ? marked : undefined;
}

/** Tables below a folder of the catalog whose location is outside the root. */
async function* outsideTables(catalog: Catalog, folder: string): AsyncGenerator<OutsideTable> {
  const entries = (await catalog.store.list(folder)) ?? [];
  if (!entries.some(({ name }) => name === TABLE_FILE)) {
    for (const { name, kind } of entries) {
      const isOwn = folder === '' && name === PRIVATE_FOLDER;
      if (kind === 'folder' && !isOwn) yield* outsideTables(catalog, joinPath(folder, name));
    }
    return;
  }
  const record = await readTableRecord(catalog, folder).catch((error: unknown) => {
    if (isDirspaceError(error, 'Corrupt')) return undefined;
    throw error;
  });
  if (record?.location === undefined || !isOutside(record.location)) return;
  yield { folder, incarnation: record.id, location: record.location };
}

async function removeFiles(
  catalog: Catalog,
  table: OutsideTable,
  entry: string,
  pause: (() => Promise<void>) | undefined,
): Promise<void> {
  const { store, folder, aside } = await placeOfFiles(catalog, table);
  const { location } = table;
  await store.deleteFolder(aside, pause);
  if (folder === undefined || (await isOfAnother(catalog, location, entry))) return;
  if ((await store.moveFolder(folder, aside)) !== 'moved') return;
  // Whoever gave a table this location in between has not lost it.
  if (await isOfAnother(catalog, location, entry)) {
    await store.moveFolder(aside, folder);
    return;
  }
  await store.deleteFolder(aside, pause);
  await store.syncFolders([parentFolder(folder)]);
}

interface PlaceOfFiles {
  /** Over the folder of the prefix. */
  readonly store: Store;
  /** The table's folder in it; undefined where it is not there. */
  readonly folder: string | undefined;
  /** Where it is renamed to before it is deleted. */
  readonly aside: string;
}

/** @throws InvalidTableState where the folder must stay */
async function placeOfFiles(
  catalog: Catalog,
  { location, incarnation }: OutsideTable,
): Promise<PlaceOfFiles> {
  const prefix = fileURLToPath(ruleOf(catalog.locations, location)?.prefix as string);
  const store = catalog.openOutside(prefix);
  if (store === undefined) throw refused(location, `the folder ${prefix} is not there`);
  const folder = fileURLToPath(location).slice(prefix.length);
  const parent = parentFolder(folder);
  const aside = outsideAside(parent, incarnation);
  try {
    if (!(await store.enter(parent)) || !(await store.enter(folder))) {
      return { store, folder: undefined, aside };
    }
  } catch (error) {
    if (!isDirspaceError(error, 'InvalidInput')) throw error;
    throw refused(location, 'a symbolic link leads to it');
  }
  const entries = (await store.list(folder)) ?? [];
  const versions = lanceVersionsFolder(folder);
  if (entries.length > 0 && !entries.some(({ name }) => joinPath(folder, name) === versions)) {
    throw refused(location, `it has no ${lastName(versions)}, so it is no dataset of Lance`);
  }
  const strange = entries.find(({ name }) => !isInLanceDataset(name));
  if (strange !== undefined) {
    const shown = JSON.stringify(strange.name.slice(0, 80));
    throw refused(location, `it holds ${shown}, which is no part of a dataset`);
  }
  if (touch(catalog.realPath(fileURLToPath(location)), catalog.root)) {
    throw refused(location, 'it lies in the root of the catalog, or the root in it');
  }
  return { store, folder, aside };
}

/** Whether a table of another entry, or one that has a name, lies at, in or around the location. */
async function isOfAnother(catalog: Catalog, location: string, entry: string): Promise<boolean> {
  const path = realPathOf(catalog, location);
  for (const from of ['', TRASH_FOLDER, DETACHED_FOLDER]) {
    for await (const other of outsideTables(catalog, from)) {
      const isOwn = other.folder === entry || other.folder.startsWith(`${entry}/`);
      if (isOwn || !other.location.startsWith('file:')) continue;
      if (touch(path, realPathOf(catalog, other.location))) return true;
    }
  }
  return false;
}

/** As far as links can be followed. */
function realPathOf(catalog: Catalog, location: string): string {
  const path = fileURLToPath(location);
  try {
    return catalog.realPath(path);
  } catch {
    return path;
  }
}

/** Whether two folders are the same, or one lies in the other, also where the disk folds case. */
function touch(one: string, other: string): boolean {
  const [left, right] = [one, other].map((path) => `${path.toLowerCase().replace(/\/+$/, '')}/`);
  return (
    (left as string).startsWith(right as string) || (right as string).startsWith(left as string)
  );
}

const refused = (location: string, why: string): DirspaceError =>
  new DirspaceError(
    'InvalidTableState',
    `The files of a dropped table at ${location} were not removed: ${why}. The table stays in the trash. Move away what is in the way, or take dropFiles from the prefix, and empty the trash again.`,
    { details: { location } },
  );
