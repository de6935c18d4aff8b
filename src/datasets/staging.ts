/**
 * Lets new files and folders appear under their names only when they are complete: writers write
 * beside their target, under a name from `stagingPath`, and then rename. `removeAbandoned` removes
 * what writers of the same target left, if their process has died, or if it cannot be asked and
 * nothing was written for a week. `lostOr` makes the error of a writer whose files were removed.
 * `syncFolder` makes names in a folder durable. `refuseInCatalog`
 * throws InvalidInput for targets inside a catalog, except for files directly in its root whose
 * names do not begin with a dot.
 */
import { lstat, open, readdir, realpath, rename, rm } from 'node:fs/promises';
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

/**
 * Removes what writers of the same target left whose process has died. Each leaves its name in one
 * rename before its files go, so that a writer which was at work nevertheless finds all of them or
 * none, and cannot publish a part. What cannot be renamed or removed stays.
 * @param own what this writer has just made beside the target: its time is that of the file system's
 * clock, while the clock of this machine may be wrong
 */
export async function removeAbandoned(target: string, own: string): Promise<void> {
  const prefix = prefixOf(target);
  const parent = dirname(target);
  const names = await readdir(parent).catch(() => []);
  const { mtimeMs: now } = await lstat(own);
  for (const name of names) {
    const id = name.startsWith(prefix) ? name.slice(prefix.length) : '';
    if (!PARTIAL_ID.test(id) || name === basename(own)) continue;
    const owner = parseProcessTag(id);
    const path = join(parent, name);
    const isHere = owner !== undefined && processTag().startsWith(owner.host);
    if (!(isHere ? hasDied(owner) : await isSilent(path, now))) continue;
    const doomed = stagingPath(target);
    try {
      await rename(path, doomed);
      await rm(doomed, { recursive: true, force: true });
    } catch {
      // Another writer removes it, or it is not ours to remove.
    }
  }
}

/** The id of a copy: its process, then 128 random bits. Older releases left out the process. */
const PARTIAL_ID =
  /^(?:[0-9a-f]{8}-[0-9a-f]{1,8}-[0-9a-f]{1,12}-)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Whether nothing was written there for a week. */
async function isSilent(path: string, now: number): Promise<boolean> {
  const data = join(path, 'data');
  const names = await readdir(data).catch(() => []);
  for (const file of [path, data, ...names.map((name) => join(data, name))]) {
    const found = await lstat(file).catch(() => undefined);
    if (found !== undefined && now - found.mtimeMs < UNKNOWN_GRACE) return false;
  }
  return true;
}

/**
 * The error of a writer that failed: says so where what it wrote is gone from its place.
 * @param given as the user named the target
 */
export async function lostOr(error: unknown, staging: string, given: string): Promise<unknown> {
  if (!tellsMissing(error)) return error;
  const isThere = await lstat(staging).catch(() => undefined);
  if (isThere !== undefined) return error;
  return new DirspaceError(
    'ConcurrentModification',
    `${JSON.stringify(given)} was not written: ${JSON.stringify(basename(staging))} beside it, which held what was written so far, was removed by another program. One of another machine does so after a week without a change. Write it again.`,
    { cause: error },
  );
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
