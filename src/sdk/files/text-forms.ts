/**
 * Converts texts that stand for other values: base64 for bytes, and `NaN` and the infinities for a
 * float, inside nested values too. `csvForms` converts a column of CSV, where numbers for a float
 * and true and false are texts as well. `jsonForms` returns a function that converts rows of JSON
 * in place, or undefined if no column needs it. A text that does not fit stays as it is, and is
 * refused when the column is built.
 */
import {
  childFields,
  type DataType,
  type Dictionary,
  type Field,
  Type,
} from '../../arrow/index.ts';

/** A value of the type, where the text stands for one. */
type Change = (value: unknown) => unknown;

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const WORDS: ReadonlyMap<unknown, number> = new Map([
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
]);
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/** Undefined for types whose values are read as they stand. */
function changeOf(type: DataType, isPlainText: boolean): Change | undefined {
  switch (type.typeId) {
    case Type.Binary:
    case Type.LargeBinary:
    case Type.BinaryView:
    case Type.FixedSizeBinary:
      return (value) =>
        typeof value === 'string' && BASE64.test(value) ? fromBase64(value) : value;
    case Type.Float:
      return (value) =>
        WORDS.get(value) ??
        (isPlainText && typeof value === 'string' && NUMBER.test(value) ? Number(value) : value);
    case Type.Bool:
      if (!isPlainText) return undefined;
      return (value) => (value === 'true' ? true : value === 'false' ? false : value);
    case Type.Dictionary:
      return changeOf((type as Dictionary).dictionary, isPlainText);
    case Type.List:
    case Type.LargeList:
    case Type.FixedSizeList: {
      const item = changeOf((childFields(type)[0] as Field).type, false);
      if (item === undefined) return undefined;
      return (value) => (Array.isArray(value) ? value.map(item) : value);
    }
    case Type.Struct: {
      const members = changesOf(childFields(type));
      if (members === undefined) return undefined;
      return (value) => {
        if (typeof value === 'object' && value !== null) changeRow(value, members);
        return value;
      };
    }
    case Type.Map: {
      const [key, item] = childFields((childFields(type)[0] as Field).type).map(
        (field) => changeOf(field.type, false) ?? ((value: unknown) => value),
      ) as [Change, Change];
      return (value) => {
        if (Array.isArray(value)) {
          return value.map((pair: unknown) =>
            Array.isArray(pair) && pair.length === 2 ? [key(pair[0]), item(pair[1])] : pair,
          );
        }
        if (typeof value !== 'object' || value === null) return value;
        return Object.entries(value).map(([name, each]) => [key(name), item(each)]);
      };
    }
    default:
      return undefined;
  }
}

const fromBase64 = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'base64'));

type Changes = readonly (readonly [name: string, change: Change])[];

function changesOf(fields: readonly Pick<Field, 'name' | 'type'>[]): Changes | undefined {
  const found = fields.flatMap(({ name, type }) => {
    const change = changeOf(type, false);
    return change === undefined ? [] : [[name, change] as const];
  });
  return found.length === 0 ? undefined : found;
}

function changeRow(row: object, changes: Changes): void {
  for (const [name, change] of changes) {
    if (!Object.hasOwn(row, name)) continue;
    const found: unknown = Reflect.get(row, name);
    const value = change(found);
    if (value === found) continue;
    Object.defineProperty(row, name, {
      value,
      ...{ enumerable: true, configurable: true, writable: true },
    });
  }
}

/** Changes rows of JSON in place; undefined where none of these columns has such a type. */
export function jsonForms(
  fields: readonly Pick<Field, 'name' | 'type'>[],
): ((row: object) => void) | undefined {
  const changes = changesOf(fields);
  return changes === undefined ? undefined : (row) => changeRow(row, changes);
}

/** The values of a column of CSV, which are texts, or of JSON where the type is nested. */
export function csvForms(type: DataType, values: readonly unknown[]): readonly unknown[] {
  const change = changeOf(type, true);
  return change === undefined ? values : values.map(change);
}
