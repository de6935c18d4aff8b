/**
 * `planDeletion` finds the versions that ranges name. It throws InvalidInput for a range that runs
 * backwards, and InvalidTableState if one of the versions must stay: the newest, one with a tag or
 * a hold, or the origin of a branch that Lance's clients need. `keptVersions` lists these with the
 * reasons. `deleteVersions` deletes versions for good, safely beside concurrent tags, holds and
 * writers, keeps those that get a tag or a hold meanwhile, and returns how many it deleted. Its
 * caller leaves out the newest version.
 *
 * A run of versions is first marked, which hides it from lists. Then tags and holds are read again.
 * Whoever creates a tag or a hold looks for marks afterwards, so one side always sees the other. A
 * tombstone takes the place of the run's first version and leads readers past the run. An
 * interrupted deletion can be repeated.
 */
import { DirspaceError } from '../../errors.ts';
import {
  DIGESTS_IN_FILE,
  deletedRunFile,
  digestsFile,
  encodeTombstone,
  firstInFile,
  parseDeletedRun,
  type VersionRun,
  versionFile,
} from '../../format/index.ts';
import {
  type Engine,
  highestListed,
  listBranches,
  listTags,
  resolveHead,
  type TableBranch,
  visibleVersions,
} from '../versions/index.ts';
import { heldVersions } from './holds.ts';

/**
 * From `start_version` to before `end_version`; an end of -1 is open: all that can go from there
 * on.
 */
export interface DeletionRange {
  readonly start_version: number;
  readonly end_version: number;
}

/**
 * The versions the ranges name. A range with an open end leaves out the newest, which every table
 * keeps. @throws InvalidInput, InvalidTableState for a version that is named and must stay
 */
export async function planDeletion(
  engine: Engine,
  branch: TableBranch,
  ranges: readonly DeletionRange[],
): Promise<number[]> {
  for (const { start_version: start, end_version: end } of ranges) {
    if (start >= 0 && (end === OPEN || end >= start)) continue;
    throw new DirspaceError(
      'InvalidInput',
      `The range from ${start} to ${end} runs backwards or begins below 0. Give a start_version of 0 or more, and an end_version, which is exclusive, that is no less; -1 means all from start_version on save the newest.`,
    );
  }
  const visible = await visibleVersions(engine, branch);
  const newest = await newestVersions(engine, branch);
  const inRange = (version: number): boolean =>
    ranges.some(
      ({ start_version: start, end_version: end }) =>
        version >= start && (end === OPEN ? version < newest.first : version < end),
    );
  const versions = visible.filter(inRange);
  const kept = await keptVersions(engine, branch, newest);
  for (const version of versions) {
    const reason = kept.get(version);
    if (reason === undefined) continue;
    throw new DirspaceError(
      'InvalidTableState',
      `Version ${version} cannot be deleted: ${reason}. No version was deleted. ${adviceFor(reason, version)}`,
      { details: { version } },
    );
  }
  return versions;
}

/** The `end_version` of a range without an end. */
const OPEN = -1;

const NEWEST = 'it is the newest, which a table always keeps';

const HELD = 'it is being restored, tagged or branched from';

const ORIGIN = 'writers of Lance need it as the origin of ';

function adviceFor(reason: string, version: number): string {
  if (reason === NEWEST) {
    return `End the range at ${version}, which is exclusive, or at -1, to delete the older ones.`;
  }
  if (reason === HELD) return 'Leave the version out, or try again later.';
  const what = reason.startsWith(ORIGIN) ? 'branch' : 'tag';
  return `Delete the ${what} first, or leave the version out.`;
}

/** The newest version, with those of undecided multi-table commits that build on it. */
interface Newest {
  readonly first: number;
  readonly last: number;
}

/**
 * From the newest visible version to the last one. If none is visible yet, only versions of
 * undecided multi-table commits exist, and all are in the range.
 */
async function newestVersions(engine: Engine, branch: TableBranch): Promise<Newest> {
  const head = await resolveHead(engine, branch);
  if (head !== undefined) return { first: head.snapshot.version, last: head.slot };
  return { first: 1, last: (await highestListed(engine, branch)) ?? 0 };
}

/** Versions of the branch that nothing may delete, with the reason. */
export async function keptVersions(
  engine: Engine,
  branch: TableBranch,
  newest?: Newest,
): Promise<ReadonlyMap<number, string>> {
  const kept = new Map<number, string>();
  const { first, last } = newest ?? (await newestVersions(engine, branch));
  for (let version = first; version <= last; version++) kept.set(version, NEWEST);
  for (const [version, reason] of await neededVersions(engine, branch)) kept.set(version, reason);
  return kept;
}

/**
 * Deletes them, save those that got a tag or a hold meanwhile; returns how many. The versions of a run
 * go in ascending order: a writer whose base still exists then knows that the next number was never
 * freed.
 */
export async function deleteVersions(
  engine: Engine,
  branch: TableBranch,
  versions: readonly number[],
): Promise<number> {
  if (versions.length === 0) return 0;
  const entries = (await engine.store.list(branch.folder)) ?? [];
  const before = entries.flatMap((entry) => parseDeletedRun(entry.name) ?? []);
  const marked = await markRuns(engine, branch, versions, before);
  for (const run of marked.runs) {
    const tombstone = encodeTombstone({ deletedThrough: run.last });
    await engine.store.put(versionFile(branch.folder, run.first), tombstone);
    for (let version = run.first + 1; version <= run.last; version++) {
      await engine.store.delete(versionFile(branch.folder, version));
    }
    await deleteDigests(engine, branch, run);
    for (const old of before) {
      if (old.first === run.first && old.last === run.last) continue;
      if (old.first < run.first || old.last > run.last) continue;
      await engine.store.delete(deletedRunFile(branch.folder, old.first, old.last));
    }
  }
  await engine.store.syncFolders([branch.folder]);
  return marked.versions.length;
}

/** Files of digests that tell of no version but those of the run. */
async function deleteDigests(
  engine: Engine,
  branch: TableBranch,
  { first, last }: VersionRun,
): Promise<void> {
  let next = firstInFile(first);
  if (next < first) next += DIGESTS_IN_FILE;
  for (; next + DIGESTS_IN_FILE - 1 <= last; next += DIGESTS_IN_FILE) {
    await engine.store.delete(digestsFile(branch.folder, next));
  }
}

async function markRuns(
  engine: Engine,
  branch: TableBranch,
  wanted: readonly number[],
  before: readonly VersionRun[],
): Promise<{ readonly runs: readonly VersionRun[]; readonly versions: readonly number[] }> {
  const own = new Set<string>();
  let settled = before;
  for (let versions = wanted; ; ) {
    const runs = joinRuns(versions, settled);
    for (const mark of runs.map((run) => markOf(branch, run))) {
      // Also one that was there a moment ago: who made it may have taken it back.
      if (await engine.store.putIfAbsent(mark, Buffer.from('{}\n'))) own.add(mark);
    }
    const needed = await neededVersions(engine, branch);
    const within = (run: VersionRun): boolean =>
      [...needed.keys()].some((version) => run.first <= version && version <= run.last);
    if (!runs.some(within)) return { runs, versions };
    for (const mark of runs.map((run) => markOf(branch, run))) {
      if (own.delete(mark)) await engine.store.delete(mark);
    }
    versions = versions.filter((version) => !needed.has(version));
    // A mark that covers a needed version is taken back.
    settled = settled.filter((run) => !within(run));
  }
}

const markOf = (branch: TableBranch, { first, last }: VersionRun): string =>
  deletedRunFile(branch.folder, first, last);

/**
 * Versions of the branch that tags name, that are held, or that Lance needs as the origin of another
 * branch, with the reason.
 */
async function neededVersions(
  engine: Engine,
  branch: TableBranch,
): Promise<ReadonlyMap<number, string>> {
  const needed = new Map<number, string>();
  // Holds are read before tags: a version is held until its tag exists.
  for (const version of await heldVersions(engine, branch)) needed.set(version, HELD);
  for (const [tag, record] of await listTags(engine, branch.tableFolder, branch.incarnation)) {
    if (record.branch === branch.branch) needed.set(record.version, `the tag ${tag} names it`);
  }
  // A cleanup by Lance reads the version that each branch was made from, and fails without it.
  const head = await resolveHead(engine, branch);
  if (head?.snapshot.manifest.lanceWrites !== true) return needed;
  for (const { branch: name, record } of await listBranches(
    engine,
    branch.tableFolder,
    branch.incarnation,
  )) {
    if (record.parentBranch === branch.branch)
      needed.set(record.parentVersion, `${ORIGIN}the branch ${name}`);
  }
  return needed;
}

/** The runs that the versions make, each joined with the older runs that it touches. */
function joinRuns(versions: readonly number[], before: readonly VersionRun[]): VersionRun[] {
  const all = [
    ...versions.map((version) => ({ first: version, last: version, isNew: true })),
    ...before.map((run) => ({ ...run, isNew: false })),
  ].sort((a, b) => a.first - b.first);
  const joined: { first: number; last: number; isNew: boolean }[] = [];
  for (const run of all) {
    const last = joined.at(-1);
    if (last !== undefined && run.first <= last.last + 1) {
      last.last = Math.max(last.last, run.last);
      last.isNew ||= run.isNew;
    } else joined.push({ ...run });
  }
  return joined.filter((run) => run.isNew);
}
