/**
 * Finds the datasets of tables that other programs write in Lance's format: in a folder that the
 * catalog has reserved for those programs, at a registered location, or in the table's own folder
 * (`lancePlace`). `tablePlace` and `placeOf` give the location that DescribeTable answers.
 * `lanceVersions` lists versions by the names of their manifests. Either other programs or this
 * engine write a table, never both. `closeToOthers` must be called before this engine publishes the
 * first rows of a table: it closes the reserved folder by a file in its place (`fence`, `isFence`),
 * or throws Unsupported if others have written there. `removeForGood` deletes a folder of tables
 * and what others wrote at the places reserved for them, and closes these. `rowsElsewhere` builds
 * the Unsupported error for rows that other programs write, and `isOfOthers` recognises it.
 */
import { type DirspaceError, isDirspaceError } from '../../errors.ts';
import {
  isOutside,
  isReservedFolder,
  joinPath,
  LANCE_TABLES_FOLDER,
  lanceVersionFiles,
  lanceVersionsFolder,
  lastName,
  parseLanceVersionName,
  TABLE_FILE,
} from '../../format/index.ts';
import { errorNaming } from '../../protocol/index.ts';
import { type FoundStorage, stagingFolder } from '../../table/index.ts';
import { type Catalog, locationOf, readTableRecord, storedTable, type Table } from './catalog.ts';

/** Where a table lies for those who open it: what describe answers. */
export const tablePlace = (catalog: Catalog, table: Table, hasRowsHere: boolean): string =>
  hasRowsHere ? locationOf(catalog, table.folder) : lancePlace(catalog, table);

/** As tablePlace, for a table whose versions were not looked at. */
export async function placeOf(catalog: Catalog, table: Table): Promise<string> {
  const { location } = table.record;
  const isOwn = location === undefined || (await isFence(catalog, location)) === 'rows';
  return tablePlace(catalog, table, isOwn);
}

/** Where programs of others find the table, or write it. */
export function lancePlace(catalog: Catalog, { record, folder }: Table): string {
  const { location } = record;
  if (location === undefined) return locationOf(catalog, folder);
  return isOutside(location) ? location : locationOf(catalog, location);
}

/**
 * The folder in the root in which a dataset of Lance may lie; undefined for one outside it. A
 * folder that is reserved when the table is declared never moves and is never used again.
 */
export function lanceHome({ record, folder }: Table): string | undefined {
  const { location = folder } = record;
  return isOutside(location) ? undefined : location;
}

/** Files that show that a table without a version here has rows, or gets some; undefined for none. */
export async function storageOf(catalog: Catalog, table: Table): Promise<FoundStorage | undefined> {
  const { location } = table.record;
  if (location !== undefined) {
    if (isOutside(location)) return { kind: 'lance', path: location };
    const path = await fileIn(catalog, location);
    if (path !== undefined) return { kind: 'lance', path };
  }
  return storedTable(catalog, table).main.storage();
}

/** The path of an entry in a folder, unless all it has are empty folders. */
async function fileIn({ store }: Catalog, folder: string): Promise<string | undefined> {
  for (const { name, kind } of (await store.list(folder)) ?? []) {
    const path = joinPath(folder, name);
    if (kind !== 'folder' || ((await store.list(path)) ?? []).length > 0) return path;
  }
  return undefined;
}

/** A version of a dataset of Lance, by the name of its manifest. */
export interface LanceVersion {
  readonly version: number;
  readonly scheme: 'V1' | 'V2';
  readonly file: string;
}

/** The version of that number; undefined where its manifest is not there. */
export async function lanceVersion(
  { store }: Catalog,
  table: Table,
  version: number,
): Promise<LanceVersion | undefined> {
  const home = lanceHome(table);
  if (home === undefined || version < 1) return undefined;
  for (const file of lanceVersionFiles(home, version)) {
    const parsed = parseLanceVersionName(lastName(file));
    if (parsed?.version === version && (await store.head(file)) !== undefined) {
      return { ...parsed, file };
    }
  }
  return undefined;
}

/** The versions that manifests in the table's dataset are named for, oldest first. */
export async function lanceVersions({ store }: Catalog, table: Table): Promise<LanceVersion[]> {
  const home = lanceHome(table);
  if (home === undefined) return [];
  const folder = lanceVersionsFolder(home);
  const found = new Map<number, LanceVersion>();
  for (const { name, kind } of (await store.list(folder)) ?? []) {
    const parsed = kind === 'file' ? parseLanceVersionName(name) : undefined;
    if (parsed === undefined) continue;
    if (found.get(parsed.version)?.scheme === 'V2') continue;
    found.set(parsed.version, { ...parsed, file: joinPath(folder, name) });
  }
  return [...found.values()].sort((left, right) => left.version - right.version);
}

/** Why a place is closed to writers, for whoever looks into the file. */
const FENCES = {
  rows: 'The table that this place was reserved for has rows of dirspace and lies elsewhere: ask the catalog where.\n',
  dropped: 'The table of this place was dropped and removed.\n',
} as const;
/** Others may be about to write in the same moment. */
const MOST_ATTEMPTS = 16;

/** Closes a reserved place to writers of others. False where any of them has put files there. */
export async function fence(
  catalog: Catalog,
  location: string,
  why: keyof typeof FENCES,
): Promise<boolean> {
  const { store } = catalog;
  await store.createFolder(LANCE_TABLES_FOLDER);
  const text = new TextEncoder().encode(FENCES[why]);
  for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt++) {
    if (await store.putIfAbsent(location, text)) return true;
    const entries = await store.list(location);
    if (entries === undefined) {
      if ((await isFence(catalog, location)) !== undefined) return true;
      continue;
    }
    // A writer makes folders before its files: where there are none yet, it fails.
    for (const { name, kind } of entries) {
      if (kind !== 'folder' || !(await store.deleteEmptyFolder(joinPath(location, name)))) {
        return false;
      }
    }
    await store.deleteEmptyFolder(location);
  }
  return false;
}

/**
 * Right before rows of this engine are published as the first ones of a table.
 * @throws Unsupported where others have written theirs, or are about to
 */
export async function closeToOthers(catalog: Catalog, table: Table): Promise<void> {
  const { location } = table.record;
  if (location === undefined) return;
  const isClosed = !isOutside(location) && (await fence(catalog, location, 'rows'));
  if (!isClosed) throw rowsElsewhere(catalog, table);
}

/** What the fence at a reserved place is for; undefined where none stands there. */
export async function isFence(
  { store }: Catalog,
  location: string,
): Promise<keyof typeof FENCES | undefined> {
  if (!isReservedFolder(location)) return undefined;
  const bytes = await store.getHint(location);
  if (bytes === undefined) return undefined;
  const text = new TextDecoder().decode(bytes);
  return text === FENCES.rows ? 'rows' : text === FENCES.dropped ? 'dropped' : undefined;
}

/**
 * Removes a folder of tables, and what others wrote at the places reserved for them. The folder has left
 * its place before: nothing can bring it back.
 */
export async function removeForGood(
  catalog: Catalog,
  folder: string,
  pause?: () => Promise<void>,
): Promise<void> {
  for await (const location of placesIn(catalog, folder)) {
    await pause?.();
    await removePlace(catalog, location, pause);
  }
  await catalog.store.deleteFolder(folder, pause);
}

/** The reserved places of the tables in a folder and below it. */
export async function* placesIn(catalog: Catalog, folder: string): AsyncGenerator<string> {
  const entries = (await catalog.store.list(folder)) ?? [];
  if (!entries.some(({ name }) => name === TABLE_FILE)) {
    for (const { name, kind } of entries)
      if (kind === 'folder') yield* placesIn(catalog, joinPath(folder, name));
    return;
  }
  try {
    const location = (await readTableRecord(catalog, folder))?.location;
    if (location !== undefined && isReservedFolder(location)) yield location;
  } catch (error) {
    // What cannot be read names no place; the files there are reported by verify.
    if (!isDirspaceError(error, 'Corrupt', 'UnsupportedFormat', 'InvalidInput')) throw error;
  }
}

/** A writer that still holds the place gets an error from then on. */
async function removePlace(
  catalog: Catalog,
  location: string,
  pause: (() => Promise<void>) | undefined,
): Promise<void> {
  const { store, env } = catalog;
  for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt++) {
    const doomed = stagingFolder(env);
    const isThere = (await store.list(location)) !== undefined;
    const outcome = isThere ? await store.moveFolder(location, doomed) : 'missing';
    const isClosed = await fence(catalog, location, 'dropped');
    if (outcome === 'moved') await store.deleteFolder(doomed, pause);
    if (isClosed) return;
  }
}

/** For operations on rows, which are not here. */
export const rowsElsewhere = (catalog: Catalog, table: Table): DirspaceError => {
  const location = lancePlace(catalog, table);
  return errorNaming(
    'Unsupported',
    (show) =>
      `The rows of the table ${show(table.id)} are in Lance's format, written by another program. Read and write it at its location, ${location}, with a client of Lance.`,
    { details: { id: table.id, location, found: 'lance' } },
  );
};

/** Whether an operation was refused because the rows are not here. */
export const isOfOthers = (error: unknown): boolean =>
  isDirspaceError(error, 'Unsupported') && error.details.found === 'lance';
