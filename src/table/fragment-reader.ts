/** Reading columns of one fragment, whatever its size. */
import type { Data } from '../arrow.ts';
import type { FragmentFooter } from '../format/fragment-footer.ts';
import type { Awaitable } from '../store/store.ts';
import type { ScanCounters } from './scan-counters.ts';
import type { LentColumns } from './scratch.ts';
import type { Turn } from './turn.ts';

/** What somebody reads for. */
export interface ReadPurpose {
  /** Whether what is read is worth keeping in memory. */
  readonly keep?: boolean;
  /** Where the bytes read of columns are counted. */
  readonly counters?: ScanCounters;
  /** Of a scan of many fragments. */
  readonly turn?: Turn;
}

export interface FragmentReader {
  readonly footer: FragmentFooter;
  /**
   * Columns of one batch, by their positions in the file. With `lent` they may lie in memory that is
   * added to it, to be given back once they are not used any more.
   */
  columns(batch: number, columns: readonly number[], lent?: LentColumns): Awaitable<Data[]>;
  /**
   * Some rows of one batch. Columns of `lent` are not read again; what is returned does not refer
   * to them.
   */
  rows(
    batch: number,
    columns: readonly number[],
    rows: Uint32Array,
    lent?: LentColumns,
  ): Awaitable<Data[]>;
  /** Keeps the file open until the function returned is called, also past close(). */
  retain(): () => void;
  /** Closes the file once nobody uses it any more. */
  close(): void;
}
