/**
 * `ScanCounters` counts the fragments and batches of a scan, how many of them it skipped, and the
 * bytes of columns that it read. Analyzed query plans show these numbers.
 */
export class ScanCounters {
  fragments = 0;
  fragmentsPruned = 0;
  batches = 0;
  batchesPruned = 0;
  bytesRead = 0;
}
