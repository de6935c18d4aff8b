/**
 * `RequiredValues` refuses nulls in nested fields that may not be null, such as the items of a
 * `list<int32 not null>`: `check` throws TableSchemaValidation with the row and the path of the
 * first. `RequiredValues.of` returns undefined if no nested field is required. Values below a null
 * struct or list do not count, nor do values that no row refers to. `refuseNulls` does the same for
 * top-level columns of fragments that are written, by their statistics. `requiredIds` lists the ids
 * of such nested fields.
 */
import {
  bitmapBytes,
  bothBits,
  columnsOf,
  type Data,
  DataType,
  describeType,
  getBit,
  offsetAt,
  type RecordBatch,
  setBit,
  setBits,
  sliceBits,
  validityOf,
} from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import type { FragmentEntry } from '../../format/index.ts';
import type { IdentifiedField } from '../fields/index.ts';

/** What of one field to look at: itself, the fields below it, or both. */
interface Check {
  /** The field's position among its siblings. */
  readonly at: number;
  readonly field: IdentifiedField['field'];
  readonly required: boolean;
  readonly below: readonly Check[];
}

/** A bit for each value that counts; undefined where all do. */
type Counted = Uint8Array | undefined;

/** Called with the position of a null among the values of a field, and the path from there down. */
type Report = (position: number, path: string, type: DataType) => never;

/** The ids of nested fields that may not be null. */
export function requiredIds(fields: readonly IdentifiedField[]): Set<number> {
  const ids = new Set<number>();
  const collect = ({ id, field, children }: IdentifiedField): void => {
    // A field of the null type holds only nulls, even if it is declared as not nullable.
    if (!field.nullable && !DataType.isNull(field.type)) ids.add(id);
    children.forEach(collect);
  };
  for (const { children } of fields) children.forEach(collect);
  return ids;
}

export class RequiredValues {
  readonly #checks: readonly Check[];

  private constructor(checks: readonly Check[]) {
    this.#checks = checks;
  }

  /**
   * Undefined where no nested field is required.
   * @param fields of the data, with their ids in the table
   * @param table the table's fields, whose nullability decides
   */
  static of(
    fields: readonly IdentifiedField[],
    table: readonly IdentifiedField[] = fields,
  ): RequiredValues | undefined {
    if (fields.every(({ children }) => children.length === 0)) return undefined;
    const required = requiredIds(table);
    if (required.size === 0) return undefined;
    const checks = fields.flatMap((field, at) => checksOf(field, at, required, true));
    return checks.length === 0 ? undefined : new RequiredValues(checks);
  }

  /**
   * @param firstRow the number of the batch's first row, for the message
   * @throws TableSchemaValidation naming the first such null of a column
   */
  check(batch: RecordBatch, firstRow: number): void {
    const columns = columnsOf(batch);
    for (const check of this.#checks) {
      const data = columns[check.at];
      if (data !== undefined) this.checkColumn(data, check, firstRow);
    }
  }

  private checkColumn(data: Data, check: Check, firstRow: number): void {
    const { name } = check.field;
    visit(data, check, undefined, (position, path, type) => {
      const row = firstRow + position;
      const column = `${name}${path}`;
      const expected = `${describeType(type)} (not null)`;
      throw new DirspaceError(
        'TableSchemaValidation',
        `Row ${row}, column ${JSON.stringify(column)}: found null, expected ${expected}. Nothing was changed; give it a value, or make the whole ${JSON.stringify(name)} null where it may be.`,
        { details: { row, column, found: 'null', expected } },
      );
    });
  }
}

function checksOf(
  node: IdentifiedField,
  at: number,
  required: ReadonlySet<number>,
  top = false,
): Check[] {
  const below = node.children.flatMap((child, position) => checksOf(child, position, required));
  const isRequired = !top && required.has(node.id);
  if (!isRequired && below.length === 0) return [];
  return [{ at, field: node.field, required: isRequired, below }];
}

/**
 * Whether a null lies in a required field at all; most data has none, and is looked at no further.
 */
const mayLack = (data: Data, { required, below }: Check): boolean =>
  (required && (data.nullCount > 0 || hasNullValues(data)) && !DataType.isUnion(data.type)) ||
  below.some((check) => {
    const child = data.children[check.at];
    return child !== undefined && mayLack(child, check);
  });

/** Whether rows of a dictionary column may be null by the value that they point at. */
const hasNullValues = ({ dictionary }: Data): boolean => (dictionary?.nullCount ?? 0) > 0;

/** Which values are not null, in a dictionary column by their own bits and by what they point at. */
function validIn(data: Data): Counted {
  const { length, offset, dictionary } = data;
  const bitmap = validityOf(data);
  const bits = bitmap && sliceBits(bitmap, offset, length);
  if (!hasNullValues(data)) return bits;
  const valid = new Uint8Array(bitmapBytes(length));
  const indices = data.values as ArrayLike<number>;
  for (let row = 0; row < length; row += 1) {
    const isThere = bits === undefined || getBit(bits, row);
    if (isThere && dictionary?.isValid(Number(indices[row])) === true) setBit(valid, row);
  }
  return valid;
}

function visit(data: Data, check: Check, counted: Counted, report: Report): void {
  if (!mayLack(data, check)) return;
  const { type, length } = data;
  const isUnion = DataType.isUnion(type);
  const valid = isUnion ? undefined : validIn(data);
  if (check.required && valid !== undefined) {
    const lacking = firstLacking(valid, counted, length);
    if (lacking >= 0) report(lacking, '', type);
  }
  const present = bothBits(valid, counted);
  for (const inner of check.below) {
    const child = data.children[inner.at];
    if (child === undefined || !mayLack(child, inner)) continue;
    if (DataType.isStruct(type)) {
      visit(child, inner, present, (at, path, found) =>
        report(at, `.${inner.field.name}${path}`, found),
      );
    } else if (DataType.isFixedSizeList(type)) {
      const size = type.listSize;
      visit(child, inner, ofFixedLists(size, length, present), (at, path, found) =>
        report(Math.floor(at / size), `[${at % size}]${path}`, found),
      );
    } else if (isUnion) {
      const { counted: chosen, rowOf } = ofUnion(data, inner.at, child.length, present);
      visit(child, inner, chosen, (at, path, found) =>
        report(rowOf(at), `.${inner.field.name}${path}`, found),
      );
    } else {
      const chosen = ofLists(data, child.length, present);
      visit(child, inner, chosen, (at, path, found) => {
        const row = listOf(data, at);
        const inList = at - offsetAt(offsetsOf(data), row);
        return report(row, `[${inList}]${path}`, found);
      });
    }
  }
}

/** The first value that counts and is null; -1 where there is none. */
function firstLacking(valid: Uint8Array, counted: Counted, length: number): number {
  const bytes = bitmapBytes(length);
  for (let at = 0; at < bytes; at += 1) {
    let lacking = ~(valid[at] as number) & (counted === undefined ? 255 : (counted[at] as number));
    if (at === bytes - 1 && (length & 7) !== 0) lacking &= (1 << (length & 7)) - 1;
    if (lacking !== 0) return at * 8 + 31 - Math.clz32(lacking & -lacking);
  }
  return -1;
}

function ofFixedLists(size: number, lists: number, present: Counted): Counted {
  if (present === undefined) return undefined;
  const counted = new Uint8Array(bitmapBytes(lists * size));
  for (let list = 0; list < lists; list += 1) {
    if (getBit(present, list)) setBits(counted, list * size, size);
  }
  return counted;
}

const offsetsOf = (data: Data): Int32Array | BigInt64Array =>
  data.valueOffsets as Int32Array | BigInt64Array;

function ofLists(data: Data, items: number, present: Counted): Counted {
  const offsets = offsetsOf(data);
  const { length } = data;
  const isWhole = offsetAt(offsets, 0) === 0 && offsetAt(offsets, length) === items;
  if (isWhole && present === undefined) return undefined;
  const counted = new Uint8Array(bitmapBytes(items));
  for (let list = 0; list < length; list += 1) {
    if (present !== undefined && !getBit(present, list)) continue;
    const begin = offsetAt(offsets, list);
    setBits(counted, begin, offsetAt(offsets, list + 1) - begin);
  }
  return counted;
}

/** The list that an item lies in, among lists whose offsets ascend. */
function listOf(data: Data, item: number): number {
  const offsets = offsetsOf(data);
  let [low, high] = [0, data.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (offsetAt(offsets, middle + 1) > item) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The values of one member that rows of a union refer to. */
function ofUnion(
  data: Data,
  member: number,
  values: number,
  present: Counted,
): { counted: Uint8Array; rowOf: (at: number) => number } {
  const id = (data.type as unknown as { typeIds: ArrayLike<number> }).typeIds[member];
  const offsets = data.valueOffsets as Int32Array | undefined;
  const isDense = offsets !== undefined && offsets.length > 0;
  const counted = new Uint8Array(bitmapBytes(values));
  const rows = new Map<number, number>();
  for (let row = 0; row < data.length; row += 1) {
    if (data.typeIds[row] !== id || (present !== undefined && !getBit(present, row))) continue;
    const at = isDense ? (offsets[row] as number) : row;
    setBit(counted, at);
    if (isDense) rows.set(at, row);
  }
  return { counted, rowOf: (at) => rows.get(at) ?? at };
}

type Checked = Pick<FragmentEntry, 'fields' | 'statistics' | 'rows'>;

/**
 * Refuses nulls in required top-level columns that are written already, by the statistics of their
 * fragments: in a dictionary column a row is null, too, where it points at a null value.
 * @param fields of the fragments @throws TableSchemaValidation
 */
export function refuseNulls(
  fields: readonly Pick<IdentifiedField, 'id' | 'field'>[],
  fragments: readonly Checked[],
): void {
  const counts = fragments.map(nullCounts);
  for (const [at, { id, field }] of fields.entries()) {
    if (field.nullable || DataType.isNull(field.type)) continue;
    const nulls = counts.reduce((sum, countOf) => sum + countOf(id, at), 0);
    if (nulls === 0) continue;
    const what = `column ${JSON.stringify(field.name)} is required and null in ${nulls} rows`;
    throw new DirspaceError(
      'TableSchemaValidation',
      `The data does not fit the table: ${what}. Nothing was written.`,
    );
  }
}

/**
 * Counts the nulls of a fragment's columns, by id and by the position where a column is looked for
 * first. A column that the fragment was written without is null in all of its rows.
 */
function nullCounts({
  fields,
  statistics,
  rows,
}: Checked): (id: number, expected: number) => number {
  let positions: ReadonlyMap<number, number> | undefined;
  return (id, expected) => {
    if (fields[expected] === id) return nullsIn(statistics[expected]);
    positions ??= new Map(fields.map((field, at) => [field, at]));
    const at = positions.get(id);
    return at === undefined ? rows : nullsIn(statistics[at]);
  };
}

/** Statistics begin with the number of rows and that of nulls. */
const nullsIn = (statistics: unknown): number =>
  Array.isArray(statistics) ? Number(statistics[1] ?? 0) : 0;
