/**
 * Reserves memory of the server for a batch that a read passes on. `batchNow` returns undefined if
 * the memory is not free now; `batchInLine` waits for it, and rejects with ServiceUnavailable after
 * too long. The caller tells a larger size by `grow`, which may throw the same, and releases the
 * memory by `end` when the batch has been used. A batch below 64 KiB is counted only if it grows
 * beyond that, and reads without a server are never counted. `placeBytes` tells how many stored
 * bytes a plan reads of a batch.
 */
import type { ServerMemory } from '../../request-memory.ts';
import { fieldBytes } from '../fragments/index.ts';
import { type BatchPlace, neededFields } from './batch-rows.ts';
import type { ScanPlan } from './scan-plan.ts';

/** Smaller batches are not worth their count, unless they grow beyond it. */
const COUNTED_BYTES = 65_536;
/** A batch as it was read, and as it is handed out. */
const COPIES = 2;
const WHAT = 'A batch of rows';

/** The memory of one batch that passes through. */
export interface PassingBatch {
  /** It turned out to have so many bytes. @throws ServiceUnavailable */
  grow(bytes: number): void;
  /** Gives it back. Calling it again does nothing. */
  end(): void;
}

class CountedBatch implements PassingBatch {
  readonly #memory: ServerMemory;
  #bytes: number;

  constructor(memory: ServerMemory, bytes: number) {
    this.#memory = memory;
    this.#bytes = bytes;
  }

  grow(bytes: number): void {
    if (bytes <= this.#bytes || bytes < COUNTED_BYTES) return;
    this.#memory.grow(bytes - this.#bytes, WHAT);
    this.#bytes = bytes;
  }

  end(): void {
    const bytes = this.#bytes;
    this.#bytes = 0;
    if (bytes > 0) this.#memory.passed(bytes);
  }
}

const UNCOUNTED: PassingBatch = { grow: () => {}, end: () => {} };

/**
 * One batch of `bytes` bytes, where the server has as much memory now; undefined where it has not.
 */
export function batchNow(
  { engine }: Pick<ScanPlan, 'engine'>,
  bytes: number,
): PassingBatch | undefined {
  const { serverMemory } = engine;
  if (serverMemory === undefined) return UNCOUNTED;
  if (bytes < COUNTED_BYTES) return new CountedBatch(serverMemory, 0);
  const taken = takenBytes(serverMemory, bytes);
  return serverMemory.tryPass(taken) ? new CountedBatch(serverMemory, taken) : undefined;
}

/** One batch of `bytes` bytes, as soon as there is as much. Rejects as ServerMemory.pass does. */
export async function batchInLine(
  plan: Pick<ScanPlan, 'engine' | 'signal'>,
  bytes: number,
): Promise<PassingBatch> {
  const { engine, signal } = plan;
  const { serverMemory } = engine;
  if (serverMemory === undefined) return UNCOUNTED;
  if (bytes < COUNTED_BYTES) return new CountedBatch(serverMemory, 0);
  const taken = takenBytes(serverMemory, bytes);
  await serverMemory.pass(taken, WHAT, signal);
  return new CountedBatch(serverMemory, taken);
}

/** A batch that is larger than all memory of batches passes alone. */
const takenBytes = ({ passing }: ServerMemory, bytes: number): number =>
  Math.min(COPIES * bytes, passing);

/**
 * Bytes of what the plan reads of a batch, as they lie in its file; 0 where nothing counts them.
 */
export function placeBytes(plan: ScanPlan, place: BatchPlace): number {
  if (plan.engine.serverMemory === undefined) return 0;
  const { snapshot, columns, predicate } = plan;
  const filtered = predicate === undefined ? 0 : fieldBytes(snapshot, place, predicate.columns);
  return filtered + fieldBytes(snapshot, place, neededFields(columns));
}
