/**
 * Decoding Zstandard frames of a known size. Input is untrusted: the output never grows past the
 * size that was declared, and the work of a block is bounded by the output it may give. Frames
 * with dictionaries are refused; checksums of content are not verified.
 */
import type { Refuse } from './flatbuffer.ts';
import { copyMatch } from './lz4.ts';
import {
  BackwardBits,
  type FseTable,
  fseTable,
  type HuffmanTable,
  readFseTable,
  readHuffmanTable,
  singleTable,
} from './zstd-tables.ts';

const MAGIC = 0xfd2fb528;
const BLOCK_BYTES = 131_072;

/** No input of `bytes` bytes decodes to more than this: the shortest block has 4 bytes. */
export const maxZstdSize = (bytes: number): number => (bytes / 4) * BLOCK_BYTES;

/** Base value and number of further bits of each code. */
type Codes = readonly (readonly [base: number, bits: number])[];

const run = (from: number, count: number, bits: number): Codes =>
  Array.from({ length: count }, (_, index) => [from + (index << bits), bits]);
const powers = (from: number, first: number, last: number): Codes =>
  Array.from({ length: last - first + 1 }, (_, index) => [
    2 ** (first + index) + from,
    first + index,
  ]);
const LITERAL_CODES: Codes = [
  ...run(0, 16, 0),
  ...run(16, 4, 1),
  ...run(24, 2, 2),
  ...run(32, 2, 3),
  [48, 4],
  ...powers(0, 6, 16),
];
const MATCH_CODES: Codes = [
  ...run(3, 32, 0),
  ...run(35, 4, 1),
  ...run(43, 2, 2),
  ...run(51, 2, 3),
  ...run(67, 2, 4),
  [99, 5],
  ...powers(3, 7, 16),
];

const impossible: Refuse = (problem) => {
  throw new RangeError(problem);
};
const times = (count: number, value: number): number[] => new Array<number>(count).fill(value);

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
  #literals = new Uint8Array(0);
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
    const sequences = block.subarray(this.#readLiterals(block));
    const limit = Math.min(this.#output.length, this.end + BLOCK_BYTES);
    const used = this.#execute(sequences, limit);
    const rest = this.#literals.subarray(used);
    if (this.end + rest.length > limit) this.#overflow();
    this.#output.set(rest, this.end);
    this.end += rest.length;
  }

  /** Sets the literals of a block; returns how many bytes they took. */
  #readLiterals(block: Uint8Array): number {
    const refuse = this.#refuse;
    const byte = (at: number): number => block[at] ?? 0;
    const kind = byte(0) & 3;
    const format = (byte(0) >> 2) & 3;
    if (kind < 2) {
      const head = [1, 2, 1, 3][format] as number;
      const size =
        head === 1
          ? byte(0) >> 3
          : (byte(0) >> 4) | (byte(1) << 4) | (head === 3 ? byte(2) << 12 : 0);
      const end = head + (kind === 0 ? size : 1);
      if (size > BLOCK_BYTES || end > block.length) refuse('literals of its frame are cut short');
      this.#literals = kind === 0 ? block.slice(head, end) : new Uint8Array(size).fill(byte(head));
      return end;
    }
    const width = [10, 10, 14, 18][format] as number;
    const head = (4 + 2 * width) >> 3;
    // The sizes follow the first four bits; together they take up to 40.
    const word = byte(0) + byte(1) * 2 ** 8 + byte(2) * 2 ** 16 + byte(3) * 2 ** 24;
    const bits = (word + (head > 4 ? byte(4) * 2 ** 32 : 0)) / 16;
    const size = Math.floor(bits) % 2 ** width;
    const end = head + (Math.floor(bits / 2 ** width) % 2 ** width);
    if (size > BLOCK_BYTES || end > block.length) refuse('literals of its frame are cut short');
    let from = head;
    if (kind === 2) {
      const { table, bytes } = readHuffmanTable(block.subarray(head, end), refuse);
      this.#huffman = table;
      from += bytes;
    }
    const table = this.#huffman ?? refuse('literals of its frame have no Huffman code');
    this.#literals = new Uint8Array(size);
    const streams = block.subarray(from, end);
    if (format === 0) huffmanStream(streams, this.#literals, table, refuse);
    else this.#fourStreams(streams, table);
    return end;
  }

  #fourStreams(bytes: Uint8Array, table: HuffmanTable): void {
    const quarter = (this.#literals.length + 3) >> 2;
    if (bytes.length < 6 || quarter * 3 > this.#literals.length) {
      this.#refuse('literals of its frame are cut short');
    }
    let from = 6;
    for (let stream = 0; stream < 4; stream += 1) {
      const length = (bytes[stream * 2] as number) | ((bytes[stream * 2 + 1] as number) << 8);
      const to = stream === 3 ? bytes.length : from + length;
      if (to > bytes.length) this.#refuse('literals of its frame are cut short');
      const into = this.#literals.subarray(
        stream * quarter,
        stream === 3 ? undefined : (stream + 1) * quarter,
      );
      huffmanStream(bytes.subarray(from, to), into, table, this.#refuse);
      from = to;
    }
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

  #sequences(
    bits: BackwardBits,
    count: number,
    tables: readonly FseTable[],
    limit: number,
  ): number {
    const [literals, offsets, matches] = tables as [FseTable, FseTable, FseTable];
    const output = this.#output;
    let literalState = bits.take(literals.accuracy);
    let offsetState = bits.take(offsets.accuracy);
    let matchState = bits.take(matches.accuracy);
    let used = 0;
    for (let each = 0; each < count; each += 1) {
      const offsetCode = offsets.symbols[offsetState] as number;
      const matchCode = MATCH_CODES[matches.symbols[matchState] as number]!;
      const literalCode = LITERAL_CODES[literals.symbols[literalState] as number]!;
      const offset = 2 ** offsetCode + bits.take(offsetCode);
      const length = matchCode[0] + bits.take(matchCode[1]);
      const run = literalCode[0] + bits.take(literalCode[1]);
      if (each + 1 < count) {
        literalState = step(literals, literalState, bits);
        matchState = step(matches, matchState, bits);
        offsetState = step(offsets, offsetState, bits);
      }
      if (used + run > this.#literals.length) {
        this.#refuse('sequences of its frame use more literals than there are');
      }
      if (this.end + run + length > limit) this.#overflow();
      copyRun(this.#literals, used, output, this.end, run);
      used += run;
      this.end += run;
      const distance = this.#distance(offset, run === 0);
      if (distance < 1 || distance > this.end - this.#start) {
        this.#refuse('a match in its Zstandard frame leads out of its bounds');
      }
      copyMatch(output, this.end, distance, length);
      this.end += length;
    }
    if (bits.left !== 0) this.#refuse('bits follow the sequences of its frame');
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

const step = (table: FseTable, state: number, bits: BackwardBits): number =>
  (table.bases[state] as number) + bits.take(table.bits[state] as number);

/** Fills `output` with the symbols of one stream, which must end there. */
function huffmanStream(
  bytes: Uint8Array,
  output: Uint8Array,
  table: HuffmanTable,
  refuse: Refuse,
): void {
  const stream = new BackwardBits(bytes, refuse);
  const { width, symbols, bits } = table;
  for (let at = 0; at < output.length; at += 1) {
    const code = stream.peek(width);
    output[at] = symbols[code] as number;
    stream.left -= bits[code] as number;
    if (stream.left < 0) refuse('literals of its frame are cut short');
  }
  if (stream.left !== 0) refuse('bits follow the literals of its frame');
}
