/** Formats the line of a text that holds a position, with a caret under it, for error messages. */

const WIDTH = 72;

/** Two lines of at most 76 characters; `at` counts UTF-16 units from 0. */
export function formatExcerpt(sql: string, at: number): string {
  const from = Math.max(sql.lastIndexOf('\n', at - 1) + 1, at - WIDTH / 2);
  const lineEnd = sql.indexOf('\n', at);
  const to = Math.min(lineEnd < 0 ? sql.length : lineEnd, from + WIDTH);
  const [before, after] = [visible(sql.slice(from, at)), visible(sql.slice(at, to))];
  return `  ${before}${after}\n  ${' '.repeat([...before].length)}^`;
}

/** One column a character: blanks of every kind become spaces. */
function visible(text: string): string {
  return text.replace(/[\p{C}\p{Z}]/gu, ' ');
}
