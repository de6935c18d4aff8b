/**
 * `isAmong` evaluates `column IN (constants)`. It compares with each constant of a short list: up
 * to 4, to 12 for long columns of numbers, to 8 for texts that the kernels take. In a longer one it
 * looks whole numbers near each other up in a bitmap, and other values by hash. If the list holds a
 * null, a row that is not found is unknown. In a column of UTF-8 bytes, texts are looked up by
 * their bytes, without making a string per row. `prepareAmong` builds the table of a list of 8,192
 * constants or more in steps.
 */
import { getBit, setBit } from '../../arrow/index.ts';
import { systemEnv } from '../../env.ts';
import { drained } from '../../steps.ts';
import { MOST_PART, textKernels } from '../texts/index.ts';
import {
  asSafeNumbers,
  type BytesColumn,
  type Column,
  FALSE,
  maskNulls,
  type NumberArray,
  reader,
  TRUE,
  UNKNOWN,
  type Value,
} from '../typed/index.ts';
import { compareWithConstant } from './evaluate-compare.ts';
import { numberKernels } from './number-kernels.ts';

const SHORT_LIST = 4;
/** The kernels compare with a number in less time than looking one up takes. */
const SHORT_NUMBERS = 12;
/** And with a text. */
const SHORT_TEXTS = 8;

/** Null in the list makes "not found" unknown. */
export function isAmong(column: Column, values: ReadonlySet<Value>, hasNull: boolean): Uint8Array {
  const out = found(column, values);
  if (hasNull) for (let i = 0; i < out.length; i++) if (out[i] === FALSE) out[i] = UNKNOWN;
  return out;
}

function found(column: Column, values: ReadonlySet<Value>): Uint8Array {
  const { length } = column;
  const kernels = numberKernels(length);
  const isNumeric = kernels !== null && (column.form === 'number' || column.form === 'wide');
  if (column.form === 'bytes' && values.size <= SHORT_TEXTS) {
    const among = amongTexts(column, values);
    if (among !== null) return maskNulls(among, column.valid);
  }
  if (values.size <= (isNumeric ? SHORT_NUMBERS : SHORT_LIST) && values.size > 0) {
    let out: Uint8Array | null = null;
    for (const value of values) {
      const next = compareWithConstant('=', column, value);
      if (out === null) out = next;
      else if (kernels !== null) kernels.join(false, out, next);
      else for (let i = 0; i < length; i++) out[i] = Math.max(out[i] as number, next[i] as number);
    }
    return out ?? new Uint8Array(length);
  }
  const out = new Uint8Array(length);
  if (column.form === 'bytes') {
    lookUpBytes(column, values, out);
    return maskNulls(out, column.valid);
  }
  const safe = column.form === 'wide' ? asSafeNumbers(column) : null;
  const numbers = column.form === 'number' ? column.values : safe;
  if (numbers !== null && (column.form === 'number' || column.form === 'wide')) {
    const wanted = knownNumbers.get(values) ?? drained(numbersOf(values));
    lookUpNumbers(numbers, wanted, out);
    return maskNulls(out, column.valid);
  }
  const read = reader(column);
  for (let i = 0; i < length; i++) {
    const value = read(i) ?? null;
    out[i] = value === null ? UNKNOWN : values.has(value) ? TRUE : FALSE;
  }
  return out;
}

interface NumberTable {
  readonly all: ReadonlySet<number>;
  /** Where all are whole numbers near each other: a bit for each of them, from `least` on. */
  readonly near: {
    readonly least: number;
    readonly span: number;
    readonly bits: Uint8Array;
  } | null;
}

/** Null where the kernels do not take the column or a value. */
function amongTexts(column: BytesColumn, values: ReadonlySet<Value>): Uint8Array | null {
  const kernels = column.dense ? textKernels() : null;
  const parts = Array.from(values, (value) =>
    typeof value === 'string' ? Buffer.from(value) : (value as Uint8Array),
  );
  if (kernels === null || parts.some(({ length }) => length > MOST_PART)) return null;
  const out = new Uint8Array(column.length);
  return kernels.among(column, parts, out) ? out : null;
}

const knownNumbers = new WeakMap<ReadonlySet<Value>, NumberTable>();

/** Bits that a list has at most, and those for each of its numbers: 64 bytes. */
const MOST_BITS = 1 << 22;
const BITS_EACH = 512;

/** Built once per list, because every slice of every batch is looked up in it. */
function* numbersOf(values: ReadonlySet<Value>): Generator<void, NumberTable> {
  const all = new Set<number>();
  let [least, greatest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  let whole = true;
  let count = 0;
  for (const value of values) {
    const number = Number(value);
    if (typeof value === 'number' || Number.isSafeInteger(number)) {
      all.add(number);
      whole &&= Number.isSafeInteger(number);
      least = Math.min(least, number);
      greatest = Math.max(greatest, number);
    }
    if (++count % STEP_KEYS === 0) yield;
  }
  const span = greatest - least + 1;
  let near: NumberTable['near'] = null;
  if (whole && all.size > 0 && span <= Math.min(MOST_BITS, BITS_EACH * all.size)) {
    const bits = new Uint8Array((span + 7) >> 3);
    for (const number of all) setBit(bits, number - least);
    near = { least, span, bits };
  }
  const table = { all, near };
  knownNumbers.set(values, table);
  return table;
}

function lookUpNumbers(numbers: NumberArray, { all, near }: NumberTable, out: Uint8Array): void {
  if (near === null) {
    for (let i = 0; i < out.length; i++) out[i] = all.has(numbers[i] as number) ? TRUE : FALSE;
    return;
  }
  const { least, span, bits } = near;
  for (let i = 0; i < out.length; i++) {
    const at = (numbers[i] as number) - least;
    const place = at | 0;
    out[i] = at >= 0 && at < span && place === at && getBit(bits, place) ? TRUE : FALSE;
  }
}

/** Open addressing over a hash of the bytes. */
interface ByteTable {
  /** The keys, one after the other: key k is `bytes[ends[k - 1] .. ends[k])`, key 0 from 0 on. */
  readonly bytes: Uint8Array;
  readonly ends: Int32Array;
  /** The number of the key in each slot; -1 for an empty slot. */
  readonly slots: Int32Array;
  /** 1 for the sketch of each key, a power of two of them: most texts that are no key have another. */
  readonly sketches: Uint8Array;
}

const knownTables = new WeakMap<ReadonlySet<Value>, ByteTable>();

/** Keys handled between two steps. */
const STEP_KEYS = 8_192;

/** Makes the table of a long list in steps; `isAmong` needs it, and would make it at once. */
export function* prepareAmong(column: Column, values: ReadonlySet<Value>): Generator<void> {
  if (values.size < STEP_KEYS) return;
  if (column.form === 'bytes') {
    if (!knownTables.has(values)) yield* makeTable(values);
  } else if (column.form === 'wide' || column.form === 'number') {
    if (!knownNumbers.has(values)) yield* numbersOf(values);
  }
}

function* makeTable(values: ReadonlySet<Value>): Generator<void, ByteTable> {
  let most = 0;
  // No code unit of UTF-16 has more bytes in UTF-8.
  for (const value of values) most += 3 * (value as string | Uint8Array).length;
  const bytes = Buffer.allocUnsafeSlow(most);
  const ends = new Int32Array(values.size);
  let size = 16;
  while (size < values.size * 4) size *= 2;
  const slots = new Int32Array(size).fill(-1);
  let sketched = LEAST_SKETCHES;
  while (sketched < MOST_SKETCHES && sketched < values.size * SKETCHES_EACH) sketched *= 2;
  const sketches = new Uint8Array(sketched);
  const mask = size - 1;
  let [key, end] = [0, 0];
  for (const value of values) {
    const start = end;
    if (typeof value === 'string') end += bytes.write(value, end);
    else {
      bytes.set(value as Uint8Array, end);
      end += (value as Uint8Array).length;
    }
    let slot = hash(bytes, start, end) & mask;
    while (slots[slot] !== -1) slot = (slot + 1) & mask;
    slots[slot] = key;
    sketches[sketchOf(bytes, start, end) & (sketched - 1)] = 1;
    ends[key++] = end;
    if (key % STEP_KEYS === 0) yield;
  }
  const table = { bytes, ends, slots, sketches };
  knownTables.set(values, table);
  return table;
}

function lookUpBytes(column: BytesColumn, values: ReadonlySet<Value>, out: Uint8Array): void {
  const table = knownTables.get(values) ?? drained(makeTable(values));
  const { bytes, ends: keyEnds, slots, sketches } = table;
  const mask = slots.length - 1;
  const sketched = sketches.length - 1;
  const { data, starts, ends } = column;
  for (let i = 0; i < out.length; i++) {
    const start = starts[i] as number;
    const end = ends[i] as number;
    if (sketches[sketchOf(data, start, end) & sketched] === 0) continue;
    let slot = hash(data, start, end) & mask;
    let result = FALSE;
    for (let k = slots[slot] as number; k !== -1; k = slots[slot] as number) {
      const from = k === 0 ? 0 : (keyEnds[k - 1] as number);
      if (sameBytes(data, start, end, bytes, from, keyEnds[k] as number)) {
        result = TRUE;
        break;
      }
      slot = (slot + 1) & mask;
    }
    out[i] = result;
  }
}

/**
 * Chosen anew by each process, so that no caller can write a list of texts with colliding hashes.
 */
const SEED = Math.floor(systemEnv.random() * 2 ** 32) | 0;

function hash(data: Uint8Array, start: number, end: number): number {
  let h = SEED;
  for (let i = start; i < end; i++) {
    h = Math.imul(h ^ (data[i] as number), 0x9e3779b1);
    h ^= h >>> 15;
  }
  return (h ^ (h >>> 13)) >>> 0;
}

/** Sketches that are told apart: about so many for each key. */
const SKETCHES_EACH = 64;
const LEAST_SKETCHES = 1 << 10;
const MOST_SKETCHES = 1 << 16;

/** A number below MOST_SKETCHES of the length of a text and four of its bytes. */
function sketchOf(data: Uint8Array, start: number, end: number): number {
  const size = end - start;
  if (size === 0) return 0;
  const first = (data[start] as number) | ((data[end - 1] as number) << 8);
  const middle =
    (data[start + (size >> 1)] as number) | ((data[start + (size >> 2)] as number) << 8);
  return Math.imul(size ^ first ^ (middle << 16), 0x9e3779b1) >>> 16;
}

function sameBytes(
  data: Uint8Array,
  start: number,
  end: number,
  keys: Uint8Array,
  from: number,
  to: number,
): boolean {
  if (end - start !== to - from) return false;
  for (let k = start, at = from; k < end; k++, at++) if (data[k] !== keys[at]) return false;
  return true;
}
