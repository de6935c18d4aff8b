/**
 * `syncLanceCatalog`: writes `__manifest` at the catalog's root, the table by which Lance's
 * directory namespace lists a catalog: all namespaces, and the tables that Lance opens by path.
 * Each version of it is one new file and one manifest, published by a link. A writer that finds the
 * name taken reads the catalog again, so the newest version is never older than the change that
 * asked for it. `followLanceCatalog` does so after changes and never fails.
 */
import { DirspaceError, isDirspaceError } from '../../errors.ts';
import {
  fragmentFile,
  fragmentsFolder,
  isLanceAside,
  isOwnLanceManifest,
  isOwnTemporary,
  joinPath,
  LANCE_CATALOG,
  type LanceCatalogEntry,
  lanceAsideFile,
  lanceCatalogDigest,
  lanceCatalogFile,
  lanceCatalogManifest,
  lanceCatalogObject,
  lanceVersionFile,
  lanceVersionsFolder,
  lastName,
  MAX_LANCE_MANIFEST_BYTES,
  NAMESPACE_FILE,
  parseLanceCatalogObject,
  parseLanceVersionFile,
  readLanceManifest,
} from '../../format/index.ts';
import { followsByPath } from '../../lance-mode.ts';
import type { ObjectPath } from '../../protocol/index.ts';
import { inTurns, Turn } from '../../table/index.ts';
import {
  type Catalog,
  findNamespace,
  isTable,
  lanceHome,
  namespacesIn,
  readTableRecord,
  requireRoot,
  type Table,
  tableFoldersIn,
} from '../catalog/index.ts';

export interface LanceCatalogSynced {
  /** Of the table `__manifest`. */
  readonly version: number;
  readonly namespaces: number;
  readonly tables: number;
  /** Whether a version was written; false where the newest says the same. */
  readonly written: boolean;
}

/** How often others may publish first before one gives up. */
const MOST_ATTEMPTS = 64;
/** Versions that readers may still hold stay: those as young as this, in milliseconds, up to so many. */
const KEPT_MILLIS = 3_600_000;
const KEPT_VERSIONS = 100;

/** One that has begun may have looked already; one that waits has not, and serves all who come. */
const waiting = new WeakMap<Catalog, Promise<LanceCatalogSynced>>();
const running = new WeakMap<Catalog, Promise<unknown>>();

/** @throws InvalidTableState where another program keeps a `__manifest` of its own there */
export function syncLanceCatalog(catalog: Catalog): Promise<LanceCatalogSynced> {
  const next = waiting.get(catalog);
  if (next !== undefined) return next;
  const before = running.get(catalog) ?? Promise.resolve();
  const run = before
    .catch(() => {})
    .then(() => {
      waiting.delete(catalog);
      running.set(catalog, run);
      return publishCatalog(catalog);
    });
  waiting.set(catalog, run);
  return run;
}

/**
 * After namespaces or tables came or went, in a catalog that follows. Never rejects: the change is made, and
 * verify says what Lance does not see of it.
 */
export async function followLanceCatalog(catalog: Catalog): Promise<void> {
  if (!followsByPath(catalog.engine.lance)) return;
  try {
    await syncLanceCatalog(catalog);
  } catch {
    // The next change makes up for it.
  }
}

async function publishCatalog(catalog: Catalog): Promise<LanceCatalogSynced> {
  const { store, env } = catalog;
  for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt++) {
    // Before the catalog is looked at: a version published meanwhile takes the next number.
    const newest = await newestCatalog(catalog);
    const entries = await catalogEntries(catalog);
    const digest = lanceCatalogDigest(entries);
    const tables = entries.filter(({ location }) => location !== undefined).length;
    const counts = { tables, namespaces: entries.length - tables };
    if (
      newest !== undefined &&
      newest.digest === digest &&
      (await isWhole(catalog, newest, entries))
    ) {
      return { version: newest.version, ...counts, written: false };
    }
    const version = (newest?.version ?? 0) + 1;
    const transaction = env.uuid();
    const { bytes, entry } = await inTurns(
      new Turn(env),
      lanceCatalogFile(entries, lanceCatalogObject(digest, transaction)),
      undefined,
    );
    await requireRoot(store);
    await store.createFolder(fragmentsFolder(LANCE_CATALOG));
    await store.createFolder(lanceVersionsFolder(LANCE_CATALOG));
    const file = fragmentFile(LANCE_CATALOG, entry.file);
    if (entry.rows > 0) await store.putIfAbsent(file, bytes);
    const manifest = lanceCatalogManifest({ version, timestamp: env.now(), transaction, entry });
    if (await store.putIfAbsent(lanceVersionFile(LANCE_CATALOG, version), manifest)) {
      await removeOld(catalog, version);
      return { version, ...counts, written: true };
    }
    await store.delete(file);
  }
  throw new DirspaceError(
    'ServiceUnavailable',
    `Others published ${MOST_ATTEMPTS} versions of ${LANCE_CATALOG} first. Synchronize the catalog again.`,
  );
}

/** All namespaces and the tables that Lance opens by path, in order of their ids. */
export async function catalogEntries(catalog: Catalog): Promise<LanceCatalogEntry[]> {
  const entries: LanceCatalogEntry[] = [];
  const turn = new Turn(catalog.env);
  const visit = async (namespace: ObjectPath): Promise<void> => {
    for (const { name, folder } of await tableFoldersIn(catalog, namespace)) {
      if (turn.isOver()) await turn.pass();
      const id = [...namespace, name];
      const location = await readable(undefined, () => openedAt(catalog, { id, folder }));
      if (location !== undefined) entries.push({ id, location });
    }
    for (const name of await namespacesIn(catalog, namespace)) {
      if (turn.isOver()) await turn.pass();
      const id = [...namespace, name];
      const properties = await readable({}, async () => {
        return (await findNamespace(catalog, id))?.properties;
      });
      if (properties === undefined) continue;
      entries.push({ id, properties });
      await visit(id);
    }
  };
  await visit([]);
  return entries;
}

/** Where Lance opens a table by path: in its folder, or where programs of Lance write it. */
async function openedAt(
  catalog: Catalog,
  { id, folder }: Omit<Table, 'record'>,
): Promise<string | undefined> {
  const { store } = catalog;
  if (await store.enter(lanceVersionsFolder(folder)))
    return (await isTable(catalog, { name: lastName(folder), folder })) ? folder : undefined;
  const record = await readTableRecord(catalog, folder);
  if (record?.location === undefined) return undefined;
  const home = lanceHome({ id, folder, record });
  if (home === undefined) return undefined;
  return (await store.enter(lanceVersionsFolder(home))) ? home : undefined;
}

/** What cannot be read of one record must not hide all others. */
async function readable<Value>(otherwise: Value, read: () => Promise<Value>): Promise<Value> {
  try {
    return await read();
  } catch (error) {
    if (isDirspaceError(error, 'Corrupt') || isDirspaceError(error, 'UnsupportedFormat'))
      return otherwise;
    throw error;
  }
}

export interface NewestCatalog {
  readonly version: number;
  /** Of what it lists; undefined where its manifest tells none. */
  readonly digest: string | undefined;
  /** The one file of its rows; undefined where it has none. */
  readonly file: string | undefined;
}

/**
 * The newest version of `__manifest`; undefined where there is none. Versions of other programs above ours
 * were forced past the fence, and are set aside.
 * @throws InvalidTableState where all are of another program, or a namespace has the name
 */
async function newestCatalog(catalog: Catalog): Promise<NewestCatalog | undefined> {
  const { store, env } = catalog;
  if ((await store.head(joinPath(LANCE_CATALOG, NAMESPACE_FILE))) !== undefined)
    throw taken('is a namespace of this catalog, and Lance can have no table there');
  const versions = await listedCatalog(catalog);
  const strangers: string[] = [];
  for (const version of versions.sort((a, b) => b - a)) {
    const path = lanceVersionFile(LANCE_CATALOG, version);
    const found = await readCatalog(catalog, version);
    if (found === undefined) {
      strangers.push(path);
      continue;
    }
    for (const stranger of strangers)
      await store.renameFile(stranger, lanceAsideFile(stranger, env.uuid()));
    return found;
  }
  if (strangers.length > 0) throw taken('holds the catalog of another program of Lance');
  return undefined;
}

const taken = (what: string): DirspaceError =>
  new DirspaceError(
    'InvalidTableState',
    `The folder ${LANCE_CATALOG} at the root ${what}. Move it away, then synchronize the catalog again.`,
    { details: { path: LANCE_CATALOG } },
  );

/** Versions of `__manifest` that have a file, of whatever program. */
export async function listedCatalog({ store }: Catalog): Promise<number[]> {
  const entries = (await store.list(lanceVersionsFolder(LANCE_CATALOG))) ?? [];
  return entries.flatMap(({ name, kind }) =>
    kind === 'file' ? (parseLanceVersionFile(name) ?? []) : [],
  );
}

/** A version of this engine's; undefined for another program's. */
export async function readCatalog(
  { store }: Catalog,
  version: number,
): Promise<NewestCatalog | undefined> {
  const path = lanceVersionFile(LANCE_CATALOG, version);
  const size = (await store.head(path))?.size ?? 0;
  const bytes = size > MAX_LANCE_MANIFEST_BYTES ? undefined : await store.get(path);
  if (bytes === undefined || !isOwnLanceManifest(bytes)) return undefined;
  try {
    const { fragments } = readLanceManifest(bytes, path);
    const name = fragments[0]?.files[0]?.path;
    if (name === undefined) return { version, digest: lanceCatalogDigest([]), file: undefined };
    const file = joinPath(fragmentsFolder(LANCE_CATALOG), name);
    return { version, digest: parseLanceCatalogObject(name), file };
  } catch {
    // Damaged: the next version says it anew.
    return { version, digest: undefined, file: undefined };
  }
}

/** Whether the file of a version that lists these entries holds what it should. */
export async function isWhole(
  { store, env }: Catalog,
  { file }: NewestCatalog,
  entries: readonly LanceCatalogEntry[],
): Promise<boolean> {
  if (file === undefined) return true;
  const name = lastName(file).replace(/\.arrow$/, '');
  const { bytes } = await inTurns(new Turn(env), lanceCatalogFile(entries, name), undefined);
  if ((await store.head(file))?.size !== bytes.length) return false;
  const found = await store.get(file);
  return found !== undefined && Buffer.compare(found, bytes) === 0;
}

/** Removes versions that no reader can be at work on any more, and their files. */
async function removeOld(catalog: Catalog, newest: number): Promise<void> {
  const { store } = catalog;
  const now = (await store.head(lanceVersionFile(LANCE_CATALOG, newest)))?.modified;
  if (now === undefined) return;
  const isOld = async (path: string): Promise<boolean> =>
    now - ((await store.head(path))?.modified ?? now) > KEPT_MILLIS;
  const used = new Set<string | undefined>();
  for (const version of await listedCatalog(catalog)) {
    const path = lanceVersionFile(LANCE_CATALOG, version);
    const found = await readCatalog(catalog, version);
    if (found === undefined) continue;
    const stays = version >= newest - KEPT_VERSIONS && !(await isOld(path));
    if (version >= newest || stays) used.add(found.file);
    else await store.delete(path);
  }
  for (const folder of [fragmentsFolder(LANCE_CATALOG), lanceVersionsFolder(LANCE_CATALOG)]) {
    for (const { name, kind } of (await store.list(folder)) ?? []) {
      const path = joinPath(folder, name);
      const isOurs =
        parseLanceCatalogObject(name) !== undefined || isOwnTemporary(name) || isLanceAside(name);
      if (kind === 'file' && isOurs && !used.has(path) && (await isOld(path)))
        await store.delete(path);
    }
  }
}
