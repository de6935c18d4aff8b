/**
 * `skipBlanks` returns where the next token of an SQL text begins, after blanks and comments. A
 * comment that is never closed throws InvalidInput. `isBlank` recognises blank characters.
 * `APOSTROPHE` and `HYPHEN` are codes of characters.
 */
import { refuse } from './sql-error.ts';

export const APOSTROPHE = 39;
export const HYPHEN = 45;
const SLASH = 47;
const STAR = 42;
const NO_BREAK_SPACE = 0xa0;

export function isBlank(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13) || code === NO_BREAK_SPACE;
}

/** Where the next token begins, at or after `from`. Throws InvalidInput for an open comment. */
export function skipBlanks(sql: string, from: number): number {
  let i = from;
  while (i < sql.length) {
    const code = sql.charCodeAt(i);
    if (isBlank(code)) i++;
    else if (code === HYPHEN && sql.charCodeAt(i + 1) === HYPHEN) i = endOfLine(sql, i);
    else if (code === SLASH && sql.charCodeAt(i + 1) === STAR) i = endOfComment(sql, i);
    else return i;
  }
  return i;
}

/** Offset of the line end, or of the end of the text. */
function endOfLine(sql: string, start: number): number {
  for (let i = start; i < sql.length; i++) {
    const code = sql.charCodeAt(i);
    if (code === 10 || code === 13) return i;
  }
  return sql.length;
}

/** Comments nest. */
function endOfComment(sql: string, start: number): number {
  const mark = /\/\*|\*\//g;
  mark.lastIndex = start;
  let depth = 0;
  for (let found = mark.exec(sql); found !== null; found = mark.exec(sql)) {
    depth += found[0] === '/*' ? 1 : -1;
    if (depth === 0) return mark.lastIndex;
  }
  return refuse(start, 'A comment is never closed');
}
