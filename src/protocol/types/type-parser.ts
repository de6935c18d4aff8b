/**
 * `typeOfName` parses a type name of Arrow or Lance, with its child fields and length, into an
 * Arrow type. It calls the caller's `refuse` for a name that is unknown or has more than 1,024
 * characters, and where the parameters, child fields or length do not fit the type.
 * type-parameters.ts parses the names of types that have parameters but no child fields.
 */
import {
  Binary,
  BinaryView,
  Bool,
  DataType,
  Date_,
  DateUnit,
  DECIMAL_DIGITS,
  Dictionary,
  Field,
  FixedSizeList,
  Float,
  Int,
  LargeBinary,
  LargeList,
  LargeUtf8,
  List,
  Map_,
  Null,
  Precision,
  type Refuse,
  Struct,
  Union,
  UnionMode,
  Utf8,
  Utf8View,
} from '../../arrow/index.ts';
import {
  cut,
  decimal,
  duration,
  fixedLength,
  fixedSizeBinary,
  integer,
  interval,
  noParameters,
  type TypeShape,
  takeNothing,
  time,
  timestamp,
} from './type-parameters.ts';

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
  ['duration', duration],
  ['interval', interval],
  ...[...DECIMAL_DIGITS.keys()].map((bits): readonly [string, Parser] => [
    `decimal${bits}`,
    (rest, shape, refuse) => decimal(bits, rest, shape, refuse),
  ]),
  [
    'decimal',
    (rest, shape, refuse) => {
      const [bits, digits] = cut(rest ?? '');
      const width = integer(bits);
      if (!DECIMAL_DIGITS.has(width)) refuse(`a decimal has no width of "${bits}" bits`);
      return decimal(width, digits, shape, refuse);
    },
  ],
  ['fixed_size_binary', fixedSizeBinary],
  ['fixed_size_list', fixedSizeList],
  ['list', (rest, shape, refuse) => new List(onlyChild('list', rest, shape, refuse))],
  [
    'large_list',
    (rest, shape, refuse) => new LargeList(onlyChild('large_list', rest, shape, refuse)),
  ],
  // Lance's own metadata says beside the list that its items are structs.
  [
    'list.struct',
    (rest, shape, refuse) => new List(structChild('list.struct', rest, shape, refuse)),
  ],
  [
    'large_list.struct',
    (rest, shape, refuse) => new LargeList(structChild('large_list.struct', rest, shape, refuse)),
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

function structChild(
  name: string,
  rest: string | undefined,
  shape: TypeShape,
  refuse: Refuse,
): Field {
  const child = onlyChild(name, rest, shape, refuse);
  return DataType.isStruct(child.type) ? child : refuse(`the field of a ${name} is a struct`);
}
