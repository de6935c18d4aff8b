/**
 * `WithoutLsm`: the methods that LanceDB's SDK has for writes through a log-structured tree (MemWAL), which this engine
 * does not have. Those that would change or run one are refused by name; the others tell that there is none.
 */
import { DirspaceError } from '../../errors.ts';

/** How LanceDB shards such writes. */
export interface LsmWriteSpec {
  specType: 'bucket' | 'identity' | 'unsharded';
  column?: string;
  numBuckets?: number;
  maintainedIndexes?: string[];
  writerConfigDefaults?: Record<string, string>;
}

/** A generation of rows in LanceDB's log. */
export interface GenerationStats {
  generation: number;
  bytes: number;
  rows?: number;
}

/** Rows that LanceDB holds in memory. */
export interface MemtableStats {
  generation: number;
  rows: number;
  bytes: number;
  batches: number;
  indexes: string[];
}

/** A shard of LanceDB's log. */
export interface BucketStats {
  shardId: string;
  status: string;
  writerEpoch: number;
  manifestVersion: number;
  currentGeneration: number;
  replayAfterWalEntryPosition: number;
  walEntryPositionLastSeen: number;
  generations: GenerationStats[];
  compacting: boolean;
  memtables?: MemtableStats[];
}

/** The state of LanceDB's log. */
export interface LsmStats {
  buckets: BucketStats[];
}

export class WithoutLsm {
  /** @throws Unsupported */
  async setLsmWriteSpec(_spec: LsmWriteSpec): Promise<void> {
    throw unsupportedLsm('setLsmWriteSpec');
  }

  /** @throws Unsupported */
  async unsetLsmWriteSpec(): Promise<void> {
    throw unsupportedLsm('unsetLsmWriteSpec');
  }

  /** Undefined: no table has one. */
  async getLsmWriteSpec(): Promise<LsmWriteSpec | undefined> {
    return undefined;
  }

  /** Nothing to do: there are no such writers. */
  async closeLsmWriters(): Promise<void> {}

  /** @throws Unsupported */
  async flushLsm(): Promise<void> {
    throw unsupportedLsm('flushLsm');
  }

  /** @throws Unsupported */
  async compactLsm(): Promise<void> {
    throw unsupportedLsm('compactLsm');
  }

  /** @throws Unsupported */
  async checkpointLsm(): Promise<void> {
    throw unsupportedLsm('checkpointLsm');
  }

  /** Undefined: no table has such writes. */
  async getLsmStats(_includeGenerationRows?: boolean): Promise<LsmStats | undefined> {
    return undefined;
  }
}

/** @throws Unsupported where such a write or read is asked for */
export function refuseLsm(enable: boolean): void {
  if (enable !== false) throw unsupportedLsm('useLsm(true)');
}

const unsupportedLsm = (name: string): DirspaceError =>
  new DirspaceError(
    'Unsupported',
    `${name} is not supported: there are no writes through a log (LSM) here. Every add and merge is a version that readers see at once; leave it out.`,
    { details: { call: name } },
  );
