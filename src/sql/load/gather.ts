/**
 * `gather` picks rows of an evaluated column by number, in any order; texts and lists share their
 * bytes and items. `concatenate` joins pieces of one column. It copies whole typed arrays if all
 * pieces have the same form and kind of them, and otherwise goes value by value. It throws
 * RangeError if there are no pieces.
 */
import type { DataType } from '../../arrow/index.ts';
import { MOST_COLUMN_BYTES, spanOf } from '../texts/index.ts';
import {
  type BytesColumn,
  type Column,
  columnOf,
  reader,
  type Validity,
  type Value,
} from '../typed/index.ts';

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

/**
 * Pieces of one column, one after the other, in the form that they have; value by value where their
 * forms differ.
 */
export function concatenate(pieces: readonly Column[]): Column {
  const [first] = pieces;
  if (first === undefined) throw new RangeError('nothing to concatenate');
  if (pieces.length === 1) return first;
  return ofOneForm(first, pieces) ?? byValue(first.type, pieces);
}

function byValue(type: DataType, pieces: readonly Column[]): Column {
  const values: Value[] = [];
  for (const piece of pieces) {
    const read = reader(piece);
    for (let i = 0; i < piece.length; i++) values.push(read(i));
  }
  return columnOf(type, values);
}

const areAll = <Form extends Column['form']>(
  form: Form,
  pieces: readonly Column[],
): pieces is readonly Extract<Column, { form: Form }>[] =>
  pieces.every((piece) => piece.form === form);

function ofOneForm({ type }: Column, pieces: readonly Column[]): Column | null {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  if (areAll('truth', pieces)) {
    const values = joined(new Uint8Array(length), pieces);
    return { form: 'truth', type, length, values };
  }
  if (areAll('number', pieces)) {
    const made = [Float64Array, Float32Array, Int32Array].find((Numbers) =>
      pieces.every(({ values }) => values instanceof Numbers),
    );
    if (made === undefined) return null;
    const values = joined(new made(length), pieces);
    return { form: 'number', type, length, values, valid: joinedValidity(pieces, length) };
  }
  if (areAll('wide', pieces)) {
    const made = [BigInt64Array, BigUint64Array].find((Wide) =>
      pieces.every(({ values }) => values instanceof Wide),
    );
    if (made === undefined) return null;
    const values = joined(new made(length), pieces as never);
    return { form: 'wide', type, length, values, valid: joinedValidity(pieces, length) };
  }
  if (areAll('bytes', pieces)) {
    const parts = pieces.map((piece) => spanOf(piece));
    const bytes = parts.reduce((sum, { from, to }) => sum + to - from, 0);
    if (bytes > MOST_COLUMN_BYTES) return null;
    const data = new Uint8Array(bytes);
    let at = 0;
    for (const [number, { from, to }] of parts.entries()) {
      data.set((pieces[number] as BytesColumn).data.subarray(from, to), at);
      at += to - from;
    }
    const lengths = parts.map(({ from, to }) => ({ from, size: to - from }));
    return {
      form: 'bytes',
      type,
      length,
      data,
      ...joinedSpans(pieces, lengths, length),
      dense: pieces.every(({ dense }) => dense),
      valid: joinedValidity(pieces, length),
    };
  }
  if (areAll('list', pieces)) {
    const child = concatenate(pieces.map((piece) => piece.child));
    const lengths = pieces.map((piece) => ({ from: 0, size: piece.child.length }));
    const spans = joinedSpans(pieces, lengths, length);
    return { form: 'list', type, length, ...spans, child, valid: joinedValidity(pieces, length) };
  }
  if (areAll('struct', pieces)) {
    const [{ names, children }] = pieces as [Extract<Column, { form: 'struct' }>];
    return {
      form: 'struct',
      type,
      length,
      names,
      children: children.map((_, at) =>
        concatenate(pieces.map((piece) => piece.children[at] as Column)),
      ),
      valid: joinedValidity(pieces, length),
    };
  }
  return null;
}

/** Copies the values of the pieces to `out`, and returns it. */
function joined<Values extends { set(values: never, at: number): void }>(
  out: Values,
  pieces: readonly { readonly values: unknown; readonly length: number }[],
): Values {
  let at = 0;
  for (const { values, length } of pieces) {
    out.set(values as never, at);
    at += length;
  }
  return out;
}

function joinedValidity(
  pieces: readonly { readonly valid: Validity; readonly length: number }[],
  length: number,
): Validity {
  if (pieces.every(({ valid }) => valid === null)) return null;
  const out = new Uint8Array(length).fill(1);
  let at = 0;
  for (const piece of pieces) {
    if (piece.valid !== null) out.set(piece.valid, at);
    at += piece.length;
  }
  return out;
}

/** Where rows begin and end, in what the parts of the pieces are together: `size` each, from `from` on. */
function joinedSpans(
  pieces: readonly { readonly starts: Int32Array; readonly ends: Int32Array }[],
  parts: readonly { readonly from: number; readonly size: number }[],
  length: number,
): { starts: Int32Array; ends: Int32Array } {
  const [starts, ends] = [new Int32Array(length), new Int32Array(length)];
  let row = 0;
  let before = 0;
  for (const [number, piece] of pieces.entries()) {
    const { from, size } = parts[number] as { from: number; size: number };
    for (let i = 0; i < piece.starts.length; i++, row++) {
      starts[row] = (piece.starts[i] as number) - from + before;
      ends[row] = (piece.ends[i] as number) - from + before;
    }
    before += size;
  }
  return { starts, ends };
}
