/**
 * Makes text safe for terminals: control characters, and characters that embed or override the
 * direction of text, are escaped. Texts become one line (`visible`), keep their line breaks
 * (`visibleLines`), or stay valid JSON (`safeJson`). `cut` shortens a text to a number of terminal
 * columns.
 */
import { graphemes, widthOf } from '../../display-width.ts';

/** Controls of both sets, line separators, and what turns the direction of text. */
const UNSAFE = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]|\p{Cs}/gu;
const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

const escaped = (character: string): string =>
  SHORT[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** One line; what a terminal would obey is written as an escape of JavaScript. */
export const visible = (text: string): string => text.replace(UNSAFE, escaped);

/** The same of text that has lines of its own. */
export const visibleLines = (text: string): string =>
  text.replace(UNSAFE, (character) => (character === '\n' ? character : escaped(character)));

/** Of JSON text: JSON.stringify leaves the second set of controls and directions as they are. */
export const safeJson = (json: string): string => (SUSPECT.test(json) ? visibleLines(json) : json);

const SUSPECT = /[^\n\x20-\x7e]/;

const ASCII = /^[\x20-\x7e]*$/;

/** As much as fits into so many columns, the last one a mark that there is more. */
export function cut(text: string, columns: number): string {
  if (ASCII.test(text)) {
    return text.length <= columns ? text : `${text.slice(0, columns - 1)}…`;
  }
  let width = 0;
  let shown = '';
  let fitting = '';
  for (const grapheme of graphemes(text)) {
    width += widthOf(grapheme);
    if (width > columns || shown.length + grapheme.length > columns * LONGEST) return `${fitting}…`;
    shown += grapheme;
    if (width < columns) fitting = shown;
  }
  return shown;
}

/** Code units that a column may take before a text counts as longer than it looks. */
const LONGEST = 16;
