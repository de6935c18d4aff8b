/**
 * `scoreSegment` scores the documents of an index segment for any query, in steps, and adds those
 * that match to a `TopRows` (top-rows.ts). It goes through the postings of the query's terms in
 * windows of documents. `phrasePostings` finds the documents that contain a phrase, and throws
 * BadPostings for damaged positions. sum-segment.ts is faster, for most queries of one column.
 * `impactsOf` computes what it needs of common words, and `TreeScores` scores the documents that it
 * finds for a query of several parts.
 */
import { hasPhrase, PhraseOrder, type PositionReader, type WordInPhrase } from './phrases.ts';
import { BLOCK, type BlockReader, firstFrom, type Postings } from './postings.ts';
import { MOST_SHARE, type Scorer, Shares } from './scores.ts';
import type { PlannedPhrase } from './search-plan.ts';
import type { TopRows } from './top-rows.ts';

export interface SlotPostings extends Postings {
  readonly slot: number;
}

export interface SegmentDocuments {
  readonly rows: number;
  readonly postings: readonly SlotPostings[];
  /** Tokens of each document, by column. */
  readonly lengths: readonly Uint32Array[];
  /** Not 0 for documents that may be in the answer; all of them if absent. */
  readonly wanted: Uint8Array | undefined;
  /** The number that a document has in the answer. */
  readonly rowOf: (document: number) => number;
}

/** The impact of MOST_SHARE. */
export const MOST_IMPACT = 255;
/** Blocks between two steps. */
const STEP_BLOCKS = 512;
const WINDOW = 1 << 14;
/** Postings between two steps. */
const STEP = 1 << 16;

/** By a scorer that may look at all slots. */
export function* scoreSegment(
  documents: SegmentDocuments,
  scorer: Scorer,
  { slots, words }: { readonly slots: number; readonly words: number },
  top: TopRows,
): Generator<void> {
  const { postings } = documents;
  const window = new EntryWindow(documents, scorer, slots);
  const next = postings.map(() => 0);
  // A scorer looks at each word of the query, whether the document has it or not.
  const most = Math.max(1, Math.floor(STEP / (words + 8)));
  let sinceStep = 0;
  for (;;) {
    const entries = window.fill(postings, next);
    if (entries === undefined) return;
    for (let place = 0; place < WINDOW; ) {
      const from = window.scored;
      place = window.score(place, most, top);
      sinceStep += (words + 8) * (window.scored - from);
      if (sinceStep < STEP) continue;
      sinceStep = 0;
      yield;
    }
    sinceStep += entries + WINDOW / 4 + 8 * postings.length;
    if (sinceStep < STEP) continue;
    sinceStep = 0;
    yield;
  }
}

/** The entries of a window of documents, by document. Loops are methods, which V8 optimizes early. */
class EntryWindow {
  /** How many documents were scored so far. */
  scored = 0;
  readonly #documents: SegmentDocuments;
  readonly #scorer: Scorer;
  /** Of the document that is scored. */
  readonly #counts: Uint32Array;
  readonly #lengths: Uint32Array;
  #first = 0;
  readonly #starts = new Uint32Array(WINDOW + 1);
  /** A slot and its count each. */
  #entries = new Uint32Array(1024);

  constructor(documents: SegmentDocuments, scorer: Scorer, slots: number) {
    this.#documents = documents;
    this.#scorer = scorer;
    this.#counts = new Uint32Array(slots);
    this.#lengths = new Uint32Array(documents.lengths.length);
  }

  /** Takes the entries of the next window, and moves `next` behind them; how many there are. */
  fill(postings: readonly SlotPostings[], next: number[]): number | undefined {
    const window = windowAt(postings, next);
    if (window === undefined) return undefined;
    const { from, ends, total } = window;
    this.#first = from;
    const starts = this.#starts;
    starts.fill(0);
    for (const [at, { documents }] of postings.entries()) {
      countPlaces(documents, next[at] as number, ends[at] as number, from, starts);
    }
    for (let place = 0; place < WINDOW; place++) {
      starts[place + 1] = (starts[place + 1] as number) + (starts[place] as number);
    }
    if (this.#entries.length < 2 * total) this.#entries = new Uint32Array(4 * total);
    const to = starts.slice();
    for (const [at, list] of postings.entries()) {
      placeEntries(list, next[at] as number, ends[at] as number, from, to, this.#entries);
      next[at] = ends[at] as number;
    }
    return total;
  }

  /** Scores up to so many documents from a place of the window on; the place to go on at. */
  score(from: number, most: number, top: TopRows): number {
    const { lengths, wanted, rowOf } = this.#documents;
    const scorer = this.#scorer;
    const [starts, entries, counts, own] = [
      this.#starts,
      this.#entries,
      this.#counts,
      this.#lengths,
    ];
    let left = most;
    let place = from;
    for (; place < WINDOW && left > 0; place++) {
      const [begin, end] = [starts[place] as number, starts[place + 1] as number];
      if (begin === end) continue;
      const document = this.#first + place;
      if (wanted !== undefined && wanted[document] === 0) continue;
      for (let at = begin; at < end; at++) {
        counts[entries[2 * at] as number] = entries[2 * at + 1] as number;
      }
      for (let column = 0; column < own.length; column++) {
        own[column] = lengths[column]?.[document] as number;
      }
      const score = scorer({ counts, lengths: own });
      if (!Number.isNaN(score)) top.add(rowOf(document), score);
      for (let at = begin; at < end; at++) counts[entries[2 * at] as number] = 0;
      left--;
    }
    this.scored += most - left;
    return place;
  }
}

/** Counts the entries of each document, one place behind its own. */
function countPlaces(
  documents: Uint32Array,
  begin: number,
  end: number,
  from: number,
  counts: Uint32Array,
): void {
  for (let entry = begin; entry < end; entry++) {
    const place = (documents[entry] as number) - from + 1;
    counts[place] = (counts[place] as number) + 1;
  }
}

function placeEntries(
  { documents, counts, slot }: SlotPostings,
  begin: number,
  end: number,
  from: number,
  next: Uint32Array,
  entries: Uint32Array,
): void {
  for (let entry = begin; entry < end; entry++) {
    const place = (documents[entry] as number) - from;
    const to = next[place] as number;
    next[place] = to + 1;
    entries[2 * to] = slot;
    entries[2 * to + 1] = counts[entry] as number;
  }
}

/** The next documents with entries, and where the entries of each list end there. */
function windowAt(
  postings: readonly Postings[],
  next: readonly number[],
): { readonly from: number; readonly ends: number[]; readonly total: number } | undefined {
  let from = Number.POSITIVE_INFINITY;
  for (const [at, { documents }] of postings.entries()) {
    const document = documents[next[at] as number];
    if (document !== undefined && document < from) from = document;
  }
  if (from === Number.POSITIVE_INFINITY) return undefined;
  let total = 0;
  const ends = postings.map(({ documents }, at) => {
    const start = next[at] as number;
    const end = firstFrom(
      documents,
      from + WINDOW,
      start,
      Math.min(documents.length, start + WINDOW),
    );
    total += end - start;
    return end;
  });
  return { from, ends, total };
}

/** The first place from `start` on whose document is `least` or later; `end` if it is not before. */
function firstNear(documents: Uint32Array, start: number, least: number, end: number): number {
  const last = Math.min(documents.length, end);
  let at = start;
  while (at < last && (documents[at] as number) < least) at++;
  return at;
}

/** A word of a phrase: its postings, and where it stands in each document. */
export interface PhraseWord extends Postings {
  readonly positions: PositionReader;
}

/** Goes through the postings of a word, and reads its positions in documents that are asked for. */
class PlacedWord {
  readonly word: PhraseWord;
  at = 0;
  /** How often the documents of this block before `#counted` have the word. */
  #before = 0;
  #counted = 0;

  constructor(word: PhraseWord) {
    this.word = word;
  }

  /** Reads its positions in the document that it is at; gives the postings that it went over. */
  read(): number {
    const { at } = this;
    const { counts, positions } = this.word;
    const block = Math.floor(at / BLOCK);
    if (this.#counted < block * BLOCK) {
      this.#counted = block * BLOCK;
      this.#before = 0;
    }
    const over = at - this.#counted;
    let before = this.#before;
    for (let next = this.#counted; next < at; next++) before += counts[next] as number;
    positions.read(block, before, counts[at] as number);
    this.#before = before;
    this.#counted = at;
    return over + before + (counts[at] as number);
  }
}

/**
 * Documents where the words of a phrase follow each other. Positions are read of documents that
 * have all words.
 * @param words by their slots: a word that stands in the phrase twice is read once
 * @throws BadPostings
 */
export function* phrasePostings(
  { terms, gaps, slop, slot }: PlannedPhrase,
  words: ReadonlyMap<number, PhraseWord>,
): Generator<void, SlotPostings> {
  const distinct = [...words.values()].map((word) => new PlacedWord(word));
  const lists = terms.map((term) => (words.get(term) as PhraseWord).positions);
  const found: number[] = [];
  let document = 0;
  let sinceStep = 0;
  let agreed = 0;
  for (let turn = 0; distinct.length > 0; turn = (turn + 1) % distinct.length) {
    const placed = distinct[turn] as PlacedWord;
    const { documents } = placed.word;
    sinceStep += 1;
    for (;;) {
      const from = placed.at;
      placed.at = firstNear(documents, from, document, from + STEP - sinceStep);
      sinceStep += placed.at - from;
      if (sinceStep < STEP) break;
      sinceStep = 0;
      yield;
    }
    const { at } = placed;
    if (at === documents.length) break;
    if (documents[at] === document) agreed += 1;
    else {
      document = documents[at] as number;
      agreed = 1;
    }
    if (agreed < distinct.length) continue;
    for (const word of distinct) {
      sinceStep += word.read();
      word.at += 1;
      if (sinceStep < STEP) continue;
      sinceStep = 0;
      yield;
    }
    sinceStep += 16 * lists.length;
    if (yield* hasPhrase(lists, gaps, slop)) found.push(document);
    document += 1;
    agreed = 0;
    if (sinceStep < STEP) continue;
    sinceStep = 0;
    yield;
  }
  return {
    slot,
    documents: Uint32Array.from(found),
    counts: new Uint32Array(found.length).fill(1),
  };
}

/**
 * An upper bound of a word's share in each document, by the average length of the segment, in steps
 * of MOST_SHARE / 255; 0 for documents without the word. @throws BadPostings
 */
export function* impactsOf(
  blocks: BlockReader,
  lengths: Uint32Array,
  average: number,
): Generator<void, Uint8Array> {
  const impacts = new Uint8Array(lengths.length);
  const shares = new Shares(lengths, average);
  const { documents, counts } = blocks;
  for (let block = 0; block < blocks.blocks; block++) {
    blocks.read(block);
    for (let at = 0; at < blocks.count; at++) {
      const document = documents[at] as number;
      const share = shares.of(document, counts[at] as number);
      impacts[document] = Math.ceil(share * (MOST_IMPACT / MOST_SHARE));
    }
    if (block % STEP_BLOCKS === STEP_BLOCKS - 1) yield;
  }
  return impacts;
}

/** What scores a document by a query that is no plain sum. */
export interface SlotTree {
  readonly scorer: Scorer;
  readonly slots: number;
  /** What it takes to score a document, at most. */
  readonly words: number;
  readonly phrases: readonly PlannedPhrase[];
  /** Slots that each document of the answer has. */
  readonly required: ReadonlySet<number>;
}

/** A word whose documents are looked for in order. */
interface SoughtWord extends WordInPhrase {
  readonly blocks: BlockReader;
  /** The place of a document in the block that was read last; -1 where it does not have the word. */
  find(document: number): number;
}

/** Scores documents exactly, by documents in order. */
export class TreeScores {
  readonly #scorer: Scorer;
  readonly #words: readonly SoughtWord[];
  readonly #phrases: readonly { readonly phrase: PlannedPhrase; readonly order: PhraseOrder }[];
  readonly #counts: Uint32Array;
  readonly #all: Uint32Array;
  readonly #length = new Uint32Array(1);

  /**
   * @param words all of the query that any document has
   * @param lengths tokens of each document in the only column
   */
  constructor(tree: SlotTree, words: readonly SoughtWord[], lengths: Uint32Array) {
    this.#scorer = tree.scorer;
    this.#words = words;
    this.#counts = new Uint32Array(tree.slots);
    this.#all = lengths;
    const known = new Set(words.map(({ slot }) => slot));
    this.#phrases = tree.phrases
      .filter(({ terms }) => terms.every((term) => known.has(term)))
      .map((phrase) => {
        const own = words.filter(({ slot }) => phrase.terms.includes(slot));
        return { phrase, order: new PhraseOrder(phrase, own) };
      });
  }

  /** NaN for a document that does not match. */
  *of(document: number): Generator<void, number> {
    const counts = this.#counts;
    for (const word of this.#words) {
      const place = word.find(document);
      counts[word.slot] = place < 0 ? 0 : (word.blocks.counts[place] as number);
    }
    for (const { phrase, order } of this.#phrases) {
      counts[phrase.slot] = 0;
      if (phrase.terms.some((term) => counts[term] === 0)) continue;
      if (order.read(document) >= STEP) yield;
      if (yield* order.isThere()) counts[phrase.slot] = 1;
    }
    this.#length[0] = this.#all[document] as number;
    return this.#scorer({ counts, lengths: this.#length });
  }
}
