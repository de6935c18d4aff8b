/**
 * `ScanCounters` holds the counts of a scan: its fragments and record batches, how many of them
 * were skipped, and the bytes of columns that were read. Analyzed query plans show these numbers.
 */
export class ScanCounters {
  fragments = 0;
  fragmentsPruned = 0;
  batches = 0;
  batchesPruned = 0;
  bytesRead = 0;
}
