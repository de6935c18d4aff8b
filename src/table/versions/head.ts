/**
 * Finds a version of a branch. `resolveHead` finds the newest that readers may see, or returns
 * undefined if there is none yet; it throws Corrupt if the newest versions are lost
 * (lost-versions.ts), and TableNotFound if the table left its place. `snapshotAt` finds one by
 * number, or throws TableVersionNotFound, or InvalidInput if that is no whole number. Versions of
 * undecided or aborted multi-table commits are not visible, but their numbers count (`Head.slot`).
 * `isStillThere` tells whether a version was not deleted meanwhile, and `isBaseGone` whether a
 * change failed because its base was. `TableBranch` is the type of a branch.
 *
 * Version numbers have no gaps, with two exceptions. Cleanup leaves a marker in place of the
 * versions that it deleted. A single file may be lost; the versions after it hold all of its data.
 */
import { DirspaceError, isDirspaceError } from '../../errors.ts';
import {
  encodeTombstone,
  type Manifest,
  type VersionDocument,
  versionFile,
} from '../../format/index.ts';
import { corrupt } from '../../json.ts';
import { errorNaming } from '../../protocol/index.ts';
import type { FolderFacts } from '../../store/index.ts';
import type { Engine } from './engine.ts';
import { HINT_EVERY, readHint } from './hint.ts';
import { incarnationAt, tableLeft, tableNamed } from './incarnation.ts';
import { refuseLostTail } from './lost-versions.ts';
import { Snapshot } from './snapshot.ts';
import {
  highestListed,
  isVisible,
  listedBranch,
  readVersion,
  visibleSnapshot,
} from './version-files.ts';

/** One branch of one incarnation of a table. */
export interface TableBranch {
  readonly tableFolder: string;
  readonly incarnation: string;
  readonly branch: string;
  /** Where the version files of the branch are. */
  readonly folder: string;
}

export interface Head {
  /** The highest version number in use; the next commit takes the one after it. */
  readonly slot: number;
  /**
   * The newest version readers may see: at `slot` but for a multi-table commit that was never
   * committed.
   */
  readonly snapshot: Snapshot;
  /**
   * The facts of the branch's folder before its versions were looked for, unless it had just
   * changed.
   */
  readonly folder?: FolderFacts | undefined;
}

/**
 * The newest version, or undefined when readers see none: of a declared table, also while its first
 * version waits for the decision of a multi-table commit. @throws TableNotFound when the table left
 * its place, Corrupt when newer versions were lost
 */
export async function resolveHead(engine: Engine, branch: TableBranch): Promise<Head | undefined> {
  const known = engine.heads.head(branch);
  if (known !== undefined && (await isNewestStill(engine, branch, known)))
    return { slot: known.slot, snapshot: known.snapshot };
  const remembered = known?.slot ?? 0;
  // Before its versions are looked for: a change in between gives it another time.
  const folder = await engine.store.folderFacts(branch.folder, true);
  const settled = folder?.settled === true ? folder : undefined;
  const isListed = known === undefined && isQuicklyListed(folder);
  const listed = isListed ? await listedBranch(engine, branch, true) : undefined;
  // Before the first look at single versions: what it names was there by then. Where it names a
  // version that is not on the list, they are looked for again.
  const hint = listed?.hasHint === false ? undefined : await readHint(engine, branch);
  let seen = Math.max(remembered, hint ?? 0);
  let slot: number | undefined = known?.slot;
  // The end of a list that was just read is the newest version, and no lost one hides others behind
  // it.
  let end: number | undefined;
  if (listed !== undefined) {
    end = listed.highest;
    slot = end;
  } else if (slot === undefined) {
    if (hint !== undefined && (await hasVersion(engine, branch, hint))) slot = hint;
    else {
      end = await highestListed(engine, branch, folder !== undefined);
      slot = end;
    }
  }
  if (slot === undefined) return noVersion(engine, branch, hint);
  for (let gone = 0, unfound = 0; ; ) {
    if (slot !== end) slot = await lastContiguous(engine, branch, slot);
    const found = await readVersion(engine, branch, slot, slot === end);
    if (found !== undefined && 'manifest' in found) {
      const head = await visibleHead(engine, branch, slot, found);
      const isEnd = slot === end;
      end = undefined;
      if (head === 'gone' && gone !== slot) {
        gone = slot;
        continue;
      }
      if (head === 'gone') throw corrupt(versionFile(branch.folder, slot), 'its base is missing');
      if (!isEnd && (await hasVersion(engine, branch, slot + 1))) continue;
      if (!isEnd && (await mayBePassed(engine, branch, found.manifest))) {
        const newest = await highestListed(engine, branch);
        if (newest !== undefined && newest > slot) {
          slot = newest;
          continue;
        }
      }
      if (slot < seen) {
        const newest = await refuseLostTail(engine, branch, remembered);
        seen = 0;
        if (newest === undefined) return noVersion(engine, branch, undefined);
        if (newest > slot) {
          slot = newest;
          continue;
        }
      }
      if (head === undefined) return undefined;
      const whole = { ...head, folder: settled };
      engine.heads.keepHead(branch, whole);
      return whole;
    }
    end = undefined;
    const listed = await highestListed(engine, branch);
    if (listed === undefined) return noVersion(engine, branch, hint);
    if (found !== undefined && 'tombstone' in found) {
      slot = Math.max(found.tombstone.deletedThrough, slot);
      if (listed > slot) continue;
      throw corrupt(versionFile(branch.folder, slot), 'versions after a deleted run are missing');
    }
    // The version vanished between the probe and the read: cleanup went by.
    if (listed === slot && unfound === slot)
      throw corrupt(versionFile(branch.folder, slot), 'it is listed and cannot be found');
    unfound = slot;
    slot = listed;
  }
}

/**
 * Whether listing a folder takes no longer than the looks at single names that follow a hint. One
 * block holds the names of a hundred versions; other file systems tell of fewer bytes, or of none.
 */
const isQuicklyListed = (folder: FolderFacts | undefined): boolean =>
  folder !== undefined && folder.size > 0 && folder.size <= ONE_BLOCK;

const ONE_BLOCK = 4_096;

/** Four looks at the disk. */
async function isNewestStill(engine: Engine, branch: TableBranch, head: Head): Promise<boolean> {
  const { slot, snapshot } = head;
  if (snapshot.version !== slot) return false;
  // The successor first: a deleted run loses its first version before the versions after it.
  if (await hasVersion(engine, branch, slot + 1)) return false;
  // The successor was lost, and its number must not be used again while there are others.
  if (await hasVersion(engine, branch, slot + 2)) return false;
  if (!(await isStillThere(engine, snapshot))) return false;
  // Missed once more: the table may have been away before, with both, and come back.
  return !(await hasVersion(engine, branch, slot + 1));
}

/** Undefined if the table is there and has no version yet. @throws TableNotFound, Corrupt */
async function noVersion(
  engine: Engine,
  branch: TableBranch,
  hint: number | undefined,
): Promise<Head | undefined> {
  if (hint !== undefined) await refuseLostTail(engine, branch, 0);
  const found = await incarnationAt(engine, branch.tableFolder);
  if (found !== branch.incarnation) throw tableLeft(branch.incarnation, found);
  // It may have been moved away and back since its versions were looked for.
  const listed = await highestListed(engine, branch);
  return listed === undefined ? undefined : resolveHead(engine, branch);
}

/** @throws TableVersionNotFound */
export async function snapshotAt(
  engine: Engine,
  branch: TableBranch,
  version: number,
): Promise<Snapshot> {
  if (!Number.isSafeInteger(version)) {
    const found = typeof version === 'string' ? JSON.stringify(version) : String(version);
    throw new DirspaceError('InvalidInput', `The version is ${found}; it is a whole number.`);
  }
  const known = engine.heads.head(branch)?.snapshot;
  const found =
    known?.version === version && (await isStillThere(engine, known))
      ? known
      : await visibleSnapshot(engine, branch, version);
  if (found !== undefined) return found;
  const head = await resolveHead(engine, branch);
  // The table is there by now; it may have been moved away and back since the version was looked
  // for.
  const again = await visibleSnapshot(engine, branch, version);
  if (again !== undefined) return again;
  const newest =
    head === undefined
      ? 'it has no version yet'
      : `its newest is ${head.snapshot.manifest.version}`;
  const { named, details } = tableNamed(engine, branch.tableFolder);
  throw errorNaming(
    'TableVersionNotFound',
    (show) =>
      `Version ${version} of the table ${named(show)} was not found on branch ${branch.branch}; ${newest}. Versions removed by cleanup cannot be read again.`,
    { details: { ...details, version, branch: branch.branch } },
  );
}

/** False once the version was deleted; a tombstone in its place has another size. */
export async function isStillThere(engine: Engine, snapshot: Snapshot): Promise<boolean> {
  return (await engine.store.head(snapshot.file))?.size === snapshot.manifestBytes;
}

/**
 * Whether a change failed because what it was built on was deleted meanwhile, for which a newer
 * version had to be there: it is built anew on that one.
 */
export async function isBaseGone(
  engine: Engine,
  base: Snapshot | undefined,
  error: unknown,
): Promise<boolean> {
  if (base === undefined) return false;
  const isMissing =
    isDirspaceError(error, 'TableVersionNotFound') || isDirspaceError(error, 'Corrupt');
  return isMissing && !(await isStillThere(engine, base));
}

async function hasVersion(engine: Engine, branch: TableBranch, version: number): Promise<boolean> {
  const file = versionFile(branch.folder, version);
  try {
    return (await engine.store.head(file)) !== undefined;
  } catch (error) {
    // A link has the number as well; reading it says what is wrong.
    if (isDirspaceError(error, 'InvalidInput') && error.details.path === file) return true;
    throw error;
  }
}

/**
 * Whether there may be newer versions beyond numbers that have no file. A list of the folder tells.
 */
async function mayBePassed(engine: Engine, branch: TableBranch, found: Manifest): Promise<boolean> {
  return (await isBaseDeleted(engine, branch, found)) || isBeforeGap(engine, branch, found.version);
}

/**
 * A version whose base was deleted is the newest or was written to a number that cleanup had freed,
 * by a writer that has yet to take it back.
 */
async function isBaseDeleted(
  engine: Engine,
  branch: TableBranch,
  { parent }: Manifest,
): Promise<boolean> {
  if (parent === undefined || parent.branch !== branch.branch) return false;
  const found = await engine.store.head(versionFile(branch.folder, parent.version));
  return found === undefined || found.size <= LARGEST_TOMBSTONE;
}

/** In bytes; a manifest is longer. */
const LARGEST_TOMBSTONE = encodeTombstone({ deletedThrough: Number.MAX_SAFE_INTEGER }).length;

/**
 * Whether a version between this one and others was lost. Those after it hold all that was in it,
 * so that the newest of them counts. Looks as far as the hint may be behind.
 */
async function isBeforeGap(engine: Engine, branch: TableBranch, slot: number): Promise<boolean> {
  for (let ahead = 2; ahead <= HINT_EVERY; ahead++) {
    if (await hasVersion(engine, branch, slot + ahead)) return true;
  }
  return false;
}

async function lastContiguous(engine: Engine, branch: TableBranch, start: number): Promise<number> {
  const exists = (version: number): Promise<boolean> => hasVersion(engine, branch, version);
  let low = start;
  let step = 1;
  while (await exists(low + step)) {
    low += step;
    step *= 2;
  }
  // Between low (exists) and low + step (does not): halve until they meet.
  while (step > 1) {
    step /= 2;
    if (await exists(low + step)) low += step;
  }
  return low;
}

/**
 * Reads past versions of multi-table commits that were aborted or are undecided. 'gone' when the
 * version below them was deleted meanwhile; then a newer one exists and the caller looks again.
 * @param newest the version at `slot`, as it was read
 */
async function visibleHead(
  engine: Engine,
  branch: TableBranch,
  slot: number,
  newest: VersionDocument,
): Promise<Head | 'gone' | undefined> {
  let found: VersionDocument | undefined = newest;
  for (let version = slot; version > 0; ) {
    if (found === undefined || !('manifest' in found)) return 'gone';
    const { manifest, checksum, bytes } = found;
    if (await isVisible(engine, manifest)) {
      return { slot, snapshot: new Snapshot(engine, branch, manifest, checksum, bytes) };
    }
    version--;
    found = await readVersion(engine, branch, version);
  }
  return undefined;
}
