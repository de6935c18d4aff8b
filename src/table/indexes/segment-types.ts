/**
 * `indexReader` returns the reader of a type of index, or undefined for types that this release
 * does not know. A reader tells which conditions on its column it can answer, and finds the rows of
 * a segment that match one. Full-text and vector indexes answer no conditions; text-segment.ts and
 * ivf-segment.ts read them.
 */
import type { DataType } from '../../arrow/index.ts';
import type { IndexSegment } from '../../format/index.ts';
import { BITMAP, BTREE, FTS, IVF, LABEL_LIST } from '../../indexes/index.ts';
import type { ColumnTest } from '../../sql/index.ts';
import type { Awaitable } from '../../store/index.ts';
import type { Engine, Snapshot } from '../versions/index.ts';
import { bitmapReader, labelListReader } from './bitmap-segment.ts';
import { btreeReader } from './btree-segment.ts';

/** Rows of a segment that pass a test. */
export interface LocatedRows {
  /** How many they are, deleted ones and rows of fragments that are gone among them. */
  readonly count: number;
  /** False where they may be fewer. */
  readonly isExact: boolean;
  /** Their positions, ascending; some may be there twice. */
  positions(): Promise<Uint32Array>;
}

export interface IndexReader {
  /** Whether it indexes the items of lists. */
  readonly ofItems: boolean;
  /** Whether it answers tests of that kind. */
  answers(test: ColumnTest): boolean;
  /** @throws Corrupt */
  locate(
    engine: Engine,
    snapshot: Snapshot,
    segment: IndexSegment,
    test: ColumnTest,
  ): Promise<LocatedRows>;
  /**
   * The type of the values that a segment holds; undefined where it does not depend on them.
   * @throws Corrupt
   */
  valueType?(engine: Engine, snapshot: Snapshot, segment: IndexSegment): Awaitable<DataType>;
}

/**
 * Words of texts and partitions of vectors answer no test of SQL: text-segment.ts and
 * ivf-segment.ts read them for searches.
 */
const searchReader: IndexReader = {
  ofItems: false,
  answers: () => false,
  locate: async () => ({ count: 0, isExact: true, positions: async () => new Uint32Array(0) }),
};

const READERS: Readonly<Record<string, IndexReader>> = {
  [BITMAP]: bitmapReader,
  [BTREE]: btreeReader,
  [FTS]: searchReader,
  [IVF]: searchReader,
  [LABEL_LIST]: labelListReader,
};

/** Undefined for a type that this release does not know: such an index is passed over. */
export const indexReader = (type: string): IndexReader | undefined =>
  Object.hasOwn(READERS, type) ? READERS[type] : undefined;
