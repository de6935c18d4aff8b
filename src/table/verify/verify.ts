/**
 * `verifyTable` checks one table on disk: the versions of all branches and the files that they
 * refer to, the tags, the files for Lance, and files in the folder that do not belong there. It
 * does not use cached bytes. It adds damage to the findings instead of throwing, and returns the
 * branches with their versions, main first; only the abort signal ends it. verify-branch.ts checks
 * single branches. `WITHOUT_MANIFEST` is the problem of fragments of a table that has no version.
 */
import {
  branchesFolder,
  branchFile,
  branchFolder,
  decodeBranch,
  decodeRef,
  decodeTag,
  fragmentsFolder,
  isLanceData,
  isLanceDebris,
  isLanceTemporary,
  isLanceWriterFile,
  isObject,
  isVersionsFolder,
  lanceBranchesTree,
  lanceDeletionsFolder,
  lanceFolder,
  lanceRefsFolder,
  lanceVersionsFolder,
  objectFolders,
  parentFolder,
  parseTagFile,
  TABLE_FILE,
  type TagRecord,
  tagFile,
  tagsFolder,
  versionsFolder,
  versionsFolderIn,
} from '../../format/index.ts';
import { pendingFragments } from '../history/index.ts';
import {
  type Engine,
  HeadCache,
  mainBranch,
  type TableBranch,
  visibleSnapshot,
} from '../versions/index.ts';
import { ByteCache, Turn } from '../work/index.ts';
import { BranchVerifier } from './verify-branch.ts';
import { FileVerifier, problemIn } from './verify-files.ts';
import {
  countBytes,
  type Entry,
  type Findings,
  FolderInspector,
  isTemporaryFile,
} from './verify-folder.ts';
import { verifyLance } from './verify-lance.ts';
import { verifyLancePath } from './verify-lance-path.ts';
import { checkChain, type VerifiedBranch } from './verify-manifest.ts';

/** Made by this engine; versions of another incarnation are those of a record that was swapped. */
const isOurs = (entry: Entry): boolean => isTemporaryFile(entry) || isVersionsFolder(entry.name);

/** The problem reported for fragments of a table that has no version at all. */
export const WITHOUT_MANIFEST =
  'It is a fragment without a manifest: the table has no version that refers to it.';

export async function verifyTable(
  shared: Engine,
  tableFolder: string,
  incarnation: string,
  findings: Findings,
  signal?: AbortSignal,
): Promise<readonly VerifiedBranch[]> {
  // Without the caches: they hold bytes that were right when read, and verify asks about the disk.
  const engine = { ...shared, cache: new ByteCache(0), heads: new HeadCache(shared.store, 0) };
  const remembered = (branch: TableBranch): number => shared.heads.head(branch)?.slot ?? 0;
  const table = new TableVerifier(engine, tableFolder, incarnation, findings, signal, remembered);
  return table.run();
}

class TableVerifier {
  readonly #engine: Engine;
  readonly #folder: string;
  readonly #incarnation: string;
  readonly #signal: AbortSignal | undefined;
  readonly #inspector: FolderInspector;
  readonly #files: FileVerifier;
  readonly #versions: BranchVerifier;
  /**
   * Entries beside and among the table's files; whether they belong there is known only at the end.
   */
  readonly #beside: Entry[] = [];

  constructor(
    engine: Engine,
    folder: string,
    incarnation: string,
    findings: Findings,
    signal: AbortSignal | undefined,
    remembered: (branch: TableBranch) => number,
  ) {
    this.#engine = engine;
    this.#folder = folder;
    this.#incarnation = incarnation;
    this.#signal = signal;
    this.#inspector = new FolderInspector(engine.store, findings);
    const count = (bytes: number): void => countBytes(findings, bytes);
    this.#files = new FileVerifier(engine.store, folder, count, new Turn(engine.env), signal);
    this.#versions = new BranchVerifier(engine, this.#files, this.#inspector, signal, remembered);
  }

  async run(): Promise<readonly VerifiedBranch[]> {
    // Listed before the versions are read: what is committed meanwhile is no orphan.
    const objects = await this.#objects();
    const branches: VerifiedBranch[] = [];
    branches.push(await this.#versions.branch(mainBranch(this.#folder, this.#incarnation), 1));
    for (const { branch, first } of await this.#branches()) {
      branches.push(await this.#versions.branch(branch, first));
    }
    for (const branch of branches) {
      for (const { path, what } of checkChain(branch, this.#versions.checksums)) {
        this.#inspector.problem(path, 'manifest', what);
      }
    }
    await this.#tags(branches);
    await this.#strays();
    await verifyLance(
      this.#engine,
      this.#folder,
      branches,
      this.#files.referenced,
      this.#inspector,
    );
    const main = mainBranch(this.#folder, this.#incarnation);
    await verifyLancePath(this.#engine, main, branches, this.#inspector);
    const data = `${fragmentsFolder(this.#folder)}/`;
    // A table that is only declared is a place for data, of whatever kind: it is not the engine's.
    const declared = branches.every(({ versions }) => versions.length === 0);
    const newest = branches[0]?.versions.at(-1)?.version;
    const isWritten = newest !== undefined && (await this.#isWrittenByLance(main, newest));
    for (const entry of this.#beside) {
      const isDebris =
        entry.kind === 'folder'
          ? isLanceDebris(entry.name)
          : (entry.path.startsWith(data) && isLanceData(entry.name)) ||
            (isWritten && isLanceWriterFile(parentFolder(entry.path), entry.name));
      const isBroken = entry.kind === 'file' && isLanceTemporary(entry.name);
      if (!declared && isBroken && entry.path.startsWith(data))
        this.#inspector.leftover(entry.path, 'temporary');
      else if (!declared && isDebris) this.#inspector.leftover(entry.path, 'orphan');
      else if (!declared || isOurs(entry)) this.#inspector.stray(entry);
    }
    const isPending = declared ? await this.#pending(main) : () => true;
    for (const path of objects) {
      if (this.#files.referenced.has(path)) continue;
      // All versions are gone, not just the one that referred to it: nothing says that it may go.
      if (path.startsWith(data) && !isPending(path.slice(data.length)))
        this.#inspector.problem(path, 'fragment', WITHOUT_MANIFEST);
      else this.#inspector.leftover(path, 'orphan');
    }
    this.#inspector.findings.counts.fragments += this.#files.fragments;
    return branches;
  }

  /** Where the folders that tell it cannot be read, none is called lost. */
  async #pending(main: TableBranch): Promise<(name: string) => boolean> {
    let isPending = (_: string): boolean => true;
    const problem = await problemIn(async () => {
      isPending = await pendingFragments(this.#engine, main);
    }, this.#signal);
    if (problem !== undefined) this.#inspector.problem(main.folder, 'unknown', problem);
    return isPending;
  }

  /** Whether clients of Lance may write the table; their files stay until cleanup removes them. */
  async #isWrittenByLance(main: TableBranch, newest: number): Promise<boolean> {
    let writes = false;
    await problemIn(async () => {
      writes = (await visibleSnapshot(this.#engine, main, newest))?.manifest.lanceWrites === true;
    });
    return writes;
  }

  async #objects(): Promise<string[]> {
    const found: string[] = [];
    for (const folder of objectFolders(this.#folder)) {
      for (const entry of await this.#inspector.list(folder)) {
        if (isObject(folder, entry.name) && entry.kind === 'file') found.push(entry.path);
        else this.#beside.push(entry);
      }
    }
    return found;
  }

  async #strays(): Promise<void> {
    const known = new Set([
      ...objectFolders(this.#folder),
      tagsFolder(this.#folder),
      branchesFolder(this.#folder),
      versionsFolderIn(this.#folder, this.#incarnation),
      lanceFolder(this.#folder),
      lanceDeletionsFolder(this.#folder),
      lanceVersionsFolder(this.#folder),
      lanceRefsFolder(this.#folder),
      lanceBranchesTree(this.#folder),
    ]);
    for (const entry of await this.#inspector.list(this.#folder)) {
      const { name, kind, path } = entry;
      if (kind === 'file' ? name === TABLE_FILE : kind === 'folder' && known.has(path)) continue;
      this.#beside.push(entry);
    }
  }

  /** All branches but main, with the number of the version each begins with. */
  async #branches(): Promise<{ readonly branch: TableBranch; readonly first: number }[]> {
    const found: { branch: TableBranch; first: number }[] = [];
    for (const entry of await this.#inspector.list(branchesFolder(this.#folder))) {
      const name = decodeRef(entry.name);
      if (name === undefined || entry.kind !== 'folder') {
        this.#inspector.stray(entry);
        continue;
      }
      const file = branchFile(this.#folder, name);
      const problem = await problemIn(async () => {
        const bytes = await this.#engine.store.get(file);
        if (bytes === undefined) throw new Error('The record of the branch is missing.');
        const record = decodeBranch(bytes, file);
        // Written for a table that was here before: hidden, and replaced when it is in the way.
        if (record.table !== this.#incarnation)
          return this.#inspector.leftover(entry.path, 'orphan');
        const folder = versionsFolder(this.#folder, record.id, name);
        const { parentVersion: first } = record;
        const branch = { incarnation: this.#incarnation, branch: name, folder };
        found.push({ branch: { tableFolder: this.#folder, ...branch }, first });
        for (const inside of await this.#inspector.list(branchFolder(this.#folder, name))) {
          const isRecord = inside.kind === 'file' && inside.path === file;
          if (!isRecord && inside.path !== folder) this.#inspector.stray(inside);
        }
        return undefined;
      });
      if (problem !== undefined) this.#inspector.problem(file, 'branch', problem);
    }
    return found;
  }

  async #tags(branches: readonly VerifiedBranch[]): Promise<void> {
    for (const entry of await this.#inspector.list(tagsFolder(this.#folder))) {
      const tag = parseTagFile(entry.name);
      if (tag === undefined || entry.kind !== 'file') {
        this.#inspector.stray(entry);
        continue;
      }
      const file = tagFile(this.#folder, tag);
      let record: TagRecord | undefined;
      const problem = await problemIn(async () => {
        const bytes = await this.#engine.store.get(file);
        record = bytes === undefined ? undefined : decodeTag(bytes, file);
      });
      if (problem !== undefined) this.#inspector.problem(file, 'tag', problem);
      if (record === undefined) continue;
      // Written for a table that was here before: hidden, and replaced when it is in the way.
      if (record.table !== this.#incarnation) {
        this.#inspector.leftover(file, 'orphan');
        continue;
      }
      this.#inspector.findings.counts.tags += 1;
      const { version, branch } = record;
      const home = branches.find((candidate) => candidate.branch.branch === branch);
      if (home?.versions.some((candidate) => candidate.version === version) === true) continue;
      this.#inspector.problem(
        file,
        'tag',
        `It names version ${version} of ${branch}, which is not there.`,
      );
    }
  }
}
