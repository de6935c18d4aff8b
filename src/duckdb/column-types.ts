/**
 * `sqlType` gives the DuckDB type, as SQL, for the values of an Arrow type. If DuckDB has no type
 * for them, it throws Unsupported with the path of the column. `refuseTwins` throws Unsupported for
 * columns whose names differ only in case. column-values.ts refuses single values that the DuckDB
 * type does not hold.
 */
import {
  type DataType,
  type Decimal,
  type Dictionary,
  describeType,
  type Field,
  type FixedSizeList,
  type Float,
  type Int,
  Precision,
  type Time,
  type Timestamp,
  TimeUnit,
  Type,
} from '../arrow/index.ts';
import { DirspaceError } from '../errors.ts';
import { quotedName } from '../sql-quotes.ts';

/** Digits of a decimal, and items of an array, that DuckDB takes at most. */
const MOST_DIGITS = 38;
const MOST_ITEMS = 100_000;

const INTEGERS: Readonly<Record<number, string>> = {
  8: 'TINYINT',
  16: 'SMALLINT',
  32: 'INTEGER',
  64: 'BIGINT',
};

const TIMESTAMPS: Readonly<Record<number, string>> = {
  [TimeUnit.SECOND]: 'TIMESTAMP_S',
  [TimeUnit.MILLISECOND]: 'TIMESTAMP_MS',
  [TimeUnit.MICROSECOND]: 'TIMESTAMP',
  [TimeUnit.NANOSECOND]: 'TIMESTAMP_NS',
};

/** @param path of the column, for the error @throws Unsupported */
export function sqlType(type: DataType, path: string): string {
  switch (type.typeId) {
    case Type.Null:
      return 'INTEGER';
    case Type.Bool:
      return 'BOOLEAN';
    case Type.Int: {
      const { bitWidth, isSigned } = type as Int;
      return `${isSigned ? '' : 'U'}${INTEGERS[bitWidth]}`;
    }
    case Type.Float:
      return (type as Float).precision === Precision.DOUBLE ? 'DOUBLE' : 'FLOAT';
    case Type.Utf8:
    case Type.LargeUtf8:
    case Type.Utf8View:
      return 'VARCHAR';
    case Type.Binary:
    case Type.LargeBinary:
    case Type.BinaryView:
    case Type.FixedSizeBinary:
      return 'BLOB';
    case Type.Decimal: {
      const { precision, scale } = type as Decimal;
      if (precision > MOST_DIGITS || scale < 0 || scale > precision) throw refused(type, path);
      return `DECIMAL(${precision}, ${scale})`;
    }
    case Type.Date:
      return 'DATE';
    case Type.Time:
      return (type as Time).unit === TimeUnit.NANOSECOND ? 'TIME_NS' : 'TIME';
    case Type.Timestamp: {
      const { unit, timezone } = type as Timestamp;
      return timezone ? 'TIMESTAMPTZ' : (TIMESTAMPS[unit] as string);
    }
    case Type.Duration:
    case Type.Interval:
      return 'INTERVAL';
    case Type.List:
    case Type.LargeList:
      return `${itemType(type, path)}[]`;
    case Type.FixedSizeList: {
      const { listSize } = type as FixedSizeList;
      if (listSize > MOST_ITEMS) throw refused(type, path);
      // DuckDB has no arrays of nothing.
      return `${itemType(type, path)}[${listSize === 0 ? '' : listSize}]`;
    }
    case Type.Struct:
      return structType(type, path);
    case Type.Map: {
      const [entries] = type.children as readonly Field[];
      const [key, value] = (entries as Field).type.children as readonly Field[];
      const named = ({ name, type: inner }: Field): string => sqlType(inner, `${path}.${name}`);
      return `MAP(${named(key as Field)}, ${named(value as Field)})`;
    }
    case Type.Dictionary:
      return sqlType((type as Dictionary).dictionary, path);
    default:
      throw refused(type, path);
  }
}

function itemType(type: DataType, path: string): string {
  const item = type.children[0] as Field;
  return sqlType(item.type, `${path}.${item.name}`);
}

function structType(type: DataType, path: string): string {
  const fields = type.children as readonly Field[];
  if (fields.length === 0) throw refused(type, path);
  refuseTwins(fields, path);
  return `STRUCT(${fields.map(({ name, type: inner }) => `${quotedName(name)} ${sqlType(inner, `${path}.${name}`)}`).join(', ')})`;
}

/** DuckDB takes names that differ in case alone for one name. @throws Unsupported */
export function refuseTwins(fields: readonly Field[], path?: string): void {
  const seen = new Map<string, string>();
  for (const { name } of fields) {
    const known = seen.get(name.toLowerCase());
    if (known !== undefined) {
      throw new DirspaceError(
        'Unsupported',
        `DuckDB takes ${JSON.stringify(known)} and ${JSON.stringify(name)}${path === undefined ? '' : ` in ${path}`} for one name. Give one of them another name, such as columns: { ${JSON.stringify(`${name}_2`)}: ${JSON.stringify(quotedName(name))} }, or leave it out.`,
        { details: { column: path ?? name } },
      );
    }
    seen.set(name.toLowerCase(), name);
  }
}

const refused = (type: DataType, path: string): DirspaceError =>
  new DirspaceError(
    'Unsupported',
    `The column ${path} is of ${describeType(type)}, and DuckDB has no type that holds its values. Leave it out: name the others in columns.`,
    { details: { column: path } },
  );
