/**
 * `columnValues` converts the values of a column to those that DuckDB's chunks take. Integers,
 * float32 and float64 become a typed array if no value is null. Booleans and texts become
 * JavaScript's. Decimals, dates, times, binaries and nested values become objects of DuckDB's
 * classes. A value that DuckDB cannot hold, such as nanoseconds in a timestamp with a time zone,
 * throws Unsupported with the path of the column.
 */
import {
  type Data,
  type DataType,
  type Date_,
  DateUnit,
  type Decimal,
  type Duration,
  type Field,
  type FixedSizeList,
  type Float,
  type Interval,
  IntervalUnit,
  Precision,
  sliceData,
  type Time,
  type Timestamp,
  TimeUnit,
  Type,
  type Vector,
} from '../arrow/index.ts';
import { DirspaceError } from '../errors.ts';
import { readColumn } from '../sdk/index.ts';
import { decimalWords, MILLIS_PER_DAY } from '../values/index.ts';
import type { Peer } from './peer.ts';

type Values = ArrayLike<unknown>;

/** The path of a column in errors, and the package that makes its values. */
export interface ValueContext {
  readonly peer: Peer;
  readonly path: string;
}

/** @throws Unsupported for a value that DuckDB cannot hold */
export function columnValues(data: Data, context: ValueContext): Values {
  if (data.length === 0) return [];
  const values = plainValues(data, context);
  if (data.type.typeId === Type.Null || data.nullCount === 0) return values;
  return Array.from(values, (value, at) => (data.getValid(at) ? value : null));
}

function plainValues(data: Data, context: ValueContext): Values {
  const type = data.type as DataType;
  const { peer } = context;
  switch (type.typeId) {
    case Type.Int:
      return own(data);
    case Type.Float:
      return (type as Float).precision === Precision.HALF ? readColumn(data) : own(data);
    case Type.Binary:
    case Type.LargeBinary:
    case Type.BinaryView:
    case Type.FixedSizeBinary:
      return readColumn(data).map(
        (bytes) => bytes && new peer.DuckDBBlobValue(bytes as Uint8Array),
      );
    case Type.Decimal:
      return decimals(data, type as Decimal, peer);
    case Type.Date:
      return dates(data, type as Date_, context);
    case Type.Time:
      return times(data, type as Time, peer);
    case Type.Timestamp:
      return timestamps(data, type as Timestamp, context);
    case Type.Duration: {
      const micros = scaled(data, (type as Duration).unit, context);
      return micros.map((value) => new peer.DuckDBIntervalValue(0, 0, value));
    }
    case Type.Interval:
      return intervals(data, type as Interval, context);
    case Type.List:
    case Type.LargeList:
      return lists(data, context, (items) => new peer.DuckDBListValue(items));
    case Type.Map:
      return lists(data, context, (items) => mapOf(items, entryNames(type), context));
    case Type.FixedSizeList:
      return fixedLists(data, type as FixedSizeList, context);
    case Type.Struct:
      return structs(data, context);
    case Type.Dictionary:
      return words(data, context);
    default:
      return readColumn(data);
  }
}

/** The values as they lie in their buffer. */
const own = (data: Data): Values => (data.values as Uint8Array).subarray(0, data.length);

function decimals(data: Data, { bitWidth, precision, scale }: Decimal, peer: Peer): Values {
  const count = bitWidth / 32;
  const from = data.values as Uint32Array;
  return Array.from(
    { length: data.length },
    (_, at) => new peer.DuckDBDecimalValue(decimalWords(from, at * count, count), precision, scale),
  );
}

function dates(data: Data, { unit }: Date_, context: ValueContext): Values {
  const { DuckDBDateValue } = context.peer;
  if (unit === DateUnit.DAY) {
    return Array.from(own(data) as Int32Array, (days) => new DuckDBDateValue(days));
  }
  const day = BigInt(MILLIS_PER_DAY);
  return Array.from(own(data) as unknown as BigInt64Array, (millis, at) => {
    if (millis % day !== 0n && data.getValid(at)) throw inexact(context, millis, 'days');
    return new DuckDBDateValue(Number(millis / day));
  });
}

function times(data: Data, { unit }: Time, peer: Peer): Values {
  const values = own(data) as ArrayLike<number | bigint>;
  if (unit === TimeUnit.NANOSECOND) {
    return Array.from(values, (value) => new peer.DuckDBTimeNSValue(BigInt(value)));
  }
  const factor = MICROS[unit] as bigint;
  return Array.from(values, (value) => new peer.DuckDBTimeValue(BigInt(value) * factor));
}

/** Microseconds in a unit of time, where that is a whole number. */
const MICROS: Readonly<Record<number, bigint>> = {
  [TimeUnit.SECOND]: 1_000_000n,
  [TimeUnit.MILLISECOND]: 1_000n,
  [TimeUnit.MICROSECOND]: 1n,
};
/** Nanoseconds in a microsecond. */
const NANOS = 1_000n;

function timestamps(data: Data, { unit, timezone }: Timestamp, context: ValueContext): Values {
  const { peer } = context;
  if (timezone) {
    return scaled(data, unit, context).map((micros) => new peer.DuckDBTimestampTZValue(micros));
  }
  const Value = {
    [TimeUnit.SECOND]: peer.DuckDBTimestampSecondsValue,
    [TimeUnit.MILLISECOND]: peer.DuckDBTimestampMillisecondsValue,
    [TimeUnit.MICROSECOND]: peer.DuckDBTimestampValue,
    [TimeUnit.NANOSECOND]: peer.DuckDBTimestampNanosecondsValue,
  }[unit];
  return Array.from(own(data) as unknown as BigInt64Array, (value) => new Value(value));
}

/** Converts values to microseconds. @throws Unsupported */
function scaled(data: Data, unit: TimeUnit, context: ValueContext): bigint[] {
  const factor = MICROS[unit];
  return Array.from(own(data) as unknown as BigInt64Array, (value, at) => {
    // Whatever lies below a null is none of its values.
    if (!data.getValid(at)) return 0n;
    return factor === undefined ? microsOf(value, context) : inRange(value * factor, context);
  });
}

function microsOf(nanos: bigint, context: ValueContext): bigint {
  if (nanos % NANOS !== 0n) throw inexact(context, nanos, 'microseconds');
  return nanos / NANOS;
}

function inRange(micros: bigint, context: ValueContext): bigint {
  if (BigInt.asIntN(64, micros) === micros) return micros;
  throw inexact(context, micros, 'microseconds of 64 bits');
}

function intervals(data: Data, { unit }: Interval, context: ValueContext): Values {
  const { DuckDBIntervalValue } = context.peer;
  const from = data.values as Int32Array;
  const at = (index: number): number => from[index] as number;
  const each = (value: (row: number) => object): Values =>
    Array.from({ length: data.length }, (_, row) => (data.getValid(row) ? value(row) : null));
  switch (unit) {
    case IntervalUnit.YEAR_MONTH:
      return each((row) => new DuckDBIntervalValue(at(row), 0, 0n));
    case IntervalUnit.DAY_TIME:
      return each(
        (row) =>
          new DuckDBIntervalValue(
            0,
            at(2 * row),
            BigInt(at(2 * row + 1)) * (MICROS[TimeUnit.MILLISECOND] as bigint),
          ),
      );
    default:
      return each((row) => {
        const nanos = (BigInt(at(4 * row + 3)) << 32n) | BigInt(at(4 * row + 2) >>> 0);
        return new DuckDBIntervalValue(at(4 * row), at(4 * row + 1), microsOf(nanos, context));
      });
  }
}

function lists(data: Data, context: ValueContext, made: (items: Values) => object): Values {
  const offsets = data.valueOffsets as Int32Array | BigInt64Array;
  const first = Number(offsets[0]);
  const rows = sliceData(data.children[0] as Data, first, Number(offsets[data.length]) - first);
  const items = columnValues(rows, within(context, data.type.children[0] as Field));
  return Array.from({ length: data.length }, (_, at) =>
    data.getValid(at)
      ? made(part(items, Number(offsets[at]) - first, Number(offsets[at + 1]) - first))
      : null,
  );
}

function fixedLists(
  data: Data,
  { listSize, children }: FixedSizeList,
  context: ValueContext,
): Values {
  const { DuckDBArrayValue, DuckDBListValue } = context.peer;
  const Value = listSize === 0 ? DuckDBListValue : DuckDBArrayValue;
  const items = columnValues(data.children[0] as Data, within(context, children[0] as Field));
  return Array.from(
    { length: data.length },
    (_, at) => new Value(part(items, at * listSize, (at + 1) * listSize)),
  );
}

const part = (items: Values, from: number, to: number): Values =>
  Array.isArray(items) ? items.slice(from, to) : (items as Uint8Array).subarray(from, to);

function structs(data: Data, context: ValueContext): Values {
  const fields = data.type.children as readonly Field[];
  const columns = fields.map((field, at) =>
    columnValues(data.children[at] as Data, within(context, field)),
  );
  return Array.from({ length: data.length }, (_, row) => {
    const entries = fields.map(({ name }, at) => [name, columns[at]?.[row]] as const);
    return new context.peer.DuckDBStructValue(Object.fromEntries(entries));
  });
}

const entryNames = (type: DataType): readonly [string, string] => {
  const [key, value] = (type.children[0] as Field).type.children as readonly Field[];
  return [(key as Field).name, (value as Field).name];
};

/**
 * Makes a map of its entries, which are structs. @throws Unsupported for a key that DuckDB takes
 * for none or for another's
 */
function mapOf(
  items: Values,
  [keyName, valueName]: readonly [string, string],
  context: ValueContext,
): object {
  const seen = new Set<string>();
  const entries = Array.from(items, (item) => {
    const { entries: found } = item as { entries: Record<string, unknown> };
    const [key, value] = [found[keyName], found[valueName]];
    const text = String(key);
    if (key === null || seen.has(text)) {
      throw unheld(context, `a map with ${key === null ? 'a null key' : `the key ${text} twice`}`);
    }
    seen.add(text);
    return { key, value };
  });
  return new context.peer.DuckDBMapValue(entries);
}

const dictionaries = new WeakMap<Vector, unknown[]>();

/** The values of the dictionary, which batches share. */
function words(data: Data, context: ValueContext): Values {
  const vector = data.dictionary as Vector;
  let known = dictionaries.get(vector);
  if (known === undefined) {
    known = vector.data.flatMap((chunk: Data) => Array.from(columnValues(chunk, context)));
    dictionaries.set(vector, known);
  }
  const all = known;
  return Array.from(own(data), (code) => all[Number(code)] ?? null);
}

const within = ({ peer, path }: ValueContext, { name }: Field): ValueContext => ({
  peer,
  path: `${path}.${name}`,
});

const inexact = (context: ValueContext, value: bigint, unit: string): DirspaceError =>
  unheld(context, `the value ${value}, which is no number of ${unit}`);

const unheld = ({ path }: ValueContext, what: string): DirspaceError =>
  new DirspaceError(
    'Unsupported',
    `The column ${path} holds ${what}, and DuckDB would hold another value. Leave the column out, or cast it in columns.`,
    { details: { column: path } },
  );
