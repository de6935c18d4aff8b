/**
 * `listVersions` lists the versions of a table's branch, oldest first by default.
 * `resolveSelection` finds the version that a number, tag or time selects; it does not look whether
 * a number is there. A time selects the version that was newest then, by the clocks of the writers;
 * `versionsInOrder` passes over versions whose times contradict the others. A time before the first
 * version throws TableVersionNotFound; a selection of no version, or by several members at once,
 * InvalidInput. `restoreVersion` makes an old version of the handle's branch the newest, which the
 * handle then follows.
 */
import { DirspaceError } from '../../errors.ts';
import type { CallOptions, TableVersion } from '../../protocol/index.ts';
import { showValue } from '../build/index.ts';
import {
  branchMember,
  checkChangeOptions,
  checkOptionNames,
  displayPath,
  LIST_VERSIONS_OPTIONS,
  onBranch,
  onTable,
  pages,
  type TableTarget,
} from '../handles/index.ts';
import type { TablePosition } from './position.ts';

/** A version as the history lists it. */
export interface Version {
  readonly version: number;
  /** When it was committed, by the writer's clock. Numbers order versions, times do not. */
  readonly timestamp: Date;
  /** The kind of change and its counts, as text. */
  readonly metadata: Record<string, string>;
}

/** Which part of the history, and from which end. */
export interface ListVersionsOptions extends CallOptions {
  /** At most so many; all of them if absent. */
  readonly limit?: number;
  /** Newest first; oldest first if absent. */
  readonly descending?: boolean;
}

/** One version of one branch. At most one of `version`, `tag` and `asOf`; a tag names its branch. */
export interface VersionSelection {
  readonly version?: number;
  readonly tag?: string;
  readonly branch?: string;
  /**
   * The version that was newest then: a Date, milliseconds since the epoch, or ISO 8601 text, which is
   * read as Date does: a time without an offset is in the time zone of this process. By the clocks of
   * the writers; versions whose time contradicts the others' are passed over.
   */
  readonly asOf?: Date | number | string;
}

/** Versions of the first page; each page has twice as many as the one before, up to the second. */
const FIRST_PAGE = 1_000;
const LARGEST_PAGE = 8_000;

async function* versionPages(
  target: TableTarget,
  { limit = Infinity, descending = false, ...options }: ListVersionsOptions,
): AsyncGenerator<TableVersion[], void, undefined> {
  let wanted = limit;
  const members = { ...onBranch(target), descending };
  let size = FIRST_PAGE / 2;
  const fetched = pages((token) => {
    size = Math.min(LARGEST_PAGE, 2 * size);
    const limit = Math.min(wanted, size);
    return target.catalog.listTableVersions({ ...members, ...token, limit }, options);
  });
  if (wanted <= 0) return;
  for await (const { versions } of fetched) {
    yield versions.slice(0, wanted);
    wanted -= versions.length;
    if (wanted <= 0) return;
  }
}

export async function listVersions(
  target: TableTarget,
  options: ListVersionsOptions = {},
): Promise<Version[]> {
  checkOptionNames(options, LIST_VERSIONS_OPTIONS);
  const list: Version[] = [];
  for await (const page of versionPages(target, options)) {
    for (const { version, timestamp_millis, metadata } of page) {
      list.push({
        version,
        timestamp: new Date(timestamp_millis ?? NaN),
        metadata: metadata ?? {},
      });
    }
  }
  return list;
}

/** What `checkout` and `restore` mean by a number, a version of the branch, and by a name, a tag. */
export function selectionOf(
  given: number | string | VersionSelection,
  branch: string | undefined,
): VersionSelection {
  if (typeof given === 'string') return { tag: given };
  return typeof given === 'number' ? { version: given, ...branchMember(branch) } : given;
}

/** True for a selection of a branch alone, or of nothing. */
export const followsNewest = ({ version, tag, asOf }: VersionSelection): boolean =>
  version === undefined && tag === undefined && asOf === undefined;

/**
 * The version that a selection means, with its branch. Throws InvalidInput for members that exclude
 * each other and for a selection that names no version, and TableVersionNotFound for a time before
 * the first version. `table` is asked for the table only where it must be looked at.
 */
export async function resolveSelection(
  table: () => TableTarget | Promise<TableTarget>,
  selection: VersionSelection,
  options: CallOptions | undefined,
): Promise<{ branch?: string; version: number }> {
  if (typeof selection !== 'object' || selection === null) throw noVersionNamed();
  const { version, tag, branch, asOf } = selection;
  const given = Object.entries({ version, tag, asOf }).filter(([, value]) => value !== undefined);
  if (given.length > 1) {
    const names = given.map(([name]) => `"${name}"`).join(' and ');
    throw new DirspaceError('InvalidInput', `${names} exclude each other; give one of them.`);
  }
  if (tag !== undefined) {
    if (branch !== undefined) {
      const message = '"tag" and "branch" exclude each other: a tag names its branch.';
      throw new DirspaceError('InvalidInput', message);
    }
    const target = await table();
    const found = await target.catalog.getTableTagVersion({ ...onTable(target), tag }, options);
    return { version: found.version, ...branchMember(found.branch) };
  }
  const chosen = branchMember(branch);
  if (asOf !== undefined) {
    const time = timeOf(asOf);
    const { branch: _, ...main } = await table();
    return { ...chosen, version: await versionAsOf({ ...main, ...chosen }, time, options) };
  }
  if (version !== undefined) return { ...chosen, version };
  throw noVersionNamed();
}

/** Makes an old version the newest: the one given, or else the one checked out. */
export async function restoreVersion(
  at: TablePosition,
  version: number | string | undefined,
  options: CallOptions | undefined,
): Promise<void> {
  at.lifetime.enter(options);
  checkChangeOptions(options);
  const { newest } = at;
  const chosen =
    version === undefined
      ? at.pinned
      : await resolveSelection(() => newest, selectionOf(version, newest.branch), options);
  if (chosen?.version === undefined) {
    throw new DirspaceError(
      'InvalidInput',
      'restore needs a version: checkout before running restore, or give it one.',
    );
  }
  if (chosen.branch !== newest.branch) {
    throw new DirspaceError(
      'InvalidInput',
      `Version ${chosen.version} is of the branch ${chosen.branch ?? 'main'}, but the handle is on ${newest.branch ?? 'main'}; a branch restores its own versions.`,
    );
  }
  const request = { ...onBranch(newest), version: chosen.version };
  await at.home.catalog.restoreTable(request, options);
  at.follow();
}

const noVersionNamed = (): DirspaceError =>
  new DirspaceError(
    'InvalidInput',
    'No version is named: give a version, such as checkout(3), a tag, or a time, such as checkout({ asOf: new Date(0) }); branches().checkout(name) opens a branch.',
  );

function timeOf(asOf: Date | number | string): number {
  const isTime = asOf instanceof Date || typeof asOf === 'number' || typeof asOf === 'string';
  const time = isTime ? new Date(asOf).getTime() : Number.NaN;
  if (Number.isFinite(time)) return time;
  throw new DirspaceError(
    'InvalidInput',
    `"asOf" is ${showValue(asOf)}; it is a Date, milliseconds since 1970, or ISO 8601 text.`,
  );
}

/** Versions below the one found that may still show that its time was wrong. */
const LOOK_BACK = 1000;

async function versionAsOf(
  target: TableTarget,
  time: number,
  options: CallOptions = {},
): Promise<number> {
  const seen: { version: number; timestamp: number }[] = [];
  let more = LOOK_BACK;
  let isReached = false;
  for await (const page of versionPages(target, { ...options, descending: true })) {
    for (const { version, timestamp_millis: timestamp = Infinity } of page) {
      if (isReached) more -= 1;
      isReached ||= timestamp <= time;
      seen.push({ version, timestamp });
    }
    if (more <= 0) break;
  }
  const believed = versionsInOrder(seen.reverse());
  const found = believed.findLast(({ timestamp }) => timestamp <= time);
  if (found !== undefined) return found.version;
  const first = believed[0]?.timestamp;
  const hint =
    first === undefined ? '' : `; its oldest version is of ${new Date(first).toISOString()}`;
  throw new DirspaceError(
    'TableVersionNotFound',
    `${displayPath(target.id)} had no version at ${new Date(time).toISOString()}${hint}.`,
    { details: { id: target.id, as_of_millis: time } },
  );
}

export interface TimedVersion {
  readonly version: number;
  /** Milliseconds since the epoch. */
  readonly timestamp: number;
}

/**
 * Of versions in ascending order those whose times ascend too. What is dated after the newest one
 * was made by a clock that ran ahead. Of the others as many as possible are kept, so that one commit
 * by a wrong clock costs that commit its time and nothing else; of equal choices the later one.
 */
export function versionsInOrder(versions: readonly TimedVersion[]): TimedVersion[] {
  const newest = versions.at(-1)?.timestamp ?? 0;
  const known = versions.filter(({ timestamp }) => timestamp <= newest);
  // The longest run without a step back: of each length the one that ends earliest.
  const ends: number[] = [];
  const before: number[] = [];
  for (const [at, { timestamp }] of known.entries()) {
    let length = ends.length;
    let low = 0;
    while (low < length) {
      const middle = (low + length) >> 1;
      if ((known[ends[middle] as number] as TimedVersion).timestamp <= timestamp) low = middle + 1;
      else length = middle;
    }
    before[at] = low === 0 ? -1 : (ends[low - 1] as number);
    ends[low] = at;
  }
  const kept: TimedVersion[] = [];
  for (let at = ends.at(-1) ?? -1; at >= 0; at = before[at] as number) {
    kept.push(known[at] as TimedVersion);
  }
  return kept.reverse();
}
