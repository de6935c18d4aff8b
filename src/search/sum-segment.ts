/**
 * `sumSegment` finds the best documents of an index segment for a query of one column, in steps, and
 * adds them to a `TopRows` (top-rows.ts). The plan of a query (search-plan.ts) gives the weights
 * (`SlotWeights`), or none if the query cannot be searched so. The score of a document is the
 * weighted sum of the shares of its words, or has that sum as its bound: the plan's scorer then
 * scores the documents whose bound is high enough. Blocks of postings that cannot hold one of the
 * best documents are skipped (MaxScore of Turtle and Flood, with bounds by block). `impactsOf`
 * (segment-scores.ts) computes an upper bound of a word's share in each document, so most postings
 * of a common word need no second decoding. Damaged postings throw BadPostings.
 */
import { PhraseOrder, type PositionReader } from './phrases.ts';
import { BLOCK, type BlockReader } from './postings.ts';
import { MOST_SHARE, Shares } from './scores.ts';
import type { PlannedPhrase } from './search-plan.ts';
import { MOST_IMPACT, type SegmentDocuments, type SlotTree, TreeScores } from './segment-scores.ts';
import type { TopRows } from './top-rows.ts';

/** A query of one column: what each slot adds at most, of its share; all weights are above 0. */
export interface SlotWeights {
  readonly column: number;
  readonly average: number;
  readonly weights: ReadonlyMap<number, number>;
  /** Whether documents must have all of the words, and not just any of them. */
  readonly all: boolean;
  /** The phrase that its words have to form. */
  readonly phrase: PlannedPhrase | undefined;
  /** What scores documents, where the sum of what slots add is only a bound of the score. */
  readonly tree: SlotTree | undefined;
}

/** A word whose postings are read block by block. */
export interface SlotBlocks {
  readonly slot: number;
  readonly documents: number;
  readonly blocks: BlockReader;
  /** For words of a phrase. */
  readonly positions: PositionReader | undefined;
  /** As `impactsOf` gives them; not to be changed. */
  readonly impacts: Uint8Array | undefined;
}

/** Documents of a window: few enough that their sums stay near the processor. */
const WINDOW = 4096;
/** Where words are rare, windows get more documents until they have so many postings. */
const WINDOW_POSTINGS = 512;
const MOST_WINDOW = 1 << 15;
/** Postings between two steps. */
const STEP = 1 << 16;
/** Sums within so much of the lowest score wanted are compared as rounded scores. */
const SLACK = 1e-3;
/** A posting takes as long as the impacts of so many documents. */
const DENSE = 4;

class Word {
  readonly slot: number;
  readonly blocks: BlockReader;
  readonly documents: number;
  readonly positions: PositionReader | undefined;
  readonly impacts: Uint8Array | undefined;
  readonly weight: number;
  /** A block's highest share times this bounds what the block adds to a score. */
  readonly factor: number;
  /** What an impact adds to a score at most; -Infinity for none where the word is required. */
  readonly bounds: Float64Array;
  /** Whether going through all impacts costs less than decoding its postings. */
  readonly isDense: boolean;
  /** Whether only documents that have it are in the answer. */
  readonly isRequired: boolean;
  /** The first block that ends in the window or later. */
  block = 0;
  /** The block of the document that was found last. */
  #found = 0;
  /** No document of the window gets more from it. */
  bound = 0;

  constructor(
    { slot, blocks, documents, positions, impacts }: SlotBlocks,
    weight: number,
    growth: number,
    required: boolean,
  ) {
    this.slot = slot;
    this.blocks = blocks;
    this.documents = documents;
    this.positions = positions;
    this.impacts = impacts;
    this.isDense = impacts !== undefined && documents * DENSE >= impacts.length;
    this.isRequired = required;
    this.weight = weight;
    this.factor = weight * growth;
    const step = (MOST_SHARE / MOST_IMPACT) * this.factor;
    this.bounds = new Float64Array(impacts === undefined ? 0 : MOST_IMPACT + 1);
    for (let impact = 0; impact < this.bounds.length; impact++) this.bounds[impact] = impact * step;
    if (required) this.bounds[0] = Number.NEGATIVE_INFINITY;
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
   * Reads the block that may have a document of the window; documents are looked for in order.
   * @returns the place of the document in the block; -1 where it does not have the word
   */
  find(document: number): number {
    const { blocks } = this;
    const { last } = blocks;
    while (this.#found < last.length && (last[this.#found] as number) < document) this.#found += 1;
    if (this.#found === last.length) return -1;
    blocks.read(this.#found);
    const place = blocks.placeFrom(document);
    return place < blocks.count && blocks.documents[place] === document ? place : -1;
  }

  /** What a document of the window gets of it, less the bound of that. */
  under(document: number, shares: Shares): number {
    const place = this.find(document);
    if (place < 0) return 0;
    const bound = this.bounds[(this.impacts as Uint8Array)[document] as number] as number;
    return this.weight * shares.of(document, this.blocks.counts[place] as number) - bound;
  }

  /** Reads its positions in a document that has it. */
  place(document: number): void {
    const { counts } = this.blocks;
    const place = this.find(document);
    let before = 0;
    for (let at = 0; at < place; at++) before += counts[at] as number;
    this.positions?.read(this.#found, before, counts[place] as number);
  }
}

/**
 * Documents are taken in windows. Some words together cannot lift a document above those found so
 * far. They are not searched for documents: their shares are looked up for the candidates that the
 * other words yield. Where all words are required, the rarest yields the candidates. For a phrase,
 * positions are read only for candidates with a high enough sum. Candidates by impacts get exact
 * sums at the end. The order in which shares are added differs from window to window, so sums of 64
 * bits may differ from a scorer's in the last bit.
 *
 * @param built the average length that the segment was built by @throws BadPostings
 */
export function* sumSegment(
  { lengths, wanted, rowOf, rows }: Omit<SegmentDocuments, 'postings'>,
  slots: readonly SlotBlocks[],
  { column, average, weights, all, phrase, tree }: SlotWeights,
  built: number,
  top: TopRows,
): Generator<void> {
  const known = new Set(slots.map(({ slot }) => slot));
  const required = tree?.required ?? new Set(all ? weights.keys() : []);
  if (slots.length === 0 || [...required].some((slot) => !known.has(slot))) return;
  // A share grows with the average length, by no more than that does.
  const growth = Math.max(1, average / built);
  const every = slots.map(
    (slot) => new Word(slot, weights.get(slot.slot) ?? 0, growth, required.has(slot.slot)),
  );
  // The others tell which documents do not match, or have a lower score.
  const words = every.filter(({ slot }) => weights.has(slot));
  const rarest = words
    .filter(({ isRequired }) => isRequired)
    .reduce<Word | undefined>((a, b) => (a && a.documents <= b.documents ? a : b), undefined);
  const shares = new Shares(lengths[column] as Uint32Array, average);
  const size = windowSize(words, rows);
  const window = new Window(size, shares, wanted);
  if (all) words.sort((one, other) => one.documents - other.documents);
  const order = phrase === undefined ? undefined : new PhraseOrder(phrase, words);
  const exact = tree && new TreeScores(tree, every, lengths[column] as Uint32Array);
  const bound = words
    .filter(({ impacts }) => impacts !== undefined)
    .sort((one, other) => other.weight - one.weight);
  let sinceStep = 0;
  for (let from = 0; from < rows; ) {
    const to = Math.min(rows, from + size);
    sinceStep += 64 + 16 * words.length;
    if (sinceStep >= STEP) {
      sinceStep = 0;
      yield;
    }
    let total = 0;
    let next = rarest === undefined ? Number.POSITIVE_INFINITY : 0;
    for (const word of words) {
      const first = word.enter(from, to);
      if (rarest === undefined) next = Math.min(next, first);
      else if (word.isRequired) next = Math.max(next, first);
      total += word.bound;
    }
    if (next === Number.POSITIVE_INFINITY) return;
    if (next >= to) {
      from = next;
      continue;
    }
    const least = Math.max(top.threshold - SLACK, Number.MIN_VALUE);
    if (total >= least) {
      const searched = searchedWords(words, least, all, rarest);
      sinceStep += window.search(words, searched, from, to, total, least);
      let rest = 0;
      for (let at = searched; at < words.length; at++) rest += (words[at] as Word).bound;
      for (let at = searched; at < words.length && window.count > 0; at++) {
        const word = words[at] as Word;
        rest -= word.bound;
        if (word.bound > 0 || word.isRequired) sinceStep += window.lookUp(word, rest, least);
      }
      const { documents, sums, count } = window;
      for (let at = 0; at < count; at++) {
        let sum = sums[at] as number;
        if (sum < top.threshold - SLACK) continue;
        const document = documents[at] as number;
        for (const word of bound) {
          sum += word.under(document, shares);
          sinceStep += BLOCK;
          if (sum < top.threshold - SLACK) break;
        }
        if (sum < top.threshold - SLACK) continue;
        if (order !== undefined) sinceStep += order.read(document);
        if (exact !== undefined) sinceStep += BLOCK * every.length + (tree as SlotTree).words;
        if (sinceStep >= STEP) {
          sinceStep = 0;
          yield;
        }
        if (order !== undefined && !(yield* order.isThere())) continue;
        const score = exact === undefined ? sum : yield* exact.of(document);
        if (!Number.isNaN(score)) top.add(rowOf(document), score);
      }
    }
    from = to;
  }
}

/**
 * Puts the words into the order in which they are searched and looked up, and gives how many
 * documents have to be searched in. Those of a required word are enough, if that has fewer. Two
 * with impacts are searched together, as that costs no more than one of them.
 */
function searchedWords(
  words: Word[],
  least: number,
  all: boolean,
  rarest: Word | undefined,
): number {
  let count = all ? 1 : words.length;
  if (!all) {
    words.sort((one, other) => other.bound - one.bound);
    for (let left = 0; count > 1; count -= 1) {
      left += (words[count - 1] as Word).bound;
      if (left >= least) break;
    }
    let documents = 0;
    for (let at = 0; at < count; at++) documents += (words[at] as Word).documents;
    if (rarest !== undefined && rarest.documents < documents) {
      words.splice(words.indexOf(rarest), 1);
      words.unshift(rarest);
      count = 1;
    }
  }
  return count === 1 && words[0]?.isDense && words[1]?.isDense ? 2 : count;
}

/** Of windows for these words. */
function windowSize(words: readonly Word[], rows: number): number {
  const postings = words.reduce((sum, { documents }) => sum + documents, 0);
  const most = Math.min(MOST_WINDOW, words.length * (WINDOW / 4));
  let size = WINDOW;
  while (size < most && postings * size < WINDOW_POSTINGS * rows) size *= 2;
  return size;
}

/** The candidates of a window, ascending, and the sums of their shares and bounds so far. */
class Window {
  count = 0;
  readonly documents: Uint32Array;
  readonly sums: Float64Array;
  readonly #shares: Shares;
  readonly #wanted: Uint8Array | undefined;
  readonly #totals: Float64Array;
  /** The highest of the totals. */
  #most = 0;

  constructor(size: number, shares: Shares, wanted: Uint8Array | undefined) {
    this.documents = new Uint32Array(size);
    this.sums = new Float64Array(size);
    this.#totals = new Float64Array(size);
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
    const [word, second] = words as [Word, Word];
    if (searched === 1) return this.#list(word, from, to, least - rest);
    if (searched === 2 && word.isDense && second.isDense) {
      return this.#listPairs(word, second, from, to, least - rest);
    }
    let read = 0;
    for (let at = 0; at < searched; at++) {
      const word = words[at] as Word;
      read += word.isDense
        ? this.#addBounds(word, from, to)
        : this.#add(word, from, to, least - (total - word.bound));
    }
    if (read > 0) this.#listTotals(from, to, Math.max(least - rest, Number.MIN_VALUE));
    return read + (to - from) / 16;
  }

  /** The documents of a word whose share is enough. */
  #list(word: Word, from: number, to: number, least: number): number {
    const { blocks, block, weight, factor, impacts, bounds } = word;
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
      for (let at = blocks.placeFrom(from); at < count; at++) {
        const document = documents[at] as number;
        if (document >= to) break;
        const sum =
          impacts === undefined
            ? weight * shares.of(document, counts[at] as number)
            : (bounds[impacts[document] as number] as number);
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

  /** The documents of two words whose bounds together are enough. */
  #listPairs(one: Word, other: Word, from: number, to: number, least: number): number {
    const wanted = this.#wanted;
    const { documents, sums } = this;
    const { bounds } = one;
    const { bounds: otherBounds } = other;
    const [impacts, others] = [one.impacts as Uint8Array, other.impacts as Uint8Array];
    let found = 0;
    for (let document = from; document < to; document++) {
      const sum =
        (bounds[impacts[document] as number] as number) +
        (otherBounds[others[document] as number] as number);
      if (sum < least || (wanted !== undefined && wanted[document] === 0)) continue;
      documents[found] = document;
      sums[found] = sum;
      found += 1;
    }
    this.count = found;
    return (to - from) / 4 + found;
  }

  /** Adds the bounds of a word. */
  #addBounds(word: Word, from: number, to: number): number {
    const impacts = word.impacts as Uint8Array;
    const { bounds } = word;
    const totals = this.#totals;
    let most = this.#most;
    for (let document = from; document < to; document++) {
      const place = document - from;
      const sum = (totals[place] as number) + (bounds[impacts[document] as number] as number);
      totals[place] = sum;
      if (sum > most) most = sum;
    }
    this.#most = most;
    return (to - from) / 4;
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
  #add(word: Word, from: number, to: number, least: number): number {
    const { blocks, block, weight, factor, impacts, bounds } = word;
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
      for (let at = blocks.placeFrom(from); at < count; at++) {
        const document = documents[at] as number;
        if (document >= to) break;
        const place = document - from;
        const share =
          impacts === undefined
            ? weight * shares.of(document, counts[at] as number)
            : (bounds[impacts[document] as number] as number);
        const sum = (totals[place] as number) + share;
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
   */
  lookUp(word: Word, rest: number, least: number): number {
    if (word.impacts !== undefined) {
      return this.#lookUpBounds(word.impacts, word.bounds, least - rest);
    }
    const { blocks, block, weight, factor, isRequired } = word;
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
        if (isRequired) break;
      } else {
        if (sum + (highest[own] as number) * factor + rest < least) continue;
        const count = blocks.countIn(own, document);
        if (count > 0) sum += weight * shares.of(document, count);
        else if (isRequired) continue;
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

  /** Does the same with bounds. */
  #lookUpBounds(impacts: Uint8Array, bounds: Float64Array, least: number): number {
    const { documents, sums, count } = this;
    let kept = 0;
    for (let next = 0; next < count; next++) {
      const document = documents[next] as number;
      const sum = (sums[next] as number) + (bounds[impacts[document] as number] as number);
      if (sum < least) continue;
      documents[kept] = document;
      sums[kept] = sum;
      kept += 1;
    }
    this.count = kept;
    return count;
  }
}
