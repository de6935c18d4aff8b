/**
 * Defines the tree of a full-text query (`TextQuery`). `textQuery` builds it from the forms that
 * the protocol accepts, with the defaults filled in. A plain text in double quotes is a phrase; any
 * other plain text is a match of its words without fuzziness. A query that is contradictory, out of
 * bounds or too large throws InvalidInput. `leavesOf` lists the parts that look words up, and
 * `describeTextQuery` formats a tree for plans.
 */
import { DirspaceError } from '../errors.ts';
import type {
  FtsQuery,
  MatchQuery,
  PhraseQuery,
  PrefixQuery,
  QueryText,
} from '../protocol/index.ts';

export interface MatchNode {
  readonly kind: 'match';
  readonly terms: string;
  /** The default columns if absent; the best of them counts. */
  readonly column: string | undefined;
  readonly boost: number;
  /** Edits that a term of the table may be away; `auto` goes by the length of the word. */
  readonly fuzziness: number | 'auto';
  readonly maxExpansions: number;
  /** Characters at the start that have to be the same. */
  readonly prefixLength: number;
  /** Whether every word has to be there. */
  readonly all: boolean;
}

export interface PhraseNode {
  readonly kind: 'phrase';
  readonly terms: string;
  readonly column: string | undefined;
  /** Positions that may be between a word and the next one, beyond those of the phrase. */
  readonly slop: number;
}

/** A match whose last word may go on: it stands for the terms that begin with it. */
export interface PrefixNode {
  readonly kind: 'prefix';
  readonly terms: string;
  readonly column: string | undefined;
  readonly boost: number;
  /** Terms that the last word stands for beside itself, at most. */
  readonly maxExpansions: number;
  /** Whether every word has to be there. */
  readonly all: boolean;
}

/** A part of a query that looks words up in columns. */
export type LeafNode = MatchNode | PhraseNode | PrefixNode;

/** Rows of `positive`, less what `negative` scores times a factor. */
export interface BoostNode {
  readonly kind: 'boost';
  readonly positive: TextQuery;
  readonly negative: TextQuery;
  readonly negativeBoost: number;
}

/** The best of several matches. */
export interface BestNode {
  readonly kind: 'best';
  readonly matches: readonly MatchNode[];
}

/**
 * Rows of all of `must`, or of any of `should` where there is no `must`, and of none of `mustNot`.
 */
export interface BooleanNode {
  readonly kind: 'boolean';
  readonly must: readonly TextQuery[];
  readonly mustNot: readonly TextQuery[];
  readonly should: readonly TextQuery[];
}

export type TextQuery = LeafNode | BoostNode | BestNode | BooleanNode;

export interface FullTextQuery {
  readonly root: TextQuery;
  /** Columns of the nodes that name none; undefined for all that can be searched. */
  readonly columns: readonly string[] | undefined;
}

const KINDS: ReadonlySet<string> = new Set([
  'match',
  'phrase',
  'prefix',
  'boost',
  'multi_match',
  'boolean',
]);
const MOST_DEPTH = 16;
const MOST_NODES = 1024;
/** UTF-16 units of all texts of a query. */
const MOST_TEXT = 1 << 20;
const MOST_EXPANSIONS = 1024;
/** No search needs more; beyond, all terms of a table would be expanded. */
const MOST_FUZZINESS = 16;

/** @throws InvalidInput naming the member */
export function textQuery({
  string_query: text,
  structured_query: structured,
}: QueryText): FullTextQuery {
  if (text !== undefined && structured === undefined) {
    const columns =
      text.columns === undefined || text.columns.length === 0 ? undefined : text.columns;
    return { root: stringNode(text.query), columns };
  }
  if (structured !== undefined && text === undefined) {
    return { root: new Parser().node(structured.query, 1), columns: undefined };
  }
  throw refused(
    'full_text_query',
    `full_text_query has ${text === undefined ? 'neither string_query nor structured_query' : 'both string_query and structured_query'}; give one of them.`,
  );
}

/** A text in double quotes is a phrase. */
function stringNode(query: string): TextQuery {
  const parser = new Parser();
  const isPhrase = query.length >= 2 && query.startsWith('"') && query.endsWith('"');
  return isPhrase
    ? parser.phrase({ terms: query.slice(1, -1) })
    : parser.match({ terms: query, fuzziness: 0 });
}

/** Counts parts and text as it goes. The matches of a `multi_match` are parts. */
class Parser {
  #nodes = 0;
  #text = 0;

  #count(parts: number, depth: number): void {
    this.#nodes += parts;
    if (depth > MOST_DEPTH || this.#nodes > MOST_NODES) {
      throw refused(
        'full_text_query',
        `A full-text query nests at most ${MOST_DEPTH} deep and has at most ${MOST_NODES} parts.`,
      );
    }
  }

  node(query: FtsQuery, depth: number): TextQuery {
    this.#count(1, depth);
    const given = Object.entries(query).filter(([, value]) => value !== undefined);
    const { match, phrase, prefix, boost, multi_match: multi, boolean } = query;
    if (given.length !== 1 || !KINDS.has(given[0]?.[0] ?? '')) {
      const names = given.map(([name]) => name).join(', ') || 'nothing';
      throw refused(
        'full_text_query',
        `A part of a full-text query has ${names}; give exactly one of ${[...KINDS].join(', ')}.`,
      );
    }
    if (match !== undefined) return this.match(match);
    if (phrase !== undefined) return this.phrase(phrase);
    if (prefix !== undefined) return this.prefix(prefix);
    if (multi !== undefined) {
      if (multi.match_queries.length === 0) {
        throw refused('multi_match', 'multi_match has no match_queries; it has one or more.');
      }
      this.#count(multi.match_queries.length, depth);
      return { kind: 'best', matches: multi.match_queries.map((one) => this.match(one)) };
    }
    if (boost !== undefined) {
      return {
        kind: 'boost',
        positive: this.node(boost.positive, depth + 1),
        negative: this.node(boost.negative, depth + 1),
        negativeBoost: factor(boost.negative_boost ?? 0.5, 'negative_boost'),
      };
    }
    return this.#boolean(boolean as NonNullable<typeof boolean>, depth);
  }

  #boolean(query: NonNullable<FtsQuery['boolean']>, depth: number): BooleanNode {
    if (query.must.length + query.should.length === 0) {
      throw refused(
        'boolean',
        'A boolean query has neither must nor should; must_not only takes away from what these find.',
      );
    }
    const all = (queries: readonly FtsQuery[]): TextQuery[] =>
      queries.map((one) => this.node(one, depth + 1));
    return {
      kind: 'boolean',
      must: all(query.must),
      mustNot: all(query.must_not),
      should: all(query.should),
    };
  }

  match(query: MatchQuery): MatchNode {
    return {
      kind: 'match',
      terms: this.#terms(query.terms),
      column: query.column,
      boost: factor(query.boost ?? 1, 'boost'),
      fuzziness: fuzzinessOf(query.fuzziness),
      maxExpansions: expansions(query.max_expansions),
      prefixLength: query.prefix_length ?? 0,
      all: isAnd(query.operator),
    };
  }

  phrase({ terms, column, slop = 0 }: PhraseQuery): PhraseNode {
    return { kind: 'phrase', terms: this.#terms(terms), column, slop };
  }

  prefix(query: PrefixQuery): PrefixNode {
    return {
      kind: 'prefix',
      terms: this.#terms(query.terms),
      column: query.column,
      boost: factor(query.boost ?? 1, 'boost'),
      maxExpansions: expansions(query.max_expansions),
      all: isAnd(query.operator),
    };
  }

  #terms(terms: string): string {
    this.#text += terms.length;
    if (this.#text <= MOST_TEXT) return terms;
    throw refused(
      'terms',
      `The texts of a full-text query have at most ${MOST_TEXT} characters together.`,
    );
  }
}

/** Null goes by the length of each word; absent, words are looked for as they are, as Lance does. */
const fuzzinessOf = (fuzziness: number | null = 0): number | 'auto' =>
  fuzziness === null ? 'auto' : atMost(fuzziness, 'fuzziness', MOST_FUZZINESS);

const expansions = (most = 50): number => atMost(most, 'max_expansions', MOST_EXPANSIONS);

function isAnd(operator: string | undefined): boolean {
  const folded = operator?.toLowerCase() ?? 'or';
  if (folded === 'and' || folded === 'or') return folded === 'and';
  throw refused('operator', `operator is ${JSON.stringify(operator)}; it is "And" or "Or".`);
}

function factor(value: number, member: string): number {
  if (Number.isFinite(value) && value >= 0) return value;
  throw refused(member, `${member} is ${value}; it is finite and at least 0.`);
}

function atMost(value: number, member: string, most: number): number {
  if (value <= most) return value;
  throw refused(member, `${member} is ${value}; it is at most ${most}.`);
}

const refused = (member: string, message: string): DirspaceError =>
  new DirspaceError('InvalidInput', message, { details: { member } });

/** The parts of a query that look words up in columns. */
export function leavesOf(query: TextQuery): readonly LeafNode[] {
  switch (query.kind) {
    case 'boost':
      return [...leavesOf(query.positive), ...leavesOf(query.negative)];
    case 'best':
      return query.matches;
    case 'boolean':
      return [...query.must, ...query.mustNot, ...query.should].flatMap(leavesOf);
    default:
      return [query];
  }
}

/** A query in words, for plans. */
export function describeTextQuery(query: TextQuery): string {
  const all = (queries: readonly TextQuery[]): string => queries.map(describeTextQuery).join(', ');
  switch (query.kind) {
    case 'match': {
      const { terms, column, all: every, fuzziness, boost } = query;
      return [
        `match ${JSON.stringify(terms)}`,
        ...(column === undefined ? [] : [`in ${column}`]),
        ...(every ? ['all words'] : []),
        ...(fuzziness === 0 ? [] : [`fuzziness ${fuzziness}`]),
        ...(boost === 1 ? [] : [`boost ${boost}`]),
      ].join(' ');
    }
    case 'phrase': {
      const column = query.column === undefined ? '' : ` in ${query.column}`;
      return `phrase ${JSON.stringify(query.terms)}${column}${query.slop === 0 ? '' : ` slop ${query.slop}`}`;
    }
    case 'prefix': {
      const { terms, column, all: every, boost } = query;
      return [
        `prefix ${JSON.stringify(terms)}`,
        ...(column === undefined ? [] : [`in ${column}`]),
        ...(every ? ['all words'] : []),
        ...(boost === 1 ? [] : [`boost ${boost}`]),
      ].join(' ');
    }
    case 'best':
      return `best of (${all(query.matches)})`;
    case 'boost':
      return `${describeTextQuery(query.positive)} less ${query.negativeBoost} of ${describeTextQuery(query.negative)}`;
    default:
      return `boolean (must ${all(query.must) || 'nothing'}; should ${all(query.should) || 'nothing'}; must not ${all(query.mustNot) || 'nothing'})`;
  }
}
