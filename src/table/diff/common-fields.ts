/**
 * `commonFieldIds` returns the number below which a field id means the same column in two versions.
 * Branches number new fields independently after they split, so only ids assigned up to the version
 * at which they split are common. Within one branch, all ids are common. If the version of the
 * split, or a branch on the way to it, is gone, the result is 0.
 */
import { MAIN_BRANCH } from '../../format/index.ts';
import {
  type Engine,
  findBranch,
  mainBranch,
  type Snapshot,
  type TableBranch,
  visibleSnapshot,
} from '../versions/index.ts';

interface Stage {
  readonly branch: TableBranch;
  /** The last version of the branch that counts. */
  readonly version: number;
}

/** Ids below it are common. 0 where the version that both come from is gone. */
export async function commonFieldIds(
  engine: Engine,
  from: Snapshot,
  to: Snapshot,
): Promise<number> {
  if (from.branch.branch === to.branch.branch) return Number.MAX_SAFE_INTEGER;
  const after = await lineage(engine, to);
  for (const stage of await lineage(engine, from)) {
    const other = after.find(({ branch }) => branch.branch === stage.branch.branch);
    if (other === undefined) continue;
    const version = Math.min(stage.version, other.version);
    const origin = await visibleSnapshot(engine, stage.branch, version);
    return origin?.manifest.nextFieldId ?? 0;
  }
  return 0;
}

/** The branch of a version, the one it was made from, and so on. */
async function lineage(engine: Engine, { branch, version }: Snapshot): Promise<Stage[]> {
  const { tableFolder, incarnation } = branch;
  const stages: Stage[] = [{ branch, version }];
  const seen = new Set([branch.branch]);
  for (let name = branch.branch; name !== MAIN_BRANCH; ) {
    const record = (await findBranch(engine, tableFolder, incarnation, name))?.record;
    if (record === undefined || seen.has(record.parentBranch)) break;
    name = record.parentBranch;
    seen.add(name);
    const parent =
      name === MAIN_BRANCH
        ? mainBranch(tableFolder, incarnation)
        : await findBranch(engine, tableFolder, incarnation, name);
    if (parent === undefined) break;
    stages.push({ branch: parent, version: record.parentVersion });
  }
  return stages;
}
