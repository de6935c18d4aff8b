/**
 * Types out of their names, Arrow's and Lance's. Owns the grammar of a name; knows nothing of the
 * JSON around it, which schema.ts walks.
 */
import {
  Binary,
  BinaryView,
  Bool,
  DataType,
  Date_,
  DateUnit,
  Decimal,
  Dictionary,
  Duration,
  Field,
  FixedSizeBinary,
  FixedSizeList,
  Float,
  Int,
  Interval,
  type IntervalUnit,
  LargeBinary,
  LargeList,
  LargeUtf8,
  List,
  Map_,
  Null,
  Precision,
  Struct,
  Time,
  Timestamp,
  type TimeUnit,
  Union,
  UnionMode,
  Utf8,
  Utf8View,
} from '../arrow.ts';
import {
  checkDecimal,
  checkTime,
  DECIMAL_DIGITS,
  INTERVAL_UNITS,
  MAX_INT32,
  type Refuse,
  TIME_UNITS,
} from './type-names.ts';

/** The two members that stand beside a name: child fields, and the length of fixed-size types. */
export interface TypeShape {
  readonly fields?: readonly Field[] | undefined;
  readonly length?: number | undefined;
}

const MAX_NAME_LENGTH = 1_024;
const MAX_TYPE_ID = 127;

const plainTypes: readonly (readonly [name: string, make: () => DataType])[] = [
  ['null', () => new Null()],
  ['bool', () => new Bool()],
  ['utf8', () => new Utf8()],
  ['large_utf8', () => new LargeUtf8()],
  ['utf8_view', () => new Utf8View()],
  ['binary', () => new Binary()],
  ['large_binary', () => new LargeBinary()],
  ['binary_view', () => new BinaryView()],
  ['float16', () => new Float(Precision.HALF)],
  ['float32', () => new Float(Precision.SINGLE)],
  ['float64', () => new Float(Precision.DOUBLE)],
  ['date32', () => new Date_(DateUnit.DAY)],
  ['date64', () => new Date_(DateUnit.MILLISECOND)],
  // The names of Lance that take no parameters.
  ['string', () => new Utf8()],
  ['large_string', () => new LargeUtf8()],
  ['string_view', () => new Utf8View()],
  ['halffloat', () => new Float(Precision.HALF)],
  ['float', () => new Float(Precision.SINGLE)],
  ['double', () => new Float(Precision.DOUBLE)],
  ['date32:day', () => new Date_(DateUnit.DAY)],
  ['date64:ms', () => new Date_(DateUnit.MILLISECOND)],
  ...([8, 16, 32, 64] as const).flatMap((bits) => [
    [`int${bits}`, () => new Int(true, bits)] as const,
    [`uint${bits}`, () => new Int(false, bits)] as const,
  ]),
];
const PLAIN: ReadonlyMap<string, () => DataType> = new Map(plainTypes);

/**
 * The type of a name, Arrow's or Lance's. `shape` holds the child fields and the length that stand
 * beside the name; what the type has no use for is refused.
 */
export function typeOfName(name: string, shape: TypeShape, refuse: Refuse): DataType {
  if (name.length > MAX_NAME_LENGTH) refuse(`the type name has ${name.length} characters`);
  const plain = PLAIN.get(name);
  if (plain !== undefined) {
    takeNothing(name, shape, refuse);
    return plain();
  }
  const [base, rest] = cut(name);
  const parse = PARAMETRIC.get(base);
  if (parse === undefined) {
    return refuse(`${JSON.stringify(name)} is no type; expected a name such as "int64" or "utf8"`);
  }
  return parse(rest, shape, refuse);
}

type Parser = (rest: string | undefined, shape: TypeShape, refuse: Refuse) => DataType;

const PARAMETRIC: ReadonlyMap<string, Parser> = new Map<string, Parser>([
  ['time32', (rest, shape, refuse) => time(32, rest, shape, refuse)],
  ['time64', (rest, shape, refuse) => time(64, rest, shape, refuse)],
  ['timestamp', timestamp],
  [
    'duration',
    (rest, shape, refuse) => {
      takeNothing('duration', shape, refuse);
      return new Duration(unit(rest, refuse));
    },
  ],
  [
    'interval',
    (rest, shape, refuse) => {
      takeNothing('interval', shape, refuse);
      const found = (INTERVAL_UNITS as readonly string[]).indexOf(rest ?? '');
      if (found < 0) refuse(`an interval needs its kind, one of ${INTERVAL_UNITS.join(', ')}`);
      return new Interval(found as IntervalUnit);
    },
  ],
  ...[...DECIMAL_DIGITS.keys()].map((bits): readonly [string, Parser] => [
    `decimal${bits}`,
    (rest, shape, refuse) => decimal(bits, rest, shape, refuse),
  ]),
  [
    'decimal',
    (rest, shape, refuse) => {
      const [bits, digits] = cut(rest ?? '');
      if (!DECIMAL_DIGITS.has(Number(bits))) refuse(`a decimal has no width of "${bits}" bits`);
      return decimal(Number(bits), digits, shape, refuse);
    },
  ],
  ['fixed_size_binary', fixedSizeBinary],
  ['fixed_size_list', fixedSizeList],
  ['list', (rest, shape, refuse) => new List(onlyChild('list', rest, shape, refuse))],
  [
    'large_list',
    (rest, shape, refuse) => new LargeList(onlyChild('large_list', rest, shape, refuse)),
  ],
  [
    'struct',
    (rest, shape, refuse) => {
      noParameters('struct', rest, refuse);
      return new Struct(children('struct', shape, refuse));
    },
  ],
  ['map', map],
  ['dense_union', (rest, shape, refuse) => union(UnionMode.Dense, rest, shape, refuse)],
  ['sparse_union', (rest, shape, refuse) => union(UnionMode.Sparse, rest, shape, refuse)],
  ['dictionary', dictionary],
  ['dict', lanceDictionary],
]);

function time(bits: 32 | 64, rest: string | undefined, shape: TypeShape, refuse: Refuse): DataType {
  takeNothing(`time${bits}`, shape, refuse);
  const found = unit(rest, refuse);
  checkTime(bits, found, refuse);
  return new Time(found, bits);
}

function timestamp(rest: string | undefined, shape: TypeShape, refuse: Refuse): DataType {
  takeNothing('timestamp', shape, refuse);
  // Only the first colon parts: zones such as +05:30 hold colons of their own.
  const [unitName, zone] = cut(rest ?? '');
  return new Timestamp(unit(unitName, refuse), zone === '' || zone === '-' ? undefined : zone);
}

function decimal(
  bits: number,
  rest: string | undefined,
  shape: TypeShape,
  refuse: Refuse,
): DataType {
  takeNothing('decimal', shape, refuse);
  const match = /^(\d{1,3}):(-?\d{1,10})$/.exec(rest ?? '');
  if (match === null)
    return refuse('a decimal needs its precision and scale, as in decimal128:38:10');
  const [precision, scale] = [Number(match[1]), Number(match[2])];
  checkDecimal(bits, precision, scale, refuse);
  return new Decimal(scale, precision, bits);
}

function fixedSizeBinary(rest: string | undefined, shape: TypeShape, refuse: Refuse): DataType {
  takeNothing('fixed_size_binary', { ...shape, length: undefined }, refuse);
  return new FixedSizeBinary(fixedLength('fixed_size_binary', rest ?? shape.length, refuse));
}

function fixedSizeList(rest: string | undefined, shape: TypeShape, refuse: Refuse): DataType {
  if (rest === undefined) {
    const length = fixedLength('fixed_size_list', shape.length, refuse);
    const { fields } = shape;
    return new FixedSizeList(length, onlyChild('fixed_size_list', undefined, { fields }, refuse));
  }
  // An older form of Lance: the child and the length within the name, fixed_size_list:float:128.
  const colon = rest.lastIndexOf(':');
  if (colon < 0) refuse('a fixed_size_list needs its child in "fields" and its "length"');
  const child = new Field('item', typeOfName(rest.slice(0, colon), shape, refuse), true);
  return new FixedSizeList(fixedLength('fixed_size_list', rest.slice(colon + 1), refuse), child);
}

function map(rest: string | undefined, shape: TypeShape, refuse: Refuse): DataType {
  if (rest !== undefined && rest !== 'keys_sorted') refuse(`a map cannot be "${rest}"`);
  const entries = onlyChild('map', undefined, shape, refuse);
  if (!DataType.isStruct(entries.type) || entries.type.children.length !== 2) {
    return refuse('the field of a map must be a struct of two fields, its keys and its values');
  }
  const [key, value] = entries.type.children;
  type Entries = ConstructorParameters<typeof Map_>[0];
  // Arrow's implementation renames the fields that it is given, so it gets copies.
  const copy = entries.clone({ type: new Struct([key!.clone(), value!.clone()]) });
  return new Map_(copy as unknown as Entries, rest !== undefined);
}

function union(
  mode: UnionMode,
  rest: string | undefined,
  shape: TypeShape,
  refuse: Refuse,
): DataType {
  const fields = children('union', shape, refuse);
  const ids = rest === undefined ? fields.map((_, index) => index) : rest.split(',').map(integer);
  if (ids.length !== fields.length) {
    refuse(`a union of ${fields.length} fields cannot have ${ids.length} type ids`);
  }
  if (new Set(ids).size !== ids.length || ids.some((id) => !(id >= 0 && id <= MAX_TYPE_ID))) {
    refuse(`the type ids of a union are different integers from 0 to ${MAX_TYPE_ID}`);
  }
  return new Union(mode, ids, fields);
}

function dictionary(rest: string | undefined, shape: TypeShape, refuse: Refuse): DataType {
  const [index, value] = cut(rest ?? '');
  const ordered = value?.startsWith('ordered:') ?? false;
  return encoded(index, ordered ? value?.slice('ordered:'.length) : value, ordered, shape, refuse);
}

/** Lance's order of the same three: `dict:<value>:<index>:<ordered>`. */
function lanceDictionary(rest: string | undefined, shape: TypeShape, refuse: Refuse): DataType {
  const match = /^(.+):([^:]+):(true|false)$/s.exec(rest ?? '');
  if (match === null) return refuse('a dict needs its parts, as in dict:string:int32:false');
  return encoded(match[2], match[1], match[3] === 'true', shape, refuse);
}

function encoded(
  index: string | undefined,
  value: string | undefined,
  ordered: boolean,
  shape: TypeShape,
  refuse: Refuse,
): DataType {
  if (index === undefined || value === undefined) {
    return refuse(
      'a dictionary needs the types of its indices and values, as in dictionary:int32:utf8',
    );
  }
  const indices = PLAIN.get(index)?.();
  if (!DataType.isInt(indices))
    return refuse(`a dictionary cannot have indices of type "${index}"`);
  if (/^dict(ionary)?(:|$)/.test(value)) refuse('a dictionary cannot hold dictionaries');
  const values = typeOfName(value, shape, refuse);
  return new Dictionary(
    values,
    indices as ConstructorParameters<typeof Dictionary>[1],
    null,
    ordered,
  );
}

function unit(name: string | undefined, refuse: Refuse): TimeUnit {
  const found = (TIME_UNITS as readonly string[]).indexOf(name ?? '');
  if (found < 0) refuse(`expected a unit of time, one of ${TIME_UNITS.join(', ')}`);
  return found as TimeUnit;
}

function takeNothing(name: string, shape: TypeShape, refuse: Refuse): void {
  if (shape.fields !== undefined && shape.fields.length > 0) refuse(`${name} takes no "fields"`);
  if (shape.length !== undefined) refuse(`${name} takes no "length"`);
}

function noParameters(name: string, rest: string | undefined, refuse: Refuse): void {
  if (rest !== undefined) refuse(`${name} takes no parameters after a colon`);
}

function children(name: string, shape: TypeShape, refuse: Refuse): Field[] {
  if (shape.length !== undefined) refuse(`a ${name} takes no "length"`);
  if (shape.fields === undefined) return refuse(`a ${name} needs "fields"`);
  return [...shape.fields];
}

function onlyChild(
  name: string,
  rest: string | undefined,
  shape: TypeShape,
  refuse: Refuse,
): Field {
  noParameters(name, rest, refuse);
  const [child, ...others] = children(name, shape, refuse);
  if (child === undefined || others.length > 0) return refuse(`a ${name} has exactly one field`);
  return child;
}

function fixedLength(name: string, value: string | number | undefined, refuse: Refuse): number {
  const length = typeof value === 'string' ? integer(value) : value;
  if (length === undefined || !Number.isInteger(length) || length < 0 || length > MAX_INT32) {
    return refuse(`a ${name} needs a "length" that is an integer from 0 to ${MAX_INT32}`);
  }
  return length;
}

/** A decimal number of digits alone, or NaN. */
const integer = (text: string): number => (/^\d{1,10}$/.test(text) ? Number(text) : Number.NaN);

/** What stands before and after the first colon. */
function cut(text: string): [string, string | undefined] {
  const colon = text.indexOf(':');
  return colon < 0 ? [text, undefined] : [text.slice(0, colon), text.slice(colon + 1)];
}
