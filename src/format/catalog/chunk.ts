/**
 * Encodes (`encodeChunkInSteps`) and decodes (`decodeChunkInSteps`) chunk files, in short steps. A
 * chunk is an immutable run of fragment entries that manifests share, so that the manifest of a
 * table with thousands of fragments stays short. A manifest refers to a chunk by a `ChunkEntry`
 * (`encodeChunkEntry`, `decodeChunkEntry`). Decoding checks the chunk against its checksum, size
 * and count, and throws Corrupt if they differ; `checkChunk` also checks its ids and its index.
 * chunk-index.ts reads single blocks of a chunk.
 */
import { crc32 } from 'node:zlib';
import {
  arrayMember,
  asObject,
  corrupt,
  encodeChecksummedInSteps,
  fileIdMember,
  integerMember,
  parseChecksummedInSteps,
  stringMember,
} from '../../json.ts';
import {
  BLOCKS_MEMBER,
  type ChunkBlock,
  checkChunkIndex,
  decodeChunkIndexEntry,
  encodeChunkIndexEntry,
  extentOf,
  FIRST_BLOCK,
  FRAGMENTS_MEMBER,
  type IndexedChunk,
  indexText,
} from './chunk-index.ts';
import { decodeFragment, type FragmentEntry, fragmentText } from './fragment-entry.ts';

export interface ChunkEntry extends IndexedChunk {
  readonly file: string;
  /** Checksum of the chunk file. */
  readonly checksum: string;
  /** Size of the chunk file in bytes. */
  readonly size: number;
}

export function encodeChunkEntry(chunk: ChunkEntry): Record<string, unknown> {
  return {
    file: chunk.file,
    crc32: chunk.checksum,
    size: chunk.size,
    fragments: chunk.fragments,
    first_id: chunk.firstId,
    last_id: chunk.lastId,
    ...(chunk.index === undefined ? {} : { index: encodeChunkIndexEntry(chunk.index) }),
  };
}

export function decodeChunkEntry(value: unknown, file: string): ChunkEntry {
  const entry = asObject(value, file, 'a chunk');
  const chunk = {
    file: fileIdMember(entry, 'file', file),
    checksum: stringMember(entry, 'crc32', file),
    size: integerMember(entry, 'size', file),
    fragments: integerMember(entry, 'fragments', file),
    firstId: integerMember(entry, 'first_id', file),
    lastId: integerMember(entry, 'last_id', file),
  };
  if (!Object.hasOwn(entry, 'index')) return chunk;
  return { ...chunk, index: decodeChunkIndexEntry(entry.index, chunk.size, file) };
}

/** A block of another chunk, with the text of its entries. */
export interface EncodedBlock {
  readonly block: ChunkBlock;
  readonly bytes: Uint8Array;
}

/**
 * Encodes a chunk, in steps because an entry of very many columns is long.
 * @param file its name
 * @param encoded by the place of their first entry, blocks whose bytes are known to be those of the entries
 */
export function* encodeChunkInSteps(
  file: string,
  fragments: readonly FragmentEntry[],
  encoded: ReadonlyMap<number, EncodedBlock> = new Map(),
): Generator<undefined, { bytes: Uint8Array; entry: ChunkEntry }> {
  const blocks: ChunkBlock[] = [];
  const { bytes, checksum } = yield* encodeChecksummedInSteps(pieces(fragments, encoded, blocks));
  const { fragments: _, firstId, lastId, ...counts } = extentOf(fragments);
  const last = blocks.at(-1);
  const offset =
    (last === undefined ? FIRST_BLOCK : last.offset + last.bytes) + BLOCKS_MEMBER.length;
  const text = indexText(blocks);
  const index = { ...counts, offset, bytes: text.length, checksum: crc32(text) };
  return {
    bytes,
    entry: {
      file,
      checksum,
      size: bytes.length,
      fragments: fragments.length,
      firstId,
      lastId,
      index,
    },
  };
}

/** Characters of a block, about: what is parsed to find one fragment. */
const BLOCK = 1 << 13;
/** Characters of a piece of a chunk's text, about. */
const PIECE = 1 << 17;

/** The document in pieces; the blocks that it consists of are added to `blocks`. */
function* pieces(
  fragments: readonly FragmentEntry[],
  encoded: ReadonlyMap<number, EncodedBlock>,
  blocks: ChunkBlock[],
): Generator<string | Uint8Array> {
  let piece = `{${FRAGMENTS_MEMBER}`;
  let text = '';
  let offset = FIRST_BLOCK;
  let first = 0;
  let at = 0;
  while (at < fragments.length) {
    const known = at === first ? encoded.get(at) : undefined;
    if (known !== undefined) {
      yield first === 0 ? piece : `${piece},`;
      yield known.bytes;
      piece = '';
      blocks.push({ ...known.block, offset });
      offset += known.bytes.length + 1;
      at += known.block.fragments;
      first = at;
      continue;
    }
    const fragment = fragments[at] as FragmentEntry;
    text += at === first ? fragmentText(fragment) : `,${fragmentText(fragment)}`;
    at++;
    if (text.length < BLOCK && at < fragments.length && !encoded.has(at)) continue;
    const bytes = Buffer.from(text);
    const extent = extentOf(fragments, first, at);
    blocks.push({ ...extent, offset, bytes: bytes.length, checksum: crc32(bytes) });
    piece += first === 0 ? text : `,${text}`;
    offset += bytes.length + 1;
    first = at;
    text = '';
    if (piece.length < PIECE) continue;
    yield piece;
    piece = '';
  }
  yield `${piece}${BLOCKS_MEMBER}${indexText(blocks)}}`;
}

/** Whether a block is long enough to be taken over as it is: rows of short ones are blocks of few entries. */
export const isWorthCopying = ({ bytes }: ChunkBlock): boolean => bytes >= BLOCK / 2;

/** @throws Corrupt where a document is another one than the manifest refers to */
export function requireChunk(
  checksum: string,
  bytes: Uint8Array,
  entry: ChunkEntry,
  file: string,
): void {
  if (checksum === entry.checksum && bytes.length === entry.size) return;
  throw corrupt(file, 'it is not the chunk that the manifest refers to');
}

/** Entries that are looked at in one step. */
const STEP_ENTRIES = 64;

/** The entries of a chunk, in steps where it is long. @throws Corrupt naming `file` */
export function* decodeChunkInSteps(
  bytes: Uint8Array,
  entry: ChunkEntry,
  file: string,
): Generator<undefined, FragmentEntry[]> {
  const { document, checksum } = yield* parseChecksummedInSteps(bytes, file);
  requireChunk(checksum, bytes, entry, file);
  const fragments: FragmentEntry[] = [];
  for (const value of arrayMember(document, 'fragments', file)) {
    fragments.push(decodeFragment(value, file));
    if (fragments.length % STEP_ENTRIES === 0) yield;
  }
  if (fragments.length !== entry.fragments) {
    throw corrupt(file, `it lists ${fragments.length} fragments, not ${entry.fragments}`);
  }
  return fragments;
}

/** Whether the index of a chunk, where it has one, says what is true of its fragments. @throws Corrupt */
export function checkChunk(
  bytes: Uint8Array,
  entry: ChunkEntry,
  fragments: readonly FragmentEntry[],
  file: string,
): void {
  const extent = extentOf(fragments);
  if (extent.firstId !== entry.firstId || extent.lastId !== entry.lastId) {
    throw corrupt(file, 'its fragments have other ids than the manifest says');
  }
  if (entry.index !== undefined) checkChunkIndex(bytes, entry, fragments, file);
}
