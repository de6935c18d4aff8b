/** Cleanup as an operation on a table. */
import { DirspaceError } from '../errors.ts';
import type { CleanupTableRequest, CleanupTableResponse } from '../protocol/extensions.ts';
import { cleanup, DEFAULT_ORPHAN_GRACE } from '../table/cleanup.ts';
import { beginWrite, type Catalog, requireTable } from './catalog.ts';

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
  const table = await requireTable(catalog, request.id as string[]);
  return catalog.engine.withLock(`${table.folder} cleanup`, async () => {
    const report = await cleanup(catalog.engine, table.folder, table.record.id, {
      olderThan,
      orphanGrace,
      dryRun,
    });
    return {
      versions_removed: report.versions,
      files_removed: report.files,
      bytes_removed: report.bytes,
      dry_run: dryRun,
    };
  });
}

function age(member: string, value: number): number {
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new DirspaceError('InvalidInput', `${member} is ${value}; give milliseconds from 0 on.`);
}
