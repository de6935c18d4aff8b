/**
 * `primaryKeyChange` checks that a column can be a table's primary key, and returns the change of
 * field metadata that declares it, under Lance's name. The key is one top-level column that is not
 * nullable: a signed integer of 32 or 64 bits, a text or a binary, but no view. Any other column,
 * several columns, or a table that has a key already throw InvalidInput, and an unknown column
 * throws TableColumnNotFound. The key is not enforced: values are not checked.
 */
import { type DataType, describeType, type Schema, Type } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import type { FieldMetadataUpdate } from './columns.ts';

/** In the metadata of a field: its place in the key, from 1 on. */
const POSITION = 'lance-schema:unenforced-primary-key:position';
const OLD_FLAG = 'lance-schema:unenforced-primary-key';

export function primaryKeyChange(
  schema: Schema,
  columns: string | readonly string[],
): FieldMetadataUpdate {
  const names = typeof columns === 'string' ? [columns] : columns;
  const [name, ...more] = Array.isArray(names) ? names : [];
  if (typeof name !== 'string' || more.length > 0) {
    throw invalid(
      `setUnenforcedPrimaryKey takes one column, and was given ${Array.isArray(names) ? names.length : typeof names}.`,
    );
  }
  const taken = schema.fields.find(
    ({ metadata }) => metadata.has(POSITION) || metadata.has(OLD_FLAG),
  );
  if (taken !== undefined) {
    throw invalid(
      `The table has the primary key ${JSON.stringify(taken.name)} already, which cannot be changed.`,
    );
  }
  const field = schema.fields.find((one) => one.name === name);
  if (field === undefined) {
    throw new DirspaceError(
      'TableColumnNotFound',
      `There is no column ${JSON.stringify(name)} to be the primary key; the table has ${schema.fields.map((one) => one.name).join(', ')}.`,
      { details: { column: name } },
    );
  }
  if (field.nullable) {
    throw invalid(
      `The column ${JSON.stringify(name)} may be null and cannot be a primary key; alter it with nullable: false first.`,
    );
  }
  if (!isKeyType(field.type)) {
    throw invalid(
      `The column ${JSON.stringify(name)} of type ${describeType(field.type)} cannot be a primary key: that is an int32, int64, text or binary.`,
    );
  }
  return { path: name, metadata: { [POSITION]: '1' } };
}

function isKeyType(type: DataType): boolean {
  switch (type.typeId) {
    case Type.Utf8:
    case Type.LargeUtf8:
    case Type.Binary:
    case Type.LargeBinary:
    case Type.FixedSizeBinary:
      return true;
    case Type.Int: {
      const { isSigned, bitWidth } = type as DataType & { isSigned: boolean; bitWidth: number };
      return isSigned && bitWidth >= 32;
    }
    default:
      return false;
  }
}

const invalid = (message: string): DirspaceError => new DirspaceError('InvalidInput', message);
