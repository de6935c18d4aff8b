/**
 * Functions of text. Lengths and positions count code points, as SQL does. They know canonical
 * values only.
 */
import { DirspaceError } from '../../errors.ts';
import type { RowFunction } from '../bound.ts';
import { type Column, constantColumn, reader, type Value, validityOf } from '../column.ts';
import { strict } from './rows.ts';

/** A result longer than this is refused: repeat and lpad could ask for any size. */
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
  return [...text].slice(from, to).join('');
}

function guarded(length: number): void {
  if (length > MAX_LENGTH) {
    throw new DirspaceError(
      'InvalidInput',
      `A text of more than ${MAX_LENGTH} characters is not built`,
    );
  }
}

function pad(text: string, size: number, fill: string, left: boolean): string {
  const length = points(text);
  if (length >= size) return slicePoints(text, 0, Math.max(0, size));
  guarded(size);
  if (fill === '') return text;
  const filler = slicePoints(
    fill.repeat(Math.ceil((size - length) / points(fill))),
    0,
    size - length,
  );
  return left ? filler + text : text + filler;
}

/** Removes characters of `set` from the ends asked for. */
function trim(text: string, set: string, left: boolean, right: boolean): string {
  const drop = new Set(set);
  const characters = [...text];
  let from = 0;
  let to = characters.length;
  while (left && from < to && drop.has(characters[from] as string)) from++;
  while (right && to > from && drop.has(characters[to - 1] as string)) to--;
  return characters.slice(from, to).join('');
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

function initcap(value: string): string {
  return value.toLowerCase().replace(/[\p{L}\p{N}]+/gu, (word) => {
    const [first = '', ...rest] = word;
    return first.toUpperCase() + rest.join('');
  });
}

/** Lengths come from the bytes as they lie; every one is far within what a double holds. */
function counted(name: string, inPoints: boolean): RowFunction {
  return {
    name,
    fallible: false,
    evaluate([column]: readonly Column[], length, type): Column {
      const values = new Float64Array(length);
      if (column?.form === 'bytes') {
        const { data, starts, ends, valid } = column;
        for (let i = 0; i < length; i++) {
          const end = ends[i] as number;
          let size = end - (starts[i] as number);
          // Continuation bytes begin no code point.
          if (inPoints) {
            for (let k = starts[i] as number; k < end; k++) {
              if (((data[k] as number) & 0xc0) === 0x80) size--;
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
    },
  };
}

/** By name; a name's arguments are checked by the binder. */
export const STRING_FUNCTIONS: Readonly<Record<string, RowFunction>> = {
  lower: strict('lower', ([s]) => text(s).toLowerCase()),
  upper: strict('upper', ([s]) => text(s).toUpperCase()),
  initcap: strict('initcap', ([s]) => initcap(text(s))),
  reverse: strict('reverse', ([s]) => [...text(s)].reverse().join('')),
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
  lpad: strict('lpad', ([s, n, fill]) => pad(text(s), count(n), text(fill ?? ' '), true), {
    fallible: true,
  }),
  rpad: strict('rpad', ([s, n, fill]) => pad(text(s), count(n), text(fill ?? ' '), false), {
    fallible: true,
  }),
  repeat: strict(
    'repeat',
    ([s, n]) => {
      guarded(text(s).length * Math.max(0, count(n)));
      return text(s).repeat(Math.max(0, count(n)));
    },
    { fallible: true },
  ),
  replace: strict('replace', ([s, from, to]) =>
    text(from) === '' ? s : text(s).replaceAll(text(from), () => text(to)),
  ),
  strpos: strict('strpos', ([s, needle]) => {
    const at = text(s).indexOf(text(needle));
    return BigInt(at < 0 ? 0 : points(text(s).slice(0, at)) + 1);
  }),
  split_part: strict('split_part', ([s, by, n]) => {
    const parts = text(by) === '' ? [text(s)] : text(s).split(text(by));
    const index = count(n);
    return parts.at(index > 0 ? index - 1 : index) ?? '';
  }),
  starts_with: strict('starts_with', ([s, part]) => text(s).startsWith(text(part))),
  ends_with: strict('ends_with', ([s, part]) => text(s).endsWith(text(part))),
  contains: strict('contains', ([s, part]) => text(s).includes(text(part))),
  '||': strict(
    '||',
    ([a, b]) => {
      if (typeof a !== 'string') return Buffer.concat([a as Uint8Array, b as Uint8Array]);
      guarded(a.length + text(b).length);
      return a + text(b);
    },
    { fallible: true },
  ),
};
