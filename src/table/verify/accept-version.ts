/**
 * For repair: if the newest versions of a branch are lost or damaged, `acceptVersion` makes an
 * older one the newest again. `planAcceptance` finds the newest visible version before the damage,
 * or returns undefined if there is no damage or no such version. The caller must have copied the
 * damaged versions, which `acceptVersion` removes. If another writer changes the branch meanwhile,
 * it throws ConcurrentModification.
 *
 * The lost numbers, and some that may have been in use, are marked as a deleted run, and a
 * tombstone takes the first of them. The version after the run then restores the accepted one.
 * After a crash in between, the mark shows that the rest is still to be done.
 */
import { DirspaceError } from '../../errors.ts';
import {
  deletedRunFile,
  encodeManifest,
  encodeTombstone,
  type Manifest,
  parseDeletedRun,
  versionFile,
} from '../../format/index.ts';
import {
  type Engine,
  HINT_EVERY,
  hintAt,
  isVisible,
  lanceToldOf,
  listedVersionsOf,
  newTransaction,
  nextManifest,
  settleUndecided,
  type TableBranch,
  visibleSnapshot,
} from '../versions/index.ts';
import { restored } from '../write/index.ts';
import type { VerifiedBranch, VerifiedVersion } from './verify-manifest.ts';

/** A version to accept, and what comes after it and is removed. */
export interface Acceptance {
  readonly branch: TableBranch;
  /** The version whose content is the newest from now on. */
  readonly accepted: number;
  /** The first and the last of the numbers that are never used again. */
  readonly first: number;
  readonly last: number;
  /** The versions among them that have a file, newest first. */
  readonly torn: readonly VerifiedVersion[];
  /** The manifests that can be read of those. */
  readonly manifests: readonly Manifest[];
}

/** Hints come every few versions, and one may have been lost with the versions after it. */
const NUMBERS_IN_DOUBT = 2 * HINT_EVERY - 1;

/** Undefined where the end of the branch is whole, or nothing whole is left to fall back to. */
export async function planAcceptance(
  engine: Engine,
  { branch, versions, lost }: VerifiedBranch,
): Promise<Acceptance | undefined> {
  const whole = versions.findLastIndex(({ damage }) => damage === undefined);
  const torn = versions.slice(whole + 1).reverse();
  if (whole < 0 || (torn.length === 0 && lost === undefined)) return undefined;
  const accepted = await newestVisible(engine, versions.slice(0, whole + 1));
  if (accepted === undefined) return undefined;
  const first = (versions[whole]?.version ?? 0) + 1;
  const known = Math.max(first, torn[0]?.version ?? 0, lost?.named ?? 0);
  const manifests = torn.flatMap(({ manifest }) => manifest ?? []);
  return { branch, accepted, first, last: known + NUMBERS_IN_DOUBT, torn, manifests };
}

async function newestVisible(
  engine: Engine,
  versions: readonly VerifiedVersion[],
): Promise<number | undefined> {
  for (const { version, manifest } of versions.toReversed()) {
    if (manifest !== undefined && (await isVisible(engine, manifest))) return version;
  }
  return undefined;
}

/** The caller must have copied what is removed. @throws ConcurrentModification */
export async function acceptVersion(engine: Engine, plan: Acceptance): Promise<void> {
  const { branch, accepted, first, last, manifests } = plan;
  const decided = await settleUndecided(engine, branch, accepted, first - 1);
  const snapshot = await visibleSnapshot(engine, branch, accepted);
  if (decided || snapshot === undefined) throw disturbed(branch);
  // What may fail in reading does so before anything is removed.
  const given = [snapshot.manifest, ...manifests];
  const draft = restored(snapshot, {
    nextFieldId: Math.max(...given.map(({ nextFieldId }) => nextFieldId)),
    nextFragmentId: Math.max(...given.map(({ nextFragmentId }) => nextFragmentId)),
  });
  const transaction = newTransaction(engine, branch);
  const next = nextManifest(engine, branch, draft, { slot: last, snapshot }, transaction);
  const manifest = await lanceToldOf(engine, branch, next, snapshot);
  const { bytes } = encodeManifest(manifest);
  await engine.store.putIfAbsent(deletedRunFile(branch.folder, first, last), Buffer.from('{}\n'));
  const tombstone = encodeTombstone({ deletedThrough: last });
  await engine.store.put(versionFile(branch.folder, first), tombstone);
  for (const version of (await listedVersionsOf(engine, branch)) ?? []) {
    if (version > first && version <= last)
      await engine.store.delete(versionFile(branch.folder, version));
  }
  await engine.store.syncFolders([branch.folder]);
  // Not through the version operations, where versions are managed: they refuse what is lost.
  const file = versionFile(branch.folder, manifest.version);
  if (!(await engine.store.putIfAbsent(file, bytes))) throw disturbed(branch);
  await hintAt(engine, branch, manifest.version);
  for (const { name } of (await engine.store.list(branch.folder)) ?? []) {
    const run = parseDeletedRun(name);
    if (run === undefined || (run.first === first && run.last === last)) continue;
    if (run.first >= first && run.last <= last)
      await engine.store.delete(deletedRunFile(branch.folder, run.first, run.last));
  }
}

const disturbed = (branch: TableBranch): DirspaceError =>
  new DirspaceError(
    'ConcurrentModification',
    `Another writer changed branch ${branch.branch} of the table in ${branch.tableFolder} while it was being repaired. Stop the writers and repair again.`,
  );
