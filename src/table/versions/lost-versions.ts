/**
 * `lostTail` detects that the newest versions of a branch were lost; if they were not, it returns
 * undefined. `refuseLostTail` throws Corrupt if they were lost, and otherwise returns the highest
 * number with a file (undefined without the branch's folder). A branch that lost its newest
 * versions looks whole, but a writer would use their numbers again.
 *
 * A version is published before its hint, and the newest is never deleted. So versions were lost if
 * a higher number than that of any file is known. The number comes from a hint, a record of deleted
 * versions, or the caller's memory. If no version file is left, only the hint counts: it may be a
 * new table. A loss counts once two looks, one after the other, see the same.
 */
import { DirspaceError } from '../../errors.ts';
import { latestFile, parseDeletedRun, parseVersionFile, versionFile } from '../../format/index.ts';
import type { Engine } from './engine.ts';
import type { TableBranch } from './head.ts';
import { LARGEST_HINTED, readHint } from './hint.ts';

export interface LostTail {
  /** The highest number with a file, whatever is in it; 0 where there is none. */
  readonly newest: number;
  /** The highest number that was in use. */
  readonly named: number;
  readonly what: string;
}

interface Look {
  readonly newest: number;
  readonly lost: LostTail | undefined;
  /** Equal for two looks between which nothing happened. */
  readonly state: string;
}

/**
 * The highest number with a file, 0 without any; undefined where the folder is not there.
 * @param remembered the highest number that this handle has seen itself; 0 where it has not
 * @throws Corrupt where that number, or one that the hint names, is lost
 */
export async function refuseLostTail(
  engine: Engine,
  branch: TableBranch,
  remembered: number,
): Promise<number | undefined> {
  const found = await lookTwice(engine, branch, remembered);
  if (found?.lost === undefined) return found?.newest;
  const { newest, named, what } = found.lost;
  const file = versionFile(branch.folder, newest + 1);
  throw new DirspaceError(
    'Corrupt',
    `The file ${file} is missing. ${what} Put the lost files of versions back, or let repair accept what is there: it says in advance what it would do, and no number is used twice.`,
    { details: { file, branch: branch.branch, newest, named } },
  );
}

/** Undefined where nothing says that versions were lost. */
export const lostTail = async (
  engine: Engine,
  branch: TableBranch,
  remembered: number,
): Promise<LostTail | undefined> => (await lookTwice(engine, branch, remembered))?.lost;

/**
 * A list of a folder that changes meanwhile may miss what was there, so a loss counts only when two
 * looks, one after the other, see the very same.
 */
async function lookTwice(
  engine: Engine,
  branch: TableBranch,
  remembered: number,
): Promise<Look | undefined> {
  for (let before: string | undefined; ; ) {
    const found = await look(engine, branch, remembered);
    if (found?.lost === undefined || found.state === before) return found;
    before = found.state;
  }
}

async function look(
  engine: Engine,
  branch: TableBranch,
  remembered: number,
): Promise<Look | undefined> {
  // Before the list: the version that it names was there by then.
  const hint = await readHint(engine, branch);
  const entries = await engine.store.list(branch.folder);
  if (entries === undefined) return undefined;
  const names = entries.map(({ name }) => name);
  const versions = names.flatMap((name) => parseVersionFile(name) ?? []);
  const runs = names.flatMap((name) => parseDeletedRun(name) ?? []);
  const newest = versions.reduce((most, version) => Math.max(most, version), 0);
  const state = JSON.stringify([hint, ...versions, ...runs.map(({ last }) => last)]);
  const isHinted =
    hint !== undefined && names.includes(latestFile(branch.folder).split('/').at(-1) ?? '');
  const evidence: [named: number, by: string][] = [];
  if (isHinted) evidence.push([hint, `The hint of branch ${branch.branch} names version ${hint}`]);
  // A table without any version is told by its other files.
  if (newest > 0) {
    evidence.push([
      remembered,
      `Version ${remembered} of branch ${branch.branch} was there before`,
    ]);
    for (const { first, last } of runs) {
      if (last < LARGEST_HINTED)
        evidence.push([last + 1, `Versions ${first} to ${last} were deleted, never the newest`]);
    }
  }
  const [named, by] = evidence.reduce((most, each) => (each[0] > most[0] ? each : most), [0, '']);
  if (named <= newest) return { newest, state, lost: undefined };
  const there =
    newest === 0 ? 'no version is there' : `the newest that is there is version ${newest}`;
  return { newest, state, lost: { newest, named, what: `${by}, and ${there}.` } };
}
