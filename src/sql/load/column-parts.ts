/**
 * `truthOf` returns the truth values of a boolean column. `memberOf` returns one member of a struct
 * column, by its index; it is null wherever the struct is null.
 */
import type { DataType } from '../../arrow/index.ts';
import { type Column, columnOf, FALSE, reader, TRUE, UNKNOWN, type Value } from '../typed/index.ts';
import { withValidity } from './frame.ts';

/** Truth values of a boolean column. */
export function truthOf(column: Column): Uint8Array {
  if (column.form === 'truth') return column.values;
  const out = new Uint8Array(column.length);
  if (column.form === 'constant') {
    return out.fill(column.value === null ? UNKNOWN : column.value === true ? TRUE : FALSE);
  }
  const read = reader(column);
  for (let i = 0; i < out.length; i++) {
    const value = read(i);
    out[i] = value === true ? TRUE : value === false ? FALSE : UNKNOWN;
  }
  return out;
}

export function memberOf(column: Column, index: number, type: DataType): Column {
  if (column.form === 'struct') {
    const child = column.children[index];
    if (child !== undefined) return withValidity(child, column.valid);
  }
  const name = (column.type.children?.[index] as { name: string } | undefined)?.name ?? '';
  const read = reader(column);
  const values = Array.from({ length: column.length }, (_, row) => {
    const value = read(row) as Record<string, Value> | null;
    return value === null ? null : (value[name] ?? null);
  });
  return columnOf(type, values);
}
