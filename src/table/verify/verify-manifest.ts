/**
 * `checkManifest` checks a manifest against itself and the files it refers to, which it has
 * verified (verify-files.ts). It returns the problems, but throws Corrupt if the schema and the
 * field ids do not fit together, or if the decision of its multi-table commit is damaged.
 * `checkChain` yields what breaks the chain of versions, in which each names its parent and the
 * parent's checksum, and none is dated before its parent; it finds checksums by `checksumKey`.
 * `VerifiedBranch` is what verification tells of a branch.
 */
import {
  FRAGMENT_FEATURE_NAMES,
  featuresOf,
  isReadByLance,
  liveRows,
  MAIN_BRANCH,
  type Manifest,
  storedBytes,
} from '../../format/index.ts';
import type { VerifyProblem } from '../../protocol/index.ts';
import {
  type Engine,
  type LostTail,
  multiTableDecision,
  nextTimestamp,
  type Snapshot,
  type TableBranch,
} from '../versions/index.ts';
import type { FileVerifier } from './verify-files.ts';

export interface VerifiedVersion {
  readonly version: number;
  readonly path: string;
  /** The first thing that is wrong with the manifest or with a file it refers to, indexes aside. */
  readonly damage: string | undefined;
  readonly manifest: Manifest | undefined;
}

export interface VerifiedBranch {
  readonly branch: TableBranch;
  /** Ascending; without tombstones and deleted runs. */
  readonly versions: readonly VerifiedVersion[];
  /** Evidence that versions after all that have a file were lost. */
  readonly lost: LostTail | undefined;
}

/**
 * What is wrong with the manifest, and with the files it refers to.
 * @throws Corrupt where its schema and its field ids do not fit together
 */
export async function checkManifest(
  engine: Engine,
  files: FileVerifier,
  snapshot: Snapshot,
  version: number,
  signal: AbortSignal | undefined,
): Promise<{ readonly wrong: readonly string[]; readonly damaged: readonly VerifyProblem[] }> {
  const { manifest, branch } = snapshot;
  const wrong: string[] = [];
  const expect = (holds: boolean, what: string): void => {
    if (!holds) wrong.push(what);
  };
  expect(manifest.version === version, `It is the manifest of version ${manifest.version}.`);
  expect(manifest.table === branch.incarnation, 'It is a manifest of another table.');
  expect(manifest.branch === branch.branch, `It is a manifest of branch ${manifest.branch}.`);
  // Both throw when they do not fit together.
  expect(snapshot.fields.length === snapshot.schema.fields.length, 'Its fields lack ids.');
  const ids = manifest.fieldIds;
  expect(new Set(ids).size === ids.length, 'Two of its fields have one id.');
  expect(Math.max(-1, ...ids) < manifest.nextFieldId, 'A field has an id not given out yet.');
  const { properties } = manifest;
  expect(
    properties === undefined || properties.since <= version,
    `Its properties are of version ${properties?.since}, which comes after it.`,
  );
  if (manifest.batch !== undefined) await multiTableDecision(engine, manifest.batch);
  const { entries, problems } = await files.entries(manifest);
  const totals = {
    rows: 0,
    deletedRows: 0,
    bytes: 0,
    fragments: entries.length,
    lanceFragments: 0,
  };
  const features = new Map(FRAGMENT_FEATURE_NAMES.map((name) => [name, 0]));
  const seen = new Set<number>();
  for (const entry of entries) {
    signal?.throwIfAborted();
    totals.rows += entry.rows;
    if (isReadByLance(entry)) totals.lanceFragments++;
    for (const name of featuresOf(entry)) features.set(name, (features.get(name) ?? 0) + 1);
    totals.deletedRows += entry.rows - liveRows(entry);
    totals.bytes += storedBytes(entry) + (entry.deletion?.bytes ?? 0);
    expect(!seen.has(entry.id), `Two of its fragments have the id ${entry.id}.`);
    expect(entry.id < manifest.nextFragmentId, `Fragment ${entry.id} is not given out yet.`);
    seen.add(entry.id);
    // A problem of a file that fragments share is reported once.
    for (const problem of await files.fragment(entry))
      if (!problems.some(({ path, what }) => path === problem.path && what === problem.what))
        problems.push(problem);
    await files.breathe();
  }
  for (const index of manifest.indexes ?? []) {
    problems.push(...(await files.index(index)));
    await files.breathe();
  }
  const damaged = problems.map((problem) => ({
    ...problem,
    what: `${problem.what} (version ${version} of ${branch.branch})`,
  }));
  // Totals of fragments that cannot be listed say nothing.
  if (problems.some(({ kind }) => kind === 'chunk')) return { wrong, damaged };
  for (const [name, value] of Object.entries(totals)) {
    const said = manifest.totals[name as keyof typeof totals] ?? 0;
    expect(said === value, `Its total of ${name} is ${said}, its fragments have ${value}.`);
  }
  for (const [name, count] of features) {
    const said = manifest.totals.features?.[name] ?? 0;
    expect(said === count, `It says that ${said} of its fragments need ${name}, and ${count} do.`);
  }
  return { wrong, damaged };
}

/**
 * Versions form a chain: each names the one it was built on and its checksum. `checksums` has those
 * of all manifests, as `checksumKey` names them. Yields what breaks the chain.
 */
export function* checkChain(
  { branch, versions }: VerifiedBranch,
  checksums: ReadonlyMap<string, string>,
): Generator<{ readonly path: string; readonly what: string }> {
  const times = new Map(
    versions.map(({ version, manifest }) => [version, manifest?.timestamp] as const),
  );
  for (const { version, path, manifest } of versions) {
    if (manifest === undefined) continue;
    const { parent } = manifest;
    const since = parent?.branch === branch.branch ? times.get(parent.version) : undefined;
    // A parent dated much later was made by a wrong clock, and is not followed.
    if (since !== undefined && nextTimestamp(manifest.timestamp, since) !== manifest.timestamp) {
      yield { path, what: 'Its timestamp is before that of the version it was built on.' };
    }
    if (parent === undefined) {
      if (version !== 1) yield { path, what: 'It names no parent.' };
      continue;
    }
    // A branch begins with a copy of its parent's version, which may be gone by now.
    const copied = parent.branch !== branch.branch;
    if (copied ? parent.version > version : parent.version >= version) {
      yield { path, what: `Its parent is version ${parent.version}.` };
    }
    const known = checksums.get(checksumKey(parent.branch, parent.version));
    if (known !== undefined && known !== parent.checksum && !mayBeRemade(parent.branch)) {
      const what = `Its parent, version ${parent.version} of ${parent.branch}, is not the one it was built on.`;
      yield { path, what };
    }
  }
}

export const checksumKey = (branch: string, version: number): string => `${branch} ${version}`;

/** A branch may be deleted and made again under one name: its versions are others then. */
const mayBeRemade = (branch: string): boolean => branch !== MAIN_BRANCH;
