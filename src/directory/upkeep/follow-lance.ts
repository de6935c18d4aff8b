/**
 * Keeps `__manifest` up to date, the list by which Lance's programs find a catalog's tables.
 * `changing` runs an operation that may change the list. If the catalog's Lance mode is `sync` or
 * `write`, it then publishes the change; a failure to publish does not fail the operation. In other
 * modes it only notes that an existing list may be outdated. `changesList` tells whether a first
 * version would change it. `syncLanceCatalog` compares the list with the whole catalog. Publishing
 * is repeated if another writer was first, so that no change is lost; after 64 attempts
 * `syncLanceCatalog` throws ServiceUnavailable, and it throws InvalidTableState if the list is
 * another program's. `areSame` compares rows of lists.
 */
import { DirspaceError } from '../../errors.ts';
import {
  byLanceCatalogKey,
  isLanceCatalogKeyBelow,
  isSameLanceCatalogRow,
  joinPath,
  LANCE_CATALOG,
  LANCE_CATALOG_STALE,
  type LanceCatalogRow,
  lanceCatalogKey,
  lanceVersionsFolder,
  parseWriter,
  writerFile,
} from '../../format/index.ts';
import { followsByPath } from '../../lance-mode.ts';
import { checkPath, type ObjectPath } from '../../protocol/index.ts';
import { UNKNOWN_WRITER_GRACE } from '../../table/index.ts';
import type { Catalog } from '../catalog/index.ts';
import {
  type Listing,
  listedRows,
  type NextListing,
  newestListing,
  publishListing,
} from './lance-catalog.ts';
import { catalogRows, isFoundByLance, rowsUnderName } from './lance-catalog-rows.ts';

export interface LanceCatalogSynced {
  /** Of the table `__manifest`. */
  readonly version: number;
  readonly namespaces: number;
  readonly tables: number;
  /** Whether a version was written; false where the newest says the same. */
  readonly written: boolean;
}

/** A name that an operation may give to something, or take from it. */
export interface Changed {
  readonly id: ObjectPath;
  /** The namespace of that name may hold other things than before. */
  readonly below?: boolean;
}

/** How often others may publish first before one gives up. */
const MOST_ATTEMPTS = 64;
/** Rows that changes may add to a list or take from it before all are written anew. */
const MOST_CHANGES = 256;

/** Changes that are published together: those that came while another publication was at work. */
interface Batch {
  /** Undefined where the whole catalog is to be compared. */
  changed: Changed[] | undefined;
  readonly done: Promise<LanceCatalogSynced | undefined>;
}

class Following {
  waiting: Batch | undefined;
  running: Promise<unknown> = Promise.resolve();
  /** Markers of this handle's operations. */
  readonly own = new Set<string>();
  /** The newest version that was seen. */
  newest = 0;
  /** A change could neither be published nor noted. */
  isBehind = false;
}

const states = new WeakMap<Catalog, Following>();

function stateOf(catalog: Catalog): Following {
  let state = states.get(catalog);
  if (state === undefined) {
    state = new Following();
    states.set(catalog, state);
  }
  return state;
}

/** Compares the list with the whole catalog. @throws InvalidTableState where another program has one there */
export async function syncLanceCatalog(catalog: Catalog): Promise<LanceCatalogSynced> {
  const marker = await announce(catalog);
  try {
    return (await joinBatch(catalog, undefined)) as LanceCatalogSynced;
  } finally {
    await withdraw(catalog, marker);
  }
}

/**
 * Runs an operation that may change what the list has to say. Its outcome is that of `work`: verify
 * says what Lance does not see of it.
 * @param changed undefined where the whole catalog is to be compared
 * @param matters whether an answer says that the list has to change; it has to if absent
 */
export async function changing<Answer>(
  catalog: Catalog,
  changed: readonly Changed[] | undefined,
  work: () => Promise<Answer>,
  matters?: (answer: Answer) => boolean,
): Promise<Answer> {
  if (catalog.readOnly) return work();
  const marker = await announce(catalog);
  let isOver = true;
  try {
    const answer = await work();
    isOver = matters?.(answer) ?? true;
    return answer;
  } finally {
    if (isOver && followsByPath(catalog.engine.lance)) await follow(catalog, changed);
    else if (isOver && marker !== undefined) await note(catalog);
    await withdraw(catalog, marker);
  }
}

/**
 * Whether the first version of a table would change the list: there is one, or there has to be, and
 * Lance does not open the table in its own folder yet.
 */
export async function changesList(catalog: Catalog, id: ObjectPath): Promise<boolean> {
  const { engine, store } = catalog;
  if (!followsByPath(engine.lance) && !(await store.hasFolder(LANCE_CATALOG))) return false;
  return !(await isListedTable(catalog, id));
}

async function isListedTable(catalog: Catalog, id: ObjectPath): Promise<boolean> {
  const folder = isPath(id) ? catalog.engine.names.possibleTableFolder(id) : undefined;
  return folder !== undefined && (await isFoundByLance(catalog, folder));
}

function isPath(id: ObjectPath): boolean {
  try {
    return checkPath(id).length > 0;
  } catch {
    return false;
  }
}

/** Never rejects. */
async function follow(catalog: Catalog, changed: readonly Changed[] | undefined): Promise<void> {
  try {
    await joinBatch(
      catalog,
      changed?.filter(({ id }) => isPath(id)),
    );
  } catch {
    await note(catalog);
  }
}

/**
 * A marker that names this process, where there is a list; undefined where it could not be had.
 * It need not be flushed: after a power loss the newest version is one of another boot.
 */
async function announce(catalog: Catalog): Promise<string | undefined> {
  const { store, env, engine } = catalog;
  try {
    // Most catalogs have no list, and entering what is not there costs five times the look.
    if (catalog.readOnly || !(await store.hasFolder(LANCE_CATALOG))) return undefined;
    if (!(await store.enter(lanceVersionsFolder(LANCE_CATALOG)))) return undefined;
    const file = writerFile(LANCE_CATALOG, { id: env.uuid(), ...engine.processes.self });
    stateOf(catalog).own.add(file);
    await store.mark(file);
    return file;
  } catch {
    stateOf(catalog).isBehind = true;
    return undefined;
  }
}

/** One that cannot be removed makes others look at the whole catalog once this process has ended. */
async function withdraw(catalog: Catalog, marker: string | undefined): Promise<void> {
  if (marker === undefined) return;
  try {
    await catalog.store.delete(marker);
    stateOf(catalog).own.delete(marker);
  } catch {
    stateOf(catalog).isBehind = true;
  }
}

/** Leaves word that the list may lag behind. */
async function note(catalog: Catalog): Promise<void> {
  try {
    if (await catalog.store.enter(LANCE_CATALOG)) await catalog.store.mark(LANCE_CATALOG_STALE);
  } catch {
    stateOf(catalog).isBehind = true;
  }
}

/** One that has begun may have looked already; one that waits has not, and serves all who come. */
function joinBatch(
  catalog: Catalog,
  changed: readonly Changed[] | undefined,
): Promise<LanceCatalogSynced | undefined> {
  const state = stateOf(catalog);
  const { waiting } = state;
  if (waiting !== undefined) {
    if (changed === undefined) waiting.changed = undefined;
    else waiting.changed?.push(...changed);
    return waiting.done;
  }
  const done = state.running
    .catch(() => {})
    .then(() => {
      state.waiting = undefined;
      const run = publish(catalog, state, batch.changed);
      state.running = run;
      return run;
    });
  const batch: Batch = { changed: changed === undefined ? undefined : [...changed], done };
  state.waiting = batch;
  return done;
}

/**
 * Compares the whole catalog if it is to, after a failure that was noted, beside the marker of a
 * process that may have died, after a writer on another machine or boot, and once the list holds
 * many changes. @returns undefined where it did not compare the whole catalog
 */
async function publish(
  catalog: Catalog,
  state: Following,
  changed: readonly Changed[] | undefined,
): Promise<LanceCatalogSynced | undefined> {
  const { store } = catalog;
  let isStale = state.isBehind;
  state.isBehind = false;
  try {
    for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt++) {
      const markers = await othersMarkers(catalog, state);
      // Before the catalog is looked at: what is noted later is seen by the next change.
      if (markers.isStale && (await store.delete(LANCE_CATALOG_STALE))) isStale = true;
      const isWhole = changed === undefined || isStale || markers.areSomeInDoubt;
      const found = await newestListing(catalog, isWhole);
      const newest = found !== undefined && 'damaged' in found ? undefined : found;
      const isKnown =
        newest !== undefined &&
        newest.version >= state.newest &&
        newest.scope === catalog.engine.processes.self.scope;
      const patch = isWhole || !isKnown ? undefined : await patched(catalog, newest, changed);
      const next = patch ?? (await compared(catalog, newest));
      // A writer at work may have looked before this change, and must not publish what it saw.
      const written = next.differs || markers.areSomeAtWork;
      const version = (found?.version ?? 0) + (written ? 1 : 0);
      if (written && !(await publishListing(catalog, version, next))) continue;
      state.newest = Math.max(state.newest, version);
      for (const marker of markers.ended) await store.delete(marker);
      if (patch !== undefined) return undefined;
      const tables = next.added.filter(([, type]) => type === 'table').length;
      return { version, tables, namespaces: next.added.length - tables, written };
    }
  } catch (error) {
    if (isStale) await note(catalog);
    throw error;
  }
  if (isStale) await note(catalog);
  throw new DirspaceError(
    'ServiceUnavailable',
    `Others published ${MOST_ATTEMPTS} versions of ${LANCE_CATALOG} first. Synchronize the catalog again.`,
  );
}

interface Markers {
  /** Of changes whose process has died, or is silent for a week. */
  readonly ended: readonly string[];
  /** Some may belong to changes that were never published. */
  readonly areSomeInDoubt: boolean;
  readonly areSomeAtWork: boolean;
  readonly isStale: boolean;
}

async function othersMarkers(catalog: Catalog, { own }: Following): Promise<Markers> {
  const { store, env, engine } = catalog;
  const ended: string[] = [];
  let areSomeInDoubt = false;
  let areSomeAtWork = false;
  let isStale = false;
  for (const { name } of (await store.list(LANCE_CATALOG)) ?? []) {
    const file = joinPath(LANCE_CATALOG, name);
    const mark = parseWriter(name);
    if (file === LANCE_CATALOG_STALE) isStale = true;
    if (mark === undefined || own.has(file)) continue;
    const state = engine.processes.stateOf(mark);
    const since = state === 'unknown' ? (await store.head(file))?.modified : undefined;
    const isSilent = since !== undefined && env.now() - since >= UNKNOWN_WRITER_GRACE;
    if (state === 'dead' || isSilent) ended.push(file);
    else areSomeAtWork = true;
    if (state !== 'alive') areSomeInDoubt = true;
  }
  return { ended, areSomeInDoubt, areSomeAtWork, isStale };
}

/** What a version is to list, and whether the newest lists something else. */
type Compared = NextListing & { readonly differs: boolean };

async function compared(catalog: Catalog, newest: Listing | undefined): Promise<Compared> {
  const added = await catalogRows(catalog);
  if (newest === undefined) return { added, differs: true };
  const listed = [...listedRows(newest)].sort(byLanceCatalogKey);
  return { added, differs: !areSame(added, listed) };
}

export const areSame = (
  some: readonly LanceCatalogRow[],
  others: readonly LanceCatalogRow[],
): boolean =>
  some.length === others.length &&
  some.every((row, at) => isSameLanceCatalogRow(row, others[at] as LanceCatalogRow));

/** What the newest version lists with these names as they are now; undefined where it holds many changes. */
async function patched(
  catalog: Catalog,
  { base, added }: Listing,
  changed: readonly Changed[],
): Promise<Compared | undefined> {
  const deleted = new Set(base?.deleted);
  let rows = [...added];
  let differs = false;
  for (const { id, below = false } of changed) {
    const now = await rowsUnderName(catalog, id, below);
    const key = lanceCatalogKey(id);
    // A namespace that is gone is gone with all that was in it.
    const isWithin = below || !now.isNamespace;
    const wanted = new Map(now.rows.map((row) => [nameOf(row), row]));
    const stays = (row: LanceCatalogRow): boolean => {
      const same = wanted.get(nameOf(row));
      const isListed = same !== undefined && isSameLanceCatalogRow(same, row);
      if (isListed) wanted.delete(nameOf(row));
      else differs = true;
      return isListed;
    };
    for (const at of base?.rows.matches(key, isWithin) ?? [])
      if (!deleted.has(at) && !stays(base?.rows.row(at) as LanceCatalogRow)) deleted.add(at);
    rows = rows.filter((row) => {
      const isMeant = row[0] === key || (isWithin && isLanceCatalogKeyBelow(row[0], key));
      return !isMeant || stays(row);
    });
    if (wanted.size === 0) continue;
    rows.push(...wanted.values());
    differs = true;
  }
  if (differs && rows.length + deleted.size > MOST_CHANGES) return undefined;
  rows.sort(byLanceCatalogKey);
  const listed =
    base === undefined ? {} : { base: { ...base, deleted: [...deleted].sort(ascending) } };
  return { added: rows, ...listed, differs };
}

const nameOf = ([key, type]: LanceCatalogRow): string => `${type} ${key}`;
const ascending = (a: number, b: number): number => a - b;
