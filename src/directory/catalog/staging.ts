/**
 * `sweepStaging` removes the remains of crashed processes when a catalog is opened for writing.
 * These are clock files in `.dirspace`, and unfinished tables, namespaces and branches in the
 * staging folder. The remains of a process that is known to have died are removed at once, others
 * when their newest file is old enough. An error ends the sweep and is ignored, so that the catalog
 * still opens. `lastTouched` tells when a file in a folder was last changed; it returns undefined
 * for a folder without files.
 */
import { CLOCK_PREFIX, joinPath, PRIVATE_FOLDER, STAGING_FOLDER } from '../../format/index.ts';
import { hasDied, parseProcessTag } from '../../store/index.ts';
import { DEFAULT_ORPHAN_GRACE, fileSystemTime } from '../../table/index.ts';
import type { Catalog } from './catalog.ts';
import { removeForGood } from './lance-tables.ts';

/** Called when a catalog is opened for writing. Never fails: the next one tries again. */
export async function sweepStaging(catalog: Catalog): Promise<void> {
  try {
    let now: number | undefined;
    for (const { name, kind } of (await catalog.store.list(STAGING_FOLDER)) ?? []) {
      if (kind !== 'folder') continue;
      const folder = joinPath(STAGING_FOLDER, name);
      if (isOfDead(name)) {
        await removeForGood(catalog, folder);
        continue;
      }
      const touched = await lastTouched(catalog, folder);
      if (touched === undefined) continue;
      now ??= await fileSystemTime(catalog.engine);
      if (now - touched >= DEFAULT_ORPHAN_GRACE) await removeForGood(catalog, folder);
    }
    await sweepClocks(catalog);
  } catch {
    // Damaged leftovers must not keep the catalog from opening.
  }
}

function isOfDead(name: string): boolean {
  const owner = parseProcessTag(name);
  return owner !== undefined && hasDied(owner);
}

/** A look at the clock takes no time; older releases do not say whose it was. */
const CLOCK_GRACE = 3_600_000;

/** Files that tell the file system's time, left by processes that were killed over them. */
async function sweepClocks(catalog: Catalog): Promise<void> {
  let now: number | undefined;
  for (const { name, kind } of (await catalog.store.list(PRIVATE_FOLDER)) ?? []) {
    if (kind !== 'file' || !name.startsWith(CLOCK_PREFIX)) continue;
    const file = joinPath(PRIVATE_FOLDER, name);
    const left = (await catalog.store.head(file))?.modified;
    if (left === undefined) continue;
    now ??= await fileSystemTime(catalog.engine);
    const isDead = isOfDead(name.slice(CLOCK_PREFIX.length));
    if (isDead || now - left >= CLOCK_GRACE) await catalog.store.delete(file);
  }
}

/** Undefined for a folder without files: it may have been made just now. */
export async function lastTouched(catalog: Catalog, folder: string): Promise<number | undefined> {
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
