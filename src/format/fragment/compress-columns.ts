/**
 * `ColumnCompressor.compress` compresses buffers of record batches as Zstandard frames of up to 64
 * KiB of content, in the form that Arrow and Lance read: for `zstd` values and 64-bit offsets, for
 * `auto` only texts and binary values of 8 bytes and more on average. Buffers of less than 4 KiB
 * and the items of vectors stay as they are, and so do buffers that would keep more than 85 % of
 * their size (`auto`: 40 %); such values are then not tried in up to 15 batches. If any buffer of a
 * batch is compressed, all that are not empty get a prefix. `stored` describes a column that is not
 * compressed; buffer-forms.ts describes the stored forms.
 */
import { childFields, type DataType, hasLargeOffsets, layoutOf } from '../../arrow/index.ts';
import type { Compression } from '../../compression.ts';
import {
  aligned,
  buffersOf,
  canEncodeFrames,
  type EncodedColumn,
  encodeFrame,
  FRAME_BYTES,
  FRAME_OVERHEAD,
  paddingAfter,
} from '../../ipc/index.ts';
import {
  type BufferForm,
  frameCount,
  OFFSET_BYTES,
  offsetsLead,
  PREFIX_BYTES,
} from './buffer-forms.ts';

/** A column as a fragment holds it. */
export interface StoredColumn extends EncodedColumn {
  /** How each buffer is stored; undefined where all are as they were encoded, without prefixes. */
  readonly forms: readonly BufferForm[] | undefined;
  /** The column before it was compressed. */
  readonly plain: EncodedColumn;
}

export const stored = (column: EncodedColumn): StoredColumn => ({
  pieces: column.pieces,
  bytes: column.bytes,
  nodes: column.nodes,
  buffers: column.buffers,
  views: column.views,
  forms: undefined,
  plain: column,
});

/** Shorter buffers stay as they are. */
const LEAST_BYTES = 4_096;
/** What is worth it: the largest share that a buffer may keep, and the shortest texts on average. */
const RULES = {
  zstd: { mostShare: 0.85, textsOnly: false, textBytes: 0, offsets: true },
  // Decoding takes several times as long as reading from the page cache: where little is saved, or
  // values are short and many, reading would get slower than a disk makes it.
  auto: { mostShare: 0.4, textsOnly: true, textBytes: 8, offsets: false },
} as const;
/** Bytes of a sample, which are taken from two places. */
const SAMPLE_BYTES = 4_096;
/** Batches that a buffer is not sampled in, at most. */
const LONGEST_REST = 15;

/** How often a buffer was not worth it in a row, and in how many batches it is left alone for that. */
interface Rest {
  misses: number;
  batches: number;
}

/**
 * Compresses the columns of batches, one batch after another. Validity, booleans, 32-bit offsets and
 * the items of vectors stay as they are. A process with no encoder of Zstandard, neither Node's nor
 * WebAssembly, compresses nothing.
 */
export class ColumnCompressor {
  readonly #rule: (typeof RULES)[keyof typeof RULES];
  readonly #rests = new Map<string, Rest>();

  constructor(compression: Exclude<Compression, 'none'>) {
    this.#rule = RULES[compression];
  }

  /** Whether columns of texts are to be given with 64-bit offsets, which are then compressed too. */
  get hasWideOffsets(): boolean {
    return this.#rule.offsets && canEncodeFrames();
  }

  /**
   * The columns of a batch, in steps of a frame. Where one buffer of them is compressed, every buffer
   * that is not empty gets a prefix; where none is, they are returned as they are.
   * @param types of the columns
   */
  *compress(
    columns: readonly EncodedColumn[],
    types: readonly DataType[],
  ): Generator<undefined, StoredColumn[]> {
    const compressed: (readonly (CompressedBuffer | undefined)[] | undefined)[] = [];
    let isWorthIt = false;
    for (const [at, column] of columns.entries()) {
      const found = yield* this.#column(column, types[at] as DataType, at);
      if (found !== undefined) isWorthIt = true;
      compressed.push(found);
    }
    if (!isWorthIt) return columns.map(stored);
    return columns.map((column, at) => prefixed(column, compressed[at]));
  }

  /** Undefined where nothing of the column is worth it. */
  *#column(
    column: EncodedColumn,
    type: DataType,
    number: number,
  ): Generator<undefined, (CompressedBuffer | undefined)[] | undefined> {
    if (column.bytes < LEAST_BYTES) return undefined;
    const values = valueBuffers(type, column);
    let found: (CompressedBuffer | undefined)[] | undefined;
    let contents: Uint8Array[] | undefined;
    for (const { at, texts, isOffsets } of values) {
      const size = column.buffers[at] as number;
      if (isOffsets ? !this.#rule.offsets || size < LEAST_BYTES : !this.#isEligible(size, texts)) {
        continue;
      }
      contents ??= buffersOf(column);
      const content = contents[at] as Uint8Array;
      const buffer = isOffsets
        ? yield* compressedBuffer(content, this.#mostOf(content), true)
        : yield* this.#buffer(content, `${number} ${at}`);
      if (buffer === undefined) continue;
      found ??= contents.map(() => undefined);
      found[at] = buffer;
    }
    return found;
  }

  #isEligible(bytes: number, texts: number | undefined): boolean {
    const { textsOnly, textBytes } = this.#rule;
    if (bytes < LEAST_BYTES || (textsOnly && texts === undefined)) return false;
    return texts === undefined || bytes >= texts * textBytes;
  }

  *#buffer(content: Uint8Array, key: string): Generator<undefined, CompressedBuffer | undefined> {
    const rest = this.#rests.get(key) ?? { misses: 0, batches: 0 };
    this.#rests.set(key, rest);
    if (rest.batches > 0) {
      rest.batches -= 1;
      return undefined;
    }
    const found = this.#isPromising(content)
      ? yield* compressedBuffer(content, this.#mostOf(content), false)
      : undefined;
    rest.misses = found === undefined ? rest.misses + 1 : 0;
    rest.batches = Math.min(2 ** rest.misses - 1, LONGEST_REST);
    return found;
  }

  #mostOf(content: Uint8Array): number {
    return Math.floor(content.length * this.#rule.mostShare);
  }

  #isPromising(content: Uint8Array): boolean {
    const sample = sampleOf(content);
    const frame = encodeFrame(sample);
    return frame !== undefined && frame.length <= sample.length * this.#rule.mostShare;
  }
}

/** Two pieces out of the content, so that neither a long beginning nor end decides alone. */
function sampleOf(content: Uint8Array): Uint8Array {
  if (content.length <= SAMPLE_BYTES) return content;
  const half = SAMPLE_BYTES / 2;
  const sample = new Uint8Array(SAMPLE_BYTES);
  // At multiples of 16, so that numbers of both pieces begin at the same places.
  const at = (share: number): number => ((content.length - half) * share) & ~15;
  sample.set(content.subarray(at(0.25), at(0.25) + half));
  sample.set(content.subarray(at(0.75), at(0.75) + half), half);
  return sample;
}

interface CompressedBuffer {
  /** The prefix and the frames. */
  readonly bytes: Uint8Array;
  readonly form: BufferForm;
}

/** Undefined where it takes more than `most` bytes. */
function* compressedBuffer(
  content: Uint8Array,
  most: number,
  isOffsets: boolean,
): Generator<undefined, CompressedBuffer | undefined> {
  const framed = isOffsets ? content.subarray(OFFSET_BYTES) : content;
  const count = frameCount(framed.length);
  const bytes = new Uint8Array(Buffer.allocUnsafeSlow(most + PREFIX_BYTES + FRAME_OVERHEAD).buffer);
  const frames: number[] = [];
  let end = PREFIX_BYTES;
  if (isOffsets) {
    const lead = offsetsLead(content.length);
    bytes.set(lead, end);
    end += lead.length;
  }
  for (let each = 0; each < count; each += 1) {
    const frame = encodeFrame(framed.subarray(each * FRAME_BYTES, (each + 1) * FRAME_BYTES));
    if (frame === undefined || end + frame.length > most) return undefined;
    bytes.set(frame, end);
    end += frame.length;
    frames.push(frame.length);
    yield;
  }
  new DataView(bytes.buffer).setBigInt64(0, BigInt(content.length), true);
  return { bytes: bytes.subarray(0, end), form: { bytes: content.length, frames, isOffsets } };
}

const PLAIN_PREFIX = Uint8Array.from({ length: PREFIX_BYTES }, () => 255);

/** The column with a prefix before each buffer, compressed or not. */
function prefixed(
  column: EncodedColumn,
  compressed: readonly (CompressedBuffer | undefined)[] | undefined,
): StoredColumn {
  const pieces: Uint8Array[] = [];
  const buffers: number[] = [];
  const forms: BufferForm[] = [];
  let total = 0;
  for (const [at, content] of buffersOf(column).entries()) {
    const found = compressed?.[at];
    let bytes = 0;
    if (content.length === 0) forms.push('empty');
    else if (found !== undefined) {
      forms.push(found.form);
      pieces.push(found.bytes);
      bytes = found.bytes.length;
    } else {
      forms.push('plain');
      pieces.push(PLAIN_PREFIX, content);
      bytes = PREFIX_BYTES + content.length;
    }
    buffers.push(bytes);
    const padding = paddingAfter(bytes);
    if (padding.length > 0) pieces.push(padding);
    total += aligned(bytes);
  }
  const { nodes, views } = column;
  return { pieces, bytes: total, nodes, buffers, views, forms, plain: column };
}

/** A buffer that may be compressed. */
interface ValueBuffer {
  /** Its number in the column. */
  readonly at: number;
  /** Whether it holds offsets, of 64 bits: Lance reads no compressed ones of 32. */
  readonly isOffsets?: boolean;
  /** How many texts or other bytes it holds; undefined of numbers. */
  readonly texts: number | undefined;
}

/** Those of a column, in the order of ipc/encode/column-writer.ts. */
function valueBuffers(type: DataType, column: EncodedColumn): ValueBuffer[] {
  const found: ValueBuffer[] = [];
  let next = 0;
  let view = 0;
  let node = 0;
  const walk = (each: DataType): void => {
    const layout = layoutOf(each);
    const rows = column.nodes[node] ?? 0;
    node += 2;
    if (layout === 'null') return;
    if (layout !== 'union') next += 1;
    switch (layout) {
      case 'bits':
        next += 1;
        return;
      case 'fixed':
      case 'dictionary':
        found.push({ at: next, texts: undefined });
        next += 1;
        return;
      case 'binary':
        if (hasLargeOffsets(each)) found.push({ at: next, texts: undefined, isOffsets: true });
        found.push({ at: next + 1, texts: rows });
        next += 2;
        return;
      case 'view': {
        next += 1;
        const buffers = column.views[view] ?? 0;
        view += 1;
        for (let buffer = 0; buffer < buffers; buffer += 1) {
          found.push({ at: next + buffer, texts: rows });
        }
        next += buffers;
        return;
      }
      case 'fixed-list': {
        const [item] = childFields(each);
        if (item !== undefined && layoutOf(item.type) === 'fixed') {
          next += 2;
          node += 2;
        } else if (item !== undefined) walk(item.type);
        return;
      }
      case 'union':
        next += (each as unknown as { mode: number }).mode === DENSE ? 2 : 1;
        for (const { type: child } of childFields(each)) walk(child);
        return;
      case 'list':
        next += 1;
        for (const { type: child } of childFields(each)) walk(child);
        return;
      case 'struct':
        for (const { type: child } of childFields(each)) walk(child);
        return;
    }
  };
  walk(type);
  return found;
}

/** The mode of a dense union, which has offsets. */
const DENSE = 1;
