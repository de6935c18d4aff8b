/**
 * `createLanceBranch` makes the branch that a writer of Lance has staged, from the version that its
 * transaction names; the caller holds that version meanwhile (`held`). It throws InvalidInput if
 * the staged manifest describes this version differently from the table, or its transaction makes
 * no such branch; Unsupported for a deep clone; TableNotFound if the writer has read a table that
 * was dropped since; and TableBranchAlreadyExists. The branch begins with the table's own version,
 * and the staged file is deleted.
 */
import { MAIN_BRANCH } from '../../format/index.ts';
import { plainPause, runSteps } from '../../steps.ts';
import { lanceProblem } from '../lance/index.ts';
import { requestMemory } from '../read/index.ts';
import {
  createBranch,
  type Engine,
  findBranch,
  mainBranch,
  type Snapshot,
  snapshotAt,
  type TableBranch,
} from '../versions/index.ts';
import { deleteQuietly } from '../work/index.ts';
import { blamed, invalid, shown, unsupported } from './refusals.ts';
import { planFragments } from './staged-fragments.ts';
import {
  keptTransaction,
  type LanceVersionRequest,
  readStagedManifest,
  requireNamedTable,
  requireSameTable,
  type StagedLanceManifest,
} from './staged-manifest.ts';
import { requireUnchanged } from './staged-operation.ts';
import { stagedSchema } from './staged-schema.ts';

/**
 * @param branch which is not there yet
 * @param path of the staged manifest, as stagedLancePath gives it
 * @param held runs the work while the version is held that the branch is made from
 * @throws InvalidInput, Unsupported, TableBranchAlreadyExists
 */
export async function createLanceBranch(
  engine: Engine,
  branch: TableBranch,
  request: LanceVersionRequest,
  path: string,
  held: (from: Snapshot, make: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const memory = requestMemory(engine).hold('A staged Lance manifest');
  try {
    const staged = await readStagedManifest(engine, branch, request, path, memory);
    requireSameTable(branch, staged);
    const from = await namedVersion(engine, branch, staged);
    await held(from, async () => {
      await requireVersion(staged, from);
      await createBranch(engine, branch.branch, from, keptTransaction(staged));
    });
    await deleteQuietly(engine.store, staged.path);
  } finally {
    memory.end();
  }
}

/** The version that the transaction says the branch is made from. */
async function namedVersion(
  engine: Engine,
  { tableFolder, incarnation, branch }: TableBranch,
  { manifest, transaction: { operation } }: StagedLanceManifest,
): Promise<Snapshot> {
  if (operation?.kind !== 'clone')
    throw invalid(
      `its transaction is ${operation?.kind ?? 'none'}, and there is no branch ${shown(branch)} to change`,
    );
  const { refName = MAIN_BRANCH, refVersion, isShallow } = operation;
  if (!isShallow) throw unsupported('a deep clone');
  if (operation.branch !== branch)
    throw invalid(`its transaction makes the branch ${shown(operation.branch ?? '')}`);
  if (refVersion !== manifest.version)
    throw invalid(`its transaction clones version ${refVersion}, and it is ${manifest.version}`);
  const parent =
    refName === MAIN_BRANCH
      ? mainBranch(tableFolder, incarnation)
      : await findBranch(engine, tableFolder, incarnation, refName);
  if (parent === undefined)
    throw invalid(`its transaction clones the branch ${shown(refName)}, which is not there`);
  return snapshotAt(engine, parent, refVersion);
}

/** @throws InvalidInput where the manifest says something else of the version than the table */
async function requireVersion(staged: StagedLanceManifest, base: Snapshot): Promise<void> {
  const { manifest } = staged;
  const problem = await lanceProblem(base);
  if (problem !== undefined) throw unsupported('a version that Lance cannot read', problem);
  requireNamedTable(staged, base);
  const schema = await blamed(() => stagedSchema(manifest.fields, base, false));
  const entries = await base.fragments();
  const plan = await runSteps(planFragments(manifest, base, entries, schema, false), plainPause());
  requireUnchanged({ manifest, base, entries, schema, plan });
  if (plan.nextFragmentId !== base.manifest.nextFragmentId)
    throw invalid(`its largest fragment id is ${plan.nextFragmentId - 1}`);
}
