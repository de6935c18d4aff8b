/**
 * `chunkOutlines` reads from a chunk, in steps, the few facts about each fragment that a manifest
 * for Lance needs (`FragmentOutline`). It skips the statistics, so it is faster than decoding the
 * chunk. It returns undefined if any entry has another form than the usual one, such as one with
 * deleted rows, overlays or no Lance part; the caller then decodes the chunk (chunk.ts). Bytes that
 * are not the chunk of the manifest throw Corrupt.
 */
import { verifiedChecksum } from '../../json.ts';
import { type ChunkEntry, requireChunk } from './chunk.ts';
import { BLOCKS_MEMBER, FIRST_BLOCK, FRAGMENTS_MEMBER } from './chunk-index.ts';
import type { FragmentEntry } from './fragment-entry.ts';

/** What Lance's manifest tells of a fragment. */
export type FragmentOutline = Pick<
  FragmentEntry,
  'id' | 'file' | 'rows' | 'lance' | 'overlays' | 'deletion'
>;

/** The list of entries, with the quote that ends the checksum, which no checksum covers. */
const LIST = `",${FRAGMENTS_MEMBER}`;
const NUMBER = '(0|[1-9]\\d{0,14})';
const IDS = '\\[((?:\\d{1,9}(?:,\\d{1,9})*)?)\\]';
/** An entry up to its statistics. */
const BEGIN = new RegExp(
  `\\{"id":${NUMBER},"file":"([0-9a-f-]{8,64})","rows":${NUMBER},"bytes":${NUMBER},"footer_bytes":${NUMBER},"footer_crc32":${NUMBER},"fields":${IDS},"statistics":\\[`,
  'y',
);
/**
 * What follows the statistics, which are lists without objects: quotes within their texts are escaped,
 * so that nothing in them reads like this.
 */
const LANCE = '],"lance":{"bytes":';
const END = new RegExp(
  `${NUMBER}(?:,"fields":${IDS})?\\}(?:,"compressed":(?:true|false))?\\}`,
  'y',
);

/** Entries between two steps. */
const STEP_ENTRIES = 512;

/** @throws Corrupt when the bytes are not the ones the manifest speaks of */
export function* chunkOutlines(
  bytes: Uint8Array,
  entry: ChunkEntry,
  file: string,
): Generator<undefined, readonly FragmentOutline[] | undefined> {
  requireChunk(verifiedChecksum(bytes, file), bytes, entry, file);
  // A letter for each byte: what is read is ASCII.
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
  if (!text.startsWith(LIST, FIRST_BLOCK - LIST.length)) return undefined;
  const ids = new IdLists();
  const outlines: FragmentOutline[] = [];
  let at = FIRST_BLOCK;
  for (; ; at++) {
    BEGIN.lastIndex = at;
    const begin = BEGIN.exec(text);
    if (begin === null) return undefined;
    const lanceAt = text.indexOf(LANCE, BEGIN.lastIndex);
    END.lastIndex = lanceAt + LANCE.length;
    const end = lanceAt < 0 ? null : END.exec(text);
    if (end === null) return undefined;
    const fileSize = Number(end[1]);
    // A footer that the file or its Lance part leaves no room for is damage, which decoding reports.
    if (Number(begin[5]) + fileSize > Number(begin[4])) return undefined;
    outlines.push({
      id: Number(begin[1]),
      file: begin[2] as string,
      rows: Number(begin[3]),
      lance: { fileSize, fields: ids.of(end[2] ?? (begin[7] as string)) },
      overlays: undefined,
      deletion: undefined,
    });
    at = END.lastIndex;
    if (text.charCodeAt(at) !== COMMA) break;
    if (outlines.length % STEP_ENTRIES === 0) yield;
  }
  const isEnd = text.startsWith(BLOCKS_MEMBER, at) || text.slice(at) === ']}\n';
  // An entry in which the text of the next one was taken for its own makes them too few.
  return isEnd && outlines.length === entry.fragments ? outlines : undefined;
}

const COMMA = 0x2c;

/** Lists of field ids. Those of neighbours are mostly the same, and so become the same list. */
class IdLists {
  #text: string | undefined;
  #ids: readonly number[] = [];

  of(text: string): readonly number[] {
    if (text !== this.#text) {
      this.#text = text;
      this.#ids = text === '' ? [] : text.split(',').map(Number);
    }
    return this.#ids;
  }
}
