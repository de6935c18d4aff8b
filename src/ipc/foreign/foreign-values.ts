/**
 * Validates the values of foreign columns: offsets (`checkOffsets`), UTF-8 (`checkText`), views
 * (`checkViews`), dictionary indices (`checkIndices`) and union rows (`checkUnion`). All but
 * `checkText` are generators of steps, which check nothing until they are run. A value that would
 * make a later reader throw or return wrong rows goes to the caller's `refuse`. The values of null
 * rows are not checked, except offsets and union rows. `isValid` looks up a row in a validity
 * bitmap.
 */

import { isUtf8 } from 'node:buffer';
import { getBit, type Offsets } from '../../arrow/index.ts';
import { isContinuation } from '../../bytes.ts';
import { drained } from '../../steps.ts';
import type { Refuse } from '../codecs/index.ts';

/** The validity bitmap of a column, undefined when no row is null. */
export type Validity = Uint8Array | undefined;

export const isValid = (validity: Validity, row: number): boolean =>
  validity === undefined || getBit(validity, row);

/** Values that are looked at in one step. */
const STEP_VALUES = 1 << 18;

type Steps<Result = void> = Generator<undefined, Result>;

/** Looks at the values from `first` to before `end`, a step at a time. */
function* inSteps(
  first: number,
  end: number,
  look: (from: number, to: number) => void,
): Generator<undefined, void> {
  for (let from = first; from < end; from += STEP_VALUES) {
    if (from > first) yield;
    look(from, Math.min(end, from + STEP_VALUES));
  }
}

/** Offsets ascend from 0 or more to at most `available`. Returns the first and the last. */
export function* checkOffsets(
  offsets: Offsets,
  length: number,
  available: number,
  refuse: Refuse,
): Steps<[begin: number, end: number]> {
  const first = Number(offsets[0]);
  let last = first;
  const words =
    offsets instanceof Int32Array
      ? undefined
      : new Int32Array(offsets.buffer, offsets.byteOffset, (length + 1) * 2);
  yield* inSteps(1, length + 1, (from, to) => {
    last =
      words === undefined
        ? ascending32(offsets as Int32Array, from, to, last, refuse)
        : ascending64(words, from, to, last, refuse);
  });
  if (first < 0 || last > available) {
    refuse(`its offsets lead from ${first} to ${last} in ${available} values`);
  }
  return [first, last];
}

function ascending32(
  offsets: Int32Array,
  from: number,
  to: number,
  before: number,
  refuse: Refuse,
): number {
  let last = before;
  for (let at = from; at < to; at += 1) {
    const next = offsets[at] as number;
    if (next < last) refuse(`its offsets descend at row ${at - 1}`);
    last = next;
  }
  return last;
}

/** By words: bigints would take most of the time. */
function ascending64(
  words: Int32Array,
  from: number,
  to: number,
  before: number,
  refuse: Refuse,
): number {
  let last = before;
  for (let at = from; at < to; at += 1) {
    const next = (words[2 * at + 1] as number) * 2 ** 32 + ((words[2 * at] as number) >>> 0);
    if (next < last) refuse(`its offsets descend at row ${at - 1}`);
    last = next;
  }
  return last;
}

/** Every value that is not null is UTF-8. The offsets were checked before. */
export const checkText = (
  offsets: Offsets,
  length: number,
  values: Uint8Array,
  validity: Validity,
  refuse: Refuse,
): void => drained(checkTextInSteps(offsets, length, values, validity, refuse));

/** The same in steps, unless a single text is long. */
export function* checkTextInSteps(
  offsets: Offsets,
  length: number,
  values: Uint8Array,
  validity: Validity,
  refuse: Refuse,
): Steps {
  if (length === 0) return;
  const whole = values.subarray(Number(offsets[0]), Number(offsets[length]));
  if ((yield* isUtf8InSteps(whole)) && (yield* startsAtCharacters(offsets, length, values))) return;
  // Bytes under nulls may be anything, so look at the values one by one.
  let looked = 0;
  for (let row = 0; row < length; row += 1) {
    const text = values.subarray(Number(offsets[row]), Number(offsets[row + 1]));
    looked += TEXT_BYTES + text.length;
    if (looked > STEP_BYTES) {
      yield;
      looked = 0;
    }
    if (!isUtf8(text) && isValid(validity, row)) refuse(`its text in row ${row} is not UTF-8`);
  }
}

/** Bytes that are looked at in one step, and what looking at a text takes beside its own. */
const STEP_BYTES = 1 << 22;
const TEXT_BYTES = 64;

function* isUtf8InSteps(bytes: Uint8Array): Steps<boolean> {
  for (let from = 0; from < bytes.length; ) {
    if (from > 0) yield;
    let to = Math.min(bytes.length, from + STEP_BYTES);
    // A character is not cut; no sound one is longer than four bytes.
    for (let more = 0; more < 4 && to < bytes.length && isContinuation(bytes[to]); more += 1)
      to += 1;
    if (!isUtf8(bytes.subarray(from, to))) return false;
    from = to;
  }
  return true;
}

function* startsAtCharacters(offsets: Offsets, length: number, values: Uint8Array): Steps<boolean> {
  const end = Number(offsets[length]);
  let isSound = true;
  yield* inSteps(1, length, (from, to) => {
    for (let row = from; isSound && row < to; row += 1) {
      const start = Number(offsets[row]);
      if (start < end && isContinuation(values[start])) isSound = false;
    }
  });
  return isSound;
}

const VIEW_BYTES = 16;
const INLINE_BYTES = 12;

/** Every view that is not null lies within a data buffer; with `text`, it is UTF-8. */
export function* checkViews(
  views: Uint8Array,
  length: number,
  buffers: readonly Uint8Array[],
  validity: Validity,
  text: boolean,
  refuse: Refuse,
): Steps {
  const words = new DataView(views.buffer, views.byteOffset, views.byteLength);
  const sound: boolean[] = [];
  if (text) for (const buffer of buffers) sound.push(yield* isUtf8InSteps(buffer));
  // Views may overlap; what is looked at more than a few times over is looked at in vain.
  let allowance = 4 * buffers.reduce((bytes, buffer) => bytes + buffer.length, 0) + 4_096;
  let looked = 0;
  for (let row = 0; row < length; row += 1) {
    looked += TEXT_BYTES;
    if (looked > STEP_BYTES) {
      yield;
      looked = 0;
    }
    if (!isValid(validity, row)) continue;
    const at = row * VIEW_BYTES;
    const size = words.getInt32(at, true);
    if (size < 0) refuse(`its view in row ${row} has ${size} bytes`);
    if (size <= INLINE_BYTES) {
      if (text && !isInlineText(words, at, size, views)) refuseText(row, refuse);
      continue;
    }
    const index = words.getInt32(at + 8, true);
    const start = words.getInt32(at + 12, true);
    const buffer = buffers[index];
    if (buffer === undefined || start < 0 || start + size > buffer.length) {
      refuse(`its view in row ${row} lies outside of its data buffers`);
      continue;
    }
    for (let each = 0; each < 4; each += 1) {
      if (views[at + 4 + each] !== buffer[start + each]) {
        refuse(`its view in row ${row} has a prefix that its value does not have`);
      }
    }
    if (!text) continue;
    if (sound[index] === true) {
      if (isContinuation(buffer[start]) || isContinuation(buffer[start + size])) {
        refuseText(row, refuse);
      }
    } else {
      allowance -= size;
      looked += size;
      if (allowance < 0) refuse('its data buffers are not UTF-8');
      if (!isUtf8(buffer.subarray(start, start + size))) refuseText(row, refuse);
    }
  }
}

const refuseText = (row: number, refuse: Refuse): never =>
  refuse(`its text in row ${row} is not UTF-8`);

function isInlineText(words: DataView, at: number, size: number, views: Uint8Array): boolean {
  const all =
    words.getInt32(at + 4, true) | words.getInt32(at + 8, true) | words.getInt32(at + 12, true);
  return (all & 0x80808080) === 0 || isUtf8(views.subarray(at + 4, at + 4 + size));
}

export type Indices =
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array;

/** Every index that is not null is that of one of `known` dictionary values. */
export const checkIndices = (
  indices: Indices,
  length: number,
  known: number,
  validity: Validity,
  refuse: Refuse,
): Steps =>
  inSteps(0, length, (from, to) => {
    for (let row = from; row < to; row += 1) {
      const index = indices[row] as number | bigint;
      if ((index < 0 || index >= known) && isValid(validity, row)) {
        refuse(`row ${row} has index ${index} into a dictionary of ${known} values`);
      }
    }
  });

/**
 * Every type id is one of `known`, and every row lies within its child.
 * @param offsets of a dense union; rows of a sparse one lie where the row does
 */
export function checkUnion(
  typeIds: Int8Array,
  offsets: Int32Array | undefined,
  known: Int32Array,
  childLengths: readonly number[],
  refuse: Refuse,
): Steps {
  const limits = new Float64Array(128).fill(-1);
  for (const [at, id] of known.entries()) limits[id] = childLengths[at] as number;
  return inSteps(0, typeIds.length, (from, to) => {
    for (let row = from; row < to; row += 1) {
      const limit = limits[typeIds[row] as number] ?? -1;
      if (limit < 0) refuse(`row ${row} has the unknown type id ${typeIds[row]}`);
      const at = offsets === undefined ? row : (offsets[row] as number);
      if (at < 0 || at >= limit) refuse(`row ${row} lies outside of its union's child`);
    }
  });
}
