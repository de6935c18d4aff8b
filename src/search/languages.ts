/**
 * Defines the languages of full-text search, by the names that LanceDB gives them. `languageNamed`
 * ignores the case of a name, and throws InvalidInput for an unknown one. `openStemmer` returns the
 * Snowball stemmer of a language; its package is loaded on first use. Greek has no stemmer here and
 * throws Unsupported. `refuseUnstemmed` makes only this check, for settings.
 */
// Not by the name `createRequire`, which banners of bundles of ESM declare.
import nodeModule from 'node:module';
import { DirspaceError } from '../errors.ts';
import { suggestion } from '../known-names.ts';

const LANGUAGES = [
  'English',
  'Arabic',
  'Danish',
  'Dutch',
  'Finnish',
  'French',
  'German',
  'Greek',
  'Hungarian',
  'Italian',
  'Norwegian',
  'Portuguese',
  'Romanian',
  'Russian',
  'Spanish',
  'Swedish',
  'Tamil',
  'Turkish',
] as const;
export type Language = (typeof LANGUAGES)[number];

/** @throws InvalidInput with the languages that there are */
export function languageNamed(name: string): Language {
  const folded = name.toLowerCase();
  const found = LANGUAGES.find((language) => language.toLowerCase() === folded);
  if (found !== undefined) return found;
  throw new DirspaceError(
    'InvalidInput',
    `There is no language ${JSON.stringify(name.slice(0, 100))} for full-text search.${suggestion(name, LANGUAGES)} There is ${LANGUAGES.join(', ')}.`,
    { details: { member: 'language' } },
  );
}

/** The stem of a word. */
export type Stem = (word: string) => string;

interface Snowball {
  newStemmer(language: string): { stem(word: string): string };
}

const NUMBER = /^[0-9]*$/;
/** Words that a stemmer leaves as they are, where that shows without it: it takes half of indexing. */
const UNCHANGED: Readonly<Partial<Record<Language, RegExp>>> = {
  // Suffixes of English end in the other letters.
  English: /^(?:[a-z0-9]*[0-9abfhjkopquvwxz])?$/,
  // That of Finnish cuts digits that are double.
  Finnish: /^$/,
};

const stemmers = new Map<Language, Stem>();

/** @throws Unsupported for Greek, of which there is none */
export async function openStemmer(language: Language): Promise<Stem> {
  const known = stemmers.get(language);
  if (known !== undefined) return known;
  refuseUnstemmed(language);
  const stemmer = (await loadSnowball()).newStemmer(language.toLowerCase());
  const stays = UNCHANGED[language] ?? NUMBER;
  const stem: Stem = (word) => (stays.test(word) ? word : stemmer.stem(word));
  stemmers.set(language, stem);
  return stem;
}

/**
 * Required, as Node looks for the exports of CommonJS that is imported letter by letter: for this
 * package of 870 KB that takes Node 20 several times as long as loading it. In a program that was
 * bundled, only the import finds the package.
 */
async function loadSnowball(): Promise<Snowball> {
  try {
    return nodeModule.createRequire(import.meta.url)('snowball-stemmers') as Snowball;
  } catch {
    // @ts-expect-error the package has no declarations
    const loaded = (await import('snowball-stemmers')) as { readonly default: Snowball };
    return loaded.default;
  }
}

/** @throws Unsupported for a language without a stemmer */
export function refuseUnstemmed(language: Language): void {
  if (language !== 'Greek') return;
  throw new DirspaceError(
    'Unsupported',
    'There is no stemmer of Greek words here; set stem to false.',
    { details: { member: 'stem' } },
  );
}
