/** Decoders of the engine that work in steps, run at once. */
import type { Refuse } from '../../src/ipc/codecs/flatbuffer.ts';
import { decodeLz4InSteps } from '../../src/ipc/codecs/lz4.ts';
import { nodeZstd } from '../../src/ipc/codecs/node-zstd.ts';
import { xxh64LowInSteps } from '../../src/ipc/codecs/xxh64.ts';
import { decodeZstdInSteps } from '../../src/ipc/codecs/zstd.ts';
import { drained } from '../../src/steps.ts';

export const xxh64Low = (bytes: Uint8Array, from: number, to: number): number =>
  drained(xxh64LowInSteps(bytes, from, to));

export const decodeLz4Frame = (input: Uint8Array, size: number, refuse: Refuse): Uint8Array =>
  drained(decodeLz4InSteps(input, size, refuse));

type Decoders = NonNullable<Parameters<typeof decodeZstdInSteps>[3]>;

/**
 * @param other decodes frames of `worthBytes` bytes or more in place of the engine's own decoder
 * @param kernels those for frames of so much content; none if absent
 */
export function decodeZstd(
  input: Uint8Array,
  size: number,
  refuse: Refuse,
  other: Decoders['other'] = nodeZstd,
  worthBytes = 1_024,
  kernels: Decoders['kernels'] = () => null,
): Uint8Array {
  const decoders = { kernels, other, later: null, worthBytes };
  const steps = decodeZstdInSteps(input, size, refuse, decoders);
  return drained(steps as Generator<undefined, Uint8Array>);
}
