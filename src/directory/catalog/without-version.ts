/**
 * Explains why a table has no version to read. `withoutVersion` returns the error: the table is
 * only declared (`isOnlyDeclared`), or it has files that this catalog cannot read. `claimForRows`
 * must be called right before the first version of such a table is published. It refuses a table
 * with those files, so that nobody's rows are hidden, and closes the place that is reserved for
 * other programs, so that they cannot write beside the new rows. `refuseStorage` only refuses. The
 * files throw TableAlreadyExists in mode Create, otherwise Unsupported or InvalidTableState.
 */
import type { DirspaceError, ErrorCode } from '../../errors.ts';
import { TABLE_FILE } from '../../format/index.ts';
import { type CreateMode, errorNaming } from '../../protocol/index.ts';
import { emptyTable, type FoundStorage } from '../../table/index.ts';
import type { Catalog, Table } from './catalog.ts';
import { closeToOthers, rowsElsewhere, storageOf } from './lance-tables.ts';

/** Whether a table without a version has no files of its own or of other programs either. */
export async function isOnlyDeclared(catalog: Catalog, table: Table): Promise<boolean> {
  return (await storageOf(catalog, table)) === undefined;
}

/** The error for operations that need a version of the table. */
export async function withoutVersion(catalog: Catalog, table: Table): Promise<DirspaceError> {
  const found = await storageOf(catalog, table);
  if (found?.kind === 'lance') return rowsElsewhere(catalog, table);
  return found === undefined
    ? emptyTable()
    : storageError('InvalidTableState', table, found, 'has no version that this catalog can read');
}

/**
 * Called before the first version of a table is written: refuses a folder that holds files already.
 * @throws TableAlreadyExists in mode Create, Unsupported where they are Lance's, InvalidTableState
 */
export async function refuseStorage(
  catalog: Catalog,
  table: Table,
  mode: CreateMode | undefined,
): Promise<void> {
  const found = await storageOf(catalog, table);
  if (found === undefined) return;
  if (mode === 'Create') throw storageError('TableAlreadyExists', table, found, 'already exists');
  if (found.kind === 'lance') throw rowsElsewhere(catalog, table);
  throw storageError('InvalidTableState', table, found, 'cannot get a first version');
}

/**
 * Right before a first version is published: from here on programs of others cannot write at the place
 * that was reserved for them, so that no row of theirs is lost beside it. @throws what refuseStorage throws
 */
export async function claimForRows(
  catalog: Catalog,
  table: Table,
  mode: CreateMode | undefined,
): Promise<void> {
  await refuseStorage(catalog, table, mode);
  await closeToOthers(catalog, table);
}

const WHAT: Readonly<Record<FoundStorage['kind'], string>> = {
  lance: 'its folder holds a dataset of Lance, which another program wrote',
  fragments: 'its folder holds fragments without a manifest: its versions are missing',
  versions: 'its folder holds versions of another incarnation of the table',
  files: 'its folder holds files that this catalog did not write',
};

const DROP = 'drop the table, which keeps all of it in the trash, and create it anew';

const ADVICE: Readonly<Record<FoundStorage['kind'], string>> = {
  lance: `Open it with the program that wrote it, or ${DROP}.`,
  fragments: `Bring the missing files back from a copy, let repair move the fragments into quarantine, or ${DROP}.`,
  versions: `Bring ${TABLE_FILE} back from a copy, or ${DROP}.`,
  files: `Move them away, or ${DROP}.`,
};

const storageError = (
  code: ErrorCode,
  { id }: Table,
  { kind, path }: FoundStorage,
  what: string,
): DirspaceError =>
  errorNaming(
    code,
    (show) => `The table ${show(id)} ${what}: ${WHAT[kind]} (${path}). ${ADVICE[kind]}`,
    { details: { id, found: kind, path } },
  );
