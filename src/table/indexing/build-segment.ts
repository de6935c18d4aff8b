/**
 * `buildSegment`: builds one segment of an index over some fragments of a version, by the type of the
 * index. `checkIndexable` refuses columns that an index of a type cannot be of.
 */
import { type DataType, describeType } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import type { FragmentEntry, IndexEntry, IndexSegment } from '../../format/index.ts';
import type { IndexedField } from '../indexes/index.ts';
import { hasOrder } from '../query/index.ts';
import type { Engine, Snapshot } from '../versions/index.ts';
import { btreeRows } from './btree-rows.ts';
import { partOf, runsOf } from './segment-plan.ts';
import { writeSegmentFile } from './write-segment.ts';

export interface BuiltSegment {
  readonly segment: IndexSegment;
  /** Resolves once its files are on disk for good. */
  readonly durable: Promise<unknown>;
}

/** @param entries at least one */
export async function buildSegment(
  engine: Engine,
  base: Snapshot,
  _index: Pick<IndexEntry, 'type' | 'parameters'>,
  place: IndexedField,
  entries: readonly FragmentEntry[],
  signal: AbortSignal | undefined,
): Promise<BuiltSegment> {
  const part = partOf(engine, base, entries);
  const runs = runsOf(entries, place);
  const rows = await btreeRows(engine, part, runs, place.path, signal);
  const { file, durable } = await writeSegmentFile(engine, base.branch.tableFolder, rows, signal);
  return { segment: { runs, files: [file] }, durable };
}

/** @throws InvalidInput */
export function checkIndexable(type: string, column: string, found: DataType): void {
  if (hasOrder(found)) return;
  throw new DirspaceError(
    'InvalidInput',
    `${column} cannot have an index of type ${type}: values of ${describeType(found)} have no order here.`,
    { details: { column, index_type: type } },
  );
}
