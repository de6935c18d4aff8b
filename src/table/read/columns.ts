/**
 * `resolveColumns` resolves the columns that a reader asks for, which are names or SQL expressions,
 * against the fields of a version. A dotted name is a field of structs, unless a column has that
 * name. Unknown names throw TableColumnNotFound; faulty SQL and a name asked for twice throw
 * InvalidInput. `schemaOfColumns` returns the schema of what is read. `rowIdColumn` and
 * `rowOffsetColumn` build the columns `_rowid` and `_rowoffset` of consecutive rows.
 */
import { type Data, dataOf, Field, Schema, Uint64 } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { type CompiledExpression, compileExpression } from '../../sql/index.ts';
import { quotedPath } from '../../sql-quotes.ts';
import { type IdentifiedField, noColumn, structPath } from '../fields/index.ts';
import type { Snapshot } from '../versions/index.ts';
import type { Turn } from '../work/index.ts';

/** Address of a row: fragment id in the upper 32 bits, offset in the fragment in the lower ones. */
export const ROW_ID = '_rowid';
/** Position of a row among the live rows of the version. */
export const ROW_OFFSET = '_rowoffset';

export type ReadColumn =
  | { readonly kind: 'field'; readonly name: string; readonly field: IdentifiedField }
  | { readonly kind: 'row id'; readonly name: string }
  | { readonly kind: 'row offset'; readonly name: string }
  | { readonly kind: 'value'; readonly name: string; readonly expression: CompiledExpression };

/** Names of columns, or output names with the SQL expressions that give them. */
export type ColumnRequest = readonly string[] | Readonly<Record<string, string>>;

/** @throws TableColumnNotFound, InvalidInput for expressions that do not compile */
export async function resolveColumns(
  snapshot: Snapshot,
  request: ColumnRequest | undefined,
  withRowId: boolean,
  turn: Turn,
  signal: AbortSignal | undefined,
): Promise<readonly ReadColumn[]> {
  if (request === undefined && !withRowId) return everyColumn(snapshot.fields);
  const byName = fieldsByName(snapshot.fields);
  const columns: ReadColumn[] = [];
  if (isNames(request)) {
    const names = request ?? snapshot.fields.map(({ field }) => field.name);
    const seen = new Set<string>();
    for (const name of names) {
      // At once: a list much longer than the table has columns is gone through no further.
      if (seen.size === seen.add(name).size) throw askedTwice();
      columns.push(namedColumn(byName, name) ?? (await nestedColumn(snapshot, name)));
    }
  } else {
    for (const [name, sql] of Object.entries(request)) {
      columns.push(await computedColumn(snapshot, byName, name, sql));
      if (!turn.isOver()) continue;
      await turn.pass();
      signal?.throwIfAborted();
    }
  }
  if (withRowId && !columns.some((column) => column.kind === 'row id')) {
    columns.push({ kind: 'row id', name: ROW_ID });
  }
  const names = new Set(columns.map(({ name }) => name));
  if (names.size === columns.length) return columns;
  throw askedTwice();
}

const askedTwice = (): DirspaceError =>
  new DirspaceError('InvalidInput', 'A column is asked for twice under the same name.');

type FieldsByName = ReadonlyMap<string, IdentifiedField>;

const named = new WeakMap<readonly IdentifiedField[], FieldsByName>();

function fieldsByName(fields: readonly IdentifiedField[]): FieldsByName {
  let found = named.get(fields);
  if (found === undefined) {
    found = new Map(fields.map((field) => [field.field.name, field]));
    named.set(fields, found);
  }
  return found;
}

const wholeRows = new WeakMap<readonly IdentifiedField[], readonly ReadColumn[]>();

/** The columns that are all fields; gives the same object for the same fields. */
function everyColumn(fields: readonly IdentifiedField[]): readonly ReadColumn[] {
  let columns = wholeRows.get(fields);
  if (columns === undefined) {
    columns = fields.map((field) => ({ kind: 'field', name: field.field.name, field }));
    wholeRows.set(fields, columns);
  }
  return columns;
}

const isNames = (request: ColumnRequest | undefined): request is readonly string[] | undefined =>
  request === undefined || Array.isArray(request);

function namedColumn(byName: FieldsByName, name: string): ReadColumn | undefined {
  const field = byName.get(name);
  if (field !== undefined) return { kind: 'field', name, field };
  if (name === ROW_ID) return { kind: 'row id', name };
  return name === ROW_OFFSET ? { kind: 'row offset', name } : undefined;
}

/** A field of structs by its dotted path, which is the name of the column, as in LanceDB. */
async function nestedColumn(snapshot: Snapshot, name: string): Promise<ReadColumn> {
  const path = structPath(snapshot.fields, name);
  if (path !== undefined) {
    return {
      kind: 'value',
      name,
      expression: await compileExpression(quotedPath(path), snapshot.schema),
    };
  }
  throw noColumn(snapshot.fields, name);
}

/** An expression that is just a column is read as one. */
async function computedColumn(
  snapshot: Snapshot,
  byName: FieldsByName,
  name: string,
  sql: string,
): Promise<ReadColumn> {
  const expression = await compileExpression(sql, snapshot.schema);
  const [column, ...nested] = expression.column ?? [];
  const field = column === undefined ? undefined : byName.get(column);
  if (field !== undefined && nested.length === 0) return { kind: 'field', name, field };
  // Under its own name it is the row id that `withRowId` asks for, not a second column of that name.
  const isRowId = name === ROW_ID && expression.usesRowId && expression.toSql() === ROW_ID;
  if (isRowId) return { kind: 'row id', name };
  return { kind: 'value', name, expression };
}

/** The schema of what is read. */
export function schemaOfColumns(schema: Schema, columns: readonly ReadColumn[]): Schema {
  const plain =
    columns.length === schema.fields.length &&
    columns.every(
      (column, at) =>
        column.kind === 'field' &&
        column.field.field === schema.fields[at] &&
        column.name === column.field.field.name,
    );
  if (plain) return schema;
  const fields = columns.map((column) => {
    if (column.kind === 'value') return new Field(column.name, column.expression.type, true);
    if (column.kind !== 'field') return new Field(column.name, new Uint64(), true);
    const { field } = column.field;
    if (field.name === column.name) return field;
    return new Field(column.name, field.type, field.nullable, field.metadata);
  });
  return new Schema(fields, schema.metadata);
}

/** Row ids of `rows` consecutive rows. */
export function rowIdColumn(fragment: number, firstOffset: number, rows: number): Data {
  const words = new Uint32Array(rows * 2);
  for (let row = 0; row < rows; row++) {
    words[2 * row] = firstOffset + row;
    words[2 * row + 1] = fragment;
  }
  return dataOf(new Uint64(), rows, { values: new BigUint64Array(words.buffer) });
}

/** Consecutive numbers from `first` on. */
export function rowOffsetColumn(first: number, rows: number): Data {
  const values = new BigUint64Array(rows);
  const start = BigInt(first);
  for (let row = 0; row < rows; row++) values[row] = start + BigInt(row);
  return dataOf(new Uint64(), rows, { values });
}
