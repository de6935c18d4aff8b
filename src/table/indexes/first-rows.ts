/**
 * `firstRows` finds, without sorting, the rows that may be the first in the order of a column, by
 * its BTREE index. Rows with equal values are candidates together; with a condition, only those
 * that match it. The caller sorts the candidates and the rows that the index does not cover. If the
 * column has no such index, the table is small, or there would be too many candidates, no index is
 * used, and the result says why. It says nothing if the version has no index at all.
 */
import {
  BTREE,
  type FragmentRows,
  NO_FRAGMENT_ROWS,
  rowsAtPositions,
  union,
} from '../../indexes/index.ts';
import { compareValues, type Value } from '../../sql/index.ts';
import type { Engine, Snapshot } from '../versions/index.ts';
import { BTREE_COLUMNS, positionsOf, SortedSegment, type Span } from './btree-segment.ts';
import { type IndexChoice, type IndexedRows, indexesOf, unused } from './choose-index.ts';
import { type Coverage, coverageOf, readingIndexes } from './coverage.ts';
import { entryFile, OpenSegment, placedRuns } from './segment.ts';

/** The first key that the rows are ordered by. */
export interface FirstKey {
  /** Names of the column and of the structs that it is in. */
  readonly path: readonly string[];
  readonly ascending: boolean;
  readonly nullsFirst: boolean;
}

export interface WantedRows {
  /** How many of the first rows are wanted. */
  readonly count: number;
  /** Gives the candidates that are live and match the condition, if there is one. */
  readonly matching: (candidates: IndexedRows) => Promise<FragmentRows>;
  readonly hasCondition: boolean;
}

/** If too few candidates were left, this many times as many are taken next. */
const GROWTH = 4;
/**
 * With a condition, only one in this many of the rows that may be candidates without: a scan checks
 * more of them faster.
 */
const CHECKED_PART = 8;
/** Candidates of a round that checks them, at least. */
const LEAST = 64;

/** No rows and a note where the index is not used. @throws Corrupt */
export async function firstRows(
  engine: Engine,
  snapshot: Snapshot,
  key: FirstKey,
  wanted: WantedRows,
): Promise<IndexChoice> {
  const { indexes } = snapshot.manifest;
  if (indexes === undefined) return { indexed: undefined, note: undefined };
  const { rowCount } = snapshot;
  if (wanted.count >= rowCount) return unused('an order of all rows is not read from one');
  if (rowCount < engine.limits.indexedRows) return unused(`${rowCount} rows are sorted as fast`);
  const index = indexesOf(snapshot, indexes, key.path).find(({ type }) => type === BTREE);
  if (index === undefined) return unused(`${key.path.join('.')} has no BTREE`);
  const share = engine.limits.indexedShare / (wanted.hasCondition ? CHECKED_PART : 1);
  const most = Math.max(1, rowCount * share);
  return readingIndexes(engine, snapshot, async () => {
    const coverage = await coverageOf(engine, snapshot, index);
    const { fragments: covered, segments, damages } = coverage;
    if (covered.size === 0) {
      const [damage] = damages;
      return unused(
        damage === undefined
          ? `${index.name} covers no row of this version`
          : `${index.name} is damaged: ${damage}`,
      );
    }
    const isSure = !wanted.hasCondition && segments.every(({ isWhole }) => isWhole);
    const broken = damages.map((damage) => `; ${index.name} is damaged: ${damage}`).join('');
    for (let asked = isSure ? wanted.count : Math.max(LEAST, 2 * wanted.count); ; asked *= GROWTH) {
      if (asked > most) return unused(`${index.name} would give ${asked} of ${rowCount} rows`);
      const found = await candidates(engine, snapshot, coverage, key, asked, most);
      if (found.count > most) {
        return unused(`${index.name} would give ${found.count} of ${rowCount} rows`);
      }
      const indexed = { covered, rows: found.rows, exact: true };
      const note = `Index: ${index.name} gives the first ${wanted.count} of the order among ${found.count} of ${rowCount} rows${broken}`;
      if (isSure) return { indexed, note };
      const rows = await wanted.matching({ ...indexed, exact: !wanted.hasCondition });
      let left = 0;
      for (const { length } of rows.values()) left += length;
      if (left >= wanted.count || found.isAll) return { indexed: { ...indexed, rows }, note };
    }
  });
}

interface Candidates {
  /** Includes rows of fragments that are gone, and repeats. */
  readonly count: number;
  readonly rows: FragmentRows;
  /** Whether the index has no others. */
  readonly isAll: boolean;
}

/** At least `count` rows, where there are so many: all that come before some value, or have it. */
async function candidates(
  engine: Engine,
  snapshot: Snapshot,
  { segments, fragments }: Coverage,
  key: FirstKey,
  count: number,
  most: number,
): Promise<Candidates> {
  const sorted: SortedSegment[] = [];
  try {
    for (const { segment } of segments) {
      sorted.push(
        new SortedSegment(await OpenSegment.open(engine, snapshot, segment, BTREE_COLUMNS)),
      );
    }
    let end: End = 'all';
    for (const each of sorted) end = nearer(end, await endOf(each, key, count), key);
    let rows = NO_FRAGMENT_ROWS;
    let total = 0;
    for (const [at, each] of sorted.entries()) {
      const spans = await spansTo(each, key, end);
      const own = spans.reduce((sum, { from, to }) => sum + to - from, 0);
      total += own;
      const { segment } = segments[at] as (typeof segments)[number];
      // What is too much is not used, so it need not be read.
      if (own === 0 || total > most) continue;
      const positions = await positionsOf(engine, snapshot, segment, spans, own);
      const file = entryFile(snapshot, segment);
      rows = union(rows, rowsAtPositions(positions, placedRuns(segment), fragments, file));
    }
    return { count: total, rows, isAll: end === 'all' };
  } finally {
    for (const each of sorted) each.close();
  }
}

/** Where candidates of an order end: after the nulls at its start, after a value, or at its end. */
type End = 'nulls' | 'all' | { readonly value: Value };

/** Finds where the first `count` rows of a segment end. */
async function endOf(
  sorted: SortedSegment,
  { ascending, nullsFirst }: FirstKey,
  count: number,
): Promise<End> {
  const values = await sorted.firstNull();
  const left = nullsFirst ? count - (sorted.rows - values) : count;
  if (left <= 0) return 'nulls';
  if (left > values || values === 0) return 'all';
  return { value: await sorted.value(ascending ? left - 1 : values - left) };
}

function nearer(one: End, other: End, { ascending }: FirstKey): End {
  if (one === 'nulls' || other === 'all') return one;
  if (other === 'nulls' || one === 'all') return other;
  const order = compareValues(one.value, other.value);
  return (ascending ? order : -order) <= 0 ? one : other;
}

/** Rows of a segment up to an end of the order. */
async function spansTo(
  sorted: SortedSegment,
  { ascending, nullsFirst }: FirstKey,
  end: End,
): Promise<readonly Span[]> {
  if (end === 'all') return [{ from: 0, to: sorted.rows }];
  const nulls = nullsFirst ? await sorted.spans({ kind: 'null' }) : [];
  if (end === 'nulls') return nulls;
  const { value } = end;
  const reached = { value, open: false };
  const range = ascending ? { low: undefined, high: reached } : { low: reached, high: undefined };
  return [...(await sorted.spans({ kind: 'range', ...range })), ...nulls];
}
