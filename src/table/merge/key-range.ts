/**
 * `KeyRange` decides from statistics which fragments and record batches may hold a key of the
 * source rows; where there are no statistics they may. The merge reads no keys from the others. It
 * also does not open such a fragment, unless the merge deletes rows that the source lacks.
 */
import type { Data } from '../../arrow/index.ts';
import {
  type ColumnStatistics,
  columnStatistics,
  compareValues,
  type FragmentEntry,
  type FragmentFooter,
  mergeStatistics,
} from '../../format/index.ts';
import type { IdentifiedField } from '../fields/index.ts';
import { batchStatistics, fragmentStatistics } from '../read/index.ts';
import type { Snapshot } from '../versions/index.ts';

interface KeyColumn {
  readonly field: IdentifiedField;
  readonly known: ColumnStatistics;
}

export class KeyRange {
  readonly #columns: readonly KeyColumn[];
  readonly #snapshot: Snapshot;

  private constructor(columns: readonly KeyColumn[], snapshot: Snapshot) {
    this.#columns = columns;
    this.#snapshot = snapshot;
  }

  /**
   * Yields after each chunk.
   * @param chunks consecutive rows, of each the columns of `fields`; at least one
   * @param snapshot the version whose fragments are asked about
   */
  static *of(
    fields: readonly IdentifiedField[],
    chunks: readonly (readonly Data[])[],
    snapshot: Snapshot,
  ): Generator<void, KeyRange> {
    let columns: KeyColumn[] | undefined;
    for (const chunk of chunks) {
      const here = fields.map((field, at) => ({
        field,
        known: columnStatistics(chunk[at] as Data),
      }));
      columns =
        columns?.map(({ field, known }, at) => ({
          field,
          known: mergeStatistics(known, here[at]?.known as ColumnStatistics),
        })) ?? here;
      yield;
    }
    return new KeyRange(columns ?? [], snapshot);
  }

  mayBeInFragment(entry: FragmentEntry): boolean {
    return this.#mayBeIn((field) => fragmentStatistics(this.#snapshot, entry, field));
  }

  mayBeInBatch(entry: FragmentEntry, footer: FragmentFooter, batch: number): boolean {
    return this.#mayBeIn((field) => batchStatistics(entry, footer, batch, field));
  }

  #mayBeIn(statisticsOf: (field: IdentifiedField) => ColumnStatistics | undefined): boolean {
    return this.#columns.every(({ field, known }) => {
      // Null is no key.
      if (known.nulls === known.rows) return false;
      const there = statisticsOf(field);
      return there === undefined || mayMeet(there, known);
    });
  }
}

function mayMeet(a: ColumnStatistics, b: ColumnStatistics): boolean {
  if (a.nulls === a.rows) return false;
  if (a.nans > 0 && b.nans > 0) return true;
  return !(isBelow(a, b) || isBelow(b, a));
}

const isBelow = ({ max }: ColumnStatistics, { min }: ColumnStatistics): boolean =>
  max !== undefined && min !== undefined && compareValues(max, min) < 0;
