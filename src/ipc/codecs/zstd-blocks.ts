/**
 * `BlockDecoder` decodes the blocks of one Zstandard frame, one after another, into an output
 * buffer. For a compressed block it gets the literals from zstd-literals.ts and the tables of the
 * sequences from zstd-sequences.ts, and executes the sequences itself. Damaged blocks, and blocks
 * that do not fit the output, go to the caller's `refuse`.
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
import { BackwardBits, bitsAt, type HuffmanTable } from './zstd-tables.ts';

/** A block: its kind, the bytes it says it has, and where those in the input begin and end. */
export interface Block {
  readonly kind: number;
  readonly bytes: number;
  readonly from: number;
  readonly to: number;
}

/** What the blocks of a frame share: the output before them, and codes that they may use again. */
export class BlockDecoder {
  /** Where the content so far ends. Whoever moves that content to the front of the output sets it. */
  end: number;
  readonly #input: Uint8Array;
  readonly #output: Uint8Array;
  readonly #start: number;
  readonly #refuse: Refuse;
  #literals: Uint8Array = new Uint8Array(0);
  #huffman: HuffmanTable | undefined;
  #tables: SequenceTables | undefined;
  readonly #repeats: [number, number, number] = [1, 4, 8];

  /** @param end where in the output the frame's content begins */
  constructor(input: Uint8Array, output: Uint8Array, end: number, refuse: Refuse) {
    this.#input = input;
    this.#output = output;
    this.#start = end;
    this.end = end;
    this.#refuse = refuse;
  }

  /** @param input that `block` lies in, where it is not the one of all blocks */
  decode({ kind, bytes, from, to }: Block, input: Uint8Array = this.#input): void {
    const block = input.subarray(from, to);
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
    return this.#sequences(read, new BackwardBits(bytes.subarray(read.at), this.#refuse), limit);
  }

  /** The hot loop: states, bits and copies without calls that cannot be inlined. */
  #sequences({ count, tables }: Sequences, stream: BackwardBits, limit: number): number {
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
