/**
 * `scoreSegment`: scores the documents of an index's segment from the postings of a query's terms,
 * in steps. Documents are taken in windows: the entries of a window are put in order by document and
 * given to the scorer one document after the other. A match of any words adds up its shares directly.
 * `phrasePostings` finds the documents where words follow each other.
 */
import { hasPhrase } from './phrases.ts';
import { PositionReader, type Postings } from './postings.ts';
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
  slots: number,
  top: TopRows,
): Generator<void> {
  const counts = new Uint32Array(slots);
  const own = new Uint32Array(lengths.length);
  const next = postings.map(() => 0);
  const starts = new Uint32Array(WINDOW + 1);
  let entries = new Uint32Array(1024);
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
    }
    sinceStep += total + WINDOW / 4;
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

/** By the shares of slots alone. Every weight is more than 0. */
export function* addUpSegment(
  { postings, lengths, wanted, rowOf, rows }: SegmentDocuments,
  { column, average, weights }: SlotWeights,
  top: TopRows,
): Generator<void> {
  const own = lengths[column] as Uint32Array;
  const sums = new Float64Array(Math.min(rows, WINDOW));
  const next = postings.map(() => 0);
  let sinceStep = 0;
  for (;;) {
    const window = windowAt(postings, next);
    if (window === undefined) return;
    const { from, ends, total } = window;
    let last = from;
    for (const [at, { documents, counts, slot }] of postings.entries()) {
      const weight = weights.get(slot) as number;
      const end = ends[at] as number;
      for (let entry = next[at] as number; entry < end; entry++) {
        const document = documents[entry] as number;
        const share = termShare(counts[entry] as number, own[document] as number, average);
        sums[document - from] = (sums[document - from] as number) + weight * share;
      }
      if (end > (next[at] as number)) last = Math.max(last, documents[end - 1] as number);
      next[at] = end;
    }
    let { threshold } = top;
    for (let place = 0; place <= last - from; place++) {
      const sum = sums[place] as number;
      if (sum === 0) continue;
      sums[place] = 0;
      // A sum that rounds to the lowest score may still come before it.
      if (sum < threshold - 1e-3) continue;
      if (wanted !== undefined && wanted[from + place] === 0) continue;
      top.add(rowOf(from + place), sum);
      threshold = top.threshold;
    }
    sinceStep += total + WINDOW / 16;
    if (sinceStep < STEP) continue;
    sinceStep = 0;
    yield;
  }
}

/** A word of a phrase: its postings, and its positions as they are stored. */
export interface PhraseWord extends Postings {
  readonly positions: Uint8Array;
}

/** Documents where the words of a phrase follow each other. @throws BadPostings */
export function* phrasePostings(
  { gaps, slop, slot }: PlannedPhrase,
  words: readonly PhraseWord[],
): Generator<void, SlotPostings> {
  const readers = words.map(({ positions }) => new PositionReader(positions));
  const next = words.map(() => 0);
  const found: number[] = [];
  let document = 0;
  let sinceStep = 0;
  let agreed = 0;
  for (let word = 0; words.length > 0; word = (word + 1) % words.length) {
    const { documents, counts } = words[word] as PhraseWord;
    const reader = readers[word] as PositionReader;
    let at = next[word] as number;
    const from = at;
    while (at < documents.length && (documents[at] as number) < document) {
      reader.skip(counts[at] as number);
      at += 1;
    }
    next[word] = at;
    sinceStep += at - from;
    if (sinceStep >= STEP) {
      sinceStep = 0;
      yield;
    }
    if (at === documents.length) break;
    if (documents[at] === document) agreed += 1;
    else {
      document = documents[at] as number;
      agreed = 1;
    }
    if (agreed < words.length) continue;
    for (const [other, { counts: own }] of words.entries()) {
      (readers[other] as PositionReader).read(own[next[other] as number] as number);
      next[other] = (next[other] as number) + 1;
    }
    if (hasPhrase(readers, gaps, slop)) found.push(document);
    document += 1;
    agreed = 0;
  }
  return {
    slot,
    documents: Uint32Array.from(found),
    counts: new Uint32Array(found.length).fill(1),
  };
}
