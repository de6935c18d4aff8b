/**
 * Builds columns of lists, structs and maps (`buildList`, `buildFixedList`, `buildStruct`,
 * `buildMap`) from JavaScript values: it flattens the values and builds the child columns. Values
 * of another shape throw TableSchemaValidation; a blob that is given as an address throws
 * Unsupported. `listPlace`, `fixedPlace` and `structPlace` tell where a nested value is, such as
 * `a.b[3]`, and whether it may be null.
 */
import {
  type Data,
  type DataType,
  type Field,
  type FixedSizeList,
  type Float,
  isBlobType,
  type List,
  type Map_,
  Precision,
  type Struct,
  Type,
} from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { wideOffsets } from './build-bytes.ts';
import { arrowData, type BuildContext, findNulls, misfit, type Place } from './column-data.ts';
import { asItems, isRecord } from './js-values.ts';
import { type Records, refuseUnknownKeys, take } from './records.ts';
import { showValue } from './show-value.ts';

type Values = readonly unknown[];

export function buildList(type: List, values: Values, place: Place, context: BuildContext): Data {
  const nulls = findNulls(type, values, place, context);
  const ends = new Int32Array(values.length + 1);
  const flat: unknown[] = [];
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (value !== null && value !== undefined) {
      const items = asItems(value);
      if (items === undefined) throw misfit(place, i, value, type, context);
      for (let k = 0; k < items.length; k++) flat.push(items[k]);
    }
    ends[i + 1] = flat.length;
  }
  const field = type.children[0] as Field;
  const inside = listPlace(place, field, ends);
  const child = context.build(field.type, flat, inside, context);
  const offsets = (type.typeId as Type) === Type.LargeList ? wideOffsets(ends) : ends;
  return arrowData(type, values.length, nulls, { offsets, children: [child] });
}

/**
 * The place of the items of lists whose ends are given: one more than there are lists.
 * @param lists null where the list is, absent where none is; an item of a null list counts for nothing
 */
export function listPlace(
  place: Place,
  field: Field,
  ends: ArrayLike<number>,
  show: (item: number, inList: number) => string = (_, inList) => `${inList}`,
  lists?: Values,
): Place {
  const owner = (item: number): number => {
    let [low, high] = [0, ends.length - 2];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((ends[middle + 1] as number) > item) high = middle;
      else low = middle + 1;
    }
    return low;
  };
  return {
    nullable: field.nullable,
    row: (item) => place.row(owner(item)),
    path: (item) => {
      const list = owner(item);
      return `${place.path(list)}[${show(item, item - (ends[list] as number))}]`;
    },
    hidden: (item) => {
      if (item < (ends[0] as number) || item >= (ends[ends.length - 1] as number)) return true;
      const list = owner(item);
      return lists?.[list] === null || place.hidden(list);
    },
  };
}

export function buildFixedList(
  type: FixedSizeList,
  values: Values,
  place: Place,
  context: BuildContext,
): Data {
  const nulls = findNulls(type, values, place, context);
  const field = type.children[0] as Field;
  const size = type.listSize;
  const child =
    plainNumbers(field.type, values, size, context) ??
    context.build(
      field.type,
      flattenFixed(type, values, place, context),
      fixedPlace(place, field, size, values),
      context,
    );
  return arrowData(type, values.length, nulls, { children: [child] });
}

function flattenFixed(
  type: FixedSizeList,
  values: Values,
  place: Place,
  context: BuildContext,
): Values {
  const size = type.listSize;
  const flat = new Array<unknown>(values.length * size).fill(null);
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (value === null || value === undefined) continue;
    const items = asItems(value);
    if (items === undefined) throw misfit(place, i, value, type, context);
    if (items.length !== size) {
      throw misfit(place, i, value, type, context, `${items.length} items instead of ${size}`);
    }
    for (let k = 0; k < size; k++) flat[i * size + k] = items[k];
  }
  return flat;
}

/**
 * The place of the items of fixed-size lists; items of null lists are hidden.
 * @param values absent where none is null
 */
export function fixedPlace(
  place: Place,
  field: Field,
  size: number,
  values: Values | undefined,
): Place {
  const owner = (item: number): number => Math.floor(item / size);
  return {
    nullable: field.nullable,
    row: (item) => place.row(owner(item)),
    path: (item) => `${place.path(owner(item))}[${item % size}]`,
    hidden: (item) => {
      const list = owner(item);
      return isMissing(values, list) || place.hidden(list);
    },
  };
}

/**
 * Vectors of floats, written straight into place. Undefined as soon as anything is unusual: the
 * general way then builds it or says what is wrong.
 */
function plainNumbers(
  type: DataType,
  values: Values,
  size: number,
  context: BuildContext,
): Data | undefined {
  if (type.typeId !== Type.Float || context.exactFloats) return undefined;
  const { precision } = type as Float;
  if (precision === Precision.HALF) return undefined;
  const double = precision === Precision.DOUBLE;
  const out = new (double ? Float64Array : Float32Array)(values.length * size);
  for (let i = 0, at = 0; i < values.length; i++, at += size) {
    const value = values[i];
    if (value === null || value === undefined) continue;
    if (Array.isArray(value)) {
      if (value.length !== size) return undefined;
      for (let k = 0; k < size; k++) {
        const item: unknown = value[k];
        if (typeof item !== 'number') return undefined;
        out[at + k] = item;
      }
    } else if (value instanceof Float32Array) {
      if (value.length !== size) return undefined;
      out.set(value, at);
    } else return undefined;
  }
  return double || !hasInfinity(out)
    ? arrowData(type, out.length, undefined, { values: out })
    : undefined;
}

/** An infinity may be a number too large for float32, which the general way finds out. */
function hasInfinity(values: Float32Array | Float64Array): boolean {
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number;
    if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY) return true;
  }
  return false;
}

export function buildStruct(
  type: Struct,
  given: Values,
  place: Place,
  context: BuildContext,
): Data {
  const values = isBlobType(type) ? given.map((value, i) => blobValue(value, place, i)) : given;
  const nulls = findNulls(type, values, place, context);
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (value !== null && value !== undefined && !isRecord(value)) {
      throw misfit(place, i, value, type, context);
    }
  }
  const fields = type.children as readonly Field[];
  refuseUnknownKeys(fields, values as Records, place, context);
  const children = fields.map((field) =>
    context.build(
      field.type,
      take(values as Records, field.name),
      structPlace(place, field, values),
      context,
    ),
  );
  return arrowData(type, values.length, nulls, { children });
}

/**
 * Bytes as the value of a blob that they are.
 * @throws Unsupported for an address in place of bytes
 */
function blobValue(value: unknown, place: Place, i: number): unknown {
  if (value instanceof Uint8Array) return { data: value, uri: null };
  const uri: unknown = isRecord(value) ? value.uri : value;
  if (typeof uri !== 'string') return value;
  throw new DirspaceError(
    'Unsupported',
    `Row ${place.row(i)}, column "${place.path(i)}": a blob at an address (${JSON.stringify(uri.slice(0, 100))}) is not read. Give its bytes, as a Buffer or a Uint8Array.`,
    { details: { row: place.row(i), column: place.path(i) } },
  );
}

const isMissing = (values: Values | undefined, i: number): boolean =>
  values !== undefined && (values[i] ?? null) === null;

/** @param values absent where none is null */
export function structPlace(place: Place, field: Field, values: Values | undefined): Place {
  return {
    nullable: field.nullable,
    row: (i) => place.row(i),
    path: (i) => `${place.path(i)}.${field.name}`,
    hidden: (i) => isMissing(values, i) || place.hidden(i),
  };
}

export function buildMap(type: Map_, values: Values, place: Place, context: BuildContext): Data {
  const nulls = findNulls(type, values, place, context);
  const ends = new Int32Array(values.length + 1);
  const keys: unknown[] = [];
  const items: unknown[] = [];
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (value !== null && value !== undefined) {
      for (const entry of entriesOf(value) ?? [undefined]) {
        const pair = asItems(entry);
        if (pair?.length !== 2) throw misfit(place, i, value, type, context);
        keys.push(pair[0]);
        items.push(pair[1]);
      }
    }
    ends[i + 1] = keys.length;
  }
  const entries = type.children[0] as Field<Struct>;
  const [keyField, itemField] = entries.type.children as [Field, Field];
  const show = (item: number): string => showValue(keys[item]);
  const keyPlace: Place = { ...listPlace(place, keyField, ends, show), nullable: false };
  const itemPlace = listPlace(place, itemField, ends, show);
  const child = arrowData(entries.type, keys.length, undefined, {
    children: [
      context.build(keyField.type, keys, keyPlace, context),
      context.build(itemField.type, items, itemPlace, context),
    ],
  });
  return arrowData(type, values.length, nulls, { offsets: ends, children: [child] });
}

/** Entries of a Map, of anything that iterates over pairs, or of a plain object. */
function entriesOf(value: unknown): Iterable<unknown> | undefined {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return undefined;
  if (Symbol.iterator in value) return value as Iterable<unknown>;
  return isRecord(value) ? Object.entries(value) : undefined;
}
