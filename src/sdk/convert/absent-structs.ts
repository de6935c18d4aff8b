/**
 * `withoutAbsentStructs` returns the schema by which rows to add are read: that of the table
 * without the nullable top-level structs that the data lacks. Lance 2.0 cannot store a null struct,
 * but reads a column that is missing in a file as null, so the table still opens in Lance. Only
 * arrays of rows, Arrow tables and record batches are looked at. The whole schema is returned for
 * other data, if all columns of the table are such structs, and where the data's schema or first
 * row has a column that the table does not have.
 */
import { type Field, optionalStructs, Schema } from '../../arrow/index.ts';
import { isArrowLike } from './arrow-like.ts';
import { isSchemaLike } from './arrow-like-types.ts';
import type { DataInput } from './data.ts';

/** By the names that are left out: a program adds rows of one form over and over. */
const narrowed = new WeakMap<Schema, Map<string, Schema>>();

/** The schema to read the data by. Data that can be read once only is taken as it is. */
export function withoutAbsentStructs(schema: Schema, data: DataInput): Schema {
  const structs = optionalStructs(schema.fields);
  if (structs.length === 0) return schema;
  const absent = new Set(absentFrom(data, structs, schema));
  if (absent.size === 0) return schema;
  const key = JSON.stringify([...absent]);
  const known = narrowed.get(schema) ?? new Map<string, Schema>();
  narrowed.set(schema, known);
  const found = known.get(key);
  if (found !== undefined) return found;
  const fields = schema.fields.filter(({ name }) => !absent.has(name));
  const made = new Schema(fields, schema.metadata);
  known.set(key, made);
  return made;
}

function absentFrom(data: DataInput, structs: readonly Field[], { fields }: Schema): string[] {
  const names = structs.map(({ name }) => name);
  // An unknown name may be a misspelt struct: the error says so by the whole schema.
  const isKnown = (given: string | null): boolean => fields.some(({ name }) => name === given);
  if (isArrowLike(data)) {
    if (!('schema' in data) || !isSchemaLike(data.schema)) return [];
    const given = new Set(data.schema.fields.map(({ name }) => name));
    return [...given].every(isKnown) ? names.filter((name) => !given.has(name)) : [];
  }
  if (!Array.isArray(data) || data.length === 0 || isArrowLike(data[0])) return [];
  const rows: readonly unknown[] = data;
  if (!Object.keys(data[0] ?? {}).every(isKnown)) return [];
  return names.filter((name) =>
    rows.every((row) => typeof row === 'object' && row !== null && !(name in row)),
  );
}
