/**
 * Tells tables of one name apart. Each table of a catalog has an id, its incarnation, in the record
 * in its folder, and no two have the same. `incarnationAt` reads it, and returns undefined where no
 * table is; `isTableAt` compares it.
 *
 * This file also makes the errors for operations that find another incarnation, or none, because
 * the table was dropped, moved or made again meanwhile: TableNotFound if nothing was changed
 * (`tableLeft`, `tableMadeAnew`), CommitStateUnknown if that is not known (`leftAtThatMoment`).
 * `tableGone` turns the store's error for a missing folder into TableNotFound and returns any other
 * error as it is. `tableNamed` says how errors name a table, `emptyTable` is the error for a table
 * that is only declared (InvalidTableState, recognised by `isEmptyTable`), and
 * `requireVersionsFolder` makes the folder of a branch where it is lost, or throws TableNotFound.
 */
import { DirspaceError, isDirspaceError } from '../../errors.ts';
import { decodeTable, TABLE_FILE } from '../../format/index.ts';
import { errorNaming, formatId, type ObjectPath, type ShowId } from '../../protocol/index.ts';
import { isMissingFolder } from '../../store/index.ts';
import type { Engine } from './engine.ts';
import type { TableBranch } from './head.ts';

/** The incarnation of the table in that folder; undefined where no table is. */
export async function incarnationAt(engine: Engine, folder: string): Promise<string | undefined> {
  const file = `${folder}/${TABLE_FILE}`;
  const bytes = await engine.store.get(file);
  return bytes === undefined ? undefined : decodeTable(bytes, file).id;
}

export async function isTableAt(
  engine: Engine,
  folder: string,
  incarnation: string,
): Promise<boolean> {
  return (await incarnationAt(engine, folder)) === incarnation;
}

/** How errors name the table of a folder: by its id, or by the folder where it lies aside. */
export function tableNamed(engine: Engine, folder: string): NamedInErrors {
  const id = engine.names.tableIdAt(folder);
  return id === undefined
    ? { name: `at ${folder}`, details: {}, named: () => `at ${folder}` }
    : { name: formatId(id), details: { id }, named: (show) => show(id) };
}

interface NamedInErrors {
  /** The words that follow "the table" in messages. */
  readonly name: string;
  /** The same for messages that are built by `errorNaming`. */
  readonly named: (show: ShowId) => string;
  readonly details: { readonly id?: ObjectPath };
}

/**
 * Makes the folder of a branch where it is lost: a copy of the catalog that kept files only has
 * none for a table without versions. @throws TableNotFound
 */
export async function requireVersionsFolder(engine: Engine, branch: TableBranch): Promise<void> {
  const { tableFolder, incarnation, folder } = branch;
  if (await engine.store.enter(folder)) return;
  // A writer that outlived its table must not make this folder inside the next one.
  if (!(await isTableAt(engine, tableFolder, incarnation))) throw tableLeft();
  await engine.store.createFolder(folder, tableFolder);
}

/**
 * For operations on one incarnation of a table, where another has its name. Both are among the
 * details; `id` is what the table is called, where the caller knows.
 */
export function tableMadeAnew(wanted: string, found: string, id?: ObjectPath): DirspaceError {
  return errorNaming(
    'TableNotFound',
    (show) =>
      `The table${id === undefined ? '' : ` ${show(id)}`} was dropped and made anew, or another table took its name: incarnation ${wanted.slice(0, 64)} was asked for, and ${found} is there. Nothing was changed; open the table again to work on the one that is there.`,
    { details: { ...(id === undefined ? {} : { id }), incarnation: wanted, found } },
  );
}

/**
 * For operations that find nothing where their table was a moment ago; `found` is the incarnation
 * that is there by now.
 */
export const tableLeft = (wanted?: string, found?: string): DirspaceError =>
  wanted === undefined || found === undefined || wanted === found
    ? new DirspaceError(
        'TableNotFound',
        'The table was dropped, renamed or made anew by another writer at that very moment. Nothing was changed; look for it again.',
      )
    : tableMadeAnew(wanted, found);

/** For what was made in a table that cannot be found since: it may have gone with the table. */
export const leftAtThatMoment = (what: string): DirspaceError =>
  new DirspaceError(
    'CommitStateUnknown',
    `${what} was made at the moment that its table was dropped, renamed or made anew by another writer. Look for the table, and whether it is there, before repeating the change.`,
  );

/** Translates a folder that vanished during an operation: its table or branch was taken away. */
export const tableGone = (error: unknown): unknown =>
  isMissingFolder(error)
    ? new DirspaceError(
        'TableNotFound',
        'The table or branch was dropped, renamed or made anew while this change was being made. Nothing was changed.',
        { cause: error },
      )
    : error;

/** The error for what needs a schema, of a table that is only declared. */
export const emptyTable = (): DirspaceError =>
  new DirspaceError(
    'InvalidTableState',
    'The table is declared but has no data yet, and so no schema. Create it with data or a schema first.',
    { details: { declared: true } },
  );

/** Whether something failed because its table is only declared. */
export const isEmptyTable = (error: unknown): boolean =>
  isDirspaceError(error, 'InvalidTableState') && error.details.declared === true;
