/**
 * Exports the reading of a snapshot's rows: plans, scans, reads by row id or offset, counts, blobs,
 * pruning by statistics, row numbers, masks of the rows of index segments, evaluation in slices,
 * and the warm-up of a table when it is opened.
 */

export {
  type BatchPlace,
  isChosen,
  matchingRows,
  readLent,
  readSelected,
  type Selection,
  selectedCount,
} from './batch-rows.ts';
export { type BlobRequest, readBlobs } from './blobs.ts';
export { type ColumnRequest, type ReadColumn, ROW_ID, ROW_OFFSET } from './columns.ts';
export { countMatches, countWhere } from './count.ts';
export { namesRowsOf } from './named-rows.ts';
export { fragmentPlaces } from './places.ts';
export { prepareReads } from './prepare.ts';
export { batchStatistics, fragmentStatistics, pruneFragment } from './pruning.ts';
export { pipelined, scan } from './scan.ts';
export { planScan, requestMemory, type ScanPlan, type ScanRequest } from './scan-plan.ts';
export { emptyMask, liveRows, type MaskedSegment, markMatching } from './segment-rows.ts';
export { breathe, byteSlices, evaluateRows, sliceRows } from './slices.ts';
export { TableRows } from './table-rows.ts';
export { type TakenPart, type TakeRequest, take, takenInParts } from './take.ts';
