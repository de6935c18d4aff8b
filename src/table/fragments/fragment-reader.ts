/**
 * Defines `FragmentReader`, the interface for reading columns and rows of one fragment, which its
 * user closes. It can also read parts of a single value (`StoredValue`). small-fragment.ts and
 * large-fragment.ts implement it for single files, and composed-fragment.ts for fragments of
 * several files. `ReadPurpose` tells a read what to cache and count, and whether to read cached
 * bytes again.
 */
import type { Data } from '../../arrow/index.ts';
import type { FragmentFooter } from '../../format/index.ts';
import type { Awaitable } from '../../store/index.ts';
import type { LentColumns, Turn } from '../work/index.ts';
import type { ScanCounters } from './scan-counters.ts';

/** Says of a read what to cache, to count and to verify anew. */
export interface ReadPurpose {
  /** Whether what is read is worth keeping in memory. */
  readonly keep?: boolean;
  /**
   * Whether to read and verify bytes from the disk even where they are cached: rewrites never copy
   * from memory that has other readers.
   */
  readonly fresh?: boolean;
  /** Where the bytes read of columns are counted. */
  readonly counters?: ScanCounters;
  /** Of a scan of many fragments. */
  readonly turn?: Turn;
}

/** A value of bytes of which parts can be read, and nothing else with them. */
export interface StoredValue {
  readonly size: number;
  /** The bytes `from` to `to`, in memory of their own. */
  read(from: number, to: number): Awaitable<Uint8Array>;
}

export interface FragmentReader {
  readonly footer: FragmentFooter;
  /**
   * Columns of one batch, by their positions in the file. With `lent` they may lie in memory that
   * is added to it, to be given back once they are not used any more. They may be kept in memory
   * for others: they must not be changed.
   */
  columns(batch: number, columns: readonly number[], lent?: LentColumns): Awaitable<Data[]>;
  /**
   * Columns of one batch for the caller of a query. Those read for the first time are not kept, so
   * that they need no copy to be the caller's.
   */
  ownColumns(batch: number, columns: readonly number[]): Awaitable<Data[]>;
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
  /**
   * The value of bytes of one row in a column of structs, or a member of such a column: `path` has the
   * places of the members that lead to it. Null where it is null, undefined where parts of it are not to
   * be had.
   */
  value(
    batch: number,
    column: number,
    path: readonly number[],
    row: number,
  ): Awaitable<StoredValue | null | undefined>;
  /**
   * Names a column of one batch as it is stored, the same for every reader of it and for no other
   * column of the catalog. Undefined where it is too small to be known apart.
   */
  columnKey(batch: number, column: number): string | undefined;
  /** Keeps the file open until the function returned is called, also past close(). */
  retain(): () => void;
  /** Closes the file once no `retain` is open. */
  close(): void;
}
