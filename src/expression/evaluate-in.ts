/**
 * Membership in a set of constants: a short list is a few comparisons, a long one a hash look-up;
 * text is looked up by its bytes, without a string a row. It knows columns and sets of values.
 */
import {
  asSafeNumbers,
  type BytesColumn,
  type Column,
  FALSE,
  maskNulls,
  reader,
  TRUE,
  UNKNOWN,
  type Value,
} from './column.ts';
import { compareWithConstant } from './evaluate-compare.ts';

const SHORT_LIST = 4;

/** Null in the list makes "not found" unknown. */
export function isAmong(column: Column, values: ReadonlySet<Value>, hasNull: boolean): Uint8Array {
  const out = found(column, values);
  if (hasNull) for (let i = 0; i < out.length; i++) if (out[i] === FALSE) out[i] = UNKNOWN;
  return out;
}

function found(column: Column, values: ReadonlySet<Value>): Uint8Array {
  const { length } = column;
  if (values.size <= SHORT_LIST && values.size > 0) {
    let out: Uint8Array | null = null;
    for (const value of values) {
      const next = compareWithConstant('=', column, value);
      if (out === null) out = next;
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
    const wanted = numbersOf(values);
    for (let i = 0; i < length; i++) out[i] = wanted.has(numbers[i] as number) ? TRUE : FALSE;
    return maskNulls(out, column.valid);
  }
  const read = reader(column);
  for (let i = 0; i < length; i++) {
    const value = read(i) ?? null;
    out[i] = value === null ? UNKNOWN : values.has(value) ? TRUE : FALSE;
  }
  return out;
}

const knownNumbers = new WeakMap<ReadonlySet<Value>, ReadonlySet<number>>();

/** Made once for a list, which is looked up in for each slice of each batch. */
function numbersOf(values: ReadonlySet<Value>): ReadonlySet<number> {
  const known = knownNumbers.get(values);
  if (known !== undefined) return known;
  const wanted = new Set<number>();
  for (const value of values) {
    const number = Number(value);
    if (typeof value === 'number' || Number.isSafeInteger(number)) wanted.add(number);
  }
  knownNumbers.set(values, wanted);
  return wanted;
}

/** Open addressing over a hash of the bytes. */
interface ByteTable {
  readonly keys: readonly Uint8Array[];
  /** Which key is there; -1 for none. */
  readonly slots: Int32Array;
}

const knownTables = new WeakMap<ReadonlySet<Value>, ByteTable>();

function byteTableOf(values: ReadonlySet<Value>): ByteTable {
  const known = knownTables.get(values);
  if (known !== undefined) return known;
  const keys = [...values].map((value) => Buffer.from(value as string));
  let size = 16;
  while (size < keys.length * 4) size *= 2;
  const slots = new Int32Array(size).fill(-1);
  const mask = size - 1;
  keys.forEach((key, k) => {
    let slot = hash(key, 0, key.length) & mask;
    while (slots[slot] !== -1) slot = (slot + 1) & mask;
    slots[slot] = k;
  });
  const table = { keys, slots };
  knownTables.set(values, table);
  return table;
}

function lookUpBytes(column: BytesColumn, values: ReadonlySet<Value>, out: Uint8Array): void {
  const { keys, slots } = byteTableOf(values);
  const mask = slots.length - 1;
  const { data, starts, ends } = column;
  for (let i = 0; i < out.length; i++) {
    const start = starts[i] as number;
    const end = ends[i] as number;
    let slot = hash(data, start, end) & mask;
    let result = FALSE;
    for (let k = slots[slot] as number; k !== -1; k = slots[slot] as number) {
      if (sameBytes(data, start, end, keys[k] as Uint8Array)) {
        result = TRUE;
        break;
      }
      slot = (slot + 1) & mask;
    }
    out[i] = result;
  }
}

function hash(data: Uint8Array, start: number, end: number): number {
  let h = 0x811c9dc5;
  for (let i = start; i < end; i++) h = Math.imul(h ^ (data[i] as number), 0x01000193);
  return (h ^ (h >>> 15)) >>> 0;
}

function sameBytes(data: Uint8Array, start: number, end: number, key: Uint8Array): boolean {
  if (end - start !== key.length) return false;
  for (let k = 0; k < key.length; k++) if (data[start + k] !== key[k]) return false;
  return true;
}
