/**
 * Picks rows of an evaluated column by number, in any order (`gather`), and joins pieces of one
 * column (`concatenate`).
 */
import { type Column, columnOf, reader, type Validity, type Value } from '../typed/index.ts';

/** The rows `rows` of `column`, in that order. */
export function gather(column: Column, rows: Uint32Array): Column {
  const length = rows.length;
  switch (column.form) {
    case 'constant':
      return { ...column, length };
    case 'truth': {
      const values = new Uint8Array(length);
      for (let i = 0; i < length; i++) values[i] = column.values[rows[i] as number] as number;
      return { ...column, length, values };
    }
    case 'number': {
      const from = column.values;
      const values =
        from instanceof Float64Array
          ? new Float64Array(length)
          : from instanceof Int32Array
            ? new Int32Array(length)
            : new Float32Array(length);
      for (let i = 0; i < length; i++) values[i] = from[rows[i] as number] as number;
      return { ...column, length, values, valid: gatherValid(column.valid, rows) };
    }
    case 'wide': {
      const from = column.values;
      const valid = gatherValid(column.valid, rows);
      if (from instanceof BigInt64Array || from instanceof BigUint64Array) {
        const values =
          from instanceof BigInt64Array ? new BigInt64Array(length) : new BigUint64Array(length);
        for (let i = 0; i < length; i++) values[i] = from[rows[i] as number] as bigint;
        return { ...column, length, values, valid };
      }
      const values = Array.from(rows, (row) => from[row] ?? 0n);
      return { ...column, length, values, valid };
    }
    case 'bytes':
    case 'list': {
      const starts = new Int32Array(length);
      const ends = new Int32Array(length);
      for (let i = 0; i < length; i++) {
        const row = rows[i] as number;
        starts[i] = column.starts[row] as number;
        ends[i] = column.ends[row] as number;
      }
      const valid = gatherValid(column.valid, rows);
      return column.form === 'bytes'
        ? { ...column, length, starts, ends, valid, dense: false }
        : { ...column, length, starts, ends, valid };
    }
    case 'values': {
      const values = Array.from(rows, (row) => column.values[row] ?? null);
      return { ...column, length, values };
    }
    case 'struct':
      return {
        ...column,
        length,
        children: column.children.map((child) => gather(child, rows)),
        valid: gatherValid(column.valid, rows),
      };
  }
}

function gatherValid(valid: Validity, rows: Uint32Array): Validity {
  if (valid === null) return null;
  const out = new Uint8Array(rows.length);
  for (let i = 0; i < out.length; i++) out[i] = valid[rows[i] as number] as number;
  return out;
}

/** Pieces of one column, one after the other. */
export function concatenate(pieces: readonly Column[]): Column {
  const [first] = pieces;
  if (first === undefined) throw new RangeError('nothing to concatenate');
  if (pieces.length === 1) return first;
  const values: Value[] = [];
  for (const piece of pieces) {
    const read = reader(piece);
    for (let i = 0; i < piece.length; i++) values.push(read(i));
  }
  return columnOf(first.type, values);
}
