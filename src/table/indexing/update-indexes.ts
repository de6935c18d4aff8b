/**
 * `updateIndexes` builds segments over the fragments that the indexes of a branch do not cover, and
 * commits all changed indexes in one version, or nothing if all are up to date. If an index would
 * have more than four segments, or if more than a tenth of the rows is not covered, it merges small
 * segments into the new ones. It also replaces damaged segments. It passes over an index whose
 * column is gone or can no longer have it, and one of a type that this release does not build. An
 * index that another writer dropped, rebuilt or updated meanwhile is left as it is.
 */
import type { DataType } from '../../arrow/index.ts';
import { isDirspaceError } from '../../errors.ts';
import type { FragmentEntry, IndexEntry, IndexSegment } from '../../format/index.ts';
import {
  type Coverage,
  coverageOf,
  type IndexedField,
  indexedField,
  rowsIn,
} from '../indexes/index.ts';
import {
  announced,
  type Committed,
  type Engine,
  emptyTable,
  resolveHead,
  type Snapshot,
  type TableBranch,
} from '../versions/index.ts';
import { buildSegment, isBuilt, isIndexable, segmentRowsOf } from './build-segment.ts';
import { commitIndexes, type IndexingOptions, removeSegments } from './create-index.ts';
import { fragmentGroups } from './segment-plan.ts';

/** More segments than this are joined: every lookup searches each of them. */
const MOST_SEGMENTS = 4;
/** Small segments are joined too if a larger share of the rows than this is not covered. */
const MOST_TAIL = 0.1;

/** How an index changes: segments that stay, and fragments that get new ones. */
interface Plan {
  readonly index: IndexEntry;
  readonly place: IndexedField;
  readonly kept: readonly IndexSegment[];
  readonly entries: readonly FragmentEntry[];
}

/** Commits nothing where every index is up to date. */
export async function updateIndexes(
  engine: Engine,
  branch: TableBranch,
  options: IndexingOptions = {},
): Promise<Committed> {
  const base = (await resolveHead(engine, branch))?.snapshot;
  if (base === undefined) throw emptyTable();
  const plans: Plan[] = [];
  for (const index of base.manifest.indexes ?? []) {
    const plan = await planOf(engine, base, index);
    if (plan !== undefined) plans.push(plan);
  }
  if (plans.length === 0) return { snapshot: base, transaction: undefined };
  return announced(engine, branch.tableFolder, (writing) => updated(writing, base, plans, options));
}

async function planOf(
  engine: Engine,
  base: Snapshot,
  index: IndexEntry,
): Promise<Plan | undefined> {
  const place = indexedField(base, index);
  // A column of another type than it was cannot always have the index; it is scanned then.
  if (place === undefined || !isBuilt(index.type)) return undefined;
  if (!isIndexable(index.type, place.leaf.field.type as DataType)) return undefined;
  const coverage = await coverageOf(engine, base, index);
  const entries = await base.fragments();
  const tail = entries.filter(({ id }) => !coverage.fragments.has(id));
  const living = coverage.segments.map(({ segment }) => segment);
  if (
    tail.length === 0 &&
    living.length === index.segments.length &&
    living.length <= MOST_SEGMENTS
  )
    return undefined;
  const anew = new Set(
    joinedAnew(segmentRowsOf(engine, index, place), coverage, living, tail, rowsIn(entries)),
  );
  const again = new Set([...anew].flatMap(({ runs }) => runs.map(({ fragment }) => fragment)));
  const chosen = entries.filter(({ id }) => !coverage.fragments.has(id) || again.has(id));
  const kept = living.filter((segment) => !anew.has(segment));
  // As many full segments as the table needs are no reason to build any anew.
  if (chosen.length === 0 && kept.length === index.segments.length) return undefined;
  return { index, place, kept, entries: chosen };
}

/** Segments that are built anew with what is not covered. */
function joinedAnew(
  segmentRows: number,
  coverage: Coverage,
  living: readonly IndexSegment[],
  tail: readonly FragmentEntry[],
  rows: number,
): IndexSegment[] {
  const isMuch = rowsIn(tail) > rows * MOST_TAIL;
  if (!isMuch && living.length + (tail.length > 0 ? 1 : 0) <= MOST_SEGMENTS) return [];
  const covered = ({ runs }: IndexSegment): number =>
    rowsIn(runs.filter(({ fragment }) => coverage.fragments.has(fragment)));
  const small = living
    .filter((segment) => covered(segment) <= segmentRows / 2)
    .sort((one, other) => covered(one) - covered(other));
  return small.length > 1 || tail.length > 0 ? small : [];
}

async function updated(
  engine: Engine,
  base: Snapshot,
  plans: readonly Plan[],
  options: IndexingOptions,
): Promise<Committed> {
  const made = new Map<string, readonly IndexSegment[]>();
  const written: IndexSegment[] = [];
  const syncs: Promise<unknown>[] = [];
  const rowsTotal = plans.reduce((sum, { entries }) => sum + rowsIn(entries), 0);
  let rowsDone = 0;
  const report = (rows: number): void =>
    options.onProgress?.({ rowsDone: rowsDone + rows, rowsTotal });
  const { tableFolder } = base.branch;
  try {
    for (const { index, place, kept, entries } of plans) {
      const segments = [...kept];
      for (const group of fragmentGroups(segmentRowsOf(engine, index, place), entries)) {
        options.signal?.throwIfAborted();
        const built = await buildSegment(engine, base, index, place, group, options.signal, report);
        segments.push(built.segment);
        written.push(built.segment);
        syncs.push(built.durable);
        rowsDone += rowsIn(group);
        report(0);
      }
      made.set(index.id, segments);
    }
    let used = new Set<string>();
    const committed = await commitIndexes(engine, base.branch, options, syncs, (newest) => {
      const indexes = newest.manifest.indexes ?? [];
      const fitting = indexes.filter(({ id, segments }) => {
        const plan = plans.find(({ index }) => index.id === id);
        return plan !== undefined && filesOf(segments) === filesOf(plan.index.segments);
      });
      used = new Set(fitting.map(({ id }) => id));
      if (used.size === 0) return undefined;
      return indexes.map((index) => {
        if (!used.has(index.id)) return index;
        // A compaction may have given segments that stay the runs of joined fragments.
        const now = new Map(index.segments.map((segment) => [filesOf([segment]), segment]));
        const segments = made.get(index.id)?.map((own) => now.get(filesOf([own])) ?? own) ?? [];
        return { ...index, segments };
      });
    });
    const unused = [...made].filter(([id]) => !used.has(id)).flatMap(([, segments]) => segments);
    await removeSegments(
      engine,
      tableFolder,
      unused.filter((segment) => written.includes(segment)),
    );
    return committed;
  } catch (error) {
    if (!isDirspaceError(error, 'CommitStateUnknown'))
      await removeSegments(engine, tableFolder, written);
    throw error;
  }
}

const filesOf = (segments: readonly IndexSegment[]): string =>
  segments.flatMap(({ files }) => files.map(({ file }) => file)).join();
