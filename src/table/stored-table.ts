/**
 * `StoredTable` holds the operations on one incarnation of a table: those on its branches and tags,
 * among them comparing a branch with main and bringing its changes there, cleanup, verification,
 * and synchronization with Lance. branch.ts changes rows and versions.
 *
 * A `StoredTable` holds no state: its calls read the disk, or caches that are checked against the
 * disk. `openTable` does not check whether the table exists.
 */
import type { TagRecord } from '../format/index.ts';
import { onDemand } from '../on-demand.ts';
import { Branch, branchHeld, openBranch } from './branch.ts';
import type { BranchDifference, CherryPicked, CherryPickOptions } from './branching/index.ts';
import {
  type CleanupOptions,
  type CleanupReport,
  cleanup,
  createVersionTag,
  deleteUnneededBranch,
  fileSystemTime,
  followTags,
  updateVersionTag,
} from './history/index.ts';
import { deleteClientRef, followTable, type LanceSynced, syncLance } from './lance/index.ts';
import type { LanceVersionRequest } from './lance-write/index.ts';
import type { Findings, VerifiedBranch } from './verify/index.ts';
import {
  deleteTag,
  type Engine,
  findBranch,
  findTag,
  listBranches,
  listTags,
  mainBranch,
  requireVersionsFolder,
  type Snapshot,
  type TableBranch,
} from './versions/index.ts';

/** What few programs do is loaded once one does it. */
const branching = onDemand(() => import('./branching/index.ts'));
const lanceWriting = onDemand(() => import('./lance-write/index.ts'));
const verifying = onDemand(() => import('./verify/index.ts'));

/** A branch that was made from a version of another. */
export type SideBranch = Branch & { readonly record: NonNullable<Branch['record']> };

/** The table of that incarnation in that folder, whether it is there or not. */
export const openTable = (engine: Engine, folder: string, incarnation: string): StoredTable =>
  new StoredTable(engine, folder, incarnation);

export class StoredTable {
  readonly folder: string;
  readonly incarnation: string;
  readonly #engine: Engine;

  constructor(engine: Engine, folder: string, incarnation: string) {
    this.#engine = engine;
    this.folder = folder;
    this.incarnation = incarnation;
  }

  get main(): Branch {
    return new Branch(this.#engine, mainBranch(this.folder, this.incarnation));
  }

  /** Compares a version of a branch with one of main. */
  diffBranch(main: Snapshot, branch: Snapshot): Promise<BranchDifference> {
    return branching((work) => work.diffBranch(this.#engine, main, branch));
  }

  /** Brings to main what a branch of it changed, or says what is in the way. */
  cherryPick(
    { record }: SideBranch,
    newest: Snapshot,
    options?: CherryPickOptions,
  ): Promise<CherryPicked> {
    const origin = { id: record.id, version: record.parentVersion };
    return branching((work) => work.cherryPick(this.#engine, this.main, newest, origin, options));
  }

  /** A branch other than main, by name. */
  async branch(name: string): Promise<SideBranch | undefined> {
    const found = await findBranch(this.#engine, this.folder, this.incarnation, name);
    return found === undefined ? undefined : (openBranch(this.#engine, found) as SideBranch);
  }

  /**
   * The path where a writer of Lance has staged a branch that does not exist yet; undefined if the
   * path of the request is none of Lance's.
   */
  branchStagedByLance(name: string, request: LanceVersionRequest): Promise<string | undefined> {
    const branch = this.#branchToBe(name);
    return lanceWriting(async (work) => work.stagedLancePath(this.#engine, branch, request));
  }

  /**
   * Makes the branch that a writer of Lance has staged.
   * @param path as branchStagedByLance gives it
   * @throws TableBranchAlreadyExists, TableVersionNotFound, InvalidInput, Unsupported
   */
  async createBranchFromLance(
    name: string,
    request: LanceVersionRequest,
    path: string,
  ): Promise<void> {
    const branch = this.#branchToBe(name);
    const held = (from: Snapshot, make: () => Promise<void>): Promise<void> =>
      branchHeld(this.#engine, from, make);
    await lanceWriting((work) => work.createLanceBranch(this.#engine, branch, request, path, held));
  }

  /** Without an id: it has no folder for versions. */
  #branchToBe(branch: string): TableBranch {
    return { ...mainBranch(this.folder, this.incarnation), branch };
  }

  /** All branches but main, by name. */
  async branches(): Promise<SideBranch[]> {
    const found = await listBranches(this.#engine, this.folder, this.incarnation);
    return found.map((branch) => openBranch(this.#engine, branch) as SideBranch);
  }

  /**
   * False where the branch is not there any more, or has another one of its name in its place.
   * @throws InvalidTableState where a tag names it, or a branch that Lance's clients may write was
   * made from it
   */
  async deleteBranch(branch: SideBranch): Promise<boolean> {
    await this.#followTags();
    const deleted = await deleteUnneededBranch(this.#engine, branch);
    if (!deleted) return false;
    const { parentBranch, parentVersion: version } = branch.record;
    await this.#withoutClientRef('branch', branch.branch, { branch: parentBranch, version });
    await this.#follow();
    return true;
  }

  tag(name: string): Promise<TagRecord | undefined> {
    return findTag(this.#engine, this.folder, this.incarnation, name);
  }

  /** All tags, by name. */
  tags(): Promise<ReadonlyMap<string, TagRecord>> {
    return listTags(this.#engine, this.folder, this.incarnation);
  }

  /** @throws TableTagAlreadyExists, TableVersionNotFound */
  async createTag(name: string, branch: TableBranch, version: number): Promise<void> {
    await this.#followTags();
    await createVersionTag(this.#engine, name, branch, version);
    await this.#follow();
  }

  /** Lets a tag name another version; false where there is none. @throws TableVersionNotFound */
  async updateTag(name: string, branch: TableBranch, version: number): Promise<boolean> {
    await this.#followTags();
    const updated = await updateVersionTag(this.#engine, name, branch, version);
    if (updated) await this.#follow();
    return updated;
  }

  /** False where there is none. */
  async deleteTag(name: string): Promise<boolean> {
    await this.#followTags();
    const record = await this.tag(name);
    if (record === undefined) return false;
    // First: a tag that is found there without a record becomes one of the table.
    await this.#withoutClientRef('tag', name, record);
    const deleted = await deleteTag(this.#engine, this.folder, this.incarnation, name);
    if (deleted) await this.#follow();
    return deleted;
  }

  /** Brings all that Lance finds by the table's path up to date. @throws TableNotFound */
  async syncLance(signal?: AbortSignal): Promise<LanceSynced> {
    await this.#followTags();
    const now = (): Promise<number> => fileSystemTime(this.#engine);
    return syncLance(this.#engine, this.folder, this.incarnation, now, signal);
  }

  /**
   * Synchronizes as far as the table's mode asks for it, once the table has another place. Never
   * rejects.
   */
  moved(): Promise<void> {
    return followTable(this.#engine, this.folder, this.incarnation, { versions: true });
  }

  /** Before all that keeps or changes tags. */
  async #followTags(): Promise<void> {
    await followTags(this.#engine, this.folder, this.incarnation);
  }

  #withoutClientRef(
    kind: 'tag' | 'branch',
    name: string,
    version: { readonly branch: string; readonly version: number },
  ): Promise<void> {
    const main = mainBranch(this.folder, this.incarnation);
    return deleteClientRef(this.#engine, main, kind, name, version);
  }

  #follow(): Promise<void> {
    return followTable(this.#engine, this.folder, this.incarnation);
  }

  /**
   * Makes the folder that versions go into, where a copy of the catalog has lost it.
   * @throws TableNotFound
   */
  requireVersionsFolder(): Promise<void> {
    return requireVersionsFolder(this.#engine, this.main);
  }

  /** Removes old versions, and files that no version refers to. */
  async cleanup(options: CleanupOptions): Promise<CleanupReport> {
    if (!options.dryRun) await this.#followTags();
    const report = await cleanup(this.#engine, this.folder, this.incarnation, options);
    if (!options.dryRun && report.versions > 0) await this.moved();
    return report;
  }

  /** Compares all files of the table with its versions; what is found is added to `findings`. */
  verify(findings: Findings, signal?: AbortSignal): Promise<readonly VerifiedBranch[]> {
    return verifying((work) =>
      work.verifyTable(this.#engine, this.folder, this.incarnation, findings, signal),
    );
  }
}
