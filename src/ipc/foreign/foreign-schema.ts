/**
 * `readForeignSchema` parses and validates the schema of another program's Arrow stream or file.
 * List views and run-end-encoded columns, which apache-arrow lacks, get the types of ordinary
 * columns with the same values. A schema that is invalid or not supported goes to the caller's
 * `refuse`. `dictionaryDepths` tells how deep dictionaries lie within each other.
 */
import {
  Binary,
  BinaryView,
  Bool,
  checkDecimal,
  checkTime,
  DataType,
  Date_,
  Decimal,
  Dictionary,
  Duration,
  Field,
  FixedSizeBinary,
  FixedSizeList,
  Float,
  INTERVAL_UNITS,
  Int,
  Int32,
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
  TimeUnit,
  Type,
  typesEqual,
  Union,
  Utf8,
  Utf8View,
} from '../../arrow/index.ts';
import { MAX_SCHEMA_DEPTH, MAX_SCHEMA_FIELDS } from '../../protocol/index.ts';
import { TIME_UNITS } from '../../values/index.ts';
import type { FlatTable, Refuse } from '../codecs/index.ts';

/**
 * How a column lies in messages, where apache-arrow has no type for it: it is read as the type that
 * holds the same values.
 */
export type Encoding = 'list-view' | 'run-ends';

/** A type with the way in which its columns lie in messages. */
export interface ForeignType {
  /** The type of a column once it is read. */
  readonly type: DataType;
  readonly encoding: Encoding | undefined;
  /** Those of the type; of an encoding by run ends, the run ends and the values. */
  readonly children: readonly ForeignField[];
}

export interface ForeignField extends ForeignType {
  readonly name: string;
}

/** A dictionary as the schema announces it, under the number that the bytes give it. */
export interface ForeignDictionary {
  /**
   * The id of its type here: ids are unique within the process, so that columns of different
   * streams can stand in one schema.
   */
  readonly id: number;
  readonly values: ForeignType;
}

export interface ForeignSchema {
  readonly schema: Schema;
  /** The columns of the schema as they lie in record batches. */
  readonly columns: readonly ForeignField[];
  readonly dictionaries: ReadonlyMap<number, ForeignDictionary>;
}

/** Reads the table of a schema. `refuse` gets what is wrong, naming the column. */
export function readForeignSchema(table: FlatTable, refuse: Refuse): ForeignSchema {
  if (table.short(0) !== 0) refuse('its bytes are big-endian; only little-endian is supported');
  const reader = new SchemaReader(refuse);
  const columns = Array.from(table.tables(1), (field) => reader.field(field, '', 0));
  return {
    schema: new Schema(
      columns.map(({ field }) => field),
      metadataOf(table, 2),
    ),
    columns,
    dictionaries: reader.dictionaries,
  };
}

/** How deep dictionaries lie within each, by number: 0 where its values have none. */
export function dictionaryDepths({ dictionaries }: ForeignSchema): ReadonlyMap<number, number> {
  const ofType = (type: DataType): number =>
    DataType.isDictionary(type)
      ? 1 + ofType(type.dictionary)
      : Math.max(0, ...(type.children ?? []).map((child) => ofType(child.type)));
  return new Map(Array.from(dictionaries, ([number, { values }]) => [number, ofType(values.type)]));
}

interface ReadField extends ForeignField {
  readonly field: Field;
}

class SchemaReader {
  readonly dictionaries = new Map<number, ForeignDictionary>();
  readonly #refuse: Refuse;
  #fields = 0;

  constructor(refuse: Refuse) {
    this.#refuse = refuse;
  }

  field(table: FlatTable, parent: string, depth: number): ReadField {
    this.#fields += 1;
    const name = table.text(0) ?? '';
    const path = parent === '' ? name : `${parent}.${name}`;
    const refuse: Refuse = (problem) => this.#refuse(`column ${JSON.stringify(path)}: ${problem}`);
    if (this.#fields > MAX_SCHEMA_FIELDS) refuse(`there are more than ${MAX_SCHEMA_FIELDS} fields`);
    if (depth > MAX_SCHEMA_DEPTH) refuse(`types nest deeper than ${MAX_SCHEMA_DEPTH}`);
    const children = Array.from(table.tables(5), (child) => this.field(child, path, depth + 1));
    const values = typeOf(table, children, refuse);
    const column = this.#encoded(table.table(4), values, refuse);
    const { type } = column;
    // apache-arrow calls columns of the null type not nullable where it makes the field itself.
    const nullable = table.boolean(1) || type.typeId === Type.Null;
    return { ...column, name, field: new Field(name, type, nullable, metadataOf(table, 6)) };
  }

  /** The dictionary type of a field that has an encoding by one. */
  #encoded(encoding: FlatTable | undefined, values: ForeignType, refuse: Refuse): ForeignType {
    if (encoding === undefined) return values;
    if (encoding.short(3) !== 0) refuse('its kind of dictionary is unknown');
    const number = encoding.long(0);
    const index = encoding.table(1);
    const indices = index === undefined ? new Int32() : intOf(index, refuse);
    const known = this.dictionaries.get(number);
    if (known !== undefined && !lieAlike(known.values, values)) {
      refuse(`dictionary ${number} has values of two types`);
    }
    const type = new Dictionary(
      known?.values.type ?? values.type,
      indices as ConstructorParameters<typeof Dictionary>[1],
      known?.id ?? null,
      encoding.boolean(2),
    );
    if (known === undefined) this.dictionaries.set(number, { id: type.id, values });
    return { type, encoding: undefined, children: [] };
  }
}

/** Whether columns of two types have the same values and the same buffers. */
function lieAlike(a: ForeignType, b: ForeignType): boolean {
  return (
    a.encoding === b.encoding &&
    typesEqual(a.type, b.type, {}) &&
    a.children.every((child, at) => lieAlike(child, b.children[at] as ForeignField))
  );
}

function metadataOf(table: FlatTable, index: number): Map<string, string> {
  const metadata = new Map<string, string>();
  for (const pair of table.tables(index)) metadata.set(pair.text(0) ?? '', pair.text(1) ?? '');
  return metadata;
}

/** Types that Arrow has and apache-arrow has not. */
const RUN_END_ENCODED = 22;
const LIST_VIEW = 25;
const LARGE_LIST_VIEW = 26;
const ENCODINGS: ReadonlyMap<number, Encoding> = new Map<number, Encoding>([
  [RUN_END_ENCODED, 'run-ends'],
  [LIST_VIEW, 'list-view'],
  [LARGE_LIST_VIEW, 'list-view'],
]);

const LEAVES: ReadonlyMap<number, () => DataType> = new Map<number, () => DataType>([
  [Type.Null, () => new Null()],
  [Type.Bool, () => new Bool()],
  [Type.Utf8, () => new Utf8()],
  [Type.LargeUtf8, () => new LargeUtf8()],
  [Type.Utf8View, () => new Utf8View()],
  [Type.Binary, () => new Binary()],
  [Type.LargeBinary, () => new LargeBinary()],
  [Type.BinaryView, () => new BinaryView()],
]);
const NESTED: ReadonlySet<number> = new Set([
  Type.List,
  Type.LargeList,
  Type.FixedSizeList,
  Type.Struct,
  Type.Map,
  Type.Union,
  LIST_VIEW,
  LARGE_LIST_VIEW,
]);
function typeOf(table: FlatTable, columns: readonly ReadField[], refuse: Refuse): ForeignType {
  const code = table.byte(2);
  const encoding = ENCODINGS.get(code);
  if (code === RUN_END_ENCODED) {
    return { type: valuesOfRuns(columns, refuse), encoding, children: columns };
  }
  const children = columns.map(({ field }) => field);
  return { type: declaredType(table, code, children, refuse), encoding, children: columns };
}

/** The type of the values, which a column of runs becomes. */
function valuesOfRuns(columns: readonly ReadField[], refuse: Refuse): DataType {
  const [ends, values, ...others] = columns;
  if (ends === undefined || values === undefined || others.length > 0) {
    return refuse(`its runs have two children, not ${columns.length}`);
  }
  const { type } = ends;
  if (
    ends.encoding !== undefined ||
    !DataType.isInt(type) ||
    !type.isSigned ||
    type.bitWidth < 16
  ) {
    refuse('its run ends are not signed integers of 16, 32 or 64 bits');
  }
  return values.type;
}

function declaredType(field: FlatTable, code: number, children: Field[], refuse: Refuse): DataType {
  if (!NESTED.has(code) && children.length > 0) refuse('its type takes no children');
  const leaf = LEAVES.get(code);
  if (leaf !== undefined) return leaf();
  const type = field.table(3) ?? refuse('its type is missing');
  const unit = (names: readonly string[], absent = 0): number => {
    const found = type.short(0, absent);
    return found in names ? found : refuse(`its unit ${found} is unknown`);
  };
  switch (code) {
    case Type.Int:
      return intOf(type, refuse);
    case Type.Float:
      return new Float(unit(['half', 'single', 'double']));
    case Type.Decimal: {
      const [precision, scale, bits] = [type.int(0), type.int(1), type.int(2, 128)];
      checkDecimal(bits, precision, scale, refuse);
      return new Decimal(scale, precision, bits);
    }
    case Type.Date:
      return new Date_(unit(['day', 'millisecond'], 1));
    case Type.Time: {
      const [found, bits] = [unit(TIME_UNITS, TimeUnit.MILLISECOND), type.int(1, 32)];
      checkTime(bits, found, refuse);
      return new Time(found, bits as Time['bitWidth']);
    }
    case Type.Timestamp:
      return new Timestamp(unit(TIME_UNITS), type.text(1) || undefined);
    case Type.Duration:
      return new Duration(unit(TIME_UNITS, TimeUnit.MILLISECOND));
    case Type.Interval:
      return new Interval(unit(INTERVAL_UNITS));
    case Type.FixedSizeBinary:
      return new FixedSizeBinary(sizeOf(type, refuse));
    case Type.List:
    case LIST_VIEW:
      return new List(onlyChild(children, refuse));
    case Type.LargeList:
    case LARGE_LIST_VIEW:
      return new LargeList(onlyChild(children, refuse));
    case Type.FixedSizeList:
      return new FixedSizeList(sizeOf(type, refuse), onlyChild(children, refuse));
    case Type.Struct:
      return new Struct(children);
    case Type.Map:
      return mapOf(onlyChild(children, refuse), type.boolean(0), refuse);
    case Type.Union:
      return unionOf(type, children, unit(['sparse', 'dense']), refuse);
    default:
      return refuse(`its type ${code} is not supported; send it as another type`);
  }
}

function intOf(type: FlatTable, refuse: Refuse): Int {
  const bits = type.int(0);
  if (![8, 16, 32, 64].includes(bits)) refuse(`there are no integers of ${bits} bits`);
  return new Int(type.boolean(1), bits as Int['bitWidth']);
}

function sizeOf(type: FlatTable, refuse: Refuse): number {
  const size = type.int(0);
  return size >= 0 ? size : refuse(`its fixed size is ${size}`);
}

function onlyChild(children: readonly Field[], refuse: Refuse): Field {
  const [child, ...others] = children;
  if (child === undefined || others.length > 0) {
    return refuse(`its type has one child, not ${children.length}`);
  }
  return child;
}

function mapOf(entries: Field, keysSorted: boolean, refuse: Refuse): DataType {
  if (!DataType.isStruct(entries.type) || entries.type.children.length !== 2) {
    refuse('the child of a map is not a struct of keys and values');
  }
  return new Map_(entries as unknown as ConstructorParameters<typeof Map_>[0], keysSorted);
}

function unionOf(type: FlatTable, children: Field[], mode: number, refuse: Refuse): DataType {
  const ids = type.has(1) ? type.ints(1) : children.map((_, index) => index);
  if (ids.length !== children.length || new Set(ids).size !== ids.length) {
    refuse(`its ${ids.length} type ids do not fit its ${children.length} children`);
  }
  if (ids.some((id) => id < 0 || id > 127)) refuse('its type ids are not from 0 to 127');
  return new Union(mode, ids, children);
}
