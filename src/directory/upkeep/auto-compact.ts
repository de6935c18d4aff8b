/**
 * `AutoCompaction` compacts branches in the background of an open catalog and brings their indexes
 * up to date. `notice` must be called for every commit. It starts a compaction when the branch has
 * gained more than `fragments` fragments since the last one. Only one runs for a branch at a time.
 * A failed compaction does not fail the commit; it is tried again after as many further fragments.
 * `close` starts nothing new and waits for running compactions. A wrong `fragments` throws
 * InvalidInput.
 */
import { DirspaceError } from '../../errors.ts';
import {
  DEFAULT_MAX_DELETED_SHARE,
  type Engine,
  openBranch,
  type Snapshot,
} from '../../table/index.ts';

export interface AutoCompactOptions {
  /** So many fragments more than the last compaction left are joined. */
  readonly fragments: number;
}

export class AutoCompaction {
  readonly #fragments: number;
  /** Fragments that the last compaction left, by branch, or the fewest since. */
  readonly #left = new Map<string, number>();
  readonly #running = new Map<string, Promise<void>>();
  #closed = false;

  /** @throws InvalidInput */
  constructor({ fragments }: AutoCompactOptions) {
    if (!Number.isSafeInteger(fragments) || fragments < 1) {
      throw new DirspaceError(
        'InvalidInput',
        `autoCompact.fragments is ${fragments}; give a whole number from 1 on.`,
      );
    }
    this.#fragments = fragments;
  }

  /** To be told of every commit; returns at once. */
  notice(engine: Engine, { branch, manifest }: Snapshot): void {
    const { folder } = branch;
    const { fragments } = manifest.totals;
    const known = this.#left.get(folder) ?? 0;
    // A branch whose rows were overwritten, and one in the place of another, begin with fewer.
    const left = Math.min(known, fragments);
    if (left < known) this.#left.set(folder, left);
    if (this.#closed || manifest.operation.kind === 'compact' || this.#running.has(folder)) return;
    if (fragments - left <= this.#fragments) return;
    const work = this.#compact(engine, branch)
      .catch(() => {
        // Tried again after as many more fragments; until then nothing is lost but speed.
        this.#left.set(folder, fragments);
      })
      .finally(() => this.#running.delete(folder));
    this.#running.set(folder, work);
  }

  /** Begins nothing new; resolves once what runs has ended. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#running.values());
  }

  async #compact(engine: Engine, names: Snapshot['branch']): Promise<void> {
    const { fragmentRows, fragmentBytes } = engine.limits;
    const branch = openBranch(engine, names);
    await branch.compact({
      targetRows: fragmentRows,
      targetBytes: fragmentBytes,
      maxDeletedShare: DEFAULT_MAX_DELETED_SHARE,
      tiered: true,
      dryRun: false,
    });
    const newest = await branch.newest();
    if (newest?.manifest.indexes !== undefined) await branch.updateIndexes();
    this.#left.set(branch.folder, newest?.manifest.totals.fragments ?? 0);
  }
}
