/**
 * `verifyLancePath` verifies the files that Lance finds by a table's path: manifests, tags and
 * branches, or the fence, a manifest that Lance refuses to open. It does nothing for a table
 * without a version. Damaged files and wrong manifests are problems, and so are versions, tags and
 * branches of other programs that the table does not have. What is missing or outdated, so that a
 * synchronization mends it, is a leftover, and so is what Lance's clients left. It adds to the
 * findings of the inspector and throws nothing.
 */
import { isDirspaceError } from '../../errors.ts';
import {
  isLanceAside,
  isLanceDebris,
  isLanceRef,
  isLanceTemporary,
  isLanceWriterFile,
  isRefName,
  isStrangeLanceManifest,
  LANCE_HINT,
  lanceBranchesFolder,
  lanceBranchesTree,
  lanceDeletionsFolder,
  lanceFence,
  lanceFenceFile,
  lanceManifestFile,
  lanceRefFile,
  lanceRefsFolder,
  lanceTagsFolder,
  lanceVersionFile,
  lanceVersionsFolder,
  lanceWriterFolders,
  MAIN_BRANCH,
  parentFolder,
  parseLanceRef,
  parseLanceVersionFile,
  readLanceManifest,
} from '../../format/index.ts';
import {
  clientTag,
  datasetOf,
  foundByPath,
  hasToFollow,
  holds,
  holdsManifestOf,
  isOwn,
  isOwnRef,
  isSameRef,
  keptManifestsFolder,
  wantedRefs,
} from '../lance/index.ts';
import { type Engine, type TableBranch, visibleSnapshot } from '../versions/index.ts';
import { problemIn } from './verify-files.ts';
import { type Entry, type FolderInspector, isTemporaryFile } from './verify-folder.ts';
import type { VerifiedBranch } from './verify-manifest.ts';

const MEND = 'Synchronize the table with Lance again.';

/** Whether it can be read as a manifest of Lance. */
async function isManifest(engine: Engine, path: string): Promise<boolean> {
  try {
    const bytes = await engine.store.get(path);
    return bytes !== undefined && readLanceManifest(bytes, path).version > 0;
  } catch (error) {
    if (isDirspaceError(error)) return false;
    throw error;
  }
}

/** Whether it is a tag or branch that the engine wrote, whatever it names. */
async function isWholeRef(engine: Engine, path: string): Promise<boolean> {
  if (!(await isOwnRef(engine, path))) return false;
  const bytes = await engine.store.get(path);
  try {
    JSON.parse(Buffer.from(bytes ?? []).toString());
    return true;
  } catch {
    return false;
  }
}

const FORCED = 'Another program wrote it past the fence';
/** Used where clients of Lance may write: there is no fence. */
const BY_PATH = 'Another program wrote it by path, past the catalog';

/** @param branches all that are there, main first */
export async function verifyLancePath(
  engine: Engine,
  main: TableBranch,
  branches: readonly VerifiedBranch[],
  inspector: FolderInspector,
): Promise<void> {
  // Where the table has no version, a dataset in its folder is another program's.
  if (branches.every(({ versions }) => versions.length === 0)) return;
  const verifier = new PathVerifier(engine, main, inspector);
  // A branch or tag that cannot be read is told where that is looked at.
  await problemIn(() => verifier.run(branches));
}

class PathVerifier {
  readonly #engine: Engine;
  readonly #main: TableBranch;
  readonly #inspector: FolderInspector;
  /** Whether what Lance finds by path has to be as new as the table. */
  #follows = false;
  /** Whether clients of Lance may write the table. */
  #writes = false;
  /** Whether a fence has to be there, and was not found yet. */
  #needsFence = false;

  constructor(engine: Engine, main: TableBranch, inspector: FolderInspector) {
    this.#engine = engine;
    this.#main = main;
    this.#inspector = inspector;
  }

  async run(branches: readonly VerifiedBranch[]): Promise<void> {
    const newest = branches[0]?.versions.at(-1)?.version;
    const snapshot =
      newest === undefined ? undefined : await visibleSnapshot(this.#engine, this.#main, newest);
    this.#follows = snapshot !== undefined && (await hasToFollow(this.#engine, snapshot));
    this.#writes = snapshot?.manifest.lanceWrites === true;
    this.#needsFence = snapshot?.manifest.lance === true && !this.#follows;
    for (const branch of branches) {
      if (isLanceRef(branch.branch.branch)) await this.#versions(branch);
    }
    if (this.#needsFence)
      this.#inspector.leftover(lanceFenceFile(this.#main.tableFolder), 'unsynced');
    const { branches: refs, tags } = await wantedRefs(this.#engine, this.#main);
    const { tableFolder } = this.#main;
    const folders = [lanceTagsFolder(tableFolder), lanceBranchesFolder(tableFolder)];
    for (const entry of await this.#inspector.list(lanceRefsFolder(tableFolder))) {
      if (entry.kind !== 'folder' || !folders.includes(entry.path)) this.#inspector.stray(entry);
    }
    await this.#refs('tag', lanceTagsFolder(tableFolder), tags);
    await this.#refs('branch', lanceBranchesFolder(tableFolder), refs);
    await this.#tree(new Set(refs.keys()));
  }

  async #versions({ branch, versions }: VerifiedBranch): Promise<void> {
    const dataset = datasetOf(branch);
    const fence = lanceFenceFile(this.#main.tableFolder);
    const missing = new Set(versions.map(({ version }) => version));
    for (const entry of await this.#inspector.list(lanceVersionsFolder(dataset))) {
      const version = entry.kind === 'file' ? parseLanceVersionFile(entry.name) : undefined;
      if (version === undefined) this.#besideVersions(entry);
      else if (entry.path === fence) await this.#fence(entry.path, versions.at(-1)?.version ?? 0);
      else if (missing.delete(version)) await this.#manifest(branch, version, entry.path);
      else await this.#unknownVersion(entry.path);
    }
    if (!this.#follows) return;
    for (const version of missing) {
      // One that readers do not see is none of Lance's either.
      if ((await visibleSnapshot(this.#engine, branch, version)) !== undefined)
        this.#inspector.leftover(lanceVersionFile(dataset, version), 'unsynced');
    }
  }

  async #fence(path: string, newest: number): Promise<void> {
    this.#needsFence = false;
    const problem = await problemIn(async () => {
      if (!(await holds(this.#engine, path, lanceFence())))
        throw new Error(`It is not what keeps Lance's writers away from the table. ${MEND}`);
      if ((await foundByPath(this.#engine, this.#main, newest)) === 'versions')
        this.#inspector.leftover(path, 'orphan');
    });
    if (problem !== undefined) this.#inspector.problem(path, 'manifest', problem);
  }

  async #manifest(branch: TableBranch, version: number, path: string): Promise<void> {
    const problem = await problemIn(async () => {
      const kept = lanceManifestFile(keptManifestsFolder(this.#engine, branch), version);
      const [found, made] = [
        await this.#engine.store.head(path),
        await this.#engine.store.head(kept),
      ];
      // Another name of the file that was looked at already.
      if (found !== undefined && found.inode === made?.inode) return;
      const snapshot = await visibleSnapshot(this.#engine, branch, version);
      if (snapshot === undefined) return;
      if (await holdsManifestOf(this.#engine, snapshot, path)) return;
      const isOwnFile = await isOwn(this.#engine, path);
      // It is of a branch that had the name before, or of the former place of the table.
      if (isOwnFile && branch.branch !== MAIN_BRANCH && (await isManifest(this.#engine, path)))
        return this.#inspector.leftover(path, 'unsynced');
      const what = isOwnFile ? 'It is' : `${FORCED}: it is`;
      throw new Error(`${what} not what Lance is to read as version ${version}. ${MEND}`);
    });
    if (problem !== undefined) this.#inspector.problem(path, 'manifest', problem);
  }

  async #unknownVersion(path: string): Promise<void> {
    let own = false;
    const problem = await problemIn(async () => {
      own = await isOwn(this.#engine, path);
    });
    if (problem === undefined && own) return this.#inspector.leftover(path, 'orphan');
    this.#inspector.problem(
      path,
      'manifest',
      problem ??
        `${this.#writes ? BY_PATH : FORCED}: Lance reads a version by it that the table does not have. Copy the rows that you need with Lance. ${this.#writes ? `The next commit over the catalog sets it aside. ${MEND}` : MEND}`,
    );
  }

  async #refs(
    kind: 'tag' | 'branch',
    folder: string,
    wanted: ReadonlyMap<string, Uint8Array>,
  ): Promise<void> {
    const missing = new Map(wanted);
    for (const entry of await this.#inspector.list(folder)) {
      const name = entry.kind === 'file' ? parseLanceRef(entry.name) : undefined;
      if (name === undefined) {
        this.#beside(entry);
        continue;
      }
      const bytes = wanted.get(name);
      missing.delete(name);
      const problem = await problemIn(async () => {
        if (bytes !== undefined) {
          if (await holds(this.#engine, entry.path, bytes)) return;
          if (await isSameRef(this.#engine, kind, entry.path, bytes)) return;
          // It is as it was before the last change of the tag or branch, or a client moved the tag.
          const isMoved = kind === 'tag' && (await this.#isAdoptable(name));
          if (isMoved || (await isWholeRef(this.#engine, entry.path)))
            return this.#inspector.leftover(entry.path, 'unsynced');
          throw new Error(`It is not what Lance is to read as the ${kind} ${name}. ${MEND}`);
        }
        if (await isOwnRef(this.#engine, entry.path))
          return this.#inspector.leftover(entry.path, 'orphan');
        if (kind === 'tag' && (await this.#isAdoptable(name)))
          return this.#inspector.leftover(entry.path, 'unsynced');
        throw new Error(
          `Another program wrote it, and the table has no such ${kind}. Make the ${kind} in the table, or remove the file.`,
        );
      });
      if (problem !== undefined) this.#inspector.problem(entry.path, kind, problem);
    }
    if (!this.#follows) return;
    for (const name of missing.keys())
      this.#inspector.leftover(lanceRefFile(folder, name), 'unsynced');
  }

  /**
   * Whether it is a client's tag of a version that exists: synchronizing makes it a tag of the
   * table, or moves the tag of its name.
   */
  async #isAdoptable(name: string): Promise<boolean> {
    if (!this.#writes || !isRefName(name)) return false;
    return (await clientTag(this.#engine, this.#main, name))?.isOfVersion === true;
  }

  /** Checks what lies below `tree`, except the versions of branches, which were checked already. */
  async #tree(branches: ReadonlySet<string>): Promise<void> {
    for (const entry of await this.#inspector.list(lanceBranchesTree(this.#main.tableFolder))) {
      if (entry.kind !== 'folder') {
        this.#inspector.stray(entry);
        continue;
      }
      const versions = lanceVersionsFolder(entry.path);
      const written = this.#writes ? lanceWriterFolders(entry.path) : [];
      for (const inside of await this.#inspector.list(entry.path)) {
        // Deletion files are checked with those of the table.
        if (inside.kind === 'folder' && inside.path === lanceDeletionsFolder(entry.path)) continue;
        if (inside.kind === 'folder' && inside.path !== versions && written.includes(inside.path))
          await this.#written(inside.path);
        else if (inside.kind === 'folder' && isLanceDebris(inside.name))
          this.#inspector.leftover(inside.path, 'orphan');
        else if (inside.kind !== 'folder' || inside.path !== versions)
          this.#inspector.stray(inside);
      }
      if (branches.has(entry.name)) continue;
      for (const inside of await this.#inspector.list(versions)) {
        const isVersion =
          inside.kind === 'file' && parseLanceVersionFile(inside.name) !== undefined;
        if (isVersion) await this.#unknownVersion(inside.path);
        else this.#besideVersions(inside);
      }
    }
  }

  /** Reports files that clients wrote as orphans: they stay until cleanup removes them. */
  async #written(folder: string): Promise<void> {
    for (const entry of await this.#inspector.list(folder)) {
      const isTheirs = entry.kind === 'file' && isLanceWriterFile(folder, entry.name);
      if (isTheirs) this.#inspector.leftover(entry.path, 'orphan');
      else this.#beside(entry);
    }
  }

  #besideVersions(entry: Entry): void {
    if (entry.kind === 'file' && isStrangeLanceManifest(entry.name)) {
      const what = `${FORCED}: Lance opens no version while it is there. ${MEND}`;
      this.#inspector.problem(entry.path, 'manifest', what);
    } else this.#beside(entry);
  }

  /**
   * Reports a file that is no manifest of a version and no ref, such as one that was set aside, the
   * hint that Lance's clients leave, or the manifest of a detached commit.
   */
  #beside(entry: Entry): void {
    const isHarmless =
      isLanceAside(entry.name) ||
      entry.name === LANCE_HINT ||
      isLanceWriterFile(parentFolder(entry.path), entry.name);
    if (entry.kind === 'file' && isHarmless && !isTemporaryFile(entry))
      this.#inspector.leftover(entry.path, 'orphan');
    else if (entry.kind === 'file' && isLanceTemporary(entry.name))
      this.#inspector.leftover(entry.path, 'temporary');
    else this.#inspector.stray(entry);
  }
}
