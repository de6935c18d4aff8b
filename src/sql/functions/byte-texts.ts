/**
 * Computes text functions for a whole column from its UTF-8 bytes, without making strings.
 * `overBytes` adds one of `cased`, `substr`, `left`, `right`, `trimmed`, `strpos`, `splitPart`,
 * `replaced`, `reversed` and `padded` to a function of one column and constants, and `joinedTexts`
 * joins columns and constants. The results equal those of strings.ts, which computes all other
 * calls: those with other arguments, with more than 4 MiB of text, and those that throw. Trimmed
 * and cut texts share the bytes of their column; the memory of others is claimed.
 */

import type { DataType } from '../../arrow/index.ts';
import { isContinuation } from '../../bytes.ts';
import type { BatchMemory } from '../../request-memory.ts';
import {
  inOneCase,
  isAscii,
  LongNeedle,
  MOST_AT_ONCE,
  spanOf,
  TextWriter,
  type WordBytes,
  wordBytes,
} from '../texts/index.ts';
import {
  type BytesColumn,
  bothValid,
  type Column,
  familyOf,
  type RowFunction,
  type Validity,
  type Value,
} from '../typed/index.ts';
import { quicker } from './rows.ts';

interface Call {
  readonly column: BytesColumn;
  /** Values of the constants behind the column. */
  readonly rest: readonly Value[];
  readonly type: DataType;
  readonly memory: BatchMemory;
}

/** Null if the function on strings has to compute it; a generator yields between steps. */
type OfBytes = (call: Call) => Column | null | Generator<void, Column>;

/** Bytes that are gone through between two steps, and what a row counts beside its own. */
const STEP_BYTES = 1 << 18;
const ROW_BYTES = 8;

/**
 * Calls `each` for the rows in order, in steps of STEP_BYTES; `more` bytes are written for each.
 */
function* eachRow(
  { starts, ends, length }: BytesColumn,
  each: (row: number, start: number, end: number) => void,
  more = 0,
): Generator<void> {
  for (let row = 0, bytes = 0; row < length; row++) {
    const [start, end] = [starts[row] as number, ends[row] as number];
    each(row, start, end);
    bytes += end - start + more + ROW_BYTES;
    if (bytes < STEP_BYTES) continue;
    bytes = 0;
    yield;
  }
}

/** Whether one text has more than STEP_BYTES. */
function hasLongText({ starts, ends, length }: BytesColumn): boolean {
  for (let row = 0; row < length; row++) {
    if ((ends[row] as number) - (starts[row] as number) > STEP_BYTES) return true;
  }
  return false;
}

/**
 * `run`, computed by `ofBytes` if the first argument is a column of bytes and the others constants.
 */
export function overBytes(run: RowFunction, ofBytes: OfBytes): RowFunction {
  return quicker(run, (args, { type, memory }) => {
    const [column, ...others] = args;
    if (column?.form !== 'bytes' || familyOf(column.type) !== 'text') return null;
    const { bytes } = spanOf(column);
    if (bytes > MOST_AT_ONCE) return null;
    const rest: Value[] = [];
    for (const other of others) {
      if (other.form !== 'constant' || other.value === null) return null;
      rest.push(other.value);
    }
    const made = ofBytes({ column, rest, type, memory });
    if (made === null || 'form' in made || bytes <= STEP_BYTES) return made;
    // Its text would be gone through in one step.
    return hasLongText(column) ? null : made;
  });
}

export const cased =
  (upper: boolean): OfBytes =>
  ({ column, memory }) =>
    inOneCase(column, upper, memory);

/** Texts that lie within those of the column. */
function within(
  { column, type }: Call,
  cut: (starts: Int32Array, ends: Int32Array) => void,
): BytesColumn {
  const [starts, ends] = [column.starts.slice(), column.ends.slice()];
  cut(starts, ends);
  return { ...column, type, starts, ends, dense: false };
}

/** Finds the place that lies `count` code points after or before another one. */
interface Walk {
  forwards(from: number, end: number, count: number): number;
  backwards(from: number, start: number, count: number): number;
}

const ASCII_WALK: Walk = {
  forwards: (from, end, count) => Math.min(end, from + count),
  backwards: (from, start, count) => Math.max(start, from - count),
};

function walkOf(column: BytesColumn): Walk {
  if (isAscii(column)) return ASCII_WALK;
  const { data } = column;
  return {
    forwards(from, end, count) {
      let at = from;
      for (let left = count; left > 0 && at < end; left--) {
        at++;
        while (at < end && isContinuation(data[at])) at++;
      }
      return at;
    },
    backwards(from, start, count) {
      let at = from;
      for (let left = count; left > 0 && at > start; left--) {
        at--;
        while (at > start && isContinuation(data[at])) at--;
      }
      return at;
    },
  };
}

/** The count within 32 bits: no text is longer. */
const countOf = (value: Value): number =>
  Math.max(-(2 ** 31), Math.min(2 ** 31 - 1, Number(value)));

export const substr: OfBytes = (call) => {
  const [start = 1, length] = call.rest.map(countOf);
  // Refused, if for rows with a text only.
  if (length !== undefined && length < 0) return null;
  const from = Math.max(0, start - 1);
  const count = length === undefined ? 2 ** 31 : Math.max(0, start + length - 1 - from);
  const walk = walkOf(call.column);
  return within(call, (starts, ends) => {
    for (let i = 0; i < starts.length; i++) {
      const end = ends[i] as number;
      const begin = walk.forwards(starts[i] as number, end, from);
      starts[i] = begin;
      ends[i] = walk.forwards(begin, end, count);
    }
  });
};

export const left: OfBytes = (call) => {
  const [count = 0] = call.rest.map(countOf);
  const walk = walkOf(call.column);
  return within(call, (starts, ends) => {
    for (let i = 0; i < starts.length; i++) {
      const [start, end] = [starts[i] as number, ends[i] as number];
      ends[i] = count < 0 ? walk.backwards(end, start, -count) : walk.forwards(start, end, count);
    }
  });
};

export const right: OfBytes = (call) => {
  const [count = 0] = call.rest.map(countOf);
  const walk = walkOf(call.column);
  return within(call, (starts, ends) => {
    for (let i = 0; i < starts.length; i++) {
      const [start, end] = [starts[i] as number, ends[i] as number];
      starts[i] = count < 0 ? walk.forwards(start, end, -count) : walk.backwards(end, start, count);
    }
  });
};

/** Removes characters of ASCII from the ends asked for. */
export const trimmed =
  (atStart: boolean, atEnd: boolean): OfBytes =>
  (call) => {
    const set = Buffer.from(call.rest[0] === undefined ? ' ' : (call.rest[0] as string));
    if (set.some((byte) => byte > 0x7f)) return null;
    const drop = new Uint8Array(256);
    for (const byte of set) drop[byte] = 1;
    const { data } = call.column;
    return within(call, (starts, ends) => {
      for (let i = 0; i < starts.length; i++) {
        let [start, end] = [starts[i] as number, ends[i] as number];
        if (atStart) while (start < end && drop[data[start] as number] === 1) start++;
        if (atEnd) while (start < end && drop[data[end - 1] as number] === 1) end--;
        starts[i] = start;
        ends[i] = end;
      }
    });
  };

/** Longer parts are found in linear time: each place that begins like a part compares it anew. */
const SHORT_PART = 4;

/** A part that is looked for. */
interface Part {
  readonly size: number;
  /** Where it begins first in `data[from .. end)`; -1 for nowhere. */
  find(data: Uint8Array, from: number, end: number): number;
}

function partOf({ rest }: Call): Part | null {
  const part = Buffer.from(rest[0] as string);
  const size = part.length;
  if (size === 0) return null;
  if (size > SHORT_PART) {
    const needle = new LongNeedle(part);
    return { size, find: (data, from, end) => needle.find(data, from, end) };
  }
  const first = part[0] as number;
  return {
    size,
    find(data, from, end) {
      for (let at = from; at <= end - size; at++) {
        if (data[at] !== first) continue;
        let k = 1;
        while (k < size && data[at + k] === part[k]) k++;
        if (k === size) return at;
      }
      return -1;
    },
  };
}

export const strpos: OfBytes = (call) => {
  const part = partOf(call);
  if (part === null) return null;
  return positionsOf(call, part);
};

function* positionsOf({ column, type }: Call, part: Part): Generator<void, Column> {
  const { data, length, valid } = column;
  const values = new Float64Array(length);
  yield* eachRow(column, (row, start, end) => {
    const place = part.find(data, start, end);
    if (place < 0) return;
    let points = 1;
    for (let at = start; at < place; at++) if (!isContinuation(data[at])) points++;
    values[row] = points;
  });
  return { form: 'number', type, length, values, valid };
}

export const splitPart: OfBytes = (call) => {
  const part = partOf(call);
  const index = countOf(call.rest[1]);
  if (part === null || index < 0) return null;
  return pieceOf(call, part, index);
};

function* pieceOf({ column, type }: Call, part: Part, index: number): Generator<void, Column> {
  const { data } = column;
  const { size } = part;
  const [starts, ends] = [column.starts.slice(), column.ends.slice()];
  yield* eachRow(column, (row, first, end) => {
    let start = first;
    for (let skipped = 1; skipped < index && start >= 0; skipped++) {
      const place = part.find(data, start, end);
      start = place < 0 ? -1 : place + size;
    }
    if (start < 0) starts[row] = end;
    else {
      const place = part.find(data, start, end);
      starts[row] = start;
      if (place >= 0) ends[row] = place;
    }
  });
  return { ...column, type, starts, ends, dense: false };
}

export const replaced: OfBytes = (call) => {
  const part = partOf(call);
  if (part === null) return null;
  const by = Buffer.from(call.rest[1] as string);
  const { bytes } = spanOf(call.column);
  // Each place that is found has the bytes of the part.
  const most = by.length <= part.size ? bytes : Math.ceil(bytes / part.size) * by.length;
  return most > MOST_AT_ONCE ? null : replacing(call, part, by, Math.max(bytes, most));
};

/** @param most bytes of all texts that are made */
function* replacing(
  { column, type, memory }: Call,
  part: Part,
  by: Uint8Array,
  most: number,
): Generator<void, Column> {
  const writer = new TextWriter(column.length, most, memory);
  const { data } = column;
  const [source, instead] = [wordBytes(data), wordBytes(by)];
  yield* eachRow(column, (_row, start, end) => {
    let from = start;
    for (;;) {
      const place = part.find(data, from, end);
      if (place < 0) break;
      writer.bytes(source, from, place);
      writer.bytes(instead, 0, by.length);
      from = place + part.size;
    }
    writer.bytes(source, from, end);
    writer.end();
  });
  return writer.column(type, column.valid);
}

export function* reversed({ column, type, memory }: Call): Generator<void, Column> {
  const { data, length } = column;
  const { forwards, backwards } = walkOf(column);
  const ascii = forwards === ASCII_WALK.forwards;
  const writer = new TextWriter(length, spanOf(column).bytes, memory);
  const source = wordBytes(data);
  yield* eachRow(column, (_row, start, end) => {
    if (ascii) writer.reversed(data, start, end);
    else {
      for (let at = end; at > start; ) {
        const from = backwards(at, start, 1);
        writer.bytes(source, from, at);
        at = from;
      }
    }
    writer.end();
  });
  return writer.column(type, column.valid);
}

/** lpad and rpad of ASCII. */
export const padded =
  (atStart: boolean): OfBytes =>
  ({ column, rest, type, memory }) => {
    const size = Math.max(0, countOf(rest[0]));
    const fill = Buffer.from(rest[1] === undefined ? ' ' : (rest[1] as string));
    if (fill.length === 0 || fill.some((byte) => byte > 0x7f)) return null;
    if (size * column.length > MOST_AT_ONCE || !isAscii(column)) return null;
    return padding(column, type, Buffer.alloc(size, fill), atStart, memory);
  };

/** @param filler as many bytes as each text will have */
function* padding(
  column: BytesColumn,
  type: DataType,
  filler: Uint8Array,
  atStart: boolean,
  memory: BatchMemory,
): Generator<void, Column> {
  const { data, length } = column;
  const size = filler.length;
  const writer = new TextWriter(length, size * length, memory);
  const [source, fill] = [wordBytes(data), wordBytes(filler)];
  const pad = (_row: number, start: number, last: number): void => {
    const end = Math.min(last, start + size);
    const more = size - (end - start);
    if (atStart) writer.bytes(fill, 0, more);
    writer.bytes(source, start, end);
    if (!atStart) writer.bytes(fill, 0, more);
    writer.end();
  };
  yield* eachRow(column, pad, size);
  return writer.column(type, column.valid);
}

interface Piece {
  readonly source: WordBytes;
  /** Absent for a constant, which is all of the source. */
  readonly column?: BytesColumn;
}

/** Texts joined, of columns and constants. */
export function joinedTexts(run: RowFunction): RowFunction {
  return quicker(run, (args, { type, memory }) => {
    if (familyOf(type) !== 'text') return null;
    const first = args.find((arg) => arg.form === 'bytes');
    if (first === undefined) return null;
    const { length } = first;
    const pieces: Piece[] = [];
    let bytes = 0;
    let valid: Validity = null;
    for (const arg of args) {
      if (familyOf(arg.type) !== 'text') return null;
      if (arg.form === 'bytes') {
        pieces.push({ source: wordBytes(arg.data), column: arg });
        bytes += spanOf(arg).bytes;
        valid = bothValid(valid, arg.valid);
      } else if (arg.form === 'constant' && typeof arg.value === 'string') {
        const data = Buffer.from(arg.value);
        pieces.push({ source: wordBytes(data) });
        bytes += data.length * length;
      } else return null;
      if (bytes > MOST_AT_ONCE) return null;
    }
    return joining(first, pieces, new TextWriter(length, bytes, memory), bytes, type, valid);
  });
}

/** @param bytes of all texts that are made */
function* joining(
  first: BytesColumn,
  pieces: readonly Piece[],
  writer: TextWriter,
  bytes: number,
  type: DataType,
  valid: Validity,
): Generator<void, Column> {
  const join = (row: number): void => {
    for (const { source, column } of pieces) {
      if (column === undefined) writer.bytes(source, 0, source.data.length);
      else writer.bytes(source, column.starts[row] as number, column.ends[row] as number);
    }
    writer.end();
  };
  yield* eachRow(first, join, bytes / first.length);
  return writer.column(type, valid);
}
