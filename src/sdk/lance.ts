/**
 * Implements a connection's methods for Lance. `syncLance` asks the catalog to write the files by
 * which Lance opens its tables by path; a catalog without that operation throws Unsupported.
 * `importLance` writes the rows of a Lance dataset outside the catalog into a table. `exportLance`
 * writes one version of a table as a new dataset, in a folder that must not exist yet. Unknown
 * options throw InvalidInput. datasets/ reads and writes these datasets, and is loaded on first
 * use.
 */
import { type RecordBatch, recordBatchStream } from '../arrow/index.ts';
import type { Compression } from '../compression.ts';
import { DirspaceError } from '../errors.ts';
import type { LanceMode } from '../lance-mode.ts';
import type { CallOptions, SyncLanceResponse, SyncLanceTable } from '../protocol/index.ts';
import type { Connection } from './connection.ts';
import {
  CONNECTION_OPTIONS,
  checkChangeOptions,
  checkOptionNames,
  defined,
  type Home,
  offered,
} from './handles/index.ts';
import {
  type OnWriteProgress,
  type Table,
  type VersionSelection,
  withProgress,
} from './table/index.ts';

/** What Lance finds by the path of one table. */
export interface SyncedLanceTable extends Omit<SyncLanceTable, 'set_aside'> {
  /** Where manifests of other programs went, which Lance took for versions of the table. */
  readonly setAside: readonly string[];
}

/** What `syncLance` wrote. */
export interface SyncLanceResult extends Omit<SyncLanceResponse, 'tables'> {
  readonly tables: readonly SyncedLanceTable[];
}

const syncedTable = ({ set_aside: setAside, ...table }: SyncLanceTable): SyncedLanceTable => ({
  ...table,
  setAside,
});

/** What to take of a Lance dataset, and how to write it. */
export interface ImportLanceOptions extends CallOptions {
  /** A version of the dataset; its newest if neither this nor a tag is given. */
  readonly version?: number;
  /** A tag of the dataset, which names its branch. */
  readonly tag?: string;
  /** A branch of the dataset; its main one if absent. */
  readonly branch?: string;
  /** `create` (default) makes the table, `overwrite` replaces one that is there, `append` adds to it. */
  readonly mode?: 'create' | 'overwrite' | 'append';
  /** As for `createTable`; not for `append`. */
  readonly lance?: LanceMode;
  /** As for `createTable`; not for `append`. */
  readonly compression?: Compression;
  /** Called after each batch, and once when the version is committed. */
  readonly progress?: OnWriteProgress;
}

/** Which version of the table to write; the newest if nothing is said. */
export interface ExportLanceOptions extends CallOptions, VersionSelection {
  /** Called after each batch, and once when the folder has its name. */
  readonly progress?: OnWriteProgress;
}

/** What was written. */
export interface ExportLanceResult {
  /** Of the table. */
  readonly version: number;
  readonly rows: number;
  /** Data files of the dataset. */
  readonly files: number;
  readonly bytes: number;
}

const IMPORT_OPTIONS = [
  'version',
  'tag',
  'branch',
  'mode',
  'lance',
  'compression',
  'progress',
] as const;
const EXPORT_OPTIONS = ['version', 'tag', 'branch', 'asOf', 'progress', 'signal'] as const;

/** Pages of one column hold as many rows at most. */
const BATCH_ROWS = 1 << 16;

export async function syncLance(
  { catalog }: Home,
  id: string[],
  options: CallOptions | undefined,
): Promise<SyncLanceResult> {
  checkChangeOptions(options, CONNECTION_OPTIONS.syncLance);
  const answer = await offered(catalog, 'syncLance')({ id }, options);
  return { ...answer, tables: answer.tables.map(syncedTable) };
}

export async function importLance(
  connection: Connection,
  { env }: Home,
  folder: string,
  [name, path]: readonly [string, readonly string[] | undefined],
  options: ImportLanceOptions,
): Promise<Table> {
  checkChangeOptions(options, IMPORT_OPTIONS);
  const { version, tag, branch, mode = 'create', lance, compression, progress } = options;
  const { signal, idempotencyKey, onContext } = options;
  const call = defined({ signal, idempotencyKey, onContext });
  const { openLanceDataset } = await import('../datasets/index.ts');
  const found = await openLanceDataset(folder, { version, tag, branch }, { signal });
  const batches = found[Symbol.asyncIterator]() as AsyncGenerator<RecordBatch>;
  const rows = recordBatchStream(found.schema, batches);
  try {
    if (mode === 'append') {
      if (lance !== undefined) throw onlyForNewTables('lance');
      if (compression !== undefined) throw onlyForNewTables('compression');
      const table = await connection.openTable(name, path, defined({ signal }));
      await table.add(rows, defined({ progress, ...call }));
      return table;
    }
    return await withProgress(rows, progress, env, (counted) =>
      connection.createTable(name, counted, path, defined({ mode, lance, compression, ...call })),
    );
  } finally {
    // A catalog that refuses the table leaves the files open.
    await batches.return(undefined);
  }
}

const onlyForNewTables = (option: string): DirspaceError =>
  new DirspaceError(
    'InvalidInput',
    `${option} is given with mode "append": the table is written as it was created. Leave it out.`,
  );

export async function exportLance(
  connection: Connection,
  { env }: Home,
  folder: string,
  [name, path]: readonly [string, readonly string[] | undefined],
  options: ExportLanceOptions,
): Promise<ExportLanceResult> {
  checkOptionNames(options, EXPORT_OPTIONS);
  const { progress, signal, ...selection } = options;
  const { writeLanceDataset } = await import('../datasets/index.ts');
  const call = defined({ signal });
  const table = await connection.openTable(name, path, { ...selection, ...call });
  // Schema and rows must be of one version.
  const version = await table.version(call);
  await table.checkout(version, call);
  const schema = await table.schema(call);
  const batches = table.query().execute({ maxBatchLength: BATCH_ROWS, ...call });
  const rows = recordBatchStream(schema, batches);
  const copy = await withProgress(rows, progress, env, (counted) =>
    writeLanceDataset(folder, schema, counted, call),
  );
  return { version, ...copy };
}
