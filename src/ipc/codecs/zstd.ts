/**
 * Decodes the Zstandard frames that fill an input, whose content has a known size in all.
 * `decodeZstdInto` does so at once, and `decodeZstdInSteps` lets other work run in between;
 * `maxZstdSize` bounds what an input can hold. The input is untrusted: checksums are verified, and
 * faults such as another size go to the caller's `refuse`. Node's library (node-zstd.ts), if it is
 * there, decodes frames of 1 KiB or more, unless their window is over 128 MiB, or over 8 MiB and
 * larger than their content. The kernels (zstd-short.ts) decode the remaining frames; plain code
 * (zstd-blocks.ts) does so for content over 2 MiB and where WebAssembly cannot run.
 */
import { drained, type WaitingSteps } from '../../steps.ts';
import type { Refuse } from './flatbuffer.ts';
import { type LaterZstdDecoder, nodeZstd, nodeZstdLater, type ZstdDecoder } from './node-zstd.ts';
import { xxh64LowInSteps } from './xxh64.ts';
import { type Block, BlockDecoder } from './zstd-blocks.ts';
import { frameHeader, MAX_WINDOW, numberIn } from './zstd-header.ts';
import { type ZstdKernels, zstdKernels } from './zstd-kernels.ts';
import { BLOCK_BYTES } from './zstd-literals.ts';
import { ShortDecoder } from './zstd-short.ts';

const MAGIC = 0xfd2fb528;

/** No input of `bytes` bytes decodes to more than this: the shortest block has 4 bytes. */
export const maxZstdSize = (bytes: number): number => (bytes / 4) * BLOCK_BYTES;

/** Decodes the frames that fill `input` at once, into memory of just their size. */
export function decodeZstdInto(input: Uint8Array, output: Uint8Array, refuse: Refuse): void {
  const decoders = { ...ownAndNode(), later: null };
  drained(decodeZstdInSteps(input, output.length, refuse, decoders, output));
}

/** The kernels that decode frames of so much content, if any. */
type KernelsFor = (bytes: number) => ZstdKernels | null;

interface Decoders {
  readonly kernels: KernelsFor;
  /** A decoder that is used in place of the one here for frames of `worthBytes` bytes or more. */
  readonly other: ZstdDecoder | null;
  /** Decodes long frames beside the event loop. */
  readonly later: LaterZstdDecoder | null;
  readonly worthBytes: number;
}

/**
 * Decodes the frames that fill `input` in steps: one for each block. Waits for long frames where Node
 * decodes them. `refuse` gets what is wrong.
 * @param size bytes that they must decode to; the caller bounds it
 * @param output of just that size
 */
export function* decodeZstdInSteps(
  input: Uint8Array,
  size: number,
  refuse: Refuse,
  decoders: Decoders = ownAndNode(),
  output: Uint8Array = new Uint8Array(size),
): WaitingSteps<Uint8Array> {
  const { kernels, other, later, worthBytes } = decoders;
  const view = new DataView(input.buffer, input.byteOffset, input.byteLength);
  let at = 0;
  let end = 0;
  while (at < input.length) {
    if (at + 5 > input.length) refuse('its Zstandard frame is cut short');
    const magic = view.getUint32(at, true);
    if (magic >>> 4 === 0x184d2a5) {
      at += 8 + (at + 8 > input.length ? input.length : view.getUint32(at + 4, true));
      continue;
    }
    if (magic !== MAGIC) refuse('it is no Zstandard frame');
    const frame = readFrame(input, at, refuse);
    const start = end;
    if (other === null || frame.end - at < worthBytes || asksForMuch(frame)) {
      const own = kernels(frame.most);
      if (own === null) end = yield* decodeFrame(input, frame, output, start, refuse);
      else {
        end += yield* decodeShortFrame(input, frame, output.subarray(start), own, refuse);
      }
    } else {
      const most = Math.min(frame.most, size - start);
      const bytes = input.subarray(at, frame.end);
      const content =
        later === null || most < LONG_BYTES
          ? other(bytes, most, refuse)
          : ((yield later(bytes, most, refuse)) as Uint8Array);
      if (content.length > size - start) {
        refuse('its Zstandard frame holds more bytes than are declared');
      }
      // Copied: what Node gives may share its memory with other buffers of the process.
      for (let from = 0; from < content.length; from += LONG_BYTES) {
        output.set(content.subarray(from, from + LONG_BYTES), start + from);
        yield;
      }
      end += content.length;
    }
    if (frame.size !== undefined && end - start !== frame.size) {
      refuse(`its Zstandard frame does not hold the ${frame.size} bytes that it says`);
    }
    at = frame.end;
  }
  if (at > input.length) refuse('its Zstandard frame is cut short');
  if (end !== size) refuse(`its Zstandard frame holds ${end} bytes where ${size} are declared`);
  return output;
}

/** Content that takes Node's decoder longer than a step. */
const LONG_BYTES = 1 << 21;

/** Node's decoder takes some 20 microseconds for a frame, however short it is. */
const WORTH_BYTES = 1_024;

const ownAndNode = (): Decoders => ({
  kernels: zstdKernels,
  other: nodeZstd,
  later: nodeZstdLater,
  worthBytes: WORTH_BYTES,
});

/** Windows that Node's decoder may allocate, whatever the content; `MAX_WINDOW` is the largest that it takes. */
const SMALL_WINDOW = 2 ** 23;

/** Node's decoder allocates the window that a frame asks for; the one here needs none. */
const asksForMuch = ({ window, most }: Frame): boolean =>
  window > MAX_WINDOW || (window > SMALL_WINDOW && window > most);

interface Frame {
  /** Where its blocks begin, and where it ends. */
  readonly blocksAt: number;
  readonly end: number;
  /** Bytes of its content, where it says so. */
  readonly size: number | undefined;
  readonly window: number;
  /** The most bytes that its blocks can hold. */
  readonly most: number;
  /** Of its content. */
  readonly checksum: number | undefined;
}

/** The header of a frame, and its extent by the lengths of its blocks. */
function readFrame(input: Uint8Array, start: number, refuse: Refuse): Frame {
  let at = start + 4;
  const take = (bytes: number): number => {
    at += bytes;
    if (at > input.length) refuse('its Zstandard frame is cut short');
    return numberIn(input.subarray(at - bytes, at));
  };
  const asked = frameHeader(refuse);
  let step = asked.next();
  while (step.done !== true) step = asked.next(take(step.value));
  const { size, window, hasChecksum } = step.value;
  const blocksAt = at;
  let most = 0;
  for (let last = false; !last; ) {
    const block = blockAt(input, at, refuse);
    most += block.kind === 2 ? BLOCK_BYTES : block.bytes;
    last = (input[at]! & 1) === 1;
    at = block.to;
  }
  const checksum = hasChecksum ? take(4) : undefined;
  return {
    blocksAt,
    end: at,
    size,
    window,
    most: size ?? most,
    checksum,
  };
}

function blockAt(input: Uint8Array, at: number, refuse: Refuse): Block {
  if (at + 3 > input.length) refuse('its Zstandard frame is cut short');
  const head = input[at]! + input[at + 1]! * 256 + input[at + 2]! * 65_536;
  const [kind, bytes, from] = [(head >> 1) & 3, head >> 3, at + 3];
  if (bytes > BLOCK_BYTES || kind === 3) refuse('its Zstandard frame has an unknown block');
  const to = from + (kind === 1 ? 1 : bytes);
  if (to > input.length) refuse('its Zstandard frame is cut short');
  return { kind, bytes, from, to };
}

/** Returns where the content of the frame ends in `output`. */
function* decodeFrame(
  input: Uint8Array,
  { blocksAt, end, checksum }: Frame,
  output: Uint8Array,
  start: number,
  refuse: Refuse,
): Generator<undefined, number> {
  const decoder = new BlockDecoder(input, output, start, refuse);
  const blocksEnd = end - (checksum === undefined ? 0 : 4);
  for (let at = blocksAt; at < blocksEnd; ) {
    const block = blockAt(input, at, refuse);
    decoder.decode(block);
    at = block.to;
    yield;
  }
  if (checksum !== undefined && (yield* xxh64LowInSteps(output, start, decoder.end)) !== checksum) {
    refuse('the content of its Zstandard frame does not match its checksum');
  }
  return decoder.end;
}

/** Returns how many bytes its content has, which are written to the beginning of `output`. */
function* decodeShortFrame(
  input: Uint8Array,
  { blocksAt, end, most, checksum }: Frame,
  output: Uint8Array,
  kernels: ZstdKernels,
  refuse: Refuse,
): Generator<undefined, number> {
  const decoder = new ShortDecoder(kernels, output.length, refuse);
  const blocksEnd = end - (checksum === undefined ? 0 : 4);
  for (let at = blocksAt; at < blocksEnd; ) {
    const block = blockAt(input, at, refuse);
    decoder.decode(input, block);
    at = block.to;
  }
  output.set(decoder.content());
  if (most > BLOCK_BYTES) yield;
  if (checksum !== undefined && (yield* xxh64LowInSteps(output, 0, decoder.size)) !== checksum) {
    refuse('the content of its Zstandard frame does not match its checksum');
  }
  return decoder.size;
}
