/**
 * Encodes and decodes the index of a chunk file: for each block of entries its length, checksum,
 * counts and range of fragment ids (`indexText`, `decodeChunkIndex`). With it a reader parses
 * single blocks instead of the whole chunk (`decodeChunkBlock`). `checkChunkIndex` compares an
 * index with all entries, if there is one, and `extentOf` counts entries. A mismatch throws
 * Corrupt. The manifest holds the place and checksum of the index (`ChunkIndexEntry`,
 * `decodeChunkIndexEntry`). Older releases ignore the index and write chunks without one.
 */
import { crc32 } from 'node:zlib';
import {
  asObject,
  CHECKSUM_BYTES,
  corrupt,
  integerMember,
  isWholeNumber,
  parsedText,
} from '../../json.ts';
import { decodeFragment, type FragmentEntry, liveRows } from './fragment-entry.ts';

/** What is known of a run of fragments without its entries. */
export interface FragmentExtent {
  readonly fragments: number;
  /** Rows in the files, deleted ones included. */
  readonly rows: number;
  readonly deletedRows: number;
  /** Lowest and highest fragment id inside. */
  readonly firstId: number;
  readonly lastId: number;
}

/** A run of entries of a chunk, and where its text lies in the file. */
export interface ChunkBlock extends FragmentExtent {
  readonly offset: number;
  readonly bytes: number;
  readonly checksum: number;
}

/** What a manifest says of a chunk's rows, and of its index. */
export interface ChunkIndexEntry {
  readonly rows: number;
  readonly deletedRows: number;
  /** Where the index lies in the chunk file. */
  readonly offset: number;
  readonly bytes: number;
  readonly checksum: number;
}

/** What a manifest says of a chunk. */
export interface IndexedChunk {
  readonly fragments: number;
  /** Lowest and highest fragment id inside. */
  readonly firstId: number;
  readonly lastId: number;
  /** Row counts and the place of the chunk's index; older releases wrote none. */
  readonly index?: ChunkIndexEntry | undefined;
}

/** The members of a chunk's document, as they stand in its text. */
export const FRAGMENTS_MEMBER = '"fragments":[';
export const BLOCKS_MEMBER = '],"blocks":';
/** Where the first block begins. */
export const FIRST_BLOCK: number = CHECKSUM_BYTES + FRAGMENTS_MEMBER.length;

/** Counts and ids of the fragments from `from` to before `to`. */
export function extentOf(
  fragments: readonly FragmentEntry[],
  from = 0,
  to: number = fragments.length,
): FragmentExtent {
  let rows = 0;
  let live = 0;
  let firstId = Number.MAX_SAFE_INTEGER;
  let lastId = 0;
  for (let at = from; at < to; at++) {
    const fragment = fragments[at] as FragmentEntry;
    rows += fragment.rows;
    live += liveRows(fragment);
    firstId = Math.min(firstId, fragment.id);
    lastId = Math.max(lastId, fragment.id);
  }
  return { fragments: to - from, rows, deletedRows: rows - live, firstId, lastId };
}

/** Positions are not stored: blocks lie one behind the other, with a comma between them. */
export const indexText = (blocks: readonly ChunkBlock[]): string =>
  JSON.stringify(
    blocks.map(({ bytes, checksum, fragments, rows, deletedRows, firstId, lastId }) => [
      bytes,
      checksum,
      fragments,
      rows,
      deletedRows,
      firstId,
      lastId,
    ]),
  );

export const encodeChunkIndexEntry = (index: ChunkIndexEntry): Record<string, unknown> => ({
  rows: index.rows,
  deleted_rows: index.deletedRows,
  offset: index.offset,
  bytes: index.bytes,
  crc32: index.checksum,
});

/** @param size of the chunk file */
export function decodeChunkIndexEntry(value: unknown, size: number, file: string): ChunkIndexEntry {
  const entry = asObject(value, file, 'the index of a chunk');
  const index = {
    rows: integerMember(entry, 'rows', file),
    deletedRows: integerMember(entry, 'deleted_rows', file),
    offset: integerMember(entry, 'offset', file),
    bytes: integerMember(entry, 'bytes', file),
    checksum: integerMember(entry, 'crc32', file),
  };
  if (index.deletedRows > index.rows)
    throw corrupt(file, 'a chunk has more deleted rows than rows');
  if (index.offset + index.bytes <= size) return index;
  throw corrupt(file, 'the index of a chunk ends behind the chunk');
}

/**
 * The blocks of a chunk, in row order.
 * @param bytes those of the index
 * @throws Corrupt where they are not those that the manifest speaks of
 */
export function decodeChunkIndex(
  bytes: Uint8Array,
  entry: IndexedChunk,
  file: string,
): ChunkBlock[] {
  const { index } = entry;
  if (index === undefined || bytes.length !== index.bytes || crc32(bytes) !== index.checksum) {
    throw corrupt(file, 'its index does not match its checksum');
  }
  const listed = parsedText(bytes, file);
  if (!Array.isArray(listed)) throw corrupt(file, 'its index is not a list');
  const blocks: ChunkBlock[] = new Array(listed.length);
  let fragments = 0;
  let rows = 0;
  let deletedRows = 0;
  let next = FIRST_BLOCK;
  // Plain steps: the first read of a table goes over all blocks, before anything is compiled.
  for (let at = 0; at < listed.length; at++) {
    const block = decodeBlockEntry(listed[at], next, file);
    if (block.firstId < entry.firstId || block.lastId > entry.lastId) {
      throw corrupt(file, 'a block of its index has ids that the manifest does not');
    }
    fragments += block.fragments;
    rows += block.rows;
    deletedRows += block.deletedRows;
    next = block.offset + block.bytes + 1;
    blocks[at] = block;
  }
  const end = (blocks.length === 0 ? next : next - 1) + BLOCKS_MEMBER.length;
  if (end !== index.offset) throw corrupt(file, 'the blocks of its index do not cover its entries');
  if (fragments === entry.fragments && rows === index.rows && deletedRows === index.deletedRows) {
    return blocks;
  }
  throw corrupt(file, 'the blocks of its index have other counts than the manifest says');
}

const BLOCK_NUMBERS = 7;

function decodeBlockEntry(item: unknown, offset: number, file: string): ChunkBlock {
  const numbers: readonly number[] = Array.isArray(item) ? item : [];
  let whole = numbers.length === BLOCK_NUMBERS;
  for (let at = 0; whole && at < BLOCK_NUMBERS; at++) whole = isWholeNumber(numbers[at]);
  if (!whole) throw corrupt(file, 'a block of its index is not seven whole numbers');
  return {
    fragments: numbers[2] as number,
    rows: numbers[3] as number,
    deletedRows: numbers[4] as number,
    firstId: numbers[5] as number,
    lastId: numbers[6] as number,
    offset,
    bytes: numbers[0] as number,
    checksum: numbers[1] as number,
  };
}

/** @throws Corrupt where the bytes are not those that the index speaks of */
export function verifyChunkBlock(bytes: Uint8Array, block: ChunkBlock, file: string): void {
  if (bytes.length === block.bytes && crc32(bytes) === block.checksum) return;
  throw corrupt(file, `its entries from byte ${block.offset} on do not match their checksum`);
}

/** The entries of one block. @throws Corrupt where the bytes are not those that the index speaks of */
export function decodeChunkBlock(
  bytes: Uint8Array,
  block: ChunkBlock,
  file: string,
): FragmentEntry[] {
  verifyChunkBlock(bytes, block, file);
  const listed = parsedText(bytes, file, '[', ']') as readonly unknown[];
  const entries = listed.map((value) => decodeFragment(value, file));
  if (isExtent(block, extentOf(entries))) return entries;
  throw corrupt(file, `its entries from byte ${block.offset} on are not those of its index`);
}

const isExtent = (one: FragmentExtent, other: FragmentExtent): boolean =>
  one.fragments === other.fragments &&
  one.rows === other.rows &&
  one.deletedRows === other.deletedRows &&
  one.firstId === other.firstId &&
  one.lastId === other.lastId;

/** @param bytes of the whole file @throws Corrupt where the index is not that of the fragments */
export function checkChunkIndex(
  bytes: Uint8Array,
  entry: IndexedChunk,
  fragments: readonly FragmentEntry[],
  file: string,
): void {
  const { index } = entry;
  if (index === undefined) return;
  const place = bytes.subarray(index.offset, index.offset + index.bytes);
  let from = 0;
  for (const block of decodeChunkIndex(place, entry, file)) {
    const to = from + block.fragments;
    const text = bytes.subarray(block.offset, block.offset + block.bytes);
    if (crc32(text) !== block.checksum || !isExtent(block, extentOf(fragments, from, to))) {
      throw corrupt(file, `its index says something else of its entries from ${from} on`);
    }
    from = to;
  }
}
