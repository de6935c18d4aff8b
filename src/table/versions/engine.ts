/**
 * Defines `Engine`, the services that all parts of the table engine use, such as the store, caches,
 * limits and locks; each open catalog has one. Its `newObject` throws Internal unless a change runs
 * in `announced` or with an `unannounced` engine (writers.ts). Also defines `PublishVersion`, the
 * function that makes an encoded manifest a version, and `Limits`, such as the rows of a batch and
 * the time after which a commit gives up, with their defaults (`DEFAULT_LIMITS`).
 */

import type { Counters } from '../../counters.ts';
import type { Env } from '../../env.ts';
import type { NameCodec } from '../../format/index.ts';
import type { LanceMode } from '../../lance-mode.ts';
import { DEFAULT_REQUEST_MEMORY, type ServerMemory } from '../../request-memory.ts';
import type { Awaitable, Processes, Store } from '../../store/index.ts';
import type { SketchScope } from '../../vector/index.ts';
import type { ByteCache, Queue, Scratch } from '../work/index.ts';
import type { TableBranch } from './head.ts';
import type { HeadCache } from './head-cache.ts';
import type { Snapshot } from './snapshot.ts';

/** Publishes the encoded manifest of `version`; false when that version exists already. */
export type PublishVersion = (
  branch: TableBranch,
  version: number,
  bytes: Uint8Array,
  transaction: string,
  after: Promise<unknown> | undefined,
) => Promise<boolean>;

export interface Engine {
  readonly store: Store;
  readonly env: Env;
  readonly names: NameCodec;
  /** Immutable metadata that was read before. */
  readonly cache: ByteCache;
  /** Columns of fragments read and verified before. */
  readonly buffers: ByteCache;
  readonly scratch: Scratch;
  /** Sketches of vectors that were searched before. */
  readonly sketches: SketchScope;
  /** What was seen of tables last: starting points, checked on every use. */
  readonly heads: HeadCache;
  /** Lets writers of one process take turns instead of racing each other to the same version. */
  readonly queue: Queue;
  /** How a commit becomes visible: straight to the store, or through the version operations. */
  readonly publish: PublishVersion;
  /**
   * Told of every version that readers see from now on. Resolves once what other programs find of
   * the table is as new, or cannot be made so; never rejects.
   */
  readonly follow?: ((snapshot: Snapshot) => Promise<void>) | undefined;
  /** Told of every version that this handle commits. */
  readonly committed?: ((snapshot: Snapshot) => void) | undefined;
  /**
   * A name for a new file of a table, which says whose it is. Only for those that announced
   * themselves: see writers.ts.
   */
  newObject(): Awaitable<string>;
  /** The absolute path of a file or folder. */
  locate(path: string): string;
  readonly processes: Processes;
  /**
   * Advisory: runs `work` while other processes that ask for the same key wait for a while, ten
   * seconds if `waitMs` is absent.
   */
  withLock<Result>(key: string, work: () => Promise<Result>, waitMs?: number): Promise<Result>;
  /** Whether the lock of that key is held just now. */
  isLocked(key: string): boolean;
  readonly limits: Limits;
  readonly counters: Counters;
  /** Whether tables that do not say so themselves are written for Lance too. */
  readonly lance: LanceMode;
  /** The memory of the server that opened the catalog. */
  readonly serverMemory?: ServerMemory | undefined;
}

export interface Limits {
  /** Rows of one batch inside a fragment: the unit that statistics prune. */
  readonly batchRows: number;
  /** Bytes of one batch, which bound the memory of a scan. */
  readonly batchBytes: number;
  /** A fragment is cut when it reaches either. */
  readonly fragmentRows: number;
  readonly fragmentBytes: number;
  /**
   * An update moves rows of fragments of fewer bytes, in place of giving them an overlay. Where
   * columns are added, filled or retyped, fragments of less than an eighth of it are written anew.
   */
  readonly overlayBytes: number;
  /** Tables of fewer rows are scanned whatever indexes they have. */
  readonly indexedRows: number;
  /** An index is used where it names at most this share of the rows. */
  readonly indexedShare: number;
  /** Rows of one segment of an index. */
  readonly segmentRows: number;
  /** A commit that keeps losing gives up after this long, in milliseconds. */
  readonly commitTimeout: number;
  /** Bytes that one request may have at once for what is made while it is answered. */
  readonly requestMemory: number;
  /** Steps that the regular expressions of one request may take. */
  readonly regexpSteps: number;
  /** Bytes of the Arrow data of one request, once it is decompressed. */
  readonly bodyBytes: number;
}

export const DEFAULT_LIMITS: Limits = {
  batchRows: 65_536,
  batchBytes: 8 * 1024 * 1024,
  fragmentRows: 1_048_576,
  fragmentBytes: 256 * 1024 * 1024,
  overlayBytes: 256 * 1024,
  indexedRows: 4_096,
  indexedShare: 1 / 50,
  segmentRows: 4_194_304,
  commitTimeout: 60_000,
  requestMemory: DEFAULT_REQUEST_MEMORY,
  regexpSteps: Number.POSITIVE_INFINITY,
  bodyBytes: Number.POSITIVE_INFINITY,
};
