/**
 * Decides from statistics whether none, some or all rows of a fragment (`pruneFragment`) or batch
 * (`pruneBatch`) match a predicate. With none or all, a read can do without the values.
 * `fragmentStatistics` and `batchStatistics` return the statistics of a column, or undefined if
 * they are unknown. They cover all rows, deleted ones too. For fields in structs, nothing is known.
 * A column that the fragment lacks is null in all its rows.
 */

import { typesEqual } from '../../arrow/index.ts';
import {
  type ColumnStatistics,
  chunkStatistics,
  decodeStatistics,
  type FragmentEntry,
  type FragmentFooter,
} from '../../format/index.ts';
import type { CompiledExpression, Pruned, StatisticsLookup } from '../../sql/index.ts';
import type { IdentifiedField } from '../fields/index.ts';
import { isSmall } from '../fragments/index.ts';
import type { Snapshot } from '../versions/index.ts';

/** By the statistics in the manifest, without a look at the fragment. */
export function pruneFragment(
  predicate: CompiledExpression,
  snapshot: Snapshot,
  entry: FragmentEntry,
): Pruned {
  return predicate.prune(lookup(snapshot, (field) => fragmentStatistics(snapshot, entry, field)));
}

/**
 * By the statistics in the fragment's footer. The only batch of a small fragment is in memory, and
 * its statistics are those of the fragment: looking at its rows takes no longer.
 */
export function pruneBatch(
  predicate: CompiledExpression,
  snapshot: Snapshot,
  entry: FragmentEntry,
  footer: FragmentFooter,
  batch: number,
): Pruned {
  if (footer.batches.length === 1 && isSmall(entry)) return 'some';
  return predicate.prune(lookup(snapshot, (field) => batchStatistics(entry, footer, batch, field)));
}

/**
 * Statistics of a column over all rows of a fragment, deleted ones too; undefined if nothing is
 * known.
 */
export function fragmentStatistics(
  snapshot: Snapshot,
  entry: FragmentEntry,
  { id, field }: IdentifiedField,
): ColumnStatistics | undefined {
  const position = entry.fields.indexOf(id);
  if (position < 0) return onlyNulls(entry.rows);
  const known = entry.statistics[position];
  // Forgotten when the column's type was changed: they were in the old type's terms.
  if (!Array.isArray(known) || known.length === 0) return undefined;
  return decodeStatistics(known, field.type, snapshot.file);
}

/**
 * Statistics of a column over all rows of a batch, deleted ones too; undefined if nothing is known.
 */
export function batchStatistics(
  entry: FragmentEntry,
  footer: FragmentFooter,
  batch: number,
  { id, field }: IdentifiedField,
): ColumnStatistics | undefined {
  const position = entry.fields.indexOf(id);
  if (position < 0) return onlyNulls(footer.batches[batch]?.rows ?? 0);
  const stored = footer.schema.fields[position];
  if (stored === undefined || !typesEqual(stored.type, field.type)) return undefined;
  return chunkStatistics(footer, batch, position);
}

/** A column that came later is null in all rows of older fragments. */
const onlyNulls = (rows: number): ColumnStatistics => ({
  rows,
  nulls: rows,
  nans: 0,
  minExact: true,
  maxExact: true,
});

function lookup(
  snapshot: Snapshot,
  statisticsOf: (field: IdentifiedField) => ColumnStatistics | undefined,
): StatisticsLookup {
  return ([name, ...nested]) => {
    if (nested.length > 0) return null;
    const field = snapshot.fields.find((candidate) => candidate.field.name === name);
    if (field === undefined) return null;
    const known = statisticsOf(field);
    if (known === undefined) return null;
    const { rows, nulls, nans, min, max, minExact, maxExact } = known;
    return { rows, nulls, min, max, hasNaN: nans > 0, exact: minExact && maxExact };
  };
}
