/**
 * SQL text into tokens, by PostgreSQL's rules for quotes and comments plus backtick names.
 * It only finds where tokens begin and end; what they mean is for the grammar to say.
 */
import { refuse } from './sql-error.ts';

export interface Token {
  readonly kind: 'word' | 'quoted' | 'backtick' | 'string' | 'number' | 'operator' | 'mark';
  readonly text: string;
  /** Lower-case text of an unquoted word. */
  readonly word?: string;
  readonly start: number;
  readonly end: number;
}

const WORD = /[A-Za-z_\u0080-\u009f\u00a1-\uffff][\w$\u0080-\u009f\u00a1-\uffff]*/y;
const NUMBER =
  /0[xX][\da-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?/y;
const OPERATOR = /[-+*/<>=~!@#%^&|`?:]/;

/** Throws InvalidInput with a position for an open quote or comment, `;`, `$n` and `?`. */
export function tokenise(sql: string): Token[] {
  const tokens: Token[] = [];
  let i = 0;
  const push = (kind: Token['kind'], end: number): void => {
    const text = sql.slice(i, end);
    tokens.push(
      kind === 'word'
        ? { kind, text, word: text.toLowerCase(), start: i, end }
        : { kind, text, start: i, end },
    );
    i = end;
  };
  while (i < sql.length) {
    const c = sql.charAt(i);
    if (c <= ' ' || c === '\u00a0') i++;
    else if (c === ',' || c === '(' || c === ')') push('mark', i + 1);
    else if (c >= '0' && c <= '9' && match(NUMBER, sql, i)) push('number', NUMBER.lastIndex);
    else if (c === '-' && sql[i + 1] === '-') i = endOfLine(sql, i);
    else if (c === '/' && sql[i + 1] === '*') i = endOfComment(sql, i);
    else if (c === "'") push('string', endOfQuote(sql, i, i, "'", false));
    else if (c === '"') push('quoted', endOfQuote(sql, i, i, '"', false));
    else if (c === '`') push('backtick', endOfQuote(sql, i, i, '`', false));
    else if (/[eE]/.test(c) && sql[i + 1] === "'") {
      push('string', endOfQuote(sql, i, i + 1, "'", true));
    } else if (/[xXbBnN]/.test(c) && sql[i + 1] === "'") {
      push('string', endOfQuote(sql, i, i + 1, "'", false));
    } else if (c === '$') push('string', endOfDollarQuote(sql, i));
    else if (c === '?') refuse(i, 'Parameters are not supported; write the value into the text');
    else if (c === ';') refuse(i, "';' is not part of an expression");
    else if (match(WORD, sql, i)) push('word', WORD.lastIndex);
    else if (match(NUMBER, sql, i)) push('number', NUMBER.lastIndex);
    else if (c === ':' && sql[i + 1] !== ':') push('mark', i + 1);
    else if (OPERATOR.test(c)) push('operator', endOfOperator(sql, i));
    else push('mark', i + 1);
  }
  return tokens;
}

function match(pattern: RegExp, sql: string, at: number): boolean {
  pattern.lastIndex = at;
  return pattern.test(sql);
}

function endOfLine(sql: string, start: number): number {
  const end = sql.indexOf('\n', start);
  return end < 0 ? sql.length : end + 1;
}

/** Comments nest. */
function endOfComment(sql: string, start: number): number {
  let depth = 0;
  for (let i = start; i < sql.length - 1; i++) {
    if (sql[i] === '/' && sql[i + 1] === '*') {
      depth++;
      i++;
    } else if (sql[i] === '*' && sql[i + 1] === '/') {
      depth--;
      i++;
      if (depth === 0) return i + 1;
    }
  }
  return refuse(start, 'A comment is never closed');
}

function endOfQuote(sql: string, start: number, open: number, q: string, escapes: boolean): number {
  for (let i = open + 1; i < sql.length; i++) {
    if (escapes && sql[i] === '\\') i++;
    else if (sql[i] === q) {
      if (sql[i + 1] !== q) return i + 1;
      i++;
    }
  }
  return refuse(start, `The quote ${q} is never closed`);
}

function endOfDollarQuote(sql: string, start: number): number {
  const tag = /\$(?:[A-Za-z_]\w*)?\$/y;
  tag.lastIndex = start;
  const found = tag.exec(sql);
  if (found === null) {
    return refuse(start, 'Parameters are not supported; write the value into the text');
  }
  const end = sql.indexOf(found[0], tag.lastIndex);
  return end < 0 ? refuse(start, `The quote ${found[0]} is never closed`) : end + found[0].length;
}

/** The operators that can be used stand alone, so that `a=-1` and `x==-1` split where meant. */
const OPERATORS = ['!~*', '==', '<=', '>=', '<>', '!=', '||', '::', '!~', '~*'];

function endOfOperator(sql: string, i: number): number {
  for (const operator of OPERATORS) if (sql.startsWith(operator, i)) return i + operator.length;
  return i + 1;
}
