/**
 * Copies schemas, fields and types that another copy of apache-arrow made (releases 15 to 21) as
 * objects of this package's copy (`rebuildSchema`, `rebuildType`), so that programs may use a
 * release of their own. `isSchemaLike` and `isTypeLike` recognise such objects by their structure.
 * Objects that belong to this copy throughout are returned as they are. Unknown types, and metadata
 * that is not text, throw Unsupported.
 */
import {
  Binary,
  BinaryView,
  Bool,
  childFields,
  DataType,
  Date_,
  Decimal,
  Dictionary,
  Duration,
  Field,
  FixedSizeBinary,
  FixedSizeList,
  Float,
  Int,
  Interval,
  LargeBinary,
  LargeList,
  LargeUtf8,
  List,
  Map_,
  Null,
  Schema,
  Struct,
  Time,
  Timestamp,
  Type,
  Union,
  Utf8,
  Utf8View,
} from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { showValue } from '../build/index.ts';

/** A type of any release of apache-arrow. Classes fit it: it says the only member all types have. */
export interface TypeLike {
  readonly typeId: number;
}

/** Its other members, of which none is checked. */
type UncheckedType = TypeLike & { readonly [member: string]: unknown };

/** A field of any copy of apache-arrow. */
export interface FieldLike {
  readonly name: string | null;
  /** Names of types are taken in schemas alone. */
  readonly type: TypeLike | string;
  readonly nullable?: boolean;
  readonly metadata?: ReadonlyMap<string, string> | null;
}

/** A schema of any copy of apache-arrow. */
export interface SchemaLike {
  readonly fields: readonly FieldLike[];
  readonly metadata?: ReadonlyMap<string, string> | null;
}

const member = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;

export const isTypeLike = (value: unknown): value is TypeLike =>
  typeof member(value, 'typeId') === 'number';

/** True for a schema object of any copy of apache-arrow; false for JSON schemas. */
export function isSchemaLike(value: unknown): value is SchemaLike {
  const fields = member(value, 'fields');
  if (!Array.isArray(fields)) return false;
  if (fields.length === 0)
    return typeof member(member(value, 'metadata'), 'forEach') === 'function';
  return fields.every((field) => isTypeLike(member(field, 'type')));
}

/** Types already rebuilt, so that what was one object stays one (dictionaries need it). */
export type TypeCache = Map<object, DataType>;

/** Our own Schema for one of any copy; the same object when it is ours throughout. */
export function rebuildSchema(schema: SchemaLike, cache: TypeCache): Schema {
  const fields = schema.fields.map((field) => rebuildField(field, cache));
  const own = Object.getPrototypeOf(schema) === Schema.prototype;
  if (own && fields.every((field, i) => field === (schema.fields[i] as unknown))) {
    return schema as unknown as Schema;
  }
  return new Schema(fields, rebuildMetadata(schema.metadata));
}

function rebuildField(field: FieldLike, cache: TypeCache): Field {
  if (!isTypeLike(field.type)) throw refused(`a field without a type (${showValue(field)})`);
  const type = rebuildType(field.type, cache);
  // apache-arrow calls columns of the null type not nullable where it makes the field itself.
  const nullable = field.nullable === true || type.typeId === Type.Null;
  const own = Object.getPrototypeOf(field) === Field.prototype && field.nullable === nullable;
  if (own && type === (field.type as unknown) && typeof field.name === 'string') {
    return field as unknown as Field;
  }
  // apache-arrow reads an empty name as null.
  return new Field(field.name ?? '', type, nullable, rebuildMetadata(field.metadata));
}

function rebuildMetadata(metadata: SchemaLike['metadata']): Map<string, string> {
  const entries = metadata ? [...metadata] : [];
  if (entries.some((entry) => entry.some((part) => typeof part !== 'string'))) {
    throw refused('metadata with keys or values that are not strings');
  }
  return new Map(entries);
}

export function rebuildType(type: TypeLike, cache: TypeCache): DataType {
  const known = cache.get(type);
  if (known !== undefined) return known;
  const made = isOwn(type) ? type : makeType(type as UncheckedType, cache);
  cache.set(type, made);
  return made;
}

/** True when a type and all below it come from our copy. */
function isOwn(type: unknown): type is DataType {
  if (!(type instanceof DataType)) return false;
  const plain = type.typeId === Type.Dictionary ? (type as Dictionary).dictionary : type;
  if (!(plain instanceof DataType)) return false;
  const ownField = (field: Field): boolean =>
    Object.getPrototypeOf(field) === Field.prototype &&
    typeof field.name === 'string' &&
    isOwn(field.type);
  return childFields(plain).every(ownField);
}

function makeType(type: UncheckedType, cache: TypeCache): DataType {
  const number = (name: string): number => {
    const value = type[name];
    if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
    throw refused(`a type with number ${type.typeId} whose ${name} is ${showValue(value)}`);
  };
  const children = (): Field[] => {
    const found = type.children;
    if (!Array.isArray(found)) throw refused(`a type with number ${type.typeId} without children`);
    return found.map((field: FieldLike) => rebuildField(field, cache));
  };
  const child = (): Field => {
    const [field] = children();
    if (field !== undefined) return field;
    throw refused(`a type with number ${type.typeId} without a child`);
  };
  switch (type.typeId as Type) {
    case Type.Null:
      return new Null();
    case Type.Bool:
      return new Bool();
    case Type.Utf8:
      return new Utf8();
    case Type.LargeUtf8:
      return new LargeUtf8();
    case Type.Utf8View:
      return new Utf8View();
    case Type.Binary:
      return new Binary();
    case Type.LargeBinary:
      return new LargeBinary();
    case Type.BinaryView:
      return new BinaryView();
    case Type.Int:
      return new Int(type.isSigned === true, number('bitWidth') as 8 | 16 | 32 | 64);
    case Type.Float:
      return new Float(number('precision'));
    case Type.Decimal:
      // Releases before 128 bits became one choice of several have no bitWidth.
      return new Decimal(
        number('scale'),
        number('precision'),
        type.bitWidth === undefined ? 128 : number('bitWidth'),
      );
    case Type.Date:
      return new Date_(number('unit'));
    case Type.Time:
      return new Time(number('unit'), number('bitWidth') as 32 | 64);
    case Type.Timestamp:
      return new Timestamp(number('unit'), optionalText(type.timezone));
    case Type.Duration:
      return new Duration(number('unit'));
    case Type.Interval:
      return new Interval(number('unit'));
    case Type.FixedSizeBinary:
      return new FixedSizeBinary(number('byteWidth'));
    case Type.FixedSizeList:
      return new FixedSizeList(number('listSize'), child());
    case Type.List:
      return new List(child());
    case Type.LargeList:
      return new LargeList(child());
    case Type.Struct:
      return new Struct(children());
    case Type.Map:
      return new Map_(child(), type.keysSorted === true);
    case Type.Union:
      return new Union(number('mode'), [...(type.typeIds as Int32Array)], children());
    case Type.Dictionary: {
      const values = rebuildType(type.dictionary as TypeLike, cache);
      const indices = rebuildType(type.indices as TypeLike, cache) as Dictionary['indices'];
      return new Dictionary(values, indices, number('id'), type.isOrdered === true);
    }
    default:
      throw refused(`a type with number ${type.typeId}`);
  }
}

const optionalText = (value: unknown): string | null => (typeof value === 'string' ? value : null);

export const refused = (what: string): DirspaceError =>
  new DirspaceError(
    'Unsupported',
    `The Arrow data has ${what}, which is not known here. Pass it as Arrow IPC bytes, or as a ` +
      'type of apache-arrow 15 to 21.',
  );
