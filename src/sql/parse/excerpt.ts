/**
 * `formatExcerpt` formats the line of a text that holds a position, with a caret under the
 * position, for error messages. Of a long line it shows about 72 UTF-16 units around the position,
 * and cuts no character in two. `charactersBefore` counts the characters (code points) before an
 * offset, which is given in UTF-16 units.
 */

import { displayWidth } from '../../display-width.ts';

const WIDTH = 72;

/** Two lines of at most 76 characters; `at` counts UTF-16 units from 0. */
export function formatExcerpt(sql: string, at: number): string {
  const from = whole(sql, Math.max(sql.lastIndexOf('\n', at - 1) + 1, at - WIDTH / 2));
  const lineEnd = sql.indexOf('\n', at);
  const to = whole(sql, Math.min(lineEnd < 0 ? sql.length : lineEnd, from + WIDTH));
  const [before, after] = [visible(sql.slice(from, at)), visible(sql.slice(at, to))];
  return `  ${before}${after}\n  ${' '.repeat(displayWidth(before))}^`;
}

/** Characters before `at`, as editors count them: code points, of which a UTF-16 unit may be half. */
export function charactersBefore(sql: string, at: number): number {
  let count = 0;
  for (let i = 0; i < at; i++) if (i === 0 || !isHalf(sql, i)) count++;
  return count;
}

/** Whether the second half of a character lies there. */
const isHalf = (text: string, at: number): boolean =>
  (text.charCodeAt(at) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800;

/** The offset, or the one after it where a character would be cut in two. */
const whole = (text: string, at: number): number => (isHalf(text, at) ? at + 1 : at);

/** Blanks of every kind, and what turns the direction of text, become spaces. */
function visible(text: string): string {
  return text.replace(/[\p{C}\p{Z}]/gu, ' ');
}
