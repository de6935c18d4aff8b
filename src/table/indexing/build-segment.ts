/**
 * `buildSegment` builds one segment of an index, of any type that this release builds (`isBuilt`),
 * over some fragments of a version. Its files are on disk for good once `durable` of the result
 * resolves. `segmentRowsOf` tells how many rows a segment may cover, and `isIndexable` whether a
 * column can have an index of a type; if not, `checkIndexable` throws InvalidInput.
 */
import { DataType, describeType } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import type { FragmentEntry, IndexEntry, IndexSegment } from '../../format/index.ts';
import { BTREE, FTS, IVF, LABEL_LIST, MOST_ELEMENTS, SCALAR_INDEXES } from '../../indexes/index.ts';
import type { IndexedField } from '../indexes/index.ts';
import { checkSearchable, hasOrder, hasVectors, isSearchable, listSizeOf } from '../query/index.ts';
import type { Engine, Snapshot } from '../versions/index.ts';
import { bitmapRows } from './bitmap-rows.ts';
import { btreeRows } from './btree-rows.ts';
import { ivfRows, writeIvfFiles } from './ivf-files.ts';
import { partOf, runsOf } from './segment-plan.ts';
import { writeTextFiles } from './text-files.ts';
import { writeSegmentFile } from './write-segment.ts';

export interface BuiltSegment {
  readonly segment: IndexSegment;
  /** Resolves once its files are on disk for good. */
  readonly durable: Promise<unknown>;
}

/** Whether this release builds segments of that type. */
export const isBuilt = (type: string): boolean =>
  type === FTS || type === IVF || SCALAR_INDEXES.includes(type);

/** How many rows a segment covers at most, if its fragments are no larger. */
export function segmentRowsOf(
  { limits }: Pick<Engine, 'limits'>,
  { type }: Pick<IndexEntry, 'type'>,
  { leaf }: IndexedField,
): number {
  if (type !== IVF) return limits.segmentRows;
  return Math.min(limits.segmentRows, ivfRows(listSizeOf(leaf.field.type as DataType)));
}

/**
 * @param entries at least one
 * @param onRows is told how many rows are done
 */
export async function buildSegment(
  engine: Engine,
  base: Snapshot,
  { type, parameters }: Pick<IndexEntry, 'type' | 'parameters'>,
  place: IndexedField,
  entries: readonly FragmentEntry[],
  signal: AbortSignal | undefined,
  onRows?: (rows: number) => void,
): Promise<BuiltSegment> {
  const part = partOf(engine, base, entries);
  const runs = runsOf(entries, place);
  const { path } = place;
  if (type === FTS) {
    const { files, durable } = await writeTextFiles(engine, part, parameters, path, signal, onRows);
    return { segment: { runs, files }, durable };
  }
  if (type === IVF) {
    const { field } = place.leaf;
    const { files, durable } = await writeIvfFiles(
      engine,
      part,
      parameters,
      { path, type: field.type as DataType },
      signal,
      onRows,
    );
    return { segment: { runs, files }, durable };
  }
  const rows =
    type === BTREE
      ? await btreeRows(engine, part, path, signal, onRows)
      : await bitmapRows(engine, part, path, type === LABEL_LIST, signal, onRows);
  const { file, durable } = await writeSegmentFile(engine, base.branch.tableFolder, rows, signal);
  return { segment: { runs, files: [file] }, durable };
}

/** @throws InvalidInput */
export function checkIndexable(type: string, column: string, found: DataType): void {
  if (type === FTS) {
    checkSearchable(column, found);
    return;
  }
  if (isIndexable(type, found)) return;
  const why =
    type === IVF
      ? whyNoVectors(found)
      : type !== LABEL_LIST
        ? `values of ${describeType(found)} have no order here${isIndexable(LABEL_LIST, found) ? '; LABEL_LIST is for lists of values that have one' : ''}`
        : `it takes lists of values that have an order, and this is ${describeType(found)}`;
  throw new DirspaceError(
    'InvalidInput',
    `${column} cannot have an index of type ${type}: ${why}.`,
    { details: { column, index_type: type } },
  );
}

function whyNoVectors(found: DataType): string {
  if (!hasVectors(found))
    return `it takes fixed_size_list of float16, float32, float64 or uint8, and this is ${describeType(found)}`;
  return `it takes vectors of at most ${MOST_ELEMENTS} elements, and these have ${listSizeOf(found)}`;
}

/** Whether a column of that type can have such an index. */
export function isIndexable(type: string, found: DataType): boolean {
  if (type === FTS) return isSearchable(found);
  if (type === IVF) return hasVectors(found) && listSizeOf(found) <= MOST_ELEMENTS;
  if (type !== LABEL_LIST) return hasOrder(found);
  const isList =
    DataType.isList(found) || DataType.isLargeList(found) || DataType.isFixedSizeList(found);
  return isList && hasOrder(found.children[0]?.type as DataType);
}
