/**
 * Exports the parts of indexes that need no I/O: index types, the parameters of IVF indexes, search
 * in sorted columns, coded values and positions, the encoding of positions, sets of rows by
 * fragment, and the building and searching of IVF partitions. table/indexes reads segments, and
 * table/indexing builds them.
 */

export { CodedPositions, CodedValues } from './coded-values.ts';
export {
  type FragmentRows,
  intersection,
  NO_FRAGMENT_ROWS,
  type PlacedRun,
  rowsAtPositions,
  union,
} from './fragment-rows.ts';
export {
  BITMAP,
  BTREE,
  FTS,
  type IndexType,
  IVF,
  indexTypeOf,
  LABEL_LIST,
  SCALAR_INDEXES,
  type ScalarIndexType,
} from './index-types.ts';
export {
  BLOCK_ROWS,
  blockBytes,
  IvfBuilder,
  type IvfMetric,
  type IvfOptions,
  lengthOf,
  MOST_ELEMENTS,
  MOST_PARTITIONS,
  type Partition,
  type PartitionFacts,
  PartitionMemory,
  type PartitionPlace,
  Probe,
  requirePartitions,
  rowBytes,
} from './ivf/index.ts';
export { type IvfParameters, ivfParameters, ivfRequest } from './ivf-parameters.ts';
export { decodePositions, encodePositions } from './position-sets.ts';
export { type SortedCells, sortedCells } from './sorted-cells.ts';
