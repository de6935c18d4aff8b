/**
 * Carries out CleanupTable (`cleanupTable`) and OptimizeTable (`optimizeTable`). CleanupTable
 * removes old versions and unused files of a table. OptimizeTable compacts a branch, unless the
 * request says not to, and updates its indexes. On request it also changes the compression of the
 * branch, or cleans up the table. Both operations sweep the trash at the end. A dry run only
 * reports. Invalid ages and goals throw InvalidInput. auto-compact.ts compacts in the background.
 */
import { checkCompression } from '../../compression.ts';
import { DirspaceError } from '../../errors.ts';
import {
  type CleanupTableRequest,
  type CleanupTableResponse,
  type CompactionParameters,
  type OptimizeCallOptions,
  type OptimizeTableRequest,
  type OptimizeTableResponse,
  progressTo,
} from '../../protocol/index.ts';
import {
  type Branch,
  type CompactionGoals,
  type CompactionReport,
  DEFAULT_MAX_DELETED_SHARE,
  DEFAULT_ORPHAN_GRACE,
  type Limits,
  type Snapshot,
} from '../../table/index.ts';
import {
  beginWrite,
  type Catalog,
  requireTable,
  resolveTarget,
  storedTable,
  sweepTrash,
} from '../catalog/index.ts';

/** @throws InvalidInput for ages that are no whole number from 0 on */
export async function cleanupTable(
  catalog: Catalog,
  request: CleanupTableRequest,
): Promise<CleanupTableResponse> {
  await beginWrite(catalog);
  const olderThan = age('older_than_millis', request.older_than_millis);
  const orphanGrace = age(
    'orphan_grace_millis',
    request.orphan_grace_millis ?? DEFAULT_ORPHAN_GRACE,
  );
  const dryRun = request.dry_run ?? false;
  const table = await requireTable(catalog, request);
  return catalog.engine.withLock(`${table.folder} cleanup`, async () => {
    const report = await storedTable(catalog, table).cleanup({
      olderThan,
      orphanGrace,
      dryRun,
    });
    if (!dryRun) await sweepTrash(catalog);
    return {
      versions_removed: report.versions,
      files_removed: report.files,
      bytes_removed: report.bytes,
      dry_run: dryRun,
      ...(report.kept === undefined ? {} : { files_kept: report.kept }),
    };
  });
}

/**
 * Compacts a branch and brings its indexes up to date, then removes old versions of the table if
 * asked to. @throws InvalidInput
 */
export async function optimizeTable(
  catalog: Catalog,
  request: OptimizeTableRequest,
  options: OptimizeCallOptions = {},
): Promise<OptimizeTableResponse> {
  await beginWrite(catalog);
  const dryRun = request.dry_run ?? false;
  const older = request.cleanup_older_than_millis;
  if (older !== undefined) age('cleanup_older_than_millis', older);
  const { branch } = await resolveTarget(catalog, request, 'branch');
  const newest = (await branch.head())?.snapshot;
  const compaction = await compactBranch(catalog, branch, newest, request, options);
  // Read before the compaction: a failure after it would hide that the compaction was done.
  const hasIndexes = newest?.manifest.indexes !== undefined;
  const indexed = dryRun || !hasIndexes ? undefined : await updateIndexesOf(branch, options);
  const version = indexed ?? compaction?.version;
  const cleaned =
    older === undefined
      ? undefined
      : await cleanupTable(catalog, {
          id: request.id,
          older_than_millis: older,
          dry_run: dryRun,
          ...(request.incarnation === undefined ? {} : { incarnation: request.incarnation }),
          ...(request.orphan_grace_millis === undefined
            ? {}
            : { orphan_grace_millis: request.orphan_grace_millis }),
        });
  if (older === undefined && !dryRun) await sweepTrash(catalog);
  return {
    fragments_removed: compaction?.fragmentsRemoved ?? 0,
    fragments_added: compaction?.fragmentsAdded ?? 0,
    files_removed: compaction?.filesRemoved ?? 0,
    files_added: compaction?.filesAdded ?? 0,
    versions_removed: cleaned?.versions_removed ?? 0,
    unused_files_removed: cleaned?.files_removed ?? 0,
    bytes_removed: cleaned?.bytes_removed ?? 0,
    dry_run: dryRun,
    ...(cleaned?.files_kept === undefined ? {} : { unused_files_kept: cleaned.files_kept }),
    ...(version === undefined ? {} : { version }),
  };
}

/** The version that covers more; undefined where every index was up to date. */
async function updateIndexesOf(
  branch: Branch,
  { signal, on_progress: onProgress }: OptimizeCallOptions,
): Promise<number | undefined> {
  const { snapshot, transaction } = await branch.updateIndexes({
    signal,
    onProgress: progressTo(onProgress),
  });
  return transaction === undefined ? undefined : snapshot.version;
}

async function compactBranch(
  catalog: Catalog,
  branch: Branch,
  newest: Snapshot | undefined,
  request: OptimizeTableRequest,
  { signal, on_progress: onProgress }: OptimizeCallOptions,
): Promise<CompactionReport | undefined> {
  const compression =
    request.compression === undefined ? undefined : checkCompression(request.compression);
  if (request.compact === false && compression === undefined) return undefined;
  const goals = goalsOf(catalog.engine.limits, request.compact || {});
  const isChanged = compression !== undefined && (await branch.compression(newest)) !== compression;
  if (isChanged && request.dry_run !== true) await branch.setCompression(compression, { signal });
  if (request.compact === false) return undefined;
  return branch.compact({
    ...goals,
    compression,
    compressesAnew: isChanged,
    dryRun: request.dry_run ?? false,
    signal,
    onProgress: progressTo(onProgress),
  });
}

function goalsOf(
  limits: Limits,
  given: CompactionParameters,
): CompactionGoals & { readonly plain?: boolean } {
  const {
    target_rows = limits.fragmentRows,
    target_bytes = limits.fragmentBytes,
    max_deleted_share = DEFAULT_MAX_DELETED_SHARE,
    plain,
  } = given;
  for (const [name, value] of Object.entries({ target_rows, target_bytes })) {
    if (Number.isSafeInteger(value) && value > 0) continue;
    throw new DirspaceError('InvalidInput', `${name} is ${value}; give a whole number from 1 on.`);
  }
  if (!(max_deleted_share >= 0 && max_deleted_share <= 1)) {
    throw new DirspaceError(
      'InvalidInput',
      `max_deleted_share is ${max_deleted_share}; give a share from 0 to 1.`,
    );
  }
  return {
    targetRows: target_rows,
    targetBytes: target_bytes,
    maxDeletedShare: max_deleted_share,
    ...(plain === true ? { plain } : {}),
    tiered: false,
  };
}

function age(member: string, value: number): number {
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new DirspaceError('InvalidInput', `${member} is ${value}; give milliseconds from 0 on.`);
}
