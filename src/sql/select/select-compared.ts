/**
 * `selectCompared` returns the rows of a column that match a comparison with a constant, without
 * evaluating a tree. It takes numbers held as doubles with any operator but <>, and texts with =.
 * It returns null for anything else, and also for nulls or a dictionary in the column, for NaN and
 * for the empty text; expression.ts then evaluates the tree. `nextBelow` returns the greatest
 * double below another.
 */
import { DataType } from '../../arrow/index.ts';
import { lastFour, packed } from '../evaluate/index.ts';
import type { Frame } from '../load/index.ts';
import type { Bound, BytesColumn } from '../typed/index.ts';

/** Where rows are noted before it is known how many there are; used by one call at a time. */
let noted = new Uint32Array(0);

/** In order; null where this is not of the forms it knows. */
export function selectCompared(bound: Bound, frame: Frame): Uint32Array | null {
  if (bound.kind !== 'compareConstant' || bound.arg.kind !== 'column') return null;
  // A dictionary is looked at once for all rows.
  if (DataType.isDictionary(bound.arg.type)) return null;
  const { op, value } = bound;
  const column = frame.column(bound.arg);
  if (noted.length < column.length) noted = new Uint32Array(column.length);
  if (column.form === 'number' && column.valid === null && typeof value === 'number') {
    if (!(column.values instanceof Float64Array) || Number.isNaN(value)) return null;
    if (op === '<>') return null;
    if (op === '=') return noted.slice(0, noteEqual(column.values, value, noted));
    const limit = op === '<' || op === '>=' ? nextBelow(value) : value;
    const note = op === '<' || op === '<=' ? noteAtMost : noteAbove;
    return noted.slice(0, note(column.values, limit, noted));
  }
  if (column.form === 'bytes' && column.valid === null && op === '=') {
    if (typeof value !== 'string' || value === '') return null;
    return noted.slice(0, noteEqualTexts(column, Buffer.from(value), noted));
  }
  return null;
}

// Four values at a time: of most filters most rows are not wanted, and one branch passes over them.

function noteAtMost(values: Float64Array, limit: number, rows: Uint32Array): number {
  const whole = values.length - (values.length % 4);
  let count = 0;
  let i = 0;
  for (; i < whole; i += 4) {
    const a = (values[i] as number) <= limit;
    const b = (values[i + 1] as number) <= limit;
    const c = (values[i + 2] as number) <= limit;
    const d = (values[i + 3] as number) <= limit;
    if (!a && !b && !c && !d) continue;
    if (a) rows[count++] = i;
    if (b) rows[count++] = i + 1;
    if (c) rows[count++] = i + 2;
    if (d) rows[count++] = i + 3;
  }
  for (; i < values.length; i++) if ((values[i] as number) <= limit) rows[count++] = i;
  return count;
}

/**
 * NaN is above every number. The loop of noteAtMost turned round: one loop that is told which rows are
 * wanted takes a quarter longer.
 */
function noteAbove(values: Float64Array, limit: number, rows: Uint32Array): number {
  const whole = values.length - (values.length % 4);
  let count = 0;
  let i = 0;
  for (; i < whole; i += 4) {
    const a = (values[i] as number) <= limit;
    const b = (values[i + 1] as number) <= limit;
    const c = (values[i + 2] as number) <= limit;
    const d = (values[i + 3] as number) <= limit;
    if (a && b && c && d) continue;
    if (!a) rows[count++] = i;
    if (!b) rows[count++] = i + 1;
    if (!c) rows[count++] = i + 2;
    if (!d) rows[count++] = i + 3;
  }
  for (; i < values.length; i++) if (!((values[i] as number) <= limit)) rows[count++] = i;
  return count;
}

function noteEqual(values: Float64Array, value: number, rows: Uint32Array): number {
  let count = 0;
  for (let i = 0; i < values.length; i++) if (values[i] === value) rows[count++] = i;
  return count;
}

function noteEqualTexts(column: BytesColumn, wanted: Uint8Array, rows: Uint32Array): number {
  const { data, starts, ends, length } = column;
  const size = wanted.length;
  let count = 0;
  if (size < 4) {
    const key = packed(wanted, 0, size);
    for (let i = 0; i < length; i++) {
      const start = starts[i] as number;
      if ((ends[i] as number) - start === size && packed(data, start, size) === key)
        rows[count++] = i;
    }
    return count;
  }
  const tail = lastFour(wanted, size);
  for (let i = 0; i < length; i++) {
    const start = starts[i] as number;
    const end = ends[i] as number;
    if (end - start !== size || lastFour(data, end) !== tail) continue;
    let k = 0;
    while (k < size - 4 && data[start + k] === wanted[k]) k++;
    if (k === size - 4) rows[count++] = i;
  }
  return count;
}

const bits = new DataView(new ArrayBuffer(8));

/** The greatest double below another; what is at most that is less than the other. */
export function nextBelow(value: number): number {
  if (value === 0) return -Number.MIN_VALUE;
  bits.setFloat64(0, value);
  bits.setBigInt64(0, bits.getBigInt64(0) + (value > 0 ? -1n : 1n));
  return bits.getFloat64(0);
}
