/**
 * `assembled`: one column of rows that come from several, as CASE and COALESCE choose them, without
 * making a value for each row. Null for columns whose forms do not go together.
 */
import type { DataType } from '../../arrow/index.ts';
import type { BatchMemory } from '../../request-memory.ts';
import { spanOf } from '../texts/index.ts';
import {
  asSafeNumbers,
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
  /** Which values, null for all of them. */
  readonly picked: Uint32Array | null;
  readonly rows: Uint32Array;
}

/** Rows without a piece are null. */
export function assembled(
  type: DataType,
  length: number,
  pieces: readonly Piece[],
  memory: BatchMemory,
): Column | null {
  const given = pieces.filter(({ column }) => column.form !== 'constant' || column.value !== null);
  const family = familyOf(type);
  if (family === 'bool') return truths(type, length, given);
  if (family === 'text' || family === 'bytes') return texts(type, length, given, memory);
  if (given.every(isNumber)) return numbers(type, length, given);
  if (!isWide(type)) return null;
  const wide = wides(type, length, given);
  if (wide !== null) return wide;
  const safe = given.map((piece) => ({ ...piece, column: asNumbers(piece.column) }));
  return safe.every(isNumber) ? numbers(type, length, safe) : null;
}

/** As doubles where they hold each value exactly. */
function asNumbers(column: Column): Column {
  const values = column.form === 'wide' ? asSafeNumbers(column) : null;
  if (column.form !== 'wide' || values === null) return column;
  const { type, length, valid } = column;
  return { form: 'number', type, length, values, valid };
}

/** Notes which rows have a value; null where all have. */
function validOf(length: number, pieces: readonly Piece[]): Validity {
  const valid = new Uint8Array(length);
  let present = 0;
  for (const { column, picked, rows } of pieces) {
    const here = validityOf(column);
    for (let k = 0; k < rows.length; k++) {
      const value =
        here === null ? 1 : (here[picked === null ? k : (picked[k] as number)] as number);
      valid[rows[k] as number] = value;
      present += value;
    }
  }
  return present === length ? null : valid;
}

const isNumber = ({ column }: Piece): boolean =>
  column.form === 'number' || (column.form === 'constant' && numberOf(column.value) !== null);

/** Null for what a double does not hold exactly, if it is counted in bigints. */
function numberOf(value: unknown): number | null {
  if (typeof value === 'number') return value;
  const number = typeof value === 'bigint' ? Number(value) : Number.NaN;
  return Number.isSafeInteger(number) ? number : null;
}

function numbers(type: DataType, length: number, pieces: readonly Piece[]): NumberColumn {
  const values = new Float64Array(length);
  for (const { column, picked, rows } of pieces) {
    if (column.form === 'constant') fill(values, rows, numberOf(column.value) as number);
    else if (column.form === 'number') put(values, rows, column.values, picked);
  }
  return { form: 'number', type, length, values, valid: validOf(length, pieces) };
}

function wides(type: DataType, length: number, pieces: readonly Piece[]): WideColumn | null {
  const values = new BigInt64Array(length);
  for (const { column, picked, rows } of pieces) {
    if (column.form === 'constant') {
      const { value } = column;
      if (typeof value !== 'bigint' || BigInt.asIntN(64, value) !== value) return null;
      for (const row of rows) values[row] = value;
    } else if (column.form === 'wide' && column.values instanceof BigInt64Array) {
      const from = column.values;
      for (let k = 0; k < rows.length; k++) {
        values[rows[k] as number] = from[picked === null ? k : (picked[k] as number)] as bigint;
      }
    } else return null;
  }
  return { form: 'wide', type, length, values, valid: validOf(length, pieces) };
}

function truths(type: DataType, length: number, pieces: readonly Piece[]): Column | null {
  const values = new Uint8Array(length).fill(UNKNOWN);
  for (const { column, picked, rows } of pieces) {
    if (column.form === 'constant') fill(values, rows, column.value === true ? TRUE : FALSE);
    else if (column.form === 'truth') put(values, rows, column.values, picked);
    else return null;
  }
  return { form: 'truth', type, length, values };
}

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

/** Offsets of 32 bits reach no further. */
const MOST_BYTES = 2 ** 31 - 1;

/** Bytes of a column or of a constant, and where they lie in the assembled column. */
interface Source {
  readonly data: Uint8Array;
  readonly from: number;
  readonly to: number;
}

function texts(
  type: DataType,
  length: number,
  pieces: readonly Piece[],
  memory: BatchMemory,
): BytesColumn | null {
  const sources: Source[] = [];
  let total = 0;
  for (const { column } of pieces) {
    const source = sourceOf(column);
    if (source === null) return null;
    sources.push(source);
    total += source.to - source.from;
  }
  const [first] = sources;
  const isOne = first !== undefined && sources.every(({ data }) => data === first.data);
  if (!isOne && total > MOST_BYTES) return null;
  if (!isOne) memory.take(total);
  const data = isOne ? first.data : Buffer.allocUnsafeSlow(total);
  const [starts, ends] = [new Int32Array(length), new Int32Array(length)];
  let at = 0;
  pieces.forEach(({ column, picked, rows }, index) => {
    const { data: own, from, to } = sources[index] as Source;
    if (!isOne) data.set(own.subarray(from, to), at);
    const by = isOne ? 0 : at - from;
    if (column.form === 'bytes') place(column, picked, rows, by, starts, ends);
    else {
      fillOffsets(starts, rows, from + by);
      fillOffsets(ends, rows, to + by);
    }
    if (!isOne) at += to - from;
  });
  const valid = validOf(length, pieces);
  return { form: 'bytes', type, length, data, starts, ends, dense: false, valid };
}

function sourceOf(column: Column): Source | null {
  if (column.form === 'bytes') {
    const { from, to } = spanOf(column);
    return { data: column.data, from, to };
  }
  if (column.form !== 'constant') return null;
  const { value } = column;
  const data = typeof value === 'string' ? Buffer.from(value) : value;
  return data instanceof Uint8Array ? { data, from: 0, to: data.length } : null;
}

function fillOffsets(out: Int32Array, rows: Uint32Array, value: number): void {
  for (let k = 0; k < rows.length; k++) out[rows[k] as number] = value;
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
