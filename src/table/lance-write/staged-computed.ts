/**
 * `requireComputed` refuses versions of Lance's writers that could leave a wrong value in a
 * computed column (Unsupported), because Lance knows nothing of such columns. A column that stays
 * must keep its declaration, its values in rows that stay, and the columns that its expression
 * reads. New rows must be null there: `computedPlaces` lists the columns to check while the rows
 * are read, none for a compaction, and `refusedValue` builds the error.
 */
import { typesEqual } from '../../arrow/index.ts';
import {
  type ComputedColumn,
  computedColumns,
  type IdentifiedField,
  keptMetadata,
} from '../fields/index.ts';
import { shown, unsupported } from './refusals.ts';
import type { StagedChange } from './staged-change.ts';
import type { ColumnSource, PlannedFragment } from './staged-fragments.ts';

/** @throws Unsupported naming the column */
export function requireComputed({
  schema,
  base,
  plan,
}: Pick<StagedChange, 'schema' | 'base' | 'plan'>): void {
  const { tree } = schema;
  const before = computedColumns(base.fields);
  const columns = computedColumns(tree);
  for (const was of before) {
    // One that goes takes its values along.
    const stays = tree.some(({ id }) => id === was.node.id);
    if (stays && !columns.some(({ node }) => node.id === was.node.id))
      throw refused(was.name, 'the end of the declaration of');
  }
  for (const column of columns) {
    const was = before.find(({ node }) => node.id === column.node.id);
    // An overwrite has other columns, whatever their names.
    if (was === undefined) throw refused(column.name, 'rows or a declaration of');
    if (said(column) !== said(was)) throw refused(column.name, 'another declaration of');
    if (!isSame(column.node, was.node) || !column.node.field.nullable)
      throw refused(column.name, 'a change of');
    for (const name of column.inputs) {
      const at = tree.findIndex(({ field }) => field.name === name);
      const input = tree[at];
      const known = base.fields.find(({ field }) => field.name === name);
      if (input === undefined || known === undefined || !isSame(input, known))
        throw refused(column.name, `a change of the column ${shown(name)}, which is read by`);
      if (plan.fragments.some((fragment) => isChanged(fragment, at, input)))
        throw refused(column.name, `other values of the column ${shown(name)}, which is read by`);
    }
    const own = tree.findIndex(({ id }) => id === column.node.id);
    if (plan.fragments.some((fragment) => isFilled(fragment, own)))
      throw refused(column.name, 'other values of');
  }
}

/** Positions in the schema of the columns that rows which come must be null in. */
export function computedPlaces({ schema, manifest }: StagedChange): ReadonlySet<number> {
  // The rows of a compaction are compared with those of before.
  if (manifest.transaction?.operation?.kind === 'rewrite') return new Set();
  const ids = new Set(computedColumns(schema.tree).map(({ node }) => node.id));
  return new Set(schema.tree.flatMap(({ id }, at) => (ids.has(id) ? [at] : [])));
}

/** @param id of the fragment whose rows have a value there */
export const refusedValue = (name: string, id: number): Error =>
  unsupported(
    `values of the computed column ${shown(name)} in the new fragment ${id}`,
    'Leave the column out, or null, and refresh it over this catalog. Updates and merges that write rows anew are made over this catalog too.',
  );

const refused = (name: string, what: string): Error =>
  unsupported(
    `${what} the computed column ${shown(name)}`,
    'Make it over this catalog, which keeps the values right, or drop the column first.',
  );

/** Whether rows that stay have other values of an input now. */
function isChanged(
  { before, sources }: PlannedFragment,
  at: number,
  { id }: IdentifiedField,
): boolean {
  if (before === undefined || sources === undefined) return false;
  const source = sources[at] as ColumnSource;
  return source === 'files' || (source === 'nulls' && before.fields.includes(id));
}

const isFilled = ({ before, sources }: PlannedFragment, at: number): boolean =>
  before !== undefined && sources?.[at] === 'files';

const isSame = (one: IdentifiedField, other: IdentifiedField): boolean =>
  one.id === other.id &&
  one.field.name === other.field.name &&
  typesEqual(one.field.type, other.field.type);

const said = ({ node }: ComputedColumn): string =>
  JSON.stringify(keptMetadata(node.field.metadata).sort());
