/**
 * `sownOf` prepares the initial content of a fixture, so that it can be created again at each reset
 * (`Sown.open`). The content is a seed of plain JSON, a copy of a catalog, or a folder with a file
 * for each table and a folder for each namespace. Lance files and datasets in such a folder are
 * read at each reset; all else is read once. A wrong seed, and one of more than 256 MiB or 100,000
 * files, throws InvalidInput.
 */
import { openDirectoryNamespace } from '../directory/index.ts';
import type { Env } from '../env.ts';
import { DirspaceError } from '../errors.ts';
import {
  type FoundFile,
  filesBelow,
  isDataset,
  isLanceFile,
  kindOfPath,
  stemOfName,
  wholeFile,
} from '../interchange/index.ts';
import { FORMAT_FILE } from '../paths.ts';
import { Connection, connect } from '../sdk/index.ts';
import { memoryFileSystem } from '../store/index.ts';
import { copySeed, parseSeed, plant, type Seed } from './seed.ts';

export interface Sown {
  /** Opens a new catalog in memory with the content. */
  open(env: Env): Promise<Connection>;
}

/** Bytes of a seed, all its files together. */
const MOST_BYTES = 256 * 1024 * 1024;
const MOST_FILES = 100_000;

/** @throws InvalidInput for a seed that is wrong, and for a path that cannot be read */
export async function sownOf(seed: Seed | string): Promise<Sown> {
  if (typeof seed !== 'string') return ofJson(copySeed(seed));
  const kind = kindOfPath(seed);
  if (kind === 'folder') {
    const isCatalog = kindOfPath(`${seed}/${FORMAT_FILE}`) !== undefined;
    return isCatalog ? ofCatalog(seed) : ofFiles(seed);
  }
  if (kind === 'file') return ofJson(parseSeed((await wholeFile(seed, MOST_BYTES)).toString()));
  throw wrong(seed, 'cannot be read; give a file of JSON, a folder of files, or a catalog');
}

const wrong = (place: string, what: string): DirspaceError =>
  new DirspaceError('InvalidInput', `The seed ${JSON.stringify(place)} ${what}.`, {
    details: { file: place },
  });

const ofJson = (seed: Seed): Sown => ({
  open: (env) => filled(env, (catalog) => plant(catalog, seed)),
});

async function filled(env: Env, fill: (catalog: Connection) => Promise<void>): Promise<Connection> {
  const catalog = await connect('memory://', { env });
  try {
    await fill(catalog);
    return catalog;
  } catch (error) {
    await catalog.close();
    throw error;
  }
}

/** A table for each file, named as it is, in the namespace of its folders. */
async function ofFiles(folder: string): Promise<Sown> {
  const found = await filesBelow(folder, {
    most: MOST_FILES,
    leavesOut: (path) => path.at(-1)?.startsWith('.') === true,
    keepsWhole: isDataset,
  });
  checkSize(folder, found);
  const namespaces: string[][] = [];
  const tables = new Map<string, { path: string[]; name: string; data: File | string }>();
  for (const { path, file, kind } of found) {
    const [above, last] = [path.slice(0, -1), path.at(-1) as string];
    const isLance = kind === 'folder' ? isDataset(file) : isLanceFile(last);
    if (kind === 'folder' && !isLance) {
      namespaces.push([...path]);
      continue;
    }
    const name = isLance ? last.replace(/\.lance$/i, '') : stemOfName(last);
    if (kind === 'other')
      throw wrong(file, 'is neither a file nor a folder; links to folders are not followed');
    if (name === undefined) {
      throw wrong(
        file,
        'has no ending of a format that makes a table, such as .csv, .json, .ndjson, .arrow or .lance; take it out of the folder',
      );
    }
    const key = JSON.stringify([...above, name]);
    if (tables.has(key)) throw wrong(file, 'is a second file for the table of that name');
    const data = isLance ? file : new File([await wholeFile(file, MOST_BYTES)], path.join('/'));
    tables.set(key, { path: above, name, data });
  }
  return {
    open: (env) =>
      filled(env, async (catalog) => {
        for (const path of namespaces) await catalog.createNamespace(path);
        for (const { path, name, data } of tables.values())
          await catalog.importFile(data, name, path);
      }),
  };
}

/** The catalog as it is, with its versions, tags and ids. Links beside its files are those that Lance reads it by. */
async function ofCatalog(folder: string): Promise<Sown> {
  const found = await filesBelow(folder, { most: MOST_FILES });
  checkSize(folder, found);
  const entries: { readonly path: string; readonly bytes: Buffer | undefined }[] = [];
  for (const { path, file, kind } of found) {
    if (kind === 'other') continue;
    const bytes = kind === 'file' ? await wholeFile(file, MOST_BYTES) : undefined;
    entries.push({ path: `${ROOT}/${path.join('/')}`, bytes });
  }
  return {
    open: async (env) => {
      const fs = memoryFileSystem(env);
      fs.mkdirSync(ROOT, {});
      for (const { path, bytes } of entries) {
        if (bytes === undefined) fs.mkdirSync(path, {});
        else {
          const opened = fs.openSync(path, 'wx');
          fs.writeSync(opened, bytes, 0, bytes.length, null);
          fs.closeSync(opened);
        }
      }
      const namespace = await openDirectoryNamespace({ root: ROOT, place: 'memory://', fs, env });
      const catalog = new Connection(namespace, { label: 'dir: memory://', env });
      try {
        // A catalog that cannot be used opens all the same, so that it can be repaired.
        await catalog.namespaceExists([]);
        return catalog;
      } catch (error) {
        await catalog.close();
        throw error;
      }
    },
  };
}

const ROOT = '/catalog';

function checkSize(folder: string, found: readonly FoundFile[]): void {
  const bytes = found.reduce((sum, { size }) => sum + size, 0);
  if (bytes > MOST_BYTES) throw wrong(folder, `has ${bytes} bytes; ${MOST_BYTES} may be`);
}
