/**
 * `Narrowing` converts columns to a type that may not hold all of their values, such as int64 to
 * int32, also inside structs and lists. A value that does not fit throws `Misfit`, which has the
 * row and the value; `misfitError` makes an InvalidInput of it. Floats are rounded to the shorter
 * type; only those beyond its range do not fit. `canNarrow` tells whether columns of one type can
 * be converted to another at all. widen.ts converts columns to types that hold all values.
 */
import {
  type Data,
  DataType,
  Field,
  type Float,
  getBit,
  type Offsets,
  offsetAt,
  Precision,
  Schema,
  setBit,
  sliceBits,
  sliceData,
  type Timestamp,
  typesEqual,
} from '../../arrow/index.ts';
import { DirspaceError, isDirspaceError } from '../../errors.ts';
import {
  type CompiledExpression,
  compileExpression,
  compileValue,
  familyOf,
  loadColumn,
  reader,
  shownValue,
} from '../../sql/index.ts';
import type { Awaitable } from '../../store/index.ts';
import { type Adapter, adapterBetween } from './adapt.ts';
import type { IdentifiedField } from './field-ids.ts';
import { canWiden, isListLike, listsFit, widenList, withChildren } from './widen.ts';

/** True where values of `from` may be values of `to`, which is to be checked for each of them. */
export function canNarrow(from: DataType, to: DataType): boolean {
  if (canWiden(from, to)) return true;
  if (isListLike(from) && isListLike(to)) {
    const [own, other] = [from.children[0]?.type, to.children[0]?.type];
    return listsFit(from, to) && canNarrow(own as DataType, other as DataType);
  }
  if (DataType.isStruct(from) && DataType.isStruct(to)) {
    return (
      from.children.length === to.children.length &&
      from.children.every((field: Field, at: number) => {
        const other = to.children[at] as Field | undefined;
        return other?.name === field.name && canNarrow(field.type, other.type);
      })
    );
  }
  if ([from, to].some(isElsewhere)) return false;
  const [a, b] = [familyOf(from), familyOf(to)];
  if (NUMBERS.has(a) && NUMBERS.has(b)) return true;
  if (a !== b) return false;
  if (a === 'timestamp') return zoneOf(from) === zoneOf(to);
  return KINDS.has(a);
}

const NUMBERS: ReadonlySet<string> = new Set(['int', 'float', 'decimal']);
const KINDS: ReadonlySet<string> = new Set(['text', 'bytes', 'date', 'time', 'duration']);

/** Types whose values lie beside the column's own buffers. */
const isElsewhere = (type: DataType): boolean =>
  DataType.isDictionary(type) || DataType.isUtf8View(type) || DataType.isBinaryView(type);

const zoneOf = (type: DataType): string => (type as Timestamp).timezone ?? '';

/** A value that does not fit. */
export class Misfit extends Error {
  /** The row in the column that was converted. */
  readonly row: number;
  /** The value, as it is shown. */
  readonly value: string;

  constructor(row: number, value: string) {
    super(`Row ${row} holds ${value}.`);
    this.row = row;
    this.value = value;
  }
}

/** Computes the expression for all values, which are its column `v`. */
export type Evaluate = (expression: CompiledExpression, values: Data) => Awaitable<Data>;

const NAME = 'v';

/**
 * How columns of one field become columns of another type. Floats are rounded to the nearest value of
 * the shorter type; a number beyond its range does not fit.
 */
export class Narrowing {
  readonly #to: DataType;
  /** The conversion if all values fit; undefined if values have to be checked. */
  readonly #adapter: Adapter | null | undefined;
  /** For nested types: how their children are converted. */
  readonly #children: readonly Narrowing[];
  /** For types that are not nested: the conversion of a value. */
  readonly #expression: CompiledExpression | undefined;
  /** Whether the expression rounds, so that what it makes is looked at. */
  readonly #rounds: boolean;

  private constructor(
    to: DataType,
    adapter: Adapter | null | undefined,
    children: readonly Narrowing[],
    expression: CompiledExpression | undefined,
  ) {
    this.#to = to;
    this.#adapter = adapter;
    this.#children = children;
    this.#expression = expression;
    this.#rounds = expression !== undefined && DataType.isFloat(to) && expression.column === null;
  }

  /** @param from with the children of `to`; their types are such that `canNarrow` */
  static async between(from: IdentifiedField, to: IdentifiedField): Promise<Narrowing> {
    const [own, other] = [from.field.type as DataType, to.field.type as DataType];
    if (typesEqual(own, other) || canWiden(own, other)) {
      return new Narrowing(other, adapterBetween(to, from), [], undefined);
    }
    if (from.children.length === 0) {
      const schema = new Schema([new Field(NAME, own, true)]);
      // A name alone is converted without loss.
      const expression =
        DataType.isFloat(own) && DataType.isFloat(other)
          ? await compileExpression(`arrow_cast(${NAME}, '${floatName(other)}')`, schema)
          : await compileValue(NAME, schema, other);
      return new Narrowing(other, undefined, [], expression);
    }
    const children: Narrowing[] = [];
    for (const [at, child] of from.children.entries()) {
      children.push(await Narrowing.between(child, to.children[at] as IdentifiedField));
    }
    return new Narrowing(other, undefined, children, undefined);
  }

  /**
   * @param counted one byte a row, 0 where its value does not matter; undefined where all do
   * @throws Misfit for the first value that does not fit
   */
  async convert(data: Data, evaluate: Evaluate, counted: Uint8Array | undefined): Promise<Data> {
    if (this.#adapter !== undefined) return this.#adapter === null ? data : this.#adapter(data);
    if (this.#expression !== undefined) return this.#values(data, evaluate, counted);
    const rows = present(data, counted);
    if (DataType.isStruct(data.type)) {
      const children: Data[] = [];
      for (const [at, child] of this.#children.entries()) {
        children.push(await child.convert(data.children[at] as Data, evaluate, rows));
      }
      return withChildren(data, this.#to, children);
    }
    const [child] = this.#children;
    const items = data.children[0] as Data;
    try {
      const held = itemsOf(data, rows, items.length);
      const converted = await (child as Narrowing).convert(items, evaluate, held);
      return widenList(data, this.#to, converted);
    } catch (error) {
      throw error instanceof Misfit ? new Misfit(rowOfItem(data, error.row), error.value) : error;
    }
  }

  async #values(data: Data, evaluate: Evaluate, counted: Uint8Array | undefined): Promise<Data> {
    const expression = this.#expression as CompiledExpression;
    const given = counted === undefined ? data : withoutRows(data, counted);
    let converted: Data;
    try {
      converted = await evaluate(expression, given);
    } catch (error) {
      if (!isDirspaceError(error, 'InvalidInput')) throw error;
      const row = await firstRefused(given, expression, evaluate);
      if (row === undefined) throw error;
      const value = shownValue(reader(loadColumn(sliceData(given, row, 1)))(0), data.type);
      throw new Misfit(row, String(value));
    }
    const beyond = this.#rounds ? firstOverflow(given, converted) : -1;
    if (beyond >= 0) {
      const value = reader(loadColumn(sliceData(given, beyond, 1)))(0);
      throw new Misfit(beyond, String(shownValue(value, data.type)));
    }
    if (given === data) return converted;
    // Rows that do not matter keep being there or not, as required columns allow no nulls.
    const { offset, length, nullCount, nullBitmap } = data;
    const bits = nullCount > 0 ? sliceBits(nullBitmap, offset, length) : new Uint8Array(0);
    const { valueOffsets, values, typeIds } = converted;
    const buffers = [valueOffsets, values, bits, typeIds];
    return converted.clone(this.#to, 0, length, nullCount, buffers as never);
  }
}

const floatName = ({ precision }: Float): string =>
  precision === Precision.HALF ? 'Float16' : 'Float32';

/** The first row whose number was finite and is not; -1 where there is none. */
function firstOverflow(given: Data, converted: Data): number {
  const before = given.values as unknown as Float64Array;
  const after = converted.values as unknown as Float32Array | Uint16Array;
  const isHalf = after instanceof Uint16Array;
  for (let row = 0; row < given.length; row++) {
    const value = after[row] as number;
    const isInfinite = isHalf ? (value & 0x7fff) === 0x7c00 : Math.abs(value) === Infinity;
    if (!isInfinite || Math.abs(before[row] as number) === Infinity) continue;
    if (given.nullCount > 0 && !getBit(given.nullBitmap, given.offset + row)) continue;
    return row;
  }
  return -1;
}

/** By halves: a column of one row more is refused where the last of them does not fit. */
async function firstRefused(
  data: Data,
  expression: CompiledExpression,
  evaluate: Evaluate,
): Promise<number | undefined> {
  const fits = async (from: number, length: number): Promise<boolean> => {
    try {
      await evaluate(expression, sliceData(data, from, length));
      return true;
    } catch (error) {
      if (isDirspaceError(error, 'InvalidInput')) return false;
      throw error;
    }
  };
  let [from, length] = [0, data.length];
  while (length > 1) {
    const half = length >> 1;
    if (await fits(from, half)) {
      from += half;
      length -= half;
    } else length = half;
  }
  return length === 1 && !(await fits(from, 1)) ? from : undefined;
}

/** The column with null in the rows that do not count. */
function withoutRows(data: Data, counted: Uint8Array): Data {
  const { offset, length, nullCount, nullBitmap } = data;
  const bits = new Uint8Array(((offset + length + 63) >> 6) * 8);
  let nulls = 0;
  for (let row = 0; row < length; row++) {
    const at = offset + row;
    if (counted[row] !== 0 && (nullCount === 0 || getBit(nullBitmap, at))) setBit(bits, at);
    else nulls++;
  }
  const { valueOffsets, values, typeIds } = data;
  return data.clone(data.type, offset, length, nulls, [
    valueOffsets,
    values,
    bits,
    typeIds,
  ] as never);
}

/** The rows whose children matter; undefined for all of them. */
function present(data: Data, counted: Uint8Array | undefined): Uint8Array | undefined {
  const { offset, length, nullCount, nullBitmap } = data;
  if (nullCount === 0) return counted;
  const rows = new Uint8Array(length);
  for (let row = 0; row < length; row++) {
    if (getBit(nullBitmap, offset + row)) rows[row] = counted?.[row] ?? 1;
  }
  return rows;
}

/** The items of the rows that matter; undefined for all that the child has. */
function itemsOf(data: Data, rows: Uint8Array | undefined, length: number): Uint8Array | undefined {
  const [first, end] = [itemAt(data, 0), itemAt(data, data.length)];
  if (rows === undefined && first === 0 && end === length) return undefined;
  const items = new Uint8Array(length);
  for (let row = 0; row < data.length; row++) {
    if (rows?.[row] !== 0) items.fill(1, itemAt(data, row), itemAt(data, row + 1));
  }
  return items;
}

/** Where the items of a row begin in the child. */
const itemAt = (data: Data, row: number): number =>
  DataType.isFixedSizeList(data.type)
    ? row * data.type.listSize
    : offsetAt(data.valueOffsets as unknown as Offsets, row);

function rowOfItem(data: Data, item: number): number {
  let [low, high] = [0, data.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (itemAt(data, middle) <= item) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The refusal of a value, naming the column and the row among those of the table. */
export const misfitError = (column: string, to: string, { row, value }: Misfit): DirspaceError =>
  new DirspaceError(
    'InvalidInput',
    `The column ${JSON.stringify(column)} cannot become ${to}: row ${row} (the first one is 0) holds ${value}, which does not fit. Nothing was changed. Update or delete such rows first, or add a column with a CAST and drop this one if the loss is meant.`,
    { details: { column, row } },
  );
