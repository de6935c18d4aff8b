/**
 * Text as a terminal may have it: no character that moves the cursor, changes colours or the direction
 * of what follows, and how many columns a text takes.
 */

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

const PLAIN = /^[\x20-\x7e]*$/;
/** Wide and full-width characters of UAX #11, and what is shown as a picture. */
const WIDE =
  /[\u1100-\u115f\u2329\u232a\u2630-\u2637\u268a-\u268f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18d08}\u{1aff0}-\u{1b2ff}\u{1d300}-\u{1d376}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\ufe0f/u;
/** Marks and other characters without a width of their own. */
const NARROWEST = /^[\p{Mn}\p{Me}\p{Cf}]*$/u;

let segmenter: Intl.Segmenter | undefined;

function* graphemes(text: string): Generator<string> {
  // Made when it is needed: it takes longer than printing a small table.
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  for (const { segment } of segmenter.segment(text)) yield segment;
}

const widthOf = (grapheme: string): number =>
  NARROWEST.test(grapheme) ? 0 : WIDE.test(grapheme) ? 2 : 1;

/** Columns of a terminal that a text without controls takes. */
export function displayWidth(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const grapheme of graphemes(text)) width += widthOf(grapheme);
  return width;
}

/** As much as fits into so many columns, the last one a mark that there is more. */
export function cut(text: string, columns: number): string {
  if (PLAIN.test(text)) {
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
