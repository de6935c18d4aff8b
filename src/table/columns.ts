/**
 * Which columns a reader asked for, and where each is in a fragment: by field id, so that fragments
 * written under older names and before newer columns are still understood.
 */
import { type Data, Field, Schema, Uint64 } from '../arrow.ts';
import { DirspaceError } from '../errors.ts';
import { dataOf, nullColumn } from '../format/arrow-data.ts';
import type { IdentifiedField } from './field-ids.ts';

/** Address of a row: fragment id in the upper 32 bits, offset in the fragment in the lower ones. */
export const ROW_ID = '_rowid';
/** Position of a row among the live rows of the version. */
export const ROW_OFFSET = '_rowoffset';

export type ReadColumn =
  | { readonly kind: 'field'; readonly field: IdentifiedField }
  | { readonly kind: 'row id' }
  | { readonly kind: 'row offset' };

/** @throws TableColumnNotFound */
export function resolveColumns(
  fields: readonly IdentifiedField[],
  names: readonly string[] | undefined,
  withRowId: boolean,
): readonly ReadColumn[] {
  const byName = new Map(fields.map((field) => [field.field.name, field]));
  const columns = (names ?? [...byName.keys()]).map((name): ReadColumn => {
    const field = byName.get(name);
    if (field !== undefined) return { kind: 'field', field };
    if (name === ROW_ID) return { kind: 'row id' };
    if (name === ROW_OFFSET) return { kind: 'row offset' };
    throw new DirspaceError(
      'TableColumnNotFound',
      `There is no column ${JSON.stringify(name)}; the table has ${[...byName.keys()].slice(0, 30).join(', ')}.`,
      { details: { column: name } },
    );
  });
  if (withRowId && !columns.some((column) => column.kind === 'row id')) {
    columns.push({ kind: 'row id' });
  }
  return columns;
}

/** The schema of what is read. */
export function schemaOfColumns(schema: Schema, columns: readonly ReadColumn[]): Schema {
  const plain =
    columns.length === schema.fields.length &&
    columns.every(
      (column, index) => column.kind === 'field' && column.field.field === schema.fields[index],
    );
  if (plain) return schema;
  const fields = columns.map((column) => {
    if (column.kind === 'field') return column.field.field;
    return new Field(column.kind === 'row id' ? ROW_ID : ROW_OFFSET, new Uint64(), true);
  });
  return new Schema(fields, schema.metadata);
}

/** A column as the version describes it, out of what the fragment has, or nulls if it has none. */
export function adaptColumn(wanted: IdentifiedField, data: Data | undefined, rows: number): Data {
  return data ?? nullColumn(wanted.field.type, rows);
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
