/**
 * Decodes and encodes Snappy, the usual compression of Parquet files. `snappyInSteps` decodes a
 * block of a known size; it is a generator that pauses every 2 MiB. Its input is untrusted: a copy
 * or length that leads out of bounds goes to the caller's `refuse`. `encodeSnappy` encodes a block.
 */
import type { Refuse } from './thrift.ts';

/** Bytes of content between two steps. */
const STEP_BYTES = 1 << 21;

/** @param size bytes that the content must have; the caller bounds it */
export function* snappyInSteps(
  input: Uint8Array,
  size: number,
  refuse: Refuse,
): Generator<undefined, Uint8Array> {
  let at = 0;
  let declared = 0;
  for (let shift = 0; ; shift += 7) {
    const byte = input[at++];
    if (byte === undefined || shift > 28) return refuse('a page is no Snappy block');
    declared += (byte & 127) * 2 ** shift;
    if (byte < 128) break;
  }
  if (declared !== size) refuse(`a page has ${declared} bytes, and its header says ${size}`);
  // The longest copy of 64 bytes takes two bytes and more.
  if (size > 32 * input.length) refuse('a page says that it is larger than it can be');
  const output = new Uint8Array(size);
  const end = input.length;
  let into = 0;
  let pause = STEP_BYTES;
  while (at < end) {
    if (into >= pause) {
      pause = into + STEP_BYTES;
      yield;
    }
    const tag = input[at++] as number;
    if ((tag & 3) === 0) {
      let length = tag >> 2;
      if (length >= 60) {
        const bytes = length - 59;
        if (at + bytes > end) refuse('a page of Snappy is cut short');
        length = 0;
        for (let each = 0; each < bytes; each++)
          length += (input[at + each] as number) * 256 ** each;
        at += bytes;
      }
      length++;
      if (at + length > end || into + length > size)
        refuse('a page of Snappy leads out of its bounds');
      if (length < 24) {
        for (let each = 0; each < length; each++) output[into + each] = input[at + each] as number;
      } else output.set(input.subarray(at, at + length), into);
      at += length;
      into += length;
      continue;
    }
    let length: number;
    let distance: number;
    if ((tag & 3) === 1) {
      length = 4 + ((tag >> 2) & 7);
      distance = ((tag >> 5) << 8) | (input[at] as number);
      at += 1;
    } else {
      length = 1 + (tag >> 2);
      distance = (input[at] as number) | ((input[at + 1] as number) << 8);
      if ((tag & 3) === 3) {
        distance += (input[at + 2] as number) * 65_536 + (input[at + 3] as number) * 16_777_216;
        at += 4;
      } else at += 2;
    }
    if (at > end || distance === 0 || distance > into || into + length > size) {
      refuse('a copy in a page of Snappy leads out of its bounds');
    }
    if (distance >= length && length >= 24)
      output.copyWithin(into, into - distance, into - distance + length);
    else
      for (let each = 0; each < length; each++)
        output[into + each] = output[into + each - distance] as number;
    into += length;
  }
  if (into !== size) refuse(`a page has ${into} bytes, and its header says ${size}`);
  return output;
}

const HASH_BITS = 14;
const MULTIPLIER = 0x1e35a7bd;
/** Blocks are compressed for themselves, so that distances have two bytes. */
const BLOCK_BYTES = 65_536;
/** Positions of the block, by the hash of the four bytes there; one for all calls. */
const table = new Uint16Array(1 << HASH_BITS);

/** A block of the content, in memory of its own. */
export function encodeSnappy(content: Uint8Array): Uint8Array {
  const size = content.length;
  const output = new Uint8Array(32 + size + Math.ceil(size / 6));
  let into = 0;
  let rest = size;
  while (rest >= 128) {
    output[into++] = (rest & 127) | 128;
    rest = Math.floor(rest / 128);
  }
  output[into++] = rest;
  for (let from = 0; from < size; from += BLOCK_BYTES) {
    into = encodeBlock(content, from, Math.min(size, from + BLOCK_BYTES), output, into);
  }
  return output.slice(0, into);
}

const wordAt = (bytes: Uint8Array, at: number): number =>
  (bytes[at] as number) |
  ((bytes[at + 1] as number) << 8) |
  ((bytes[at + 2] as number) << 16) |
  ((bytes[at + 3] as number) << 24);

function encodeBlock(
  input: Uint8Array,
  from: number,
  to: number,
  output: Uint8Array,
  start: number,
): number {
  let into = start;
  let literals = from;
  if (to - from >= 16) {
    table.fill(0);
    const limit = to - 8;
    let at = from + 1;
    let misses = 32;
    while (at < limit) {
      const word = wordAt(input, at);
      const hash = Math.imul(word, MULTIPLIER) >>> (32 - HASH_BITS);
      const candidate = from + (table[hash] as number);
      table[hash] = at - from;
      if (candidate >= at || wordAt(input, candidate) !== word) {
        // What does not compress is passed over faster and faster.
        at += misses++ >> 5;
        continue;
      }
      misses = 32;
      into = putLiterals(input, literals, at, output, into);
      let end = at + 4;
      let other = candidate + 4;
      while (end < to && input[end] === input[other]) {
        end++;
        other++;
      }
      into = putCopy(output, into, at - candidate, end - at);
      at = end;
      literals = end;
      if (at < limit)
        table[Math.imul(wordAt(input, at - 1), MULTIPLIER) >>> (32 - HASH_BITS)] = at - 1 - from;
    }
  }
  return putLiterals(input, literals, to, output, into);
}

function putLiterals(
  input: Uint8Array,
  from: number,
  to: number,
  output: Uint8Array,
  start: number,
): number {
  const length = to - from;
  if (length === 0) return start;
  let into = start;
  const less = length - 1;
  if (less < 60) output[into++] = less << 2;
  else if (less < 256) {
    output[into++] = 60 << 2;
    output[into++] = less;
  } else {
    output[into++] = 61 << 2;
    output[into++] = less & 255;
    output[into++] = less >> 8;
  }
  if (length < 24) for (let each = from; each < to; each++) output[into++] = input[each] as number;
  else {
    output.set(input.subarray(from, to), into);
    into += length;
  }
  return into;
}

function putCopy(output: Uint8Array, start: number, distance: number, whole: number): number {
  let into = start;
  let length = whole;
  const put = (part: number): void => {
    output[into++] = ((part - 1) << 2) | 2;
    output[into++] = distance & 255;
    output[into++] = distance >> 8;
  };
  // No copy is shorter than four bytes.
  for (; length >= 68; length -= 64) put(64);
  if (length > 64) {
    put(60);
    length -= 60;
  }
  put(length);
  return into;
}
