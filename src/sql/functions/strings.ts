/**
 * Computes the functions of text. Lengths and positions count code points, as SQL does;
 * octet_length and bit_length count bytes and bits. lpad, rpad, repeat, replace and || refuse
 * results of more than 16 Mi UTF-16 units.
 */

import type { DataType } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import type { BatchMemory } from '../../request-memory.ts';
import { drained } from '../../steps.ts';
import { finderOf, type TextFinder } from '../evaluate/index.ts';
import {
  type Column,
  constantColumn,
  type RowFunction,
  reader,
  type Value,
  validityOf,
} from '../typed/index.ts';
import { strict } from './rows.ts';

/** A longer result is refused whatever the memory: repeat and lpad could ask for any size. */
const MAX_LENGTH = 1 << 24;

function points(text: string): number {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: this asks for ASCII
  if (!/[^\x00-\x7f]/.test(text)) return text.length;
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** Code points [from, to) of `text`, both from 0. */
function slicePoints(text: string, from: number, to: number): string {
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

/** Removes characters of `set` from the ends asked for. */
function trim(text: string, set: string, left: boolean, right: boolean): string {
  const drop = new Set<number>();
  for (const character of set) drop.add(character.codePointAt(0) as number);
  let from = 0;
  let to = text.length;
  while (left && from < to) {
    const point = text.codePointAt(from) as number;
    if (!drop.has(point)) break;
    from += point > 0xffff ? 2 : 1;
  }
  while (right && to > from) {
    // The second half of a pair is a code point of its own only where it stands alone.
    const pair = to - from > 1 ? (text.codePointAt(to - 2) as number) : 0;
    const point = pair > 0xffff ? pair : text.charCodeAt(to - 1);
    if (!drop.has(point)) break;
    to -= pair > 0xffff ? 2 : 1;
  }
  return text.slice(from, to);
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

function initcap(value: string): string {
  return value
    .toLowerCase()
    .replace(/(?<![\p{L}\p{N}])[\p{L}\p{N}]/gu, (first) => first.toUpperCase());
}

/** Piece by piece from the end, as an array of all characters would take many times their memory. */
function reversed(value: string): string {
  let made = '';
  let piece: string[] = [];
  for (let end = value.length; end > 0; ) {
    const pair = end > 1 ? (value.codePointAt(end - 2) as number) : 0;
    const start = end - (pair > 0xffff ? 2 : 1);
    piece.push(value.slice(start, end));
    end = start;
    if (piece.length < PIECE && end > 0) continue;
    made += piece.join('');
    piece = [];
  }
  return made;
}

const PIECE = 4096;

/** Where `part` is in `value` first, -1 where it is not. */
const placeOf = (value: string, part: string): number =>
  part === '' ? 0 : finderOf(part).find(value, 0);

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
      for (let i = 0; i < length; i++) {
        const end = ends[i] as number;
        let size = end - (starts[i] as number);
        // Continuation bytes begin no code point.
        if (inPoints) {
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
  lower: cased('lower', (value) => value.toLowerCase()),
  upper: cased('upper', (value) => value.toUpperCase()),
  initcap: cased('initcap', initcap),
  reverse: cased('reverse', reversed),
  length: counted('length', true),
  octet_length: counted('octet_length', false),
  bit_length: strict('bit_length', ([s]) => BigInt(8 * Buffer.byteLength(text(s)))),
  ascii: strict('ascii', ([s]) => BigInt(text(s).codePointAt(0) ?? 0)),
  btrim: strict('btrim', ([s, set]) => trim(text(s), text(set ?? ' '), true, true)),
  ltrim: strict('ltrim', ([s, set]) => trim(text(s), text(set ?? ' '), true, false)),
  rtrim: strict('rtrim', ([s, set]) => trim(text(s), text(set ?? ' '), false, true)),
  substr: strict(
    'substr',
    ([s, start, length]) =>
      substr(text(s), count(start), length === undefined ? undefined : count(length)),
    { fallible: true },
  ),
  left: strict('left', ([s, n]) => {
    const size = count(n);
    return slicePoints(text(s), 0, size < 0 ? Math.max(0, points(text(s)) + size) : size);
  }),
  right: strict('right', ([s, n]) => {
    const size = count(n);
    const length = points(text(s));
    return slicePoints(
      text(s),
      size < 0 ? Math.min(length, -size) : Math.max(0, length - size),
      length,
    );
  }),
  lpad: strict(
    'lpad',
    ([s, n, fill], _type, memory) => pad(text(s), count(n), text(fill ?? ' '), true, memory),
    {
      fallible: true,
    },
  ),
  rpad: strict(
    'rpad',
    ([s, n, fill], _type, memory) => pad(text(s), count(n), text(fill ?? ' '), false, memory),
    {
      fallible: true,
    },
  ),
  repeat: strict(
    'repeat',
    ([s, n], _type, memory) => {
      guarded(text(s).length * Math.max(0, count(n)), memory);
      return text(s).repeat(Math.max(0, count(n)));
    },
    { fallible: true },
  ),
  replace: strict(
    'replace',
    ([s, from, to], _type, memory) => replace(text(s), text(from), text(to), memory),
    { fallible: true },
  ),
  strpos: strict('strpos', ([s, needle]) => {
    const at = placeOf(text(s), text(needle));
    return BigInt(at < 0 ? 0 : points(text(s).slice(0, at)) + 1);
  }),
  split_part: strict('split_part', ([s, by, n]) => splitPart(text(s), text(by), count(n))),
  starts_with: strict('starts_with', ([s, part]) => text(s).startsWith(text(part))),
  ends_with: strict('ends_with', ([s, part]) => text(s).endsWith(text(part))),
  contains: strict('contains', ([s, part]) => placeOf(text(s), text(part)) >= 0),
  '||': strict(
    '||',
    (parts, _type, memory) => {
      let length = 0;
      for (const part of parts) length += (part as string | Uint8Array).length;
      guarded(length, memory);
      return typeof parts[0] === 'string' ? parts.join('') : Buffer.concat(parts as Uint8Array[]);
    },
    { fallible: true },
  ),
};
