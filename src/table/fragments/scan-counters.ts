/**
 * `ScanCounters`: counts the fragments and batches of a scan, how many of them it skipped, the
 * bytes of columns that it read and the rows that it returned. Analyzed query plans show most of
 * this (query/explain.ts).
 */
export class ScanCounters {
  fragments = 0;
  fragmentsPruned = 0;
  batches = 0;
  batchesPruned = 0;
  bytesRead = 0;
  rowsMatched = 0;
  rowsReturned = 0;
}
