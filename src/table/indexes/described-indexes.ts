/**
 * `describedIndexes` lists the indexes of a version with their column, parameters and size. It also
 * tells how many live rows each index covers, and how many it leaves to a scan. The column of an
 * index whose column was dropped is empty, and damaged segments cover no rows.
 */
import type { JsonObject } from '../../json.ts';
import type { Engine, Snapshot } from '../versions/index.ts';
import { coverageOf, indexedField } from './coverage.ts';

export interface DescribedIndex {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  /** Its path, with dots. */
  readonly column: string;
  readonly parameters: JsonObject;
  /** Milliseconds since the epoch. */
  readonly created: number;
  /** Live rows that it covers, and that are scanned. */
  readonly indexedRows: number;
  readonly otherRows: number;
  readonly bytes: number;
  readonly segments: number;
}

/** @throws Corrupt */
export async function describedIndexes(
  engine: Engine,
  snapshot: Snapshot,
): Promise<readonly DescribedIndex[]> {
  const described: DescribedIndex[] = [];
  for (const index of snapshot.manifest.indexes ?? []) {
    const { indexedRows, otherRows } = await coverageOf(engine, snapshot, index);
    const { id, name, type, parameters, created, segments } = index;
    const files = segments.flatMap((segment) => segment.files);
    described.push({
      id,
      name,
      type,
      column: indexedField(snapshot, index)?.path.join('.') ?? '',
      parameters,
      created,
      indexedRows,
      otherRows,
      bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
      segments: segments.length,
    });
  }
  return described;
}
