/**
 * The first rows of a table that is only declared, where an insert brings them: the protocol has the
 * insert create the table with its data, in either mode.
 */
import type { RecordBatchStream } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import type { CallOptions } from '../../protocol/index.ts';
import { mainBranch, overwrite, type RowsCommitted } from '../../table/index.ts';
import {
  type Catalog,
  type NamedTable,
  refuseStorage,
  requireTable,
  showId,
} from '../catalog/index.ts';
import { requireVersionsFolder } from './create-table.ts';
import { writeOptions } from './rows.ts';

/**
 * Publishes version 1 with the rows.
 * @throws ConcurrentModification where another writer gave the table its first version meanwhile;
 * nothing of the rows is left behind then
 */
export async function fillDeclared(
  catalog: Catalog,
  request: NamedTable,
  stream: RecordBatchStream,
  options: CallOptions,
): Promise<RowsCommitted> {
  const table = await requireTable(catalog, request);
  const branch = mainBranch(table.folder, table.record.id);
  await requireVersionsFolder(catalog, table);
  return overwrite(catalog.engine, branch, undefined, stream, {
    ...writeOptions(branch, options),
    beforeFirst: () => refuseStorage(catalog, table, undefined),
    onlyFirst: () =>
      new DirspaceError(
        'ConcurrentModification',
        `The table ${showId(table.id)} was only declared, and another writer gave it its first rows at the same moment. Insert the rows again.`,
        { details: { id: table.id } },
      ),
    properties: () => table.record.properties,
  });
}
