/**
 * `readSequences` reads the header of the sequences section of a Zstandard block. It returns the
 * number of sequences, the three FSE tables that code them, and the position of their bit stream.
 * For a block without sequences it returns undefined. Damaged headers go to the caller's `refuse`.
 * `LITERAL_CODES`, `MATCH_CODES` and `DISTRIBUTIONS` are the constants of the format, which the
 * encoder uses too. zstd-blocks.ts and zstd-short.ts execute the sequences.
 */
import type { Refuse } from './flatbuffer.ts';
import { type FseTable, fseTable, readFseTable, singleTable } from './zstd-tables.ts';

/** By code: the least value that it stands for, and how many bits to add to that follow. */
export interface Codes {
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
export const LITERAL_CODES: Codes = codes(0, [
  [16, 0],
  [4, 1],
  [2, 2],
  [2, 3],
  [1, 4],
  ...each(6, 16),
]);
export const MATCH_CODES: Codes = codes(3, [
  [32, 0],
  [4, 1],
  [2, 2],
  [2, 3],
  [2, 4],
  [1, 5],
  ...each(7, 16),
]);

const impossible: Refuse = (problem) => {
  throw new RangeError(problem);
};

/** One of the three codes of a sequence: its limits and what it is without a description. */
interface SequenceCode {
  readonly maxAccuracy: number;
  readonly maxSymbol: number;
  readonly standard: () => FseTable;
}

/** How often each code of literal lengths, offsets and match lengths occurs, where nothing is said. */
export const DISTRIBUTIONS = [
  {
    counts: [4, 3, ...times(11, 2), 1, 1, 1, ...times(9, 2), 3, 2, ...times(5, 1), ...times(4, -1)],
    accuracy: 6,
  },
  { counts: [...times(6, 1), 2, 2, 2, ...times(15, 1), ...times(5, -1)], accuracy: 5 },
  { counts: [1, 4, 3, ...times(6, 2), ...times(37, 1), ...times(7, -1)], accuracy: 6 },
] as const;
const [LITERALS, OFFSETS, MATCHES] = [
  { maxAccuracy: 9, maxSymbol: 35, standard: standardTable(0) },
  { maxAccuracy: 8, maxSymbol: 31, standard: standardTable(1) },
  { maxAccuracy: 9, maxSymbol: 52, standard: standardTable(2) },
];

/** Made when it is first asked for: most programs never decode a block. */
function standardTable(code: 0 | 1 | 2): () => FseTable {
  let table: FseTable | undefined;
  return () => {
    const { counts, accuracy } = DISTRIBUTIONS[code];
    table ??= fseTable(counts, accuracy, impossible);
    return table;
  };
}

/** For the lengths of literals, the offsets and the lengths of matches. */
export type SequenceTables = readonly [literals: FseTable, offsets: FseTable, matches: FseTable];

export interface Sequences {
  readonly count: number;
  readonly tables: SequenceTables;
  /** Where the stream of their bits begins; it goes to the end. */
  readonly at: number;
}

/**
 * Undefined where the block has none.
 * @param known the tables of the last block that had some
 */
export function readSequences(
  bytes: Uint8Array,
  known: SequenceTables | undefined,
  refuse: Refuse,
): Sequences | undefined {
  const first = bytes[0] ?? refuse('sequences of its frame are missing');
  if (first === 0) {
    if (bytes.length > 1) refuse('bytes follow the sequences of its frame');
    return undefined;
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
  const table = (code: SequenceCode, index: 0 | 1 | 2): FseTable => {
    const mode = (modes >> (6 - 2 * index)) & 3;
    if (mode === 0) return code.standard();
    if (mode === 3) return known?.[index] ?? refuse('a table of its frame is missing');
    if (mode === 1) {
      const symbol = bytes[at] ?? refuse('sequences of its frame are cut short');
      if (symbol > code.maxSymbol) refuse('sequences of its frame have an unknown code');
      at += 1;
      return singleTable(symbol);
    }
    const read = readFseTable(bytes.subarray(at), code.maxAccuracy, code.maxSymbol, refuse);
    at += read.bytes;
    return read.table;
  };
  const tables = [table(LITERALS, 0), table(OFFSETS, 1), table(MATCHES, 2)] as const;
  return { count, tables, at };
}
