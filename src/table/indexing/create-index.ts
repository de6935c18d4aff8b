/**
 * `createIndex` builds an index of a column over the newest version, and then commits it. Appends
 * and other changes may go on meanwhile. It throws ConcurrentModification if one of them drops the
 * column or changes its type, TableColumnNotFound for an unknown column, and InvalidInput for one
 * that cannot have the index. If an index has the name, it is replaced; TableIndexAlreadyExists is
 * thrown if that is of another column, or `replace` is false. Rows that are added later are scanned
 * until update-indexes.ts covers them. `dropIndex` commits a version without an index, or throws
 * TableIndexNotFound. `commitIndexes` commits any other change of index entries, and
 * `removeSegments` deletes the files of segments that no version refers to.
 */
import { type DataType, describeType, typesEqual } from '../../arrow/index.ts';
import { DirspaceError, isDirspaceError } from '../../errors.ts';
import {
  type IndexEntry,
  type IndexSegment,
  indexFile,
  indexFileIds,
  type Manifest,
  MOST_INDEXES,
} from '../../format/index.ts';
import type { IndexType } from '../../indexes/index.ts';
import type { JsonObject } from '../../json.ts';
import { findField, leafOf, requireOpen } from '../fields/index.ts';
import { type IndexedField, indexedField, rowsIn } from '../indexes/index.ts';
import {
  announced,
  type Committed,
  commit,
  type Draft,
  type Engine,
  emptyTable,
  resolveHead,
  type Snapshot,
  sameContent,
  type TableBranch,
} from '../versions/index.ts';
import type { WriteOptions } from '../write/index.ts';
import { buildSegment, checkIndexable, segmentRowsOf } from './build-segment.ts';
import { fragmentGroups } from './segment-plan.ts';

export interface IndexRequest {
  /** By its name, or its path with dots. */
  readonly column: string;
  readonly type: IndexType;
  /** The parameters that its type takes; none if absent. */
  readonly parameters?: JsonObject | undefined;
  /** If absent `<column>_idx`, or with `_2` and so on where an index of another column or type has that. */
  readonly name?: string | undefined;
  /** Whether it may take the place of an index of the same name; true if absent. */
  readonly replace?: boolean | undefined;
  /** False leaves all rows to be covered by `updateIndexes`; true if absent. */
  readonly train?: boolean | undefined;
}

export interface IndexingOptions extends WriteOptions {
  readonly onProgress?: ((progress: IndexingProgress) => void) | undefined;
}

export interface IndexingProgress {
  readonly rowsDone: number;
  readonly rowsTotal: number;
}

export interface IndexCommitted extends Committed {
  readonly name: string;
}

/**
 * Replaces an index of the same name and column unless told otherwise. After a failure the written
 * files are removed, unless the outcome of the commit is unknown.
 * @throws TableColumnNotFound, InvalidInput for a column that cannot have such an index,
 * TableIndexAlreadyExists, ConcurrentModification where the column was changed meanwhile
 */
export const createIndex = (
  engine: Engine,
  branch: TableBranch,
  request: IndexRequest,
  options: IndexingOptions = {},
): Promise<IndexCommitted> =>
  announced(engine, branch.tableFolder, (writing) => created(writing, branch, request, options));

async function created(
  engine: Engine,
  branch: TableBranch,
  { column, type, name: wanted, replace = true, train = true, parameters = {} }: IndexRequest,
  options: IndexingOptions,
): Promise<IndexCommitted> {
  const base = (await resolveHead(engine, branch))?.snapshot;
  if (base === undefined) throw emptyTable();
  const found = findField(base.fields, column);
  requireOpen(found, 'an index');
  const leaf = leafOf(found);
  checkIndexable(type, found.name, leaf.field.type as DataType);
  const fields = [leaf.id];
  const name = checkName(wanted ?? freeName(base, `${found.name}_idx`, fields, type));
  const entry = { id: engine.env.uuid(), name, type, fields, parameters };
  refuseTaken(base, name, fields, replace);
  const place = indexedField(base, entry) as IndexedField;
  const segments: IndexSegment[] = [];
  const syncs: Promise<unknown>[] = [];
  try {
    const entries = await base.fragments();
    let rowsDone = 0;
    const rowsTotal = rowsIn(entries);
    const most = segmentRowsOf(engine, entry, place);
    const report = (rows: number): void =>
      options.onProgress?.({ rowsDone: rowsDone + rows, rowsTotal });
    for (const group of train ? fragmentGroups(most, entries) : []) {
      options.signal?.throwIfAborted();
      const built = await buildSegment(engine, base, entry, place, group, options.signal, report);
      segments.push(built.segment);
      syncs.push(built.durable);
      rowsDone += rowsIn(group);
      report(0);
    }
    const index: IndexEntry = { ...entry, created: engine.env.now(), segments };
    const committed = await commitIndexes(engine, branch, options, syncs, (newest) => {
      requireSame(newest, index, leaf.field.type as DataType, found.name);
      refuseTaken(newest, name, fields, replace);
      const kept = (newest.manifest.indexes ?? []).filter((one) => one.name !== name);
      if (kept.length >= MOST_INDEXES) throw tooMany();
      return [...kept, index];
    });
    return { ...committed, name };
  } catch (error) {
    if (!isDirspaceError(error, 'CommitStateUnknown'))
      await removeSegments(engine, branch.tableFolder, segments);
    throw error;
  }
}

/**
 * Commits other indexes over the rows that there are.
 * @param change is asked for each version that is tried; undefined where nothing has to change
 */
export function commitIndexes(
  engine: Engine,
  branch: TableBranch,
  options: WriteOptions,
  syncs: readonly Promise<unknown>[],
  change: (newest: Snapshot) => readonly IndexEntry[] | undefined,
): Promise<Committed> {
  const after = Promise.all(syncs);
  // Awaited by the commit; until then it must not count as unhandled.
  after.catch(() => {});
  return commit(engine, branch, {
    transaction: options.transaction,
    signal: options.signal,
    // A segment stays right as long as its fragments are there; it does not cover others.
    survivesOverwrite: true,
    after,
    build: async (newest) => {
      if (newest === undefined) throw emptyTable();
      const indexes = change(newest);
      return indexes === undefined ? undefined : draftOf(newest.manifest, indexes);
    },
  });
}

const draftOf = (manifest: Manifest, indexes: readonly IndexEntry[]): Draft => ({
  ...sameContent(manifest, { indexes: indexes.length }),
  indexes: indexes.length === 0 ? null : indexes,
});

/** @throws TableIndexNotFound */
export function dropIndex(
  engine: Engine,
  branch: TableBranch,
  name: string,
  options: WriteOptions = {},
): Promise<Committed> {
  return commitIndexes(engine, branch, options, [], ({ manifest }) => {
    const indexes = manifest.indexes ?? [];
    if (!indexes.some((index) => index.name === name)) throw missingIndex(name, indexes);
    return indexes.filter((index) => index.name !== name);
  });
}

const missingIndex = (name: string, known: readonly IndexEntry[]): DirspaceError => {
  const names = known.map((index) => index.name).join(', ');
  return new DirspaceError(
    'TableIndexNotFound',
    `The index ${JSON.stringify(name.slice(0, 80))} was not found; the table has ${known.length === 0 ? 'none' : names}.`,
    { details: { index: name.slice(0, 80) } },
  );
};

/** Files that no version refers to; what cannot be removed is left to cleanup. */
export async function removeSegments(
  engine: Engine,
  tableFolder: string,
  segments: readonly IndexSegment[],
): Promise<void> {
  for (const file of indexFileIds([{ segments } as unknown as IndexEntry])) {
    try {
      await engine.store.delete(indexFile(tableFolder, file));
    } catch {
      // Nothing refers to it.
    }
  }
}

const MOST_NAME = 200;

function checkName(name: string): string {
  if (name.length > 0 && name.length <= MOST_NAME) return name;
  throw new DirspaceError(
    'InvalidInput',
    `The name of an index has 1 to ${MOST_NAME} characters, and this one has ${name.length}.`,
    { details: { member: 'name' } },
  );
}

const isOver = ({ fields }: IndexEntry, others: readonly number[]): boolean =>
  fields.join() === others.join();

/** An index of the same column and type has its place taken; one of another type stays. */
function freeName(
  { manifest }: Snapshot,
  usual: string,
  fields: readonly number[],
  type: IndexType,
): string {
  const isFree = (name: string): boolean =>
    (manifest.indexes ?? []).every(
      (index) => index.name !== name || (index.type === type && isOver(index, fields)),
    );
  let name = usual;
  for (let next = 2; !isFree(name); next++) name = `${usual}_${next}`;
  return name;
}

/**
 * @throws TableIndexAlreadyExists for the name of an index of another column, and of any where it
 * may not be replaced
 */
function refuseTaken(
  snapshot: Snapshot,
  name: string,
  fields: readonly number[],
  replace: boolean,
): void {
  const taken = (snapshot.manifest.indexes ?? []).find((index) => index.name === name);
  if (taken === undefined || (replace && isOver(taken, fields))) return;
  const column = indexedField(snapshot, taken)?.path.join('.');
  const why = isOver(taken, fields)
    ? ', and replace is false'
    : ` with a different column, ${column ?? 'which is gone'}`;
  throw new DirspaceError(
    'TableIndexAlreadyExists',
    `The index ${JSON.stringify(name)} already exists${why}. Give another name, or drop it first.`,
    { details: { index: name } },
  );
}

const tooMany = (): DirspaceError =>
  new DirspaceError(
    'InvalidInput',
    `The table has ${MOST_INDEXES} indexes, which is the most. Drop one first.`,
  );

function requireSame(newest: Snapshot, index: IndexEntry, type: DataType, column: string): void {
  const now = indexedField(newest, index);
  if (now !== undefined && typesEqual(now.leaf.field.type as DataType, type)) return;
  const found =
    now === undefined ? 'is gone' : `is a ${describeType(now.leaf.field.type as DataType)} now`;
  throw new DirspaceError(
    'ConcurrentModification',
    `Version ${newest.version} changed the column ${JSON.stringify(column)} while it was being indexed: it ${found}. No index was created; create it again.`,
    { details: { column, version: newest.version } },
  );
}
