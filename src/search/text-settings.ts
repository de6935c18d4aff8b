/**
 * Defines the settings by which a text becomes words (`TextSettings`), such as tokenizer, letter
 * case, stems and stop words. `textSettings` reads them under the names of the protocol and of
 * LanceDB's index details, with defaults for absent ones; n-grams have no stems and keep stop words
 * unless the request says otherwise. `settingsMembers` writes settings under these names. Unknown
 * tokenizers and languages, and numbers out of bounds, throw InvalidInput. The tokenizers jieba and
 * lindera, and stems of Greek, throw Unsupported.
 */
import { DirspaceError } from '../errors.ts';
import { suggestion } from '../known-names.ts';
import { type Language, languageNamed, refuseUnstemmed } from './languages.ts';

const BASE_TOKENIZERS = ['simple', 'whitespace', 'raw', 'ngram', 'icu', 'icu/split'] as const;
export type BaseTokenizer = (typeof BASE_TOKENIZERS)[number];

export interface TextSettings {
  readonly baseTokenizer: BaseTokenizer;
  /** The language of the stemmer and of the stop words. */
  readonly language: Language;
  /** Tokens of so many bytes of UTF-8 and more are left out, but keep their position. */
  readonly maxTokenLength: number;
  readonly lowercase: boolean;
  readonly stem: boolean;
  readonly removeStopWords: boolean;
  /** In place of those of the language; undefined for these. */
  readonly customStopWords: readonly string[] | undefined;
  readonly asciiFolding: boolean;
  /** Characters of an n-gram. */
  readonly ngramMinLength: number;
  readonly ngramMaxLength: number;
  /** Whether only the n-grams at the start of a text count. */
  readonly prefixOnly: boolean;
}

export const DEFAULT_SETTINGS: TextSettings = {
  baseTokenizer: 'simple',
  language: 'English',
  maxTokenLength: 40,
  lowercase: true,
  stem: true,
  removeStopWords: true,
  customStopWords: undefined,
  asciiFolding: true,
  ngramMinLength: 3,
  ngramMaxLength: 3,
  prefixOnly: false,
};

/** A longer token would be kept in memory whole; words are not that long. */
const LONGEST_TOKEN = 32_766;
/** Each start in a text gives an n-gram of every length between the two. */
const LONGEST_NGRAM = 64;
const MOST_STOP_WORDS = 10_000;

/** Members of a request or of index details; those that are undefined or null count as absent. */
export interface TextMembers {
  readonly base_tokenizer?: string | null | undefined;
  readonly language?: string | null | undefined;
  readonly max_token_length?: number | null | undefined;
  readonly lower_case?: boolean | null | undefined;
  readonly stem?: boolean | null | undefined;
  readonly remove_stop_words?: boolean | null | undefined;
  readonly custom_stop_words?: readonly string[] | null | undefined;
  readonly ascii_folding?: boolean | null | undefined;
  readonly min_ngram_length?: number | null | undefined;
  readonly max_ngram_length?: number | null | undefined;
  readonly prefix_only?: boolean | null | undefined;
}

/** @throws InvalidInput, Unsupported naming the member */
export function textSettings(members: TextMembers): TextSettings {
  const base = DEFAULT_SETTINGS;
  const baseTokenizer = baseTokenizerNamed(members.base_tokenizer ?? base.baseTokenizer);
  // Parts of words have no stems, and an n-gram that spells a stop word is a part of other words.
  const ofWords = baseTokenizer !== 'ngram';
  const settings: TextSettings = {
    baseTokenizer,
    language: languageNamed(members.language ?? base.language),
    maxTokenLength: count(
      members.max_token_length ?? base.maxTokenLength,
      'max_token_length',
      LONGEST_TOKEN,
    ),
    lowercase: members.lower_case ?? base.lowercase,
    stem: members.stem ?? (ofWords && base.stem),
    removeStopWords: members.remove_stop_words ?? (ofWords && base.removeStopWords),
    customStopWords: stopWordsGiven(members.custom_stop_words ?? undefined),
    asciiFolding: members.ascii_folding ?? base.asciiFolding,
    ngramMinLength: count(
      members.min_ngram_length ?? base.ngramMinLength,
      'min_ngram_length',
      LONGEST_NGRAM,
    ),
    ngramMaxLength: count(
      members.max_ngram_length ?? base.ngramMaxLength,
      'max_ngram_length',
      LONGEST_NGRAM,
    ),
    prefixOnly: members.prefix_only ?? base.prefixOnly,
  };
  if (settings.ngramMinLength > settings.ngramMaxLength) {
    throw refused(
      'min_ngram_length',
      `min_ngram_length is ${settings.ngramMinLength} and max_ngram_length ${settings.ngramMaxLength}; the shortest n-gram is not longer than the longest.`,
    );
  }
  if (settings.stem) refuseUnstemmed(settings.language);
  return settings;
}

/** The settings under the names that LanceDB's index details give them. */
export const settingsMembers = (settings: TextSettings): Required<TextMembers> => ({
  base_tokenizer: settings.baseTokenizer,
  language: settings.language,
  max_token_length: settings.maxTokenLength,
  lower_case: settings.lowercase,
  stem: settings.stem,
  remove_stop_words: settings.removeStopWords,
  custom_stop_words: settings.customStopWords ?? null,
  ascii_folding: settings.asciiFolding,
  min_ngram_length: settings.ngramMinLength,
  max_ngram_length: settings.ngramMaxLength,
  prefix_only: settings.prefixOnly,
});

function baseTokenizerNamed(name: string): BaseTokenizer {
  const found = BASE_TOKENIZERS.find((tokenizer) => tokenizer === name);
  if (found !== undefined) return found;
  if (/^(jieba|lindera)(\/|$)/.test(name)) {
    throw new DirspaceError(
      'Unsupported',
      `The tokenizer ${JSON.stringify(name.slice(0, 100))} needs a dictionary that is not shipped; "icu" finds the words of Chinese and Japanese texts.`,
      { details: { member: 'base_tokenizer' } },
    );
  }
  throw refused(
    'base_tokenizer',
    `There is no tokenizer ${JSON.stringify(name.slice(0, 100))}.${suggestion(name, BASE_TOKENIZERS)} There is ${BASE_TOKENIZERS.join(', ')}.`,
  );
}

function count(value: number, member: string, most: number): number {
  if (Number.isInteger(value) && value >= 1 && value <= most) return value;
  throw refused(member, `${member} is ${value}; it is an integer from 1 to ${most}.`);
}

function stopWordsGiven(words: readonly string[] | undefined): readonly string[] | undefined {
  if (words === undefined) return undefined;
  if (words.length <= MOST_STOP_WORDS) return words.slice();
  throw refused(
    'custom_stop_words',
    `custom_stop_words has ${words.length} words; it has at most ${MOST_STOP_WORDS}.`,
  );
}

const refused = (member: string, message: string): DirspaceError =>
  new DirspaceError('InvalidInput', message, { details: { member } });
