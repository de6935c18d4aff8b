/**
 * Computes the functions of text (`STRING_FUNCTIONS`), among them `||`, which also joins binaries.
 * Each but concat_ws gives null if an argument is null. Lengths and positions count code points, as
 * in SQL; octet_length and bit_length count bytes and bits. repeat, lpad, rpad, replace, concat_ws
 * and `||` throw InvalidInput in place of a text of more than 16,777,216 UTF-16 units, substr does
 * for a negative length, and chr for a number of no character. `points` counts code points, and
 * `slicePoints` cuts by them. bind/bind-forms.ts builds concat, which skips nulls, from `||`.
 */

import type { DataType } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import type { BatchMemory } from '../../request-memory.ts';
import { drained } from '../../steps.ts';
import { finderOf, isAscii, lowerText, type TextFinder, textKernels } from '../texts/index.ts';
import {
  type Column,
  columnOf,
  constantColumn,
  type RowFunction,
  reader,
  type Value,
  validityOf,
} from '../typed/index.ts';
import {
  cased as casedBytes,
  joinedTexts,
  left,
  overBytes,
  padded,
  replaced,
  reversed as reversedBytes,
  right,
  splitPart as splitPartOfBytes,
  strpos as strposOfBytes,
  substr as substrOfBytes,
  trimmed,
} from './byte-texts.ts';
import { eachPlace, Joining, trim, trimInSteps } from './long-texts.ts';
import { boundedReader, strict } from './rows.ts';

/** A longer result is refused whatever the memory: repeat and lpad could ask for any size. */
const MAX_LENGTH = 1 << 24;

/** Code points of a text; half of a surrogate pair alone counts as one. */
export function points(text: string): number {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: this asks for ASCII
  if (!/[^\x00-\x7f]/.test(text)) return text.length;
  let pairs = 0;
  for (let at = 1; at < text.length; at++) {
    const isLow = (text.charCodeAt(at) & 0xfc00) === 0xdc00;
    if (isLow && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800) pairs++;
  }
  return text.length - pairs;
}

/** Code points [from, to) of `text`, both from 0. */
export function slicePoints(text: string, from: number, to: number): string {
  if (points(text) === text.length) return text.slice(from, to);
  const start = unitOfPoint(text, 0, from);
  return text.slice(start, unitOfPoint(text, start, to - from));
}

/** The code unit where the code point begins that comes `count` after the one at `unit`. */
function unitOfPoint(text: string, unit: number, count: number): number {
  let at = unit;
  for (let left = count; left > 0 && at < text.length; left--) {
    at += (text.codePointAt(at) as number) > 0xffff ? 2 : 1;
  }
  return at;
}

/** Asked before a text of `length` code units is made. @throws InvalidInput */
function guarded(length: number, memory: BatchMemory): void {
  if (length > MAX_LENGTH) {
    throw new DirspaceError(
      'InvalidInput',
      `A text of more than ${MAX_LENGTH} characters is not built`,
    );
  }
  memory.text(length);
}

function pad(text: string, size: number, fill: string, left: boolean, memory: BatchMemory): string {
  const length = points(text);
  if (length >= size) return slicePoints(text, 0, Math.max(0, size));
  if (fill === '') return text;
  const times = Math.ceil((size - length) / points(fill));
  guarded(text.length + times * fill.length, memory);
  const filler = slicePoints(fill.repeat(times), 0, size - length);
  return left ? filler + text : text + filler;
}

const text = (value: Value): string => value as string;
/** Arguments that count characters; anything beyond 2^31 behaves alike. */
const count = (value: Value): number => Math.max(-(2 ** 31), Math.min(2 ** 31, Number(value)));

/** substr: from 1; a start before the text still uses up length, as in PostgreSQL. */
function substr(value: string, start: number, length: number | undefined): string {
  if (length !== undefined && length < 0) {
    throw new DirspaceError('InvalidInput', `substr: the length ${length} is negative`);
  }
  const end = length === undefined ? Number.POSITIVE_INFINITY : start + length - 1;
  return slicePoints(value, Math.max(0, start - 1), Math.max(0, Math.min(end, value.length)));
}

/** A text may grow while its case changes: a few characters become up to three. */
function cased(name: string, change: (value: string) => string): ReturnType<typeof strict> {
  return strict(name, ([s], _type, memory) => {
    const value = text(s);
    memory.text(value.length);
    const changed = change(value);
    if (changed.length > value.length) memory.text(changed.length - value.length);
    return changed;
  });
}

const trimming = (name: string, atStart: boolean, atEnd: boolean): RowFunction =>
  overBytes(
    strict(name, ([s, set]) => trim(text(s), text(set ?? ' '), atStart, atEnd), {
      long: ([s, set]) => trimInSteps(text(s), text(set ?? ' '), atStart, atEnd),
    }),
    trimmed(atStart, atEnd),
  );

function initcap(value: string): string {
  const first = /(?<![\p{L}\p{N}])[\p{L}\p{N}]/gu;
  return lowerText(value).replace(first, (letter) => letter.toUpperCase());
}

/** By its code units, in memory of two texts; an array of all characters would take many times as much. */
function reversed(value: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: this asks for Latin-1
  if (!/[^\x00-\xff]/.test(value)) {
    return Buffer.from(value, 'latin1').reverse().toString('latin1');
  }
  const units = new Uint16Array(value.length);
  let at = units.length;
  for (let from = 0; from < value.length; from++) units[--at] = value.charCodeAt(from);
  for (let low = 0; low + 1 < units.length; low++) {
    const [a, b] = [units[low] as number, units[low + 1] as number];
    if ((a & 0xfc00) !== 0xdc00 || (b & 0xfc00) !== 0xd800) continue;
    // The halves of a pair stay in their order.
    [units[low], units[++low]] = [b, a];
  }
  return Buffer.from(units.buffer).toString('utf16le');
}

/** Where `part` is in `value` first, -1 where it is not. */
const placeOf = (value: string, part: string): number =>
  part === '' ? 0 : finderOf(part).find(value, 0);

/** The code point at a place, from 1; 0 for none. */
const positionOf = (value: string, at: number): bigint =>
  BigInt(at < 0 ? 0 : points(value.slice(0, at)) + 1);

/** How often `part` is in `value`, without overlaps. */
function occurrences(value: string, part: string, finder: TextFinder): number {
  let count = 0;
  for (let at = finder.find(value, 0); at >= 0; at = finder.find(value, at + part.length)) count++;
  return count;
}

function replace(value: string, from: string, to: string, memory: BatchMemory): string {
  if (from === '') return value;
  const finder = finderOf(from);
  const count = occurrences(value, from, finder);
  if (count === 0) return value;
  guarded(value.length + count * (to.length - from.length), memory);
  let made = '';
  let last = 0;
  for (let at = finder.find(value, 0); at >= 0; at = finder.find(value, last)) {
    made += value.slice(last, at) + to;
    last = at + from.length;
  }
  return made + value.slice(last);
}

function* replaceInSteps(
  value: string,
  from: string,
  to: string,
  memory: BatchMemory,
): Generator<void, string> {
  if (from === '') return value;
  let count = 0;
  yield* eachPlace(value, from, () => {
    count++;
    return true;
  });
  if (count === 0) return value;
  guarded(value.length + count * (to.length - from.length), memory);
  const joining = new Joining();
  let last = 0;
  yield* eachPlace(value, from, (at) => {
    joining.add(value.slice(last, at));
    joining.add(to);
    last = at + from.length;
    return true;
  });
  joining.add(value.slice(last));
  return joining.text();
}

/** The piece with number `index` from 1, or from the end for a negative one; empty where none is. */
function splitPart(value: string, by: string, index: number): string {
  if (by === '') return index === 1 || index === 0 || index === -1 ? value : '';
  const finder = finderOf(by);
  const parts = occurrences(value, by, finder) + 1;
  const wanted = index > 0 ? index - 1 : index === 0 ? 0 : parts + index;
  if (wanted < 0 || wanted >= parts) return '';
  let start = 0;
  for (let k = 0; k < wanted; k++) start = finder.find(value, start) + by.length;
  const end = finder.find(value, start);
  return value.slice(start, end < 0 ? value.length : end);
}

function* splitPartInSteps(value: string, by: string, index: number): Generator<void, string> {
  if (by === '') return splitPart(value, by, index);
  let wanted = Math.max(0, index - 1);
  if (index < 0) {
    let parts = 1;
    yield* eachPlace(value, by, () => {
      parts++;
      return true;
    });
    wanted = parts + index;
    if (wanted < 0) return '';
  }
  let [start, part, end] = [0, 0, value.length];
  yield* eachPlace(value, by, (at) => {
    if (part === wanted) {
      end = at;
      return false;
    }
    start = at + by.length;
    part++;
    return true;
  });
  return part === wanted ? value.slice(start, end) : '';
}

/** As `placeOf`, in steps. */
function* placeInSteps(value: string, part: string): Generator<void, number> {
  if (part === '') return 0;
  let place = -1;
  yield* eachPlace(value, part, (at) => {
    place = at;
    return false;
  });
  return place;
}

/** Bytes that are counted between two steps. */
const STEP_BYTES = 1 << 21;

function continuations(data: Uint8Array, from: number, to: number): number {
  let count = 0;
  for (let at = from; at < to; at++) if (((data[at] as number) & 0xc0) === 0x80) count++;
  return count;
}

/** Lengths come from the bytes as they lie; every one is far within what a double holds. */
function counted(name: string, inPoints: boolean): RowFunction {
  return {
    name,
    fallible: false,
    evaluate: (args, length, type, memory) => drained(inSteps(args, length, type, memory)),
    inSteps,
  };
  function* inSteps(
    [column]: readonly Column[],
    length: number,
    type: DataType,
    _memory: BatchMemory,
  ): Generator<void, Column> {
    const values = new Float64Array(length);
    if (column?.form === 'bytes') {
      const { data, starts, ends, valid } = column;
      if (inPoints && column.dense && textKernels()?.points(column, values) === true) {
        return { form: 'number', type, length, values, valid };
      }
      // Parts of other texts: a byte of ASCII is a code point.
      const isCounted = inPoints && (column.dense || !isAscii(column));
      for (let i = 0; i < length; i++) {
        const end = ends[i] as number;
        let size = end - (starts[i] as number);
        // Continuation bytes begin no code point.
        if (isCounted) {
          for (let from = starts[i] as number; from < end; from += STEP_BYTES) {
            if (from > (starts[i] as number)) yield;
            size -= continuations(data, from, Math.min(end, from + STEP_BYTES));
          }
        }
        values[i] = size;
      }
      return { form: 'number', type, length, values, valid };
    }
    if (column === undefined) return constantColumn(type, null, length);
    const read = reader(column);
    for (let i = 0; i < length; i++) {
      const value = read(i) ?? null;
      if (typeof value === 'string')
        values[i] = inPoints ? points(value) : Buffer.byteLength(value);
      else if (value instanceof Uint8Array) values[i] = value.length;
    }
    return { form: 'number', type, length, values, valid: validityOf(column) };
  }
}

/** By name; a name's arguments are checked by the binder. */
export const STRING_FUNCTIONS: Readonly<Record<string, RowFunction>> = {
  lower: overBytes(cased('lower', lowerText), casedBytes(false)),
  upper: overBytes(
    cased('upper', (value) => value.toUpperCase()),
    casedBytes(true),
  ),
  initcap: cased('initcap', initcap),
  reverse: overBytes(cased('reverse', reversed), reversedBytes),
  length: counted('length', true),
  octet_length: counted('octet_length', false),
  bit_length: strict('bit_length', ([s]) => BigInt(8 * Buffer.byteLength(text(s)))),
  ascii: strict('ascii', ([s]) => BigInt(text(s).codePointAt(0) ?? 0)),
  btrim: trimming('btrim', true, true),
  ltrim: trimming('ltrim', true, false),
  rtrim: trimming('rtrim', false, true),
  substr: overBytes(
    strict(
      'substr',
      ([s, start, length]) =>
        substr(text(s), count(start), length === undefined ? undefined : count(length)),
      { fallible: true },
    ),
    substrOfBytes,
  ),
  left: overBytes(
    strict('left', ([s, n]) => {
      const size = count(n);
      return slicePoints(text(s), 0, size < 0 ? Math.max(0, points(text(s)) + size) : size);
    }),
    left,
  ),
  right: overBytes(
    strict('right', ([s, n]) => {
      const size = count(n);
      const length = points(text(s));
      return slicePoints(
        text(s),
        size < 0 ? Math.min(length, -size) : Math.max(0, length - size),
        length,
      );
    }),
    right,
  ),
  lpad: overBytes(
    strict(
      'lpad',
      ([s, n, fill], _type, memory) => pad(text(s), count(n), text(fill ?? ' '), true, memory),
      {
        fallible: true,
      },
    ),
    padded(true),
  ),
  rpad: overBytes(
    strict(
      'rpad',
      ([s, n, fill], _type, memory) => pad(text(s), count(n), text(fill ?? ' '), false, memory),
      {
        fallible: true,
      },
    ),
    padded(false),
  ),
  repeat: strict(
    'repeat',
    ([s, n], _type, memory) => {
      guarded(text(s).length * Math.max(0, count(n)), memory);
      return text(s).repeat(Math.max(0, count(n)));
    },
    { fallible: true },
  ),
  replace: overBytes(
    strict(
      'replace',
      ([s, from, to], _type, memory) => replace(text(s), text(from), text(to), memory),
      {
        fallible: true,
        long: ([s, from, to], _type, memory) =>
          replaceInSteps(text(s), text(from), text(to), memory),
      },
    ),
    replaced,
  ),
  strpos: overBytes(
    strict('strpos', ([s, needle]) => positionOf(text(s), placeOf(text(s), text(needle))), {
      *long([s, needle]) {
        return positionOf(text(s), yield* placeInSteps(text(s), text(needle)));
      },
    }),
    strposOfBytes,
  ),
  split_part: overBytes(
    strict('split_part', ([s, by, n]) => splitPart(text(s), text(by), count(n)), {
      long: ([s, by, n]) => splitPartInSteps(text(s), text(by), count(n)),
    }),
    splitPartOfBytes,
  ),
  starts_with: strict('starts_with', ([s, part]) => text(s).startsWith(text(part))),
  ends_with: strict('ends_with', ([s, part]) => text(s).endsWith(text(part))),
  contains: strict('contains', ([s, part]) => placeOf(text(s), text(part)) >= 0, {
    *long([s, part]) {
      return (yield* placeInSteps(text(s), text(part))) >= 0;
    },
  }),
  chr: strict(
    'chr',
    ([code]) => {
      const point = Number(code);
      const isCharacter = point >= 0 && point <= 0x10ffff && (point < 0xd800 || point > 0xdfff);
      if (isCharacter) return String.fromCodePoint(point);
      throw new DirspaceError('InvalidInput', `There is no character of the number ${code}`);
    },
    { fallible: true },
  ),
  concat_ws: {
    name: 'concat_ws',
    fallible: true,
    evaluate(args, length, type, memory) {
      const [readBetween, ...readers] = args.map((arg) => boundedReader(arg, memory));
      const values = Array.from({ length }, (_, row) => {
        const between = readBetween?.(row) ?? null;
        if (between === null) return null;
        const parts = readers.flatMap((read) => (read(row) as string | null) ?? []);
        const size = parts.reduce((sum, part) => sum + part.length + text(between).length, 0);
        guarded(size, memory);
        return parts.join(text(between));
      });
      return columnOf(type, values);
    },
  },
  '||': joinedTexts(
    strict(
      '||',
      (parts, _type, memory) => {
        let length = 0;
        for (const part of parts) length += (part as string | Uint8Array).length;
        guarded(length, memory);
        return typeof parts[0] === 'string' ? parts.join('') : Buffer.concat(parts as Uint8Array[]);
      },
      { fallible: true },
    ),
  ),
};
