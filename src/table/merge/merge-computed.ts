/**
 * Applies the rules of computed columns to a merge. `withoutComputed` removes them from the source
 * rows, and throws InvalidInput if they have a value there. `staleByMerge` names the computed
 * columns that become null in updated rows, because the source sets one of their inputs.
 */
import { DataType } from '../../arrow/index.ts';
import {
  computedColumns,
  type IdentifiedField,
  refuseValue,
  staleColumns,
} from '../fields/index.ts';
import type { SourceColumns } from './merge-source.ts';

/** The source without columns that are computed. @throws InvalidInput where one has a value */
export function withoutComputed(
  fields: readonly IdentifiedField[],
  source: SourceColumns,
): SourceColumns {
  const computed = computedColumns(fields).filter(({ name }) => source.has(name));
  if (computed.length === 0) return source;
  const left = new Map(source);
  for (const column of computed) {
    const values = source.get(column.name)?.values;
    if (values !== undefined && values.nullCount < values.length) refuseValue(column);
    left.delete(column.name);
  }
  return left;
}

/** Keys that are equal are the same value, save floats: 0 is -0. */
export function staleByMerge(
  fields: readonly IdentifiedField[],
  source: SourceColumns,
  keys: readonly IdentifiedField[],
): ReadonlySet<string> {
  const same = new Set(
    keys.filter(({ field }) => !DataType.isFloat(field.type)).map(({ field }) => field.name),
  );
  const stale = staleColumns(fields, (name) => source.has(name) && !same.has(name));
  return new Set(stale.map(({ name }) => name));
}
