/**
 * `filesBelow` lists the files and folders below a folder, each with its path from there, except
 * those that the caller leaves out. `wholeFile` reads a small file. Both throw InvalidInput for a
 * path that cannot be read, and for more entries or bytes than the caller allows. `kindOfPath`
 * tells whether a path is a file, a folder, something else, or nothing.
 */
import { type Dirent, type Stats, statSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileProblem } from './file-problem.ts';

/** What was found below a folder. */
export interface FoundFile {
  /** From the folder on, one name for each level. */
  readonly path: readonly string[];
  /** To open it by. */
  readonly file: string;
  /** A link to a file is that file; others, such as links to folders and pipes, are not followed. */
  readonly kind: 'file' | 'folder' | 'other';
  /** Bytes of a file. */
  readonly size: number;
}

export interface BelowOptions {
  /** Entries that may be found. */
  readonly most: number;
  /** Leaves an entry out, with all that is in it. */
  readonly leavesOut?: (path: readonly string[]) => boolean;
  /** Lists a folder without looking into it. */
  readonly keepsWhole?: (file: string) => boolean;
}

/**
 * All entries, by their names in code units, a folder before what is in it.
 * @throws InvalidInput for a folder that cannot be read or has too many entries
 */
export async function filesBelow(folder: string, options: BelowOptions): Promise<FoundFile[]> {
  const { most, leavesOut = () => false, keepsWhole = () => false } = options;
  const found: FoundFile[] = [];
  const look = async (above: readonly string[]): Promise<void> => {
    for (const entry of await entriesOf(join(folder, ...above))) {
      const path = [...above, entry.name];
      if (leavesOut(path)) continue;
      if (found.length >= most) {
        const what = `has more than ${most} files and folders`;
        throw fileProblem(`The folder ${JSON.stringify(folder)} ${what}.`, { file: folder });
      }
      const file = join(folder, ...path);
      found.push(await foundFile(path, file, entry));
      if (entry.isDirectory() && !keepsWhole(file)) await look(path);
    }
  };
  await look([]);
  return found;
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(unreadable(folder));
  return entries.sort((one, other) => (one.name < other.name ? -1 : 1));
}

async function foundFile(path: readonly string[], file: string, entry: Dirent): Promise<FoundFile> {
  if (entry.isDirectory()) return { path, file, kind: 'folder', size: 0 };
  const facts: Stats | undefined = await stat(file).catch(() => undefined);
  if (facts?.isFile() !== true) return { path, file, kind: 'other', size: 0 };
  return { path, file, kind: 'file', size: facts.size };
}

/** Undefined where nothing is there, nor can be as the path leads through a file. */
export function kindOfPath(path: string): 'file' | 'folder' | 'other' | undefined {
  try {
    const facts = statSync(path, { throwIfNoEntry: false });
    if (facts === undefined) return undefined;
    return facts.isFile() ? 'file' : facts.isDirectory() ? 'folder' : 'other';
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return undefined;
    throw error;
  }
}

/** @throws InvalidInput for a file that cannot be read or has more bytes than `most` */
export async function wholeFile(file: string, most: number): Promise<Buffer> {
  const { size } = await stat(file).catch(unreadable(file));
  if (size > most) {
    throw fileProblem(`The file ${JSON.stringify(file)} has ${size} bytes; ${most} may be.`, {
      file,
    });
  }
  return readFile(file).catch(unreadable(file));
}

const unreadable =
  (file: string) =>
  (cause: Error): never => {
    throw fileProblem(`${JSON.stringify(file)} cannot be read.`, { file }, cause);
  };
