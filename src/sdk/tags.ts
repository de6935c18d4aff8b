/** The tags of one table: names for versions, which cleanup keeps. */
import type { TagContents } from '../protocol/models.ts';
import type { CallOptions } from '../protocol/namespace.ts';
import { pages } from './pages.ts';
import { branchMember, type TableTarget } from './target.ts';

/** Which branch a version is of. */
export interface TagOptions extends CallOptions {
  /** The branch whose version is meant; the handle's own if absent. */
  readonly branch?: string;
}

/** Tags by name. Cleanup keeps the versions they name. */
export class Tags {
  readonly #target: TableTarget;

  /** Tables make these; see `Table.tags`. */
  constructor(target: TableTarget) {
    this.#target = target;
  }

  /** By name: the branch and the version. */
  async list(options: CallOptions = {}): Promise<Record<string, TagContents>> {
    const { catalog, id } = this.#enter(options);
    const tags: [string, TagContents][] = [];
    for await (const page of pages((token) => catalog.listTableTags({ id, ...token }, options))) {
      tags.push(...Object.entries(page.tags));
    }
    return Object.fromEntries(tags);
  }

  /** The number of the version that it names. @throws TableTagNotFound */
  async getVersion(tag: string, options: CallOptions = {}): Promise<number> {
    const { catalog, id } = this.#enter(options);
    return (await catalog.getTableTagVersion({ id, tag }, options)).version;
  }

  /** @throws TableTagAlreadyExists, TableVersionNotFound */
  async create(tag: string, version: number, options: TagOptions = {}): Promise<void> {
    const { catalog, id } = this.#enter(options);
    await catalog.createTableTag({ id, tag, version, ...this.#branch(options) }, options);
  }

  /** Moves a tag to another version, of another branch too. */
  async update(tag: string, version: number, options: TagOptions = {}): Promise<void> {
    const { catalog, id } = this.#enter(options);
    await catalog.updateTableTag({ id, tag, version, ...this.#branch(options) }, options);
  }

  /** The version stays until cleanup. @throws TableTagNotFound */
  async delete(tag: string, options: CallOptions = {}): Promise<void> {
    const { catalog, id } = this.#enter(options);
    await catalog.deleteTableTag({ id, tag }, options);
  }

  #enter(options: CallOptions): TableTarget {
    this.#target.lifetime.enter(options);
    return this.#target;
  }

  #branch({ branch }: TagOptions): { branch?: string } {
    return branchMember(branch ?? this.#target.branch);
  }
}
