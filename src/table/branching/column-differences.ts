/**
 * `columnDifferences` compares the top-level columns of a branch with those of main, by name. It
 * tells which were added, removed and changed. A column is changed if its id, type or nullability
 * differs, or that of a field below it. A column that was dropped and added again under its name
 * has another id.
 */
import { typesEqual } from '../../arrow/index.ts';
import { type ColumnSummary, columnSummary } from '../diff/index.ts';
import type { IdentifiedField } from '../fields/index.ts';

export interface ColumnDifferences {
  readonly added: readonly ColumnSummary[];
  readonly removed: readonly ColumnSummary[];
  readonly changed: readonly { readonly main: ColumnSummary; readonly branch: ColumnSummary }[];
}

export function columnDifferences(
  main: readonly IdentifiedField[],
  branch: readonly IdentifiedField[],
): ColumnDifferences {
  const known = new Map(main.map((field) => [field.field.name, field]));
  const names = new Set(branch.map(({ field }) => field.name));
  return {
    added: branch.filter(({ field }) => !known.has(field.name)).map(summary),
    removed: main.filter(({ field }) => !names.has(field.name)).map(summary),
    changed: branch.flatMap((field) => {
      const before = known.get(field.field.name);
      if (before === undefined || isSame(before, field)) return [];
      return [{ main: summary(before), branch: summary(field) }];
    }),
  };
}

const summary = (field: IdentifiedField): ColumnSummary => columnSummary(field);

/** Fields below a column are compared as it is: one of another id is another field of that name. */
const isSame = (one: IdentifiedField, other: IdentifiedField): boolean =>
  one.id === other.id &&
  one.field.nullable === other.field.nullable &&
  typesEqual(one.field.type, other.field.type, {}) &&
  one.children.every((child, at) => isSame(child, other.children[at] as IdentifiedField));
