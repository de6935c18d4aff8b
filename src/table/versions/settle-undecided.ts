/**
 * `settleUndecided` settles undecided multi-table commits whose versions lie above the newest
 * visible version and so block a writer. It waits up to two seconds for the decision of each, then
 * aborts the commit (`abortAbandoned`). It returns true if the caller has to look for the newest
 * version again, and false if no version lies above, or only versions of aborted commits do.
 */

import type { Engine } from './engine.ts';
import type { TableBranch } from './head.ts';
import { decideMultiTable, multiTableDecision } from './multi-table-commit.ts';
import { readManifest } from './version-files.ts';

/**
 * How long a multi-table commit in the way may stay undecided before a writer aborts it, in
 * milliseconds.
 */
const DECISION_GRACE = 2_000;

/**
 * Settles versions of undecided multi-table commits above the newest visible one: a version built
 * past them would lose them if they are committed later. True when one was in the way, or became
 * visible meanwhile, and the caller has to resolve the head again.
 */
export async function settleUndecided(
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
      if ((await multiTableDecision(engine, found.batch)) === 'aborted') continue;
      await abortAbandoned(engine, found.batch);
    }
    waited = true;
  }
  return waited;
}

/**
 * Aborts a multi-table commit that stayed undecided, so that its versions do not block the branch.
 */
export async function abortAbandoned(engine: Engine, commitId: string): Promise<void> {
  const deadline = engine.env.now() + DECISION_GRACE;
  while ((await multiTableDecision(engine, commitId)) === undefined) {
    if (engine.env.now() >= deadline) {
      await decideMultiTable(engine, commitId, 'aborted');
      return;
    }
    await engine.env.sleep(5 + engine.env.random() * 20);
  }
}
