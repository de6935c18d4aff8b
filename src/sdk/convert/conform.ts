/**
 * `conformBatch` fits a record batch to a wanted schema. Columns and members of structs are matched
 * by name; those that the batch lacks become nulls if they are nullable. Values are cast only if no
 * value changes; for floats, the caller's context must have `exactFloats`. A column that needs no
 * cast is passed on without a copy. Values below a null, or that no list holds, need not fit. Other
 * values, nulls and types that do not fit, and columns that the schema lacks, throw
 * TableSchemaValidation.
 */
import {
  childFields,
  Data,
  type DataType,
  type Dictionary,
  describeType,
  type Field,
  FixedSizeList,
  LargeList,
  List,
  nullColumn,
  type Offsets,
  offsetAt,
  plainType,
  type RecordBatch,
  recordBatch,
  type Schema,
  type Timestamp,
  Type,
  typesEqual,
  type Union,
} from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { convertUnit } from '../../values/index.ts';
import {
  type BuildContext,
  columnPlace,
  fixedPlace,
  listPlace,
  misfit,
  type Place,
  structPlace,
} from '../build/index.ts';
import { readColumn } from './read-column.ts';

/** The place of a column of Arrow data. */
interface DataPlace extends Place {
  /** Calls `mark` for the spans of values of which `hidden` is true. */
  markHidden(length: number, mark: (from: number, to: number) => void): void;
}

const hidesNothing = (): void => {};

/** @param base row number of the batch's first row in the whole input, for messages */
export function conformBatch(
  batch: RecordBatch,
  schema: Schema,
  base: number,
  context: BuildContext,
): RecordBatch {
  const rows = batch.numRows;
  const top: DataPlace = {
    ...{ nullable: false, row: (i) => base + i, path: () => '', hidden: () => false },
    markHidden: hidesNothing,
  };
  const have = batch.schema.fields;
  const columns = conformChildren(
    have,
    batch.data.children,
    schema.fields,
    rows,
    top,
    context,
    (f) => ({ ...columnPlace(f, base), markHidden: hidesNothing }),
  );
  return recordBatch(schema, columns, rows);
}

function conformChildren(
  have: readonly Field[],
  columns: readonly Data[],
  want: readonly Field[],
  rows: number,
  place: DataPlace,
  context: BuildContext,
  placeOf: (field: Field) => DataPlace,
): Data[] {
  const index = new Map(have.map((field, i) => [field.name, i]));
  const path = (name: string): string => {
    const parent = place.path(0);
    return parent === '' ? name : `${parent}.${name}`;
  };
  if (index.size < have.length) throw noColumn(path('?'), 'two columns of the data share a name');
  const wanted = new Set(want.map((field) => field.name));
  for (const { name } of have) {
    if (!wanted.has(name)) {
      throw noColumn(path(name), 'the data has a column that the schema lacks');
    }
  }
  return want.map((field) => {
    const at = index.get(field.name);
    if (at !== undefined) return conformData(columns[at] as Data, field, placeOf(field), context);
    if (field.nullable) return nullColumn(field.type, rows);
    throw noColumn(path(field.name), 'the schema has a column, not nullable, that the data lacks');
  });
}

const noColumn = (column: string, what: string): DirspaceError =>
  new DirspaceError('TableSchemaValidation', `Column "${column}": ${what}.`, {
    details: { column },
  });

function conformData(data: Data, field: Field, place: DataPlace, context: BuildContext): Data {
  const want = field.type as DataType;
  refuseNulls(data, want, place, context);
  const have = data.type as DataType;
  if (have === want) return data;
  if (have.typeId === Type.Null) return nullColumn(want, data.length);
  if (sameKind(have, want)) {
    const children = childrenFor(data, want, place, context);
    return retype(data, want, children);
  }
  return cast(data, field, place, context);
}

/** Nulls count only where the parent is there, and not in columns of nothing but nulls. */
function refuseNulls(data: Data, type: DataType, place: Place, context: BuildContext): void {
  const { typeId } = data.type as DataType;
  if (place.nullable || typeId === Type.Union || type.typeId === Type.Null) return;
  const words = typeId === Type.Dictionary ? data.dictionary : undefined;
  const hasNullWords = words !== undefined && words.nullCount > 0;
  if (typeId !== Type.Null && data.nullCount === 0 && !hasNullWords) return;
  const isNull = (i: number): boolean =>
    typeId === Type.Null ||
    !data.getValid(i) ||
    (hasNullWords && !words.isValid(Number(data.values[i])));
  for (let i = 0; i < data.length; i++) {
    if (isNull(i) && !place.hidden(i)) throw misfit(place, i, null, type, context);
  }
}

/** True when the buffers of one type mean the same as the other's, its children left aside. */
function sameKind(have: DataType, want: DataType): boolean {
  if (have.typeId !== want.typeId) return false;
  switch (have.typeId) {
    case Type.List:
    case Type.LargeList:
    case Type.Struct:
    case Type.Map:
      return true;
    case Type.Timestamp:
      // An instant is the same in every zone.
      return (have as Timestamp).unit === (want as Timestamp).unit;
    case Type.FixedSizeList:
      return (have as FixedSizeList).listSize === (want as FixedSizeList).listSize;
    case Type.Union:
      return (
        (have as Union).mode === (want as Union).mode &&
        (have as Union).typeIds.join() === (want as Union).typeIds.join()
      );
    case Type.Dictionary:
      return (
        typesEqual((have as Dictionary).indices, (want as Dictionary).indices) &&
        typesEqual((have as Dictionary).dictionary, (want as Dictionary).dictionary) &&
        childFields((have as Dictionary).dictionary).length === 0
      );
    default:
      return typesEqual(have, want);
  }
}

function childrenFor(data: Data, want: DataType, place: DataPlace, context: BuildContext): Data[] {
  const { children } = data;
  if (children.length === 0) return children;
  const fields = childFields(want);
  const field = fields[0] as Field;
  switch (want.typeId) {
    case Type.Struct: {
      const have = childFields(data.type);
      const present = presence(data);
      const markHidden = hiddenBelow(place, present, data.length, (row) => row);
      return conformChildren(have, children, fields, data.length, place, context, (child) => ({
        ...structPlace(place, child, present),
        markHidden,
      }));
    }
    case Type.FixedSizeList: {
      const { listSize } = want as FixedSizeList;
      const present = presence(data);
      const inside = {
        ...fixedPlace(place, field, listSize, present),
        markHidden: hiddenBelow(place, present, data.length, (list) => list * listSize),
      };
      return [conformData(children[0] as Data, field, inside, context)];
    }
    case Type.List:
    case Type.LargeList:
    case Type.Map: {
      const ends = endsOf(data);
      const present = presence(data);
      const inList = hiddenBelow(place, present, data.length, (list) => ends[list] as number);
      const markHidden: DataPlace['markHidden'] = (length, mark) => {
        mark(0, ends[0] as number);
        inList(length, mark);
        const end = ends[data.length] as number;
        if (end < length) mark(end, length);
      };
      const inside = { ...listPlace(place, field, ends, undefined, present), markHidden };
      return [conformData(children[0] as Data, field, inside, context)];
    }
    default:
      return fields.map((child, i) => {
        const inside = { ...place, nullable: child.nullable };
        return conformData(children[i] as Data, child, inside, context);
      });
  }
}

/** One entry per value, null where it is null; undefined where none is. */
function presence(data: Data): readonly unknown[] | undefined {
  if (data.nullCount === 0) return undefined;
  return Array.from({ length: data.length }, (_, i) => (data.getValid(i) ? true : null));
}

/** What is hidden below values of which some are null, given the child at which each begins. */
function hiddenBelow(
  place: DataPlace,
  present: readonly unknown[] | undefined,
  length: number,
  start: (index: number) => number,
): DataPlace['markHidden'] {
  return (_, mark) => {
    for (let i = 0; present !== undefined && i < length; i++) {
      if (present[i] === null) mark(start(i), start(i + 1));
    }
    place.markHidden(length, (from, to) => mark(start(from), start(to)));
  };
}

/** Where lists begin and end: one more than there are lists. The buffer may be longer, as it is padded. */
function endsOf({ valueOffsets, length }: Data): ArrayLike<number> {
  const offsets = valueOffsets as Offsets;
  if (offsets instanceof Int32Array) return offsets.subarray(0, length + 1);
  return Array.from({ length: length + 1 }, (_, at) => offsetAt(offsets, at));
}

function retype(data: Data, type: DataType, children: Data[]): Data {
  const { offset, length, nullCount, buffers, dictionary, variadicBuffers } = data;
  return new Data(type, offset, length, nullCount, buffers, children, dictionary, variadicBuffers);
}

/** What can be cast into one another, given that the values fit. */
const FAMILIES: Partial<Record<Type, string>> = {
  [Type.Int]: 'number',
  [Type.Float]: 'number',
  [Type.Decimal]: 'number',
  [Type.Utf8]: 'text',
  [Type.LargeUtf8]: 'text',
  [Type.Utf8View]: 'text',
  [Type.Binary]: 'bytes',
  [Type.LargeBinary]: 'bytes',
  [Type.BinaryView]: 'bytes',
  [Type.FixedSizeBinary]: 'bytes',
  [Type.Date]: 'date',
  [Type.Time]: 'time',
  [Type.Timestamp]: 'timestamp',
  [Type.Duration]: 'duration',
  [Type.List]: 'list',
  [Type.LargeList]: 'list',
  [Type.FixedSizeList]: 'list',
};

function cast(data: Data, field: Field, place: DataPlace, context: BuildContext): Data {
  const have = data.type as DataType;
  const want = field.type as DataType;
  const [from, to] = [plainType(have), plainType(want)];
  const family = FAMILIES[from.typeId];
  const possible = family !== undefined && family === FAMILIES[to.typeId];
  if (!possible && !typesEqual(from, to)) {
    throw new DirspaceError(
      'TableSchemaValidation',
      `Column "${place.path(0)}": the data is ${describeType(have)}, the schema wants ` +
        `${describeType(want)}, and there is no lossless cast between them. Change one of the two.`,
      {
        details: { column: place.path(0), found: describeType(have), expected: describeType(want) },
      },
    );
  }
  if (family === 'list' && have.typeId !== Type.Dictionary) {
    // The items first, so that what is left to change is how they are grouped.
    const item = childFields(to)[0] as Field;
    const grouped = listLike(from, item);
    const inner = retype(data, grouped, childrenFor(data, grouped, place, context));
    return context.build(want, valuesOf(inner, place), place, context);
  }
  const values = valuesOf(data, place);
  const unit = unitOf(from);
  if (unit !== undefined && unitOf(to) !== undefined) changeUnit(values, from, to, place, context);
  return context.build(want, values, place, context);
}

/** Null in place of what counts for nothing, such as the items of a null list: it need not fit. */
function valuesOf(data: Data, place: DataPlace): unknown[] {
  const values = readColumn(data);
  place.markHidden(values.length, (from, to) => values.fill(null, from, to));
  return values;
}

function listLike(type: DataType, item: Field): DataType {
  if (type.typeId === Type.FixedSizeList) {
    return new FixedSizeList((type as FixedSizeList).listSize, item);
  }
  return type.typeId === Type.List ? new List(item) : new LargeList(item);
}

/** The unit of types whose values are counts of it; dates are Dates throughout. */
const unitOf = (type: DataType): number | undefined =>
  [Type.Time, Type.Timestamp, Type.Duration].includes(type.typeId)
    ? (type as Timestamp).unit
    : undefined;

function changeUnit(
  values: unknown[],
  from: DataType,
  to: DataType,
  place: Place,
  context: BuildContext,
): void {
  const [have, want] = [unitOf(from) as number, unitOf(to) as number];
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    // Dates carry their own unit and are converted, exactly, where the column is built.
    if (typeof value !== 'bigint' && typeof value !== 'number') continue;
    const count = convertUnit(BigInt(value), have, want);
    if (count === undefined) throw misfit(place, i, value, to, context, `in ${describeType(from)}`);
    values[i] = count;
  }
}
