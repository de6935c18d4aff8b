/**
 * Tells whether the words of a phrase follow each other in a document, by the positions of each
 * word (`hasPhrase`, in steps). Up to `slop` more positions may lie between two words than in the
 * phrase. `sealPositions` prepares the positions of a term for an index. `PositionReader` decodes
 * them, and throws BadPositions for damaged bytes. `PhraseOrder` looks for a phrase through such
 * readers. Its `read` takes the positions in a document that has all words, documents in ascending
 * order, and `isThere` then tells whether the words follow each other.
 */
import { BadPositions, BLOCK, type BlockReader, NumberReader } from './postings.ts';
import type { PlannedPhrase } from './search-plan.ts';

/** The column of a segment's file that holds positions as `sealPositions` gives them. */
export const SEALED_POSITIONS = 'sealed_positions';

const START_BYTES = 4;

/**
 * The positions of a term as they are stored, each as its distance from the one before. For more
 * than 128 documents a directory comes first: the places where the positions of each block of
 * postings begin (u32 each). @param postings of the term, before they are sealed
 */
export function sealPositions(
  bytes: Uint8Array,
  postings: Uint8Array,
  documents: number,
): Uint8Array {
  if (documents <= BLOCK) return bytes;
  const blocks = Math.ceil(documents / BLOCK);
  const sealed = new Uint8Array(blocks * START_BYTES + bytes.length);
  const view = new DataView(sealed.buffer);
  const reader = new NumberReader(postings);
  const positions = new NumberReader(bytes);
  for (let document = 0; document < documents; document++) {
    if (document % BLOCK === 0) {
      view.setUint32((document / BLOCK) * START_BYTES, positions.at, true);
    }
    let count = reader.next() % 2 === 1 ? reader.next() + 2 : 1;
    for (; count > 0; count--) positions.next();
  }
  sealed.set(bytes, blocks * START_BYTES);
  return sealed;
}

const bad = (what: string): BadPositions => new BadPositions(what);

export class PositionReader {
  /** The positions that were read last, ascending. */
  values: Uint32Array = new Uint32Array(16);
  count = 0;
  readonly #reader: NumberReader;
  /** Where each block begins. */
  readonly #starts: Uint32Array;
  #block = -1;
  /** Positions of the block before the reader's place. */
  #passed = 0;

  private constructor(bytes: Uint8Array, starts: Uint32Array) {
    this.#reader = new NumberReader(bytes, 0, bad);
    this.#starts = starts;
  }

  /** Of positions with a directory. @throws BadPositions */
  static sealed(bytes: Uint8Array, documents: number): PositionReader {
    const blocks = Math.ceil(documents / BLOCK);
    const starts = new Uint32Array(blocks);
    if (blocks <= 1) return new PositionReader(bytes, starts);
    const bodies = blocks * START_BYTES;
    if (bytes.length < bodies + documents) throw bad('the positions of a term are cut off');
    const view = new DataView(bytes.buffer, bytes.byteOffset, bodies);
    let before = bodies;
    for (let block = 0; block < blocks; block++) {
      const start = bodies + view.getUint32(block * START_BYTES, true);
      if (start < before || start >= bytes.length) {
        throw bad('the directory of the positions of a term is wrong');
      }
      starts[block] = start;
      before = start;
    }
    return new PositionReader(bytes, starts);
  }

  /**
   * Of positions without a directory, which are all read once, in steps.
   * @param postings of the term, for this alone
   * @throws BadPositions, BadPostings
   */
  static *plain(bytes: Uint8Array, postings: BlockReader): Generator<void, PositionReader> {
    const starts = new Uint32Array(postings.blocks);
    const reader = new NumberReader(bytes, 0, bad);
    for (let block = 0; block < starts.length; block++) {
      starts[block] = reader.at;
      postings.read(block);
      for (let at = 0; at < postings.count; at++) {
        for (let left = postings.counts[at] as number; left > 0; left--) reader.next();
      }
      if (block % 256 === 255) yield;
    }
    return new PositionReader(bytes, starts);
  }

  /**
   * Reads the positions in one document.
   * @param block of the document, by its place among those that have the term
   * @param before how often the documents before it in the block have the term, together
   * @param count how often it has the term
   * @throws BadPositions
   */
  read(block: number, before: number, count: number): void {
    const reader = this.#reader;
    if (block !== this.#block || before < this.#passed) {
      this.#block = block;
      this.#passed = 0;
      reader.at = this.#starts[block] as number;
    }
    for (let left = before - this.#passed; left > 0; left--) reader.next();
    if (reader.bytes.length - reader.at < count) throw bad('the positions of a term are cut off');
    if (this.values.length < count) this.values = new Uint32Array(2 * count);
    let position = 0;
    for (let at = 0; at < count; at++) {
      position += reader.next();
      this.values[at] = position;
    }
    this.count = count;
    this.#passed = before + count;
  }
}

/** Growing list of numbers that is used again for the next document. */
export interface PositionList {
  values: Uint32Array;
  count: number;
}

/** Positions between two steps. */
const STEP = 1 << 16;
/** Positions of a word that need no memory of their own where there is no step. */
const SHORT = 256;
const scratch = [new Uint32Array(SHORT), new Uint32Array(SHORT)] as const;

/** @param gaps positions from each word to the next one, in the phrase */
export function* hasPhrase(
  words: readonly PositionList[],
  gaps: readonly number[],
  slop: number,
): Generator<void, boolean> {
  const [first] = words as [PositionList];
  let reached = first.values;
  let reachedCount = first.count;
  let sinceStep = 0;
  // Scratch memory is shared by all phrases, so that none of them may step while it is in use.
  let isShort = words.length < SHORT;
  for (const { count } of words) if (count > SHORT) isShort = false;
  for (let word = 1; word < words.length; word++) {
    const { values, count } = words[word] as PositionList;
    const gap = gaps[word - 1] as number;
    const next = isShort ? (scratch[word & 1] as Uint32Array) : new Uint32Array(count);
    let found = 0;
    // Both ascend: a position is reached from the last one before it that is near enough.
    let from = 0;
    for (let at = 0; at < count; at++) {
      const position = values[at] as number;
      while (from < reachedCount && (reached[from] as number) + gap + slop < position) from += 1;
      if (from < reachedCount && (reached[from] as number) + gap <= position) {
        next[found++] = position;
      }
    }
    if (found === 0) return false;
    sinceStep += reachedCount + count + 16;
    reached = next;
    reachedCount = found;
    if (isShort || sinceStep < STEP) continue;
    sinceStep = 0;
    yield;
  }
  return reachedCount > 0;
}

/** A word of a phrase, whose positions are read document by document. */
export interface WordInPhrase {
  readonly slot: number;
  readonly positions: PositionReader | undefined;
  /** Reads its positions in a document that has it, by documents in order. */
  place(document: number): void;
}

/** Tells whether the words of a phrase follow each other in a document. */
export class PhraseOrder {
  readonly #phrase: PlannedPhrase;
  readonly #words: readonly WordInPhrase[];
  readonly #lists: readonly PositionReader[];

  /** @param words all that it has, once each */
  constructor(phrase: PlannedPhrase, words: readonly WordInPhrase[]) {
    this.#phrase = phrase;
    this.#words = words;
    this.#lists = phrase.terms.map(
      (term) => words.find(({ slot }) => slot === term)?.positions as PositionReader,
    );
  }

  /** Reads the positions in a document that has all words; gives how much it read. */
  read(document: number): number {
    let read = 16 * this.#lists.length;
    for (const word of this.#words) {
      word.place(document);
      read += BLOCK + (word.positions?.count ?? 0);
    }
    return read;
  }

  isThere(): Generator<void, boolean> {
    return hasPhrase(this.#lists, this.#phrase.gaps, this.#phrase.slop);
  }
}
