/**
 * `bodyBuffers` cuts the buffers out of the body of another program's Arrow message, and
 * decompresses them if the message is compressed. It checks bounds before it reads bytes, and sizes
 * before it allocates memory. A message that decompresses to more than `maxBytes` throws
 * PayloadTooLarge. Other faults go to the caller's `refuse`.
 */

import { NO_BYTES } from '../../arrow/index.ts';
import { atWords } from '../../bytes.ts';
import type { WaitingSteps } from '../../steps.ts';
import {
  decodeLz4InSteps,
  decodeZstdInSteps,
  maxLz4Size,
  maxZstdSize,
  type Refuse,
} from '../codecs/index.ts';
import { type BatchHeader, type Codec, tooLarge } from './foreign-messages.ts';

const PREFIX_BYTES = 8;
/** The size before a compressed buffer that is stored as it is. */
const STORED = -1n;

const CODECS: Readonly<
  Record<
    Codec,
    {
      readonly decode: (
        input: Uint8Array,
        size: number,
        refuse: Refuse,
      ) => WaitingSteps<Uint8Array>;
      /** The most that an input of so many bytes can hold. */
      readonly most: (bytes: number) => number;
    }
  >
> = {
  lz4: { decode: decodeLz4InSteps, most: maxLz4Size },
  zstd: { decode: decodeZstdInSteps, most: maxZstdSize },
};

/**
 * The buffers in the order of the header, each beginning at a multiple of 8 in memory. They share
 * the memory of `body` where they can.
 * @param maxBytes of all buffers after decompression
 * @param make is told how many bytes are about to be made, and may refuse them
 */
export function* bodyBuffers(
  header: BatchHeader,
  body: Uint8Array,
  maxBytes: number,
  refuse: Refuse,
  make: (bytes: number) => void = () => {},
): WaitingSteps<Uint8Array[]> {
  const { codec } = header;
  const parts = cutBody(header.buffers, body, refuse);
  if (codec === undefined) return parts.map(atWords);
  const sizes = parts.map((part, at) => declaredSize(part, at, codec, refuse));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  if (total > maxBytes) {
    throw tooLarge(
      `a message of ${body.length} bytes holds ${total} bytes decompressed, more than the ${maxBytes} allowed`,
    );
  }
  make(total);
  const buffers: Uint8Array[] = [];
  for (const [at, part] of parts.entries()) {
    const held = part.subarray(PREFIX_BYTES);
    const size = sizes[at] as number;
    if (isStored(part)) buffers.push(atWords(held));
    else if (held.length === 0) buffers.push(NO_BYTES);
    else {
      const { decode } = CODECS[codec];
      buffers.push(yield* decode(held, size, (problem) => refuse(`buffer ${at}: ${problem}`)));
    }
  }
  return buffers;
}

/** Buffers lie within the body and, taken together, are no longer than it. */
function cutBody(buffers: readonly number[], body: Uint8Array, refuse: Refuse): Uint8Array[] {
  const parts: Uint8Array[] = [];
  let total = 0;
  for (let at = 0; at < buffers.length; at += 2) {
    const offset = buffers[at] as number;
    const bytes = buffers[at + 1] as number;
    total += bytes;
    if (offset < 0 || bytes < 0 || offset + bytes > body.length) {
      refuse(`buffer ${at / 2} lies outside of the body of ${body.length} bytes`);
    }
    parts.push(body.subarray(offset, offset + bytes));
  }
  if (total > body.length) refuse('its buffers overlap');
  return parts;
}

const isStored = (part: Uint8Array): boolean => part.length > 0 && prefixOf(part) === STORED;

const prefixOf = (part: Uint8Array): bigint =>
  new DataView(part.buffer, part.byteOffset, part.byteLength).getBigInt64(0, true);

function declaredSize(part: Uint8Array, at: number, codec: Codec, refuse: Refuse): number {
  if (part.length === 0) return 0;
  if (part.length < PREFIX_BYTES) refuse(`buffer ${at} lacks its decompressed size`);
  const prefix = prefixOf(part);
  const held = part.length - PREFIX_BYTES;
  if (prefix === STORED) return held;
  const size = Number(prefix);
  if (!(size >= 0 && size <= CODECS[codec].most(held))) {
    refuse(`buffer ${at} says that its ${held} bytes hold ${prefix} decompressed, which cannot be`);
  }
  return size;
}
