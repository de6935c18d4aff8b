/**
 * `commitWithFiles` commits a change whose files depend on the version that it is built on, and
 * announces its writer. The caller's `build` names its files with the engine that it is given, and
 * adds them to the given `AttemptFiles`. After a conflict the files of the lost attempt are
 * removed, and the change is built again. After an error files are removed only if no version can
 * refer to them: the error came from building the change, or `isBetweenAttempts` is true of it.
 * Cleanup finds what stays.
 */
import { isDirspaceError } from '../../errors.ts';
import {
  type DeletionEntry,
  deletionFile,
  type FragmentEntry,
  fragmentFile,
} from '../../format/index.ts';
import {
  announced,
  type CommitRequest,
  type Committed,
  commit,
  type Draft,
  type Engine,
  isRefusedOnView,
  type Snapshot,
  type TableBranch,
} from '../versions/index.ts';
import { deleteQuietly } from '../work/index.ts';
import type { WriteOptions } from './append.ts';
import type { NewFragment } from './write.ts';

/** The files of one attempt. */
export class AttemptFiles {
  readonly #engine: Engine;
  readonly #tableFolder: string;
  #files = new Set<string>();

  constructor(engine: Engine, tableFolder: string) {
    this.#engine = engine;
    this.#tableFolder = tableFolder;
  }

  addFragments(fragments: readonly NewFragment[]): void {
    for (const { file } of fragments) this.#files.add(fragmentFile(this.#tableFolder, file));
  }

  /** The deletion files of entries that got one. */
  addDeletions({ replaced }: { readonly replaced: ReadonlyMap<number, FragmentEntry> }): void {
    for (const { deletion } of replaced.values()) {
      if (deletion !== undefined) this.addDeletion(deletion);
    }
  }

  addDeletion({ file }: DeletionEntry): void {
    this.#files.add(deletionFile(this.#tableFolder, file));
  }

  /** Removes the files; one that cannot be removed is left to cleanup. */
  async discard(): Promise<void> {
    const files = this.#files;
    this.#files = new Set();
    for (const file of files) await deleteQuietly(this.#engine.store, file);
  }
}

export type AttemptOptions = WriteOptions & Pick<CommitRequest, 'namesRowIds'>;

export type BuildWithFiles = (
  engine: Engine,
  base: Snapshot | undefined,
  files: AttemptFiles,
) => Promise<Draft | undefined>;

/**
 * As commit, with the files of every attempt but the one that was committed removed. Files are
 * written with the engine that `build` is given.
 */
export const commitWithFiles = (
  engine: Engine,
  branch: TableBranch,
  options: AttemptOptions,
  build: BuildWithFiles,
): Promise<Committed> =>
  announced(engine, branch.tableFolder, (writing) => attempted(writing, branch, options, build));

async function attempted(
  engine: Engine,
  branch: TableBranch,
  options: AttemptOptions,
  build: BuildWithFiles,
): Promise<Committed> {
  const files = new AttemptFiles(engine, branch.tableFolder);
  try {
    return await commit(engine, branch, {
      transaction: options.transaction,
      signal: options.signal,
      ...(options.namesRowIds === undefined ? {} : { namesRowIds: options.namesRowIds }),
      build: async (base) => {
        await files.discard();
        try {
          return await build(engine, base, files);
        } catch (error) {
          await files.discard();
          throw error;
        }
      },
    });
  } catch (error) {
    if (isBetweenAttempts(error, options.signal)) await files.discard();
    throw error;
  }
}

/**
 * Errors thrown between attempts, or before a version is published; after any other one a version
 * may need the files.
 */
export const isBetweenAttempts = (error: unknown, signal: AbortSignal | undefined): boolean =>
  isDirspaceError(error, 'ConcurrentModification') ||
  isRefusedOnView(error) ||
  (signal?.aborted === true && error === signal.reason);
