/**
 * A table that nobody has changed since it was read last, with one look at the disk for its record
 * and three for its newest version. The whole way to both takes ten times as long, and reads find
 * nothing new most of the time.
 *
 * A record is only ever replaced by another file, and so never has the same inode, size and time
 * of change again, unless that happens within one tick of the file system's clock.
 */
import { joinPath, TABLE_FILE, type TableRecord } from '../../format/index.ts';
import type { ObjectPath } from '../../protocol/index.ts';
import type { Awaitable, ObjectFacts } from '../../store/index.ts';
import {
  mainBranch,
  noteHead,
  resolveHead,
  type Snapshot,
  unchangedHead,
} from '../../table/index.ts';
import {
  type Catalog,
  type NamedTable,
  requireIncarnation,
  requireTable,
  type Table,
  tableId,
} from './catalog.ts';

interface Seen {
  readonly record: TableRecord;
  readonly facts: ObjectFacts;
}

const SEEN_BYTES = 512;

/** Longer than a tick of any file system's clock. A record as young as that is read again. */
const SETTLED_MILLIS = 2_000;

const keyOf = (folder: string): string => `unchanged ${folder}`;

/** The table a read is for. @throws TableNotFound */
export function tableToRead(catalog: Catalog, named: NamedTable): Awaitable<Table> {
  const id = tableId(named.id);
  const table = unchangedTable(catalog, id);
  if (table === undefined) return soughtTable(catalog, id, named);
  requireIncarnation(table, named.incarnation);
  return table;
}

/** What writes must make sure of on their way to a table is not looked at. */
function unchangedTable(catalog: Catalog, id: ObjectPath): Table | undefined {
  const folder = catalog.engine.names.tableFolder(id);
  const seen = catalog.engine.heads.get<Seen>(keyOf(folder));
  if (seen === undefined) return undefined;
  const found = recordFacts(catalog, folder);
  const isSame =
    found?.inode === seen.facts.inode &&
    found.modified === seen.facts.modified &&
    found.size === seen.facts.size;
  return isSame ? { id, folder, record: seen.record } : undefined;
}

/** The table found the whole way, and remembered. @throws TableNotFound */
async function soughtTable(catalog: Catalog, id: ObjectPath, named: NamedTable): Promise<Table> {
  // Before the record is read: one that takes its place in between is not taken for it.
  const facts = recordFacts(catalog, catalog.engine.names.tableFolder(id));
  const table = await requireTable(catalog, named);
  if (facts !== undefined && facts.modified + SETTLED_MILLIS < catalog.env.now()) {
    const seen: Seen = { record: table.record, facts };
    catalog.engine.heads.set(keyOf(table.folder), seen, SEEN_BYTES + 4 * facts.size);
  }
  return table;
}

/** The newest version of the main branch; undefined when there is none. */
export function newestVersion(catalog: Catalog, table: Table): Awaitable<Snapshot | undefined> {
  const unchanged = unchangedHead(catalog.engine, table.folder);
  // The table may have been made anew after its record was read, and read again by somebody else.
  return unchanged?.branch.incarnation === table.record.id
    ? unchanged
    : soughtVersion(catalog, table);
}

async function soughtVersion(
  { engine }: Catalog,
  { folder, record }: Table,
): Promise<Snapshot | undefined> {
  const branch = mainBranch(folder, record.id);
  const head = await resolveHead(engine, branch);
  if (head !== undefined) await noteHead(engine, branch, head);
  return head?.snapshot;
}

/** Undefined where the store does not answer at once. */
function recordFacts({ store }: Catalog, folder: string): ObjectFacts | undefined {
  const found = store.head(joinPath(folder, TABLE_FILE));
  if (!(found instanceof Promise)) return found;
  found.catch(() => {});
  return undefined;
}
