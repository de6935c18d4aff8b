/**
 * What a crash left in the staging folder: tables, namespaces and branches that were being built and
 * that nothing refers to. Whoever opens the catalog removes what nobody has touched for as long as
 * cleanup keeps files without a version.
 */
import { joinPath, STAGING_FOLDER } from '../format/paths.ts';
import { DEFAULT_ORPHAN_GRACE, fileSystemTime } from '../table/cleanup.ts';
import type { Catalog } from './catalog.ts';

/** Called when a catalog is opened for writing. Never fails: the next one tries again. */
export async function sweepStaging(catalog: Catalog): Promise<void> {
  try {
    let now: number | undefined;
    for (const { name, kind } of (await catalog.store.list(STAGING_FOLDER)) ?? []) {
      if (kind !== 'folder') continue;
      const folder = joinPath(STAGING_FOLDER, name);
      const touched = await lastTouched(catalog, folder);
      if (touched === undefined) continue;
      now ??= await fileSystemTime(catalog.engine);
      if (now - touched >= DEFAULT_ORPHAN_GRACE) await catalog.store.deleteFolder(folder);
    }
  } catch {
    // Nothing that is wrong with leftovers keeps anybody from opening the catalog.
  }
}

/** Undefined for a folder without files: it may have been made just now. */
async function lastTouched(catalog: Catalog, folder: string): Promise<number | undefined> {
  let last: number | undefined;
  for (const { name, kind } of (await catalog.store.list(folder)) ?? []) {
    const path = joinPath(folder, name);
    const touched =
      kind === 'folder'
        ? await lastTouched(catalog, path)
        : (await catalog.store.head(path))?.modified;
    if (touched !== undefined) last = Math.max(touched, last ?? touched);
  }
  return last;
}
