/**
 * Answers the questions about Arrow types that code on buffers asks: how the values of a type lie
 * in memory (`layoutOf`), in which typed array (`valueArray`), how wide they are (`strideOf`,
 * `byteWidth`), and whether offsets have 64 bits (`hasLargeOffsets`). `plainType` is the type of a
 * dictionary's values, `childFields` gives the fields of a nested type, and `optionalStructs` the
 * columns that a file may do without. `mapType` and
 * `changeField` copy types and fields with some parts replaced.
 */

import { DirspaceError } from '../errors.ts';
import {
  type DataType,
  type Date_,
  DateUnit,
  type Decimal,
  Dictionary,
  Field,
  FixedSizeList,
  type Interval,
  LargeList,
  List,
  Map_,
  Struct,
  Type,
  Union,
} from './apache.ts';

/** How the values of a type lie in buffers, apart from its validity bitmap. */
export type Layout =
  | 'null'
  | 'bits'
  | 'fixed'
  | 'binary'
  | 'view'
  | 'list'
  | 'fixed-list'
  | 'struct'
  | 'union'
  | 'dictionary';

export type TypedArray =
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | Float32Array
  | Float64Array
  | BigInt64Array
  | BigUint64Array;

export interface TypedArrayConstructor<Values extends TypedArray = TypedArray> {
  new (buffer: ArrayBufferLike, byteOffset: number, length: number): Values;
  new (length: number): Values;
  readonly BYTES_PER_ELEMENT: number;
}

export function layoutOf(type: DataType): Layout {
  switch (type.typeId) {
    case Type.Null:
      return 'null';
    case Type.Bool:
      return 'bits';
    case Type.Binary:
    case Type.Utf8:
    case Type.LargeBinary:
    case Type.LargeUtf8:
      return 'binary';
    case Type.BinaryView:
    case Type.Utf8View:
      return 'view';
    case Type.List:
    case Type.LargeList:
    case Type.Map:
      return 'list';
    case Type.FixedSizeList:
      return 'fixed-list';
    case Type.Struct:
      return 'struct';
    case Type.Union:
      return 'union';
    case Type.Dictionary:
      return 'dictionary';
    default:
      return 'fixed';
  }
}

/** True for types whose offsets are 64 bits wide. */
export const hasLargeOffsets = (type: DataType): boolean =>
  type.typeId === Type.LargeBinary ||
  type.typeId === Type.LargeUtf8 ||
  type.typeId === Type.LargeList;

/** The array that holds the values of a fixed-width type; for dictionaries that of the indices. */
export function valueArray(type: DataType): TypedArrayConstructor {
  const found: unknown =
    type.typeId === Type.Dictionary
      ? (type as Dictionary).indices.ArrayType
      : type.typeId === Type.Date
        ? (type as Date_).unit === DateUnit.DAY
          ? Int32Array
          : BigInt64Array
        : type.ArrayType;
  return found as TypedArrayConstructor;
}

/** Sub-values of one value in a fixed-width values array, as Data.stride counts them. */
export function strideOf(type: DataType): number {
  switch (type.typeId) {
    case Type.Decimal:
      return (type as Decimal).bitWidth / 32;
    case Type.Interval:
      return [1, 2, 4][(type as Interval).unit] ?? 1;
    case Type.BinaryView:
    case Type.Utf8View:
      return 16;
    case Type.FixedSizeList:
      return (type as FixedSizeList).listSize;
    case Type.FixedSizeBinary:
      return (type as unknown as { byteWidth: number }).byteWidth;
    default:
      return 1;
  }
}

/** Bytes of one value of a fixed-width type or of one index of a dictionary type. */
export const byteWidth = (type: DataType): number =>
  valueArray(type).BYTES_PER_ELEMENT * strideOf(type);

/** The type of a dictionary's values; any other type is itself. */
export const plainType = (type: DataType): DataType =>
  type.typeId === Type.Dictionary ? plainType((type as Dictionary).dictionary) : type;

/** Child fields; a dictionary's are those of its values. */
export const childFields = (type: DataType): readonly Field[] =>
  (type.children ?? []) as readonly Field[];

/** Applies `change` to a type's own child fields, not to theirs; types without children are kept as is. */
export function mapType(type: DataType, change: (field: Field) => Field): DataType {
  const child = (index: number): Field => {
    const field = childFields(type)[index];
    if (field === undefined)
      throw new DirspaceError('Internal', `${String(type)} lacks child ${index}`);
    return change(field);
  };
  switch (type.typeId) {
    case Type.List:
      return new List(child(0));
    case Type.LargeList:
      return new LargeList(child(0));
    case Type.FixedSizeList:
      return new FixedSizeList((type as FixedSizeList).listSize, child(0));
    case Type.Struct:
      return new Struct(childFields(type).map(change));
    case Type.Union:
      return new Union(
        (type as Union).mode,
        (type as Union).typeIds,
        childFields(type).map(change),
      );
    case Type.Map:
      return new Map_(child(0) as Field<Struct>, (type as Map_).keysSorted);
    case Type.Dictionary: {
      const { dictionary, indices, id, isOrdered } = type as Dictionary;
      return new Dictionary(mapType(dictionary, change), indices, id, isOrdered);
    }
    default:
      return type;
  }
}

/**
 * The columns of nullable structs, which a file may do without where all of its rows have null; none
 * if no other column is left. Lance 2.0 has no form for a null struct, but one for such a column.
 */
export function optionalStructs(fields: readonly Field[]): readonly Field[] {
  const structs = fields.filter(({ type, nullable }) => nullable && type.typeId === Type.Struct);
  return structs.length < fields.length ? structs : [];
}

/** A copy of a field with some of its parts replaced: the class of map types renames the fields that it is given. */
export const changeField = (
  field: Field,
  parts: { type?: DataType; metadata?: Map<string, string>; nullable?: boolean },
): Field =>
  new Field(
    field.name,
    parts.type ?? field.type,
    parts.nullable ?? field.nullable,
    parts.metadata ?? field.metadata,
  );
