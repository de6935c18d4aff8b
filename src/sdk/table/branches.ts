/**
 * `Branches` lists, creates, opens, compares and deletes the branches of one table; its list leaves
 * out the main branch. `cherryPick` brings the changes of a branch to main. Changes that cannot be
 * brought there resolve with the status `failed` and the reasons. A missing branch throws
 * TableBranchNotFound, and deleting one that a tag names InvalidTableState. `diff` and `cherryPick`
 * throw Unsupported if the catalog lacks the operation.
 */
import {
  type BranchDiff,
  branchDiff,
  type CallOptions,
  type CherryPickResult,
  cherryPickResult,
  type BranchContents as ToldBranch,
  unsupported,
} from '../../protocol/index.ts';
import {
  branchMember,
  checkChangeOptions,
  defined,
  entered,
  pages,
  type TableTarget,
} from '../handles/index.ts';
import { checkCount } from '../query/index.ts';
import type { Table } from './table.ts';
import type { VersionSelection } from './versions.ts';

/** Where a branch began, and when it was made. */
export interface BranchContents extends Omit<ToldBranch, 'parentBranch'> {
  /** Null for a branch of main. */
  readonly parentBranch: string | null;
}

/** A handle on a branch that is known to be there, made without a look. */
type MadeBranch = (branch: string) => Table;
/** Looks for the branch, and for the version where one is named. */
type OpenBranch = (selection: VersionSelection, options: CallOptions) => Promise<Table>;

/**
 * Branches by name. A branch begins with a version of its parent, under the same number, and goes on
 * with its own.
 */
export class Branches {
  readonly #target: TableTarget;
  readonly #made: MadeBranch;
  readonly #open: OpenBranch;

  /** Tables make these; see `Table.branches`. */
  constructor(target: TableTarget, made: MadeBranch, open: OpenBranch) {
    this.#target = target;
    this.#made = made;
    this.#open = open;
  }

  /** By name: the parent's branch and version, and when it was made. */
  async list(options: CallOptions = {}): Promise<Record<string, BranchContents>> {
    const { catalog, table } = entered(this.#target, options);
    const branches: [string, BranchContents][] = [];
    const listed = pages((token) => catalog.listTableBranches({ ...table, ...token }, options));
    for await (const page of listed) {
      for (const [name, told] of Object.entries(page.branches)) {
        const { branch: parentBranch = null } = branchMember(told.parentBranch);
        branches.push([name, { ...told, parentBranch }]);
      }
    }
    return Object.fromEntries(branches);
  }

  /**
   * Makes a branch and opens it. It starts at `fromVersion` of `fromRef`: the newest version and
   * the main branch if absent. What it throws is about the making alone, as nothing is read
   * afterwards: the table may be renamed or dropped by then, and the branch is made.
   */
  async create(
    name: string,
    fromRef?: string | null,
    fromVersion?: number | null,
    options: CallOptions = {},
  ): Promise<Table> {
    checkChangeOptions(options);
    const { catalog, table } = entered(this.#target, options);
    const { branch: from_branch } = branchMember(fromRef ?? undefined);
    const from_version =
      fromVersion === undefined || fromVersion === null
        ? undefined
        : checkCount('fromVersion', fromVersion);
    await catalog.createTableBranch(
      { ...table, name, ...defined({ from_branch, from_version }) },
      options,
    );
    return this.#made(name);
  }

  /** Opens a branch; pinned to a version where one is given. */
  async checkout(name: string, version?: number | null, options: CallOptions = {}): Promise<Table> {
    entered(this.#target, options);
    return this.#open(defined({ branch: name, version: version ?? undefined }), options);
  }

  /**
   * Takes away the branch with its versions.
   * @throws TableBranchNotFound, InvalidTableState while a tag names it
   */
  async delete(name: string, options: CallOptions = {}): Promise<void> {
    checkChangeOptions(options);
    const { catalog, table } = entered(this.#target, options);
    await catalog.deleteTableBranch({ ...table, name }, options);
  }

  /** Compares the newest version of a branch of main with that of main. @throws TableBranchNotFound */
  async diff(fromBranch: string, options: CallOptions = {}): Promise<BranchDiff> {
    const { catalog, table } = entered(this.#target, options);
    if (catalog.diffTableBranch === undefined) throw unsupported('DiffTableBranch');
    return branchDiff(
      await catalog.diffTableBranch({ ...table, from_branch: fromBranch }, options),
    );
  }

  /**
   * Brings to main what a branch of it changed, as one version of main: all of it where main did not
   * change since, and new rows where it did. Anything else resolves with `status: "failed"` and the
   * reason among `diff.errors`. With `dryRun` nothing is changed. @throws TableBranchNotFound
   */
  async cherryPick(
    fromBranch: string,
    dryRun = false,
    options: CallOptions = {},
  ): Promise<CherryPickResult> {
    checkChangeOptions(options);
    const { catalog, table } = entered(this.#target, options);
    if (catalog.cherryPickTableBranch === undefined) throw unsupported('CherryPickTableBranch');
    const request = { ...table, from_branch: fromBranch, dry_run: dryRun };
    return cherryPickResult(await catalog.cherryPickTableBranch(request, options));
  }
}
