/**
 * Describes how each buffer of a compressed batch is stored (`BufferForm`): with no bytes if it is
 * empty, as plain bytes, or as Zstandard frames of up to 64 KiB of content each (`isCompressed`),
 * so that a reader can fetch single frames. A fragment's layout has these descriptions
 * (`encodeForm`, `decodeForm`); `decodeForm` returns undefined for one that cannot be true of the
 * stored bytes. `decodedBuffers` decodes the buffers of a column in steps, into memory that its
 * caller gives (`decodedBytes`). If none of them is compressed, they stay views of the column.
 * Damage throws the error that the caller's `fail` makes. compress-columns.ts makes the buffers.
 */
import { NO_BYTES } from '../../arrow/index.ts';
import { aligned, decodeFrame, FRAME_BYTES, FRAME_OVERHEAD } from '../../ipc/index.ts';
import { isWholeNumber } from '../../json.ts';
import { narrowOffsets, OFFSETS_BUFFER } from './wide-offsets.ts';

/** Before each buffer of a compressed batch stands its size before compression, or -1. */
export const PREFIX_BYTES = 8;
const STORED_PREFIX = -1n;

/** Zstandard frames, of which each but the last holds FRAME_BYTES. */
export interface FramesForm {
  /** Of the content. */
  readonly bytes: number;
  /** How many bytes each frame takes. */
  readonly frames: readonly number[];
  /** Whether it holds 64-bit offsets, of which the first one stands before the frames (`offsetsLead`). */
  readonly isOffsets: boolean;
}

/** Bytes of the content before the frames: the first offset, which is 0. */
export const leadContent = ({ isOffsets }: FramesForm): number => (isOffsets ? OFFSET_BYTES : 0);
/** Bytes between the prefix and the frames. */
export const leadBytes = ({ isOffsets }: FramesForm): number => (isOffsets ? LEAD.length : 0);

export const OFFSET_BYTES = 8;

/**
 * A frame of eight zeros, the first offset, and a frame that readers skip, which holds how many bytes of
 * offsets follow it. Arrow's readers find all offsets behind the prefix. Lance has no first
 * offset: it finds the others behind their number, as if the buffer began there.
 */
const LEAD = Uint8Array.of(
  ...[0x28, 0xb5, 0x2f, 0xfd, 0x20, OFFSET_BYTES, 0x43, 0, 0, 0],
  ...[0x50, 0x2a, 0x4d, 0x18, OFFSET_BYTES, 0, 0, 0],
  ...[0, 0, 0, 0, 0, 0, 0, 0],
);
/** Where a buffer of offsets begins for readers that want none for the first one. */
export const SHORTER_FROM: number = PREFIX_BYTES + LEAD.length - OFFSET_BYTES;

/** What stands before the frames of so many bytes of offsets, the first one among them. */
export function offsetsLead(bytes: number): Uint8Array {
  const lead = LEAD.slice();
  const view = new DataView(lead.buffer);
  view.setBigInt64(LEAD.length - OFFSET_BYTES, BigInt(bytes - OFFSET_BYTES), true);
  return lead;
}

/** How a buffer is stored: not at all, as it is, or compressed. */
export type BufferForm = 'empty' | 'plain' | FramesForm;

/** Form of JSON: 0, -1, or the bytes of the content, negative of offsets, and of each frame. */
export function encodeForm(form: BufferForm): unknown {
  if (form === 'empty') return 0;
  if (form === 'plain') return -1;
  return [form.isOffsets ? -form.bytes : form.bytes, ...form.frames];
}

/**
 * The inverse for a buffer of so many bytes; undefined where it cannot be. What it says can be allocated:
 * no frame is shorter than a few bytes, nor holds more than FRAME_BYTES.
 */
export function decodeForm(value: unknown, stored: number): BufferForm | undefined {
  if (value === 0) return stored === 0 ? 'empty' : undefined;
  if (value === -1) return stored >= PREFIX_BYTES ? 'plain' : undefined;
  if (!Array.isArray(value)) return undefined;
  const [size, ...frames] = value as readonly unknown[];
  const isOffsets = typeof size === 'number' && size < 0;
  const bytes = isOffsets ? -size : size;
  if (!isWholeNumber(bytes)) return undefined;
  if (isOffsets && bytes % OFFSET_BYTES !== 0) return undefined;
  const framed = bytes - (isOffsets ? OFFSET_BYTES : 0);
  if (framed === 0 || frames.length !== frameCount(framed)) return undefined;
  let sum = PREFIX_BYTES + (isOffsets ? LEAD.length : 0);
  for (const frame of frames) {
    if (!isWholeNumber(frame) || frame < LEAST_FRAME || frame > MOST_FRAME) return undefined;
    sum += frame;
  }
  if (sum !== stored) return undefined;
  return { bytes, frames: frames as readonly number[], isOffsets };
}

/** A magic number, a descriptor, the size of the content, and the head of a block. */
const LEAST_FRAME = 9;
/** Encoders of others may add some bytes more. */
const MOST_FRAME = FRAME_BYTES + FRAME_OVERHEAD + 64;

export const frameCount = (bytes: number): number => Math.ceil(bytes / FRAME_BYTES);

/** Bytes of the content of a buffer that takes so many. */
export const contentBytes = (form: BufferForm, stored: number): number =>
  form === 'empty' ? 0 : form === 'plain' ? stored - PREFIX_BYTES : form.bytes;

export const isCompressed = (form: BufferForm): form is FramesForm => typeof form === 'object';

/** Buffers of a column, and where they lie. */
export interface StoredBuffers {
  /** Bytes of each buffer; each begins at the next multiple of 64 after the one before. */
  readonly buffers: readonly number[];
  /** Undefined where buffers have no prefix. */
  readonly forms: readonly BufferForm[] | undefined;
  /** Whether its offsets take twice the bytes of those of its type. */
  readonly isWide: boolean;
}

/** The memory that `decodedBuffers` asks for: 0 where nothing of the column is compressed. */
export function decodedBytes({ buffers, forms, isWide }: StoredBuffers): number {
  if (forms?.some(isCompressed) !== true) return 0;
  let bytes = 0;
  for (const [at, form] of forms.entries()) {
    const content = contentBytes(form, buffers[at] ?? 0);
    bytes += aligned(isWide && at === OFFSETS_BUFFER ? content / 2 : content);
  }
  return bytes;
}

/** Gives memory of at least so many bytes, at an address that is a multiple of 8. */
export type Room = (bytes: number) => Uint8Array;
export const newRoom: Room = (bytes) => new Uint8Array(bytes);

/**
 * The content of each buffer, in steps, offsets in the width of their type. Where one is compressed
 * all are decoded or copied into memory of `room`; where none is they are views of the column, save
 * wide offsets, which are narrowed into new memory.
 * @param column all of its bytes, at an address that is a multiple of 8
 * @param fail makes the error to throw out of what is wrong
 */
export function* decodedBuffers(
  stored: StoredBuffers & { readonly forms: readonly BufferForm[] },
  column: Uint8Array,
  room: Room,
  fail: (what: string) => Error,
): Generator<undefined, Uint8Array[]> {
  const total = decodedBytes(stored);
  const memory = total === 0 ? undefined : room(total);
  const decoded: Uint8Array[] = [];
  let from = 0;
  let to = 0;
  for (const [at, form] of stored.forms.entries()) {
    const bytes = stored.buffers[at] as number;
    const part = column.subarray(from, from + bytes);
    from += aligned(bytes);
    if (form === 'empty') {
      decoded.push(NO_BYTES);
      continue;
    }
    checkPrefix(part, form, fail);
    const isWide = stored.isWide && at === OFFSETS_BUFFER;
    const size = contentBytes(form, bytes) / (isWide ? 2 : 1);
    const content = memory?.subarray(to, to + size) ?? (isWide ? new Uint8Array(size) : undefined);
    to += aligned(size);
    if (content === undefined) decoded.push(part.subarray(PREFIX_BYTES));
    else {
      decoded.push(content);
      const given = part.subarray(PREFIX_BYTES);
      if (form !== 'plain') yield* decodeFrames(form, given, content, isWide, fail);
      else if (isWide) narrow(given, content, fail);
      else content.set(given);
    }
  }
  return decoded;
}

/** Both at addresses that are multiples of 8. */
function narrow(wide: Uint8Array, into: Uint8Array, fail: (what: string) => Error): void {
  const offsets = new Int32Array(into.buffer, into.byteOffset, wide.length / OFFSET_BYTES);
  if (!narrowOffsets(wide, offsets)) throw fail('an offset has more than 32 bits');
}

function checkPrefix(part: Uint8Array, form: BufferForm, fail: (what: string) => Error): void {
  const view = new DataView(part.buffer, part.byteOffset, PREFIX_BYTES);
  const expected = isCompressed(form) ? BigInt(form.bytes) : STORED_PREFIX;
  if (view.getBigInt64(0, true) !== expected) {
    throw fail('a buffer has another size than its layout says');
  }
}

/** Of the frame that is being decoded, where it does not go to its place as it is. */
let wideFrame: Uint8Array | undefined;

/** @param isWide whether its offsets become 32-bit ones */
function* decodeFrames(
  form: FramesForm,
  bytes: Uint8Array,
  content: Uint8Array,
  isWide: boolean,
  fail: (what: string) => Error,
): Generator<undefined> {
  const { frames, isOffsets } = form;
  if (isOffsets && Buffer.compare(bytes.subarray(0, LEAD.length), offsetsLead(form.bytes)) !== 0) {
    throw fail('its offsets do not begin as they should');
  }
  const lead = leadContent(form);
  const width = isWide ? 2 : 1;
  content.fill(0, 0, lead / width);
  let from = leadBytes(form);
  let start = lead;
  for (const frame of frames) {
    const end = Math.min(start + FRAME_BYTES, form.bytes);
    const place = content.subarray(start / width, end / width);
    wideFrame ??= new Uint8Array(FRAME_BYTES);
    const into = isWide ? wideFrame.subarray(0, end - start) : place;
    decodeFrame(bytes.subarray(from, from + frame), into, (problem) => {
      throw fail(problem);
    });
    // Before the next step, in which another column may be decoded there.
    if (isWide) narrow(into, place, fail);
    from += frame;
    start = end;
    yield;
  }
}
