/**
 * `Tags` lists, reads, creates, moves and deletes the tags of one table. A tag names a version of
 * a branch, by default of the handle's branch; cleanup keeps tagged versions. Creating a tag that
 * exists throws TableTagAlreadyExists. Reading, moving or deleting a missing tag throws
 * TableTagNotFound, and naming a missing version TableVersionNotFound.
 */
import { DirspaceError } from '../../errors.ts';
import type { CallOptions, TagContents } from '../../protocol/index.ts';
import {
  branchMember,
  type Catalog,
  checkChangeOptions,
  entered,
  type OnTable,
  pages,
  type TableTarget,
} from '../handles/index.ts';

/** Which branch a version is of. */
export interface TagOptions extends CallOptions {
  /** The branch whose version is meant; the handle's own if absent. */
  readonly branch?: string;
}

const TAG_OPTIONS = ['branch'] as const;

/** Tags by name. Cleanup keeps the versions they name. */
export class Tags {
  readonly #target: TableTarget;

  /** Tables make these; see `Table.tags`. */
  constructor(target: TableTarget) {
    this.#target = target;
  }

  /** By name: the branch and the version. */
  async list(options: CallOptions = {}): Promise<Record<string, TagContents>> {
    const { catalog, table } = entered(this.#target, options);
    const tags: [string, TagContents][] = [];
    for await (const page of pages((token) =>
      catalog.listTableTags({ ...table, ...token }, options),
    )) {
      tags.push(...Object.entries(page.tags));
    }
    return Object.fromEntries(tags);
  }

  /** The number of the version that it names. @throws TableTagNotFound */
  async getVersion(tag: string, options: CallOptions = {}): Promise<number> {
    const { catalog, table } = entered(this.#target, options);
    return (await catalog.getTableTagVersion({ ...table, tag }, options)).version;
  }

  /** @throws TableTagAlreadyExists, TableVersionNotFound */
  async create(tag: string, version: number, options: TagOptions = {}): Promise<void> {
    const { catalog, table } = this.#change(options, TAG_OPTIONS);
    requireVersion(version, 'create');
    await catalog.createTableTag({ ...table, tag, version, ...this.#branch(options) }, options);
  }

  /** Moves a tag to another version, of another branch too. */
  async update(tag: string, version: number, options: TagOptions = {}): Promise<void> {
    const { catalog, table } = this.#change(options, TAG_OPTIONS);
    requireVersion(version, 'update');
    await catalog.updateTableTag({ ...table, tag, version, ...this.#branch(options) }, options);
  }

  /** The version stays until cleanup. @throws TableTagNotFound */
  async delete(tag: string, options: CallOptions = {}): Promise<void> {
    const { catalog, table } = this.#change(options);
    await catalog.deleteTableTag({ ...table, tag }, options);
  }

  #change(
    options: CallOptions,
    known?: readonly string[],
  ): { readonly catalog: Catalog; readonly table: OnTable } {
    checkChangeOptions(options, known);
    return entered(this.#target, options);
  }

  #branch({ branch }: TagOptions): { branch?: string } {
    return branchMember(branch ?? this.#target.branch);
  }
}

/** The catalog checks the number; a program without types may have given none. */
function requireVersion(version: number | undefined, call: string): void {
  if (version !== undefined) return;
  throw new DirspaceError(
    'InvalidInput',
    `A tag names a version: ${call}("v1", 3). table.version() tells the number that the handle reads.`,
  );
}
