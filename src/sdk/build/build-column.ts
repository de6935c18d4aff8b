/**
 * `buildBatch` builds a record batch from JavaScript objects, column by column, with the builders
 * of this folder. A row that is no object, an unknown column or a value that does not fit its type
 * throws TableSchemaValidation, with its row; a type without a builder throws Unsupported, and a
 * column of more than 2 GiB PayloadTooLarge. `buildContext` makes the state that the record batches
 * of one stream share; its `build` builds a single column.
 */
import {
  Data,
  type DataType,
  type Date_,
  type Decimal,
  type Dictionary,
  type Duration,
  describeType,
  type Field,
  type FixedSizeBinary,
  type FixedSizeList,
  type Float,
  type Int,
  type Interval,
  type List,
  type Map_,
  type RecordBatch,
  recordBatch,
  type Schema,
  type Struct,
  type Time,
  type Timestamp,
  Type,
  type Union,
} from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { buildBinary, buildFixedBinary, buildText } from './build-bytes.ts';
import { buildDictionary, buildUnion } from './build-choice.ts';
import { buildFixedList, buildList, buildMap, buildStruct } from './build-nested.ts';
import { buildBool, buildDecimal, buildFloat, buildInt } from './build-numbers.ts';
import {
  buildDate,
  buildDuration,
  buildInterval,
  buildTime,
  buildTimestamp,
} from './build-time.ts';
import {
  type BuildContext,
  columnPlace,
  type DictionaryMemory,
  misfit,
  type Place,
} from './column-data.ts';
import { isRecord } from './js-values.ts';
import { type Records, refuseUnknownKeys, take } from './records.ts';
import { showValue } from './show-value.ts';

/** A fresh context for one stream of batches. */
export function buildContext(
  options: Partial<Pick<BuildContext, 'exactFloats' | 'roundsIntegers' | 'hint'>> = {},
): BuildContext {
  return {
    build: buildColumn,
    dictionaries: new Map<number, DictionaryMemory>(),
    exactFloats: options.exactFloats ?? false,
    roundsIntegers: options.roundsIntegers ?? false,
    hint: options.hint ?? (() => ''),
  };
}

/** Builds one column from JavaScript values, exactly as the type says, or throws. */
function buildColumn(
  type: DataType,
  values: readonly unknown[],
  place: Place,
  context: BuildContext,
): Data {
  switch (type.typeId) {
    case Type.Null:
      return buildNull(type, values, place, context);
    case Type.Int:
      return buildInt(type as Int, values, place, context);
    case Type.Float:
      return buildFloat(type as Float, values, place, context);
    case Type.Bool:
      return buildBool(type, values, place, context);
    case Type.Decimal:
      return buildDecimal(type as Decimal, values, place, context);
    case Type.Utf8:
    case Type.LargeUtf8:
    case Type.Utf8View:
      return buildText(type, values, place, context);
    case Type.Binary:
    case Type.LargeBinary:
    case Type.BinaryView:
      return buildBinary(type, values, place, context);
    case Type.FixedSizeBinary:
      return buildFixedBinary(type as FixedSizeBinary, values, place, context);
    case Type.Date:
      return buildDate(type as Date_, values, place, context);
    case Type.Time:
      return buildTime(type as Time, values, place, context);
    case Type.Timestamp:
      return buildTimestamp(type as Timestamp, values, place, context);
    case Type.Duration:
      return buildDuration(type as Duration, values, place, context);
    case Type.Interval:
      return buildInterval(type as Interval, values, place, context);
    case Type.List:
    case Type.LargeList:
      return buildList(type as List, values, place, context);
    case Type.FixedSizeList:
      return buildFixedList(type as FixedSizeList, values, place, context);
    case Type.Struct:
      return buildStruct(type as Struct, values, place, context);
    case Type.Map:
      return buildMap(type as Map_, values, place, context);
    case Type.Dictionary:
      return buildDictionary(type as Dictionary, values, place, context);
    case Type.Union:
      return buildUnion(type as Union, values, place, context);
    default:
      throw new DirspaceError(
        'Unsupported',
        `Columns of ${describeType(type)} cannot be made from JavaScript values. Pass Arrow data.`,
      );
  }
}

function buildNull(
  type: DataType,
  values: readonly unknown[],
  place: Place,
  context: BuildContext,
): Data {
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (value !== null && value !== undefined) throw misfit(place, i, value, type, context);
  }
  return new Data(type, 0, values.length, values.length);
}

const TOP: Omit<Place, 'row'> = { nullable: false, path: () => '', hidden: () => false };

/**
 * Makes one record batch of rows.
 * @param base row number of the first row in the whole input, for messages
 */
export function buildBatch(
  schema: Schema,
  rows: readonly unknown[],
  base: number,
  context: BuildContext,
): RecordBatch {
  for (let i = 0; i < rows.length; i++) {
    if (!isRecord(rows[i])) throw notARow(rows[i], base + i);
  }
  const records = rows as Records;
  refuseUnknownKeys(schema.fields, records, { ...TOP, row: (i) => base + i }, context);
  for (const { users } of context.dictionaries.values()) users.length = 0;
  const children = schema.fields.map((field: Field) =>
    buildColumn(field.type, take(records, field.name), columnPlace(field, base), context),
  );
  return recordBatch(schema, children, rows.length);
}

const notARow = (value: unknown, row: number): DirspaceError =>
  new DirspaceError(
    'TableSchemaValidation',
    `Row ${row}: found ${showValue(value)}, expected an object whose keys are column names.`,
    { details: { row, found: showValue(value) } },
  );
