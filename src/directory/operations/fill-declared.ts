/**
 * Publishes the first version of a declared table, when an insert (`fillDeclared`) or a merge
 * (`fillDeclaredUnlessFilled`) brings its first rows. If another writer publishes first, inserted
 * rows are added to that version or replace its rows, as the mode of the insert says; rows that do
 * not fit its columns throw TableSchemaValidation. A merge gets undefined, and its caller merges
 * into that version. A table that has files of other programs throws Unsupported or
 * InvalidTableState.
 */
import { type RecordBatchStream, recordBatch, recordBatchStream } from '../../arrow/index.ts';
import { DirspaceError, isDirspaceError } from '../../errors.ts';
import { lanceProperty } from '../../lance-mode.ts';
import type { CallOptions, InsertMode } from '../../protocol/index.ts';
import type { OverwriteOptions, RowsCommitted, SourceRows } from '../../table/index.ts';
import {
  type Catalog,
  claimForRows,
  type NamedTable,
  requireTable,
  showId,
  storedTable,
} from '../catalog/index.ts';
import { writeOptions } from './rows.ts';

/**
 * Publishes version 1 with the rows. Where another writer gave the table its first version meanwhile,
 * they are added to it, its columns matched by name, or replace its rows, as the mode says.
 * @throws TableSchemaValidation where its columns do not take them; nothing of them is left behind
 */
export const fillDeclared = (
  catalog: Catalog,
  request: NamedTable,
  mode: InsertMode,
  stream: RecordBatchStream,
  options: CallOptions,
): Promise<RowsCommitted> =>
  publishFirst(catalog, request, stream, options, () => ({ orAppend: mode === 'Append' }));

/**
 * The same with the rows of a merge, all of which are new. Undefined where another writer gave the table
 * its first version meanwhile, with which they are to be merged.
 */
export async function fillDeclaredUnlessFilled(
  catalog: Catalog,
  request: NamedTable,
  { schema, batches }: SourceRows,
  options: CallOptions,
): Promise<RowsCommitted | undefined> {
  const rows = batches.map((columns) => recordBatch(schema, [...columns], columns[0]?.length ?? 0));
  const stream = recordBatchStream(schema, rows);
  try {
    return await publishFirst(catalog, request, stream, options, (id) => ({
      onlyFirst: () =>
        new DirspaceError('ConcurrentModification', `The table ${showId(id)} has rows by now.`, {
          details: { id, filled: true },
        }),
    }));
  } catch (error) {
    if (isDirspaceError(error, 'ConcurrentModification') && error.details.filled) return undefined;
    throw error;
  }
}

async function publishFirst(
  catalog: Catalog,
  request: NamedTable,
  stream: RecordBatchStream,
  options: CallOptions,
  more: (id: readonly string[]) => OverwriteOptions,
): Promise<RowsCommitted> {
  const table = await requireTable(catalog, request);
  const stored = storedTable(catalog, table);
  await stored.requireVersionsFolder();
  return stored.main.overwrite(undefined, stream, {
    ...writeOptions(stored, options),
    beforeFirst: () => claimForRows(catalog, table, undefined),
    properties: () => table.record.properties,
    lance: lanceProperty(table.record.properties),
    ...more(table.id),
  });
}
