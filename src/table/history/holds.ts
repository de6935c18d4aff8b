/**
 * Holds: a file beside the versions of a branch that keeps one of them while a new version, a tag or
 * a branch is made of it. Whoever deletes versions marks them first and looks for holds then;
 * whoever makes a hold looks for marks then, so one of the two sees the other. Needs no lock and no
 * clock: a hold that a crash left is a temporary file, and cleanup removes it once it is old enough.
 */
import { DirspaceError } from '../../errors.ts';
import { holdFile, parseHold } from '../../format/index.ts';
import { type Engine, type TableBranch, visibleVersions } from '../versions/index.ts';

/** Versions of the branch that are held just now. */
export async function heldVersions(engine: Engine, branch: TableBranch): Promise<number[]> {
  const entries = (await engine.store.list(branch.folder)) ?? [];
  return entries.flatMap(({ name }) => parseHold(name) ?? []);
}

/** Runs `work` while nobody deletes the version. @throws TableVersionNotFound */
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
