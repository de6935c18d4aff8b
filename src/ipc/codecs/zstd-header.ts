/**
 * `frameHeader` reads the header of a Zstandard frame after its magic number, for the decoders of
 * whole inputs and of streams. It is a generator: it yields how many bytes it needs next, and the
 * caller resumes it with these bytes as one little-endian number (`numberIn`). An unknown header,
 * or a frame that needs a dictionary, goes to the caller's `refuse`. Callers compare the window
 * with `MAX_WINDOW`.
 */
import type { Refuse } from './flatbuffer.ts';

export interface FrameHeader {
  /** Of the content, where the frame says so. */
  readonly size: number | undefined;
  /** Bytes before a place that a match may refer to. */
  readonly window: number;
  readonly hasChecksum: boolean;
}

/** The largest window: as the command line of Zstandard, which refuses more unless it is told. */
export const MAX_WINDOW: number = 2 ** 27;

/** Yields how many bytes come next. */
export function* frameHeader(refuse: Refuse): Generator<number, FrameHeader, number> {
  const flags = yield 1;
  const isSingle = (flags & 0x20) !== 0;
  if ((flags & 8) !== 0) refuse('its Zstandard frame has an unknown header');
  const code = isSingle ? 0 : yield 1;
  if ((yield [0, 1, 2, 4][flags & 3] as number) !== 0) {
    refuse('its Zstandard frame needs a dictionary');
  }
  const width = [isSingle ? 1 : 0, 2, 4, 8][flags >> 6] as number;
  const declared = (yield width) + (width === 2 ? 256 : 0);
  return {
    size: width > 0 ? declared : undefined,
    window: isSingle ? declared : 2 ** (10 + (code >> 3)) * (1 + (code & 7) / 8),
    hasChecksum: (flags & 4) !== 0,
  };
}

/** A little-endian number. */
export function numberIn(bytes: Uint8Array): number {
  let value = 0;
  for (let at = bytes.length - 1; at >= 0; at--) value = value * 256 + (bytes[at] as number);
  return value;
}
