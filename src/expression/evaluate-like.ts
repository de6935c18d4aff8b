/**
 * LIKE and ILIKE over UTF-8 bytes. A pattern is compiled once: exact, prefix, suffix and contains
 * have loops of their own, anything else goes through a matcher whose time is at most the product
 * of both lengths. It knows patterns and bytes, no SQL.
 */
import { DirspaceError } from '../errors.ts';
import {
  type BytesColumn,
  type Column,
  FALSE,
  maskNulls,
  reader,
  TRUE,
  UNKNOWN,
} from './column.ts';
import { equalBytes } from './evaluate-compare.ts';

/** A byte of the pattern, or one of these. */
const ANY_ONE = -1;
const ANY_RUN = -2;

export function evaluateLike(
  column: Column,
  pattern: Column,
  escaping: string,
  insensitive: boolean,
): Uint8Array {
  if (pattern.form === 'constant') {
    if (pattern.value === null) return new Uint8Array(column.length).fill(UNKNOWN);
    const compiled = compilePattern(String(pattern.value), escaping, insensitive);
    return column.form === 'bytes'
      ? maskNulls(matchColumn(column, compiled, insensitive), column.valid)
      : matchValues(column, () => compiled, insensitive);
  }
  const read = reader(pattern);
  return matchValues(
    column,
    (row) => {
      const value = read(row) ?? null;
      return value === null ? null : compilePattern(String(value), escaping, insensitive);
    },
    insensitive,
  );
}

/** Throws InvalidInput for a pattern that ends in its escape character. */
export function compilePattern(
  pattern: string,
  escaping: string,
  insensitive: boolean,
): Int16Array {
  const tokens: number[] = [];
  const characters = [...(insensitive ? pattern.toLowerCase() : pattern)];
  const marker = insensitive ? escaping.toLowerCase() : escaping;
  for (let i = 0; i < characters.length; i++) {
    let character = characters[i] as string;
    if (character === marker) {
      const next = characters[++i];
      if (next === undefined) {
        throw new DirspaceError(
          'InvalidInput',
          `The LIKE pattern '${pattern.slice(0, 60)}' ends in its escape character`,
        );
      }
      character = next;
    } else if (character === '%') {
      if (tokens.at(-1) !== ANY_RUN) tokens.push(ANY_RUN);
      continue;
    } else if (character === '_') {
      tokens.push(ANY_ONE);
      continue;
    }
    tokens.push(...Buffer.from(character));
  }
  return Int16Array.from(tokens);
}

function matchColumn(column: BytesColumn, pattern: Int16Array, insensitive: boolean): Uint8Array {
  const folded = insensitive ? foldCase(column) : null;
  if (folded !== null) return matchColumn(folded, pattern, false);
  const out = new Uint8Array(column.length);
  const first = pattern[0] === ANY_RUN;
  const last = pattern.at(-1) === ANY_RUN;
  const middle = pattern.subarray(
    first ? 1 : 0,
    pattern.length - (last && pattern.length > 1 ? 1 : 0),
  );
  if (first && pattern.length === 1) return out.fill(TRUE);
  if (insensitive || middle.some((token) => token < 0)) {
    return generalLoop(column, pattern, insensitive, out);
  }
  const needle = Uint8Array.from(middle);
  if (first && last) containsLoop(column, needle, out);
  else if (first) suffixLoop(column, needle, out);
  else if (last) prefixLoop(column, needle, out);
  else equalBytes(column, needle, out);
  return out;
}

function prefixLoop(column: BytesColumn, needle: Uint8Array, out: Uint8Array): void {
  const { data, starts, ends } = column;
  const size = needle.length;
  for (let i = 0; i < out.length; i++) {
    const start = starts[i] as number;
    let k = 0;
    if ((ends[i] as number) - start >= size) while (k < size && data[start + k] === needle[k]) k++;
    out[i] = k === size ? TRUE : FALSE;
  }
}

function suffixLoop(column: BytesColumn, needle: Uint8Array, out: Uint8Array): void {
  const { data, starts, ends } = column;
  const size = needle.length;
  for (let i = 0; i < out.length; i++) {
    const start = (ends[i] as number) - size;
    let k = 0;
    if (start >= (starts[i] as number)) while (k < size && data[start + k] === needle[k]) k++;
    out[i] = k === size ? TRUE : FALSE;
  }
}

/** A native search over the whole buffer pays off while matches are few. */
const SAMPLE = 256;

function containsLoop(column: BytesColumn, needle: Uint8Array, out: Uint8Array): void {
  const { data, starts, ends, length } = column;
  const size = needle.length;
  if (size === 0) {
    out.fill(TRUE);
    return;
  }
  let row = 0;
  if (column.dense && length > 0) {
    const bytes = Buffer.from(data.buffer, data.byteOffset, ends[length - 1]);
    let at = starts[0] as number;
    for (let searches = 1; ; searches++) {
      at = bytes.indexOf(needle, at);
      if (at < 0) return;
      while ((ends[row] as number) <= at) row++;
      // A match that runs over the end of a row is none.
      if (at >= (starts[row] as number) && at + size <= (ends[row] as number)) {
        out[row] = TRUE;
        at = ends[row] as number;
        row++;
        if (row === length) return;
      } else at++;
      if (searches % SAMPLE === 0 && row < searches * 24) break;
    }
  }
  const lead = needle[0] as number;
  for (; row < length; row++) {
    const stop = (ends[row] as number) - size;
    let hit = FALSE;
    for (let p = starts[row] as number; p <= stop; p++) {
      if (data[p] !== lead) continue;
      let k = 1;
      while (k < size && data[p + k] === needle[k]) k++;
      if (k === size) {
        hit = TRUE;
        break;
      }
    }
    if (hit === TRUE) out[row] = TRUE;
  }
}

function generalLoop(
  column: BytesColumn,
  pattern: Int16Array,
  insensitive: boolean,
  out: Uint8Array,
): Uint8Array {
  const { data, starts, ends } = column;
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  for (let i = 0; i < out.length; i++) {
    const start = starts[i] as number;
    const end = ends[i] as number;
    if (!insensitive) out[i] = matches(data, start, end, pattern) ? TRUE : FALSE;
    else {
      const lower = Buffer.from(bytes.toString('utf8', start, end).toLowerCase());
      out[i] = matches(lower, 0, lower.length, pattern) ? TRUE : FALSE;
    }
  }
  return out;
}

/** The column in lower case where all of it is ASCII and lies together. */
function foldCase(column: BytesColumn): BytesColumn | null {
  const { data, starts, ends, length } = column;
  if (!column.dense || length === 0) return null;
  const first = starts[0] as number;
  const folded = new Uint8Array((ends[length - 1] as number) - first);
  let other = 0;
  for (let i = 0; i < folded.length; i++) {
    const byte = data[first + i] as number;
    other |= byte;
    folded[i] = byte >= 65 && byte <= 90 ? byte + 32 : byte;
  }
  if (other > 127) return null;
  if (first === 0) return { ...column, data: folded };
  const moved = (offsets: Int32Array): Int32Array => offsets.map((offset) => offset - first);
  return { ...column, data: folded, starts: moved(starts), ends: moved(ends) };
}

function matchValues(
  column: Column,
  patternOf: (row: number) => Int16Array | null,
  insensitive: boolean,
): Uint8Array {
  const out = new Uint8Array(column.length);
  const read = reader(column);
  for (let i = 0; i < out.length; i++) {
    const value = read(i) ?? null;
    const pattern = value === null ? null : patternOf(i);
    if (pattern === null) out[i] = UNKNOWN;
    else {
      const text = Buffer.from(insensitive ? String(value).toLowerCase() : String(value));
      out[i] = matches(text, 0, text.length, pattern) ? TRUE : FALSE;
    }
  }
  return out;
}

/** On a mismatch the last % takes one more character; earlier ones never have to be retried. */
export function matches(
  data: Uint8Array,
  start: number,
  end: number,
  pattern: Int16Array,
): boolean {
  let s = start;
  let p = 0;
  let run = -1;
  let mark = 0;
  while (s < end) {
    const token = pattern[p];
    if (token === ANY_RUN) {
      run = ++p;
      mark = s;
    } else if (token === ANY_ONE) {
      s++;
      while (s < end && ((data[s] as number) & 0xc0) === 0x80) s++;
      p++;
    } else if (token === data[s]) {
      s++;
      p++;
    } else if (run >= 0) {
      p = run;
      s = ++mark;
      while (s < end && ((data[s] as number) & 0xc0) === 0x80) s = ++mark;
    } else return false;
  }
  while (pattern[p] === ANY_RUN) p++;
  return p === pattern.length;
}
