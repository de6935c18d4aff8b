/**
 * Scores documents by BM25 (k1 1.2, b 0.75). `scorerOf` turns the tree of a query into a function.
 * This function takes how often each term or phrase occurs in a document, and the number of tokens
 * in each column. It returns the score, or NaN if the document does not match; a boost by a
 * negative query can make a score negative. `termShare` and `Shares` compute what a term adds to a
 * score, before it is weighted by `inverseFrequency`; no share exceeds `MOST_SHARE`. Indexes use
 * them without a scorer, to bound and to sum scores. top-rows.ts rounds scores to 32 bits.
 */
import type { LeafNode, TextQuery } from './text-query.ts';

const K1 = 1.2;
const B = 0.75;

/** Lengths whose norms are computed once. */
const NORMS = 1024;

/** No share is higher. */
export const MOST_SHARE: number = K1 + 1;

/** Statistics over the whole table at one version, whatever a filter leaves of it. */
export interface TextStatistics {
  /** By column: documents with at least one token. */
  readonly documents: readonly number[];
  /** By column: tokens of all of them. */
  readonly tokens: readonly number[];
  /** By slot: documents that have the term. */
  readonly frequencies: ArrayLike<number>;
}

/** The words of a leaf of a query in one column. */
export interface LeafSlots {
  readonly column: number;
  /** The terms that each word stands for. */
  readonly groups: readonly (readonly number[])[];
  /** The slot that tells whether they follow each other, where they have to. */
  readonly phrase: number | undefined;
}

/** A document as it is scored: how often each slot occurs, and the tokens of each column. */
export interface ScoredDocument {
  readonly counts: ArrayLike<number>;
  readonly lengths: ArrayLike<number>;
}

/**
 * The score of a document; NaN where it does not match. A boost by a negative query may make it
 * negative.
 */
export type Scorer = (document: ScoredDocument) => number;

/** How much a document that has a term says, by how many have it. */
export const inverseFrequency = (documents: number, frequency: number): number =>
  Math.log(1 + (documents - frequency + 0.5) / (frequency + 0.5));

/** How much the length of a document takes from the shares of its terms. */
const lengthNorm = (length: number, average: number): number =>
  K1 * (1 - B + (B * length) / average);

/** The share of its inverse frequency that a term adds to the score of a document of this norm. */
const shareOf = (count: number, norm: number): number => (count * (K1 + 1)) / (count + norm);

/** The same share for a document of this length. */
export const termShare = (count: number, length: number, average: number): number =>
  shareOf(count, lengthNorm(length, average));

/** The shares of a column's documents. */
export class Shares {
  readonly lengths: Uint32Array;
  /** The norms of the shortest lengths. */
  readonly norms: Float64Array;
  readonly #average: number;

  constructor(lengths: Uint32Array, average: number) {
    this.lengths = lengths;
    this.#average = average;
    this.norms = new Float64Array(NORMS);
    for (let length = 0; length < NORMS; length++) this.norms[length] = lengthNorm(length, average);
  }

  of(document: number, count: number): number {
    const length = this.lengths[document] as number;
    const norm =
      length < NORMS ? (this.norms[length] as number) : lengthNorm(length, this.#average);
    return shareOf(count, norm);
  }
}

type Leaves = ReadonlyMap<LeafNode, readonly LeafSlots[]>;

export function scorerOf(query: TextQuery, leaves: Leaves, statistics: TextStatistics): Scorer {
  switch (query.kind) {
    case 'match':
    case 'phrase':
    case 'prefix':
      return best((leaves.get(query) ?? []).map((slots) => leafScorer(query, slots, statistics)));
    case 'best':
      return best(query.matches.map((match) => scorerOf(match, leaves, statistics)));
    case 'boost':
      return boosted(
        scorerOf(query.positive, leaves, statistics),
        scorerOf(query.negative, leaves, statistics),
        query.negativeBoost,
      );
    default: {
      const all = (queries: readonly TextQuery[]): Scorer[] =>
        queries.map((one) => scorerOf(one, leaves, statistics));
      return combined(all(query.must), all(query.should), all(query.mustNot));
    }
  }
}

function best(scorers: readonly Scorer[]): Scorer {
  const [only] = scorers;
  if (scorers.length === 1 && only !== undefined) return only;
  return (document) => {
    let highest = Number.NaN;
    for (const scorer of scorers) {
      const score = scorer(document);
      if (!(score <= highest) && !Number.isNaN(score)) highest = score;
    }
    return highest;
  };
}

const boosted =
  (positive: Scorer, negative: Scorer, factor: number): Scorer =>
  (document) => {
    const score = positive(document);
    if (Number.isNaN(score)) return score;
    const less = negative(document);
    return Number.isNaN(less) ? score : score - factor * less;
  };

const combined =
  (must: readonly Scorer[], should: readonly Scorer[], mustNot: readonly Scorer[]): Scorer =>
  (document) => {
    let sum = 0;
    for (const scorer of must) {
      const score = scorer(document);
      if (Number.isNaN(score)) return score;
      sum += score;
    }
    let matches = must.length > 0;
    for (const scorer of should) {
      const score = scorer(document);
      if (Number.isNaN(score)) continue;
      matches = true;
      sum += score;
    }
    if (!matches) return Number.NaN;
    for (const scorer of mustNot) if (!Number.isNaN(scorer(document))) return Number.NaN;
    return sum;
  };

function leafScorer(
  query: LeafNode,
  { column, groups, phrase }: LeafSlots,
  { documents, tokens, frequencies }: TextStatistics,
): Scorer {
  const all = query.kind === 'phrase' || query.all;
  const boost = query.kind === 'phrase' ? 1 : query.boost;
  const total = documents[column] ?? 0;
  const average = total === 0 ? 1 : (tokens[column] ?? 0) / total;
  const weights = groups.map((slots) =>
    slots.map((slot) => inverseFrequency(total, frequencies[slot] ?? 0)),
  );
  return ({ counts, lengths }) => {
    if (phrase !== undefined && counts[phrase] === 0) return Number.NaN;
    const length = lengths[column] as number;
    let sum = 0;
    let matches = false;
    for (let group = 0; group < groups.length; group++) {
      const slots = groups[group] as readonly number[];
      let found = false;
      for (let at = 0; at < slots.length; at++) {
        const count = counts[slots[at] as number] as number;
        if (count === 0) continue;
        found = true;
        sum += (weights[group]?.[at] as number) * termShare(count, length, average);
      }
      if (found) matches = true;
      else if (all) return Number.NaN;
    }
    return matches ? boost * sum : Number.NaN;
  };
}
