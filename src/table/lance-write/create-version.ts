/**
 * `createLanceVersion` publishes the version that a writer of Lance has staged as the next version
 * of a table. It refuses a manifest whose changes differ from its transaction (InvalidInput), or
 * that a table cannot hold (Unsupported). It reads new data and deletion files whole, and writes
 * their rows as the engine's own files. If another version has taken the number, it updates what
 * Lance finds by path and throws ConcurrentModification; if an aborted multi-table commit has taken
 * it, it first commits a version with the newest rows above it. A repeated request finds the
 * version that the first one made. A writer that has read a table dropped since gets TableNotFound.
 */
import { isDirspaceError } from '../../errors.ts';
import { type FragmentEntry, liveRows, type OperationKind } from '../../format/index.ts';
import { schemaToJson } from '../../protocol/index.ts';
import { plainPause, runSteps } from '../../steps.ts';
import { listFieldIds } from '../fields/index.ts';
import { lanceProblem, placeVersions, setStrangersAside } from '../lance/index.ts';
import { requestMemory } from '../read/index.ts';
import {
  announced,
  type CommitRequest,
  commit,
  type Draft,
  EMPTY_FRAGMENTS,
  type Engine,
  editFragments,
  type FragmentList,
  fragmentListOf,
  notNextVersion,
  resolveHead,
  type Snapshot,
  sameContent,
  snapshotAt,
  type TableBranch,
  visibleSnapshot,
} from '../versions/index.ts';
import { deleteQuietly } from '../work/index.ts';
import { AttemptFiles, isBetweenAttempts, restored } from '../write/index.ts';
import { blamed, invalid, unsupported } from './refusals.ts';
import type { StagedChange } from './staged-change.ts';
import { requireSameRows } from './staged-compaction.ts';
import { requireComputed } from './staged-computed.ts';
import { checkCosts } from './staged-costs.ts';
import {
  type FragmentPlan,
  fragmentsAgain,
  planFragments,
  reservedAfter,
} from './staged-fragments.ts';
import {
  keptTransaction,
  type LanceVersionRequest,
  readStagedManifest,
  requireNamedTable,
  requirePlace,
  requireSameTable,
  type StagedLanceManifest,
} from './staged-manifest.ts';
import { requireValues } from './staged-nulls.ts';
import { checkOperation, isAnew, takenOperation } from './staged-operation.ts';
import { newSchema, writeStagedRows } from './staged-rows.ts';
import { stagedSchema } from './staged-schema.ts';

/**
 * @param path of the staged manifest, as stagedLancePath gives it
 * @param signal ends the work while nothing is published, and what was written until then goes
 * @throws ConcurrentModification where the number is taken, InvalidInput, Unsupported
 */
export async function createLanceVersion(
  engine: Engine,
  branch: TableBranch,
  request: LanceVersionRequest,
  path: string,
  signal?: AbortSignal,
): Promise<Snapshot> {
  const held = requestMemory(engine).hold('A staged Lance manifest');
  try {
    const staged = await readStagedManifest(engine, branch, request, path, held);
    return await announced(engine, branch.tableFolder, (writing) =>
      published(writing, branch, request.version, staged, signal),
    );
  } finally {
    held.end();
  }
}

async function published(
  engine: Engine,
  branch: TableBranch,
  version: number,
  staged: StagedLanceManifest,
  signal: AbortSignal | undefined,
): Promise<Snapshot> {
  requireSameTable(branch, staged);
  await requirePlace(engine, branch, staged);
  // The client's own id, so that a request that is sent again finds what the first one did.
  const transaction = `${branch.incarnation}.${staged.transaction.uuid}`;
  const head = await resolveHead(engine, branch);
  try {
    if (head === undefined || head.slot + 1 !== version) throw notNextVersion(version, head);
    return await committed(engine, head.snapshot, { version, transaction, signal }, staged);
  } catch (error) {
    if (!isDirspaceError(error, 'ConcurrentModification')) throw error;
    const same = await visibleSnapshot(engine, branch, version);
    if (same?.manifest.transaction === transaction) return same;
    // An aborted multi-table commit has taken the numbers above the newest version: no client could
    // ever ask for the next one.
    if (head !== undefined && head.slot > head.snapshot.version) await commitAsItIs(engine, branch);
    // A writer that came second looks there for what it has to build on.
    await placeVersions(engine, branch);
    // Or it has built on what a writer by path put there, which is no version of the table.
    await setStrangersAside(engine, branch);
    throw error;
  }
}

/** Publishes a version with the rows of the newest, whose number is above all that are taken. */
async function commitAsItIs(engine: Engine, branch: TableBranch): Promise<void> {
  const build = async (base: Snapshot | undefined): Promise<Draft | undefined> =>
    base && {
      ...sameContent(base.manifest, { added_rows: 0, added_fragments: 0 }),
      kind: 'append',
    };
  await commit(engine, branch, { build });
}

/**
 * Files are written outside the commit: others go on meanwhile, and where one is faster it was
 * in vain.
 */
async function committed(
  engine: Engine,
  base: Snapshot,
  as: Pick<CommitRequest, 'transaction' | 'signal'> & { readonly version: number },
  staged: StagedLanceManifest,
): Promise<Snapshot> {
  const { branch, checksum } = base;
  const files = new AttemptFiles(engine, branch.tableFolder);
  let draft: Draft;
  try {
    draft = await draftOf(engine, base, staged, files, as.signal);
  } catch (error) {
    await files.discard();
    throw error;
  }
  const build = async (newest: Snapshot | undefined): Promise<Draft> => {
    if (newest?.checksum === checksum) return draft;
    throw notNextVersion(as.version, newest && { slot: newest.version });
  };
  try {
    const { snapshot } = await commit(engine, branch, { ...as, build });
    await deleteQuietly(engine.store, staged.path);
    return snapshot;
  } catch (error) {
    if (isBetweenAttempts(error, as.signal)) await files.discard();
    throw error;
  }
}

async function draftOf(
  engine: Engine,
  base: Snapshot,
  staged: StagedLanceManifest,
  files: AttemptFiles,
  signal: AbortSignal | undefined,
): Promise<Draft> {
  const { manifest } = staged;
  const problem = await lanceProblem(base);
  if (problem !== undefined) throw unsupported('a table that Lance cannot read', problem);
  const operation = takenOperation(manifest);
  const source =
    operation.kind === 'restore' ? await restoredVersion(engine, base, operation.version) : base;
  requireNamedTable(staged, source);
  const entries = await source.fragments();
  const anew = isAnew(operation);
  const again = anew ? fragmentsAgain(manifest, source, entries) : undefined;
  // Files of before hold the fields of before.
  const hasNewFields = anew && again?.size === 0;
  const schema = await blamed(() => stagedSchema(manifest.fields, source, hasNewFields));
  const planning = planFragments(manifest, source, entries, schema, anew, again);
  const plan = await runSteps(planning, plainPause());
  const change = { manifest, base: source, entries, schema, plan };
  const kind = checkOperation(operation, change);
  const transaction = keptTransaction(staged);
  if (operation.kind === 'restore') {
    const draft = restored(source, base.manifest);
    const nextFragmentId = Math.max(draft.nextFragmentId, plan.nextFragmentId);
    return { ...draft, nextFragmentId, lanceTransaction: transaction };
  }
  requireComputed(change);
  await runSteps(checkCosts(change), plainPause());
  await requireValues(engine, change, signal);
  const { written, durable } = await writeStagedRows(engine, base, change, files, signal);
  if (operation.kind === 'rewrite')
    await requireSameRows(engine, change, operation.groups, written);
  const tableMetadata = Object.fromEntries(manifest.tableMetadata);
  return {
    kind,
    summary: summaryOf(kind, change, written),
    schema: schemaToJson(newSchema(change)),
    fieldIds: listFieldIds(schema.tree),
    nextFieldId: schema.nextFieldId,
    nextFragmentId: plan.nextFragmentId,
    metadata: tableMetadata,
    fragments: await editedList(engine, base, entries, plan, written),
    lanceIds: schema.lanceIds,
    lanceReserved: reservedAfter(plan, base, operation.kind === 'reserve_fragments'),
    lanceTransaction: transaction,
    after: durable,
  };
}

/** The version that a writer made the newest again. */
async function restoredVersion(engine: Engine, base: Snapshot, version: number): Promise<Snapshot> {
  if (version === base.version) return base;
  if (version > base.version) {
    throw invalid(`it restores version ${version}, and the newest is ${base.version}`);
  }
  try {
    return await snapshotAt(engine, base.branch, version);
  } catch (error) {
    if (!isDirspaceError(error, 'TableVersionNotFound')) throw error;
    throw invalid(`it restores version ${version}, which is not there`, error);
  }
}

function summaryOf(
  kind: OperationKind,
  { plan, base }: StagedChange,
  written: ReadonlyMap<number, FragmentEntry>,
): Record<string, number> {
  const before = new Map(
    plan.fragments.map((each) => [each.id, each.again === undefined ? each.before : undefined]),
  );
  let [added, deleted, addedFragments, changedFragments] = [0, 0, 0, 0];
  for (const [id, entry] of written) {
    const known = before.get(id);
    if (known === undefined) {
      added += liveRows(entry);
      addedFragments++;
    } else {
      deleted += liveRows(known) - liveRows(entry);
      changedFragments++;
    }
  }
  for (const entry of plan.removed) deleted += liveRows(entry);
  return {
    ...(kind === 'schema' || kind === 'metadata' ? { fields: base.fields.length } : {}),
    added_rows: added,
    deleted_rows: deleted,
    added_fragments: addedFragments,
    changed_fragments: changedFragments,
    removed_fragments: plan.removed.length,
  };
}

/**
 * The list of fragments in the order of the manifest; what did not change keeps its chunks. Lance's
 * writers list fragments by their ids: where those of before stood otherwise they stay so, and new
 * ones follow.
 */
function editedList(
  engine: Engine,
  base: Snapshot,
  entries: readonly FragmentEntry[],
  { fragments, removed }: FragmentPlan,
  written: ReadonlyMap<number, FragmentEntry>,
): Promise<FragmentList> {
  const folder = base.branch.tableFolder;
  const gone = new Set(removed.map(({ id }) => id));
  const stays = entries.filter(({ id }) => !gone.has(id));
  const isInOrder =
    stays.every(({ id }, at) => fragments[at]?.id === id) &&
    fragments.slice(stays.length).every(({ before }) => before === undefined);
  if (!isInOrder && !(isAscending(fragments) && !isAscending(stays))) {
    const added = fragments.map(({ id, before }) => written.get(id) ?? (before as FragmentEntry));
    return editFragments(engine, folder, EMPTY_FRAGMENTS, { added });
  }
  const fresh = fragments.filter(({ before }) => before === undefined);
  const isNew = new Set(fresh.map(({ id }) => id));
  return editFragments(engine, folder, fragmentListOf(base.manifest), {
    replaced: new Map([...written].filter(([id]) => !isNew.has(id))),
    removed: gone,
    added: fresh.map(({ id }) => written.get(id) as FragmentEntry),
  });
}

const isAscending = (fragments: readonly { readonly id: number }[]): boolean =>
  fragments.every(({ id }, at) => at === 0 || id > (fragments[at - 1]?.id ?? 0));
