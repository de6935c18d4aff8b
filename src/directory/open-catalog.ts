/**
 * `openCatalog` opens the catalog at a root. It makes a missing root; a catalog that is opened
 * read-only is empty without one. It reads the format file, and builds the table engine with
 * caches, limits and, if asked, automatic compaction. A damaged format file does not fail the
 * opening, but all operations except verify and repair fail then. When a catalog is opened for
 * writing, it also finishes or removes what crashed processes left: intents, journals and staging
 * folders. A damaged intent or journal throws Corrupt, and a root that is not a folder
 * InvalidInput.
 */

import { type AllowedLocation, checkAllowedLocations } from '../allowed-locations.ts';
import { Counters } from '../counters.ts';
import { type Env, systemEnv, wholeMillis } from '../env.ts';
import { ROOT_TABLES_FOLDER } from '../format/index.ts';
import type { LanceMode } from '../lance-mode.ts';
import type { ServerMemory } from '../request-memory.ts';
import { DEFAULT_TRASH_RETENTION, parseRetention } from '../retention.ts';
import {
  type Durability,
  type FileStore,
  type FileSystem,
  openFileStore,
  type Processes,
  systemProcesses,
} from '../store/index.ts';
import { type KeptMemory, keptMemory, type Limits, openEngine } from '../table/index.ts';
import {
  type Catalog,
  CatalogRoot,
  type CredentialVendor,
  finishIntents,
  finishJournals,
  sweepStaging,
} from './catalog/index.ts';
import { AutoCompaction, type AutoCompactOptions, RootPresence } from './upkeep/index.ts';

export interface OpenOptions {
  /** Path of the root folder; made if it is missing, unless readOnly. */
  readonly root: string;
  /** What the locations of tables begin with; the absolute path of the root if absent. */
  readonly place?: string | undefined;
  readonly readOnly?: boolean | undefined;
  /** node:fs, or any object of its shape such as memfs. */
  readonly fs?: FileSystem | undefined;
  /** `full` (default): what is acknowledged survives a power loss. `relaxed`: no flushes. */
  readonly durability?: Durability | undefined;
  /** Switches the catalog to managed versioning, or back, for good. */
  readonly managedVersioning?: boolean | undefined;
  /**
   * Whether new tables are written so that Lance's readers open them; remembered by the catalog. A new
   * catalog has `read`, one of a release before Lance `off`.
   */
  readonly lance?: LanceMode | undefined;
  readonly credentialVendor?: CredentialVendor | undefined;
  /** Where tables may be declared and registered outside the root; nowhere if absent. */
  readonly locations?: readonly AllowedLocation[] | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly env?: Env | undefined;
  /** Bytes of metadata kept in memory; 64 MiB if absent. */
  readonly cacheBytes?: number | undefined;
  /** Bytes of table data kept in memory once read and verified; 128 MiB if absent. */
  readonly bufferBytes?: number | undefined;
  /** Bytes of sketches of vectors kept in memory; twice `bufferBytes` if absent. */
  readonly vectorBytes?: number | undefined;
  /** What several catalogs keep in memory together, in place of these three. */
  readonly kept?: KeptMemory | undefined;
  /** Bytes that one request may have at once for what is made while it is answered; 1 GiB if absent. */
  readonly requestMemory?: number | undefined;
  /** Counts what the requests to this and other catalogs take together. */
  readonly serverMemory?: ServerMemory | undefined;
  readonly limits?: Partial<Limits> | undefined;
  /** Counts what this and other catalogs do. */
  readonly counters?: Counters | undefined;
  /** How long the trash keeps what was dropped: milliseconds, or text such as `7d`; 7 days if absent. */
  readonly trashRetention?: number | string | undefined;
  /** Tells which writers still live; those of this machine if absent. */
  readonly processes?: Processes | undefined;
  /** Joins small fragments in the background; never if absent. */
  readonly autoCompact?: AutoCompactOptions | undefined;
}

export interface OpenedCatalog {
  readonly catalog: Catalog;
  readonly store: FileStore;
  readonly autoCompaction: AutoCompaction | undefined;
  readonly presence: RootPresence;
}

/**
 * @throws UnsupportedFormat, InvalidInput for a root that is not a folder, Corrupt for a damaged
 * intent or journal, unless the catalog is opened read-only
 */
export async function openCatalog(options: OpenOptions): Promise<OpenedCatalog> {
  options.signal?.throwIfAborted();
  const retention = parseRetention(options.trashRetention ?? DEFAULT_TRASH_RETENTION);
  const env = options.env === undefined ? systemEnv : wholeMillis(options.env);
  const autoCompaction =
    options.autoCompact === undefined ? undefined : new AutoCompaction(options.autoCompact);
  const store = openFileStore({
    root: options.root,
    readOnly: options.readOnly ?? false,
    durability: options.durability ?? 'full',
    env,
    ...(options.fs === undefined ? {} : { fs: options.fs }),
  });
  const root = await CatalogRoot.open(store, {
    managed: options.managedVersioning,
    lance: options.lance,
  });
  const kept =
    options.kept ?? keptMemory(options.cacheBytes, options.bufferBytes, options.vectorBytes);
  const engine = openEngine({
    store,
    env,
    names: root.names,
    kept,
    counters: options.counters ?? new Counters(),
    processes: options.processes ?? systemProcesses(),
    limits: {
      ...(options.requestMemory === undefined ? {} : { requestMemory: options.requestMemory }),
      ...options.limits,
    },
    serverMemory: options.serverMemory,
    isManaged: () => root.managed,
    lance: () => root.lance,
    committed: (own, snapshot) => autoCompaction?.notice(own, snapshot),
  });
  const catalog: Catalog = {
    engine,
    store,
    env,
    root: options.place ?? store.root,
    readOnly: store.readOnly,
    get managedVersioning() {
      return root.managed;
    },
    format: root,
    trashRetention: retention,
    vendor: options.credentialVendor,
    locations: checkAllowedLocations(options.locations ?? []),
    realPath: (path) => store.realPath(path),
    openOutside: (folder) => store.openBeside(folder),
    prepareRoot: () => root.prepare(),
  };
  if (!store.readOnly) {
    await store.createFolder(ROOT_TABLES_FOLDER);
    if (root.isSetUp) {
      await finishIntents(catalog);
      await finishJournals(catalog);
      await sweepStaging(catalog);
    }
  }
  const presence = await RootPresence.of(store, () => root.isSetUp);
  return { catalog, store, autoCompaction, presence };
}
