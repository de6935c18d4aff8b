/**
 * Carries out SyncLance (`syncLance`), which updates the files by which Lance opens tables by path.
 * It updates one table or all tables below a namespace. The result tells for each table whether
 * Lance opens it, or why not. For the whole catalog it also synchronizes the list of tables
 * (follow-lance.ts). An id of neither a table nor a namespace throws TableNotFound.
 */
import { isDirspaceError } from '../../errors.ts';
import { LANCE_CATALOG } from '../../format/index.ts';
import type {
  CallOptions,
  SyncLanceRequest,
  SyncLanceResponse,
  SyncLanceTable,
} from '../../protocol/index.ts';
import type { LanceSynced } from '../../table/index.ts';
import {
  allTables,
  beginWrite,
  type Catalog,
  findNamespace,
  findTable,
  namespaceId,
  requireTable,
  storedTable,
  type Table,
} from '../catalog/index.ts';
import { changing, syncLanceCatalog } from './follow-lance.ts';

/** @throws TableNotFound where the id names neither a table nor a namespace */
export async function syncLance(
  catalog: Catalog,
  request: SyncLanceRequest,
  options: CallOptions = {},
): Promise<SyncLanceResponse> {
  await beginWrite(catalog);
  const id = namespaceId(request.id);
  const tables: SyncLanceTable[] = [];
  const synced = async (table: Table): Promise<void> => {
    options.signal?.throwIfAborted();
    const found = await storedTable(catalog, table).syncLance(options.signal);
    tables.push(answerOf(table, found));
  };
  const all = async (): Promise<void> => {
    if ((await findNamespace(catalog, id)) === undefined)
      await synced(await requireTable(catalog, { id }));
    else {
      for await (const path of allTables(catalog, undefined, id)) {
        const table = await findTable(catalog, path);
        // Dropped since it was listed.
        if (table === undefined) continue;
        try {
          await synced(table);
        } catch (error) {
          if (!isDirspaceError(error) || isDirspaceError(error, 'Internal')) throw error;
          if (!isDirspaceError(error, 'TableNotFound')) tables.push(failed(table, error.message));
        }
      }
    }
  };
  if (id.length > 0) {
    await changing(catalog, undefined, all);
    return { tables };
  }
  await all();
  const { version, namespaces, tables: listed, written } = await syncLanceCatalog(catalog);
  return {
    tables,
    catalog: { location: LANCE_CATALOG, version, namespaces, tables: listed, written },
  };
}

function answerOf({ folder }: Table, found: LanceSynced): SyncLanceTable {
  const { versions, written, removed, problem } = found;
  const left = [...found.strangers, ...found.unnamed];
  return {
    location: folder,
    opens: problem === undefined,
    ...(problem === undefined ? {} : { reason: problem }),
    versions,
    written,
    removed,
    set_aside: found.setAside,
    left,
  };
}

const failed = ({ folder }: Table, reason: string): SyncLanceTable => ({
  location: folder,
  opens: false,
  reason,
  versions: 0,
  written: 0,
  removed: 0,
  set_aside: [],
  left: [],
});
