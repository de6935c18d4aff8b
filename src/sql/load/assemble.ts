/**
 * `assembled` builds one column from the values that CASE or COALESCE choose from several columns,
 * by copying between their arrays. Texts share the bytes of their column if all come from one;
 * otherwise they are copied, and their memory is claimed, which throws InvalidInput if there is too
 * little. It returns null if it cannot combine the forms of the columns, or if the copied texts
 * would have 2 GiB or more.
 */
import { type DataType, NO_BYTES } from '../../arrow/index.ts';
import type { BatchMemory } from '../../request-memory.ts';
import { MOST_COLUMN_BYTES, spanOf } from '../texts/index.ts';
import {
  asSafeNumbers,
  asSigned64,
  type BytesColumn,
  type Column,
  FALSE,
  familyOf,
  isWide,
  type NumberColumn,
  TRUE,
  UNKNOWN,
  type Validity,
  validityOf,
  type WideColumn,
} from '../typed/index.ts';

/** Some values of a column, and the rows that they are for. */
export interface Piece {
  readonly column: Column;
  /** Which values, null for the first ones, in order. */
  readonly picked: Uint32Array | null;
  readonly rows: Uint32Array;
}

/** @param base what rows without a piece have; null for null */
export function assembled(
  type: DataType,
  length: number,
  base: Column | null,
  pieces: readonly Piece[],
  memory: BatchMemory,
): Column | null {
  const below = base !== null && isNull(base) ? null : base;
  const family = familyOf(type);
  if (family === 'bool') return truths(type, length, below, pieces);
  if (family === 'text' || family === 'bytes') return texts(type, length, below, pieces, memory);
  const all = [...(below === null ? [] : [below]), ...pieces.map(({ column }) => column)];
  if (all.every(isNumber)) return numbers(type, length, below, pieces);
  if (!isWide(type)) return null;
  const wide = wides(type, length, below, pieces);
  if (wide !== null) return wide;
  if (!all.map(asNumbers).every(isNumber)) return null;
  const safe = pieces.map((piece) => ({ ...piece, column: asNumbers(piece.column) }));
  return numbers(type, length, below && asNumbers(below), safe);
}

const isNull = (column: Column): boolean => column.form === 'constant' && column.value === null;

/** As doubles where they hold each value exactly. */
function asNumbers(column: Column): Column {
  const values = column.form === 'wide' ? asSafeNumbers(column) : null;
  if (column.form !== 'wide' || values === null) return column;
  const { type, length, valid } = column;
  return { form: 'number', type, length, values, valid };
}

/** Notes which rows have a value; null where all have. */
function validOf(length: number, base: Column | null, pieces: readonly Piece[]): Validity {
  let valid = base === null ? new Uint8Array(length) : (validityOf(base)?.slice() ?? null);
  for (const { column, picked, rows } of pieces) {
    const here = validityOf(column);
    if (here === null && valid === null) continue;
    valid ??= new Uint8Array(length).fill(1);
    if (here === null) fill(valid, rows, 1);
    else if (column.form === 'constant') fill(valid, rows, 0);
    else put(valid, rows, here, picked);
  }
  return valid?.includes(0) === true ? valid : null;
}

const isNumber = (column: Column): boolean =>
  column.form === 'number' ||
  (column.form === 'constant' && (column.value === null || numberOf(column.value) !== null));

/** Null for what a double does not hold exactly, if it is counted in bigints. */
function numberOf(value: unknown): number | null {
  if (typeof value === 'number') return value;
  const number = typeof value === 'bigint' ? Number(value) : Number.NaN;
  return Number.isSafeInteger(number) ? number : null;
}

function numbers(
  type: DataType,
  length: number,
  base: Column | null,
  pieces: readonly Piece[],
): NumberColumn {
  const values = new Float64Array(length);
  if (base?.form === 'constant') values.fill(numberOf(base.value) as number);
  else if (base?.form === 'number') values.set(base.values);
  for (const { column, picked, rows } of pieces) {
    if (column.form === 'constant') fill(values, rows, numberOf(column.value) ?? 0);
    else if (column.form === 'number') put(values, rows, column.values, picked);
  }
  return { form: 'number', type, length, values, valid: validOf(length, base, pieces) };
}

function wides(
  type: DataType,
  length: number,
  base: Column | null,
  pieces: readonly Piece[],
): WideColumn | null {
  const values = new BigInt64Array(length);
  if (base !== null) {
    const below = asSigned64(base);
    if (below === null) return null;
    if (typeof below === 'bigint') values.fill(below);
    else values.set(below);
  }
  for (const { column, picked, rows } of pieces) {
    if (isNull(column)) continue;
    const from = asSigned64(column);
    if (from === null) return null;
    for (let k = 0; k < rows.length; k++) {
      const value =
        typeof from === 'bigint' ? from : from[picked === null ? k : (picked[k] as number)];
      values[rows[k] as number] = value as bigint;
    }
  }
  return { form: 'wide', type, length, values, valid: validOf(length, base, pieces) };
}

function truths(
  type: DataType,
  length: number,
  base: Column | null,
  pieces: readonly Piece[],
): Column | null {
  const values = new Uint8Array(length).fill(UNKNOWN);
  if (base?.form === 'constant') values.fill(truthOf(base.value));
  else if (base?.form === 'truth') values.set(base.values);
  else if (base !== null) return null;
  for (const { column, picked, rows } of pieces) {
    if (column.form === 'constant') fill(values, rows, truthOf(column.value));
    else if (column.form === 'truth') put(values, rows, column.values, picked);
    else return null;
  }
  return { form: 'truth', type, length, values };
}

const truthOf = (value: unknown): number =>
  value === null ? UNKNOWN : value === true ? TRUE : FALSE;

type Numbers = Float64Array | Float32Array | Int32Array | Uint8Array;

function fill(out: Numbers, rows: Uint32Array, value: number): void {
  for (let k = 0; k < rows.length; k++) out[rows[k] as number] = value;
}

function put(out: Numbers, rows: Uint32Array, from: Numbers, picked: Uint32Array | null): void {
  if (picked === null)
    for (let k = 0; k < rows.length; k++) out[rows[k] as number] = from[k] as number;
  else {
    for (let k = 0; k < rows.length; k++) {
      out[rows[k] as number] = from[picked[k] as number] as number;
    }
  }
}

/** Bytes of a column or of a constant, and where they lie in the assembled column. */
interface Source {
  readonly data: Uint8Array;
  readonly from: number;
  readonly to: number;
}

function texts(
  type: DataType,
  length: number,
  base: Column | null,
  pieces: readonly Piece[],
  memory: BatchMemory,
): BytesColumn | null {
  const columns = [...(base === null ? [] : [base]), ...pieces.map(({ column }) => column)];
  const sources: Source[] = [];
  let total = 0;
  for (const column of columns) {
    const source = sourceOf(column);
    if (source === null) return null;
    sources.push(source);
    total += source.to - source.from;
  }
  const used = sources.filter(({ from, to }) => to > from);
  const [first] = used;
  const isOne = first !== undefined && used.every(({ data }) => data === first.data);
  if (!isOne && total > MOST_COLUMN_BYTES) return null;
  if (!isOne) memory.take(total);
  const data = isOne ? first.data : Buffer.allocUnsafeSlow(total);
  const [starts, ends] = [new Int32Array(length), new Int32Array(length)];
  let at = 0;
  /** By how much the bytes of the next source move, and where a constant's lie then. */
  const placed = (): { by: number; start: number; end: number } => {
    const { data: own, from, to } = sources.shift() as Source;
    if (isOne) return { by: 0, start: from, end: to };
    data.set(own.subarray(from, to), at);
    at += to - from;
    return { by: at - to, start: at - to + from, end: at };
  };
  if (base !== null) {
    const { by, start, end } = placed();
    if (base.form === 'bytes') {
      for (let row = 0; row < length; row++) {
        starts[row] = (base.starts[row] as number) + by;
        ends[row] = (base.ends[row] as number) + by;
      }
    } else {
      starts.fill(start);
      ends.fill(end);
    }
  }
  for (const { column, picked, rows } of pieces) {
    const { by, start, end } = placed();
    if (column.form === 'bytes') place(column, picked, rows, by, starts, ends);
    else {
      fill(starts, rows, start);
      fill(ends, rows, end);
    }
  }
  const valid = validOf(length, base, pieces);
  return { form: 'bytes', type, length, data, starts, ends, dense: false, valid };
}

function sourceOf(column: Column): Source | null {
  if (column.form === 'bytes') {
    const { from, to } = spanOf(column);
    return { data: column.data, from, to };
  }
  if (column.form !== 'constant') return null;
  const { value } = column;
  if (value === null) return { data: NO_BYTES, from: 0, to: 0 };
  const data = typeof value === 'string' ? Buffer.from(value) : value;
  return data instanceof Uint8Array ? { data, from: 0, to: data.length } : null;
}

function place(
  column: BytesColumn,
  picked: Uint32Array | null,
  rows: Uint32Array,
  by: number,
  starts: Int32Array,
  ends: Int32Array,
): void {
  for (let k = 0; k < rows.length; k++) {
    const from = picked === null ? k : (picked[k] as number);
    const row = rows[k] as number;
    starts[row] = (column.starts[from] as number) + by;
    ends[row] = (column.ends[from] as number) + by;
  }
}
