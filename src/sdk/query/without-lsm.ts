/**
 * `WithoutLsm` is the base class of `Table`. It has LanceDB's methods for writes through a log
 * (LSM), which this engine lacks. `getLsmWriteSpec` and `getLsmStats` resolve to undefined, and
 * `closeLsmWriters` does nothing. The other methods reject with Unsupported.
 */
import { Exportable } from '../files/index.ts';
import { type LsmStats, type LsmWriteSpec, refuseLsmCall } from '../handles/index.ts';

/** The base of tables, whose rows can be written as files. */
export abstract class WithoutLsm extends Exportable {
  async setLsmWriteSpec(_spec: LsmWriteSpec): Promise<void> {
    return refuseLsmCall('setLsmWriteSpec');
  }

  async unsetLsmWriteSpec(): Promise<void> {
    return refuseLsmCall('unsetLsmWriteSpec');
  }

  async getLsmWriteSpec(): Promise<LsmWriteSpec | undefined> {
    return undefined;
  }

  async closeLsmWriters(): Promise<void> {}

  async flushLsm(): Promise<void> {
    return refuseLsmCall('flushLsm');
  }

  async compactLsm(): Promise<void> {
    return refuseLsmCall('compactLsm');
  }

  async checkpointLsm(): Promise<void> {
    return refuseLsmCall('checkpointLsm');
  }

  async getLsmStats(_includeGenerationRows?: boolean): Promise<LsmStats | undefined> {
    return undefined;
  }
}
