/**
 * `IndexedTexts` runs a full-text search through index segments. `open` opens these, and `close`
 * has to be called at the end. `findTerms` finds the terms that fuzzy words and prefixes stand for.
 * `read` loads the postings of the query's terms, and computes the statistics of scores over live
 * rows. `score` ranks the rows that match the query and a prefilter. Rows that were deleted since
 * the index was built count neither in statistics nor in results.
 */
import type { HeldMemory } from '../../request-memory.ts';
import {
  type ColumnSearch,
  impactsOf,
  type PhraseWord,
  phrasePostings,
  type SearchPlan,
  type SlotBlocks,
  type SlotPostings,
  scoreSegment,
  sumSegment,
  type TextStatistics,
  type TopRows,
} from '../../search/index.ts';
import {
  type CoveredSegment,
  placedRuns,
  rowsIn,
  type TermPlace,
  TextSegment,
} from '../indexes/index.ts';
import {
  emptyMask,
  liveRows,
  markMatching,
  planScan,
  type ScanPlan,
  type ScanRequest,
  type TableRows,
} from '../read/index.ts';
import { inTurns } from '../work/index.ts';
import type { TextAccess } from './text-access.ts';

/** What a search reads of one part of the table. */
interface Part {
  readonly covered: readonly CoveredSegment[];
  /** By column. */
  readonly segments: readonly TextSegment[];
  readonly rows: number;
  /** Not 0 for rows that are there; undefined where all are. */
  live: Uint8Array | undefined;
  /** Not 0 for rows that may be in the answer; undefined where all may. */
  wanted: Uint8Array | undefined;
  lengths: readonly Uint32Array[];
  postings: SlotPostings[];
  /** Average length that the segment of the only column was built by. */
  average: number;
  /** In place of postings, where sums of the words' shares bound scores. */
  blocks: SlotBlocks[];
}

/** Words in this share of the rows have impacts: a byte for each row. */
const COMMON = 16;
const LEAST_IMPACT_ROWS = 1 << 14;
/** Impacts say which rows can be among the best of this share of them; more are scored exactly. */
const FEW_OF_ROWS = 1024;
/** The cache has room for those of so many words. */
const CACHED_IMPACTS = 16;

/**
 * Call `open`, `findTerms` if the query has fuzzy words or prefixes, `read` and `score`, in this
 * order, and `close` at the end.
 */
export class IndexedTexts {
  /** The statistics of the live rows that the indexes cover. */
  readonly statistics: TextStatistics;
  readonly #plan: ScanPlan;
  readonly #search: SearchPlan;
  readonly #rows: TableRows;
  readonly #filter: ScanPlan | undefined;
  readonly #parts: readonly Part[];
  readonly #documents: number[];
  readonly #tokens: number[];
  #frequencies = new Float64Array(0);

  private constructor(
    plan: ScanPlan,
    search: SearchPlan,
    rows: TableRows,
    filter: ScanPlan | undefined,
    parts: readonly Part[],
  ) {
    this.#plan = plan;
    this.#search = search;
    this.#rows = rows;
    this.#filter = filter;
    this.#parts = parts;
    this.#documents = search.columns.map(() => 0);
    this.#tokens = search.columns.map(() => 0);
    const frequencies = (): ArrayLike<number> => this.#frequencies;
    this.statistics = {
      documents: this.#documents,
      tokens: this.#tokens,
      get frequencies() {
        return frequencies();
      },
    };
  }

  static async open(
    plan: ScanPlan,
    request: ScanRequest & { readonly prefilter: boolean },
    search: SearchPlan,
    rows: TableRows,
    { segments }: TextAccess,
  ): Promise<IndexedTexts> {
    const { engine, snapshot, memory } = plan;
    const { filter, counters, signal } = request;
    const parts: Part[] = [];
    try {
      for (const own of segments) {
        const opened: TextSegment[] = [];
        parts.push({
          covered: own,
          segments: opened,
          rows: rowsIn(own[0]?.segment.runs ?? []),
          live: undefined,
          wanted: undefined,
          lengths: [],
          postings: [],
          average: 1,
          blocks: [],
        });
        for (const { segment } of own) {
          opened.push(await TextSegment.open(engine, snapshot, segment));
        }
      }
      let filtering: ScanPlan | undefined;
      if (request.prefilter && filter !== undefined && parts.length > 0) {
        const shared = { counters, signal, memory };
        filtering = await planScan(engine, snapshot, { columns: [], filter, ...shared });
      }
      return new IndexedTexts(plan, search, rows, filtering, parts);
    } catch (error) {
      closeAll(parts);
      throw error;
    }
  }

  close(): void {
    closeAll(this.#parts);
  }

  /** Offers the terms of the indexes to fuzzy and open words. */
  async findTerms(): Promise<void> {
    const { turn, signal } = this.#plan;
    for (const [column, search] of this.#search.columns.entries()) {
      const near = search.nearWords();
      if (near === undefined) continue;
      for (const { segments } of this.#parts) {
        for (const prefix of near.prefixes()) {
          for await (const terms of (segments[column] as TextSegment).termsFrom(prefix)) {
            await inTurns(turn, near.offerCells(terms), signal);
            if (near.isPast(terms)) break;
            if (turn.isOver()) await turn.pass();
            signal?.throwIfAborted();
          }
        }
      }
    }
  }

  /** Reads what the query needs, and counts it. */
  async read(held: HeldMemory, others: number): Promise<void> {
    const { engine, snapshot } = this.#plan;
    this.#frequencies = new Float64Array(this.#search.slots);
    let bytes = 2 * others;
    for (const part of this.#parts) {
      const [first] = part.covered;
      part.live = first && (await liveRows(engine, snapshot, first));
      part.lengths = await Promise.all(part.segments.map((segment) => segment.lengths()));
      await this.#count(part);
      for (const [column, search] of this.#search.columns.entries()) {
        await this.#readColumn(part, column, search);
      }
      for (const { documents } of part.postings) bytes += 8 * documents.length;
      bytes += 2 * (part.live?.byteLength ?? 0);
      held.set(bytes);
      part.wanted = part.live;
    }
    await this.#applyFilter();
  }

  readonly #steps = <T>(work: Generator<void, T>): Promise<T> => {
    const { turn, signal } = this.#plan;
    return inTurns(turn, work, signal);
  };

  async #count(part: Part): Promise<void> {
    const { lengths, live, covered } = part;
    const { turn, signal } = this.#plan;
    for (const [column, own] of lengths.entries()) {
      const segment = (covered[column] as CoveredSegment).segment;
      let whole = wholeCounts.get(segment);
      if (whole === undefined) {
        whole = await inTurns(turn, countOf(own, undefined), signal);
        wholeCounts.set(segment, whole);
      }
      part.average = whole.documents === 0 ? 1 : whole.tokens / whole.documents;
      const { name } = part.segments[column] as TextSegment;
      const known = live && LiveCounts.of(live).texts;
      let counted = known === undefined ? whole : known.get(name);
      if (counted === undefined) {
        counted = await inTurns(turn, countOf(own, live), signal);
        known?.set(name, counted);
      }
      this.#documents[column] = (this.#documents[column] as number) + counted.documents;
      this.#tokens[column] = (this.#tokens[column] as number) + counted.tokens;
    }
  }

  /** In how many live rows a term is that so many rows have. */
  async #frequencyOf(
    { live }: Part,
    segment: TextSegment,
    place: TermPlace,
    documents: number,
  ): Promise<number> {
    if (live === undefined) return documents;
    const { turn, signal } = this.#plan;
    const { frequencies } = LiveCounts.of(live);
    const key = `${segment.name} ${place.number}`;
    let frequency = frequencies.get(key);
    if (frequency === undefined) {
      const all = await segment.postings(place);
      frequency = await inTurns(turn, liveOf(all.documents, live), signal);
      frequencies.set(key, frequency);
    }
    return frequency;
  }

  async #readColumn(part: Part, column: number, search: ColumnSearch): Promise<void> {
    const { turn, signal } = this.#plan;
    const segment = part.segments[column] as TextSegment;
    const { boundSlots } = this.#search;
    if (boundSlots !== undefined) {
      await this.#openBlocks(part, segment, search, boundSlots);
      return;
    }
    const found = new Map<number, { readonly place: TermPlace; readonly own: SlotPostings }>();
    for (const { term, slot } of search.terms()) {
      const place = await segment.find(term);
      if (place === undefined) continue;
      const own = { slot, ...(await segment.postings(place)) };
      found.set(slot, { place, own });
      part.postings.push(own);
      const frequency = await this.#frequencyOf(part, segment, place, own.documents.length);
      this.#frequencies[slot] = (this.#frequencies[slot] as number) + frequency;
      if (turn.isOver()) await turn.pass();
      signal?.throwIfAborted();
    }
    for (const phrase of search.phrases) {
      if (phrase.terms.some((slot) => !found.has(slot))) continue;
      const words = new Map<number, PhraseWord>();
      const slots = new Set(phrase.terms);
      for (const [slot, { own, place }] of found) {
        if (!slots.has(slot)) continue;
        const count = own.documents.length;
        words.set(slot, { ...own, positions: await segment.positions(place, count, this.#steps) });
        if (turn.isOver()) await turn.pass();
        signal?.throwIfAborted();
      }
      try {
        part.postings.push(await inTurns(turn, phrasePostings(phrase, words), signal));
      } catch (error) {
        throw segment.damaged(error);
      }
    }
  }

  async #openBlocks(
    part: Part,
    segment: TextSegment,
    search: ColumnSearch,
    bounding: ReadonlySet<number>,
  ): Promise<void> {
    const { turn, signal } = this.#plan;
    const inPhrases = search.phraseSlots;
    for (const { term, slot } of search.terms()) {
      const place = await segment.find(term);
      if (place === undefined) continue;
      const { documents, blocks } = await segment.blocks(place);
      const positions = inPhrases.has(slot)
        ? await segment.positions(place, documents, this.#steps)
        : undefined;
      const impacts = bounding.has(slot)
        ? await this.#impactsOf(part, segment, place, documents)
        : undefined;
      part.blocks.push({ slot, documents, blocks, positions, impacts });
      const frequency = await this.#frequencyOf(part, segment, place, documents);
      this.#frequencies[slot] = (this.#frequencies[slot] as number) + frequency;
      if (turn.isOver()) await turn.pass();
      signal?.throwIfAborted();
    }
  }

  /**
   * The impacts of a word that is common enough to have them. They are made when such a query asks
   * for the word a second time, and kept as the columns of files are.
   */
  async #impactsOf(
    part: Part,
    segment: TextSegment,
    place: TermPlace,
    documents: number,
  ): Promise<Uint8Array | undefined> {
    const { engine, turn, signal, limit, offset } = this.#plan;
    const { rows, average } = part;
    const isCommon = rows >= LEAST_IMPACT_ROWS && documents * COMMON >= rows;
    const isFew = (limit + offset) * FEW_OF_ROWS <= rows && this.#search.slots > 1;
    if (!isCommon || !isFew || rows * CACHED_IMPACTS > engine.buffers.limit) return undefined;
    const key = `${segment.name} impacts ${place.number}`;
    const known = engine.buffers.get<Uint8Array>(key);
    if (known !== undefined || !engine.buffers.noted(key)) return known;
    const { blocks } = await segment.blocks(place);
    const lengths = part.lengths[0] as Uint32Array;
    try {
      const impacts = await inTurns(turn, impactsOf(blocks, lengths, average), signal);
      engine.buffers.set(key, impacts, impacts.byteLength + 256);
      return impacts;
    } catch (error) {
      throw segment.damaged(error);
    }
  }

  /** Leaves only the rows that the predicate is true for. */
  async #applyFilter(): Promise<void> {
    const filter = this.#filter;
    if (filter === undefined) return;
    const masked = this.#parts.map((part) => {
      const [covered] = part.covered as [CoveredSegment];
      const wanted = emptyMask(covered);
      part.wanted = wanted;
      return { covered, wanted };
    });
    await markMatching(filter, masked);
  }

  /** Puts the best rows among those that were found before. */
  async score(statistics: TextStatistics, top: TopRows): Promise<void> {
    const { turn, signal } = this.#plan;
    const weights = this.#search.weights(statistics);
    const scorer = this.#search.scorer(statistics);
    for (const part of this.#parts) {
      const { rows, postings, lengths, wanted, covered } = part;
      const runs = placedRuns((covered[0] as CoveredSegment).segment);
      let run = 0;
      const rowOf = (document: number): number => {
        while (document >= (runs[run]?.start as number) + (runs[run]?.rows as number)) run += 1;
        while (document < (runs[run]?.start as number)) run -= 1;
        const { fragment, start } = runs[run] as (typeof runs)[number];
        return this.#rows.startOf(fragment) + document - start;
      };
      const documents = { rows, postings, lengths, wanted, rowOf };
      const steps =
        weights === undefined
          ? scoreSegment(documents, scorer, this.#search, top)
          : sumSegment(documents, part.blocks, weights, part.average, top);
      try {
        await inTurns(turn, steps, signal);
      } catch (error) {
        throw (part.segments[0] as TextSegment).damaged(error);
      }
    }
  }
}

function closeAll(parts: readonly Part[]): void {
  for (const { segments } of parts) for (const segment of segments) segment.close();
}

interface Counts {
  readonly documents: number;
  readonly tokens: number;
}

/** The counts over all rows of a segment, deleted ones too. */
const wholeCounts = new WeakMap<object, Counts>();

/** What was counted of live rows, by their mask: counting them takes longer than a search. */
class LiveCounts {
  /** By the segments of columns. */
  readonly texts = new Map<string, Counts>();
  /** Rows that have a term, by segment and term. */
  readonly frequencies = new Map<string, number>();

  static of(live: Uint8Array): LiveCounts {
    let counts = liveCounts.get(live);
    if (counts === undefined) {
      counts = new LiveCounts();
      liveCounts.set(live, counts);
    }
    if (counts.frequencies.size > MOST_FREQUENCIES) counts.frequencies.clear();
    return counts;
  }
}

const liveCounts = new WeakMap<Uint8Array, LiveCounts>();
/** Few enough to take little memory beside their mask. */
const MOST_FREQUENCIES = 1024;
const STEP_ROWS = 1 << 16;

function* countOf(lengths: Uint32Array, live: Uint8Array | undefined): Generator<void, Counts> {
  let documents = 0;
  let tokens = 0;
  for (let from = 0; from < lengths.length; from += STEP_ROWS) {
    const to = Math.min(lengths.length, from + STEP_ROWS);
    const counted = countPart(lengths, live, from, to);
    documents += counted.documents;
    tokens += counted.tokens;
    yield;
  }
  return { documents, tokens };
}

/** Called for each part, so that it is compiled soon, in the first search of a process too. */
function countPart(
  lengths: Uint32Array,
  live: Uint8Array | undefined,
  from: number,
  to: number,
): Counts {
  let documents = 0;
  let tokens = 0;
  for (let row = from; row < to; row++) {
    const length = lengths[row] as number;
    if (length === 0 || (live !== undefined && live[row] === 0)) continue;
    documents += 1;
    tokens += length;
  }
  return { documents, tokens };
}

function* liveOf(documents: Uint32Array, live: Uint8Array): Generator<void, number> {
  let count = 0;
  for (let at = 0; at < documents.length; at++) {
    if (live[documents[at] as number] !== 0) count += 1;
    if (at % STEP_ROWS === STEP_ROWS - 1) yield;
  }
  return count;
}
