/**
 * `schemasEqual` and `typesEqual` compare Arrow schemas and types by structure, so objects of
 * another copy of apache-arrow can be equal too. Dictionary ids are ignored. Options say whether
 * metadata, nullability and the names of list items count. Without options, nullability counts in
 * `schemasEqual` alone, and the others in neither. `metadataEqual` compares two maps of metadata,
 * and `describeType` formats a type for messages.
 */
import { DataType, type Field, type Schema, UnionMode } from './apache.ts';
import { INTERVAL_UNITS, typeName } from './type-names.ts';

export interface SchemaComparison {
  /** Also compare the metadata of the schema and of every field, nested ones too. */
  readonly metadata?: boolean;
  /** Set to false to accept fields that differ only in whether they may be null. */
  readonly nullability?: boolean;
  /** Also compare the names of the fields inside lists and maps. */
  readonly itemNames?: boolean;
}

/** Fields pairwise by name, type and nullability, in order. */
export function schemasEqual(a: Schema, b: Schema, comparison: SchemaComparison = {}): boolean {
  return (
    a === b ||
    (fieldsEqual(a.fields, b.fields, comparison, true) &&
      (comparison.metadata !== true || metadataEqual(a.metadata, b.metadata)))
  );
}

/**
 * Structural equality of types. Blind to what carries no meaning: the ids of dictionaries and the
 * names of the field inside a list or map, which differ from writer to writer. Nullability within
 * nested types counts only where `comparison` says so.
 */
export function typesEqual(
  a: DataType,
  b: DataType,
  comparison: SchemaComparison = { nullability: false },
): boolean {
  if (a === b) return true;
  if (a.typeId !== b.typeId) return false;
  if (DataType.isDictionary(a)) {
    return (
      DataType.isDictionary(b) &&
      a.isOrdered === b.isOrdered &&
      typesEqual(a.indices, b.indices, comparison) &&
      typesEqual(a.dictionary, b.dictionary, comparison)
    );
  }
  if (parameters(a) !== parameters(b)) return false;
  const named = comparison.itemNames === true || DataType.isStruct(a) || DataType.isUnion(a);
  return fieldsEqual(childrenOf(a), childrenOf(b), comparison, named);
}

/** What tells two types of one kind apart, besides their children. */
function parameters(type: DataType): string | number | boolean | undefined {
  if (DataType.isInt(type)) return type.bitWidth * (type.isSigned ? 1 : -1);
  if (DataType.isFloat(type)) return type.precision;
  if (DataType.isDecimal(type)) return `${type.precision}:${type.scale}:${type.bitWidth}`;
  if (DataType.isTime(type)) return `${type.unit}:${type.bitWidth}`;
  if (DataType.isTimestamp(type)) return `${type.unit}:${type.timezone ?? ''}`;
  if (DataType.isDate(type) || DataType.isInterval(type) || DataType.isDuration(type)) {
    return type.unit;
  }
  if (DataType.isMap(type)) return Boolean(type.keysSorted);
  if (DataType.isUnion(type)) return `${type.mode}:${type.typeIds.join()}`;
  return sizeOf(type);
}

/** Pairwise, in order; `named` says whether their names count. */
function fieldsEqual(
  a: readonly Field[],
  b: readonly Field[],
  comparison: SchemaComparison,
  named: boolean,
): boolean {
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at += 1) {
    const left = a[at] as Field;
    const right = b[at] as Field;
    if (left === right) continue;
    if (named && left.name !== right.name) return false;
    if (comparison.nullability !== false && left.nullable !== right.nullable) return false;
    if (comparison.metadata === true && !metadataEqual(left.metadata, right.metadata)) return false;
    if (!typesEqual(left.type, right.type, comparison)) return false;
  }
  return true;
}

export function metadataEqual(
  a: ReadonlyMap<string, string>,
  b: ReadonlyMap<string, string>,
): boolean {
  if (a.size !== b.size) return false;
  for (const [key, value] of a) if (b.get(key) !== value) return false;
  return true;
}

const MAX_TEXT = 200;

/** For messages: `timestamp(us, UTC)`, `fixed_size_list<float32>[128]`, `struct<a: int64>`. */
export function describeType(type: DataType): string {
  const text = describe(type, 0);
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT)}...`;
}

function describe(type: DataType, depth: number): string {
  if (depth > 8) return '...';
  if (DataType.isDictionary(type)) {
    const ordered = type.isOrdered ? 'ordered ' : '';
    return `${ordered}dictionary<${describe(type.indices, depth)}, ${describe(type.dictionary, depth + 1)}>`;
  }
  if (DataType.isInterval(type)) return `interval(${INTERVAL_UNITS[type.unit]})`;
  if (DataType.isMap(type)) {
    const entries = childrenOf(childrenOf(type)[0]?.type).map(({ type }) => type);
    const sorted = type.keysSorted ? ', keys sorted' : '';
    return `map<${entries.map((entry) => describe(entry, depth + 1)).join(', ')}${sorted}>`;
  }
  if (DataType.isUnion(type)) {
    const mode = type.mode === UnionMode.Dense ? 'dense_union' : 'sparse_union';
    const { typeIds } = type;
    return `${mode}<${members(type, depth, (_, at) => String(typeIds[at]))}>`;
  }
  if (DataType.isStruct(type)) return `struct<${members(type, depth, ({ name }) => name)}>`;
  const [name, first, ...others] = nameOf(type).split(':');
  const size = sizeOf(type);
  const child = childrenOf(type)[0];
  if (child !== undefined) return `${name}<${describe(child.type, depth + 1)}>${brackets(size)}`;
  if (first === undefined) return `${name}${brackets(size)}`;
  // A zone holds colons of its own; the digits of a decimal are two parameters.
  const rest = DataType.isTimestamp(type) ? [others.join(':')] : others;
  return `${name}(${[first, ...rest].filter((part) => part !== '').join(', ')})`;
}

const MAX_MEMBERS = 16;

function members(
  type: DataType,
  depth: number,
  label: (field: Field, at: number) => string,
): string {
  const children = childrenOf(type);
  const shown = children
    .slice(0, MAX_MEMBERS)
    .map((field, at) => `${label(field, at)}: ${describe(field.type, depth + 1)}`);
  return (children.length > MAX_MEMBERS ? [...shown, '...'] : shown).join(', ');
}

const brackets = (size: number | undefined): string => (size === undefined ? '' : `[${size}]`);

const childrenOf = (type: DataType | undefined): readonly Field[] =>
  (type?.children as readonly Field[] | null | undefined) ?? [];

function sizeOf(type: DataType): number | undefined {
  if (DataType.isFixedSizeBinary(type)) return type.byteWidth;
  return DataType.isFixedSizeList(type) ? type.listSize : undefined;
}

/** Arrow's name; for a type that Arrow does not have, whatever apache-arrow calls it. */
function nameOf(type: DataType): string {
  try {
    return typeName(type, (problem) => {
      throw new RangeError(problem);
    });
  } catch {
    return String(type);
  }
}
