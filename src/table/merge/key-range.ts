/**
 * `KeyRange`: decides from statistics which fragments and batches may hold one of the source's
 * keys. A merge skips the others.
 */
import { type Data, typesEqual } from '../../arrow/index.ts';
import {
  type ColumnStatistics,
  chunkStatistics,
  columnStatistics,
  compareValues,
  decodeStatistics,
  type FragmentEntry,
  type FragmentFooter,
  mergeStatistics,
} from '../../format/index.ts';
import type { IdentifiedField } from '../fields/index.ts';

interface KeyColumn {
  readonly field: IdentifiedField;
  readonly known: ColumnStatistics;
}

export class KeyRange {
  readonly #columns: readonly KeyColumn[];
  readonly #file: string;

  private constructor(columns: readonly KeyColumn[], file: string) {
    this.#columns = columns;
    this.#file = file;
  }

  /**
   * Yields after each chunk.
   * @param chunks consecutive rows, of each the columns of `fields`; at least one
   * @param file what errors about statistics name
   */
  static *of(
    fields: readonly IdentifiedField[],
    chunks: readonly (readonly Data[])[],
    file: string,
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
    return new KeyRange(columns ?? [], file);
  }

  mayBeInFragment(entry: FragmentEntry): boolean {
    return this.#mayBeIn(entry, (position, { field }) => {
      const stored = entry.statistics[position];
      // Forgotten when the column's type was changed: they were in the old type's terms.
      if (!Array.isArray(stored) || stored.length === 0) return undefined;
      return decodeStatistics(stored, field.type, this.#file);
    });
  }

  mayBeInBatch(entry: FragmentEntry, footer: FragmentFooter, batch: number): boolean {
    return this.#mayBeIn(entry, (position, { field }) => {
      const stored = footer.schema.fields[position];
      if (stored === undefined || !typesEqual(stored.type, field.type)) return undefined;
      return chunkStatistics(footer, batch, position);
    });
  }

  #mayBeIn(
    entry: FragmentEntry,
    statisticsAt: (position: number, field: IdentifiedField) => ColumnStatistics | undefined,
  ): boolean {
    return this.#columns.every(({ field, known }) => {
      if (known.nulls === known.rows) return false;
      const position = entry.fields.indexOf(field.id);
      // A column that came later is null in all rows of older fragments, and null is no key.
      if (position < 0) return false;
      const there = statisticsAt(position, field);
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
