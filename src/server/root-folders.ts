/**
 * Checks the folders that a server serves. Before it starts, `requireFolders` creates missing
 * folders if the option `create` is set, and throws NamespaceNotFound if not. A file in place of a
 * folder, and `create` together with `readOnly`, throw InvalidInput. `FolderTrials` checks for
 * `/ready` that a folder can be read. Unless the server is read-only, it also checks that the disk
 * is not full and tries to write and flush a file in the catalog's private folder, if there is one;
 * a disk that passed is not tried again for three seconds. `isSetUp`, `isMissing` and `deviceOf`
 * tell about one folder.
 */
import { constants, existsSync } from 'node:fs';
import { access, mkdir, open, stat, statfs, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { DirspaceError } from '../errors.ts';
import { CLOCK_PREFIX, FORMAT_FILE, PRIVATE_FOLDER } from '../format/index.ts';
import { processTag, tellsMissing } from '../store/index.ts';

/**
 * Folders that are there, or are made where `create`. @throws NamespaceNotFound that names the first one
 * that is not: a path that was misspelt would serve an empty catalog; InvalidInput for a file in its place
 */
export async function requireFolders(
  paths: readonly string[],
  { create, readOnly }: { readonly create: boolean; readonly readOnly: boolean },
): Promise<void> {
  if (create && readOnly) {
    throw new DirspaceError(
      'InvalidInput',
      'The options "create" and "readOnly" exclude each other: a folder that is made has nothing to read.',
    );
  }
  for (const path of paths) {
    if (create) await makeFolder(path);
    const found = await stat(path).catch((cause) => {
      if (!tellsMissing(cause)) return undefined;
      throw new DirspaceError(
        'NamespaceNotFound',
        `There is nothing to serve at ${JSON.stringify(path)}: the folder does not exist. Check the path; the option "create" of a server and "dirspace serve --create" make a new one there.`,
        { details: { root: path }, cause },
      );
    });
    if (found?.isDirectory() === false) throw noFolder(path);
  }
}

async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    // A file stands in its place, or in that of a folder above it.
    const { code } = error as NodeJS.ErrnoException;
    throw code === 'EEXIST' || code === 'ENOTDIR' ? noFolder(path, error) : error;
  }
}

const noFolder = (path: string, cause?: unknown): DirspaceError =>
  new DirspaceError(
    'InvalidInput',
    `There is nothing to serve at ${JSON.stringify(path)}: a file stands where a folder is expected. Name the folder of a catalog.`,
    { details: { root: path }, cause },
  );

/** Whether a folder holds a catalog that was written to. */
export function isSetUp(folder: string): boolean {
  return existsSync(join(folder, FORMAT_FILE));
}

/** Whether nothing is there; a file is something. */
export async function isMissing(path: string): Promise<boolean> {
  return stat(path).then(() => false, tellsMissing);
}

/** The device that a folder is on; undefined where it is not there. */
export async function deviceOf(folder: string): Promise<number | undefined> {
  try {
    const found = await stat(folder);
    return found.isDirectory() ? found.dev : undefined;
  } catch (error) {
    if (tellsMissing(error)) return undefined;
    throw error;
  }
}

/** How long a disk that could be written counts as one, in milliseconds. */
const WRITABLE_FOR = 3_000;

/** Tries whether folders can be read and written. Keeps of each disk when it was last tried. */
export class FolderTrials {
  readonly #tried = new Map<number, number>();

  /** @throws what is wrong */
  async check(folder: string, readOnly: boolean): Promise<void> {
    const { R_OK, W_OK, X_OK } = constants;
    await access(folder, readOnly ? R_OK | X_OK : R_OK | W_OK | X_OK);
    if (readOnly) return;
    const { dev } = await stat(folder);
    if (performance.now() - (this.#tried.get(dev) ?? Number.NEGATIVE_INFINITY) < WRITABLE_FOR) {
      return;
    }
    await checkRoom(folder);
    await tryWriting(join(folder, PRIVATE_FOLDER));
    this.#tried.set(dev, performance.now());
  }
}

/** Some file systems do not count blocks, and report zero for both numbers. */
async function checkRoom(folder: string): Promise<void> {
  const { blocks, bavail } = await statfs(folder);
  if (blocks > 0 && bavail === 0) throw new Error('The disk of a root is full.');
}

/** Tells trials of this process apart. */
let trials = 0;

const TRIAL = Buffer.alloc(4_096);

/** As a commit does: a file that is made, filled and flushed. A folder that is not there is not made. */
async function tryWriting(folder: string): Promise<void> {
  trials++;
  // Named as what catalogs sweep where a process died over it.
  const file = join(folder, `${CLOCK_PREFIX}${processTag()}-ready-${trials}`);
  let handle: Awaited<ReturnType<typeof open>>;
  try {
    handle = await open(file, 'wx', 0o600);
  } catch (error) {
    if (tellsMissing(error)) return;
    throw error;
  }
  try {
    await handle.writeFile(TRIAL);
    await handle.datasync();
  } finally {
    await handle.close();
    await unlink(file);
  }
}
