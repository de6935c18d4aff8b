/**
 * `stageClone` builds a new table from one version of another table: its rows, columns and indexes,
 * as its version 1. The new table lies in the staging folder until the caller renames it into
 * place. Data files are not copied but get a second name (hard link), unless the caller asks for
 * copies or links do not work. Meanwhile cleanup cannot remove the version. On any error the new
 * folder is removed. A version that is gone throws TableVersionNotFound, a source that leaves its
 * place TableNotFound, and a lost file Corrupt.
 */
import { DirspaceError } from '../../errors.ts';
import {
  columnFiles,
  deletionFile,
  deletionsFolder,
  encodeManifest,
  encodeTable,
  type FragmentEntry,
  fragmentFile,
  fragmentsFolder,
  indexesFolder,
  indexFile,
  indexFileIds,
  joinPath,
  type LanceEntry,
  lanceFence,
  lanceFenceFile,
  lanceVersionsFolder,
  TABLE_FILE,
  type TableRecord,
  versionFile,
} from '../../format/index.ts';
import { corrupt } from '../../json.ts';
import { followsByPath, modeOfNewTable } from '../../lance-mode.ts';
import { withHold } from '../history/index.ts';
import {
  EMPTY_FRAGMENTS,
  type Engine,
  editFragments,
  mainBranch,
  newTransaction,
  nextManifest,
  Snapshot,
  unannounced,
} from '../versions/index.ts';
import { stagingFolder, writeObject } from '../work/index.ts';
import type { StagedTable, WriteOptions } from '../write/index.ts';

export interface CloneOptions extends WriteOptions {
  /** Copies all files, so that no byte on the disk is shared. */
  readonly copies?: boolean | undefined;
}

/**
 * On any error nothing of it is left.
 * @throws TableVersionNotFound, TableNotFound where the source leaves its place meanwhile
 */
export async function stageClone(
  shared: Engine,
  record: TableRecord,
  source: Snapshot,
  options: CloneOptions,
): Promise<StagedTable> {
  const { store } = shared;
  const engine = unannounced(shared);
  const folder = stagingFolder(engine.env);
  const branch = mainBranch(folder, record.id);
  const keyed = options.transaction ?? newTransaction(engine, branch);
  try {
    await writeObject(store, joinPath(folder, TABLE_FILE), encodeTable(record));
    const folders = [fragmentsFolder, deletionsFolder, indexesFolder].map((of) => of(folder));
    for (const each of folders) await store.createFolder(each);
    const entries = await withHold(shared, source.branch, source.version, async () => {
      const found = (await source.fragments()).map(withoutOrigins);
      await shareFiles(shared, source, filesOf(source, found), folder, options);
      return found;
    });
    const mode = modeOfNewTable(record.properties, engine.lance);
    const { manifest: from } = source;
    const manifest = nextManifest(
      engine,
      branch,
      {
        kind: 'create',
        summary: { added_rows: source.rowCount, added_fragments: entries.length },
        schema: from.schema,
        fieldIds: from.fieldIds,
        nextFieldId: from.nextFieldId,
        nextFragmentId: from.nextFragmentId,
        metadata: from.metadata,
        lance: from.lance,
        lanceIds: from.lanceIds,
        indexes: from.indexes,
        fragments: await editFragments(engine, folder, EMPTY_FRAGMENTS, { added: entries }),
      },
      undefined,
      typeof keyed === 'function' ? keyed() : keyed,
    );
    const first = {
      ...manifest,
      ...(mode === 'write' && manifest.lance === true ? { lanceWrites: true } : {}),
    };
    const { bytes, checksum } = encodeManifest(first);
    await writeObject(store, versionFile(branch.folder, 1), bytes);
    const follows = followsByPath(mode);
    const fenced = first.lance === true && !follows;
    if (fenced) await writeObject(store, lanceFenceFile(folder), lanceFence());
    const fence = fenced ? [lanceVersionsFolder(folder)] : [];
    await store.syncFolders([folder, branch.folder, ...folders, ...fence]);
    if (follows) await engine.follow?.(new Snapshot(engine, branch, first, checksum, bytes.length));
    return { folder, record, transaction: first.transaction };
  } catch (error) {
    await store.deleteFolder(folder);
    throw error;
  }
}

/** A file of the source, and where it goes; both below the folders of their tables. */
type PathIn = (tableFolder: string) => string;

/** Every file that the version needs, each once. */
function filesOf({ manifest }: Snapshot, entries: readonly FragmentEntry[]): readonly PathIn[] {
  const fragments = entries.flatMap((entry) => columnFiles(entry).map(({ file }) => file));
  const deletions = entries.flatMap(({ deletion }) => deletion?.file ?? []);
  const all: [readonly string[], (table: string, file: string) => string][] = [
    [fragments, fragmentFile],
    [deletions, deletionFile],
    [indexFileIds(manifest.indexes), indexFile],
  ];
  return all.flatMap(([files, path]) =>
    [...new Set(files)].map((file) => (table: string) => path(table, file)),
  );
}

async function shareFiles(
  { store }: Engine,
  { branch }: Snapshot,
  files: readonly PathIn[],
  folder: string,
  { copies, signal }: CloneOptions,
): Promise<void> {
  for (const path of files) {
    signal?.throwIfAborted();
    const from = path(branch.tableFolder);
    if (await store.share(from, path(folder), copies)) continue;
    throw (await store.hasFolder(branch.folder)) ? corrupt(from, 'it is missing') : sourceLeft();
  }
}

const sourceLeft = (): DirspaceError =>
  new DirspaceError(
    'TableNotFound',
    'The table that was to be cloned was dropped or moved at that very moment. Nothing was made.',
  );

/**
 * Files of writers of Lance that the rows came from lie beside the source, and no reader needs
 * them.
 */
function withoutOrigins(entry: FragmentEntry): FragmentEntry {
  const { deletion, overlays } = entry;
  return {
    ...entry,
    ...(entry.lance === undefined ? {} : { lance: plain(entry.lance) }),
    ...(deletion === undefined ? {} : { deletion: { ...deletion, origin: undefined } }),
    ...(overlays === undefined
      ? {}
      : {
          overlays: overlays.map((overlay) => ({
            ...overlay,
            lance: overlay.lance && plain(overlay.lance),
          })),
        }),
  };
}

function plain(lance: LanceEntry): LanceEntry {
  if (!('origin' in lance)) return lance;
  const { origin: _, ...rest } = lance;
  return rest;
}
