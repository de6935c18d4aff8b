/**
 * Describes how each buffer of a compressed batch is stored (`BufferForm`): as it is behind the
 * prefix -1, or as Zstandard frames behind the size of its content, as Arrow has it. Encodes and
 * validates the descriptions in a fragment's layout (`checkedForms`), so that a reader finds single
 * frames, and decodes the buffers (`decodedBuffers`). compress-columns.ts writes them.
 */
import { NO_BYTES } from '../../arrow/index.ts';
import { aligned, decodeFrame, FRAME_BYTES, FRAME_OVERHEAD } from '../../ipc/index.ts';
import { isWholeNumber } from '../../json.ts';

/** Before each buffer of a compressed batch stands its size before compression, or -1. */
export const PREFIX_BYTES = 8;
const STORED_PREFIX = -1n;

/** Zstandard frames, of which each but the last holds FRAME_BYTES. */
export interface FramesForm {
  /** Of the content. */
  readonly bytes: number;
  /** How many bytes each frame takes. */
  readonly frames: readonly number[];
}

/** How a buffer is stored: not at all, as it is, or compressed. */
export type BufferForm = 'empty' | 'plain' | FramesForm;

/** Form of JSON: 0, -1, or the bytes of the content and of each frame. */
export const encodeForm = (form: BufferForm): unknown =>
  form === 'empty' ? 0 : form === 'plain' ? -1 : [form.bytes, ...form.frames];

/**
 * The inverse for a buffer of so many bytes; undefined where it cannot be. What it says can be allocated:
 * no frame is shorter than a few bytes, nor holds more than FRAME_BYTES.
 */
export function decodeForm(value: unknown, stored: number): BufferForm | undefined {
  if (value === 0) return stored === 0 ? 'empty' : undefined;
  if (value === -1) return stored >= PREFIX_BYTES ? 'plain' : undefined;
  if (!Array.isArray(value)) return undefined;
  const [bytes, ...frames] = value as readonly unknown[];
  if (!isWholeNumber(bytes) || bytes === 0 || frames.length !== frameCount(bytes)) return undefined;
  let sum = PREFIX_BYTES;
  for (const frame of frames) {
    if (!isWholeNumber(frame) || frame > FRAME_BYTES + MOST_OVERHEAD) return undefined;
    sum += frame;
  }
  return sum === stored ? { bytes, frames: frames as readonly number[] } : undefined;
}

/** Encoders of others may add some bytes more. */
const MOST_OVERHEAD = FRAME_OVERHEAD + 64;

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
}

/** The memory that `decodedBuffers` asks for: 0 where nothing of the column is compressed. */
export function decodedBytes({ buffers, forms }: StoredBuffers): number {
  if (forms?.some(isCompressed) !== true) return 0;
  let bytes = 0;
  for (const [at, form] of forms.entries()) bytes += aligned(contentBytes(form, buffers[at] ?? 0));
  return bytes;
}

/** Gives memory of at least so many bytes, at an address that is a multiple of 8. */
export type Room = (bytes: number) => Uint8Array;
export const newRoom: Room = (bytes) => new Uint8Array(bytes);

/**
 * The content of each buffer, in steps. Where one is compressed all are decoded or copied into memory of
 * `room`; where none is they are views of the column.
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
    const size = contentBytes(form, bytes);
    const content = memory?.subarray(to, to + size);
    to += aligned(size);
    if (content === undefined) decoded.push(part.subarray(PREFIX_BYTES));
    else {
      decoded.push(content);
      if (form === 'plain') content.set(part.subarray(PREFIX_BYTES));
      else yield* decodeFrames(form, part.subarray(PREFIX_BYTES), content, fail);
    }
  }
  return decoded;
}

function checkPrefix(part: Uint8Array, form: BufferForm, fail: (what: string) => Error): void {
  const view = new DataView(part.buffer, part.byteOffset, PREFIX_BYTES);
  const expected = isCompressed(form) ? BigInt(form.bytes) : STORED_PREFIX;
  if (view.getBigInt64(0, true) !== expected) {
    throw fail('a buffer has another size than its layout says');
  }
}

function* decodeFrames(
  { frames }: FramesForm,
  bytes: Uint8Array,
  content: Uint8Array,
  fail: (what: string) => Error,
): Generator<undefined> {
  let from = 0;
  for (const [number, frame] of frames.entries()) {
    const start = number * FRAME_BYTES;
    const into = content.subarray(start, start + FRAME_BYTES);
    decodeFrame(bytes.subarray(from, from + frame), into, (problem) => {
      throw fail(problem);
    });
    from += frame;
    yield;
  }
}
