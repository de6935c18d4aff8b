/**
 * `withHold` keeps a version from being deleted while a new version, a tag, a branch or a clone is
 * made from it, or throws TableVersionNotFound if it is gone already. A hold is a file beside the
 * versions of a branch; `heldVersions` lists the held ones. Deletion marks versions first and then
 * looks for holds. `withHold` creates the hold first and then looks for marks. So one side always
 * sees the other, without a lock or a clock. Cleanup removes holds that crashes left, once they
 * are old enough.
 */
import { DirspaceError } from '../../errors.ts';
import { holdFile, parseHold } from '../../format/index.ts';
import { type Engine, type TableBranch, visibleVersions } from '../versions/index.ts';

/** Versions of the branch that are held just now. */
export async function heldVersions(engine: Engine, branch: TableBranch): Promise<number[]> {
  const entries = (await engine.store.list(branch.folder)) ?? [];
  return entries.flatMap(({ name }) => parseHold(name) ?? []);
}

/** Runs `work` while a hold keeps the version from being deleted. @throws TableVersionNotFound */
export async function withHold<Result>(
  engine: Engine,
  branch: TableBranch,
  version: number,
  work: () => Promise<Result>,
): Promise<Result> {
  const file = holdFile(branch.folder, version, engine.env.uuid());
  await engine.store.putIfAbsent(file, Buffer.from('{}\n'));
  try {
    if ((await visibleVersions(engine, branch)).includes(version)) return await work();
    throw new DirspaceError(
      'TableVersionNotFound',
      `Version ${version} of branch ${branch.branch} was deleted at that very moment. List the versions to see what is there.`,
      { details: { version, branch: branch.branch } },
    );
  } finally {
    try {
      await engine.store.delete(file);
    } catch {
      // It keeps the version until cleanup finds it old enough.
    }
  }
}
