/**
 * `scoreSegment`: scores the documents of an index's segment from the postings of a query's terms,
 * in steps. Documents are taken in windows: the entries of a window are put in order by document and
 * given to the scorer one document after the other. A match of any words adds up its shares
 * directly, and reads only the blocks of postings that may hold one of the best documents.
 * `phrasePostings` finds the documents where words follow each other.
 */
import { hasPhrase } from './phrases.ts';
import { type BlockReader, PositionReader, type Postings } from './postings.ts';
import { type Scorer, termShare } from './scores.ts';
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
  /** What a document is called in the answer. */
  readonly rowOf: (document: number) => number;
}

/** A match of any words in one column: what each slot adds, of its share. */
export interface SlotWeights {
  readonly column: number;
  readonly average: number;
  readonly weights: ReadonlyMap<number, number>;
}

const WINDOW = 1 << 14;
/** Postings between two steps. */
const STEP = 1 << 16;

/** By a scorer that may look at all slots. */
export function* scoreSegment(
  { postings, lengths, wanted, rowOf }: SegmentDocuments,
  scorer: Scorer,
  { slots, words }: { readonly slots: number; readonly words: number },
  top: TopRows,
): Generator<void> {
  const counts = new Uint32Array(slots);
  const own = new Uint32Array(lengths.length);
  const next = postings.map(() => 0);
  const starts = new Uint32Array(WINDOW + 1);
  let entries = new Uint32Array(1024);
  // A scorer looks at each word of the query, whether the document has it or not.
  const perDocument = words + 8;
  let sinceStep = 0;
  for (;;) {
    const window = windowAt(postings, next);
    if (window === undefined) return;
    const { from, ends, total } = window;
    starts.fill(0);
    for (const [at, { documents }] of postings.entries()) {
      for (let entry = next[at] as number; entry < (ends[at] as number); entry++) {
        const place = (documents[entry] as number) - from + 1;
        starts[place] = (starts[place] as number) + 1;
      }
    }
    for (let place = 0; place < WINDOW; place++) {
      starts[place + 1] = (starts[place + 1] as number) + (starts[place] as number);
    }
    if (entries.length < 2 * total) entries = new Uint32Array(4 * total);
    const fill = starts.slice();
    for (const [at, { documents, counts: found, slot }] of postings.entries()) {
      for (let entry = next[at] as number; entry < (ends[at] as number); entry++) {
        const place = (documents[entry] as number) - from;
        const to = fill[place] as number;
        fill[place] = to + 1;
        entries[2 * to] = slot;
        entries[2 * to + 1] = found[entry] as number;
      }
      next[at] = ends[at] as number;
    }
    for (let place = 0; place < WINDOW; place++) {
      const [begin, end] = [starts[place] as number, starts[place + 1] as number];
      if (begin === end) continue;
      const document = from + place;
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
      sinceStep += perDocument;
      if (sinceStep < STEP) continue;
      sinceStep = 0;
      yield;
    }
    sinceStep += total + WINDOW / 4 + 8 * postings.length;
    if (sinceStep < STEP) continue;
    sinceStep = 0;
    yield;
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
    const end = firstFrom(documents, next[at] as number, from + WINDOW);
    total += end - (next[at] as number);
    return end;
  });
  return { from, ends, total };
}

/** The first place from `start` on whose document is `least` or later. */
function firstFrom(documents: Uint32Array, start: number, least: number): number {
  let low = start;
  let high = Math.min(documents.length, start + WINDOW);
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((documents[middle] as number) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A word whose postings are read block by block. */
export interface SlotBlocks {
  readonly slot: number;
  readonly blocks: BlockReader;
}

/** Documents that are looked at together: the best of them is bounded before any is read. */
const SPAN = 256;

/**
 * By the shares of slots alone. Spans whose blocks cannot hold a document better than those found are
 * not read. Every weight is more than 0.
 * @param built the average length that the segment was built by
 * @throws BadPostings
 */
export function* addUpSegment(
  { lengths, wanted, rowOf, rows }: Omit<SegmentDocuments, 'postings'>,
  words: readonly SlotBlocks[],
  { column, average, weights }: SlotWeights,
  built: number,
  top: TopRows,
): Generator<void> {
  const own = lengths[column] as Uint32Array;
  const sums = new Float64Array(SPAN);
  const next = words.map(() => 0);
  // A share grows with the average length, by no more than that does.
  const growth = Math.max(1, average / built);
  const factors = words.map(({ slot }) => (weights.get(slot) as number) * growth);
  let sinceStep = 0;
  for (let from = 0; from < rows; from += SPAN) {
    const to = from + SPAN;
    sinceStep += 64 + 8 * words.length;
    if (sinceStep >= STEP) {
      sinceStep = 0;
      yield;
    }
    let bound = 0;
    let nearest = Number.POSITIVE_INFINITY;
    for (let word = 0; word < words.length; word++) {
      const { blocks } = words[word] as SlotBlocks;
      const { last, highest: shares } = blocks;
      let block = next[word] as number;
      while (block < last.length && (last[block] as number) < from) block += 1;
      next[word] = block;
      if (block === last.length) continue;
      let highest = 0;
      for (let at = block; at < last.length; at++) {
        const start = last.length === 1 ? blocks.firstFrom(from) : startOf(last, at);
        if (start >= to) {
          if (at === block) nearest = Math.min(nearest, start);
          break;
        }
        highest = Math.max(highest, shares[at] as number);
        nearest = from;
      }
      bound += highest * (factors[word] as number);
    }
    if (nearest === Number.POSITIVE_INFINITY) return;
    if (nearest >= to) {
      // Nothing before the next block that there is.
      from = Math.floor(nearest / SPAN) * SPAN - SPAN;
      continue;
    }
    // The sums of 64 bits may differ from the rounded scores by a little.
    if (bound >= top.threshold - 1e-3) {
      const added = addUp(words, weights, next, own, average, sums, from);
      sinceStep += added;
      let { threshold } = top;
      const end = added === 0 ? 0 : Math.min(SPAN, rows - from);
      for (let place = 0; place < end; place++) {
        const sum = sums[place] as number;
        if (sum === 0) continue;
        sums[place] = 0;
        if (sum < threshold - 1e-3) continue;
        if (wanted !== undefined && wanted[from + place] === 0) continue;
        top.add(rowOf(from + place), sum);
        threshold = top.threshold;
      }
    }
  }
}

const startOf = (last: Uint32Array, block: number): number =>
  block === 0 ? 0 : (last[block - 1] as number) + 1;

/** Adds the shares of the documents of a span to its sums; gives how many there were. */
function addUp(
  words: readonly SlotBlocks[],
  weights: ReadonlyMap<number, number>,
  next: readonly number[],
  lengths: Uint32Array,
  average: number,
  sums: Float64Array,
  from: number,
): number {
  const to = from + SPAN;
  let added = 0;
  for (let word = 0; word < words.length; word++) {
    const { slot, blocks } = words[word] as SlotBlocks;
    const weight = weights.get(slot) as number;
    for (let block = next[word] as number; block < blocks.blocks; block++) {
      const start = block === 0 ? 0 : (blocks.last[block - 1] as number) + 1;
      if (start >= to) break;
      blocks.read(block);
      const { documents, counts, count } = blocks;
      for (let at = 0; at < count; at++) {
        const document = documents[at] as number;
        if (document < from) continue;
        if (document >= to) break;
        const share = termShare(counts[at] as number, lengths[document] as number, average);
        sums[document - from] = (sums[document - from] as number) + weight * share;
        added += 1;
      }
    }
  }
  return added;
}

/** A word of a phrase: its postings, and its positions as they are stored. */
export interface PhraseWord extends Postings {
  readonly positions: Uint8Array;
}

/**
 * Documents where the words of a phrase follow each other.
 * @param words by their slots: a word that stands in the phrase twice is read once
 * @throws BadPostings
 */
export function* phrasePostings(
  { terms, gaps, slop, slot }: PlannedPhrase,
  words: ReadonlyMap<number, PhraseWord>,
): Generator<void, SlotPostings> {
  const distinct = [...words.values()];
  const readers = distinct.map(({ positions }) => new PositionReader(positions));
  const places = new Map([...words.keys()].map((own, at) => [own, at]));
  const lists = terms.map((term) => readers[places.get(term) as number] as PositionReader);
  const next = distinct.map(() => 0);
  const found: number[] = [];
  let document = 0;
  let sinceStep = 0;
  let agreed = 0;
  for (let word = 0; distinct.length > 0; word = (word + 1) % distinct.length) {
    const { documents, counts } = distinct[word] as PhraseWord;
    const reader = readers[word] as PositionReader;
    let at = next[word] as number;
    sinceStep += 1;
    while (at < documents.length && (documents[at] as number) < document) {
      const count = counts[at] as number;
      reader.skip(count);
      at += 1;
      sinceStep += 1 + count;
      if (sinceStep < STEP) continue;
      sinceStep = 0;
      yield;
    }
    next[word] = at;
    if (at === documents.length) break;
    if (documents[at] === document) agreed += 1;
    else {
      document = documents[at] as number;
      agreed = 1;
    }
    if (agreed < distinct.length) continue;
    for (const [other, { counts: own }] of distinct.entries()) {
      const count = own[next[other] as number] as number;
      (readers[other] as PositionReader).read(count);
      next[other] = (next[other] as number) + 1;
      sinceStep += 1 + count;
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
