/**
 * `encodeZstd` compresses up to 64 KiB to one Zstandard frame, which states the size of its content
 * and has no checksum. Content that does not get smaller is stored as it is. The frame lies in
 * memory that the next call overwrites. `encodeZstd` throws RangeError for more than 64 KiB, or
 * where WebAssembly cannot run (`canEncodeZstd` is false), because its inner loops are in zstd.wat.
 */
import { type FseEncodeTable, fseEncodeTable, fseNormalised, writeFseTable } from './zstd-fse.ts';
import { huffmanCode } from './zstd-huffman.ts';
import { AT, FRAME_BYTES, type ZstdKernels, zstdKernels } from './zstd-kernels.ts';
import { DISTRIBUTIONS } from './zstd-sequences.ts';

const FRAME_MAGIC = 0xfd2fb528;
const HEAD_BYTES = 4 + 1 + 2;
/** Most bytes by which a frame is longer than its content. */
export const FRAME_OVERHEAD: number = HEAD_BYTES + 3;
const [RAW, COMPRESSED] = [0, 2];

/** Whether this process can compress: it needs WebAssembly. */
export const canEncodeZstd = (): boolean => zstdKernels(FRAME_BYTES) !== null;

/**
 * The frame, in memory that the next call overwrites. Its content is stored as it is where it does not
 * get smaller.
 * @throws RangeError for more than 64 KiB, and where `canEncodeZstd` is false
 */
export function encodeZstd(content: Uint8Array): Uint8Array {
  const kernels = zstdKernels(FRAME_BYTES);
  const size = content.length;
  if (kernels === null || size > FRAME_BYTES) {
    throw new RangeError(`A frame of ${size} bytes cannot be encoded.`);
  }
  const { bytes } = kernels;
  bytes.set(content, AT.content);
  const start = AT.input;
  const view = new DataView(bytes.buffer);
  view.setUint32(start, FRAME_MAGIC, true);
  // A single segment, whose size has one byte or two.
  const long = size >= 256;
  bytes[start + 4] = long ? 0x60 : 0x20;
  if (long) view.setUint16(start + 5, size - 256, true);
  else bytes[start + 5] = size;
  const at = start + (long ? 7 : 6);
  let end = size < LEAST_BYTES ? 0 : new BlockEncoder(kernels, size).write(at + 3);
  const kind = end > 0 && end - at - 3 < size ? COMPRESSED : RAW;
  if (kind === RAW) {
    bytes.copyWithin(at + 3, AT.content, AT.content + size);
    end = at + 3 + size;
  }
  const head = ((end - at - 3) << 3) | (kind << 1) | 1;
  bytes[at] = head;
  bytes[at + 1] = head >> 8;
  bytes[at + 2] = head >> 16;
  return bytes.subarray(start, end);
}

/** What is shorter is stored as it is. */
const LEAST_BYTES = 32;
/** Literals of a block from which four streams are worth their lengths. */
const FOUR_STREAMS = 256;
/** Literals below which no code is worth its description. */
const LEAST_LITERALS = 64;

/** Literal lengths, offsets and match lengths: where their codes are counted, and the largest table. */
const KINDS = [
  { counts: AT.counts + 1_024, accuracy: 9, codesAt: 720_896 },
  { counts: AT.counts + 1_280, accuracy: 8, codesAt: 737_280 },
  { counts: AT.counts + 1_536, accuracy: 9, codesAt: 753_664 },
] as const;
const STATE_BYTES = 2_048;
const CHANGE_BYTES = 512;
const CODES = 64;

interface StandardCode {
  readonly table: ReturnType<typeof fseEncodeTable>;
  /** By code: the bits that it takes by the table. */
  readonly bits: readonly number[];
}

let standardCodes: readonly StandardCode[] | undefined;

/** By kind; made when it is first asked for. */
function standardCode(kind: number): StandardCode {
  standardCodes ??= DISTRIBUTIONS.map(({ counts, accuracy }) => ({
    table: fseEncodeTable(counts, accuracy),
    bits: counts.map((count) => accuracy - Math.log2(Math.abs(count))),
  }));
  return standardCodes[kind]!;
}

class BlockEncoder {
  readonly #kernels: ZstdKernels;
  readonly #size: number;

  constructor(kernels: ZstdKernels, size: number) {
    this.#kernels = kernels;
    this.#size = size;
  }

  /** Writes the content's block without its head; returns its end, or 0 where it does not pay. */
  write(at: number): number {
    const { run } = this.#kernels;
    const sequences = run.find(this.#size);
    const literals = run.literal.value - AT.literals;
    const end = this.#literals(at, literals);
    return end === 0 ? 0 : this.#sequences(end, sequences);
  }

  /** Returns 0 where a block of no sequences would be as long as its content. */
  #literals(at: number, size: number): number {
    const { bytes, run } = this.#kernels;
    const counts = this.#kernels.words.subarray(AT.counts >> 2, (AT.counts >> 2) + 256);
    const code = size < LEAST_LITERALS ? undefined : huffmanCode(counts);
    const coded =
      code === undefined
        ? size
        : (code.bits >> 3) + code.description.length + (size < FOUR_STREAMS ? 2 : 14);
    if (code !== undefined && coded < size - (size >> 6)) {
      const four = size >= FOUR_STREAMS;
      this.#kernels.words.set(code.codes, AT.codes >> 2);
      const width = size < 1_024 ? 10 : size < 16_384 ? 14 : 18;
      const head = (4 + 2 * width) >> 3;
      bytes.set(code.description, at + head);
      const end = run.huffman(size, at + head + code.description.length, four ? 1 : 0);
      const format = four ? [1, 2, 3][(width - 10) >> 2]! : 0;
      let word = 2 + format * 4 + size * 16 + (end - at - head) * 2 ** (4 + width);
      for (let each = 0; each < head; each += 1) {
        bytes[at + each] = word % 256;
        word = Math.floor(word / 256);
      }
      return end;
    }
    if (size > this.#size - 8) return 0;
    const only = counts[bytes[AT.literals]!] === size && size > 0;
    const kind = only ? 1 : 0;
    const head = size < 32 ? 1 : size < 4_096 ? 2 : 3;
    const word = head === 1 ? kind | (size << 3) : kind | ((head === 2 ? 1 : 3) << 2) | (size << 4);
    for (let each = 0; each < head; each += 1) bytes[at + each] = word >> (8 * each);
    if (only) {
      bytes[at + head] = bytes[AT.literals]!;
      return at + head + 1;
    }
    bytes.copyWithin(at + head, AT.literals, AT.literals + size);
    return at + head + size;
  }

  #sequences(start: number, count: number): number {
    const { bytes, run } = this.#kernels;
    let at = start;
    if (count < 128) bytes[at++] = count;
    else if (count < 0x7f00) {
      bytes[at++] = (count >> 8) + 128;
      bytes[at++] = count;
    } else {
      bytes[at++] = 255;
      bytes[at++] = count - 0x7f00;
      bytes[at++] = (count - 0x7f00) >> 8;
    }
    if (count === 0) return at;
    const modesAt = at++;
    let modes = 0;
    let widths = 0;
    for (let kind = 0; kind < 3; kind += 1) {
      const { mode, table, description } = this.#table(kind, count);
      modes |= mode << (6 - 2 * kind);
      widths |= table.accuracy << (4 * kind);
      bytes.set(description, at);
      at += description.length;
      this.#kernels.halves.set(table.states, (AT.states + kind * STATE_BYTES) >> 1);
      this.#kernels.words.set(table.changes, (AT.changes + kind * CHANGE_BYTES) >> 2);
    }
    bytes[modesAt] = modes;
    return run.sequences(count, at, widths);
  }

  /** The table of literal lengths, offsets or match lengths that takes the fewest bits. */
  #table(kind: number, count: number): Choice {
    const { counts: at, accuracy, codesAt } = KINDS[kind]!;
    const counts = this.#kernels.words.subarray(at >> 2, (at >> 2) + CODES);
    const first = this.#kernels.bytes[codesAt]!;
    if (counts[first] === count) {
      return { mode: 1, table: ONE_CODE[first]!, description: Uint8Array.of(first) };
    }
    const { bits: standard, table: standardTable } = standardCode(kind);
    let standardSum = 0;
    let entropy = 0;
    for (let code = 0; code < CODES; code += 1) {
      const found = counts[code]!;
      if (found === 0) continue;
      standardSum += code < standard.length ? found * standard[code]! : Infinity;
      entropy += found * Math.log2(count / found);
    }
    const plain = { mode: 0, table: standardTable, description: NOTHING };
    if (standardSum < entropy + LEAST_DESCRIPTION_BITS) return plain;
    const normalised = fseNormalised(counts, count, accuracy);
    const description = writeFseTable(normalised.counts, normalised.accuracy);
    if (standardSum < entropy + description.length * 8) return plain;
    const table = fseEncodeTable(normalised.counts, normalised.accuracy);
    return { mode: 2, table, description };
  }
}

/** Which form a table has in the block, as the block names it. */
interface Choice {
  readonly mode: number;
  readonly table: FseEncodeTable;
  readonly description: Uint8Array;
}

const NOTHING = new Uint8Array(0);
const LEAST_DESCRIPTION_BITS = 40;
/** By code: the table of it alone, which takes no bits. */
const ONE_CODE: readonly FseEncodeTable[] = Array.from({ length: CODES }, () => ({
  accuracy: 0,
  states: new Uint16Array(1),
  changes: new Int32Array(CODES * 2),
}));
