/**
 * Finds the version of a branch that a transaction committed. `findTransaction` finds it by the id
 * of the transaction. `keyedTransaction` makes an id from an idempotency key, and `findKeyed` finds
 * the newest version that was committed under such an id. Both searches return undefined if there
 * is no such version, readers may not see it, or it was deleted. The keyed ids of a branch are kept
 * in the engine's cache; without that, the digests of all versions are read.
 */
import { createHash } from 'node:crypto';
import {
  type Engine,
  resolveHead,
  type Snapshot,
  type TableBranch,
  visibleSnapshot,
} from '../versions/index.ts';
import { digestsOf, versionNumbers } from './version-digests.ts';

interface KeyedCommits {
  /** The version up to which keys were gathered, and the checksum of its manifest. */
  readonly version: number;
  readonly checksum: string;
  /** The newest version of each keyed transaction. */
  readonly versions: Map<string, number>;
}

/** A search by id reads so many digests before it looks whether the version is among them. */
const PAGE = 256;
/** A key takes about so many bytes of memory. */
const WEIGHT = 200;

const KEYED = '.key-';
/** Hexadecimal digits of the checksum of a key. */
const DIGITS = 48;

/**
 * The id of a transaction that commits under an idempotency key, so that a repeat finds the first.
 * A stamp of the request may follow it after a hyphen.
 */
export const keyedTransaction = (
  { incarnation }: Pick<TableBranch, 'incarnation'>,
  key: string,
): string =>
  `${incarnation}${KEYED}${createHash('sha256').update(key).digest('hex').slice(0, DIGITS)}`;

/** The version that a transaction committed on the branch. Looks at the newest versions first. */
export async function findTransaction(
  engine: Engine,
  branch: TableBranch,
  transaction: string,
): Promise<Snapshot | undefined> {
  const numbers = (await versionNumbers(engine, branch)).toReversed();
  for (let at = 0; at < numbers.length; at += PAGE) {
    const digests = await digestsOf(engine, branch, numbers.slice(at, at + PAGE));
    const found = digests.find((digest) => digest.transaction === transaction);
    if (found !== undefined) return visibleSnapshot(engine, branch, found.version);
  }
  return undefined;
}

/** The newest version that was committed as this keyed transaction, with a stamp or without. */
export async function findKeyed(
  engine: Engine,
  branch: TableBranch,
  keyed: string,
): Promise<Snapshot | undefined> {
  const newest = (await resolveHead(engine, branch))?.snapshot;
  if (newest === undefined) return undefined;
  const version = (await keyedCommits(engine, branch, newest)).versions.get(keyed);
  if (version === undefined) return undefined;
  const found = await visibleSnapshot(engine, branch, version);
  if (found !== undefined) return found;
  // It was deleted since; an older one may be there, of before that one was made again.
  engine.cache.delete(cacheKey(branch));
  const left = (await keyedCommits(engine, branch, newest)).versions.get(keyed);
  return left === undefined ? undefined : visibleSnapshot(engine, branch, left);
}

const cacheKey = ({ folder }: TableBranch): string => `keyed commits ${folder}`;

/**
 * The keys that were gathered up to a version, with those of the versions above it. All are gathered
 * again if that version is gone or another, as after cleanup, or on a branch made anew.
 */
async function keyedCommits(
  engine: Engine,
  branch: TableBranch,
  newest: Snapshot,
): Promise<KeyedCommits> {
  const known = engine.cache.get<KeyedCommits>(cacheKey(branch));
  if (known?.version === newest.version && known.checksum === newest.checksum) return known;
  const versions =
    (known && (await addedSince(engine, branch, known, newest))) ??
    gathered(await digestsOf(engine, branch, await versionNumbers(engine, branch)));
  const found = { version: newest.version, checksum: newest.checksum, versions };
  engine.cache.set(cacheKey(branch), found, (versions.size + 1) * WEIGHT);
  return found;
}

/** The keys with those of the versions above; undefined if these were not built on the known one. */
async function addedSince(
  engine: Engine,
  branch: TableBranch,
  { version, checksum, versions }: KeyedCommits,
  newest: Snapshot,
): Promise<Map<string, number> | undefined> {
  const { parent, transaction } = newest.manifest;
  const isNext = newest.version === version + 1 && parent?.checksum === checksum;
  if (isNext) return gathered([{ version: newest.version, transaction }], versions);
  const numbers = (await versionNumbers(engine, branch)).filter((number) => number >= version);
  const [oldest, ...above] = await digestsOf(engine, branch, numbers);
  const isSame = oldest?.version === version && oldest.checksum === checksum;
  return isSame ? gathered(above, versions) : undefined;
}

/** Adds the keyed ones of some commits, which ascend. */
function gathered(
  commits: Iterable<{ readonly version: number; readonly transaction: string }>,
  into = new Map<string, number>(),
): Map<string, number> {
  for (const { version, transaction } of commits) {
    const at = transaction.indexOf(KEYED);
    if (at >= 0) into.set(transaction.slice(0, at + KEYED.length + DIGITS), version);
  }
  return into;
}
