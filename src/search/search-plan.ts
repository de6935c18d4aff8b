/**
 * `SearchPlan` is a full-text query prepared for the columns that it searches (`ColumnSearch`). It
 * cuts the query into words with each column's tokenizer, and gives each distinct term of a column,
 * and each phrase of several words, a number (slot). A reader of texts or of an index counts the
 * slots in a document, and the plan's scorer turns the counts into a score. If `isFuzzy`, the terms
 * of fuzzy words and prefixes have to be found first; `expand` then gives them slots, so `slots`
 * grows. `weights` returns what sum-segment.ts needs, or undefined if scores have no such bound or are of
 * several columns. More than 4,096 words, counted once for each column, throw InvalidInput.
 */
import { DirspaceError } from '../errors.ts';
import type { Pause } from '../steps.ts';
import {
  autoFuzziness,
  charactersIn,
  FuzzyLeaf,
  type FuzzyWord,
  type NearCount,
  NearWords,
} from './fuzzy-terms.ts';
import {
  inverseFrequency,
  type LeafSlots,
  type Scorer,
  scorerOf,
  type TextStatistics,
} from './scores.ts';
import type { SlotWeights } from './sum-segment.ts';
import { hashOf, TermTable } from './term-table.ts';
import { type LeafNode, leavesOf, type PrefixNode, type TextQuery } from './text-query.ts';
import type { TextSettings } from './text-settings.ts';
import { Tokenizer } from './tokenizer.ts';

/** A word of a query, and the position where it stands there. */
interface Word {
  readonly term: Uint8Array;
  readonly position: number;
}

/** Words that follow each other in a column. */
export interface PlannedPhrase {
  /** The slot that counts as 1 where the phrase is there. */
  readonly slot: number;
  /** The terms of its words, in order. */
  readonly terms: readonly number[];
  /** Positions from each word to the next one. */
  readonly gaps: readonly number[];
  readonly slop: number;
}

/**
 * The fuzzy or open words of a leaf, and the slots of the terms that each stands for once they are
 * known.
 */
interface FuzzyGroups {
  readonly leaf: FuzzyLeaf;
  readonly groups: readonly number[][];
  /** Slots at the start of each group that it has in any case. */
  readonly own: number;
}

/** What bounds the scores of a query over one column. */
interface Bounded {
  readonly column: number;
  /** By slot: the score has at most the sum of these, each times frequency and share of its slot. */
  readonly factors: ReadonlyMap<number, number>;
  readonly all: boolean;
  readonly phrase: PlannedPhrase | undefined;
  /** Undefined where the sum is the score. */
  readonly tree: { readonly required: ReadonlySet<number> } | undefined;
}

/** Words of a request, those of each column that a part of it searches counted. */
const MOST_WORDS = 4096;

/** The terms and phrases to look for in one column. */
export class ColumnSearch {
  /** The name that the plan's caller gives the column. */
  readonly column: string;
  readonly tokenizer: Tokenizer;
  /** Among the columns of the plan. */
  readonly number: number;
  readonly phrases: PlannedPhrase[] = [];
  /** Fuzzy words, by the leaves of the query that they are of. */
  readonly fuzzy: FuzzyGroups[] = [];
  readonly #terms = new TermTable();
  /** The slot of each term in the term table. */
  readonly #slots: number[] = [];
  readonly #newSlot: () => number;
  #wholeWords: Promise<Tokenizer> | undefined;

  constructor(column: string, tokenizer: Tokenizer, number: number, newSlot: () => number) {
    this.column = column;
    this.tokenizer = tokenizer;
    this.number = number;
    this.#newSlot = newSlot;
  }

  /** Cuts texts as its tokenizer does, and leaves words unstemmed and stop words in. */
  wholeWords(): Promise<Tokenizer> {
    this.#wholeWords ??= Tokenizer.open({
      ...this.tokenizer.settings,
      stem: false,
      removeStopWords: false,
    });
    return this.#wholeWords;
  }

  /** The slot of a term, or -1. */
  slotOf(term: Uint8Array): number {
    const number = this.#terms.find(term);
    return number < 0 ? -1 : (this.#slots[number] as number);
  }

  /** The terms that are looked for, with their slots. */
  *terms(): Generator<{ readonly term: Uint8Array; readonly slot: number }> {
    for (const [number, slot] of this.#slots.entries()) {
      yield { term: this.#terms.bytesOf(number), slot };
    }
  }

  /** The slots of words whose positions are needed. */
  get phraseSlots(): ReadonlySet<number> {
    return new Set(this.phrases.flatMap(({ terms }) => terms));
  }

  wanted(term: Uint8Array): number {
    const number = this.#terms.intern(term, 0, term.length, hashOf(term, 0, term.length));
    if (number === this.#slots.length) this.#slots.push(this.#newSlot());
    return this.#slots[number] as number;
  }

  addPhrase(words: readonly Word[], slop: number): PlannedPhrase {
    const terms = words.map(({ term }) => this.wanted(term));
    const gaps = words.slice(1).map(({ position }, at) => position - (words[at] as Word).position);
    const phrase = { slot: this.#newSlot(), terms, gaps, slop };
    this.phrases.push(phrase);
    return phrase;
  }

  /** Its fuzzy words; undefined where there are none. */
  nearWords(): NearWords | undefined {
    return this.fuzzy.length === 0 ? undefined : new NearWords(this.fuzzy.map(({ leaf }) => leaf));
  }

  /**
   * Gives fuzzy words the terms near to them, as many as each leaf may have, its first words first.
   */
  expand(): void {
    for (const { leaf, groups, own } of this.fuzzy) {
      for (const [at, terms] of leaf.taken().entries()) {
        const group = groups[at] as number[];
        group.length = own;
        for (const term of terms) group.push(this.wanted(term));
      }
    }
  }
}

export class SearchPlan {
  readonly root: TextQuery;
  readonly columns: readonly ColumnSearch[];
  /** Words of the query in all columns: what it takes to score a document, at most. */
  readonly words: number;
  readonly #leaves: ReadonlyMap<LeafNode, readonly LeafSlots[]>;
  readonly #slots: { count: number };

  private constructor(
    root: TextQuery,
    columns: readonly ColumnSearch[],
    leaves: ReadonlyMap<LeafNode, readonly LeafSlots[]>,
    slots: { count: number },
    words: number,
  ) {
    this.root = root;
    this.columns = columns;
    this.words = words;
    this.#leaves = leaves;
    this.#slots = slots;
  }

  /**
   * @param defaults columns of the nodes that name none
   * @param columnOf the real name of a column, and how its texts become words
   * @param pause asked between steps
   * @throws InvalidInput for too many words
   */
  static async of(
    root: TextQuery,
    defaults: readonly string[],
    columnOf: (path: string) => { readonly name: string; readonly settings: TextSettings },
    pause: Pause,
  ): Promise<SearchPlan> {
    const slots = { count: 0 };
    const near: NearCount = { terms: 0 };
    const known = new Map<string, ColumnSearch>();
    let count = 0;
    const columns: ColumnSearch[] = [];
    const leaves = new Map<LeafNode, LeafSlots[]>();
    for (const leaf of leavesOf(root)) {
      const found: LeafSlots[] = [];
      for (const path of leaf.column === undefined ? defaults : [leaf.column]) {
        let search = known.get(path);
        if (search === undefined) {
          const { name, settings } = columnOf(path);
          search = columns.find(({ column }) => column === name);
          if (search === undefined) {
            const tokenizer = await Tokenizer.open(settings);
            search = new ColumnSearch(name, tokenizer, columns.length, () => slots.count++);
            columns.push(search);
          }
          known.set(path, search);
        }
        const words = await wordsOf(leaf.terms, search.tokenizer, MOST_WORDS - count, pause);
        count += Math.max(1, words.length);
        if (count > MOST_WORDS) throw tooManyWords();
        if (leaf.kind === 'prefix') {
          const all = await wordsOf(leaf.terms, await search.wholeWords(), MOST_WORDS, pause);
          found.push(prefixSlots(leaf, search, words, all.at(-1), near));
        } else {
          const asked = leaf.kind === 'match' ? distinctWords(words) : words;
          found.push(leafSlots(leaf, search, asked, near));
        }
      }
      leaves.set(leaf, found);
    }
    return new SearchPlan(root, columns, leaves, slots, count);
  }

  /** One more than the highest slot; more once fuzzy words are expanded. */
  get slots(): number {
    return this.#slots.count;
  }

  /** Whether fuzzy or open words wait for the terms that they stand for. */
  get isFuzzy(): boolean {
    return this.columns.some(({ fuzzy }) => fuzzy.length > 0);
  }

  expand(): void {
    for (const column of this.columns) column.expand();
  }

  /** Whether any phrase needs the positions of its words. */
  get needsPositions(): boolean {
    return this.columns.some(({ phrases }) => phrases.length > 0);
  }

  /** The slots that bound a score, where `weights` tells their weights. */
  get boundSlots(): ReadonlySet<number> | undefined {
    const bounded = this.#bounded();
    return bounded && new Set(bounded.factors.keys());
  }

  #bounded(): Bounded | undefined {
    const { root } = this;
    const [column, ...more] = this.columns;
    if (column === undefined || more.length > 0) return undefined;
    const summed = this.#summed(root, column);
    if (summed !== undefined) return summed;
    const factors = new Map<number, number>();
    if (!this.#addFactors(root, factors)) return undefined;
    const required = new Set(this.#required(root));
    const tree = { required };
    return { column: 0, factors, all: false, phrase: undefined, tree };
  }

  /** Of a match, a prefix or a phrase, whose scores are sums. */
  #summed(root: TextQuery, { phrases }: ColumnSearch): Bounded | undefined {
    if (root.kind !== 'match' && root.kind !== 'prefix' && root.kind !== 'phrase') return undefined;
    const [slots, ...more] = this.#leaves.get(root) ?? [];
    if (slots === undefined || more.length > 0) return undefined;
    const isPhrase = root.kind === 'phrase';
    const all = isPhrase || root.all;
    // A word that stands for several terms is there with any of them.
    if (!isPhrase && all && slots.groups.some((terms) => terms.length !== 1)) return undefined;
    const factors = new Map<number, number>();
    if (!this.#addFactors(root, factors)) return undefined;
    const phrase = phrases.find(({ slot }) => slot === slots.phrase);
    return { column: slots.column, factors, all, phrase, tree: undefined };
  }

  /**
   * Adds what slots add to a score at most: the best of several parts is below their sum, and a
   * negative part takes away. False where that is no bound, or documents may have a bound of 0.
   */
  #addFactors(query: TextQuery, factors: Map<number, number>): boolean {
    switch (query.kind) {
      case 'match':
      case 'prefix':
      case 'phrase': {
        const boost = query.kind === 'phrase' ? 1 : query.boost;
        if (!(boost > 0)) return false;
        for (const { groups } of this.#leaves.get(query) ?? []) {
          for (const slot of groups.flat()) factors.set(slot, (factors.get(slot) ?? 0) + boost);
        }
        return true;
      }
      case 'best':
        return query.matches.every((match) => this.#addFactors(match, factors));
      case 'boost': {
        const isLess = query.negativeBoost >= 0 && this.#addFactors(query.negative, new Map());
        return isLess && !hasBoost(query.negative) && this.#addFactors(query.positive, factors);
      }
      default:
        return [...query.must, ...query.should].every((part) => this.#addFactors(part, factors));
    }
  }

  /** Slots that each document of the answer has. */
  #required(query: TextQuery): number[] {
    switch (query.kind) {
      case 'match':
      case 'prefix':
      case 'phrase': {
        const [slots, ...more] = this.#leaves.get(query) ?? [];
        if (slots === undefined || more.length > 0) return [];
        const all = query.kind === 'phrase' || query.all || slots.groups.length === 1;
        return all ? slots.groups.flatMap((group) => (group.length === 1 ? group : [])) : [];
      }
      case 'boost':
        return this.#required(query.positive);
      case 'boolean':
        return query.must.flatMap((part) => this.#required(part));
      default:
        return [];
    }
  }

  /**
   * The weights of slots, where the query is of one column and its scores have bounds that are sums
   * over slots; else undefined.
   */
  weights(statistics: TextStatistics): SlotWeights | undefined {
    const bounded = this.#bounded();
    if (bounded === undefined) return undefined;
    const { column, factors, all, phrase, tree } = bounded;
    const documents = statistics.documents[column] ?? 0;
    const weights = new Map<number, number>();
    for (const [slot, factor] of factors) {
      weights.set(slot, factor * inverseFrequency(documents, statistics.frequencies[slot] ?? 0));
    }
    const average = documents === 0 ? 1 : (statistics.tokens[column] ?? 0) / documents;
    if (tree === undefined) return { column, average, weights, all, phrase, tree };
    const { phrases } = this.columns[column] as ColumnSearch;
    const scorer = this.scorer(statistics);
    const own = { ...tree, scorer, slots: this.slots, words: this.words, phrases };
    return { column, average, weights, all, phrase, tree: own };
  }

  /** Scores documents by these statistics. */
  scorer(statistics: TextStatistics): Scorer {
    return scorerOf(this.root, this.#leaves, statistics);
  }
}

/** Whether a part of a query takes from scores, so that these may be below 0. */
function hasBoost(query: TextQuery): boolean {
  if (query.kind === 'boost') return true;
  if (query.kind !== 'boolean') return false;
  return [...query.must, ...query.should].some(hasBoost);
}

/** N-grams have one position, and one that is there twice counts once; words count each time. */
function distinctWords(words: readonly Word[]): readonly Word[] {
  const isShared = words.some(({ position }, at) => position === words[at - 1]?.position);
  if (!isShared) return words;
  const known = new Set<string>();
  return words.filter(({ term, position }) => {
    const key = `${position} ${Buffer.from(term).toString('hex')}`;
    return !known.has(key) && known.add(key);
  });
}

function leafSlots(
  leaf: Exclude<LeafNode, PrefixNode>,
  search: ColumnSearch,
  words: readonly Word[],
  near: NearCount,
): LeafSlots {
  const column = search.number;
  if (leaf.kind === 'phrase') {
    if (words.length === 0) return { column, groups: [], phrase: undefined };
    // A phrase of one word is that word.
    if (words.length === 1) {
      const [{ term }] = words as [Word];
      return { column, groups: [[search.wanted(term)]], phrase: undefined };
    }
    const phrase = search.addPhrase(words, leaf.slop);
    return { column, groups: phrase.terms.map((slot) => [slot]), phrase: phrase.slot };
  }
  if (leaf.fuzziness === 0) {
    const groups = words.map(({ term }) => [search.wanted(term)]);
    return { column, groups, phrase: undefined };
  }
  const { fuzziness, prefixLength, maxExpansions } = leaf;
  const fuzzy = words.map(({ term }): FuzzyWord => {
    const edits = fuzziness === 'auto' ? autoFuzziness(charactersIn(term)) : fuzziness;
    return { term, edits, prefixLength };
  });
  const groups = words.map((): number[] => []);
  search.fuzzy.push({ leaf: new FuzzyLeaf(fuzzy, maxExpansions, near), groups, own: 0 });
  return { column, groups, phrase: undefined };
}

/**
 * @param words of the text, as they are indexed
 * @param last its last word as it is written, but for the form of its letters
 */
function prefixSlots(
  { maxExpansions }: PrefixNode,
  search: ColumnSearch,
  words: readonly Word[],
  last: Word | undefined,
  near: NearCount,
): LeafSlots {
  const column = search.number;
  if (last === undefined) return { column, groups: [], phrase: undefined };
  // A stop word is no term by itself, but terms may begin with it.
  const whole = words.find(({ position }) => position === last.position)?.term;
  const before = words.filter(({ position }) => position !== last.position);
  const open = whole === undefined ? [] : [search.wanted(whole)];
  const leaf = new FuzzyLeaf([{ start: last.term, except: whole }], maxExpansions, near);
  search.fuzzy.push({ leaf, groups: [open], own: open.length });
  const groups = [...before.map(({ term }) => [search.wanted(term)]), open];
  return { column, groups, phrase: undefined };
}

const encoder = new TextEncoder();

/** @throws InvalidInput for more words than `most` */
async function wordsOf(
  text: string,
  tokenizer: Tokenizer,
  most: number,
  pause: Pause,
): Promise<Word[]> {
  const bytes = encoder.encode(text);
  const words: Word[] = [];
  tokenizer.begin(bytes, 0, bytes.length);
  for (let more = true; more; ) {
    more = tokenizer.next();
    if (words.length + tokenizer.count > most) throw tooManyWords();
    for (let at = 0; at < tokenizer.count; at++) {
      words.push({
        term: tokenizer.terms.bytesOf(tokenizer.ids[at] as number).slice(),
        position: tokenizer.positions[at] as number,
      });
    }
    const waiting = pause();
    if (waiting !== undefined) await waiting;
  }
  return words;
}

const tooManyWords = (): DirspaceError =>
  new DirspaceError(
    'InvalidInput',
    `A full-text query has at most ${MOST_WORDS} words, counted once for each column that they are looked for in. Give fewer words, or name the column.`,
    { details: { member: 'full_text_query' } },
  );
