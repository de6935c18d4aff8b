/**
 * `ScanCounters`: counts the fragments, batches, bytes and rows that a scan read and those it
 * skipped by statistics, for analyzed query plans (query/explain.ts).
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
