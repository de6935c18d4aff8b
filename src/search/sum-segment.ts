/**
 * `sumSegment`: finds the best documents of an index segment for one match, prefix or phrase in one
 * column. The score of a document is the sum of the shares of its words, each times a weight. Works
 * in steps. It reads only the blocks of postings that may hold one of the best documents (MaxScore
 * of Turtle and Flood, with bounds by block).
 *
 * Documents are taken in windows. Some words together cannot lift a document above those found so
 * far. They are not searched for documents: their shares are looked up for the candidates that the
 * other words yield. Where all words are required, the rarest yields the candidates. For a phrase,
 * positions are read only for candidates with a high enough sum. The order in which shares are
 * added differs from window to window, so sums of 64 bits may differ from a scorer's in the last
 * bit.
 */
import { hasPhrase, type PositionReader } from './phrases.ts';
import { BLOCK, type BlockReader } from './postings.ts';
import { lengthNorm, shareOf } from './scores.ts';
import type { PlannedPhrase } from './search-plan.ts';
import type { SegmentDocuments } from './segment-scores.ts';
import type { TopRows } from './top-rows.ts';

/**
 * A match of words in one column: what each slot adds, of its share. Every weight is more than 0.
 */
export interface SlotWeights {
  readonly column: number;
  readonly average: number;
  readonly weights: ReadonlyMap<number, number>;
  /** Whether documents must have all of the words, and not just any of them. */
  readonly all: boolean;
  /** The phrase that its words have to form. */
  readonly phrase: PlannedPhrase | undefined;
}

/** A word whose postings are read block by block. */
export interface SlotBlocks {
  readonly slot: number;
  readonly documents: number;
  readonly blocks: BlockReader;
  /** For words of a phrase. */
  readonly positions: PositionReader | undefined;
}

/** Documents of a window: few enough that their sums stay near the processor. */
const WINDOW = 4096;
/** Postings between two steps. */
const STEP = 1 << 16;
/** Sums within so much of the lowest score wanted are compared as rounded scores. */
const SLACK = 1e-3;
const NORMS = 1024;

class Word {
  readonly slot: number;
  readonly blocks: BlockReader;
  readonly documents: number;
  readonly positions: PositionReader | undefined;
  readonly weight: number;
  /** A block's highest share times this bounds what the block adds to a score. */
  readonly factor: number;
  /** The first block that ends in the window or later. */
  block = 0;
  /** No document of the window gets more from it. */
  bound = 0;

  constructor({ slot, blocks, documents, positions }: SlotBlocks, weight: number, growth: number) {
    this.slot = slot;
    this.blocks = blocks;
    this.documents = documents;
    this.positions = positions;
    this.weight = weight;
    this.factor = weight * growth;
  }

  /** Goes to a window; gives the first document that it may have there or later. */
  enter(from: number, to: number): number {
    const { last, highest } = this.blocks;
    while (this.block < last.length && (last[this.block] as number) < from) this.block += 1;
    this.bound = 0;
    if (this.block === last.length) return Number.POSITIVE_INFINITY;
    const first = Math.max(from, this.blocks.startOf(this.block, from));
    let share = 0;
    for (let at = this.block; at < last.length; at++) {
      if (at > this.block && (last[at - 1] as number) + 1 >= to) break;
      share = Math.max(share, highest[at] as number);
    }
    if (first < to) this.bound = share * this.factor;
    return first;
  }

  /**
   * Reads its positions in a document that has it.
   * @param from the block to look in first
   * @returns the block of the document
   */
  place(document: number, from: number): number {
    const { blocks, positions } = this;
    let block = from;
    while ((blocks.last[block] as number) < document) block += 1;
    blocks.read(block);
    let at = 0;
    let before = 0;
    while ((blocks.documents[at] as number) < document) {
      before += blocks.counts[at] as number;
      at += 1;
    }
    positions?.read(block, before, blocks.counts[at] as number);
    return block;
  }
}

/**
 * @param built the average length that the segment was built by
 * @throws BadPostings
 */
export function* sumSegment(
  { lengths, wanted, rowOf, rows }: Omit<SegmentDocuments, 'postings'>,
  slots: readonly SlotBlocks[],
  { column, average, weights, all, phrase }: SlotWeights,
  built: number,
  top: TopRows,
): Generator<void> {
  if (slots.length === 0 || (all && slots.length < weights.size)) return;
  // A share grows with the average length, by no more than that does.
  const growth = Math.max(1, average / built);
  const words = slots.map((slot) => new Word(slot, weights.get(slot.slot) as number, growth));
  const shares = new Shares(lengths[column] as Uint32Array, average);
  const window = new Window(shares, wanted);
  if (all) words.sort((one, other) => one.documents - other.documents);
  const order = phrase === undefined ? undefined : new PhraseOrder(phrase, words);
  let sinceStep = 0;
  for (let from = 0; from < rows; ) {
    const to = Math.min(rows, from + WINDOW);
    sinceStep += 64 + 16 * words.length;
    if (sinceStep >= STEP) {
      sinceStep = 0;
      yield;
    }
    let total = 0;
    let next = all ? 0 : Number.POSITIVE_INFINITY;
    for (const word of words) {
      const first = word.enter(from, to);
      next = all ? Math.max(next, first) : Math.min(next, first);
      total += word.bound;
    }
    if (next === Number.POSITIVE_INFINITY) return;
    if (next >= to) {
      from = next;
      continue;
    }
    const least = top.threshold - SLACK;
    if (total >= least) {
      if (!all) words.sort((one, other) => other.bound - one.bound);
      const searched = all ? 1 : searchedWords(words, least);
      sinceStep += window.search(words, searched, from, to, total, least);
      let rest = 0;
      for (let at = searched; at < words.length; at++) rest += (words[at] as Word).bound;
      for (let at = searched; at < words.length && window.count > 0; at++) {
        const word = words[at] as Word;
        rest -= word.bound;
        if (word.bound > 0 || all) sinceStep += window.lookUp(word, rest, least, all);
      }
      order?.enter();
      const { documents, sums, count } = window;
      for (let at = 0; at < count; at++) {
        const sum = sums[at] as number;
        if (sum < top.threshold - SLACK) continue;
        const document = documents[at] as number;
        if (order !== undefined) {
          sinceStep += order.read(document);
          if (sinceStep >= STEP) {
            sinceStep = 0;
            yield;
          }
          if (!(yield* order.isThere())) continue;
        }
        top.add(rowOf(document), sum);
      }
    }
    from = to;
  }
}

/** Tells whether the words of a phrase follow each other in a document. */
class PhraseOrder {
  readonly #phrase: PlannedPhrase;
  readonly #words: readonly Word[];
  readonly #lists: readonly PositionReader[];
  /** The block of each word that was looked in last. */
  readonly #blocks: number[] = [];

  /** @param words all that it has, once each */
  constructor(phrase: PlannedPhrase, words: readonly Word[]) {
    this.#phrase = phrase;
    this.#words = words;
    this.#lists = phrase.terms.map(
      (term) => words.find(({ slot }) => slot === term)?.positions as PositionReader,
    );
  }

  /** Goes to the window that its words are in. */
  enter(): void {
    for (const [at, { block }] of this.#words.entries()) this.#blocks[at] = block;
  }

  /** Reads the positions in a document that has all words; gives how much it read. */
  read(document: number): number {
    let read = 16 * this.#lists.length;
    for (const [at, word] of this.#words.entries()) {
      this.#blocks[at] = word.place(document, this.#blocks[at] as number);
      read += BLOCK + (word.positions?.count ?? 0);
    }
    return read;
  }

  isThere(): Generator<void, boolean> {
    return hasPhrase(this.#lists, this.#phrase.gaps, this.#phrase.slop);
  }
}

/** How many of the words, highest bound first, documents have to be searched in. */
function searchedWords(words: readonly Word[], least: number): number {
  let left = 0;
  let count = words.length;
  while (count > 1) {
    left += (words[count - 1] as Word).bound;
    if (left >= least) break;
    count -= 1;
  }
  return count;
}

/** The shares of a column's documents. */
class Shares {
  readonly lengths: Uint32Array;
  /** The norms of the shortest lengths. */
  readonly norms: Float64Array;
  readonly #average: number;

  constructor(lengths: Uint32Array, average: number) {
    this.lengths = lengths;
    this.#average = average;
    this.norms = Float64Array.from({ length: NORMS }, (_, length) => lengthNorm(length, average));
  }

  of(document: number, count: number): number {
    const length = this.lengths[document] as number;
    const norm =
      length < NORMS ? (this.norms[length] as number) : lengthNorm(length, this.#average);
    return shareOf(count, norm);
  }
}

/** The candidates of a window, ascending, and the sums of their shares so far. */
class Window {
  count = 0;
  readonly documents: Uint32Array = new Uint32Array(WINDOW);
  readonly sums: Float64Array = new Float64Array(WINDOW);
  readonly #shares: Shares;
  readonly #wanted: Uint8Array | undefined;
  readonly #totals: Float64Array = new Float64Array(WINDOW);
  /** The highest of the totals. */
  #most = 0;

  constructor(shares: Shares, wanted: Uint8Array | undefined) {
    this.#shares = shares;
    this.#wanted = wanted;
  }

  /** Finds the candidates of the first words; gives how many postings were read. */
  search(
    words: readonly Word[],
    searched: number,
    from: number,
    to: number,
    total: number,
    least: number,
  ): number {
    let rest = 0;
    for (let at = searched; at < words.length; at++) rest += (words[at] as Word).bound;
    this.count = 0;
    if (searched === 1) return this.#list(words[0] as Word, from, to, least - rest);
    let read = 0;
    for (let at = 0; at < searched; at++) {
      const word = words[at] as Word;
      read += this.#add(word, from, to, least - (total - word.bound));
    }
    if (read > 0) this.#listTotals(from, to, Math.max(least - rest, Number.MIN_VALUE));
    return read + (to - from) / 16;
  }

  /** The documents of a word whose share is enough. */
  #list({ blocks, block, weight, factor }: Word, from: number, to: number, least: number): number {
    const wanted = this.#wanted;
    const shares = this.#shares;
    const { last, highest, documents, counts } = blocks;
    let read = 0;
    let found = 0;
    for (let own = block; own < last.length; own++) {
      if (own > block && (last[own - 1] as number) + 1 >= to) break;
      if ((highest[own] as number) * factor < least) continue;
      blocks.read(own);
      const { count } = blocks;
      for (let at = 0; at < count; at++) {
        const document = documents[at] as number;
        if (document < from) continue;
        if (document >= to) break;
        const sum = weight * shares.of(document, counts[at] as number);
        if (sum < least || (wanted !== undefined && wanted[document] === 0)) continue;
        this.documents[found] = document;
        this.sums[found] = sum;
        found += 1;
      }
      read += count;
    }
    this.count = found;
    return read;
  }

  /** The documents whose total is enough; no total is left. */
  #listTotals(from: number, to: number, least: number): void {
    const wanted = this.#wanted;
    const totals = this.#totals;
    const { documents, sums } = this;
    let found = 0;
    const end = this.#most < least ? 0 : to - from;
    for (let place = 0; place < end; place++) {
      const sum = totals[place] as number;
      if (sum < least) continue;
      if (wanted !== undefined && wanted[from + place] === 0) continue;
      documents[found] = from + place;
      sums[found] = sum;
      found += 1;
    }
    totals.fill(0);
    this.#most = 0;
    this.count = found;
  }

  /** Adds the shares of a word, but of blocks none of whose documents gets so much of it. */
  #add({ blocks, block, weight, factor }: Word, from: number, to: number, least: number): number {
    const totals = this.#totals;
    const shares = this.#shares;
    const { last, highest, documents, counts } = blocks;
    let read = 0;
    let most = this.#most;
    for (let own = block; own < last.length; own++) {
      if (own > block && (last[own - 1] as number) + 1 >= to) break;
      if ((highest[own] as number) * factor < least) continue;
      blocks.read(own);
      const { count } = blocks;
      for (let at = 0; at < count; at++) {
        const document = documents[at] as number;
        if (document < from) continue;
        if (document >= to) break;
        const place = document - from;
        const share = shares.of(document, counts[at] as number);
        const sum = (totals[place] as number) + weight * share;
        totals[place] = sum;
        if (sum > most) most = sum;
      }
      read += count;
    }
    this.#most = most;
    return read;
  }

  /**
   * Adds the shares of a word to the candidates that have it, and keeps those that can still win.
   * @param rest what the words after it add at most
   * @param required whether the others are dropped
   */
  lookUp(
    { blocks, block, weight, factor }: Word,
    rest: number,
    least: number,
    required: boolean,
  ): number {
    const shares = this.#shares;
    const { last, highest } = blocks;
    let own = block;
    let kept = 0;
    let read = 0;
    for (let next = 0; next < this.count; next++) {
      const document = this.documents[next] as number;
      let sum = this.sums[next] as number;
      while (own < last.length && (last[own] as number) < document) {
        own += 1;
        read += BLOCK;
      }
      if (own === last.length) {
        if (required) break;
      } else {
        if (sum + (highest[own] as number) * factor + rest < least) continue;
        const count = blocks.countIn(own, document);
        if (count > 0) sum += weight * shares.of(document, count);
        else if (required) continue;
      }
      if (sum + rest < least) continue;
      this.documents[kept] = document;
      this.sums[kept] = sum;
      kept += 1;
    }
    const looked = this.count;
    this.count = kept;
    return read + looked;
  }
}
