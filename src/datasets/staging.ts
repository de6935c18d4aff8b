/**
 * Lets new files and folders appear under their names only when they are complete: writers write
 * beside their target, under a name from `stagingPath`, and then rename. `removeAbandoned` removes
 * what writers of the same target left, if their process has died, or if it cannot be asked and
 * nothing was written for a week. `syncFolder` makes names in a folder durable. `refuseInCatalog`
 * throws InvalidInput for targets inside a catalog, except for files directly in its root whose
 * names do not begin with a dot.
 */
import { lstat, open, readdir, realpath, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { systemEnv } from '../env.ts';
import { DirspaceError } from '../errors.ts';
import { FORMAT_FILE } from '../format/index.ts';
import { hasDied, parseProcessTag, processTag, tellsMissing } from '../store/index.ts';

/**
 * Whatever lies in the folders of a catalog and was not made by the engine is damage of the catalog,
 * but for files directly in its root.
 * @param given as the user named the target
 * @throws InvalidInput
 */
export async function refuseInCatalog(
  target: string,
  given: string,
  what: 'folder' | 'file',
): Promise<void> {
  const isThere = (path: string): Promise<boolean> =>
    lstat(path).then(
      () => true,
      () => false,
    );
  const parent = await realpath(dirname(target)).catch((error: NodeJS.ErrnoException) => {
    if (tellsMissing(error)) return undefined;
    throw error;
  });
  for (let at = parent; at !== undefined; at = dirname(at) === at ? undefined : dirname(at)) {
    if (!(await isThere(join(at, FORMAT_FILE)))) continue;
    // People work in the folder of a catalog: files there, beside its own folders, harm nothing.
    const isBeside = at === parent && what === 'file' && !basename(target).startsWith('.');
    if (isBeside) continue;
    throw new DirspaceError(
      'InvalidInput',
      `${JSON.stringify(given)} lies in the folder of the catalog ${JSON.stringify(at)}, which would then be damaged: it holds nothing but files of the catalog. Name a ${what} outside of it.`,
      { details: { catalog: at } },
    );
  }
}

const PARTIAL = '.partial-';
/** Names have at most 255 bytes; what is added to them has some 80. */
const MOST_OF_NAME = 160;

/** How the names of what is written for a target begin. */
const prefixOf = (target: string): string => {
  const name = Buffer.from(basename(target));
  // Cuts between characters: half of one would become a replacement character.
  const begin = name
    .subarray(0, MOST_OF_NAME)
    .toString()
    .replace(/\ufffd$/, '');
  return (name.length > MOST_OF_NAME ? begin : basename(target)) + PARTIAL;
};

/** A new name beside the target, which tells the process that writes. */
export const stagingPath = (target: string): string =>
  join(dirname(target), `${prefixOf(target)}${processTag()}-${systemEnv.uuid()}`);

/** How long what a process left stays that cannot be asked, as on another machine; milliseconds. */
const UNKNOWN_GRACE = 7 * 24 * 3_600_000;

/** Removes what writers of the same target left whose process has died. */
export async function removeAbandoned(target: string): Promise<void> {
  const prefix = prefixOf(target);
  const parent = dirname(target);
  const names = await readdir(parent).catch(() => []);
  for (const name of names) {
    const id = name.startsWith(prefix) ? name.slice(prefix.length) : '';
    if (!PARTIAL_ID.test(id)) continue;
    const owner = parseProcessTag(id);
    const path = join(parent, name);
    const isHere = owner !== undefined && processTag().startsWith(owner.host);
    if (isHere ? hasDied(owner) : await isSilent(path))
      await rm(path, { recursive: true, force: true });
  }
}

/** The id of a copy: its process, then 128 random bits. Older releases left out the process. */
const PARTIAL_ID =
  /^(?:[0-9a-f]{8}-[0-9a-f]{1,8}-[0-9a-f]{1,12}-)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Whether nothing was written there for a week. */
async function isSilent(path: string): Promise<boolean> {
  const data = join(path, 'data');
  const names = await readdir(data).catch(() => []);
  for (const file of [path, data, ...names.map((name) => join(data, name))]) {
    const found = await lstat(file).catch(() => undefined);
    if (found !== undefined && systemEnv.now() - found.mtimeMs < UNKNOWN_GRACE) return false;
  }
  return true;
}

/** Makes names in the folder last; systems that cannot open folders do so by themselves. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
