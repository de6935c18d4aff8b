/**
 * `TextCollector` reads texts document by document for a plan (search-plan.ts): `add` (or
 * `addShort`) reads a column, `findPhrases` looks for phrases, and `end` has to follow each
 * document. It computes the statistics of all documents, and keeps the word counts of those that
 * match and have a row number. Scores depend on the statistics of the whole table, so `score`
 * computes them at the end. Callers bound the memory by `heldBytes`. `TermFinder` looks in texts
 * for the terms that the fuzzy words and prefixes of a plan stand for. It has to read all texts
 * before the plan is expanded, and the collector is made after that.
 */
import type { NearWords } from './fuzzy-terms.ts';
import { hasPhrase, type PositionList } from './phrases.ts';
import type { Scorer, TextStatistics } from './scores.ts';
import type { ColumnSearch, SearchPlan } from './search-plan.ts';
import { longer, type TermTable } from './term-table.ts';
import type { TopRows } from './top-rows.ts';

/** Where the texts of one document lie: pairs of byte offsets, one for each text of a list. */
export interface DocumentTexts {
  readonly bytes: Uint8Array;
  /** From and to, alternating. */
  readonly ranges: ArrayLike<number>;
  readonly count: number;
}

/** Bytes of texts that are read without steps, less where a byte begins several tokens. */
export const SHORT_BYTES: number = 1 << 16;

/** Memory of distinct tokens beyond which they are forgotten. */
const MOST_TERM_BYTES = 64 * 1024 * 1024;
/** Words of the query that are looked at between two steps. */
const STEP = 1 << 16;

/** Reads one document of one column: yields where its tokenizer has found some tokens. */
function* tokensIn(
  search: ColumnSearch,
  { bytes, ranges, count }: DocumentTexts,
): Generator<void, void> {
  const { tokenizer } = search;
  let position = 0;
  for (let at = 0; at < count; at++) {
    tokenizer.begin(bytes, ranges[2 * at] as number, ranges[2 * at + 1] as number, position);
    while (tokenizer.next()) yield;
    yield;
    position = tokenizer.position;
  }
}

/** Offers the terms of all texts to the fuzzy words of a plan. */
export class TermFinder {
  readonly #columns: readonly ColumnSearch[];
  readonly #near: readonly (NearWords | undefined)[];
  readonly #seen: number[];

  constructor({ columns }: SearchPlan) {
    this.#columns = columns;
    this.#near = columns.map((column) => column.nearWords());
    this.#seen = columns.map(() => 0);
  }

  *add(column: number, texts: DocumentTexts): Generator<void, void> {
    const near = this.#near[column];
    if (near === undefined) return;
    const search = this.#columns[column] as ColumnSearch;
    const { tokenizer } = search;
    for (const _ of tokensIn(search, texts)) {
      yield* near.offer(termsFrom(tokenizer.terms, this.#seen[column] as number));
      this.#seen[column] = tokenizer.terms.size;
      if (tokenizer.heldBytes > MOST_TERM_BYTES) {
        tokenizer.clear();
        this.#seen[column] = 0;
      }
      if (tokenizer.isWithin) yield;
    }
  }
}

function* termsFrom(terms: TermTable, first: number): Generator<Uint8Array> {
  for (let term = first; term < terms.size; term++) yield terms.bytesOf(term);
}

/** The terms of one column by the tokenizer's numbers, as slots of the plan. */
class ColumnCounts {
  readonly search: ColumnSearch;
  documents = 0;
  tokens = 0;
  /** Tokens of the document being read. */
  length = 0;
  readonly #counts: Uint32Array;
  readonly #touched: number[];
  readonly #positions = new Map<number, PositionList>();
  #slotOf = new Int32Array(1024);
  #known = 0;

  constructor(search: ColumnSearch, counts: Uint32Array, touched: number[]) {
    this.search = search;
    this.#counts = counts;
    this.#touched = touched;
    for (const slot of search.phraseSlots) {
      this.#positions.set(slot, { values: new Uint32Array(16), count: 0 });
    }
  }

  /**
   * Takes the tokens that the tokenizer found last, and forgets its terms where they are too many.
   */
  take(): void {
    const { tokenizer } = this.search;
    if (tokenizer.terms.size > this.#known) this.#learn();
    const slotOf = this.#slotOf;
    const counts = this.#counts;
    const { ids, count } = tokenizer;
    for (let at = 0; at < count; at++) {
      const slot = slotOf[ids[at] as number] as number;
      if (slot < 0) continue;
      const before = counts[slot] as number;
      if (before === 0) this.#touched.push(slot);
      counts[slot] = before + 1;
      const list = this.#positions.get(slot);
      if (list === undefined) continue;
      if (before === 0) list.count = 0;
      if (list.count === list.values.length) list.values = longer(list.values, list.count + 1);
      list.values[list.count++] = tokenizer.positions[at] as number;
    }
    this.length += count;
    if (tokenizer.heldBytes <= MOST_TERM_BYTES) return;
    tokenizer.clear();
    this.#known = 0;
  }

  #learn(): void {
    const { terms } = this.search.tokenizer;
    if (terms.size > this.#slotOf.length) this.#slotOf = longer(this.#slotOf, terms.size);
    for (let term = this.#known; term < terms.size; term++) {
      this.#slotOf[term] = this.search.slotOf(terms.bytesOf(term));
    }
    this.#known = terms.size;
  }

  /** Marks the phrases that the document has. */
  *markPhrases(): Generator<void, void> {
    const counts = this.#counts;
    for (const { slot, terms, gaps, slop } of this.search.phrases) {
      if (terms.some((term) => counts[term] === 0)) continue;
      const lists = terms.map((term) => this.#positions.get(term) as PositionList);
      if (!(yield* hasPhrase(lists, gaps, slop))) continue;
      counts[slot] = 1;
      this.#touched.push(slot);
    }
  }

  /** Counts the document. */
  end(): void {
    if (this.length > 0) this.documents += 1;
    this.tokens += this.length;
    this.length = 0;
  }
}

export class TextCollector {
  readonly #columns: readonly ColumnCounts[];
  readonly #counts: Uint32Array;
  /** Slots that occur in the document being read. */
  readonly #touched: number[] = [];
  readonly #frequencies: Float64Array;
  readonly #matches: Scorer;
  readonly #words: number;
  readonly #lengths: Uint32Array;
  /** Documents kept, the numbers that their callers gave them, and where their entries end. */
  #kept = 0;
  #rows = new Float64Array(256);
  #ends = new Float64Array(256);
  #keptLengths = new Uint32Array(256);
  /** Slots and counts, alternating. */
  #entries = new Uint32Array(1024);
  #entryCount = 0;

  constructor(plan: SearchPlan) {
    this.#counts = new Uint32Array(plan.slots);
    this.#frequencies = new Float64Array(plan.slots);
    this.#columns = plan.columns.map(
      (search) => new ColumnCounts(search, this.#counts, this.#touched),
    );
    this.#lengths = new Uint32Array(plan.columns.length);
    this.#words = plan.words;
    // Whether a document matches does not depend on the statistics.
    const ones = plan.columns.map(() => 1);
    this.#matches = plan.scorer({ documents: ones, tokens: ones, frequencies: [] });
  }

  /** Bytes of memory that it takes. */
  get heldBytes(): number {
    let bytes =
      this.#rows.byteLength +
      this.#ends.byteLength +
      this.#keptLengths.byteLength +
      this.#entries.byteLength;
    for (const { search } of this.#columns) bytes += search.tokenizer.heldBytes;
    return bytes;
  }

  /** Reads the texts of the next document in one column. */
  *add(column: number, texts: DocumentTexts): Generator<void, void> {
    const counts = this.#columns[column] as ColumnCounts;
    const { tokenizer } = counts.search;
    for (const _ of tokensIn(counts.search, texts)) {
      counts.take();
      if (tokenizer.isWithin) yield;
    }
  }

  /** Whether a text of so many bytes is read at once in that column: it has few tokens. */
  isShort(column: number, bytes: number): boolean {
    const { tokenizer } = (this.#columns[column] as ColumnCounts).search;
    return bytes * tokenizer.tokensPerByte < SHORT_BYTES;
  }

  /** Does the same, but at once, for a document of one text that is not long. */
  addShort(column: number, bytes: Uint8Array, from: number, to: number): void {
    const counts = this.#columns[column] as ColumnCounts;
    const { tokenizer } = counts.search;
    tokenizer.begin(bytes, from, to);
    while (tokenizer.next()) counts.take();
    counts.take();
  }

  /** Looks for the phrases of the plan in a document, before it ends, in steps. */
  *findPhrases(): Generator<void, void> {
    if (this.#touched.length === 0) return;
    for (const column of this.#columns) yield* column.markPhrases();
  }

  /**
   * Ends a document. @param row what it is called in the answer; undefined if it is only counted
   * @returns words of the query that were looked at
   */
  end(row: number | undefined): number {
    const touched = this.#touched;
    for (const [at, column] of this.#columns.entries()) {
      this.#lengths[at] = column.length;
      column.end();
    }
    if (touched.length === 0) return 0;
    const counts = this.#counts;
    if (row !== undefined && !Number.isNaN(this.#matches({ counts, lengths: this.#lengths }))) {
      this.#keep(row);
    }
    for (const slot of touched) {
      this.#frequencies[slot] = (this.#frequencies[slot] as number) + 1;
      counts[slot] = 0;
    }
    touched.length = 0;
    return this.#words;
  }

  #keep(row: number): void {
    const kept = this.#kept;
    const columns = this.#columns.length;
    if (kept === this.#rows.length) {
      this.#rows = longer(this.#rows, kept + 1);
      this.#ends = longer(this.#ends, kept + 1);
    }
    if ((kept + 1) * columns > this.#keptLengths.length) {
      this.#keptLengths = longer(this.#keptLengths, (kept + 1) * columns);
    }
    this.#rows[kept] = row;
    for (let at = 0; at < columns; at++) {
      this.#keptLengths[kept * columns + at] = this.#lengths[at] as number;
    }
    const needed = this.#entryCount + 2 * this.#touched.length;
    if (needed > this.#entries.length) this.#entries = longer(this.#entries, needed);
    for (const slot of this.#touched) {
      this.#entries[this.#entryCount++] = slot;
      this.#entries[this.#entryCount++] = this.#counts[slot] as number;
    }
    this.#ends[kept] = this.#entryCount;
    this.#kept = kept + 1;
  }

  /** The statistics of the documents that it read. */
  get statistics(): TextStatistics {
    return {
      documents: this.#columns.map(({ documents }) => documents),
      tokens: this.#columns.map(({ tokens }) => tokens),
      frequencies: this.#frequencies,
    };
  }

  /** Scores the documents kept, once the statistics of the whole table are known. */
  *score(score: Scorer, top: TopRows): Generator<void> {
    const columns = this.#columns.length;
    const counts = this.#counts;
    let entry = 0;
    let sinceStep = 0;
    for (let document = 0; document < this.#kept; document++) {
      const from = entry;
      const end = this.#ends[document] as number;
      for (; entry < end; entry += 2) {
        counts[this.#entries[entry] as number] = this.#entries[entry + 1] as number;
      }
      const lengths = this.#keptLengths.subarray(document * columns, (document + 1) * columns);
      top.add(this.#rows[document] as number, score({ counts, lengths }));
      for (let at = from; at < end; at += 2) counts[this.#entries[at] as number] = 0;
      sinceStep += this.#words + 8;
      if (sinceStep < STEP) continue;
      sinceStep = 0;
      yield;
    }
  }
}
