/**
 * `writeSchema` converts an Arrow schema to a Parquet schema. It also lists the leaves
 * (`WriteLeaf`), which are the columns that Parquet stores: a nested column has one for each
 * innermost type. A leaf has its path, its Parquet type, and its maximal definition and repetition
 * levels. A type that Parquet cannot hold, such as a union, throws Unsupported with the path of the
 * column. A dictionary column gets the type of its values; times and timestamps in seconds become
 * milliseconds.
 */
import {
  childFields,
  type DataType,
  type Date_,
  DateUnit,
  type Decimal,
  type Field,
  type FixedSizeBinary,
  type Float,
  type Int,
  Precision,
  plainType,
  type Schema,
  type Time,
  type Timestamp,
  TimeUnit,
  Type,
} from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { PHYSICAL } from './metadata.ts';
import type { Fields, Value } from './thrift-writer.ts';

/** What lies between a column and one of its leaves. */
export type Step =
  | { readonly kind: 'struct'; readonly nullable: boolean; readonly child: number }
  | { readonly kind: 'list'; readonly nullable: boolean }
  | { readonly kind: 'leaf'; readonly nullable: boolean };

export interface WriteLeaf {
  readonly path: readonly string[];
  /** Of the column of the schema. */
  readonly column: number;
  readonly steps: readonly Step[];
  readonly type: DataType;
  readonly physical: number;
  /** Bytes of a value; 0 where they differ. */
  readonly width: number;
  readonly maxDefinition: number;
  readonly maxRepetition: number;
}

export interface WriteSchema {
  /** The elements of Parquet's schema, from the root down. */
  readonly elements: readonly Value[];
  readonly leaves: readonly WriteLeaf[];
}

const [REQUIRED, OPTIONAL, REPEATED] = [0, 1, 2];
const EMPTY: Value = { struct: [] };

/** @throws Unsupported naming a column of a type that Parquet has not */
export function writeSchema({ fields }: Schema): WriteSchema {
  const elements: Value[] = [element({ name: 'schema', children: fields.length })];
  const leaves: WriteLeaf[] = [];
  for (const [column, field] of fields.entries()) {
    addField(field, field.name, isNullable(field), [], {
      ...{ column, path: [], definitions: 0, repetitions: 0, elements, leaves },
    });
  }
  return { elements, leaves };
}

/** A column of nulls alone has nothing but nulls, whatever its field says. */
const isNullable = ({ nullable, type }: Field): boolean => nullable || type.typeId === Type.Null;

interface Around {
  readonly column: number;
  readonly path: readonly string[];
  readonly definitions: number;
  readonly repetitions: number;
  readonly elements: Value[];
  readonly leaves: WriteLeaf[];
}

interface Element {
  readonly name: string;
  readonly repetition?: number;
  readonly children?: number;
  readonly physical?: number;
  readonly width?: number;
  readonly converted?: number | undefined;
  readonly scale?: number;
  readonly precision?: number;
  readonly logical?: Value | undefined;
}

const element = (of: Element): Value => ({
  struct: [
    [1, of.physical],
    [2, of.width],
    [3, of.repetition],
    [4, of.name],
    [5, of.children],
    [6, of.converted],
    [7, of.scale],
    [8, of.precision],
    [10, of.logical],
  ],
});

function addField(
  field: Field,
  name: string,
  nullable: boolean,
  before: readonly Step[],
  around: Around,
): void {
  const type = plainType(field.type);
  const { elements } = around;
  const path = [...around.path, name];
  const repetition = nullable ? OPTIONAL : REQUIRED;
  const definitions = around.definitions + (nullable ? 1 : 0);
  const inside = { ...around, path, definitions };
  switch (type.typeId) {
    case Type.Struct: {
      const children = childFields(type);
      if (children.length === 0) throw unsupported(path, 'a struct without members');
      elements.push(element({ name, repetition, children: children.length }));
      for (const [child, each] of children.entries()) {
        const step: Step = { kind: 'struct', nullable, child };
        addField(each, each.name, isNullable(each), [...before, step], inside);
      }
      return;
    }
    case Type.List:
    case Type.LargeList:
    case Type.FixedSizeList: {
      const [item] = childFields(type) as [Field];
      const logical = { struct: [[3, EMPTY]] } as Value;
      elements.push(element({ name, repetition, children: 1, converted: 3, logical }));
      elements.push(element({ name: 'list', repetition: REPEATED, children: 1 }));
      addField(item, 'element', isNullable(item), [...before, { kind: 'list', nullable }], {
        ...inside,
        path: [...path, 'list'],
        definitions: definitions + 1,
        repetitions: around.repetitions + 1,
      });
      return;
    }
    case Type.Map: {
      const [entries] = childFields(type) as [Field];
      const [key, value] = childFields(entries.type) as [Field, Field];
      const logical = { struct: [[2, EMPTY]] } as Value;
      elements.push(element({ name, repetition, children: 1, converted: 1, logical }));
      elements.push(element({ name: 'key_value', repetition: REPEATED, children: 2 }));
      const pair = {
        ...inside,
        path: [...path, 'key_value'],
        definitions: definitions + 1,
        repetitions: around.repetitions + 1,
      };
      const step = (child: number): Step[] => [
        ...before,
        { kind: 'list', nullable },
        { kind: 'struct', nullable: false, child },
      ];
      addField(key, 'key', false, step(0), pair);
      addField(value, 'value', isNullable(value), step(1), pair);
      return;
    }
    default: {
      const isUuid = field.metadata.get('ARROW:extension:name') === 'arrow.uuid';
      const form = leafElement(type, path, isUuid);
      elements.push(element({ name, repetition, ...form }));
      around.leaves.push({
        path,
        column: around.column,
        steps: [...before, { kind: 'leaf', nullable }],
        type,
        physical: form.physical as number,
        width: form.width ?? WIDTHS[form.physical as number] ?? 0,
        maxDefinition: definitions,
        maxRepetition: around.repetitions,
      });
    }
  }
}

const WIDTHS: Readonly<Record<number, number>> = {
  [PHYSICAL.INT32]: 4,
  [PHYSICAL.FLOAT]: 4,
  [PHYSICAL.INT64]: 8,
  [PHYSICAL.DOUBLE]: 8,
};

const unsupported = (path: readonly string[], what: string): DirspaceError =>
  new DirspaceError(
    'Unsupported',
    `Parquet has no form for ${what}, as the column ${JSON.stringify(path.join('.'))} has; select other columns, or write Arrow.`,
    { details: { column: path.join('.') } },
  );

type LeafElement = Omit<Element, 'name' | 'repetition' | 'children'>;

/** A union of logical types with one of them. */
const logicalOf = (field: number, fields: Fields = []): Value => ({
  struct: [[field, { struct: fields }]],
});

/** @param isUuid whether the field says that its bytes are a UUID */
function leafElement(type: DataType, path: readonly string[], isUuid: boolean): LeafElement {
  switch (type.typeId) {
    case Type.Null:
      return { physical: PHYSICAL.INT32, logical: logicalOf(11) };
    case Type.Bool:
      return { physical: PHYSICAL.BOOLEAN };
    case Type.Int:
      return intElement(type as Int);
    case Type.Float: {
      const { precision } = type as Float;
      if (precision === Precision.HALF) {
        return { physical: PHYSICAL.FIXED_LEN_BYTE_ARRAY, width: 2, logical: logicalOf(15) };
      }
      return { physical: precision === Precision.SINGLE ? PHYSICAL.FLOAT : PHYSICAL.DOUBLE };
    }
    case Type.Utf8:
    case Type.LargeUtf8:
    case Type.Utf8View:
      return { physical: PHYSICAL.BYTE_ARRAY, converted: 0, logical: logicalOf(1) };
    case Type.Binary:
    case Type.LargeBinary:
    case Type.BinaryView:
      return { physical: PHYSICAL.BYTE_ARRAY };
    case Type.FixedSizeBinary: {
      const width = (type as FixedSizeBinary).byteWidth;
      if (width === 0) throw unsupported(path, 'values of no bytes');
      const logical = isUuid && width === 16 ? logicalOf(14) : undefined;
      return { physical: PHYSICAL.FIXED_LEN_BYTE_ARRAY, width, logical };
    }
    case Type.Decimal: {
      const { scale, precision } = type as Decimal;
      if (scale < 0 || scale > precision) throw unsupported(path, `decimals of the scale ${scale}`);
      const logical = logicalOf(5, [
        [1, scale],
        [2, precision],
      ]);
      const width = decimalBytes(precision);
      const physical = PHYSICAL.FIXED_LEN_BYTE_ARRAY;
      return { physical, width, converted: 5, scale, precision, logical };
    }
    case Type.Date:
      return { physical: PHYSICAL.INT32, converted: 6, logical: logicalOf(6) };
    case Type.Time: {
      const { unit } = type as Time;
      const isWide = unit === TimeUnit.MICROSECOND || unit === TimeUnit.NANOSECOND;
      return {
        physical: isWide ? PHYSICAL.INT64 : PHYSICAL.INT32,
        logical: logicalOf(7, [
          [1, false],
          [2, unitOf(unit)],
        ]),
      };
    }
    case Type.Timestamp: {
      const { unit, timezone } = type as Timestamp;
      const isInstant = timezone !== null && timezone !== undefined && timezone !== '';
      const older =
        unit === TimeUnit.NANOSECOND ? undefined : unit === TimeUnit.MICROSECOND ? 10 : 9;
      return {
        physical: PHYSICAL.INT64,
        // Readers that know no newer form take it for an instant.
        converted: isInstant ? older : undefined,
        logical: logicalOf(8, [
          [1, isInstant],
          [2, unitOf(unit)],
        ]),
      };
    }
    case Type.Duration:
      return { physical: PHYSICAL.INT64 };
    case Type.Interval:
      return { physical: PHYSICAL.FIXED_LEN_BYTE_ARRAY, width: 12, converted: 21 };
    case Type.Union:
      throw unsupported(path, 'unions');
    default:
      throw unsupported(path, String(type));
  }
}

/** Seconds, which Parquet has not, become milliseconds. */
const unitOf = (unit: TimeUnit): Value =>
  logicalOf(unit === TimeUnit.NANOSECOND ? 3 : unit === TimeUnit.MICROSECOND ? 2 : 1);

function intElement({ bitWidth, isSigned }: Int): LeafElement {
  const physical = bitWidth === 64 ? PHYSICAL.INT64 : PHYSICAL.INT32;
  if (isSigned && bitWidth >= 32) return { physical };
  const size = Math.log2(bitWidth) - 3;
  return {
    physical,
    converted: (isSigned ? 15 : 11) + size,
    logical: logicalOf(10, [
      [1, { byte: bitWidth }],
      [2, isSigned],
    ]),
  };
}

/** The fewest bytes that hold all decimals of so many digits. */
function decimalBytes(precision: number): number {
  const most = 10n ** BigInt(precision);
  let bytes = 1;
  while (1n << BigInt(8 * bytes - 1) < most) bytes++;
  return bytes;
}

/** Whether a type of dates stores days, and not milliseconds. */
export const isDays = (type: DataType): boolean => (type as Date_).unit === DateUnit.DAY;
