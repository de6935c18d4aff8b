/**
 * Updates the files by which Lance opens a table by its path: `followCommit` after each commit, and
 * `followTable` after changes of tags, branches and versions. They do nothing for tables that were
 * not written for Lance. They write what Lance has to find if the mode asks for it, or if Lance
 * finds versions at the path already, because it would otherwise take an older one for the newest
 * (`hasToFollow`). If Lance finds nothing there, they write the fence (lance-fence.ts), so that it
 * refuses the table. Both never reject: a failure never fails the change, and a later change or
 * lance-sync.ts writes what is missing. `followTable` looks at the versions of main only if its
 * option `versions` is set.
 */
import { followsByPath } from '../../lance-mode.ts';
import {
  type Engine,
  lanceModeOf,
  mainBranch,
  resolveHead,
  type Snapshot,
} from '../versions/index.ts';
import { placeFence } from './lance-fence.ts';
import { placeRefs } from './lance-refs.ts';
import { foundByPath, placeVersion, placeVersions } from './lance-versions.ts';

/** Whether what Lance finds by the path of a table has to be as new as this version of it. */
export async function hasToFollow(engine: Engine, snapshot: Followable): Promise<boolean> {
  return (await wantedByPath(engine, snapshot)) === 'versions';
}

type Followable = Pick<Snapshot, 'branch' | 'version' | 'manifest'>;

/**
 * What a commit has to put at the path of the table: its version, or the fence if that is missing;
 * undefined if nothing has to be put there.
 */
async function wantedByPath(
  engine: Engine,
  { branch, version, manifest }: Followable,
): Promise<'versions' | 'fence' | undefined> {
  // A table that was written for Lance stays so.
  if (manifest.lance !== true) return undefined;
  if (followsByPath(await lanceModeOf(engine, branch, manifest))) return 'versions';
  const found = await foundByPath(engine, branch, version);
  if (found === 'versions') return found;
  return found === 'nothing' ? 'fence' : undefined;
}

/** Never rejects. */
export async function followCommit(engine: Engine, snapshot: Snapshot): Promise<void> {
  try {
    const wanted = await wantedByPath(engine, snapshot);
    if (wanted === 'versions') await placeVersion(engine, snapshot);
    if (wanted === 'fence') await placeFence(engine, snapshot.branch);
  } catch {
    // The version is committed, whatever becomes of its second name.
  }
}

/** The part of a table that a change other than a commit affects. */
export interface Followed {
  /** Versions are gone, or the whole table has another place. */
  readonly versions?: boolean;
}

/** After tags, branches or versions came or went. Never rejects. */
export async function followTable(
  engine: Engine,
  tableFolder: string,
  incarnation: string,
  { versions = false }: Followed = {},
): Promise<void> {
  try {
    const main = mainBranch(tableFolder, incarnation);
    const snapshot = (await resolveHead(engine, main))?.snapshot;
    if (snapshot?.manifest.lance !== true) return;
    const wanted = await wantedByPath(engine, snapshot);
    if (wanted === 'fence') await placeFence(engine, main);
    if (wanted !== 'versions') return;
    if (versions) await placeVersions(engine, main);
    await placeRefs(engine, tableFolder, incarnation);
  } catch {
    // The change is made, whatever becomes of what Lance sees of it.
  }
}
