/**
 * Lists versions without reading each manifest. `versionNumbers` lists the numbers that were not
 * deleted. `digestsOf` returns digests, which hold the facts that lists show, of the given versions
 * that readers may see; their numbers must ascend or descend. A manifest that has to be read and is
 * damaged throws Corrupt. `noteDigest` keeps the digest of a new version, and never fails. Digests
 * lie in files beside the manifests, for 64 versions each.
 *
 * The manifests are the truth. A digest counts only if its checksum is the one that the next
 * version of the list names as its parent's; otherwise the manifest is read. The manifest of the
 * newest version of a list is always read. So a lost, torn or outdated digest file is never
 * believed; it only costs time.
 */
import { isDirspaceError } from '../../errors.ts';
import {
  DIGESTS_IN_FILE,
  decodeDigests,
  digestOf,
  digestsFile,
  encodeDigests,
  firstInFile,
  type VersionDigest,
} from '../../format/index.ts';
import type { FolderFacts } from '../../store/index.ts';
import {
  type Engine,
  isCommitted,
  isUnchanged,
  readVersion,
  type Snapshot,
  type SortedVersions,
  sortedVersions,
  type TableBranch,
  visibleOf,
} from '../versions/index.ts';
import { Turn } from '../work/index.ts';

type Digests = ReadonlyMap<number, VersionDigest>;

/**
 * Bytes of manifests that a commit reads for a file, at most: a later list adds what is missing
 * then.
 */
const MOST_READ = 1 << 20;
/** A file that is not full yet is written once a list has read this many digests for it. */
const WORTH_WRITING = 16;
/** A digest takes about so many bytes of memory. */
const WEIGHT = 640;

const recentKey = ({ folder }: TableBranch): string => `recent digests ${folder}`;
const blockKey = ({ folder }: TableBranch, first: number): string => `digests ${folder} ${first}`;

/**
 * Notes the digest of a version that was just committed. Never fails, because the version is there.
 */
export async function noteDigest(engine: Engine, snapshot: Snapshot): Promise<void> {
  const { branch, version, manifest, checksum, manifestBytes } = snapshot;
  const key = recentKey(branch);
  const recent = engine.cache.get<Map<number, VersionDigest>>(key) ?? new Map();
  recent.set(version, digestOf(manifest, checksum, manifestBytes));
  recent.delete(version - DIGESTS_IN_FILE);
  engine.cache.set(key, recent, DIGESTS_IN_FILE * WEIGHT);
  if (version % DIGESTS_IN_FILE !== 0) return;
  try {
    const known = new Map<number, VersionDigest>();
    let budget = MOST_READ;
    for (let number = firstInFile(version); number <= version; number++) {
      let digest: VersionDigest | undefined = recent.get(number);
      if (digest === undefined && budget > 0) {
        digest = await readDigest(engine, branch, number);
        budget -= digest?.bytes ?? 0;
      }
      if (digest !== undefined) known.set(number, digest);
    }
    await writeDigests(engine, branch, firstInFile(version), known);
  } catch {
    // A later list adds what is missing.
  }
}

/**
 * Digests of those of the versions that readers may see, in the order of `numbers`, which ascend or
 * descend. A digest that cannot be trusted is made of the manifest; damage inside other manifests
 * is for `verify` to find. @throws Corrupt for a manifest that had to be read
 */
export async function digestsOf(
  engine: Engine,
  branch: TableBranch,
  numbers: readonly number[],
): Promise<VersionDigest[]> {
  const ascends = (numbers[0] ?? 0) < (numbers.at(-1) ?? 0);
  const turn = new Turn(engine.env);
  const recent = engine.cache.get<Digests>(recentKey(branch));
  const found: VersionDigest[] = [];
  const blocks = new Blocks(engine, branch);
  /** What the version above says of the one below it. */
  let expected: VersionDigest['parent'];
  for (let at = 0; at < numbers.length; at++) {
    if (turn.isOver()) await turn.pass();
    const version = numbers[ascends ? numbers.length - 1 - at : at] as number;
    // Waits only where there is something to wait for: a list may have tens of thousands of
    // versions.
    const stored = blocks.known(version) ?? (await blocks.at(version));
    const kept = stored.get(version);
    let digest: VersionDigest | undefined;
    if (expected?.version === version && expected.branch === branch.branch) {
      const { checksum } = expected;
      digest = kept?.checksum === checksum ? kept : recent?.get(version);
      if (digest?.checksum !== checksum) digest = undefined;
    }
    digest ??= await readDigest(engine, branch, version);
    expected = digest?.parent;
    // Cleanup may go by while the list is made.
    if (digest === undefined) continue;
    if (kept?.checksum !== digest.checksum) blocks.add(digest);
    if (digest.batch === undefined || (await isCommitted(engine, digest.batch))) found.push(digest);
  }
  await blocks.write(numbers[ascends ? numbers.length - 1 : 0] ?? 0);
  return ascends ? found.reverse() : found;
}

interface KnownVersions {
  readonly facts: FolderFacts;
  readonly sorted: SortedVersions;
}

/**
 * The numbers of the versions that were not deleted, ascending. Versions come and go with a change
 * of their folder's time, so that those of a page before are known to be the same.
 */
export async function versionNumbers(engine: Engine, branch: TableBranch): Promise<number[]> {
  const key = `version numbers ${branch.folder}`;
  // Before the folder is listed: what comes in between is seen the next time.
  const facts = await engine.store.folderFacts(branch.folder);
  const known = engine.cache.get<KnownVersions>(key);
  if (known !== undefined && isUnchanged(known.facts, facts))
    return visibleOf(engine, branch, known.sorted);
  const sorted = await sortedVersions(engine, branch);
  // A folder that changed just now may change without another time.
  if (facts?.settled === true) {
    const count = sorted.visible.length + sorted.marked.length;
    engine.cache.set(key, { facts, sorted }, 16 * count + 256);
  }
  return visibleOf(engine, branch, sorted);
}

async function readDigest(
  engine: Engine,
  branch: TableBranch,
  version: number,
): Promise<VersionDigest | undefined> {
  const found = await readVersion(engine, branch, version);
  return found !== undefined && 'manifest' in found
    ? digestOf(found.manifest, found.checksum, found.bytes)
    : undefined;
}

/**
 * The files of digests that a list looks at, one after the other, and what it found beside them.
 */
class Blocks {
  readonly #engine: Engine;
  readonly #branch: TableBranch;
  readonly #added = new Map<number, Map<number, VersionDigest>>();
  #first = 0;
  #stored: Digests = new Map();

  constructor(engine: Engine, branch: TableBranch) {
    this.#engine = engine;
    this.#branch = branch;
  }

  /**
   * The same digests without waiting if the version asked for last is in the same file; else
   * undefined.
   */
  known(version: number): Digests | undefined {
    return firstInFile(version) === this.#first ? this.#stored : undefined;
  }

  /** The digests in the file that the version belongs to. */
  async at(version: number): Promise<Digests> {
    const first = firstInFile(version);
    if (first !== this.#first) {
      this.#first = first;
      this.#stored = await storedDigests(this.#engine, this.#branch, first);
    }
    return this.#stored;
  }

  /** One that its file lacks. */
  add(digest: VersionDigest): void {
    const first = firstInFile(digest.version);
    const added = this.#added.get(first);
    if (added === undefined) this.#added.set(first, new Map([[digest.version, digest]]));
    else added.set(digest.version, digest);
  }

  /** Adds them to the files, where versions above them can come no more, or where they are many. */
  async write(highest: number): Promise<void> {
    for (const [first, added] of this.#added) {
      const isFull = first + DIGESTS_IN_FILE - 1 <= highest;
      if (!isFull && added.size < WORTH_WRITING) continue;
      try {
        const stored = await storedDigests(this.#engine, this.#branch, first);
        await writeDigests(this.#engine, this.#branch, first, new Map([...stored, ...added]));
      } catch (error) {
        // It cannot be written in a catalog that is only read, for instance.
        if (!isDirspaceError(error)) throw error;
      }
    }
  }
}

/** None where the file is missing, damaged, or of a newer release. */
async function storedDigests(engine: Engine, branch: TableBranch, first: number): Promise<Digests> {
  const key = blockKey(branch, first);
  const known = engine.cache.get<Digests>(key);
  if (known !== undefined) return known;
  const file = digestsFile(branch.folder, first);
  try {
    const bytes = await engine.store.get(file);
    if (bytes === undefined) return new Map();
    const digests = new Map<number, VersionDigest>();
    for (const digest of decodeDigests(bytes, branch, file)) digests.set(digest.version, digest);
    engine.cache.set(key, digests, digests.size * WEIGHT);
    return digests;
  } catch (error) {
    if (!isDirspaceError(error)) throw error;
    return new Map();
  }
}

async function writeDigests(
  engine: Engine,
  branch: TableBranch,
  first: number,
  digests: Digests,
): Promise<void> {
  const inOrder = [...digests.values()].sort((one, other) => one.version - other.version);
  await engine.store.putHint(digestsFile(branch.folder, first), encodeDigests(branch, inOrder));
  engine.cache.set(blockKey(branch, first), digests, digests.size * WEIGHT);
}
