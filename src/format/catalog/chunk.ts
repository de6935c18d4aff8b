/**
 * Encodes (`encodeChunk`) and decodes (`decodeChunk`, `decodeChunkInSteps`) chunk files, immutable
 * runs of fragment entries that manifests share. They keep the manifest of a table of 10,000
 * fragments short. A manifest refers to a chunk by a `ChunkEntry`, which is encoded and decoded
 * here too. Decoding verifies the chunk against the checksum, size and count of that entry, and
 * throws Corrupt if they differ.
 */

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
import { drained } from '../../steps.ts';
import { decodeFragment, type FragmentEntry, fragmentText } from './fragment-entry.ts';

export interface ChunkEntry {
  readonly file: string;
  /** Checksum of the chunk file. */
  readonly checksum: string;
  /** Size of the chunk file in bytes. */
  readonly size: number;
  readonly fragments: number;
  /** Lowest and highest fragment id inside. */
  readonly firstId: number;
  readonly lastId: number;
}

export function encodeChunkEntry(chunk: ChunkEntry): Record<string, unknown> {
  return {
    file: chunk.file,
    crc32: chunk.checksum,
    size: chunk.size,
    fragments: chunk.fragments,
    first_id: chunk.firstId,
    last_id: chunk.lastId,
  };
}

export function decodeChunkEntry(value: unknown, file: string): ChunkEntry {
  const entry = asObject(value, file, 'a chunk');
  return {
    file: fileIdMember(entry, 'file', file),
    checksum: stringMember(entry, 'crc32', file),
    size: integerMember(entry, 'size', file),
    fragments: integerMember(entry, 'fragments', file),
    firstId: integerMember(entry, 'first_id', file),
    lastId: integerMember(entry, 'last_id', file),
  };
}

export const encodeChunk = (
  file: string,
  fragments: readonly FragmentEntry[],
): { bytes: Uint8Array; entry: ChunkEntry } => drained(encodeChunkInSteps(file, fragments));

/** The same in steps: an entry of very many columns is long. */
export function* encodeChunkInSteps(
  file: string,
  fragments: readonly FragmentEntry[],
): Generator<undefined, { bytes: Uint8Array; entry: ChunkEntry }> {
  const { bytes, checksum } = yield* encodeChecksummedInSteps(pieces(fragments));
  const ids = fragments.map((fragment) => fragment.id);
  return {
    bytes,
    entry: {
      file,
      checksum,
      size: bytes.length,
      fragments: fragments.length,
      firstId: ids.reduce((low, id) => Math.min(low, id), Number.MAX_SAFE_INTEGER),
      lastId: ids.reduce((high, id) => Math.max(high, id), 0),
    },
  };
}

/** Characters of a piece of a chunk's text, about. */
const PIECE = 1 << 17;

function* pieces(fragments: readonly FragmentEntry[]): Generator<string> {
  let text = '{"fragments":[';
  for (const [at, fragment] of fragments.entries()) {
    text += at === 0 ? fragmentText(fragment) : `,${fragmentText(fragment)}`;
    if (text.length < PIECE) continue;
    yield text;
    text = '';
  }
  yield `${text}]}`;
}

/** @throws Corrupt when the bytes are not the ones the manifest speaks of */
export const decodeChunk = (bytes: Uint8Array, entry: ChunkEntry, file: string): FragmentEntry[] =>
  drained(decodeChunkInSteps(bytes, entry, file));

/** Entries that are looked at in one step. */
const STEP_ENTRIES = 64;

/** The same, in steps where it is long. */
export function* decodeChunkInSteps(
  bytes: Uint8Array,
  entry: ChunkEntry,
  file: string,
): Generator<undefined, FragmentEntry[]> {
  const { document, checksum } = yield* parseChecksummedInSteps(bytes, file);
  if (checksum !== entry.checksum || bytes.length !== entry.size) {
    throw corrupt(file, 'it is not the chunk that the manifest refers to');
  }
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
