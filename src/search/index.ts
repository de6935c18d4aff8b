/**
 * Exports full-text search as functions of values: tokenizers with their settings, the tree of
 * queries, scoring by BM25, and the postings of indexes. Reading texts and files is left to table/.
 */

export { startsWith } from './characters.ts';
export { type DocumentTexts, TermFinder, TextCollector } from './collector.ts';
export type { TermCells } from './fuzzy-terms.ts';
export type { Language } from './languages.ts';
export { PositionReader, SEALED_POSITIONS } from './phrases.ts';
export { BadPositions, BadPostings, BlockReader, type Postings, readPostings } from './postings.ts';
export { PostingsBuilder } from './postings-builder.ts';
export type { TextStatistics } from './scores.ts';
export { type ColumnSearch, type PlannedPhrase, SearchPlan } from './search-plan.ts';
export {
  impactsOf,
  type PhraseWord,
  phrasePostings,
  type SlotPostings,
  scoreSegment,
} from './segment-scores.ts';
export { type SlotBlocks, sumSegment } from './sum-segment.ts';
export {
  describeTextQuery,
  type FullTextQuery,
  leavesOf,
  type TextQuery,
  textQuery,
} from './text-query.ts';
export {
  type BaseTokenizer,
  DEFAULT_SETTINGS,
  settingsMembers,
  type TextMembers,
  type TextSettings,
  textSettings,
} from './text-settings.ts';
export { type FoundToken, Tokenizer, tokensOf } from './tokenizer.ts';
export { TopRows } from './top-rows.ts';
