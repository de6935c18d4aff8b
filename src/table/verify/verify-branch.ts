/**
 * `BranchVerifier` checks one branch of a table on disk, and returns its versions with the first
 * damage of each. It reads the manifest of each version and checks the files that the manifest
 * refers to. It also looks for missing versions, unknown files, leftovers, and signs that the
 * newest versions were lost. It adds damage to the findings instead of throwing; only the abort
 * signal ends it. verify-manifest.ts checks single manifests and the chain of versions.
 */
import {
  decodeVersion,
  isStagedManifest,
  latestFile,
  MAIN_BRANCH,
  type Manifest,
  parseDeletedRun,
  parseDigestsFile,
  parseVersionFile,
  type VersionRun,
  versionFile,
} from '../../format/index.ts';
import {
  type Engine,
  type LostTail,
  lostTail,
  Snapshot,
  type TableBranch,
  visibleVersions,
} from '../versions/index.ts';
import { type FileVerifier, problemIn } from './verify-files.ts';
import { countBytes, type FolderInspector } from './verify-folder.ts';
import {
  checkManifest,
  checksumKey,
  type VerifiedBranch,
  type VerifiedVersion,
} from './verify-manifest.ts';

export class BranchVerifier {
  readonly #engine: Engine;
  readonly #files: FileVerifier;
  readonly #inspector: FolderInspector;
  readonly #signal: AbortSignal | undefined;
  readonly #remembered: (branch: TableBranch) => number;
  /** Checksums of manifests, by branch and version. */
  readonly checksums: Map<string, string> = new Map();

  constructor(
    engine: Engine,
    files: FileVerifier,
    inspector: FolderInspector,
    signal: AbortSignal | undefined,
    remembered: (branch: TableBranch) => number,
  ) {
    this.#engine = engine;
    this.#files = files;
    this.#inspector = inspector;
    this.#signal = signal;
    this.#remembered = remembered;
  }

  /** @param first the number of the version that the branch begins with */
  async branch(branch: TableBranch, first: number): Promise<VerifiedBranch> {
    this.#inspector.findings.counts.branches += 1;
    const entries = await this.#inspector.list(branch.folder);
    const runs: VersionRun[] = [];
    const numbers: number[] = [];
    for (const entry of entries) {
      const version = parseVersionFile(entry.name);
      const run = parseDeletedRun(entry.name);
      if (entry.kind !== 'file') this.#inspector.stray(entry);
      else if (version !== undefined) numbers.push(version);
      else if (run !== undefined) runs.push(run);
      else if (parseDigestsFile(entry.name) !== undefined) continue;
      else if (isStagedManifest(entry.name)) this.#inspector.leftover(entry.path, 'temporary');
      else if (entry.path !== latestFile(branch.folder)) this.#inspector.stray(entry);
    }
    numbers.sort((a, b) => a - b);
    const deletion = (version: number): VersionRun | undefined =>
      runs.find(({ first, last }) => first <= version && version <= last);
    this.#gaps(branch, first, numbers, deletion);
    const versions: VerifiedVersion[] = [];
    let seen = new Set<number>();
    if (runs.length > 0) {
      const problem = await problemIn(async () => {
        seen = new Set(await visibleVersions(this.#engine, branch));
      }, this.#signal);
      if (problem !== undefined) this.#inspector.problem(branch.folder, 'branch', problem);
    }
    for (const version of numbers) {
      await this.#files.breathe();
      this.#signal?.throwIfAborted();
      // Being removed, step by step: readers do not see it, but for the tombstone.
      if (deletion(version) !== undefined && !seen.has(version))
        await this.#tombstone(branch, version);
      else versions.push(await this.#version(branch, version));
    }
    this.#inspector.findings.counts.versions += versions.length;
    if (versions.length === 0 && branch.branch !== MAIN_BRANCH) {
      this.#inspector.problem(branch.folder, 'branch', 'The branch has no version.');
    }
    return { branch, versions, lost: await this.#lost(branch) };
  }

  async #lost(branch: TableBranch): Promise<LostTail | undefined> {
    let lost: LostTail | undefined;
    const remembered = this.#remembered(branch);
    // A folder that cannot be listed is told by then.
    await problemIn(async () => {
      lost = await lostTail(this.#engine, branch, remembered);
    });
    if (lost !== undefined) {
      const path = versionFile(branch.folder, lost.newest + 1);
      this.#inspector.problem(path, 'manifest', `It is missing. ${lost.what}`);
    }
    return lost;
  }

  /** Numbers follow each other but for deleted runs. Each gap is told once, however wide. */
  #gaps(
    branch: TableBranch,
    first: number,
    numbers: readonly number[],
    deletion: (version: number) => VersionRun | undefined,
  ): void {
    let next = first;
    for (const version of numbers) {
      while (next < version) {
        const run = deletion(next);
        if (run === undefined) {
          const what = `Version ${next} is missing before version ${version}.`;
          this.#inspector.problem(versionFile(branch.folder, next), 'manifest', what);
          break;
        }
        next = run.last + 1;
      }
      next = version + 1;
    }
  }

  async #tombstone(branch: TableBranch, version: number): Promise<void> {
    const path = versionFile(branch.folder, version);
    const problem = await problemIn(async () => {
      const bytes = await this.#engine.store.get(path);
      if (bytes !== undefined) decodeVersion(bytes, path);
    }, this.#signal);
    if (problem !== undefined) this.#inspector.problem(path, 'manifest', problem);
  }

  async #version(branch: TableBranch, version: number): Promise<VerifiedVersion> {
    const path = versionFile(branch.folder, version);
    const before = this.#inspector.findings.problems.length;
    let manifest: Manifest | undefined;
    const problem = await problemIn(async () => {
      const bytes = await this.#engine.store.get(path);
      // Removed since the folder was listed.
      if (bytes === undefined) return;
      countBytes(this.#inspector.findings, bytes.length);
      const document = decodeVersion(bytes, path);
      if (!('manifest' in document))
        throw new Error('It is the mark of a deleted run that is gone.');
      manifest = document.manifest;
      this.checksums.set(checksumKey(branch.branch, version), document.checksum);
      const snapshot = new Snapshot(
        this.#engine,
        branch,
        manifest,
        document.checksum,
        bytes.length,
      );
      const { wrong, damaged } = await checkManifest(
        this.#engine,
        this.#files,
        snapshot,
        version,
        this.#signal,
      );
      this.#inspector.findings.problems.push(...damaged);
      for (const what of wrong) this.#inspector.problem(path, 'manifest', what);
    }, this.#signal);
    if (problem !== undefined) this.#inspector.problem(path, 'manifest', problem);
    // An index is made of rows: a version without one of its files has all of its rows.
    const damage = this.#inspector.findings.problems
      .slice(before)
      .find(({ kind }) => kind !== 'index')?.what;
    return { version, path, damage, manifest };
  }
}
