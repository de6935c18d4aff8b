/**
 * `requireComputed`: refuses versions of Lance's writers that could leave a wrong value in a
 * computed column. Lance knows of no such columns: its writers give them any value, keep values
 * whose inputs they change, and rename inputs. Operations that keep rows as they are (deletes,
 * compactions, restores) are accepted, and so are changes of metadata that leave the declarations
 * alone.
 */
import type { ParsedOperation } from '../../format/index.ts';
import { type ComputedColumn, computedColumns } from '../fields/index.ts';
import { shown, unsupported } from './refusals.ts';
import type { StagedChange } from './staged-change.ts';

/** What changes no value and no column. */
const KEEPS_ROWS: ReadonlySet<ParsedOperation['kind']> = new Set([
  'delete',
  'rewrite',
  'reserve_fragments',
  'restore',
]);

/** @throws Unsupported naming the column */
export function requireComputed(
  { kind }: ParsedOperation,
  { schema, base }: Pick<StagedChange, 'schema' | 'base'>,
): void {
  if (KEEPS_ROWS.has(kind)) return;
  const columns = computedColumns(schema.tree);
  const before = computedColumns(base.fields);
  // Other metadata may change.
  if (kind === 'update_config' && said(columns) === said(before)) return;
  const [column] = kind === 'update_config' ? [...columns, ...before] : columns;
  if (column === undefined) return;
  throw unsupported(
    `a change of rows or columns beside the computed column ${shown(column.name)}`,
    'Make it over this catalog, which keeps the values right, or drop the column first.',
  );
}

const said = (columns: readonly ComputedColumn[]): string =>
  JSON.stringify(columns.map(({ node, ...column }) => [node.id, column]));
