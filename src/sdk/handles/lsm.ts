/**
 * Refuses LanceDB's writes through a log-structured tree (MemWAL), which this engine lacks.
 * `refuseLsmCall` throws Unsupported with the name of the call. `refuseLsm` throws it for `useLsm`,
 * unless its argument is false. The file also defines LanceDB's types for such writes.
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

/** What a method of `Table` for such writes answers. @throws Unsupported, with the method's name */
export async function refuseLsmCall(name: string): Promise<never> {
  throw unsupportedLsm(name);
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
