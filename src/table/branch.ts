/**
 * `Branch` has the operations on one branch of a table. It lists and opens versions, commits
 * changes of rows, columns and indexes, compacts, refreshes a materialized view, makes branches,
 * and deletes versions. It also publishes versions that others have staged, and finds or makes the
 * manifests by which Lance reads versions. `branchHeld` keeps a version from being deleted while a
 * branch is made from it.
 *
 * A `Branch` holds only the names of the branch and its record. All else it reads from the disk, or
 * from caches that are checked against the disk. `openBranch` does not check whether the branch
 * exists.
 */
import type { RecordBatchStream } from '../arrow/index.ts';
import type { Compression } from '../compression.ts';
import {
  type BranchRecord,
  lanceManifestFile,
  lanceVersionFile,
  type VersionDigest,
} from '../format/index.ts';
import type { LanceMode } from '../lance-mode.ts';
import { onDemand } from '../on-demand.ts';
import type { RequestMemory } from '../request-memory.ts';
import {
  deleteVersions,
  digestsOf,
  type FoundStorage,
  findKeyed,
  findStorage,
  findTransaction,
  planDeletion,
  versionNumbers,
  withHold,
} from './history/index.ts';
import type { IndexCommitted, IndexingOptions, IndexRequest } from './indexing/index.ts';
import {
  clientPlace,
  datasetOf,
  followTable,
  keptManifest,
  keptManifestsFolder,
  type LanceManifestFile,
  placedManifest,
} from './lance/index.ts';
import type { LanceVersionRequest } from './lance-write/index.ts';
import type { MergeClauses, RowsMerged, SourceRows } from './merge/index.ts';
import type { RefreshOptions, ViewRefreshed } from './refresh-view.ts';
import {
  publishStaged,
  readOfferedVersion,
  type StagedRequest,
  type StagedVersion,
} from './staged/index.ts';
import {
  type Committed,
  compressionOf,
  createBranch,
  type Engine,
  type Head,
  highestListed,
  hintNamed,
  lanceModeOf,
  listedVersions,
  madeVisible,
  resolveHead,
  type Snapshot,
  snapshotAt,
  type TableBranch,
  visibleSnapshot,
  visibleVersions,
} from './versions/index.ts';
import type {
  Backfilled,
  BackfillRequest,
  ColumnChange,
  CompactionReport,
  CompactOptions,
  MetadataChange,
  MetadataChanged,
  NewColumn,
  OverwriteOptions,
  RowsCommitted,
  RowsDeleted,
  RowsUpdated,
  UpdateRequest,
  WriteOptions,
} from './write/index.ts';

/** What changes rows and versions: programs that only read never load it. */
const writing = onDemand(() => import('./write/index.ts'));
const merging = onDemand(() => import('./merge/index.ts'));
const indexing = onDemand(() => import('./indexing/index.ts'));
const lanceWriting = onDemand(() => import('./lance-write/index.ts'));
const refreshing = onDemand(() => import('./refresh-view.ts'));

/** The names of a branch; one that was looked up has its record too. */
export interface NamedBranch extends TableBranch {
  readonly record?: BranchRecord | undefined;
}

/** The branch of those names, whether it is there or not. */
export const openBranch = (engine: Engine, names: NamedBranch): Branch => new Branch(engine, names);

export class Branch implements TableBranch {
  readonly tableFolder: string;
  readonly incarnation: string;
  readonly branch: string;
  readonly folder: string;
  /** Describes what the branch was made from; undefined for main. */
  readonly record: BranchRecord | undefined;
  readonly #engine: Engine;

  constructor(engine: Engine, names: NamedBranch) {
    this.#engine = engine;
    this.tableFolder = names.tableFolder;
    this.incarnation = names.incarnation;
    this.branch = names.branch;
    this.folder = names.folder;
    this.record = names.record;
  }

  /** The newest version and the highest number in use; undefined where readers see no version. */
  head(): Promise<Head | undefined> {
    return resolveHead(this.#engine, this);
  }

  /** The newest version. @throws TableNotFound, Corrupt */
  async newest(): Promise<Snapshot | undefined> {
    return (await this.head())?.snapshot;
  }

  /** @throws TableVersionNotFound where it was deleted, or is not to be seen; Corrupt */
  snapshot(version: number): Promise<Snapshot> {
    return snapshotAt(this.#engine, this, version);
  }

  /** The version of that number; undefined where it was deleted, or is not to be seen. */
  snapshotIfThere(version: number): Promise<Snapshot | undefined> {
    return visibleSnapshot(this.#engine, this, version);
  }

  /** The numbers of all versions that were not deleted, ascending. */
  versions(): Promise<number[]> {
    return visibleVersions(this.#engine, this);
  }

  /** The same as `versions`, but from memory if the folder of the versions did not change. */
  numbers(): Promise<number[]> {
    return versionNumbers(this.#engine, this);
  }

  /**
   * The digests that lists show of those versions that readers may see, in the order of the
   * numbers.
   */
  digests(numbers: readonly number[]): Promise<VersionDigest[]> {
    return digestsOf(this.#engine, this, numbers);
  }

  /** The version that a transaction committed; undefined if there is none, or it was deleted. */
  findTransaction(transaction: string): Promise<Snapshot | undefined> {
    return findTransaction(this.#engine, this, transaction);
  }

  /** The same for an id that `keyedTransaction` made, whether or not a stamp follows it. */
  findKeyed(keyed: string): Promise<Snapshot | undefined> {
    return findKeyed(this.#engine, this, keyed);
  }

  /** The numbers that have a file, ascending; those of tombstones too. */
  listedVersions(): Promise<number[]> {
    return listedVersions(this.#engine, this);
  }

  /** The highest number that has a file. */
  highestListed(): Promise<number | undefined> {
    return highestListed(this.#engine, this);
  }

  /**
   * The manifest that Lance reads a version by, or is refused by; made where it is not there yet.
   */
  async lanceManifest(snapshot: Snapshot): Promise<LanceManifestFile> {
    // Writers look for versions in the folder where this one lies.
    return (await this.#isForWriters(snapshot))
      ? placedManifest(this.#engine, snapshot)
      : keptManifest(this.#engine, snapshot);
  }

  /** The same manifest if it was made before, else undefined; for a catalog that is only read. */
  async madeLanceManifest(snapshot: Snapshot): Promise<LanceManifestFile | undefined> {
    const path = (await this.#isForWriters(snapshot))
      ? this.placeForLance(snapshot)
      : lanceManifestFile(keptManifestsFolder(this.#engine, this), snapshot.version);
    const made = await this.#engine.store.head(path);
    return made && { path, bytes: made.size };
  }

  /** The path where Lance looks for the manifest of a version, whether it is there or not. */
  placeForLance({ version }: Snapshot): string {
    return lanceVersionFile(datasetOf(this), version);
  }

  /** Whether Lance opens the table, as it was asked for, and who may write it. */
  lanceMode({ manifest }: Snapshot): Promise<LanceMode> {
    return lanceModeOf(this.#engine, this, manifest);
  }

  /**
   * Whether clients of Lance build on the version: it says so itself, or the mode does. This process
   * may have read the mode before another one switched it and made the version.
   */
  async #isForWriters(snapshot: Snapshot): Promise<boolean> {
    return snapshot.manifest.lanceWrites === true || (await this.lanceMode(snapshot)) === 'write';
  }

  /** How new fragments of the table are compressed. */
  compression(newest: Snapshot | undefined): Promise<Compression> {
    return compressionOf(this.#engine, this, newest?.manifest);
  }

  setCompression(compression: Compression, options?: WriteOptions): Promise<Committed> {
    return writing((change) => change.setCompression(this.#engine, this, compression, options));
  }

  /**
   * The path by which clients of Lance open the table, relative to the root: one of this table
   * alone where they may write it.
   */
  async placeForClients(newest: Snapshot): Promise<string> {
    const place = (await this.#isForWriters(newest))
      ? await clientPlace(this.#engine, this)
      : undefined;
    return place ?? this.tableFolder;
  }

  /**
   * The path where a writer of Lance has staged the manifest of a version; undefined if the path of
   * the request is none of Lance's.
   */
  stagedByLance(request: LanceVersionRequest): Promise<string | undefined> {
    return lanceWriting(async (change) => change.stagedLancePath(this.#engine, this, request));
  }

  /**
   * Publishes the version that a writer of Lance has staged.
   * @param path as stagedByLance gives it
   * @throws ConcurrentModification where its number is not the next one, InvalidInput, Unsupported
   */
  createFromLance(
    request: LanceVersionRequest,
    path: string,
    signal?: AbortSignal,
  ): Promise<Snapshot> {
    return lanceWriting((change) =>
      change.createLanceVersion(this.#engine, this, request, path, signal),
    );
  }

  /**
   * Finds what is in the table's folder though readers see no version; undefined if it is only
   * declared.
   */
  storage(): Promise<FoundStorage | undefined> {
    return findStorage(this.#engine, this);
  }

  /** Adds the rows; columns are matched by name. `base` is the version that the caller has seen. */
  append(base: Snapshot, rows: RecordBatchStream, options?: WriteOptions): Promise<RowsCommitted> {
    return writing((change) => change.append(this.#engine, base, rows, options));
  }

  /** Replaces schema and rows; also gives a table without versions its first one. */
  overwrite(
    base: Snapshot | undefined,
    rows: RecordBatchStream,
    options?: OverwriteOptions,
  ): Promise<RowsCommitted> {
    return writing((change) => change.overwrite(this.#engine, this, base, rows, options));
  }

  deleteRows(rowIds: readonly bigint[], options?: WriteOptions): Promise<RowsDeleted> {
    return writing((change) => change.deleteRowsById(this.#engine, this, rowIds, options));
  }

  deleteWhere(predicate: string, options?: WriteOptions): Promise<RowsDeleted> {
    return writing((change) => change.deleteWhere(this.#engine, this, predicate, options));
  }

  update(request: UpdateRequest, options?: WriteOptions): Promise<RowsUpdated> {
    return writing((change) => change.updateRows(this.#engine, this, request, options));
  }

  merge(
    clauses: MergeClauses,
    source: SourceRows,
    memory: RequestMemory,
    options?: WriteOptions,
  ): Promise<RowsMerged> {
    return merging((change) =>
      change.mergeRows(this.#engine, this, clauses, source, memory, options),
    );
  }

  addColumns(columns: readonly NewColumn[], options?: WriteOptions): Promise<Committed> {
    return writing((change) => change.addColumns(this.#engine, this, columns, options));
  }

  /** Brings a materialized view up to a version of its source. */
  refresh(source: Snapshot, options?: RefreshOptions): Promise<ViewRefreshed> {
    return refreshing((change) => change.refreshView(this.#engine, this, source, options));
  }

  /** Fills a computed column. */
  backfill(request: BackfillRequest, options?: WriteOptions): Promise<Backfilled> {
    return writing((change) => change.backfillColumn(this.#engine, this, request, options));
  }

  alterColumns(changes: readonly ColumnChange[], options?: WriteOptions): Promise<Committed> {
    return writing((change) => change.alterColumns(this.#engine, this, changes, options));
  }

  dropColumns(paths: readonly string[], options?: WriteOptions): Promise<Committed> {
    return writing((change) => change.dropColumns(this.#engine, this, paths, options));
  }

  updateFieldMetadata(
    changes: readonly MetadataChange[],
    options?: WriteOptions,
  ): Promise<MetadataChanged> {
    return writing((change) => change.updateFieldMetadata(this.#engine, this, changes, options));
  }

  replaceSchemaMetadata(
    metadata: Readonly<Record<string, string>>,
    options?: WriteOptions,
  ): Promise<Committed> {
    return writing((change) => change.replaceSchemaMetadata(this.#engine, this, metadata, options));
  }

  /** Builds an index of a column; appends and other changes go on meanwhile. */
  createIndex(request: IndexRequest, options?: IndexingOptions): Promise<IndexCommitted> {
    return indexing((change) => change.createIndex(this.#engine, this, request, options));
  }

  /** Covers what indexes do not cover yet; an index that is up to date stays as it is. */
  updateIndexes(options?: IndexingOptions): Promise<Committed> {
    return indexing((change) => change.updateIndexes(this.#engine, this, options));
  }

  /** @throws TableIndexNotFound */
  dropIndex(name: string, options?: WriteOptions): Promise<Committed> {
    return indexing((change) => change.dropIndex(this.#engine, this, name, options));
  }

  /** Makes the content of an older version the newest; that version is held meanwhile. */
  restore(source: Snapshot, options?: WriteOptions): Promise<Committed> {
    return withHold(this.#engine, this, source.version, () =>
      writing((change) => change.restore(this.#engine, this, source, options)),
    );
  }

  /** Joins small fragments, alone among those that compact this branch. */
  compact(options: CompactOptions): Promise<CompactionReport> {
    // Two that compact the same branch at once would do the work twice.
    return this.#engine.withLock(`${this.folder} compact`, () =>
      writing((change) => change.compact(this.#engine, this, options)),
    );
  }

  /** Makes a branch from a version of this one, which is held meanwhile. */
  async branchOff(name: string, from: Snapshot): Promise<void> {
    await branchHeld(this.#engine, from, () => createBranch(this.#engine, name, from));
    await followTable(this.#engine, this.tableFolder, this.incarnation);
  }

  /**
   * The versions that ranges name.
   * @throws InvalidInput, InvalidTableState for those that must stay
   */
  planDeletion(
    ranges: readonly { readonly start_version: number; readonly end_version: number }[],
  ): Promise<number[]> {
    return planDeletion(this.#engine, this, ranges);
  }

  /** Deletes versions for good; how many of them. */
  async deleteVersions(versions: readonly number[]): Promise<number> {
    const deleted = await deleteVersions(this.#engine, this, versions);
    if (deleted > 0)
      await followTable(this.#engine, this.tableFolder, this.incarnation, { versions: true });
    return deleted;
  }

  /**
   * Reads and checks a manifest that a caller has staged.
   * @throws InvalidInput, ConcurrentModification
   */
  readOffered(request: StagedRequest): Promise<StagedVersion> {
    return readOfferedVersion(this.#engine, this, request);
  }

  /**
   * Publishes what readOffered has checked: at once, or invisible until the multi-table commit that
   * it belongs to is decided. @throws ConcurrentModification
   */
  publish(staged: StagedVersion, commitId?: string): Promise<Snapshot> {
    return publishStaged(this.#engine, this, staged, commitId);
  }

  /** Caches a version as the newest after the decision of its multi-table commit made it visible. */
  madeVisible(snapshot: Snapshot): Promise<void> {
    return madeVisible(this.#engine, snapshot);
  }
}

/** Makes a branch from a version, which is held meanwhile. */
export async function branchHeld(
  engine: Engine,
  from: Snapshot,
  make: () => Promise<void>,
): Promise<void> {
  const { branch, version } = from;
  await hintNamed(engine, branch, version);
  await withHold(engine, branch, version, make);
}
