/** Whether the table somebody works on is still the one in its place. */
import { DirspaceError } from '../errors.ts';
import { TABLE_FILE } from '../format/paths.ts';
import { decodeTable } from '../format/records.ts';
import { isMissingFolder } from '../store/store-error.ts';
import type { Engine } from './engine.ts';

export async function isTableAt(
  engine: Engine,
  folder: string,
  incarnation: string,
): Promise<boolean> {
  const file = `${folder}/${TABLE_FILE}`;
  const bytes = await engine.store.get(file);
  return bytes !== undefined && decodeTable(bytes, file).id === incarnation;
}

/** For operations that find nothing where their table was a moment ago. */
export const tableLeft = (): DirspaceError =>
  new DirspaceError(
    'TableNotFound',
    'The table was dropped, renamed or recreated by somebody else at that very moment. Nothing was changed; look for it again.',
  );

/** A folder that vanished under an operation was a table or branch that somebody took away. */
export const tableGone = (error: unknown): unknown =>
  isMissingFolder(error)
    ? new DirspaceError(
        'TableNotFound',
        'The table or branch was dropped, renamed or recreated while this change was being made. Nothing was changed.',
        { cause: error },
      )
    : error;
