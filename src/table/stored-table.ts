/**
 * Offers the branches, tags, cleanup and verify of one incarnation of a table in its folder
 * (`StoredTable`). Holds no state of the table: every call looks at the disk or at checked caches,
 * so an object may be created for each request. branch.ts reads and changes rows.
 */
import type { TagRecord } from '../format/index.ts';
import { Branch, openBranch } from './branch.ts';
import {
  type CleanupOptions,
  type CleanupReport,
  cleanup,
  createVersionTag,
  deleteUntaggedBranch,
  updateVersionTag,
} from './history/index.ts';
import { type Findings, type VerifiedBranch, verifyTable } from './verify/index.ts';
import {
  deleteTag,
  type Engine,
  findBranch,
  findTag,
  listBranches,
  listTags,
  mainBranch,
  requireVersionsFolder,
  type TableBranch,
} from './versions/index.ts';

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

  /** A branch other than main, by name. */
  async branch(name: string): Promise<SideBranch | undefined> {
    const found = await findBranch(this.#engine, this.folder, this.incarnation, name);
    return found === undefined ? undefined : (openBranch(this.#engine, found) as SideBranch);
  }

  /** All branches but main, by name. */
  async branches(): Promise<SideBranch[]> {
    const found = await listBranches(this.#engine, this.folder, this.incarnation);
    return found.map((branch) => openBranch(this.#engine, branch) as SideBranch);
  }

  /**
   * False where the branch is not there any more, or has another one of its name in its place.
   * @throws InvalidTableState where a tag names it
   */
  deleteBranch(branch: SideBranch): Promise<boolean> {
    return deleteUntaggedBranch(this.#engine, branch);
  }

  tag(name: string): Promise<TagRecord | undefined> {
    return findTag(this.#engine, this.folder, this.incarnation, name);
  }

  /** All tags, by name. */
  tags(): Promise<ReadonlyMap<string, TagRecord>> {
    return listTags(this.#engine, this.folder, this.incarnation);
  }

  /** @throws TableTagAlreadyExists, TableVersionNotFound */
  createTag(name: string, branch: TableBranch, version: number): Promise<void> {
    return createVersionTag(this.#engine, name, branch, version);
  }

  /** Lets a tag name another version; false where there is none. @throws TableVersionNotFound */
  updateTag(name: string, branch: TableBranch, version: number): Promise<boolean> {
    return updateVersionTag(this.#engine, name, branch, version);
  }

  /** False where there is none. */
  async deleteTag(name: string): Promise<boolean> {
    if ((await this.tag(name)) === undefined) return false;
    return deleteTag(this.#engine, this.folder, this.incarnation, name);
  }

  /** Makes the folder that versions go into, where a copy of the catalog has lost it. @throws TableNotFound */
  requireVersionsFolder(): Promise<void> {
    return requireVersionsFolder(this.#engine, this.main);
  }

  /** Removes old versions, and files that no version refers to. */
  cleanup(options: CleanupOptions): Promise<CleanupReport> {
    return cleanup(this.#engine, this.folder, this.incarnation, options);
  }

  /** Compares all files of the table with its versions; what is found is added to `findings`. */
  verify(findings: Findings, signal?: AbortSignal): Promise<readonly VerifiedBranch[]> {
    return verifyTable(this.#engine, this.folder, this.incarnation, findings, signal);
  }
}
