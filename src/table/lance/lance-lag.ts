/**
 * `lagByPath` checks whether Lance finds the newest version of a branch when it opens a table by
 * its path, and no version of another program above it. If not, it returns a sentence on what Lance
 * finds instead and what to do. It returns undefined if all is right, or if Lance need not find the
 * version. Lance's files may lag, because a commit does not fail when they cannot be written. It
 * reads a few files; verify compares all of them.
 */
import { lanceVersionFile } from '../../format/index.ts';
import type { Engine, Snapshot } from '../versions/index.ts';
import { holdsManifestOf } from './lance-files.ts';
import { hasToFollow } from './lance-follow.ts';
import { datasetOf } from './lance-strangers.ts';
import { isPlaced } from './lance-versions.ts';

/**
 * What Lance finds by path in place of the version, and what to do, as a whole sentence; undefined
 * where it finds the version, and where the table is not to be opened by path.
 * @param snapshot the newest version of a branch
 */
export async function lagByPath(engine: Engine, snapshot: Snapshot): Promise<string | undefined> {
  if (!(await hasToFollow(engine, snapshot))) return undefined;
  const { branch, version } = snapshot;
  const dataset = datasetOf(branch);
  const own = lanceVersionFile(dataset, version);
  const isThere = (await isPlaced(engine, branch, version)) || (await isCopied(engine, snapshot));
  if (!isThere) {
    const isTaken = (await engine.store.head(own)) !== undefined;
    const what = isTaken ? 'finds something else for' : 'does not find';
    return `By path Lance ${what} version ${version}. ${MEND}`;
  }
  const next = await engine.store.head(lanceVersionFile(dataset, version + 1));
  // A commit that comes meanwhile places its own.
  if (next === undefined || (await isPlaced(engine, branch, version + 1))) return undefined;
  return `By path Lance finds version ${version + 1}, which another program wrote past the catalog. ${MEND}`;
}

/** A catalog that was copied has no links any more, and the same manifests. */
async function isCopied(engine: Engine, snapshot: Snapshot): Promise<boolean> {
  const path = lanceVersionFile(datasetOf(snapshot.branch), snapshot.version);
  if ((await engine.store.head(path)) === undefined) return false;
  return holdsManifestOf(engine, snapshot, path);
}

const MEND = 'Run `dirspace lance sync` for the table, or commit once more.';
