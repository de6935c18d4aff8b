/**
 * `cherryPick` brings the changes of a branch to main, as one version: those since the branch was
 * made, or since it was last picked. Main gets the content of the branch if main has not changed
 * since the branch was made, or since a pick gave it that content. If the branch only added rows,
 * and the columns of main and of the branch are unchanged, main gets the added rows. In all other
 * cases, and if there is nothing to bring, the result has an `Obstacle` with the reason, and
 * nothing is committed; a dry run commits nothing either. A main without a version throws
 * InvalidTableState, and a version of the branch that is gone TableVersionNotFound. No data file is
 * copied.
 */
import { crc32 } from 'node:zlib';
import { type FragmentEntry, fileIds, liveRows } from '../../format/index.ts';
import { digestsOf, withHold } from '../history/index.ts';
import {
  type Committed,
  commit,
  type Draft,
  type Engine,
  editFragments,
  emptyTable,
  fragmentListOf,
  type Snapshot,
  type TableBranch,
  visibleSnapshot,
} from '../versions/index.ts';
import { restored, type WriteOptions } from '../write/index.ts';

export interface Obstacle {
  readonly code: 'MAIN_MOVED' | 'NO_CHANGES' | 'BASE_GONE';
  readonly message: string;
}

/** The version that a branch began with. */
export interface Origin {
  /** The version of main that it was made of, whose number its own first version has. */
  readonly version: number;
  /** The id of the branch, whatever its name. */
  readonly id: string;
}

export interface CherryPicked {
  /** Undefined where nothing was committed. */
  readonly committed?: Committed | undefined;
  readonly obstacle?: Obstacle | undefined;
}

export interface CherryPickOptions extends WriteOptions {
  /** Finds out whether it would be done. */
  readonly dryRun?: boolean | undefined;
}

/** Changes that were brought over before are not brought over again. */
export async function cherryPick(
  engine: Engine,
  main: TableBranch,
  branch: Snapshot,
  origin: Origin,
  options: CherryPickOptions = {},
): Promise<CherryPicked> {
  let obstacle: Obstacle | undefined;
  const picked = await withHold(engine, branch.branch, branch.version, () =>
    commit(engine, main, {
      transaction: options.transaction,
      signal: options.signal,
      survivesOverwrite: true,
      build: async (newest) => {
        if (newest === undefined) throw emptyTable();
        const made = await drafted(engine, newest, branch, origin);
        obstacle = 'code' in made ? made : undefined;
        return 'code' in made || options.dryRun === true ? undefined : made;
      },
    }),
  );
  if (obstacle !== undefined) return { obstacle };
  return picked.transaction === undefined ? {} : { committed: picked };
}

async function drafted(
  engine: Engine,
  newest: Snapshot,
  branch: Snapshot,
  origin: Origin,
): Promise<Draft | Obstacle> {
  const name = branch.branch.branch;
  const mark = crc32(origin.id);
  const last = await lastPick(engine, newest, origin, mark);
  if (last === 'gone') return baseGone(name);
  const since = last?.picked ?? origin.version;
  if (since === branch.version) {
    const message = `The branch ${name} has no version that main does not have: nothing is to be brought over.`;
    return { code: 'NO_CHANGES', message };
  }
  const summary = { picked_branch: mark, picked_version: branch.version };
  if (newest.version === (last?.whole === true ? last.version : origin.version)) {
    const { rowCount, manifest } = branch;
    const counts = { added_rows: rowCount, added_fragments: manifest.totals.fragments };
    return {
      ...restored(branch, newest.manifest),
      kind: 'overwrite',
      summary: { ...counts, removed_rows: newest.rowCount, ...summary },
    };
  }
  const before = await visibleSnapshot(engine, branch.branch, since);
  if (before === undefined) return baseGone(name);
  const added = await addedFragments(before, branch);
  if (added === undefined || !sameFields(before, branch) || !sameFields(before, newest)) {
    const message = `Main went on since the branch ${name} was made of its version ${origin.version}, and the branch has more than new rows, or columns changed: its changes cannot be joined with those of main. Nothing was changed. Make a branch of main as it is now, and repeat the changes there.`;
    return { code: 'MAIN_MOVED', message };
  }
  const { manifest } = newest;
  const firstId = manifest.nextFragmentId;
  const entries = added.map((entry, at) => ({ ...entry, id: firstId + at }));
  return {
    kind: 'append',
    summary: {
      added_rows: entries.reduce((sum, entry) => sum + liveRows(entry), 0),
      added_fragments: entries.length,
      ...summary,
    },
    schema: manifest.schema,
    fieldIds: manifest.fieldIds,
    nextFieldId: manifest.nextFieldId,
    nextFragmentId: firstId + entries.length,
    metadata: manifest.metadata,
    fragments: await editFragments(engine, newest.branch.tableFolder, fragmentListOf(manifest), {
      added: entries,
    }),
  };
}

const baseGone = (name: string): Obstacle => ({
  code: 'BASE_GONE',
  message: `Versions of main or of the branch ${name} are gone since it was made: what is to be brought over is not known. Nothing was changed. Make a branch of main as it is now, and repeat the changes there.`,
});

interface LastPick {
  /** The version of main that was committed. */
  readonly version: number;
  /** The version of the branch that was picked. */
  readonly picked: number;
  /** Whether main had just the content of the branch then. */
  readonly whole: boolean;
}

/** Finds in the versions of main what it last took over from the branch. */
async function lastPick(
  engine: Engine,
  newest: Snapshot,
  { version: from }: Origin,
  mark: number,
): Promise<LastPick | undefined | 'gone'> {
  const numbers = Array.from({ length: newest.version - from }, (_, at) => from + 1 + at);
  const digests = await digestsOf(engine, newest.branch, numbers);
  if (digests.length < numbers.length) return 'gone';
  const found = digests.findLast(({ operation }) => operation.summary.picked_branch === mark);
  if (found === undefined) return undefined;
  const { kind, summary } = found.operation;
  const picked = summary.picked_version ?? 0;
  return { version: found.version, picked, whole: kind === 'overwrite' };
}

/** The fragments that the branch has behind those it began with; undefined where these changed. */
async function addedFragments(
  origin: Snapshot,
  branch: Snapshot,
): Promise<readonly FragmentEntry[] | undefined> {
  const before = await origin.fragments();
  const now = await branch.fragments();
  const isKept = before.every((entry, at) => {
    const other = now[at];
    return other !== undefined && keyOf(entry) === keyOf(other);
  });
  return isKept ? now.slice(before.length) : undefined;
}

/** What a fragment holds: its files, and which rows of it are deleted. */
const keyOf = (entry: FragmentEntry): string =>
  JSON.stringify([fileIds(entry), entry.deletion ?? null]);

const sameFields = ({ manifest: one }: Snapshot, { manifest: other }: Snapshot): boolean =>
  JSON.stringify([one.schema, one.fieldIds]) === JSON.stringify([other.schema, other.fieldIds]);
