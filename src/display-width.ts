/**
 * `displayWidth` measures how many columns a text takes on a terminal. `graphemes` splits text into
 * the characters that a reader sees, and `widthOf` measures one of them. Callers remove or escape
 * control characters first.
 */

/** ASCII without controls. */
const PLAIN = /^[\x20-\x7e]*$/;
/** Wide and full-width characters of UAX #11, and what is shown as a picture. */
const WIDE =
  /[\u1100-\u115f\u2329\u232a\u2630-\u2637\u268a-\u268f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18d08}\u{1aff0}-\u{1b2ff}\u{1d300}-\u{1d376}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\ufe0f/u;
/** Marks and other characters without a width of their own. */
const NARROWEST = /^[\p{Mn}\p{Me}\p{Cf}]*$/u;

let segmenter: Intl.Segmenter | undefined;

/** Characters as a reader sees them. */
export function* graphemes(text: string): Generator<string> {
  // Made when it is needed: it takes longer than printing a small table.
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  for (const { segment } of segmenter.segment(text)) yield segment;
}

export const widthOf = (grapheme: string): number =>
  NARROWEST.test(grapheme) ? 0 : WIDE.test(grapheme) ? 2 : 1;

/** Columns of a terminal that a text without controls takes. */
export function displayWidth(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const grapheme of graphemes(text)) width += widthOf(grapheme);
  return width;
}
