/**
 * `Tokens` reads SQL text token by token, in linear time, by PostgreSQL's rules for names, numbers,
 * quotes, operators and comments. It also accepts a few spellings of other databases, such as names
 * in backticks. Quotes and comments left open, malformed numbers, semicolons, placeholders of
 * parameters unless the caller asks for them, and more than 60,000 tokens throw InvalidInput; the
 * parser leaves literals of IN lists out of the count. `WORD`, `NAME` and the constants beside them
 * are the kinds of tokens.
 */

import { APOSTROPHE, HYPHEN, isBlank, skipBlanks } from './blanks.ts';
import { KEYWORDS } from './keywords.ts';
import {
  NO_PARAMETERS,
  type QuoteScan,
  scanDollarQuote,
  scanQuote,
  scanUnicodeQuote,
} from './quotes.ts';
import { refuse } from './sql-error.ts';

export const END = 0;
/** An unquoted word. */
export const WORD = 1;
/** A name in quotes. */
export const NAME = 2;
export const STRING = 3;
export const NUMBER = 4;
/** `X'..'` and `B'..'`. */
export const BITS = 5;
/** An operator of characters that may be joined to others: `+`, `<=`, `@>`. */
export const OPERATOR = 6;
/** Parentheses, brackets, comma, period, colons, and characters that mean nothing. */
export const MARK = 7;
/** `?`, `$1` or `$name`, where they are asked for. */
export const PLACEHOLDER = 8;

/**
 * Tokens of one text; the literals of an IN list are not counted: the parser subtracts them from
 * `parts`.
 */
const MAX_PARTS = 60_000;

const LETTER = 1;
const DIGIT = 2;
const OPERATING = 3;
const QUOTE = 4;
const OTHER = 5;

const CLASSES = new Uint8Array(128).fill(OTHER);
function classify(characters: string, as: number): void {
  for (let i = 0; i < characters.length; i++) CLASSES[characters.charCodeAt(i)] = as;
}
classify('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_', LETTER);
classify('0123456789', DIGIT);
classify('~!@#^&|?+-*/%<>=', OPERATING);
classify('\'"`$', QUOTE);

const DOLLAR = 36;
const AMPERSAND = 38;
const PERIOD = 46;
const SLASH = 47;
const QUESTION = 63;
const PLACE = /\$(?:\d+|[A-Za-z_]\w*)(?![\w$])/y;

function classOf(code: number): number {
  if (code < 128) return CLASSES[code] as number;
  return isBlank(code) ? OTHER : LETTER;
}

const NUMBERS =
  /0[xX](?:_?[\da-fA-F])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+|(?:\d(?:_?\d)*(?:\.(?!\.)(?:\d(?:_?\d)*)?)?|\.\d(?:_?\d)*)(?:[eE][-+]?\d(?:_?\d)*)?/y;

/** The operators that a sign may follow without a blank. */
const BEFORE_SIGN = new Set([
  ...['!=', '||', '%', '~', '!~', '~*', '!~*', '^', '**', '//', '&', '|', '#', '<<', '>>'],
]);
/** Those spelt in two ways. */
const SPELLINGS: ReadonlyMap<string, string> = new Map([
  ['!=', '<>'],
  ['==', '='],
]);
/** An operator that holds one of these may end in a sign. */
const KEEPS_SIGN = /[~!@#^&|%]/;

/**
 * Beyond PostgreSQL it accepts names in backticks, == for =, no-break spaces as blanks, and a sign
 * directly after an operator (a !=-1). It refuses semicolons, and
 * placeholders of parameters unless they are asked for.
 */
export class Tokens {
  readonly sql: string;
  kind = END;
  /** Of the token, in UTF-16 units. */
  start = 0;
  end = 0;
  /** Value of a string, name without quotes, number as written, operator; else the characters. */
  text = '';
  /** An unquoted word of ASCII in lower case; empty for every other token. */
  word = '';
  /** What the keyword may name; 0 for all other words. */
  category = 0;
  /** How many tokens were read. */
  parts = 0;

  /** What the text is, for messages. */
  readonly what: 'expression' | 'statement';

  readonly #hasPlaceholders: boolean;

  /** @param hasPlaceholders whether placeholders are tokens; otherwise they are refused */
  constructor(
    sql: string,
    what: 'expression' | 'statement' = 'expression',
    hasPlaceholders = false,
  ) {
    this.sql = sql;
    this.what = what;
    this.#hasPlaceholders = hasPlaceholders;
    this.next();
  }

  /** Reads the token again that begins at `start`, which was read before. */
  rewind(start: number): void {
    this.end = start;
    this.next();
  }

  /** Throws InvalidInput with a position for what begins no token, and for quotes left open. */
  next(): void {
    if (++this.parts > MAX_PARTS) {
      const message = `The ${this.what} has more than ${MAX_PARTS} parts; use IN for long lists`;
      refuse(this.start, message);
    }
    const { sql } = this;
    const start = skipBlanks(sql, this.end);
    this.start = start;
    this.word = '';
    this.category = 0;
    if (start >= sql.length) {
      this.kind = END;
      this.text = '';
      this.end = start;
      return;
    }
    const code = sql.charCodeAt(start);
    switch (classOf(code)) {
      case LETTER:
        this.#letter(code);
        break;
      case DIGIT:
        this.#number();
        break;
      case QUOTE:
        this.#quote(code);
        break;
      case OPERATING:
        this.#operator(code);
        break;
      default:
        this.#mark(code);
    }
  }

  #set(kind: number, text: string, end: number): void {
    this.kind = kind;
    this.text = text;
    this.end = end;
  }

  #quoted(kind: number, scan: QuoteScan): void {
    this.#set(kind, scan.value, scan.end);
  }

  #letter(code: number): void {
    const { sql, start } = this;
    const after = sql.charCodeAt(start + 1);
    if ((after === APOSTROPHE || after === AMPERSAND) && this.#prefixed(code, after)) return;
    let end = start + 1;
    let all = code;
    while (end < sql.length) {
      const next = sql.charCodeAt(end);
      const is = classOf(next);
      if (is !== LETTER && is !== DIGIT && next !== DOLLAR) break;
      all |= next;
      end++;
    }
    const text = sql.slice(start, end);
    this.#set(WORD, text, end);
    // Keywords are ASCII, and other letters must not become ASCII in lower case.
    if (all < 128) {
      this.word = text.toLowerCase();
      this.category = KEYWORDS.get(this.word) ?? 0;
    }
  }

  /** E'..', X'..', B'..', N'..', U&'..' and U&".."; false where the letter begins a name. */
  #prefixed(code: number, after: number): boolean {
    const { sql, start } = this;
    const letter = String.fromCharCode(code).toLowerCase();
    if (after === AMPERSAND) {
      const quote = sql[start + 2];
      if (letter !== 'u' || (quote !== "'" && quote !== '"')) return false;
      this.#quoted(quote === '"' ? NAME : STRING, scanUnicodeQuote(sql, start, quote));
      return true;
    }
    if (letter === 'e') {
      this.#quoted(STRING, scanQuote(sql, start, start + 1, "'", 'escapes'));
    } else if (letter === 'b' || letter === 'x') {
      const { value, end } = scanQuote(sql, start, start + 1, "'", 'plain');
      this.#set(BITS, letter + value, end);
    } else if (letter === 'n') {
      // The type NCHAR, and a string after it.
      this.#set(WORD, 'nchar', start + 1);
      this.word = 'nchar';
      this.category = KEYWORDS.get('nchar') ?? 0;
    } else return false;
    return true;
  }

  #number(): void {
    const { sql, start } = this;
    let end = start + 1;
    while (end < sql.length && CLASSES[sql.charCodeAt(end)] === DIGIT) end++;
    const code = end < sql.length ? sql.charCodeAt(end) : 0;
    if (code === PERIOD || code === 95 || (code !== 0 && classOf(code) === LETTER)) {
      NUMBERS.lastIndex = start;
      NUMBERS.test(sql);
      end = NUMBERS.lastIndex;
      const after = end < sql.length ? classOf(sql.charCodeAt(end)) : 0;
      if (after === LETTER || after === DIGIT) {
        refuse(
          start,
          `Cannot read the ${this.what}: a number ends in '${sql.slice(end, end + 10)}'`,
        );
      }
    }
    this.#set(NUMBER, sql.slice(start, end), end);
  }

  #quote(code: number): void {
    const { sql, start } = this;
    if (code === APOSTROPHE) {
      this.#quoted(STRING, scanQuote(sql, start, start, "'", 'plain'));
    } else if (code === DOLLAR) this.#dollar();
    else {
      const scan = scanQuote(sql, start, start, sql.charAt(start), 'name');
      if (scan.value === '') refuse(start, 'A quoted name is empty');
      this.#quoted(NAME, scan);
    }
  }

  #dollar(): void {
    const { sql, start } = this;
    PLACE.lastIndex = start;
    const place = this.#hasPlaceholders ? PLACE.exec(sql)?.[0] : undefined;
    if (place === undefined) this.#quoted(STRING, scanDollarQuote(sql, start));
    else this.#set(PLACEHOLDER, place, start + place.length);
  }

  #operator(code: number): void {
    const { sql, start } = this;
    if (code === QUESTION) {
      if (!this.#hasPlaceholders) refuse(start, NO_PARAMETERS);
      this.#set(PLACEHOLDER, '?', start + 1);
      return;
    }
    let end = start + 1;
    for (; end < sql.length; end++) {
      const next = sql.charCodeAt(end);
      if (CLASSES[next] !== OPERATING) break;
      if (next === QUESTION) {
        if (!this.#hasPlaceholders) refuse(end, NO_PARAMETERS);
        break;
      }
      if (next === HYPHEN && sql.charCodeAt(end + 1) === HYPHEN) break;
      if (next === SLASH && sql[end + 1] === '*') break;
    }
    let text = sql.slice(start, end);
    if (text.length > 1) text = withoutSign(text);
    this.#set(OPERATOR, SPELLINGS.get(text) ?? text, start + text.length);
  }

  #mark(code: number): void {
    const { sql, start } = this;
    if (code === PERIOD && CLASSES[sql.charCodeAt(start + 1)] === DIGIT) {
      this.#fraction();
      return;
    }
    const text = sql.charAt(start);
    if (text === ';')
      refuse(
        start,
        this.what === 'statement'
          ? "';' is not part of a statement; give one statement at a time"
          : "';' is not part of an expression",
      );
    const two = text === ':' ? sql.slice(start, start + 2) : '';
    const mark = two === '::' || two === ':=' ? two : text;
    this.#set(MARK, mark, start + mark.length);
  }

  /** `.5` */
  #fraction(): void {
    const { sql, start } = this;
    NUMBERS.lastIndex = start;
    NUMBERS.test(sql);
    const end = NUMBERS.lastIndex;
    if (end < sql.length && classOf(sql.charCodeAt(end)) === LETTER) {
      refuse(start, `Cannot read the ${this.what}: a number ends in '${sql.slice(end, end + 10)}'`);
    }
    this.#set(NUMBER, sql.slice(start, end), end);
  }
}

/** The operator at the beginning of a run of operator characters: signs at its end are not part. */
function withoutSign(run: string): string {
  let end = run.length;
  while (end > 1 && (run[end - 1] === '-' || run[end - 1] === '+')) end--;
  if (end === run.length) return run;
  const rest = run.slice(0, end);
  return BEFORE_SIGN.has(rest) || !KEEPS_SIGN.test(rest) ? rest : run;
}
