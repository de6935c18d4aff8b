/**
 * Decodes LZ4. `decodeLz4InSteps` decodes one frame of a known content size in steps, and verifies
 * the checksums that the frame has. `decodeLz4Block` decodes one block that has no frame into a
 * buffer of the caller, and returns the number of bytes written. `maxLz4Size` bounds what an input
 * can hold. The input is untrusted: it cannot write past the size or the buffer, and faults go to
 * the caller's `refuse`. `copyMatch` repeats earlier output, also for Zstandard, and `xxh32` is
 * LZ4's checksum.
 */
import { drained } from '../../steps.ts';
import type { Refuse } from './flatbuffer.ts';

const MAGIC = 0x184d2204;
const STORED = 0x80000000;
const MIN_MATCH = 4;

/** No input of `bytes` bytes decodes to more than this: a match adds 255 bytes per byte. */
export const maxLz4Size = (bytes: number): number => bytes * 255;

/**
 * Decodes one frame that fills `input`, in steps: one for each block, and for each megabyte that is
 * summed. `refuse` gets what is wrong.
 * @param size bytes that the frame must decode to; the caller bounds it
 */
export function* decodeLz4InSteps(
  input: Uint8Array,
  size: number,
  refuse: Refuse,
): Generator<undefined, Uint8Array> {
  const view = new DataView(input.buffer, input.byteOffset, input.byteLength);
  if (input.length < 7 || view.getUint32(0, true) !== MAGIC) refuse('it is no LZ4 frame');
  const flags = input[4] as number;
  const sizes = input[5] as number;
  if (flags >> 6 !== 1 || (flags & 2) !== 0 || (sizes & 0x8f) !== 0 || sizes >> 4 < 4) {
    refuse('its LZ4 frame has an unknown header');
  }
  if ((flags & 1) !== 0) refuse('its LZ4 frame needs a dictionary');
  const independent = (flags & 0x20) !== 0;
  const blockChecksums = (flags & 0x10) !== 0;
  const hasSize = (flags & 8) !== 0;
  const blockSize = 1 << (8 + 2 * (sizes >> 4));
  let at = hasSize ? 14 : 6;
  if (at >= input.length) refuse('its LZ4 frame is cut short');
  if (hasSize && view.getBigUint64(6, true) !== BigInt(size)) {
    refuse(`its LZ4 frame holds ${view.getBigUint64(6, true)} bytes where ${size} are declared`);
  }
  if (((xxh32(input, 4, at) >>> 8) & 0xff) !== input[at]) {
    refuse('the header of its LZ4 frame does not match its checksum');
  }
  at += 1;
  const output = new Uint8Array(size);
  let end = 0;
  const uint32 = (): number => {
    if (at + 4 > input.length) refuse('its LZ4 frame is cut short');
    at += 4;
    return view.getUint32(at - 4, true);
  };
  for (;;) {
    const word = uint32();
    if (word === 0) break;
    const bytes = word & ~STORED;
    if (bytes > blockSize) refuse('a block of its LZ4 frame is larger than the frame allows');
    if (at + bytes > input.length) refuse('its LZ4 frame is cut short');
    const limit = Math.min(size, end + blockSize);
    if (word >= STORED) {
      if (end + bytes > limit) refuse(`its LZ4 frame holds more than ${size} bytes`);
      output.set(input.subarray(at, at + bytes), end);
      end += bytes;
    } else {
      const from = independent ? end : 0;
      end = decodeBlock(input, at, at + bytes, output, from, end, limit, refuse);
    }
    const start = at;
    at += bytes;
    if (blockChecksums && uint32() !== xxh32(input, start, start + bytes)) {
      refuse('a block of its LZ4 frame does not match its checksum');
    }
    yield;
  }
  if (end !== size) refuse(`its LZ4 frame holds ${end} bytes where ${size} are declared`);
  if ((flags & 4) !== 0 && uint32() !== (yield* xxh32InSteps(output, 0, size))) {
    refuse('its LZ4 frame does not match its checksum');
  }
  if (at !== input.length) refuse('bytes follow its LZ4 frame');
  return output;
}

/** Decodes a block without a frame around it; answers how many bytes it filled. */
export const decodeLz4Block = (input: Uint8Array, output: Uint8Array, refuse: Refuse): number =>
  input.length === 0 ? 0 : decodeBlock(input, 0, input.length, output, 0, 0, output.length, refuse);

/** Decodes one block; matches may reach back to `oldest`, output ends before `limit`. */
function decodeBlock(
  input: Uint8Array,
  from: number,
  to: number,
  output: Uint8Array,
  oldest: number,
  start: number,
  limit: number,
  refuse: Refuse,
): number {
  let at = from;
  let end = start;
  for (;;) {
    if (at >= to) refuse('a block of its LZ4 frame is cut short');
    const token = input[at] as number;
    at += 1;
    let literals = token >> 4;
    if (literals === 15) {
      let more = 255;
      while (more === 255) {
        if (at >= to) refuse('a block of its LZ4 frame is cut short');
        more = input[at] as number;
        at += 1;
        literals += more;
      }
    }
    if (at + literals > to || end + literals > limit) {
      refuse('a block of its LZ4 frame leads out of its bounds');
    }
    if (literals > 32) output.set(input.subarray(at, at + literals), end);
    else for (let each = 0; each < literals; each += 1) output[end + each] = input[at + each]!;
    at += literals;
    end += literals;
    // The last sequence of a block has no match.
    if (at === to) return end;
    if (at + 2 > to) refuse('a block of its LZ4 frame is cut short');
    const distance = (input[at] as number) | ((input[at + 1] as number) << 8);
    at += 2;
    let length = (token & 15) + MIN_MATCH;
    if ((token & 15) === 15) {
      let more = 255;
      while (more === 255) {
        if (at >= to) refuse('a block of its LZ4 frame is cut short');
        more = input[at] as number;
        at += 1;
        length += more;
      }
    }
    if (distance === 0 || end - distance < oldest || end + length > limit) {
      refuse('a match in its LZ4 frame leads out of its bounds');
    }
    copyMatch(output, end, distance, length);
    end += length;
  }
}

/** Repeats what lies `distance` bytes before `end`, which may overlap what is written. */
export function copyMatch(output: Uint8Array, end: number, distance: number, length: number): void {
  if (length <= 32) {
    for (let each = end; each < end + length; each += 1) output[each] = output[each - distance]!;
    return;
  }
  // The run that may be copied at once doubles with each copy of an overlapping match.
  let done = Math.min(distance, length);
  output.copyWithin(end, end - distance, end - distance + done);
  while (done < length) {
    const run = Math.min(done, length - done);
    output.copyWithin(end + done, end, end + run);
    done += run;
  }
}

const PRIME_1 = 0x9e3779b1;
const PRIME_2 = 0x85ebca77;
const PRIME_3 = 0xc2b2ae3d;
const PRIME_4 = 0x27d4eb2f;
const PRIME_5 = 0x165667b1;

const rotate = (word: number, bits: number): number => (word << bits) | (word >>> (32 - bits));

/** The 32-bit xxHash, seed 0, of the bytes from `from` to `to`. */
export const xxh32 = (bytes: Uint8Array, from: number, to: number): number =>
  drained(xxh32InSteps(bytes, from, to));

/** Bytes that are summed between two steps. */
const STEP_BYTES = 1 << 20;

function* xxh32InSteps(bytes: Uint8Array, from: number, to: number): Generator<undefined, number> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const round = (lane: number, at: number): number =>
    Math.imul(rotate((lane + Math.imul(view.getUint32(at, true), PRIME_2)) | 0, 13), PRIME_1);
  let at = from;
  let hash = PRIME_5;
  if (to - from >= 16) {
    let a = (PRIME_1 + PRIME_2) | 0;
    let b = PRIME_2 | 0;
    let c = 0;
    let d = -PRIME_1 | 0;
    while (at + 16 <= to) {
      const stop = Math.min(to, at + STEP_BYTES);
      for (; at + 16 <= stop; at += 16) {
        a = round(a, at);
        b = round(b, at + 4);
        c = round(c, at + 8);
        d = round(d, at + 12);
      }
      yield;
    }
    hash = (rotate(a, 1) + rotate(b, 7) + rotate(c, 12) + rotate(d, 18)) | 0;
  }
  hash = (hash + (to - from)) | 0;
  for (; at + 4 <= to; at += 4) {
    hash = (hash + Math.imul(view.getUint32(at, true), PRIME_3)) | 0;
    hash = Math.imul(rotate(hash, 17), PRIME_4);
  }
  for (; at < to; at += 1) {
    hash = (hash + Math.imul(bytes[at] as number, PRIME_5)) | 0;
    hash = Math.imul(rotate(hash, 11), PRIME_1);
  }
  hash = Math.imul(hash ^ (hash >>> 15), PRIME_2);
  hash = Math.imul(hash ^ (hash >>> 13), PRIME_3);
  return (hash ^ (hash >>> 16)) >>> 0;
}
