/**
 * `moveToPlace` moves a table's folder to its place, even if a ghost stands there. If anything else
 * does, it moves nothing and returns `taken`. A ghost (`isGhost`) is a folder that has no table
 * record and holds nothing but files of Lance: another program wrote them after the table was
 * renamed or dropped. It is moved to the quarantine, with a note of where it was and why it was
 * moved (`recordQuarantine`).
 */
import { nextRound } from '../../event-loop.ts';
import {
  fragmentsFolder,
  isLanceFragment,
  isTableFolder,
  joinPath,
  LANCE_FOLDERS,
  lastName,
  QUARANTINE_FOLDER,
  quarantineRecordFile,
  TABLE_FILE,
} from '../../format/index.ts';
import { encodeChecksummed } from '../../json.ts';
import type { ObjectPath } from '../../protocol/index.ts';
import { writeObject } from '../../table/index.ts';
import type { Catalog } from './catalog.ts';
import { prepareTrash } from './trash-entries.ts';

/** What is known of one thing in the quarantine. */
export interface QuarantinedItem {
  readonly path: string;
  readonly why: string;
  readonly quarantined?: string;
}

/** Makes a folder of the quarantine and says in it what is to be moved there, and from where. */
export async function recordQuarantine(
  { store, env }: Catalog,
  folder: string,
  items: readonly QuarantinedItem[],
): Promise<void> {
  await store.createFolder(folder);
  const record = encodeChecksummed({ format: 1, quarantined_at: env.now(), items });
  await writeObject(store, quarantineRecordFile(folder), record.bytes);
  await store.syncFolders([folder]);
}

export const GHOST =
  'It has no record, and holds nothing but files of Lance: a handle on a table that was renamed or dropped wrote them.';

/** Whether a folder is no table, and holds files of Lance alone. */
export async function isGhost({ store }: Catalog, folder: string): Promise<boolean> {
  if (!isTableFolder(lastName(folder))) return false;
  const entries = (await store.list(folder)) ?? [];
  if (entries.length === 0) return false;
  for (const { name, kind } of entries) {
    if (kind === 'file' && name.endsWith('.manifest')) continue;
    if (kind !== 'folder') return false;
    if (LANCE_FOLDERS.some((known) => known === name)) continue;
    if (name !== lastName(fragmentsFolder(folder))) return false;
    const data = (await store.list(joinPath(folder, name))) ?? [];
    if (!data.every((file) => file.kind === 'file' && isLanceFragment(file.name))) return false;
  }
  return true;
}

/**
 * Moves a ghost away from the place of a table. True where the place may be free by now: try again.
 * A table that took the place in this moment is put back, or goes to the trash where it cannot be.
 */
async function clearGhost(catalog: Catalog, id: ObjectPath, folder: string): Promise<boolean> {
  if (!(await isGhost(catalog, folder))) return false;
  const { engine, env, store } = catalog;
  return engine.withLock(`${folder} ghost`, async () => {
    if (!(await isGhost(catalog, folder))) return true;
    const aside = joinPath(QUARANTINE_FOLDER, env.uuid());
    const quarantined = joinPath(aside, `0-${lastName(folder)}`);
    await recordQuarantine(catalog, aside, [{ path: folder, why: GHOST, quarantined }]);
    if ((await store.moveFolder(folder, quarantined)) !== 'moved') return true;
    if ((await store.head(joinPath(quarantined, TABLE_FILE))) === undefined) return true;
    if ((await store.moveFolder(quarantined, folder)) !== 'moved') {
      await store.moveFolder(quarantined, await prepareTrash(catalog, 'table', id));
    }
    await nextRound();
    return true;
  });
}

/** Renames a folder to the place of a table, even if a ghost stands there. */
export async function moveToPlace(
  catalog: Catalog,
  id: ObjectPath,
  from: string,
  place: string,
): Promise<'moved' | 'taken' | 'missing'> {
  const outcome = await catalog.store.moveFolder(from, place);
  if (outcome !== 'taken' || !(await clearGhost(catalog, id, place))) return outcome;
  return catalog.store.moveFolder(from, place);
}
