/** Names Arrow types and shows JavaScript values in error messages. */
import {
  type DataType,
  type Date_,
  DateUnit,
  type Decimal,
  type Dictionary,
  type Field,
  type FixedSizeBinary,
  type FixedSizeList,
  type Float,
  type Int,
  type Interval,
  IntervalUnit,
  type Time,
  type Timestamp,
  Type,
} from '../../arrow/index.ts';
import { TIME_UNITS } from '../../values/index.ts';

const PLAIN: Partial<Record<Type, string>> = {
  [Type.Null]: 'null',
  [Type.Bool]: 'bool',
  [Type.Utf8]: 'utf8',
  [Type.LargeUtf8]: 'large_utf8',
  [Type.Utf8View]: 'utf8_view',
  [Type.Binary]: 'binary',
  [Type.LargeBinary]: 'large_binary',
  [Type.BinaryView]: 'binary_view',
};

/** `int64`, `fixed_size_list<float32>[16]`, `struct<a: utf8, b: int32>` and so on. */
export function typeName(type: DataType): string {
  const plain = PLAIN[type.typeId];
  if (plain !== undefined) return plain;
  const children = (type.children ?? []) as readonly Field[];
  const item = (): string => typeName((children[0] as Field).type as DataType);
  switch (type.typeId) {
    case Type.Int: {
      const { isSigned, bitWidth } = type as Int;
      return `${isSigned ? '' : 'u'}int${bitWidth}`;
    }
    case Type.Float:
      return `float${16 << (type as Float).precision}`;
    case Type.Decimal: {
      const { precision, scale, bitWidth } = type as Decimal;
      return `decimal${bitWidth}(${precision}, ${scale})`;
    }
    case Type.Date:
      return (type as Date_).unit === DateUnit.DAY ? 'date32' : 'date64';
    case Type.Time:
      return `time${(type as Time).bitWidth}(${TIME_UNITS[(type as Time).unit]})`;
    case Type.Timestamp: {
      const { unit, timezone } = type as Timestamp;
      return `timestamp(${TIME_UNITS[unit]}${timezone ? `, ${timezone}` : ''})`;
    }
    case Type.Duration:
      return `duration(${TIME_UNITS[(type as unknown as { unit: number }).unit]})`;
    case Type.Interval:
      return `interval(${IntervalUnit[(type as Interval).unit]?.toLowerCase()})`;
    case Type.FixedSizeBinary:
      return `fixed_size_binary[${(type as FixedSizeBinary).byteWidth}]`;
    case Type.FixedSizeList:
      return `fixed_size_list<${item()}>[${(type as FixedSizeList).listSize}]`;
    case Type.List:
      return `list<${item()}>`;
    case Type.LargeList:
      return `large_list<${item()}>`;
    case Type.Dictionary: {
      const { dictionary, indices } = type as Dictionary;
      return `dictionary<${typeName(dictionary)}, ${typeName(indices)}>`;
    }
    case Type.Map: {
      const [key, value] = (children[0] as Field).type.children as Field[];
      return `map<${typeName((key as Field).type)}, ${typeName((value as Field).type)}>`;
    }
    case Type.Struct:
      return `struct<${fieldNames(children)}>`;
    case Type.Union:
      return `union<${fieldNames(children)}>`;
    default:
      return `type ${String(type)}`;
  }
}

const fieldNames = (fields: readonly Field[]): string => {
  const shown = fields.slice(0, 6).map((field) => `${field.name}: ${typeName(field.type)}`);
  return fields.length > 6 ? `${shown.join(', ')}, ...` : shown.join(', ');
};

const shorten = (text: string): string => (text.length > 48 ? `${text.slice(0, 45)}...` : text);

/** The kind of a value and, shortened, the value: `string "abc"`, `array of 3`, `null`. */
export function showValue(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return `string ${shorten(JSON.stringify(value.slice(0, 60)))}`;
    case 'bigint':
      return `bigint ${shorten(value.toString())}n`;
    case 'number':
      return `number ${Object.is(value, -0) ? '-0' : value}`;
    case 'boolean':
      return `boolean ${value}`;
    case 'object':
      return value === null ? 'null' : showObject(value);
    default:
      return typeof value;
  }
}

function showObject(value: object): string {
  if (Array.isArray(value)) return `array of ${value.length}`;
  const tag = Object.prototype.toString.call(value).slice(8, -1);
  if (tag === 'Date') {
    const time = (value as Date).getTime();
    return Number.isNaN(time) ? 'Date (invalid)' : `Date ${new Date(time).toISOString()}`;
  }
  if (ArrayBuffer.isView(value)) return `${tag} of ${(value as Uint8Array).length} items`;
  if (tag === 'Map' || tag === 'Set') return `${tag} of ${(value as Map<unknown, unknown>).size}`;
  if (tag !== 'Object') return tag;
  return `object with keys ${shorten(Object.keys(value).slice(0, 12).join(', ')) || '(none)'}`;
}
