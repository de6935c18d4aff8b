/**
 * Seals and decodes the postings of a term: the documents that contain it, and how often it occurs
 * in each. `sealPostings` puts a directory of blocks in front of encoded postings if they have more
 * than 128 documents. `readPostings` decodes all documents. `BlockReader` decodes single blocks,
 * each into the same arrays, and looks up the count of single documents, which have to be asked for
 * in order. `NumberReader` reads single numbers, also for phrases.ts, and `firstFrom` finds a
 * document in an ascending list. The bytes come from files, so decoding checks them and throws
 * BadPostings, which callers turn into an error that names the file.
 */
import { MOST_SHARE, termShare } from './scores.ts';

/** Documents of a block. */
export const BLOCK = 128;
const BLOCK_BYTES = 10;
const MOST_U16 = 0xffff;

/** Thrown at bytes that are no postings; the caller knows the file. */
export class BadPostings extends Error {}

/** Thrown at bytes that are no positions of words, which lie in another file than postings. */
export class BadPositions extends BadPostings {}

export const bad = (what: string): BadPostings => new BadPostings(what);

/** Reads numbers of 7-bit groups from bytes. */
export class NumberReader {
  at: number;
  readonly bytes: Uint8Array;
  readonly #bad: (what: string) => Error;

  /** @param unfit makes the error for bytes that are no numbers */
  constructor(bytes: Uint8Array, at = 0, unfit: (what: string) => Error = bad) {
    this.bytes = bytes;
    this.at = at;
    this.#bad = unfit;
  }

  next(): number {
    const { bytes } = this;
    let byte = bytes[this.at++] as number;
    if (byte < 0x80) return byte;
    let value = byte & 0x7f;
    let factor = 0x80;
    for (let group = 1; group < 6; group++) {
      byte = bytes[this.at++] as number;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
      factor *= 0x80;
    }
    throw this.#bad('a number is cut off or too long');
  }
}

/**
 * The bytes of a term as they are stored. A document is a number of 7-bit groups: twice its
 * distance from the document before less 1, plus 1 where the term occurs more than once; then the
 * count less 2 follows. A block of the directory is the last document (u32), the end of its bytes
 * (u32), and the highest share of its documents, computed with the average length of the segment,
 * in steps of MOST_SHARE / 65,535 rounded up (u16). @param lengths tokens of each document @param
 * average of those that have any
 */
export function sealPostings(
  bytes: Uint8Array,
  documents: number,
  lengths: Uint32Array,
  average: number,
): Uint8Array {
  if (documents <= BLOCK) return bytes;
  const blocks = Math.ceil(documents / BLOCK);
  const sealed = new Uint8Array(blocks * BLOCK_BYTES + bytes.length);
  const view = new DataView(sealed.buffer);
  const reader = new NumberReader(bytes);
  let document = -1;
  for (let block = 0, left = documents; block < blocks; block++, left -= BLOCK) {
    let highest = 0;
    for (let at = Math.min(left, BLOCK); at > 0; at--) {
      const code = reader.next();
      document += Math.floor(code / 2) + 1;
      const count = code % 2 === 1 ? reader.next() + 2 : 1;
      highest = Math.max(highest, termShare(count, lengths[document] as number, average));
    }
    const at = block * BLOCK_BYTES;
    view.setUint32(at, document, true);
    view.setUint32(at + 4, reader.at, true);
    view.setUint16(at + 8, Math.ceil((highest / MOST_SHARE) * MOST_U16), true);
  }
  sealed.set(bytes, blocks * BLOCK_BYTES);
  return sealed;
}

/** Documents that have a term, ascending, and how often it occurs in each. */
export interface Postings {
  readonly documents: Uint32Array;
  readonly counts: Uint32Array;
}

/** @param rows documents that there are. @throws BadPostings */
export function readPostings(sealed: Uint8Array, documents: number, rows: number): Postings {
  if (documents > rows) throw bad(`a term is in ${documents} documents of ${rows}`);
  const directory = documents <= BLOCK ? 0 : Math.ceil(documents / BLOCK) * BLOCK_BYTES;
  // Each takes a byte or more, so a damaged count cannot ask for more memory than there are bytes.
  if (sealed.length - directory < documents) throw bad('the postings of a term are cut off');
  const found = { documents: new Uint32Array(documents), counts: new Uint32Array(documents) };
  const place = { at: directory, document: -1 };
  readDocuments(sealed, place, documents, found);
  if (place.at !== sealed.length) throw bad('the postings of a term have another length');
  if (place.document >= rows) throw bad(`a term is in document ${place.document} of ${rows}`);
  return found;
}

/** The place where reading documents begins; afterwards, where it has ended. */
interface Place {
  at: number;
  /** The one before. */
  document: number;
}

function readDocuments(
  sealed: Uint8Array,
  place: Place,
  count: number,
  { documents, counts }: { readonly documents: Uint32Array; readonly counts: Uint32Array },
): void {
  let { at, document } = place;
  for (let next = 0; next < count; next++) {
    let code = sealed[at++] as number;
    if (code >= 0x80) {
      const second = sealed[at] as number;
      if (second < 0x80) {
        at += 1;
        code = (code & 0x7f) | (second << 7);
      } else {
        // Numbers of more bits than integer operations take.
        const reader = new NumberReader(sealed, at - 1);
        const long = reader.next();
        at = reader.at;
        document += Math.floor(long / 2);
        code = long % 2;
      }
    }
    document += (code >>> 1) + 1;
    let times = 1;
    if ((code & 1) === 1) {
      times = (sealed[at++] as number) + 2;
      if (times >= 0x82) {
        const reader = new NumberReader(sealed, at - 1);
        times = reader.next() + 2;
        at = reader.at;
      }
    }
    documents[next] = document;
    counts[next] = times;
  }
  place.at = at;
  place.document = document;
}

/**
 * The first place from `low` on, before `high`, whose document is `least` or later; `high` if there
 * is none. A search shared with arrays of other types (binary-search.ts) takes twice as long.
 */
export function firstFrom(
  documents: Uint32Array,
  least: number,
  low: number,
  high: number,
): number {
  let [from, to] = [low, high];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((documents[middle] as number) < least) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** Reads postings block by block, and tells what is in a block before it is read. */
export class BlockReader {
  readonly blocks: number;
  /** The last document of each block. */
  readonly last: Uint32Array;
  /** No share of a document of the block is higher, by the average length of the segment. */
  readonly highest: Float64Array;
  /** The block that was read last; -1 before. */
  block = -1;
  readonly documents: Uint32Array = new Uint32Array(BLOCK);
  readonly counts: Uint32Array = new Uint32Array(BLOCK);
  /** Documents of that block. */
  count = 0;
  readonly #sealed: Uint8Array;
  readonly #total: number;
  readonly #ends: Uint32Array;
  /** The block that documents were looked up in last, and how far it was read. */
  #sought = -1;
  #at = 0;
  #document = -1;
  #times = 0;
  #left = 0;

  /** @param rows documents that there are. @throws BadPostings */
  constructor(sealed: Uint8Array, documents: number, rows: number) {
    this.#sealed = sealed;
    this.#total = documents;
    const blocks = Math.ceil(documents / BLOCK);
    this.blocks = blocks;
    this.last = new Uint32Array(blocks);
    this.highest = new Float64Array(blocks);
    this.#ends = new Uint32Array(blocks);
    if (documents <= BLOCK) {
      this.last.fill(rows - 1);
      this.highest.fill(MOST_SHARE);
      this.#ends.fill(sealed.length);
      if (blocks === 1) this.read(0);
      return;
    }
    const bodies = blocks * BLOCK_BYTES;
    if (sealed.length < bodies + documents) throw bad('the postings of a term are cut off');
    const view = new DataView(sealed.buffer, sealed.byteOffset, bodies);
    for (let block = 0; block < blocks; block++) {
      const at = block * BLOCK_BYTES;
      this.last[block] = view.getUint32(at, true);
      this.#ends[block] = bodies + view.getUint32(at + 4, true);
      this.highest[block] = (view.getUint16(at + 8, true) / MOST_U16) * MOST_SHARE;
      const before = block === 0 ? -1 : (this.last[block - 1] as number);
      const start = block === 0 ? bodies : (this.#ends[block - 1] as number);
      const isRight =
        (this.last[block] as number) > before &&
        (this.last[block] as number) < rows &&
        (this.#ends[block] as number) >= start &&
        (this.#ends[block] as number) <= sealed.length;
      if (!isRight) throw bad('the directory of the postings of a term is wrong');
    }
  }

  /**
   * The first document from `from` on that a block may hold, without reading it. A term of one
   * block is in memory, so its document is known; Infinity past the last one.
   */
  startOf(block: number, from: number): number {
    if (this.blocks > 1) return block === 0 ? 0 : (this.last[block - 1] as number) + 1;
    const place = this.placeFrom(from);
    return place < this.count ? (this.documents[place] as number) : Number.POSITIVE_INFINITY;
  }

  /** The first place of the block read last whose document is this one or a later one. */
  placeFrom(document: number): number {
    const { documents, count } = this;
    if (count > 0 && (documents[0] as number) >= document) return 0;
    return firstFrom(documents, document, 0, count);
  }

  /**
   * How often the term occurs in a document of a block, without the rest of the block being read;
   * documents are asked for in order. 0 where it does not. @throws BadPostings
   */
  countIn(block: number, document: number): number {
    if (block !== this.#sought) this.#seek(block);
    let last = this.#document;
    if (last >= document) return last === document ? this.#times : 0;
    const sealed = this.#sealed;
    let at = this.#at;
    let left = this.#left;
    let times = 0;
    while (last < document && left > 0) {
      left -= 1;
      let code = sealed[at++] as number;
      if (code >= 0x80) {
        const second = sealed[at] as number;
        if (second < 0x80) {
          at += 1;
          code = (code & 0x7f) | (second << 7);
        } else {
          const reader = new NumberReader(sealed, at - 1);
          code = reader.next();
          at = reader.at;
          last += Math.floor(code / 2) + 1;
          times = 1;
          if (code % 2 === 1) {
            times = this.#timesAt(at);
            at = this.#at;
          }
          continue;
        }
      }
      last += (code >>> 1) + 1;
      times = 1;
      if ((code & 1) === 1) {
        times = (sealed[at++] as number) + 2;
        if (times >= 0x82) {
          times = this.#timesAt(at - 1);
          at = this.#at;
        }
      }
    }
    this.#at = at;
    this.#left = left;
    this.#document = last;
    this.#times = times;
    return last === document ? times : 0;
  }

  #timesAt(at: number): number {
    const reader = new NumberReader(this.#sealed, at);
    const times = reader.next() + 2;
    this.#at = reader.at;
    return times;
  }

  #seek(block: number): void {
    this.#sought = block;
    const isOnly = this.blocks === 1;
    const bodies = isOnly ? 0 : this.blocks * BLOCK_BYTES;
    this.#at = block === 0 ? bodies : (this.#ends[block - 1] as number);
    this.#document = block === 0 ? -1 : (this.last[block - 1] as number);
    this.#times = 0;
    this.#left = Math.min(BLOCK, this.#total - block * BLOCK);
  }

  /** Reads a block. @throws BadPostings */
  read(block: number): void {
    if (block === this.block) return;
    const sealed = this.#sealed;
    const end = this.#ends[block] as number;
    const isOnly = this.blocks === 1;
    const bodies = isOnly ? 0 : this.blocks * BLOCK_BYTES;
    const place = {
      at: block === 0 ? bodies : (this.#ends[block - 1] as number),
      document: block === 0 ? -1 : (this.last[block - 1] as number),
    };
    const most = this.last[block] as number;
    const count = Math.min(BLOCK, this.#total - block * BLOCK);
    readDocuments(sealed, place, count, this);
    const { at, document } = place;
    const isWhole = at === end && (isOnly ? document <= most : document === most);
    if (!isWhole) throw bad('a block of postings does not end where its directory says');
    this.block = block;
    this.count = count;
  }
}
