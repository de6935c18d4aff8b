/**
 * `countIndexed` counts the rows that match a test of one column from an index alone, without
 * reading a row. It uses segments that cover all of their fragments and have no deleted rows. The
 * result names the fragments that were counted; the caller scans the others. It returns undefined
 * if the condition is more than one such test, no index can answer it, or the table is small.
 */
import type { IndexEntry } from '../../format/index.ts';
import type { ColumnTest, CompiledExpression } from '../../sql/index.ts';
import type { Engine, Snapshot } from '../versions/index.ts';
import { indexFor } from './choose-index.ts';
import { coverageOf, readingIndexes } from './coverage.ts';
import { indexReader } from './segment-types.ts';

export interface CountedRows {
  readonly count: number;
  /** Ids of the fragments whose rows were counted. */
  readonly fragments: ReadonlySet<number>;
  /** Whether these are all fragments. */
  readonly isAll: boolean;
}

/** Undefined where no index tells. @throws Corrupt */
export function countIndexed(
  engine: Engine,
  snapshot: Snapshot,
  predicate: CompiledExpression,
): Promise<CountedRows | undefined> | undefined {
  const { indexes } = snapshot.manifest;
  const condition = predicate.condition();
  if (indexes === undefined || condition.kind !== 'test' || !condition.exact) return undefined;
  if (snapshot.rowCount < engine.limits.indexedRows) return undefined;
  const index = indexFor(snapshot, indexes, condition);
  if (typeof index === 'string') return undefined;
  return readingIndexes(engine, snapshot, () => counted(engine, snapshot, index, condition.test));
}

async function counted(
  engine: Engine,
  snapshot: Snapshot,
  index: IndexEntry,
  test: ColumnTest,
): Promise<CountedRows | undefined> {
  const { segments, fragments: covered, otherRows } = await coverageOf(engine, snapshot, index);
  const reader = indexReader(index.type);
  const fragments = new Set<number>();
  let isAll = otherRows === 0;
  let count = 0;
  for (const { segment, isWhole } of segments) {
    const located = isWhole ? await reader?.locate(engine, snapshot, segment, test) : undefined;
    if (located?.isExact !== true) {
      isAll = false;
      continue;
    }
    count += located.count;
    for (const { fragment } of segment.runs) fragments.add(fragment);
  }
  return covered.size > 0 && fragments.size > 0 ? { count, fragments, isAll } : undefined;
}
