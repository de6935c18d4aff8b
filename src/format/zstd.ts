/**
 * Decoding Zstandard frames of a known size. Input is untrusted: the output never grows past the
 * size that was declared, and the work of a block is bounded by the output it may give. Frames
 * with dictionaries are refused; checksums of content are not verified.
 */
import type { Refuse } from './flatbuffer.ts';
import { copyMatch } from './lz4.ts';
import { BLOCK_BYTES, readLiterals } from './zstd-literals.ts';
import {
  LITERAL_CODES,
  MATCH_CODES,
  readSequences,
  type Sequences,
  type SequenceTables,
} from './zstd-sequences.ts';
import { bitsAt, type HuffmanTable } from './zstd-tables.ts';

const MAGIC = 0xfd2fb528;

/** No input of `bytes` bytes decodes to more than this: the shortest block has 4 bytes. */
export const maxZstdSize = (bytes: number): number => (bytes / 4) * BLOCK_BYTES;

/**
 * Decodes the frames that fill `input`. `refuse` gets what is wrong.
 * @param size bytes that they must decode to; the caller bounds it
 */
export function decodeZstd(input: Uint8Array, size: number, refuse: Refuse): Uint8Array {
  const output = new Uint8Array(size);
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
    const frame = new Frame(input, at + 4, output, end, refuse);
    frame.decode();
    at = frame.at;
    end = frame.end;
  }
  if (at > input.length) refuse('its Zstandard frame is cut short');
  if (end !== size) refuse(`its Zstandard frame holds ${end} bytes where ${size} are declared`);
  return output;
}

class Frame {
  at: number;
  end: number;
  readonly #input: Uint8Array;
  readonly #output: Uint8Array;
  readonly #start: number;
  readonly #refuse: Refuse;
  #literals: Uint8Array = new Uint8Array(0);
  #huffman: HuffmanTable | undefined;
  #tables: SequenceTables | undefined;
  readonly #repeats: [number, number, number] = [1, 4, 8];

  constructor(input: Uint8Array, at: number, output: Uint8Array, end: number, refuse: Refuse) {
    this.#input = input;
    this.at = at;
    this.#output = output;
    this.#start = end;
    this.end = end;
    this.#refuse = refuse;
  }

  decode(): void {
    const flags = this.#take(1);
    const single = (flags & 0x20) !== 0;
    if ((flags & 8) !== 0) this.#refuse('its Zstandard frame has an unknown header');
    if (!single) this.#take(1);
    if (this.#take([0, 1, 2, 4][flags & 3] as number) !== 0) {
      this.#refuse('its Zstandard frame needs a dictionary');
    }
    const width = [single ? 1 : 0, 2, 4, 8][flags >> 6] as number;
    const declared = this.#take(width) + (width === 2 ? 256 : 0);
    if (width > 0 && declared > this.#output.length - this.end) {
      this.#refuse(`its Zstandard frame holds ${declared} bytes, more than are declared`);
    }
    let last = false;
    while (!last) {
      const head = this.#take(3);
      last = (head & 1) === 1;
      this.#block((head >> 1) & 3, head >> 3);
    }
    if (width > 0 && this.end - this.#start !== declared) {
      this.#refuse(`its Zstandard frame does not hold the ${declared} bytes that it says`);
    }
    if ((flags & 4) !== 0) this.#take(4);
  }

  /** The next bytes as a little-endian number. */
  #take(bytes: number): number {
    const from = this.at;
    this.at += bytes;
    if (this.at > this.#input.length) this.#refuse('its Zstandard frame is cut short');
    let value = 0;
    for (let each = bytes - 1; each >= 0; each -= 1) {
      value = value * 256 + (this.#input[from + each] as number);
    }
    return value;
  }

  #block(kind: number, bytes: number): void {
    const refuse = this.#refuse;
    if (bytes > BLOCK_BYTES || kind === 3) refuse('its Zstandard frame has an unknown block');
    const held = kind === 1 ? 1 : bytes;
    if (this.at + held > this.#input.length) refuse('its Zstandard frame is cut short');
    const block = this.#input.subarray(this.at, this.at + held);
    this.at += held;
    if (kind === 2) {
      this.#compressed(block);
      return;
    }
    if (this.end + bytes > this.#output.length) this.#overflow();
    if (kind === 0) this.#output.set(block, this.end);
    else this.#output.fill(block[0] as number, this.end, this.end + bytes);
    this.end += bytes;
  }

  #overflow(): never {
    return this.#refuse('its Zstandard frame holds more bytes than are declared');
  }

  #compressed(block: Uint8Array): void {
    const read = readLiterals(block, this.#huffman, this.#refuse);
    this.#literals = read.literals;
    this.#huffman = read.table;
    const sequences = block.subarray(read.bytes);
    const limit = Math.min(this.#output.length, this.end + BLOCK_BYTES);
    const used = this.#execute(sequences, limit);
    const rest = this.#literals.subarray(used);
    if (this.end + rest.length > limit) this.#overflow();
    this.#output.set(rest, this.end);
    this.end += rest.length;
  }

  /** Runs the sequences of a block; returns how many literals they used. */
  #execute(bytes: Uint8Array, limit: number): number {
    const read = readSequences(bytes, this.#tables, this.#refuse);
    if (read === undefined) return 0;
    this.#tables = read.tables;
    return this.#sequences(read, limit);
  }

  /** The hot loop: states, bits and copies without calls that cannot be inlined. */
  #sequences({ stream, count, tables }: Sequences, limit: number): number {
    const [literals, offsets, matches] = tables;
    const output = this.#output;
    const held = this.#literals;
    const { bytes } = stream;
    let literalState = stream.take(literals.accuracy);
    let offsetState = stream.take(offsets.accuracy);
    let matchState = stream.take(matches.accuracy);
    let { left } = stream;
    let { end } = this;
    let used = 0;
    for (let each = 1; each <= count; each += 1) {
      const offsetBits = offsets.symbols[offsetState] as number;
      const matchCode = matches.symbols[matchState] as number;
      const literalCode = literals.symbols[literalState] as number;
      left -= offsetBits;
      const offset = 2 ** offsetBits + longBits(bytes, left, offsetBits);
      const matchBits = MATCH_CODES.bits[matchCode] as number;
      left -= matchBits;
      const length = (MATCH_CODES.bases[matchCode] as number) + bitsAt(bytes, left, matchBits);
      const literalBits = LITERAL_CODES.bits[literalCode] as number;
      left -= literalBits;
      const run = (LITERAL_CODES.bases[literalCode] as number) + bitsAt(bytes, left, literalBits);
      if (each < count) {
        const forLiterals = literals.bits[literalState] as number;
        left -= forLiterals;
        literalState = (literals.bases[literalState] as number) + bitsAt(bytes, left, forLiterals);
        const forMatches = matches.bits[matchState] as number;
        left -= forMatches;
        matchState = (matches.bases[matchState] as number) + bitsAt(bytes, left, forMatches);
        const forOffsets = offsets.bits[offsetState] as number;
        left -= forOffsets;
        offsetState = (offsets.bases[offsetState] as number) + bitsAt(bytes, left, forOffsets);
      }
      if (left < 0) this.#refuse('sequences of its frame are cut short');
      if (used + run > held.length) {
        this.#refuse('sequences of its frame use more literals than there are');
      }
      if (end + run + length > limit) this.#overflow();
      copyRun(held, used, output, end, run);
      used += run;
      end += run;
      const distance = this.#distance(offset, run === 0);
      if (distance < 1 || distance > end - this.#start) {
        this.#refuse('a match in its Zstandard frame leads out of its bounds');
      }
      copyMatch(output, end, distance, length);
      end += length;
    }
    if (left !== 0) this.#refuse('bits follow the sequences of its frame');
    this.end = end;
    return used;
  }

  /** The first three values of an offset repeat one of the last three distances. */
  #distance(offset: number, noLiterals: boolean): number {
    const repeats = this.#repeats;
    const index = offset > 3 ? 3 : offset - 1 + (noLiterals ? 1 : 0);
    if (offset <= 3 && index === 0) return repeats[0];
    const found =
      offset > 3 ? offset - 3 : index === 3 ? repeats[0] - 1 : (repeats[index] as number);
    if (index !== 1) repeats[2] = repeats[1];
    repeats[1] = repeats[0];
    repeats[0] = found;
    return found;
  }
}

function copyRun(
  from: Uint8Array,
  at: number,
  into: Uint8Array,
  end: number,
  length: number,
): void {
  if (length > 32) into.set(from.subarray(at, at + length), end);
  else for (let each = 0; each < length; each += 1) into[end + each] = from[at + each]!;
}

/** Up to 31 bits. */
const longBits = (bytes: Uint8Array, position: number, count: number): number =>
  count <= 16
    ? bitsAt(bytes, position, count)
    : bitsAt(bytes, position + 16, count - 16) * 65_536 + bitsAt(bytes, position, 16);
