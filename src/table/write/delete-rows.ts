/**
 * Deletes rows by id (`deleteRowsById`) or predicate (`deleteWhere`) in one version, or in none if
 * no row matches. The files of fragments stay unchanged; deletion files list the deleted rows. A
 * fragment without live rows is dropped from the version. Ids that name no live row are ignored,
 * but a deletion by id throws ConcurrentModification if a compaction gave the rows other ids
 * meanwhile. `matchingOffsets` finds the rows that a scan plan selects, by fragment.
 * `deleteOffsets` writes the deletion files; updates and merges use it too, with `RowOffsets`, for
 * the rows that they replace.
 */

import { joinedIntegers } from '../../bytes.ts';
import { type FragmentEntry, unionDeletions } from '../../format/index.ts';
import { deletedRows } from '../fragments/index.ts';
import { matchingRows, pipelined, planScan, type ScanPlan, selectedCount } from '../read/index.ts';
import {
  type Committed,
  type Draft,
  type Engine,
  editFragments,
  emptyTable,
  fragmentListOf,
  type Snapshot,
  type TableBranch,
} from '../versions/index.ts';
import { andThen, inTurns, Turn } from '../work/index.ts';
import type { WriteOptions } from './append.ts';
import { type AttemptOptions, commitWithFiles } from './attempt.ts';
import { DeletionFiles } from './deletion-files.ts';

export interface RowsDeleted extends Committed {
  readonly deletedRows: number;
}

/** Ids that name no live row are ignored; if none does, no version is made. */
export function deleteRowsById(
  engine: Engine,
  branch: TableBranch,
  rowIds: readonly bigint[],
  options: WriteOptions = {},
): Promise<RowsDeleted> {
  const { signal } = options;
  let wanted: Promise<Map<number, readonly number[]>> | undefined;
  return deleteFound(engine, branch, { ...options, namesRowIds: true }, () => {
    wanted ??= inTurns(new Turn(engine.env), groupedByFragment(rowIds), signal);
    return wanted;
  });
}

/** Deletes the rows for which the predicate is true, again on newer versions after a conflict. */
export function deleteWhere(
  engine: Engine,
  branch: TableBranch,
  filter: string,
  options: WriteOptions = {},
): Promise<RowsDeleted> {
  const find = async (base: Snapshot) => {
    const { signal } = options;
    return matchingOffsets(await planScan(engine, base, { columns: [], filter, signal }));
  };
  return deleteFound(engine, branch, options, find, filter);
}

/** `find` gives the offsets of the rows that go, by fragment id. */
async function deleteFound(
  engine: Engine,
  branch: TableBranch,
  options: AttemptOptions,
  find: (base: Snapshot) => Promise<ReadonlyMap<number, readonly number[] | Uint32Array>>,
  predicate?: string,
): Promise<RowsDeleted> {
  let deletedRows = 0;
  const committed = await commitWithFiles(engine, branch, options, async (writing, base, files) => {
    if (base === undefined) throw emptyTable();
    const edits = await deleteOffsets(writing, base, await find(base));
    files.addDeletions(edits);
    deletedRows = edits.deletedRows;
    return deletedRows === 0 ? undefined : { ...(await draftOf(writing, base, edits)), predicate };
  });
  return { ...committed, deletedRows };
}

/** Collects rows of batches as offsets in their fragments. */
export class RowOffsets {
  readonly #found = new Map<number, Uint32Array[]>();

  /**
   * `rows` are numbered within a batch that begins at `first`; undefined stands for `count` of
   * them.
   */
  add(fragment: number, first: number, rows: Uint32Array | undefined, count: number): void {
    const offsets = new Uint32Array(count);
    for (let at = 0; at < count; at++) offsets[at] = first + (rows?.[at] ?? at);
    const group = this.#found.get(fragment);
    if (group === undefined) this.#found.set(fragment, [offsets]);
    else group.push(offsets);
  }

  /** By fragment id, in the order in which they were added. */
  all(): Map<number, Uint32Array> {
    return new Map([...this.#found].map(([fragment, parts]) => [fragment, joinedIntegers(parts)]));
  }
}

/** Offsets in their fragments of all rows a plan selects, by fragment id. */
export async function matchingOffsets(plan: ScanPlan): Promise<Map<number, Uint32Array>> {
  const found = new RowOffsets();
  const matches = pipelined(plan, (place) =>
    andThen(matchingRows(plan, place), (selection) => {
      const count = selectedCount(selection, place.rows);
      return count === 0 ? undefined : { place, selection, count };
    }),
  );
  for await (const { place, selection, count } of matches)
    found.add(place.entry.id, place.first, selection, count);
  return found.all();
}

/** Ids that are looked at between two steps. */
const IDS_AT_ONCE = 1 << 12;

/** Offsets per fragment id. */
function* groupedByFragment(rowIds: readonly bigint[]): Generator<void, Map<number, number[]>> {
  const groups = new Map<number, number[]>();
  const ids = new BigUint64Array(IDS_AT_ONCE);
  const words = new Uint32Array(ids.buffer);
  for (let from = 0; from < rowIds.length; from += IDS_AT_ONCE) {
    if (from > 0) yield;
    const count = Math.min(IDS_AT_ONCE, rowIds.length - from);
    for (let at = 0; at < count; at++) ids[at] = rowIds[from + at] as bigint;
    for (let at = 0; at < count; at++) {
      const offset = words[2 * at] as number;
      const fragment = words[2 * at + 1] as number;
      const group = groups.get(fragment);
      if (group === undefined) groups.set(fragment, [offset]);
      else group.push(offset);
    }
  }
  return groups;
}

export interface DeletionEdits {
  readonly replaced: ReadonlyMap<number, FragmentEntry>;
  readonly removed: ReadonlySet<number>;
  readonly deletedRows: number;
  /** Resolves once all deletion files are on disk for good. */
  readonly durable: Promise<unknown>;
}

/** Writes the deletion files that take these offsets out of the snapshot's fragments. */
export async function deleteOffsets(
  engine: Engine,
  base: Snapshot,
  offsets: ReadonlyMap<number, readonly number[] | Uint32Array>,
): Promise<DeletionEdits> {
  const replaced = new Map<number, FragmentEntry>();
  const removed = new Set<number>();
  const files = new DeletionFiles(engine, base);
  let count = 0;
  for (const entry of await base.fragments()) {
    const wanted = offsets.get(entry.id);
    if (wanted === undefined) continue;
    const before = (await deletedRows(engine, base, entry))?.offsets ?? new Uint32Array(0);
    const after = union(before, wanted, entry.rows);
    if (after.length === before.length) continue;
    count += after.length - before.length;
    if (after.length === entry.rows) removed.add(entry.id);
    else {
      replaced.set(entry.id, entry);
      await files.add(entry.id, after, entry.rows);
    }
  }
  for (const [id, deletion] of await files.finish())
    replaced.set(id, { ...(replaced.get(id) as FragmentEntry), deletion });
  return { replaced, removed, deletedRows: count, durable: files.durable() };
}

/** Sorted and unique; offsets past the fragment's rows are dropped. */
function union(
  before: Uint32Array,
  added: readonly number[] | Uint32Array,
  rows: number,
): Uint32Array {
  const sorted = new Uint32Array(added);
  let valid = isAscending(added) ? sorted.length : sortedOnce(sorted);
  while (valid > 0 && (sorted[valid - 1] as number) >= rows) valid -= 1;
  return unionDeletions(before, sorted.subarray(0, valid));
}

/** Sorts them, and puts each once to the front; returns how many there are. */
function sortedOnce(values: Uint32Array): number {
  values.sort();
  let count = 0;
  for (const value of values) {
    if (count === 0 || values[count - 1] !== value) values[count++] = value;
  }
  return count;
}

/** Without repeats. */
function isAscending(values: readonly number[] | Uint32Array): boolean {
  for (let at = 1; at < values.length; at++) {
    if ((values[at - 1] as number) >= (values[at] as number)) return false;
  }
  return true;
}

async function draftOf(engine: Engine, base: Snapshot, edits: DeletionEdits): Promise<Draft> {
  const { manifest } = base;
  return {
    kind: 'delete',
    summary: {
      deleted_rows: edits.deletedRows,
      removed_fragments: edits.removed.size,
      changed_fragments: edits.replaced.size,
    },
    schema: manifest.schema,
    fieldIds: manifest.fieldIds,
    nextFieldId: manifest.nextFieldId,
    nextFragmentId: manifest.nextFragmentId,
    metadata: manifest.metadata,
    fragments: await editFragments(
      engine,
      base.branch.tableFolder,
      fragmentListOf(manifest),
      edits,
    ),
    after: edits.durable,
  };
}
