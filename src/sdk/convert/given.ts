/**
 * Reduces a schema to the columns and struct members that occur in the given data, which is rows
 * (`givenInRows`) or has a schema of its own (`givenInSchema`). A merge needs this to tell a
 * column that was left out from a column of nulls. A member of a row whose value is undefined
 * counts as left out. Without rows the schema stays as it is; a struct of which no member is given
 * stays whole.
 */
import { DataType, Field, Schema, Struct } from '../../arrow/index.ts';
import { hasMember, type Records, take } from '../build/index.ts';

type GivenMembers = (field: Field) => readonly Field[] | undefined;

/** A value of undefined is none. All columns where there are no rows. */
export function givenInRows(schema: Schema, rows: Records): Schema {
  if (rows.length === 0) return schema;
  return narrowed(schema, inRows(schema.fields, rows));
}

const inRows = (fields: readonly Field[], rows: Records): readonly Field[] =>
  fields.flatMap((field) => {
    if (!hasMember(rows, field.name)) return [];
    const inside: GivenMembers = ({ type }) =>
      inRows((type as Struct).children, take(rows, field.name) as unknown as Records);
    return withMembers(field, inside);
  });

function narrowed(schema: Schema, fields: readonly Field[]): Schema {
  const same = fields.length === schema.fields.length;
  if (same && fields.every((field, at) => field === schema.fields[at])) return schema;
  return new Schema([...fields], schema.metadata);
}

export function givenInSchema(schema: Schema, have: Schema): Schema {
  return narrowed(schema, inFields(schema.fields, have.fields));
}

function inFields(fields: readonly Field[], have: readonly Field[]): readonly Field[] {
  return fields.flatMap((field) => {
    const found = have.find(({ name }) => name === field.name);
    if (found === undefined) return [];
    return withMembers(field, ({ type }) =>
      DataType.isStruct(found.type)
        ? inFields((type as Struct).children, found.type.children)
        : undefined,
    );
  });
}

function withMembers(field: Field, given: GivenMembers): Field {
  if (!DataType.isStruct(field.type)) return field;
  const members = given(field);
  const all = field.type.children;
  if (members === undefined || members.length === 0) return field;
  if (members.every((member, at) => member === all[at]) && members.length === all.length)
    return field;
  return new Field(field.name, new Struct([...members]), field.nullable, field.metadata);
}
