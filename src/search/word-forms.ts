/**
 * `wordForm` returns the function that converts a token to the term that is indexed, or to
 * undefined for a token that is left out. As the settings ask, the function lowers the case, stems,
 * drops stop words, and replaces accented letters by ASCII, in this order. Stems in a language
 * without a stemmer throw Unsupported. `keepsPlainTokens` tells whether ASCII tokens in lower case
 * stay as they are.
 */
import { openStemmer, type Stem } from './languages.ts';
import { stopWords } from './stop-words.ts';
import type { TextSettings } from './text-settings.ts';

/** The term of a token; undefined where it is left out. */
export type WordForm = (token: string) => string | undefined;

export async function wordForm(settings: TextSettings): Promise<WordForm> {
  const { lowercase, language, removeStopWords, customStopWords, asciiFolding } = settings;
  const stem: Stem | undefined = settings.stem ? await openStemmer(language) : undefined;
  const stops = removeStopWords
    ? customStopWords === undefined
      ? stopWords(language)
      : new Set(customStopWords)
    : undefined;
  return (token) => {
    let word = lowercase ? lowerCased(token) : token;
    if (stem !== undefined) word = stem(word);
    if (stops?.has(word) === true) return undefined;
    return asciiFolding ? folded(word) : word;
  };
}

/** Whether ASCII tokens that are in lower case stay as they are. */
export const keepsPlainTokens = ({ stem, removeStopWords }: TextSettings): boolean =>
  !stem && !removeStopWords;

/** Character by character, so that a sigma at the end of a word is one in the middle of another. */
function lowerCased(word: string): string {
  if (isAscii(word)) return word.toLowerCase();
  let lower = '';
  for (const character of word) lower += character.toLowerCase();
  return lower;
}

const isAscii = (word: string): boolean => !/[^\0-\x7f]/.test(word);

const MARKS_AND_LETTERS: Readonly<Record<string, string>> = {
  Æ: 'AE',
  æ: 'ae',
  Ð: 'D',
  ð: 'd',
  Đ: 'D',
  đ: 'd',
  Ħ: 'H',
  ħ: 'h',
  ı: 'i',
  ĸ: 'k',
  Ł: 'L',
  ł: 'l',
  Ŋ: 'N',
  ŋ: 'n',
  Ø: 'O',
  ø: 'o',
  Œ: 'OE',
  œ: 'oe',
  ß: 'ss',
  ẞ: 'SS',
  Þ: 'TH',
  þ: 'th',
  Ŧ: 'T',
  ŧ: 't',
};

/** Characters that have no form in ASCII stay. */
function folded(word: string): string {
  if (isAscii(word)) return word;
  let plain = '';
  for (const character of word) plain += foldedCharacter(character) || character;
  return plain;
}

function foldedCharacter(character: string): string {
  let plain = '';
  for (const part of character.normalize('NFKD')) {
    plain += part < '\x80' ? part : (MARKS_AND_LETTERS[part] ?? '');
  }
  return plain;
}
