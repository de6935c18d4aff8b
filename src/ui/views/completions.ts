/**
 * `completions`: lists the column names and SQL words that fit the word before the caret, at most
 * 12. Names that are no plain identifiers are quoted (`quotedName`). `wordBefore` finds that word.
 */
import type { Column } from '../base/index.ts';

const WORDS = [
  'AND',
  'BETWEEN',
  'FALSE',
  'ILIKE',
  'IN',
  'IS NOT NULL',
  'IS NULL',
  'LIKE',
  'NOT',
  'OR',
  'TRUE',
];
const MOST = 12;

/** The word that ends at the caret, and where it begins; none inside a text in quotes. */
export function wordBefore(
  text: string,
  caret: number,
): { readonly word: string; readonly from: number } {
  const before = text.slice(0, caret);
  const quotes = before.split("'").length - 1;
  if (quotes % 2 === 1) return { word: '', from: caret };
  const found = /("[^"]*|[\p{L}_][\p{L}\p{N}_.]*)$/u.exec(before);
  return found === null ? { word: '', from: caret } : { word: found[0], from: found.index };
}

export const quotedName = (name: string): string =>
  /^[a-z_][a-z0-9_]*$/.test(name) && !WORDS.includes(name.toUpperCase())
    ? name
    : `"${name.replaceAll('"', '""')}"`;

export function completions(text: string, caret: number, columns: readonly Column[]): string[] {
  const { word } = wordBefore(text, caret);
  const wanted = word.replace(/^"/, '').toLowerCase();
  if (wanted === '') return [];
  const names = columns.map(({ name }) => name);
  const begins = names.filter((name) => name.toLowerCase().startsWith(wanted));
  const holds = names.filter(
    (name) => !begins.includes(name) && name.toLowerCase().includes(wanted),
  );
  const words = WORDS.filter((one) => one.toLowerCase().startsWith(wanted));
  const found = [...[...begins, ...holds].map(quotedName), ...(word.startsWith('"') ? [] : words)];
  return found.filter((one) => one !== word).slice(0, MOST);
}
