/**
 * Carries out BatchCommitTables and BatchCreateTableVersions (`batchCommitTables`,
 * `batchCreateTableVersions`), which change several tables together or not at all. New versions are
 * prepared invisibly and become visible by one decision (table/versions/multi-table-commit.ts).
 * Tables are declared before the decision; deletions and deregistrations follow it
 * (catalog/journal.ts). Two operations on one thing throw InvalidInput. If another writer aborts
 * the commit before the decision, it throws ConcurrentModification. If a step after the decision
 * fails, the error is CommitStateUnknown, and the next opening of the catalog finishes the commit.
 */
import { DirspaceError } from '../../errors.ts';
import { detachedFolder, versionFile } from '../../format/index.ts';
import {
  type BatchCommitTablesRequest,
  type BatchCommitTablesResponse,
  type BatchCreateTableVersionsRequest,
  type BatchCreateTableVersionsResponse,
  type CommitTableOperation,
  type CommitTableResult,
  type CreateTableVersionRequest,
  type DeclareTableRequest,
  formatId,
} from '../../protocol/index.ts';
import { isFailedFlush } from '../../store/index.ts';
import {
  type Branch,
  decideMultiTable,
  openBranch,
  type Snapshot,
  type StagedVersion,
} from '../../table/index.ts';
import {
  beginWrite,
  type Catalog,
  closeToOthers,
  findTable,
  finishJournal,
  type Journal,
  locationOf,
  newestOfMain,
  requireTable,
  resolveTarget,
  type Table,
  tableExists,
  tableId,
  writeJournal,
} from '../catalog/index.ts';
import { declareTable } from './create-table.ts';
import { offeredVersion, versionRecord } from './versions/index.ts';

/** @throws ConcurrentModification, InvalidInput; no version is visible then */
export async function batchCreateTableVersions(
  catalog: Catalog,
  request: BatchCreateTableVersionsRequest,
): Promise<BatchCreateTableVersionsResponse> {
  const operations = request.entries.map((entry) => ({ create_table_version: entry }));
  const { transaction_id, results } = await batchCommitTables(catalog, { operations });
  return {
    ...(transaction_id === undefined ? {} : { transaction_id }),
    versions: results.flatMap((result) => result.create_table_version?.version ?? []),
  };
}

/**
 * @throws ConcurrentModification if another writer aborted the commit because it was not decided in
 * time, CommitStateUnknown if a step after the decision failed
 */
export async function batchCommitTables(
  catalog: Catalog,
  request: BatchCommitTablesRequest,
): Promise<BatchCommitTablesResponse> {
  await beginWrite(catalog);
  const commitId = catalog.env.uuid();
  const steps: Step[] = [];
  for (const [index, operation] of request.operations.entries()) {
    steps.push(await planStep(catalog, operation, index));
  }
  refuseRepeats(steps);
  const journal: Journal = {
    batch: commitId,
    declares: steps.flatMap((step) => (step.kind === 'declare' ? [step] : [])),
    deletions: steps.flatMap((step) => (step.kind === 'delete' ? [step] : [])),
    deregisters: steps.flatMap((step) => (step.kind === 'deregister' ? [step] : [])),
  };
  const results: CommitTableResult[] = [];
  const published: Snapshot[] = [];
  let deciding = false;
  await writeJournal(catalog, journal);
  try {
    for (const step of steps) {
      if (step.kind === 'declare') {
        const answer = await declareTable(catalog, step.request, step.incarnation);
        results.push({ declare_table: answer });
      } else if (step.kind === 'version') {
        if (step.isFirst) await closeToOthers(catalog, step.table);
        const snapshot = await step.branch.publish(step.staged, commitId);
        published.push(snapshot);
        const version = versionRecord(catalog, snapshot);
        const transaction_id = snapshot.manifest.transaction;
        results.push({ create_table_version: { transaction_id, version } });
      } else if (step.kind === 'delete') {
        results.push({ delete_table_versions: { deleted_count: step.versions.length } });
      } else {
        results.push({
          deregister_table: { id: [...step.id], location: locationOf(catalog, step.place) },
        });
      }
    }
    await catalog.store.syncFolders([...new Set(published.map(({ branch }) => branch.folder))]);
    deciding = true;
    if (
      (await decideMultiTable(catalog.engine, commitId, 'committed', tablesOf(request))) ===
      'aborted'
    ) {
      throw new DirspaceError(
        'ConcurrentModification',
        'Another writer aborted this multi-table commit because it took too long to be decided. Nothing was changed; try again.',
      );
    }
  } catch (error) {
    // A decision to be seen that may not be on the disk: nothing that cannot be taken back is done
    // because of it. Whoever opens the catalog next finishes what the disk says by then.
    if (!(deciding && isFailedFlush(error))) await abandon(catalog, journal);
    throw error;
  }
  catalog.engine.counters.commits += published.length;
  for (const snapshot of published)
    await openBranch(catalog.engine, snapshot.branch).madeVisible(snapshot);
  try {
    await finishJournal(catalog, journal);
  } catch (error) {
    throw new DirspaceError(
      'CommitStateUnknown',
      `The multi-table commit ${commitId} was committed, but the steps after its decision failed. Opening the catalog again finishes them.`,
      { cause: error, details: { transaction: commitId } },
    );
  }
  return { transaction_id: commitId, results };
}

/** Ids recorded with the decision: who may read all of these tables may describe the commit. */
const tablesOf = ({ operations }: BatchCommitTablesRequest): string[] => [
  ...new Set(
    operations.flatMap((operation) =>
      Object.values(operation as Record<string, { readonly id?: readonly string[] } | undefined>)
        .filter((part) => part !== undefined)
        .map((part) => formatId(tableId(part.id))),
    ),
  ),
];

/** Leaves all or nothing, whichever was decided; if that fails too, the next opener does it. */
async function abandon(catalog: Catalog, journal: Journal): Promise<void> {
  try {
    await decideMultiTable(catalog.engine, journal.batch, 'aborted');
    await finishJournal(catalog, journal);
  } catch {
    // The error that led here says more.
  }
}

type Step =
  | {
      readonly kind: 'declare';
      readonly request: DeclareTableRequest;
      readonly folder: string;
      readonly incarnation: string;
      readonly target: string;
    }
  | {
      readonly kind: 'version';
      readonly table: Table;
      /** Whether the table has no version yet. */
      readonly isFirst: boolean;
      readonly branch: Branch;
      readonly staged: StagedVersion;
      readonly target: string;
    }
  | {
      readonly kind: 'delete';
      readonly branch: Branch;
      readonly versions: readonly number[];
      readonly target: string;
    }
  | {
      readonly kind: 'deregister';
      readonly id: readonly string[];
      readonly folder: string;
      readonly incarnation: string;
      readonly place: string;
      readonly target: string;
    };

/** Checks all that can be checked before anything is done. */
async function planStep(
  catalog: Catalog,
  operation: CommitTableOperation,
  index: number,
): Promise<Step> {
  const { declare_table, create_table_version, delete_table_versions, deregister_table } =
    operation;
  const given = Object.values(operation).filter((member) => member !== undefined).length;
  if (given !== 1) {
    throw new DirspaceError(
      'InvalidInput',
      `operations[${index}] has ${given} members; it needs exactly one of declare_table, create_table_version, delete_table_versions, deregister_table.`,
    );
  }
  if (declare_table !== undefined) {
    const id = tableId(declare_table.id);
    if ((await findTable(catalog, id)) !== undefined) throw tableExists(id);
    const folder = catalog.engine.names.tableFolder(id);
    const incarnation = catalog.env.uuid();
    return { kind: 'declare', request: declare_table, folder, incarnation, target: folder };
  }
  if (create_table_version !== undefined) return planVersion(catalog, create_table_version);
  if (delete_table_versions !== undefined) {
    const { branch } = await resolveTarget(catalog, delete_table_versions, 'branch');
    const versions = await branch.planDeletion(delete_table_versions.ranges);
    return { kind: 'delete', branch, versions, target: `${branch.folder} deletions` };
  }
  const table = await requireTable(catalog, deregister_table ?? {});
  const place = detachedFolder(catalog.env.uuid());
  const incarnation = table.record.id;
  return {
    kind: 'deregister',
    id: table.id,
    folder: table.folder,
    incarnation,
    place,
    target: table.folder,
  };
}

async function planVersion(catalog: Catalog, request: CreateTableVersionRequest): Promise<Step> {
  const { id, incarnation, branch: name } = request;
  const { table, branch } = await resolveTarget(
    catalog,
    { id, incarnation, branch: name },
    'branch',
  );
  if ((await branch.stagedByLance(request)) !== undefined) {
    throw new DirspaceError(
      'Unsupported',
      `Version ${request.version} was staged by a client of Lance, and batches take versions of this catalog's own alone. Send each of them as a request of its own (CreateTableVersion). Nothing was changed.`,
      { details: { member: 'manifest_path' } },
    );
  }
  const staged = await offeredVersion(catalog, branch, request);
  const isFirst = (await newestOfMain(catalog, table)) === undefined;
  return {
    kind: 'version',
    table,
    isFirst,
    branch,
    staged,
    target: versionFile(branch.folder, request.version),
  };
}

/** Two steps on one thing would depend on their order. */
function refuseRepeats(steps: readonly Step[]): void {
  const seen = new Set<string>();
  for (const { kind, target } of steps) {
    if (seen.has(target)) {
      throw new DirspaceError(
        'InvalidInput',
        `The request has two operations of kind ${kind} on ${target}, whose order would matter. Send one of them in a request of its own.`,
      );
    }
    seen.add(target);
  }
}
