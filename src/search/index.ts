/**
 * Exports full-text search as functions of values: tokenizers with their settings, the tree of
 * queries, and scoring by BM25. table/query/ reads the texts.
 */

export { type DocumentTexts, TermFinder, TextCollector } from './collector.ts';
export { LANGUAGES, type Language } from './languages.ts';
export { SearchPlan } from './search-plan.ts';
export {
  describeTextQuery,
  type FullTextQuery,
  leavesOf,
  type TextQuery,
  textQuery,
} from './text-query.ts';
export {
  BASE_TOKENIZERS,
  type BaseTokenizer,
  DEFAULT_SETTINGS,
  settingsMembers,
  type TextMembers,
  type TextSettings,
  textSettings,
} from './text-settings.ts';
export { type FoundToken, Tokenizer, tokensOf } from './tokenizer.ts';
