/**
 * `updatesOf` converts an update to the form of the protocol's request: pairs of a column and its
 * SQL, and the predicate. Without a predicate the update is for all rows. The caller gives the
 * columns as `values`, as `valuesSql`, or as an object of SQL by column. An update that sets no
 * column, SQL that is no text and a value without a literal throw InvalidInput. So do `values`
 * beside `valuesSql`, and two different predicates.
 */
import { DirspaceError } from '../../errors.ts';
import type { AnyRow } from '../convert/index.ts';
import { checkWhere, onlyOptions, showKind } from '../handles/index.ts';
import { type IntoSql, toSql } from './sql-literal.ts';

type ByColumn<Value> = ReadonlyMap<string, Value> | Readonly<Record<string, Value>>;

/** Which rows an update is for. */
export interface UpdateOptions {
  /** Rows to update, as an SQL predicate; all of them if absent. */
  readonly where?: string;
}

/** Of typed rows, their columns alone; nested ones have dots. */
type Columns<RowType, Value> = 0 extends 1 & RowType
  ? ByColumn<Value>
  :
      | ReadonlyMap<string, Value>
      | { readonly [Name in (keyof RowType & string) | `${string}.${string}`]?: Value };

/** Columns with values, or with SQL expressions over the row's columns. */
export type UpdateInput<RowType = AnyRow> =
  | ({ readonly values: Columns<RowType, IntoSql> } & UpdateOptions)
  | ({ readonly valuesSql: Columns<RowType, string> } & UpdateOptions)
  | Columns<RowType, string>;

export function updatesOf(
  input: UpdateInput,
  options: UpdateOptions = {},
): { updates: string[][]; predicate?: string } {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    throw new DirspaceError(
      'InvalidInput',
      `update takes {values: {age: 37}} or {valuesSql: {age: "age + 1"}}, with where if not all rows are meant, and was given ${showKind(input)}.`,
    );
  }
  const named = input as { values?: unknown; valuesSql?: unknown; where?: unknown };
  const both = isColumns(named.values) && isColumns(named.valuesSql);
  if (both) throw new DirspaceError('InvalidInput', 'Give values or valuesSql, not both.');
  const isNamed = isColumns(named.values) || isColumns(named.valuesSql);
  if (isNamed) onlyOptions(named, ['values', 'valuesSql', 'where'], 'update');
  const where = isNamed ? named.where : undefined;
  const updates = isColumns<IntoSql>(named.values)
    ? entriesOf(named.values).map(([column, value]) => [column, toSql(value)])
    : entriesOf(isColumns<string>(named.valuesSql) ? named.valuesSql : (input as ByColumn<string>));
  if (updates.length === 0) throw new DirspaceError('InvalidInput', 'The update sets no column.');
  // A column may have that name; alone it is a condition without anything to set.
  if (!isNamed && updates.length === 1 && updates[0]?.[0] === 'where') {
    throw new DirspaceError(
      'InvalidInput',
      'The update has where and sets no column: give values or valuesSql beside it. A column named "where" is set by {valuesSql: {where: ...}}.',
    );
  }
  for (const [column, expression] of updates) {
    if (typeof expression === 'string') continue;
    throw new DirspaceError(
      'InvalidInput',
      `The expression for ${JSON.stringify(column)} is of type ${typeof expression}; it is SQL text. Give values as {values: {...}}.`,
    );
  }
  const [beside, given] = [checkWhere(where), checkWhere(options.where)];
  if (beside !== undefined && given !== undefined && beside !== given) {
    throw new DirspaceError(
      'InvalidInput',
      `where is given twice, as ${JSON.stringify(beside)} beside the values and as the option ${JSON.stringify(given)}. Give one of them.`,
    );
  }
  const predicate = given ?? beside;
  return {
    updates: updates.map((pair) => [...pair]),
    ...(predicate === undefined ? {} : { predicate }),
  };
}

const isColumns = <Value>(value: unknown): value is ByColumn<Value> =>
  typeof value === 'object' && value !== null;

function entriesOf<Value>(columns: ByColumn<Value>): [string, Value][] {
  return columns instanceof Map ? [...columns] : Object.entries(columns as Record<string, Value>);
}
