/**
 * `typeName` names an Arrow type as the protocol's JSON does, for example `timestamp:us:UTC`;
 * protocol/types/type-parser.ts parses these names. For a type that Arrow's format cannot have,
 * such as a time of 64-bit seconds, it calls the caller's `refuse`, and so do `checkDecimal` and
 * `checkTime`. `blobPaths` finds the blob columns: structs of a fitting type (`isBlobType`) whose
 * field metadata has Lance's extension name for blobs (`isBlobField`). `blobPath` throws
 * InvalidInput or TableColumnNotFound for a name of none. `missingBlob` and `blobElsewhere` make
 * the errors of reading blobs.
 */
import { DirspaceError } from '../errors.ts';
import { suggestion } from '../known-names.ts';
import { TIME_UNITS } from '../values/index.ts';
import { DataType, DateUnit, type Field, TimeUnit, Type, UnionMode } from './apache.ts';

/** Called with what is wrong; throws the caller's error. */
export type Refuse = (problem: string) => never;

/** Most digits of a decimal, by its width in bits. */
export const DECIMAL_DIGITS: ReadonlyMap<number, number> = new Map([
  [32, 9],
  [64, 18],
  [128, 38],
  [256, 76],
]);
export const INTERVAL_UNITS = ['year_month', 'day_time', 'month_day_nano'] as const;
export const MAX_INT32 = 0x7fff_ffff;

const UNITLESS_NAMES: ReadonlyMap<Type, string> = new Map([
  [Type.Null, 'null'],
  [Type.Bool, 'bool'],
  [Type.Utf8, 'utf8'],
  [Type.LargeUtf8, 'large_utf8'],
  [Type.Utf8View, 'utf8_view'],
  [Type.Binary, 'binary'],
  [Type.LargeBinary, 'large_binary'],
  [Type.BinaryView, 'binary_view'],
  [Type.FixedSizeBinary, 'fixed_size_binary'],
  [Type.List, 'list'],
  [Type.LargeList, 'large_list'],
  [Type.FixedSizeList, 'fixed_size_list'],
  [Type.Struct, 'struct'],
]);

/**
 * Arrow's name of a type with the parameters that have no member of their own after colons. Child
 * fields and fixed lengths are not in it; a dictionary takes those of its values.
 * `refuse` is called for a type that Arrow does not have, such as a time of 64-bit seconds.
 */
export function typeName(type: DataType, refuse: Refuse): string {
  const plain = UNITLESS_NAMES.get(type.typeId);
  if (plain !== undefined) return plain;
  if (DataType.isInt(type)) return `${type.isSigned ? 'int' : 'uint'}${type.bitWidth}`;
  if (DataType.isFloat(type)) return `float${[16, 32, 64][type.precision]}`;
  if (DataType.isDecimal(type)) {
    checkDecimal(type.bitWidth, type.precision, type.scale, refuse);
    return `decimal${type.bitWidth}:${type.precision}:${type.scale}`;
  }
  if (DataType.isDate(type)) return type.unit === DateUnit.DAY ? 'date32' : 'date64';
  if (DataType.isTime(type)) {
    checkTime(type.bitWidth, type.unit, refuse);
    return `time${type.bitWidth}:${TIME_UNITS[type.unit]}`;
  }
  if (DataType.isTimestamp(type)) {
    const zone = type.timezone;
    // A lone minus is how Lance writes that there is no zone.
    if (zone === '-') refuse('"-" is no time zone');
    return `timestamp:${TIME_UNITS[type.unit]}${zone ? `:${zone}` : ''}`;
  }
  if (DataType.isDuration(type)) return `duration:${TIME_UNITS[type.unit]}`;
  if (DataType.isInterval(type)) return `interval:${INTERVAL_UNITS[type.unit]}`;
  if (DataType.isMap(type)) return type.keysSorted ? 'map:keys_sorted' : 'map';
  if (DataType.isUnion(type)) {
    const mode = type.mode === UnionMode.Dense ? 'dense_union' : 'sparse_union';
    return type.typeIds.length === 0 ? mode : `${mode}:${type.typeIds.join(',')}`;
  }
  if (DataType.isDictionary(type)) {
    if (DataType.isDictionary(type.dictionary)) refuse('a dictionary cannot hold dictionaries');
    const ordered = type.isOrdered ? 'ordered:' : '';
    const index = typeName(type.indices, refuse);
    return `dictionary:${index}:${ordered}${typeName(type.dictionary, refuse)}`;
  }
  return refuse(`there is no name for the Arrow type ${type}`);
}

const EXTENSION_NAME = 'ARROW:extension:name';
const BLOB = 'lance.blob.v2';

/** The metadata of a column of blobs, by which it is known. */
export const BLOB_METADATA: ReadonlyMap<string, string> = new Map([[EXTENSION_NAME, BLOB]]);

/**
 * Whether a type can hold blobs: a struct of `data`, which are bytes, and `uri`, a text. LanceDB's
 * Python client adds `position` and `size`, which belong to the address.
 */
export function isBlobType(type: DataType): boolean {
  if (!DataType.isStruct(type)) return false;
  const [data, uri, ...more] = type.children as Field[];
  return (
    data?.name === 'data' &&
    (DataType.isLargeBinary(data.type) || DataType.isBinary(data.type)) &&
    uri?.name === 'uri' &&
    DataType.isUtf8(uri.type) &&
    (more.length === 0 || more.map(({ name }) => name).join() === 'position,size')
  );
}

/** Whether a column or a member holds blobs, by its metadata and its type. */
export const isBlobField = (field: Field): boolean =>
  field.metadata.get(EXTENSION_NAME) === BLOB && isBlobType(field.type);

/** The columns of blobs, as the names from the top down to each. */
export const blobPaths = (fields: readonly Field[]): string[][] =>
  fields.flatMap((field) => {
    if (isBlobField(field)) return [[field.name]];
    if (!DataType.isStruct(field.type)) return [];
    return blobPaths(field.type.children as Field[]).map((path) => [field.name, ...path]);
  });

/**
 * The path of a column of blobs, which is named with dots between its parts.
 * @throws InvalidInput for a column without blobs, TableColumnNotFound
 */
export function blobPath(fields: readonly Field[], column: string): string[] {
  const paths = blobPaths(fields);
  const found = paths.find((path) => path.join('.') === column);
  if (found !== undefined) return found;
  const known = paths.map((path) => path.join('.'));
  const has = known.length === 0 ? 'none' : known.join(', ');
  if (fields.some(({ name }) => name === column)) {
    throw new DirspaceError(
      'InvalidInput',
      `The column ${JSON.stringify(column)} is not a blob column; the table has ${has}.`,
      { details: { column } },
    );
  }
  throw new DirspaceError(
    'TableColumnNotFound',
    `There is no column ${JSON.stringify(column)}; of blobs the table has ${has}.${suggestion(column, known)}`,
    { details: { column } },
  );
}

/** The error for a row id that no live row has. */
export function missingBlob(column: string, rowId: bigint): DirspaceError {
  return new DirspaceError(
    'InvalidInput',
    `There is no row with the id ${rowId}, whose blob in ${JSON.stringify(column)} was asked for. Ids are those of withRowId() in the version that is read.`,
    { details: { column, row_id: String(rowId) } },
  );
}

/** The error for a blob whose bytes are not in the table but at an address. */
export function blobElsewhere(column: string, uri: string): DirspaceError {
  return new DirspaceError(
    'Unsupported',
    `A blob in ${JSON.stringify(column)} is at ${JSON.stringify(uri.slice(0, 100))}, which is not read here. Read it from there.`,
    { details: { column } },
  );
}

export function checkDecimal(bits: number, precision: number, scale: number, refuse: Refuse): void {
  const most = DECIMAL_DIGITS.get(bits);
  if (most === undefined) refuse(`a decimal has no width of ${bits} bits`);
  if (!(Number.isInteger(precision) && precision >= 1 && precision <= (most ?? 0))) {
    refuse(`the precision of a decimal${bits} is from 1 to ${most}, not ${precision}`);
  }
  if (!(Number.isInteger(scale) && Math.abs(scale) <= MAX_INT32)) {
    refuse(`the scale of a decimal is a 32-bit integer, not ${scale}`);
  }
}

export function checkTime(bits: number, unit: TimeUnit, refuse: Refuse): void {
  if (bits !== (unit <= TimeUnit.MILLISECOND ? 32 : 64)) {
    refuse(
      `there is no time of ${bits} bits in "${TIME_UNITS[unit]}": s and ms have 32, us and ns 64`,
    );
  }
}
