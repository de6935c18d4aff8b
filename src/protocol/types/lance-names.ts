/**
 * `lanceTypeName` returns the name by which Lance's clients know an Arrow type, or Arrow's own name
 * if Lance has none. For a type that Arrow does not have it calls the caller's `refuse`.
 * type-parser.ts reads both kinds of names.
 */
import { DataType, Precision, type Refuse, Type, typeName } from '../../arrow/index.ts';

const FLOATS: Readonly<Record<Precision, string>> = {
  [Precision.HALF]: 'halffloat',
  [Precision.SINGLE]: 'float',
  [Precision.DOUBLE]: 'double',
};

/** Lance's name of a type, or Arrow's where Lance has none. */
export function lanceTypeName(type: DataType, refuse: Refuse): string {
  if (type.typeId === Type.Utf8) return 'string';
  if (type.typeId === Type.LargeUtf8) return 'large_string';
  if (DataType.isFloat(type)) return FLOATS[type.precision];
  const arrow = typeName(type, refuse);
  if (arrow === 'date32') return 'date32:day';
  if (arrow === 'date64') return 'date64:ms';
  if (DataType.isTimestamp(type)) return type.timezone ? arrow : `${arrow}:-`;
  if (DataType.isDecimal(type) && type.bitWidth >= 128) {
    return `decimal:${type.bitWidth}:${type.precision}:${type.scale}`;
  }
  if (DataType.isDictionary(type) && !type.dictionary.children) {
    const value = lanceTypeName(type.dictionary, refuse);
    return `dict:${value}:${typeName(type.indices, refuse)}:${type.isOrdered}`;
  }
  return arrow;
}
