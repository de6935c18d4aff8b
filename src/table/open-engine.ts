/**
 * `openEngine` creates the table engine of a catalog, with caches in the given memory, a queue and
 * limits. Opening reads and writes nothing. The engine commits straight in the store, or through
 * staged/ if versions are managed. After a commit, `follow` updates the digests of versions and the
 * files that Lance reads, and adopts tags of Lance's clients; its failures are ignored. Its
 * `newObject` throws Internal: versions/writers.ts makes an engine from it that can write files of
 * tables.
 */
import type { Counters } from '../counters.ts';
import type { Env } from '../env.ts';
import { DirspaceError } from '../errors.ts';
import { type NameCodec, versionFile } from '../format/index.ts';
import type { LanceMode } from '../lance-mode.ts';
import type { ServerMemory } from '../request-memory.ts';
import { type FileStore, isLocked, type Processes, withLock } from '../store/index.ts';
import { adoptTags, noteDigest } from './history/index.ts';
import { followCommit } from './lance/index.ts';
import { publishManaged } from './staged/index.ts';
import {
  DEFAULT_LIMITS,
  type Engine,
  HeadCache,
  type Limits,
  type PublishVersion,
  type Snapshot,
  tableGone,
} from './versions/index.ts';
import { ByteCache, type KeptMemory, Queue } from './work/index.ts';

export interface EngineOptions {
  readonly store: FileStore;
  readonly env: Env;
  readonly names: NameCodec;
  /** What the caches and reads of the engine keep; several engines may share it. */
  readonly kept: KeptMemory;
  readonly counters: Counters;
  readonly processes: Processes;
  /** Limits that replace the defaults. */
  readonly limits: Partial<Limits>;
  readonly serverMemory: ServerMemory | undefined;
  /** Asked for every commit: whether it goes through the version operations. */
  readonly isManaged: () => boolean;
  /**
   * Asked for every write into a table that does not say itself whether it is written for Lance.
   */
  readonly lance: () => LanceMode;
  /** Told of every version that the engine commits. */
  readonly committed: (engine: Engine, snapshot: Snapshot) => void;
}

/** One engine for each open catalog. Nothing is read or written by opening it. */
export function openEngine(options: EngineOptions): Engine {
  const { store, env, names, kept, counters, processes, serverMemory } = options;
  const publishPlain = publishDirectly(store);
  const engine: Engine = {
    store,
    env,
    names,
    cache: new ByteCache(kept.cache, counters.metadata),
    heads: new HeadCache(store, kept.heads, counters.heads),
    buffers: new ByteCache(kept.buffers, counters.buffers),
    scratch: kept.scratch,
    sketches: kept.sketches.scope(),
    queue: new Queue(),
    publish: (...version) =>
      options.isManaged() ? publishManaged(engine, ...version) : publishPlain(...version),
    committed: (snapshot) => options.committed(engine, snapshot),
    follow: (snapshot) => follow(engine, snapshot),
    locate: (path) => store.locate(path),
    newObject: () => {
      throw new DirspaceError('Internal', 'A file of a table was to be written unannounced.');
    },
    processes,
    withLock: (key, work, waitMs) =>
      withLock(store, key, work, { env, ...(waitMs === undefined ? {} : { waitMs }) }),
    isLocked: (key) => isLocked(store, key),
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    counters,
    get lance() {
      return options.lance();
    },
    serverMemory,
  };
  return engine;
}

/** Never rejects: the version is committed. */
async function follow(engine: Engine, snapshot: Snapshot): Promise<void> {
  await noteDigest(engine, snapshot);
  await followCommit(engine, snapshot);
  const { tableFolder, incarnation } = snapshot.branch;
  try {
    if (snapshot.manifest.lanceWrites === true) await adoptTags(engine, tableFolder, incarnation);
  } catch {
    // The next commit, a synchronization or cleanup adopts them.
  }
}

const publishDirectly =
  (store: FileStore): PublishVersion =>
  async (branch, version, bytes, _transaction, after) => {
    try {
      return await store.putIfAbsent(versionFile(branch.folder, version), bytes, after);
    } catch (error) {
      throw tableGone(error);
    }
  };
