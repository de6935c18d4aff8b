/**
 * Builds a new table in the staging folder: its record and version 1 (`stageTable`), or only the
 * record (`stageDeclared`). For a table that is written for Lance, `stageTable` also writes the
 * fence or the files by which Lance opens it. A null in a required field throws
 * TableSchemaValidation; after any error `stageTable` removes its folder. The caller renames the
 * folder into place (directory/operations/place-table.ts), so readers see the whole table or none.
 */
import type { RecordBatchStream } from '../../arrow/index.ts';
import { compressionProperty, DEFAULT_COMPRESSION } from '../../compression.ts';
import {
  encodeManifest,
  encodeTable,
  joinPath,
  lanceFence,
  lanceFenceFile,
  lanceVersionsFolder,
  type ManifestView,
  TABLE_FILE,
  type TableRecord,
  versionFile,
} from '../../format/index.ts';
import { followsByPath, lanceProperty, modeOfNewTable } from '../../lance-mode.ts';
import { assignFieldIds, checkDeclared, withoutValues } from '../fields/index.ts';
import { orderOfNewRows } from '../lance/index.ts';
import {
  type Engine,
  mainBranch,
  newTransaction,
  nextManifest,
  Snapshot,
  unannounced,
} from '../versions/index.ts';
import { stagingFolder, writeObject } from '../work/index.ts';
import { replaced, type WriteOptions } from './append.ts';
import { writeFragments } from './write.ts';

export interface StagedTable {
  readonly folder: string;
  readonly record: TableRecord;
  /** The transaction of its first version. */
  readonly transaction: string;
}

/** Stages a table without a version, and gives its staging folder. */
export async function stageDeclared(engine: Engine, record: TableRecord): Promise<string> {
  const { store } = engine;
  const folder = stagingFolder(engine.env);
  await writeObject(store, joinPath(folder, TABLE_FILE), encodeTable(record));
  await store.createFolder(mainBranch(folder, record.id).folder);
  await store.syncFolders([folder]);
  return folder;
}

export interface StageOptions extends WriteOptions {
  /** Set where the table is a materialized view. */
  readonly view?: ManifestView | undefined;
}

/**
 * A table whose version 1 has the rows; on any error nothing of it is left.
 * @throws TableSchemaValidation
 */
export async function stageTable(
  shared: Engine,
  record: TableRecord,
  stream: RecordBatchStream,
  options: StageOptions,
): Promise<StagedTable> {
  const { store } = shared;
  const engine = unannounced(shared);
  const folder = stagingFolder(engine.env);
  const branch = mainBranch(folder, record.id);
  const keyed = options.transaction ?? newTransaction(engine, branch);
  const { tree, nextFieldId } = assignFieldIds(stream.schema.fields, 0);
  // Makes the staging folder, which the other files go into.
  const recorded = writeObject(store, joinPath(folder, TABLE_FILE), encodeTable(record));
  const unmade = recorded.then(
    () => undefined,
    (reason: unknown) => ({ reason }),
  );
  try {
    const lance = lanceProperty(record.properties);
    const mode = modeOfNewTable(record.properties, engine.lance);
    await checkDeclared(stream.schema, tree);
    const written = await writeFragments(engine, folder, withoutValues(stream, tree), tree, {
      lance: lance ?? engine.lance !== 'off',
      structs: orderOfNewRows(mode === 'write'),
      compression: compressionProperty(record.properties) ?? DEFAULT_COMPRESSION,
      signal: options.signal,
    });
    const content = await replaced(engine, branch, undefined, {
      kind: 'create',
      schema: stream.schema,
      fields: tree,
      nextFieldId,
      fragments: written.fragments,
      rows: written.rows,
      lance,
    });
    const draft = { ...content, view: options.view };
    const transaction = typeof keyed === 'string' ? keyed : keyed();
    const manifest = {
      ...nextManifest(engine, branch, draft, undefined, transaction),
      ...(mode === 'write' ? { lanceWrites: true } : {}),
    };
    const { bytes, checksum } = encodeManifest(manifest);
    const published = writeObject(store, versionFile(branch.folder, 1), bytes);
    // Once versions are there that Lance finds, no fence is needed.
    const follows = followsByPath(mode);
    const fenced =
      manifest.lance === true && !follows
        ? writeObject(store, lanceFenceFile(folder), lanceFence())
        : undefined;
    // Names and contents reach the disk side by side; the rename comes after all of them.
    const folders = [folder, branch.folder, ...(fenced ? [lanceVersionsFolder(folder)] : [])];
    const named = store.syncFolders(folders);
    await Promise.all([written.durable, recorded, published, fenced, named]);
    if (follows)
      await engine.follow?.(new Snapshot(engine, branch, manifest, checksum, bytes.length));
    return { folder, record, transaction };
  } catch (error) {
    const first = await unmade;
    await store.deleteFolder(folder);
    // Without the folder nothing else could be written: only the first error tells something.
    throw first === undefined ? error : first.reason;
  }
}
