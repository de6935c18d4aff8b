/**
 * Checking one table: each version of each branch, the chain they form, all that they refer to, and
 * what else lies in the table's folder. Reports damage and never throws because of it.
 */
import { decodeVersion, type Manifest } from '../format/manifest.ts';
import {
  branchesFolder,
  branchFile,
  branchFolder,
  decodeRef,
  isStagedManifest,
  isTemporary,
  joinPath,
  MAIN_BRANCH,
  parseDeletedRun,
  parseVersionFile,
  TABLE_FILE,
  tagFile,
  tagsFolder,
  type VersionRun,
  versionFile,
  versionsFolder,
} from '../format/paths.ts';
import { decodeBranch, decodeTag, type TagRecord } from '../format/records.ts';
import type { VerifiedKind, VerifyLeftover, VerifyProblem } from '../protocol/extensions.ts';
import { mainBranch } from './branches.ts';
import { ByteCache } from './cache.ts';
import type { Engine } from './engine.ts';
import type { TableBranch } from './head.ts';
import { Snapshot } from './snapshot.ts';
import { FileVerifier, problemIn } from './verify-files.ts';
import {
  checkChain,
  checkManifest,
  checksumKey,
  type VerifiedBranch,
  type VerifiedVersion,
} from './verify-manifest.ts';

/** What was found so far; shared by all that look. */
export interface Findings {
  readonly problems: VerifyProblem[];
  readonly leftovers: VerifyLeftover[];
  readonly counts: {
    namespaces: number;
    tables: number;
    branches: number;
    tags: number;
    versions: number;
    fragments: number;
    bytes: number;
  };
}

const OBJECT_NAME = /^[0-9a-f-]{8,64}\.(arrow|json)$/;
const OBJECT_FOLDERS: Readonly<Record<string, 'arrow' | 'json'>> = {
  data: 'arrow',
  deletions: 'arrow',
  chunks: 'json',
};

interface Entry {
  readonly name: string;
  readonly kind: string;
  readonly path: string;
}

const isTemporaryFile = ({ name, kind }: Entry): boolean => kind === 'file' && isTemporary(name);

/** Made by this engine; versions of another incarnation are those of a record that was swapped. */
const isOurs = (entry: Entry): boolean =>
  isTemporaryFile(entry) || entry.name.startsWith('versions-');

export async function verifyTable(
  shared: Engine,
  tableFolder: string,
  incarnation: string,
  findings: Findings,
  signal?: AbortSignal,
): Promise<readonly VerifiedBranch[]> {
  // What is in memory was right when it was read; the question is what is on the disk.
  const engine = { ...shared, cache: new ByteCache(0), heads: new ByteCache(0) };
  const table = new TableVerifier(engine, tableFolder, incarnation, findings, signal);
  return table.run();
}

class TableVerifier {
  readonly #engine: Engine;
  readonly #folder: string;
  readonly #incarnation: string;
  readonly #findings: Findings;
  readonly #files: FileVerifier;
  readonly #signal: AbortSignal | undefined;
  /** Checksums of manifests, by branch and version. */
  readonly #checksums = new Map<string, string>();
  /** What lies beside and among the table's files; whether it may is known only at the end. */
  readonly #beside: Entry[] = [];

  constructor(
    engine: Engine,
    folder: string,
    incarnation: string,
    findings: Findings,
    signal: AbortSignal | undefined,
  ) {
    this.#engine = engine;
    this.#folder = folder;
    this.#incarnation = incarnation;
    this.#findings = findings;
    this.#files = new FileVerifier(engine.store, folder);
    this.#signal = signal;
  }

  async run(): Promise<readonly VerifiedBranch[]> {
    // Listed before the versions are read: what is committed meanwhile is no orphan.
    const objects = await this.#objects();
    const branches: VerifiedBranch[] = [];
    branches.push(await this.#branch(mainBranch(this.#folder, this.#incarnation), 1));
    for (const { branch, first } of await this.#branches()) {
      branches.push(await this.#branch(branch, first));
    }
    for (const branch of branches) {
      for (const { path, what } of checkChain(branch, this.#checksums)) {
        this.#problem(path, 'manifest', what);
      }
    }
    await this.#tags(branches);
    await this.#strays();
    // A table that is only declared is a place for data, of whatever kind: it is not the engine's.
    const declared = branches.every(({ versions }) => versions.length === 0);
    for (const entry of this.#beside) if (!declared || isOurs(entry)) this.#stray(entry);
    for (const path of objects) {
      if (!this.#files.referenced.has(path)) this.#leftover(path, 'orphan');
    }
    const { counts } = this.#findings;
    counts.fragments += this.#files.fragments;
    counts.bytes += this.#files.bytes;
    return branches;
  }

  #problem(path: string, kind: VerifiedKind, what: string): void {
    this.#findings.problems.push({ path, kind, what });
  }

  #leftover(path: string, kind: VerifyLeftover['kind']): void {
    this.#findings.leftovers.push({ path, kind });
  }

  async #list(folder: string): Promise<Entry[]> {
    let entries: { name: string; kind: string }[] = [];
    const problem = await problemIn(async () => {
      entries = (await this.#engine.store.list(folder)) ?? [];
    });
    if (problem !== undefined) this.#problem(folder, 'unknown', problem);
    return entries
      .map(({ name, kind }) => ({ name, kind, path: joinPath(folder, name) }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Notes what should not be there, and what a write in progress left. */
  #stray(entry: Entry): void {
    const { path } = entry;
    if (isTemporaryFile(entry)) this.#leftover(path, 'temporary');
    else this.#problem(path, 'unknown', 'It is nothing that the engine makes.');
  }

  async #objects(): Promise<string[]> {
    const found: string[] = [];
    for (const [folder, ending] of Object.entries(OBJECT_FOLDERS)) {
      for (const entry of await this.#list(joinPath(this.#folder, folder))) {
        const known = OBJECT_NAME.exec(entry.name)?.[1] === ending && entry.kind === 'file';
        if (known) found.push(entry.path);
        else this.#beside.push(entry);
      }
    }
    return found;
  }

  async #strays(): Promise<void> {
    const known = new Set([...Object.keys(OBJECT_FOLDERS), 'tags', 'branches']);
    known.add(`versions-${this.#incarnation}`);
    for (const entry of await this.#list(this.#folder)) {
      const { name, kind } = entry;
      if (kind === 'file' ? name === TABLE_FILE : kind === 'folder' && known.has(name)) continue;
      this.#beside.push(entry);
    }
  }

  /** All branches but main, with the number of the version each begins with. */
  async #branches(): Promise<{ readonly branch: TableBranch; readonly first: number }[]> {
    const found: { branch: TableBranch; first: number }[] = [];
    for (const entry of await this.#list(branchesFolder(this.#folder))) {
      const name = decodeRef(entry.name);
      if (name === undefined || entry.kind !== 'folder') {
        this.#stray(entry);
        continue;
      }
      const file = branchFile(this.#folder, name);
      const problem = await problemIn(async () => {
        const bytes = await this.#engine.store.get(file);
        if (bytes === undefined) throw new Error('The record of the branch is missing.');
        const record = decodeBranch(bytes, file);
        // Written for a table that was here before: hidden, and replaced when it is in the way.
        if (record.table !== this.#incarnation) return this.#leftover(entry.path, 'orphan');
        const folder = versionsFolder(this.#folder, record.id, name);
        const { parentVersion: first } = record;
        const branch = { incarnation: this.#incarnation, branch: name, folder };
        found.push({ branch: { tableFolder: this.#folder, ...branch }, first });
        for (const inside of await this.#list(branchFolder(this.#folder, name))) {
          const isRecord = inside.kind === 'file' && inside.name === 'branch.json';
          if (!isRecord && inside.path !== folder) this.#stray(inside);
        }
        return undefined;
      });
      if (problem !== undefined) this.#problem(file, 'branch', problem);
    }
    return found;
  }

  async #branch(branch: TableBranch, first: number): Promise<VerifiedBranch> {
    this.#findings.counts.branches += 1;
    const entries = await this.#list(branch.folder);
    const runs: VersionRun[] = [];
    const numbers: number[] = [];
    for (const entry of entries) {
      const version = parseVersionFile(entry.name);
      const run = parseDeletedRun(entry.name);
      if (entry.kind !== 'file') this.#stray(entry);
      else if (version !== undefined) numbers.push(version);
      else if (run !== undefined) runs.push(run);
      else if (isStagedManifest(entry.name)) this.#leftover(entry.path, 'temporary');
      else if (entry.name !== 'latest.json') this.#stray(entry);
    }
    numbers.sort((a, b) => a - b);
    const deletion = (version: number): VersionRun | undefined =>
      runs.find(({ first, last }) => first <= version && version <= last);
    this.#gaps(branch, first, numbers, deletion);
    const versions: VerifiedVersion[] = [];
    for (const version of numbers) {
      this.#signal?.throwIfAborted();
      // Being removed, step by step: readers do not see it, but for the tombstone.
      if (deletion(version) !== undefined) await this.#tombstone(branch, version);
      else versions.push(await this.#version(branch, version));
    }
    this.#findings.counts.versions += versions.length;
    if (versions.length === 0 && branch.branch !== MAIN_BRANCH) {
      this.#problem(branch.folder, 'branch', 'The branch has no version.');
    }
    return { branch, versions };
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
          this.#problem(versionFile(branch.folder, next), 'manifest', what);
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
    });
    if (problem !== undefined) this.#problem(path, 'manifest', problem);
  }

  async #version(branch: TableBranch, version: number): Promise<VerifiedVersion> {
    const path = versionFile(branch.folder, version);
    const before = this.#findings.problems.length;
    let manifest: Manifest | undefined;
    const problem = await problemIn(async () => {
      const bytes = await this.#engine.store.get(path);
      // Removed since the folder was listed.
      if (bytes === undefined) return;
      this.#findings.counts.bytes += bytes.length;
      const document = decodeVersion(bytes, path);
      if (!('manifest' in document))
        throw new Error('It is the mark of a deleted run that is gone.');
      manifest = document.manifest;
      this.#checksums.set(checksumKey(branch.branch, version), document.checksum);
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
      this.#findings.problems.push(...damaged);
      for (const what of wrong) this.#problem(path, 'manifest', what);
    });
    if (problem !== undefined) this.#problem(path, 'manifest', problem);
    const damage = this.#findings.problems[before]?.what;
    return { version, path, damage, manifest };
  }

  async #tags(branches: readonly VerifiedBranch[]): Promise<void> {
    for (const entry of await this.#list(tagsFolder(this.#folder))) {
      const ends = entry.name.endsWith('.json');
      const tag = ends ? decodeRef(entry.name.slice(0, -'.json'.length)) : undefined;
      if (tag === undefined || entry.kind !== 'file') {
        this.#stray(entry);
        continue;
      }
      const file = tagFile(this.#folder, tag);
      let record: TagRecord | undefined;
      const problem = await problemIn(async () => {
        const bytes = await this.#engine.store.get(file);
        record = bytes === undefined ? undefined : decodeTag(bytes, file);
      });
      if (problem !== undefined) this.#problem(file, 'tag', problem);
      if (record === undefined) continue;
      // Written for a table that was here before: hidden, and replaced when it is in the way.
      if (record.table !== this.#incarnation) {
        this.#leftover(file, 'orphan');
        continue;
      }
      this.#findings.counts.tags += 1;
      const { version, branch } = record;
      const home = branches.find((candidate) => candidate.branch.branch === branch);
      if (home?.versions.some((candidate) => candidate.version === version) === true) continue;
      this.#problem(file, 'tag', `It names version ${version} of ${branch}, which is not there.`);
    }
  }
}
