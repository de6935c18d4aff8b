/**
 * Defines full-text queries as objects, such as `MatchQuery`, `PhraseQuery` and `BooleanQuery`,
 * which a search takes in place of plain text. Each builds its form for the protocol. The
 * constructors throw InvalidInput for a wrong text, operator, option or part; the catalog checks
 * names of columns and most numbers. `tokenize` and `relativeTokens` return the words of a text,
 * with their positions, as a full-text search would look for them; `TOKENIZE_MEMBERS` has the names
 * of the options in the protocol. `columnsNamed` returns all columns of a query, and `textsIn` the
 * texts that it looks for, without those that rows must not have or that lower a score.
 */
import { DirspaceError } from '../../errors.ts';
import type { FtsQuery } from '../../protocol/index.ts';
import type { TextMembers } from '../../search/index.ts';
import { defined, onlyOptions, showKind } from '../handles/index.ts';

/** What kind of full-text query an object is. */
export const FullTextQueryType = {
  Match: 'match',
  MatchPhrase: 'match_phrase',
  Prefix: 'prefix',
  Boost: 'boost',
  MultiMatch: 'multi_match',
  Boolean: 'boolean',
} as const;
export type FullTextQueryType = (typeof FullTextQueryType)[keyof typeof FullTextQueryType];

/** Whether all words have to be there, or any of them. */
export const Operator = { And: 'AND', Or: 'OR' } as const;
export type Operator = (typeof Operator)[keyof typeof Operator];

/** What a part of a boolean query does: it has to match, may match, or must not. */
export const Occur = { Should: 'SHOULD', Must: 'MUST', MustNot: 'MUST_NOT' } as const;
export type Occur = (typeof Occur)[keyof typeof Occur];

/** A full-text query as an object. */
export interface FullTextQuery {
  /** The protocol's form of the query. */
  readonly inner: FtsQuery;
  queryType(): FullTextQueryType;
}

/** How the words of a match are looked for. */
export interface MatchOptions {
  /** Factor of the score; 1 if absent. */
  readonly boost?: number;
  /** Edits that a term may be away from a word: 0 if absent; null goes by the length of the word. */
  readonly fuzziness?: number | null;
  /** Terms that a word stands for with `fuzziness`, at most; 50 if absent. */
  readonly maxExpansions?: number;
  /** `Operator.Or` if absent. */
  readonly operator?: Operator;
  /** Characters at the start of a word that have to be the same; 0 if absent. */
  readonly prefixLength?: number;
}

const MATCH_OPTIONS = ['boost', 'fuzziness', 'maxExpansions', 'operator', 'prefixLength'];

/** Rows that have words in a column. */
export class MatchQuery implements FullTextQuery {
  readonly inner: FtsQuery;

  constructor(query: string, column: string, options: MatchOptions = {}) {
    onlyOptions(options, MATCH_OPTIONS, 'MatchQuery');
    const { boost, fuzziness = 0, maxExpansions, operator, prefixLength } = options;
    this.inner = {
      match: defined({
        terms: textOf(query, 'MatchQuery'),
        column,
        boost,
        fuzziness,
        max_expansions: maxExpansions,
        operator: operatorOf(operator),
        prefix_length: prefixLength,
      }),
    };
  }

  queryType(): FullTextQueryType {
    return FullTextQueryType.Match;
  }
}

/** Rows that have words one after the other. */
export class PhraseQuery implements FullTextQuery {
  readonly inner: FtsQuery;

  /** @param options `slop`: words that may come in between, at each gap; 0 if absent */
  constructor(query: string, column: string, options: { readonly slop?: number } = {}) {
    onlyOptions(options, ['slop'], 'PhraseQuery');
    const { slop } = options;
    this.inner = { phrase: defined({ terms: textOf(query, 'PhraseQuery'), column, slop }) };
  }

  queryType(): FullTextQueryType {
    return FullTextQueryType.MatchPhrase;
  }
}

/** Rows that have words in a column, the last of which may go on there. */
export class PrefixQuery implements FullTextQuery {
  readonly inner: FtsQuery;

  /**
   * @param options `maxExpansions`: terms that the last word stands for beside itself, 50 if absent,
   * the first ones in the order of their bytes; `operator`: `Operator.Or` if absent; `boost`: factor
   * of the score
   */
  constructor(
    query: string,
    column: string,
    options: {
      readonly boost?: number;
      readonly maxExpansions?: number;
      readonly operator?: Operator;
    } = {},
  ) {
    onlyOptions(options, ['boost', 'maxExpansions', 'operator'], 'PrefixQuery');
    const { boost, maxExpansions, operator } = options;
    this.inner = {
      prefix: defined({
        terms: textOf(query, 'PrefixQuery'),
        column,
        boost,
        max_expansions: maxExpansions,
        operator: operatorOf(operator),
      }),
    };
  }

  queryType(): FullTextQueryType {
    return FullTextQueryType.Prefix;
  }
}

/** Finds the rows of one query, and lowers the score of those that also match another. */
export class BoostQuery implements FullTextQuery {
  readonly inner: FtsQuery;

  /** @param options `negativeBoost`: the share of the negative score that is taken off; 0.5 if absent */
  constructor(
    positive: FullTextQuery,
    negative: FullTextQuery,
    options: { readonly negativeBoost?: number } = {},
  ) {
    onlyOptions(options, ['negativeBoost'], 'BoostQuery');
    const negative_boost = options.negativeBoost;
    const parts = { positive: innerOf(positive), negative: innerOf(negative) };
    this.inner = { boost: defined({ ...parts, negative_boost }) };
  }

  queryType(): FullTextQueryType {
    return FullTextQueryType.Boost;
  }
}

/** Rows that have words in any of several columns; the best column counts. */
export class MultiMatchQuery implements FullTextQuery {
  readonly inner: FtsQuery;

  /** @param options `boosts`: a factor for each column; `operator`: `Operator.Or` if absent */
  constructor(
    query: string,
    columns: readonly string[],
    options: { readonly boosts?: readonly number[]; readonly operator?: Operator } = {},
  ) {
    onlyOptions(options, ['boosts', 'operator'], 'MultiMatchQuery');
    const { boosts, operator } = options;
    if (!Array.isArray(columns)) {
      throw new DirspaceError(
        'InvalidInput',
        `MultiMatchQuery takes a list of columns, and was given ${showKind(columns)}; for one column use MatchQuery.`,
      );
    }
    if (boosts !== undefined && boosts.length !== columns.length) {
      throw new DirspaceError(
        'InvalidInput',
        `MultiMatchQuery has ${columns.length} columns and ${boosts.length} boosts; give one for each column.`,
      );
    }
    const terms = textOf(query, 'MultiMatchQuery');
    this.inner = {
      multi_match: {
        match_queries: columns.map((column, at) =>
          defined({
            terms,
            column,
            fuzziness: 0,
            boost: boosts?.[at],
            operator: operatorOf(operator),
          }),
        ),
      },
    };
  }

  queryType(): FullTextQueryType {
    return FullTextQueryType.MultiMatch;
  }
}

/** Rows that match all of some queries, or any, and none of others. */
export class BooleanQuery implements FullTextQuery {
  readonly inner: FtsQuery;

  constructor(queries: readonly (readonly [Occur, FullTextQuery])[]) {
    if (!Array.isArray(queries) || !queries.every(Array.isArray)) {
      throw new DirspaceError(
        'InvalidInput',
        'BooleanQuery takes a list of pairs, as [[Occur.Must, new MatchQuery("words", "column")]].',
      );
    }
    const all = (wanted: Occur): FtsQuery[] =>
      queries.filter(([occur]) => occur === wanted).map(([, query]) => innerOf(query));
    const other = queries.find(([occur]) => !Object.values(Occur).includes(occur));
    if (other !== undefined) {
      throw new DirspaceError(
        'InvalidInput',
        `A part of BooleanQuery is ${JSON.stringify(other[0])}; it is Occur.Must, Occur.Should or Occur.MustNot.`,
      );
    }
    this.inner = {
      boolean: { must: all(Occur.Must), must_not: all(Occur.MustNot), should: all(Occur.Should) },
    };
  }

  queryType(): FullTextQueryType {
    return FullTextQueryType.Boolean;
  }
}

/** Whether a value is a full-text query object. */
export const isFullTextQuery = (value: unknown): value is FullTextQuery =>
  typeof value === 'object' &&
  value !== null &&
  'inner' in value &&
  'queryType' in value &&
  typeof value.queryType === 'function';

function innerOf(query: FullTextQuery): FtsQuery {
  if (isFullTextQuery(query)) return query.inner;
  throw new DirspaceError(
    'InvalidInput',
    `A part of a full-text query is ${showKind(query)}; it is an object such as new MatchQuery("words", "column").`,
  );
}

function textOf(query: string, what: string): string {
  if (typeof query === 'string') return query;
  throw new DirspaceError(
    'InvalidInput',
    `${what} takes a text, and was given ${showKind(query)}.`,
  );
}

const operatorOf = (operator: Operator | undefined): string | undefined =>
  operator === undefined ? undefined : operator === Operator.And ? 'And' : checkedOr(operator);

function checkedOr(operator: string): string {
  if (operator === Operator.Or) return 'Or';
  throw new DirspaceError(
    'InvalidInput',
    `The operator is ${JSON.stringify(operator)}; it is Operator.And or Operator.Or.`,
  );
}

/** The columns that a query names. */
export function columnsNamed(query: FtsQuery): string[] {
  const { match, phrase, prefix, boost, multi_match: multi, boolean } = query;
  const parts = [
    ...(boost === undefined ? [] : [boost.positive, boost.negative]),
    ...(boolean === undefined ? [] : [boolean.must, boolean.must_not, boolean.should].flat()),
  ];
  const own = [
    match?.column,
    phrase?.column,
    prefix?.column,
    ...(multi?.match_queries ?? []).map((one) => one.column),
  ];
  return [...own.filter((column) => column !== undefined), ...parts.flatMap(columnsNamed)];
}

/** The texts that a query looks for. */
export function textsIn(query: FtsQuery): string[] {
  const { match, phrase, prefix, boost, multi_match: multi, boolean } = query;
  const [first] = multi?.match_queries ?? [];
  const own = [match?.terms, phrase?.terms, prefix?.terms, first?.terms].filter(
    (text) => text !== undefined,
  );
  const parts = [
    ...(boost === undefined ? [] : [boost.positive]),
    ...(boolean === undefined ? [] : [...boolean.must, ...boolean.should]),
  ];
  return [...own, ...parts.flatMap(textsIn)];
}

/** How texts become words; the defaults are those of a full-text index. */
export interface TokenizeOptions {
  /** `simple` if absent. */
  readonly baseTokenizer?: string;
  /** Of the stemmer and of the stop words; `English` if absent. */
  readonly language?: string;
  /** Words of so many bytes and more are left out; 40 if absent. */
  readonly maxTokenLength?: number;
  readonly lowercase?: boolean;
  readonly stem?: boolean;
  readonly removeStopWords?: boolean;
  /** In place of those of the language. */
  readonly customStopWords?: readonly string[];
  readonly asciiFolding?: boolean;
  readonly ngramMinLength?: number;
  readonly ngramMaxLength?: number;
  readonly prefixOnly?: boolean;
}

/** The members of the protocol's requests that have these options. */
export const TOKENIZE_MEMBERS: Readonly<Record<keyof TokenizeOptions, keyof TextMembers>> = {
  baseTokenizer: 'base_tokenizer',
  language: 'language',
  maxTokenLength: 'max_token_length',
  lowercase: 'lower_case',
  stem: 'stem',
  removeStopWords: 'remove_stop_words',
  customStopWords: 'custom_stop_words',
  asciiFolding: 'ascii_folding',
  ngramMinLength: 'min_ngram_length',
  ngramMaxLength: 'max_ngram_length',
  prefixOnly: 'prefix_only',
};

/** A word, and its position from the first one on. */
export interface FtsToken {
  readonly text: string;
  readonly position: number;
}

/** The words of a text, as a full-text search with these options would look for them. */
export async function tokenize(query: string, options: TokenizeOptions = {}): Promise<FtsToken[]> {
  onlyOptions(options, Object.keys(TOKENIZE_MEMBERS), 'tokenize');
  const members = Object.entries(options).map(([name, value]) => [
    TOKENIZE_MEMBERS[name as keyof TokenizeOptions],
    value,
  ]);
  return relativeTokens(textOf(query, 'tokenize'), Object.fromEntries(members));
}

/** Positions count from the first word that is left, as LanceDB's do. */
export async function relativeTokens(text: string, members: TextMembers): Promise<FtsToken[]> {
  // Words of twenty languages, which few programs need in their own process.
  const { textSettings, tokensOf } = await import('../../search/index.ts');
  const tokens = await tokensOf(text, textSettings(members));
  const first = tokens[0]?.position ?? 0;
  return tokens.map((token) => ({ text: token.text, position: token.position - first }));
}
