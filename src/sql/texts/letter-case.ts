/**
 * `inOneCase` converts a column of texts to lower or upper case, with the results of `lowerText`
 * and of the runtime's `toUpperCase`. It converts a copy of the bytes in place, whose memory it
 * claims, and one by one only the texts in which a letter takes another number of bytes in the
 * other case. It returns null for columns that it does not convert, such as those of more than
 * 4 MiB (`MOST_AT_ONCE`); the caller then converts them.
 */
import type { BatchMemory } from '../../request-memory.ts';
import type { BytesColumn } from '../typed/index.ts';
import { lowerText } from './fold-text.ts';
import { gathered, spanOf } from './text-columns.ts';
import { textKernels } from './text-kernels.ts';

/**
 * Null for no rows, for more than `MOST_AT_ONCE` bytes of text, for more than `MOST_CONVERTED`
 * bytes of texts converted one by one, and without WebAssembly.
 */
export function inOneCase(
  texts: BytesColumn,
  upper: boolean,
  memory: BatchMemory,
): BytesColumn | null {
  const kernels = textKernels();
  if (kernels === null || texts.length === 0 || spanOf(texts).bytes > MOST_AT_ONCE) return null;
  const before = memory.used;
  const column = gathered(texts, memory);
  const { from, to } = spanOf(column);
  memory.take(to - from);
  const data = Buffer.allocUnsafeSlow(to - from);
  const ascii = kernels.turnCase(column.data, from, to, upper, data);
  const turned: BytesColumn = {
    ...column,
    data,
    starts: moved(column.starts, from),
    ends: moved(column.ends, from),
  };
  const changed = ascii ? turned : withOthers(column, turned, upper, memory);
  if (changed === null) memory.used = before;
  return changed;
}

/** Bytes of a column of texts that are changed at once: that takes a few milliseconds. */
export const MOST_AT_ONCE = 1 << 22;

/** More bytes of texts that are converted one by one are converted in steps. */
const MOST_CONVERTED = 1 << 19;

const moved = (offsets: Int32Array, by: number): Int32Array => {
  if (by === 0) return offsets;
  const out = new Int32Array(offsets.length);
  for (let i = 0; i < out.length; i++) out[i] = (offsets[i] as number) - by;
  return out;
};

/** Changes letters of other scripts in `turned`, whose ASCII letters are in one case. */
function withOthers(
  original: BytesColumn,
  turned: BytesColumn,
  upper: boolean,
  memory: BatchMemory,
): BytesColumn | null {
  const { length, data } = turned;
  const highs = new Uint8Array(length).fill(1);
  // Texts that do not follow each other are all looked at.
  if (turned.dense) textKernels()?.highs(turned, highs);
  const letters = upper ? UPPER : LOWER;
  const source = Buffer.from(original.data.buffer, original.data.byteOffset, original.data.length);
  const apart: { row: number; text: Buffer }[] = [];
  let converted = 0;
  for (let row = 0; row < length; row++) {
    if (highs[row] === 0) continue;
    if (letters.turn(data, turned.starts[row] as number, turned.ends[row] as number)) continue;
    converted += (turned.ends[row] as number) - (turned.starts[row] as number);
    if (converted > MOST_CONVERTED) return null;
    const text = source.toString('utf8', original.starts[row], original.ends[row]);
    memory.text(text.length);
    apart.push({ row, text: Buffer.from(upper ? text.toUpperCase() : lowerText(text)) });
  }
  return apart.length === 0 ? turned : withTexts(turned, apart, memory);
}

/** The column with other texts in some rows, which lie behind the rest. */
function withTexts(
  column: BytesColumn,
  texts: readonly { readonly row: number; readonly text: Uint8Array }[],
  memory: BatchMemory,
): BytesColumn {
  const more = texts.reduce((sum, { text }) => sum + text.length, 0);
  memory.take(column.data.length + more);
  const data = Buffer.allocUnsafeSlow(column.data.length + more);
  data.set(column.data);
  const [starts, ends] = [column.starts.slice(), column.ends.slice()];
  let at = column.data.length;
  for (const { row, text } of texts) {
    data.set(text, at);
    starts[row] = at;
    at += text.length;
    ends[row] = at;
  }
  return { ...column, data, starts, ends, dense: false };
}

const UNKNOWN = 0;
/** A letter that has no counterpart in the other case. */
const SAME = 1;
/** A letter whose counterpart has another number of bytes. */
const APART = 2;

/** Counterparts of code points, found out when they are first met. */
class Letters {
  readonly #change: (text: string) => string;
  readonly #near = new Int32Array(1 << 16);
  readonly #far = new Map<number, number>();

  constructor(change: (text: string) => string) {
    this.#change = change;
  }

  /** Changes all letters beyond ASCII; false where that needs more, or the bytes are no UTF-8. */
  turn(data: Uint8Array, from: number, to: number): boolean {
    for (let at = from; at < to; ) {
      const lead = data[at] as number;
      if (lead < 0x80) {
        at++;
        continue;
      }
      const size = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
      if (lead < 0xc2 || lead > 0xf4 || at + size > to) return false;
      let point = lead & (0xff >> (size + 1));
      for (let k = 1; k < size; k++) {
        const byte = data[at + k] as number;
        if ((byte & 0xc0) !== 0x80) return false;
        point = (point << 6) | (byte & 0x3f);
      }
      if (sizeOf(point) !== size || (point & 0xfff800) === 0xd800 || point > 0x10ffff) return false;
      const other = this.#of(point);
      if (other === APART) return false;
      if (other !== SAME) write(data, at, size, other);
      at += size;
    }
    return true;
  }

  #of(point: number): number {
    const near = point < 1 << 16;
    const known = near ? (this.#near[point] as number) : (this.#far.get(point) ?? UNKNOWN);
    if (known !== UNKNOWN) return known;
    const other = this.#find(point);
    if (near) this.#near[point] = other;
    else if (this.#far.size < MOST_FAR) this.#far.set(point, other);
    return other;
  }

  #find(point: number): number {
    const text = String.fromCodePoint(point);
    const changed = this.#change(text);
    if (changed === text) return SAME;
    const other = changed.codePointAt(0) as number;
    const isOne = changed.length === (other > 0xffff ? 2 : 1);
    return isOne && sizeOf(other) === sizeOf(point) ? other : APART;
  }
}

const MOST_FAR = 1 << 14;

const sizeOf = (point: number): number =>
  point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;

/** Writes a code point over one of as many bytes, whose lead byte tells how many. */
function write(data: Uint8Array, at: number, size: number, point: number): void {
  let rest = point;
  for (let k = size - 1; k > 0; k--) {
    data[at + k] = 0x80 | (rest & 0x3f);
    rest >>= 6;
  }
  data[at] = ((0xf00 >> size) & 0xff) | rest;
}

const LOWER = new Letters(lowerText);
const UPPER = new Letters((text) => text.toUpperCase());
