/**
 * Decoding Zstandard frames of a known size. Input is untrusted: the output never grows past the
 * size that was declared, and the work of a block is bounded by the output it may give. Frames
 * with dictionaries are refused; checksums of content are not verified.
 */
import type { Refuse } from './flatbuffer.ts';
import { copyMatch } from './lz4.ts';
import { BLOCK_BYTES, readLiterals } from './zstd-literals.ts';
import {
  BackwardBits,
  bitsAt,
  type FseTable,
  fseTable,
  type HuffmanTable,
  readFseTable,
  singleTable,
} from './zstd-tables.ts';

const MAGIC = 0xfd2fb528;

/** No input of `bytes` bytes decodes to more than this: the shortest block has 4 bytes. */
export const maxZstdSize = (bytes: number): number => (bytes / 4) * BLOCK_BYTES;

/** By code: the least value that it stands for, and how many bits to add to that follow. */
interface Codes {
  readonly bases: Int32Array;
  readonly bits: Uint8Array;
}

/** Codes in order, as runs of codes that have the same number of further bits. */
function codes(first: number, runs: readonly (readonly [count: number, bits: number])[]): Codes {
  const bits = runs.flatMap(([count, each]) => times(count, each));
  let next = first;
  const bases = bits.map((each) => {
    const base = next;
    next += 2 ** each;
    return base;
  });
  return { bases: Int32Array.from(bases), bits: Uint8Array.from(bits) };
}

const times = (count: number, value: number): number[] => new Array<number>(count).fill(value);
const each = (from: number, to: number): (readonly [number, number])[] =>
  Array.from({ length: to - from + 1 }, (_, index) => [1, from + index]);
const LITERAL_CODES = codes(0, [[16, 0], [4, 1], [2, 2], [2, 3], [1, 4], ...each(6, 16)]);
const MATCH_CODES = codes(3, [[32, 0], [4, 1], [2, 2], [2, 3], [2, 4], [1, 5], ...each(7, 16)]);

const impossible: Refuse = (problem) => {
  throw new RangeError(problem);
};
/** One of the three codes of a sequence: its limits and what it is without a description. */
interface SequenceCode {
  readonly maxAccuracy: number;
  readonly maxSymbol: number;
  readonly standard: FseTable;
}
const LITERALS: SequenceCode = {
  maxAccuracy: 9,
  maxSymbol: 35,
  standard: fseTable(
    [4, 3, ...times(11, 2), 1, 1, 1, ...times(9, 2), 3, 2, ...times(5, 1), ...times(4, -1)],
    6,
    impossible,
  ),
};
const OFFSETS: SequenceCode = {
  maxAccuracy: 8,
  maxSymbol: 31,
  standard: fseTable([...times(6, 1), 2, 2, 2, ...times(15, 1), ...times(5, -1)], 5, impossible),
};
const MATCHES: SequenceCode = {
  maxAccuracy: 9,
  maxSymbol: 52,
  standard: fseTable([1, 4, 3, ...times(6, 2), ...times(37, 1), ...times(7, -1)], 6, impossible),
};

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
  #tables: readonly FseTable[] | undefined;
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
    const refuse = this.#refuse;
    const first = bytes[0] ?? refuse('sequences of its frame are missing');
    if (first === 0) {
      if (bytes.length > 1) refuse('bytes follow the sequences of its frame');
      return 0;
    }
    const long = (at: number): number => (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8);
    const [count, head] =
      first < 128
        ? [first, 1]
        : first < 255
          ? [((first - 128) << 8) | (bytes[1] ?? 0), 2]
          : [long(1) + 0x7f00, 3];
    const modes = bytes[head] ?? refuse('sequences of its frame are cut short');
    if ((modes & 3) !== 0) refuse('sequences of its frame have an unknown mode');
    let at = head + 1;
    const tables = [LITERALS, OFFSETS, MATCHES].map((code, index) => {
      const mode = (modes >> (6 - 2 * index)) & 3;
      if (mode === 0) return code.standard;
      if (mode === 3) return this.#tables?.[index] ?? refuse('a table of its frame is missing');
      if (mode === 1) {
        const symbol = bytes[at] ?? refuse('sequences of its frame are cut short');
        if (symbol > code.maxSymbol) refuse('sequences of its frame have an unknown code');
        at += 1;
        return singleTable(symbol);
      }
      const { maxAccuracy, maxSymbol } = code;
      const read = readFseTable(bytes.subarray(at), maxAccuracy, maxSymbol, refuse);
      at += read.bytes;
      return read.table;
    });
    this.#tables = tables;
    return this.#sequences(new BackwardBits(bytes.subarray(at), refuse), count, tables, limit);
  }

  /** The hot loop: states, bits and copies without calls that cannot be inlined. */
  #sequences(
    stream: BackwardBits,
    count: number,
    tables: readonly FseTable[],
    limit: number,
  ): number {
    const [literals, offsets, matches] = tables as [FseTable, FseTable, FseTable];
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
