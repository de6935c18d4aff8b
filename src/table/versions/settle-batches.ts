/** Undecided batches in the way of a writer: waited for, and aborted where nobody finishes them. */

import type { Engine } from './engine.ts';
import type { TableBranch } from './head.ts';
import { batchDecision, decideBatch } from './multi-table-commit.ts';
import { readManifest } from './version-files.ts';

/** How long a batch in the way may stay undecided before a writer aborts it, in milliseconds. */
const BATCH_GRACE = 2_000;

/**
 * Versions of undecided batches stand above the newest visible one: what is built past them would
 * lose them if they are committed later. True when one was in the way, or came meanwhile and is to
 * be seen, and the branch looks anew.
 */
export async function settleBatches(
  engine: Engine,
  branch: TableBranch,
  newest: number,
  slot: number,
): Promise<boolean> {
  let waited = false;
  for (let version = newest + 1; version <= slot; version++) {
    const found = await readManifest(engine, branch, version);
    if (found === undefined) continue;
    if (found.batch !== undefined) {
      if ((await batchDecision(engine, found.batch)) === 'aborted') continue;
      await clearAbandonedBatch(engine, found.batch);
    }
    waited = true;
  }
  return waited;
}

/** A version of a batch that nobody finished must not block the branch for ever. */
export async function clearAbandonedBatch(engine: Engine, batch: string): Promise<void> {
  const deadline = engine.env.now() + BATCH_GRACE;
  while ((await batchDecision(engine, batch)) === undefined) {
    if (engine.env.now() >= deadline) {
      await decideBatch(engine, batch, 'aborted');
      return;
    }
    await engine.env.sleep(5 + engine.env.random() * 20);
  }
}
