/**
 * Decides from statistics whether none, some or all rows of a fragment (`pruneFragment`) or of a
 * batch (`pruneBatch`) match a predicate.
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
import type { Snapshot } from '../versions/index.ts';

/** By the statistics in the manifest, without a look at the fragment. */
export function pruneFragment(
  predicate: CompiledExpression,
  snapshot: Snapshot,
  entry: FragmentEntry,
): Pruned {
  return predicate.prune(
    lookup(snapshot, entry, (position, { field }) => {
      const known = entry.statistics[position];
      // Forgotten when the column's type was changed: they were in the old type's terms.
      if (!Array.isArray(known) || known.length === 0) return undefined;
      return decodeStatistics(known, field.type, snapshot.file);
    }),
  );
}

/** By the statistics in the fragment's footer. */
export function pruneBatch(
  predicate: CompiledExpression,
  snapshot: Snapshot,
  entry: FragmentEntry,
  footer: FragmentFooter,
  batch: number,
): Pruned {
  return predicate.prune(
    lookup(snapshot, entry, (position, { field }) => {
      const stored = footer.schema.fields[position];
      if (stored === undefined || !typesEqual(stored.type, field.type)) return undefined;
      return chunkStatistics(footer, batch, position);
    }),
  );
}

function lookup(
  snapshot: Snapshot,
  entry: FragmentEntry,
  statisticsAt: (position: number, field: IdentifiedField) => ColumnStatistics | undefined,
): StatisticsLookup {
  return ([name, ...nested]) => {
    if (nested.length > 0) return null;
    const field = snapshot.fields.find((candidate) => candidate.field.name === name);
    if (field === undefined) return null;
    const position = entry.fields.indexOf(field.id);
    // A column that came later is null in all rows of older fragments.
    if (position < 0) return { rows: entry.rows, nulls: entry.rows };
    const known = statisticsAt(position, field);
    if (known === undefined) return null;
    const { rows, nulls, nans, min, max, minExact, maxExact } = known;
    return { rows, nulls, min, max, hasNaN: nans > 0, exact: minExact && maxExact };
  };
}
