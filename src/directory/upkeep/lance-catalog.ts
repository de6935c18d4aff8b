/**
 * Reads and publishes versions of `__manifest`, the table at the catalog's root by which Lance's
 * directory namespace lists the catalog. `newestListing` returns the newest version that this
 * engine wrote, tells that it is damaged, or returns undefined if there is no version. It renames
 * newer versions of other programs, so that no reader takes them for the catalog; if there are only
 * such versions, it throws InvalidTableState. `listedVersions`, `readListedVersion` and
 * `readListing` read any version, and `listedRows` its rows. `publishListing` creates the manifest
 * of a version exclusively: if several writers publish the same version, one wins, and it returns
 * false to the others. After a success it removes old versions.
 */
import { DirspaceError, isDirspaceError } from '../../errors.ts';
import {
  decodeDeletions,
  encodeDeletions,
  fragmentFile,
  fragmentsFolder,
  isLanceAside,
  isOwnLanceManifest,
  isOwnTemporary,
  joinPath,
  LANCE_CATALOG,
  type LanceCatalogPart,
  type LanceCatalogRow,
  LanceCatalogRows,
  type LanceCatalogVersion,
  lanceAsideFile,
  lanceCatalogDigest,
  lanceCatalogFile,
  lanceCatalogManifest,
  lanceCatalogObject,
  lanceDeletionFile,
  lanceDeletionId,
  lanceDeletionsFolder,
  lanceVersionFile,
  lanceVersionsFolder,
  lastName,
  MAX_LANCE_MANIFEST_BYTES,
  NAMESPACE_FILE,
  parseLanceCatalogObject,
  parseLanceDeletion,
  parseLanceVersionFile,
  readLanceCatalogManifest,
} from '../../format/index.ts';
import { corrupt } from '../../json.ts';
import { inTurns, Turn } from '../../table/index.ts';
import type { Catalog } from '../catalog/index.ts';
import { requireRoot } from './root-presence.ts';

/** Rows of the large file are named by their position there. */
const BASE_ID = 0;
/** Versions that readers may still hold stay: those as young as this, in milliseconds, up to so many. */
const KEPT_MILLIS = 3_600_000;
const KEPT_VERSIONS = 100;
/** More of them than are kept are removed at once. */
const REMOVED_AT_ONCE = 32;

/**
 * What a version of `__manifest` lists: the rows of a large file that stays, without those that a
 * deletion file names, and the rows of a small file that each change rewrites.
 */
export interface Listing {
  readonly version: number;
  readonly scope: string;
  readonly base: ListedBase | undefined;
  /** Rows that came after the base, in order of their keys. */
  readonly added: readonly LanceCatalogRow[];
}

export interface ListedBase {
  readonly part: LanceCatalogPart;
  readonly rows: LanceCatalogRows;
  /** Positions of rows that are not listed any more, ascending. */
  readonly deleted: readonly number[];
}

/** The large file that was read last of each catalog. Its content never changes. */
const kept = new WeakMap<Catalog, { readonly file: string; readonly rows: LanceCatalogRows }>();

/** All rows of a version, in no particular order. */
export function* listedRows({ base, added }: Listing): Generator<LanceCatalogRow> {
  const deleted = new Set(base?.deleted);
  for (let at = 0; at < (base?.rows.count ?? 0); at++)
    if (!deleted.has(at)) yield base?.rows.row(at) as LanceCatalogRow;
  yield* added;
}

/** Versions of `__manifest` that have a file, of whatever program, newest first. */
export async function listedVersions({ store }: Catalog): Promise<number[]> {
  const entries = (await store.list(lanceVersionsFolder(LANCE_CATALOG))) ?? [];
  return entries
    .flatMap(({ name, kind }) => (kind === 'file' ? (parseLanceVersionFile(name) ?? []) : []))
    .sort((a, b) => b - a);
}

/**
 * What a version's manifest says; undefined for one of another program.
 * @throws Corrupt
 */
export async function readListedVersion(
  { store }: Catalog,
  version: number,
): Promise<LanceCatalogVersion | undefined> {
  const path = lanceVersionFile(LANCE_CATALOG, version);
  const size = (await store.head(path))?.size ?? 0;
  const bytes = size > MAX_LANCE_MANIFEST_BYTES ? undefined : await store.get(path);
  if (bytes === undefined || !isOwnLanceManifest(bytes)) return undefined;
  return readLanceCatalogManifest(bytes, path);
}

/** The files of a version. */
export function* filesOf({ base, added }: LanceCatalogVersion): Generator<string> {
  for (const part of [base, added])
    if (part !== undefined) yield fragmentFile(LANCE_CATALOG, part.file);
  if (base?.deletion !== undefined)
    yield lanceDeletionFile(LANCE_CATALOG, BASE_ID, base.deletion.id);
}

/**
 * @param anew also reads and checks a file again that was read before
 * @throws Corrupt where a file is missing or is not as it was written
 */
export async function readListing(
  catalog: Catalog,
  of: LanceCatalogVersion,
  anew: boolean,
): Promise<Listing> {
  const { version, scope } = of;
  const base = of.base === undefined ? undefined : await readBase(catalog, of.base, anew);
  const rows = of.added === undefined ? undefined : await readRows(catalog, of.added);
  const added = Array.from({ length: rows?.count ?? 0 }, (_, at) => rows?.row(at));
  return { version, scope, base, added: added as LanceCatalogRow[] };
}

async function readBase(
  catalog: Catalog,
  part: LanceCatalogPart,
  anew: boolean,
): Promise<ListedBase> {
  const deleted = await readDeleted(catalog, part);
  const known = kept.get(catalog);
  const path = fragmentFile(LANCE_CATALOG, part.file);
  const isKnown =
    !anew && known?.file === part.file && (await catalog.store.head(path)) !== undefined;
  const rows = isKnown ? known.rows : await readRows(catalog, part);
  if (!isKnown) kept.set(catalog, { file: part.file, rows });
  return { part, rows, deleted };
}

async function readRows(
  { store }: Catalog,
  { file, rows }: LanceCatalogPart,
): Promise<LanceCatalogRows> {
  const path = fragmentFile(LANCE_CATALOG, file);
  const bytes = (await store.get(path)) ?? missing(path);
  const found = new LanceCatalogRows(bytes, parseLanceCatalogObject(lastName(path)) ?? '', path);
  if (found.count !== rows) throw corrupt(path, `it has ${found.count} rows and not ${rows}`);
  return found;
}

async function readDeleted(
  { store }: Catalog,
  { file, deletion, rows }: LanceCatalogPart,
): Promise<readonly number[]> {
  if (deletion === undefined) return [];
  const path = lanceDeletionFile(LANCE_CATALOG, BASE_ID, deletion.id);
  const bytes = (await store.get(path)) ?? missing(path);
  const found = decodeDeletions(bytes, rows, path);
  if (deletionNumber(file, bytes) !== deletion.id)
    throw corrupt(path, 'its bytes are not those that it is named by');
  return [...found];
}

/** Names one set of rows of one base: two writers of the same set write the same file. */
const deletionNumber = (base: string, bytes: Uint8Array): bigint =>
  lanceDeletionId(`${base} ${lanceCatalogDigest(bytes)}`);

const missing = (path: string): never => {
  throw corrupt(path, 'it is not there');
};

/**
 * The newest version that is this engine's; undefined where there is none. Versions of other programs above
 * it were forced past the fence, and are set aside.
 * @param anew as for readListing
 * @returns `damaged` where a file of the newest version cannot be read
 * @throws InvalidTableState where all are of another program, or a namespace has the name
 */
export async function newestListing(
  catalog: Catalog,
  anew: boolean,
): Promise<Listing | { readonly version: number; readonly damaged: true } | undefined> {
  const { store, env } = catalog;
  if ((await store.head(joinPath(LANCE_CATALOG, NAMESPACE_FILE))) !== undefined)
    throw taken('is a namespace of this catalog, and Lance can have no table there');
  const strangers: string[] = [];
  for (const version of await listedVersions(catalog)) {
    const path = lanceVersionFile(LANCE_CATALOG, version);
    const found = await undamaged(() => readListedVersion(catalog, version));
    if (found === undefined) {
      strangers.push(path);
      continue;
    }
    for (const stranger of strangers)
      await store.renameFile(stranger, lanceAsideFile(stranger, env.uuid()));
    const listing =
      found === DAMAGED ? DAMAGED : await undamaged(() => readListing(catalog, found, anew));
    return listing === DAMAGED ? { version, damaged: true } : listing;
  }
  if (strangers.length > 0) throw taken('holds the catalog of another program of Lance');
  return undefined;
}

const DAMAGED = Symbol('damaged');

async function undamaged<Value>(read: () => Promise<Value>): Promise<Value | typeof DAMAGED> {
  try {
    return await read();
  } catch (error) {
    if (isDirspaceError(error, 'Corrupt', 'UnsupportedFormat')) return DAMAGED;
    throw error;
  }
}

const taken = (what: string): DirspaceError =>
  new DirspaceError(
    'InvalidTableState',
    `The folder ${LANCE_CATALOG} at the root ${what}. Move it away, then synchronize the catalog again.`,
    { details: { path: LANCE_CATALOG } },
  );

/** What the next version is to list: all rows anew, or those of a base that is there and a few others. */
export interface NextListing {
  /** In order of their keys. */
  readonly added: readonly LanceCatalogRow[];
  readonly base?: ListedBase | undefined;
}

/** Publishes a version; false where another writer has published one of that number. */
export async function publishListing(
  catalog: Catalog,
  version: number,
  next: NextListing,
): Promise<boolean> {
  const { store, env, engine } = catalog;
  await requireRoot(store);
  for (const folder of [fragmentsFolder, lanceVersionsFolder, lanceDeletionsFolder])
    await store.createFolder(folder(LANCE_CATALOG));
  const transaction = env.uuid();
  const added = await writeRows(catalog, next.added, transaction);
  const base = next.base === undefined ? undefined : await writeDeleted(catalog, next.base);
  const files = next.base === undefined ? { base: added } : { base, added };
  const manifest = lanceCatalogManifest({
    version,
    timestamp: env.now(),
    transaction,
    scope: engine.processes.self.scope,
    base: files.base,
    added: 'added' in files ? files.added : undefined,
  });
  if (await store.putIfAbsent(lanceVersionFile(LANCE_CATALOG, version), manifest)) {
    await removeOld(catalog, version);
    return true;
  }
  if (added !== undefined) await store.delete(fragmentFile(LANCE_CATALOG, added.file));
  return false;
}

async function writeRows(
  { store, env }: Catalog,
  rows: readonly LanceCatalogRow[],
  id: string,
): Promise<LanceCatalogPart | undefined> {
  if (rows.length === 0) return undefined;
  const { bytes, fileSize } = await inTurns(new Turn(env), lanceCatalogFile(rows), undefined);
  const file = lanceCatalogObject(lanceCatalogDigest(bytes), id);
  await store.putIfAbsent(fragmentFile(LANCE_CATALOG, file), bytes);
  return { file, rows: rows.length, fileSize };
}

async function writeDeleted(
  { store }: Catalog,
  { part, deleted }: ListedBase,
): Promise<LanceCatalogPart | undefined> {
  if (deleted.length === part.rows) return undefined;
  if (deleted.length === (part.deletion?.rows ?? 0)) return part;
  const bytes = encodeDeletions(Uint32Array.from(deleted), part.rows);
  const id = deletionNumber(part.file, bytes);
  // Taken where another writer came to the same.
  await store.putIfAbsent(lanceDeletionFile(LANCE_CATALOG, BASE_ID, id), bytes);
  return { ...part, deletion: { id, rows: deleted.length } };
}

/** Removes versions that no reader can be at work on any more, and their files. */
async function removeOld(catalog: Catalog, newest: number): Promise<void> {
  const { store } = catalog;
  const now = (await store.head(lanceVersionFile(LANCE_CATALOG, newest)))?.modified;
  if (now === undefined) return;
  const isOld = async (path: string): Promise<boolean> =>
    now - ((await store.head(path))?.modified ?? now) > KEPT_MILLIS;
  const versions = await listedVersions(catalog);
  const oldest = versions.at(-1) as number;
  const isDue =
    versions.length > KEPT_VERSIONS + REMOVED_AT_ONCE ||
    (await isOld(lanceVersionFile(LANCE_CATALOG, oldest)));
  if (!isDue) return;
  const used = new Set<string>();
  for (const version of versions) {
    const path = lanceVersionFile(LANCE_CATALOG, version);
    const found = await undamaged(() => readListedVersion(catalog, version));
    if (found === undefined) continue;
    const stays = version >= newest || (version >= newest - KEPT_VERSIONS && !(await isOld(path)));
    if (!stays) await store.delete(path);
    else if (found !== DAMAGED) for (const file of filesOf(found)) used.add(file);
  }
  const folders = [fragmentsFolder, lanceVersionsFolder, lanceDeletionsFolder];
  for (const folder of folders.map((of) => of(LANCE_CATALOG))) {
    for (const { name, kind } of (await store.list(folder)) ?? []) {
      const path = joinPath(folder, name);
      if (kind === 'file' && isRemovable(name) && !used.has(path) && (await isOld(path)))
        await store.delete(path);
    }
  }
}

/** Files of this engine that a version may have referred to, and what was set aside. */
export const isRemovable = (name: string): boolean =>
  parseLanceCatalogObject(name) !== undefined ||
  parseLanceDeletion(name) !== undefined ||
  isOwnTemporary(name) ||
  isLanceAside(name);
