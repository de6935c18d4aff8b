/**
 * Scans quoted SQL text, and returns its value and where it ends. `scanQuote` reads '..', E'..',
 * ".." and `..`, `scanUnicodeQuote` reads U&'..' and U&"..", and `scanDollarQuote` reads
 * $tag$..$tag$. As in PostgreSQL, parts of one string in single quotes on several lines are joined.
 * An unclosed quote and an invalid escape throw InvalidInput, and so does a placeholder such as $1
 * in `scanDollarQuote`, with the message `NO_PARAMETERS`.
 */

import { APOSTROPHE, isBlank, skipBlanks } from './blanks.ts';
import { refuse } from './sql-error.ts';

export interface QuoteScan {
  readonly value: string;
  /** Where the text goes on. */
  readonly end: number;
}

/** `plain` and `escapes` (of a backslash) are strings, which may go on in another line. */
export type QuoteRules = 'plain' | 'escapes' | 'name';

/** The quotation whose first quote is at `open`; `start` is where its token begins. */
export function scanQuote(
  sql: string,
  start: number,
  open: number,
  quote: string,
  rules: QuoteRules,
): QuoteScan {
  let value = '';
  let from = open + 1;
  for (;;) {
    const close = closing(sql, start, from, quote, rules === 'escapes');
    const part = sql.slice(from, close);
    const single = part.includes(quote) ? part.replaceAll(quote + quote, quote) : part;
    value = value === '' ? single : value + single;
    from = rules === 'name' ? 0 : continuation(sql, close + 1);
    if (from > 0) continue;
    if (rules === 'escapes' && value.includes('\\')) value = unescaped(value, start);
    return { value, end: close + 1 };
  }
}

/** Offset of the quote that closes; doubled ones are part of the value. */
function closing(
  sql: string,
  start: number,
  from: number,
  quote: string,
  escapes: boolean,
): number {
  const found = escapes ? closingBehindEscapes(sql, from, quote) : closingQuote(sql, from, quote);
  return found < 0 ? refuse(start, `The quote ${quote} is never closed`) : found;
}

function closingQuote(sql: string, from: number, quote: string): number {
  let found = sql.indexOf(quote, from);
  while (found >= 0 && sql[found + 1] === quote) found = sql.indexOf(quote, found + 2);
  return found;
}

/** Looks at each character once, however many escapes there are. */
function closingBehindEscapes(sql: string, from: number, quote: string): number {
  const mark = quote.charCodeAt(0);
  for (let at = from; at < sql.length; at++) {
    const code = sql.charCodeAt(at);
    if (code === BACKSLASH) at++;
    else if (code === mark) {
      if (sql.charCodeAt(at + 1) !== mark) return at;
      at++;
    }
  }
  return -1;
}

const BACKSLASH = 0x5c;

/** Where the string goes on in another line, or 0. Blanks stand between, no comments. */
function continuation(sql: string, from: number): number {
  let lines = false;
  for (let i = from; i < sql.length; i++) {
    const code = sql.charCodeAt(i);
    if (code === APOSTROPHE) return lines ? i + 1 : 0;
    if (!isBlank(code)) return 0;
    lines ||= code === 10 || code === 13;
  }
  return 0;
}

const SIMPLE_ESCAPES: Readonly<Record<string, string>> = {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

const ESCAPE = /\\(?:([0-7]{1,3})|x([\da-fA-F]{1,2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([\s\S]))/y;
/** What may be more than one character behind a backslash. */
const LONG_ESCAPE = /[0-7xuU]/;

/** The value of E'..': \ooo and \xhh are bytes of UTF-8. */
function unescaped(text: string, start: number): string {
  const parts: Buffer[] = [];
  let plain = '';
  let from = 0;
  const byte = (value: number): void => {
    parts.push(Buffer.from(plain), Buffer.of(value & 0xff));
    plain = '';
  };
  let high = 0;
  for (let at = text.indexOf('\\'); at >= 0; at = text.indexOf('\\', from)) {
    if (high !== 0 && at !== from) refuseSurrogate(start);
    plain += text.slice(from, at);
    const next = text.charAt(at + 1);
    if (high === 0 && !LONG_ESCAPE.test(next)) {
      plain += SIMPLE_ESCAPES[next] ?? next;
      from = at + 2;
      continue;
    }
    ESCAPE.lastIndex = at;
    const [whole = '', octal, hex, short, long, other = ''] = ESCAPE.exec(text) ?? [];
    if (whole === '') break;
    from = at + whole.length;
    const unit = short ?? long;
    if (unit !== undefined) {
      const point = Number.parseInt(unit, 16);
      const isLow = point >= 0xdc00 && point < 0xe000;
      if (isLow !== (high !== 0)) refuseSurrogate(start);
      if (point >= 0xd800 && point < 0xdc00) {
        high = point;
        continue;
      }
      plain += high === 0 ? character(point, start) : String.fromCharCode(high, point);
      high = 0;
      continue;
    }
    if (high !== 0) refuseSurrogate(start);
    if (octal !== undefined) byte(Number.parseInt(octal, 8));
    else if (hex !== undefined) byte(Number.parseInt(hex, 16));
    else if (other === 'u' || other === 'U') {
      refuse(start, 'A Unicode escape is \\u and four hexadecimal digits, or \\U and eight');
    } else plain += SIMPLE_ESCAPES[other] ?? other;
  }
  if (high !== 0) refuseSurrogate(start);
  plain += text.slice(from);
  if (parts.length === 0) return plain;
  parts.push(Buffer.from(plain));
  const bytes = Buffer.concat(parts);
  try {
    if (bytes.includes(0)) throw new Error('zero');
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return refuse(start, 'The escapes of a string make no valid UTF-8 text');
  }
}

function character(point: number, start: number): string {
  if (point === 0 || point > 0x10ffff) refuse(start, 'A Unicode escape names no character');
  return String.fromCodePoint(point);
}

function refuseSurrogate(start: number): never {
  return refuse(start, 'A Unicode escape is half of a surrogate pair');
}

/** What UESCAPE may name: ASCII that is no hexadecimal digit, sign, quote or blank. */
const ESCAPE_MARK = /[!#$%&()*,\-./:;<=>?@G-Zg-z[\\\]^_`{|}~]/;

/** U&'..' and U&"..", with UESCAPE where it follows. */
export function scanUnicodeQuote(sql: string, start: number, quote: string): QuoteScan {
  const rules = quote === '"' ? 'name' : 'plain';
  const quoted = scanQuote(sql, start, start + 2, quote, rules);
  let { end } = quoted;
  let mark = '\\';
  const next = skipBlanks(sql, end);
  if (/^uescape(?![\w$\u0080-\uffff])/i.test(sql.slice(next, next + 8))) {
    const open = skipBlanks(sql, next + 7);
    mark = sql.charAt(open + 1);
    if (sql[open] !== "'" || sql[open + 2] !== "'" || !ESCAPE_MARK.test(mark)) {
      refuse(next, "UESCAPE takes one character in quotes, such as '!'");
    }
    end = open + 3;
  }
  const value = fromUnicodeEscapes(quoted.value, mark, start);
  if (value === '' && quote === '"') refuse(start, 'A quoted name is empty');
  return { value, end };
}

/** The number of so many digits, -1 where there is another character among them. */
function hexadecimal(text: string, from: number, digits: number): number {
  let value = 0;
  for (let at = from; at < from + digits; at++) {
    const code = text.charCodeAt(at);
    const letter = code | 0x20;
    if (code >= 0x30 && code <= 0x39) value = value * 16 + code - 0x30;
    else if (letter >= 0x61 && letter <= 0x66) value = value * 16 + letter - 0x57;
    else return -1;
  }
  return value;
}

function fromUnicodeEscapes(text: string, mark: string, start: number): string {
  let value = '';
  let high = 0;
  for (let i = 0; i < text.length; ) {
    if (text[i] !== mark || text[i + 1] === mark) {
      if (high !== 0) refuseSurrogate(start);
      value += text[i];
      i += text[i] === mark ? 2 : 1;
      continue;
    }
    const isLong = text[i + 1] === '+';
    const point = isLong ? hexadecimal(text, i + 2, 6) : hexadecimal(text, i + 1, 4);
    if (point < 0) {
      refuse(start, `A Unicode escape is ${mark} and four hexadecimal digits, or ${mark}+ and six`);
    }
    const isLow = point >= 0xdc00 && point < 0xe000;
    if (isLow !== (high !== 0)) refuseSurrogate(start);
    if (point >= 0xd800 && point < 0xdc00) high = point;
    else {
      value += high === 0 ? character(point, start) : String.fromCharCode(high, point);
      high = 0;
    }
    i += isLong ? 8 : 5;
  }
  if (high !== 0) refuseSurrogate(start);
  return value;
}

/** What is told of `?` and `$1` where no values are given. */
export const NO_PARAMETERS =
  'Parameters are not supported here: write the value into the text, or give values to db.sql(text, { parameters })';

const TAG = /\$(?:[A-Za-z_\u0080-\u009f\u00a1-\uffff][\w\u0080-\u009f\u00a1-\uffff]*)?\$/y;

export function scanDollarQuote(sql: string, start: number): QuoteScan {
  TAG.lastIndex = start;
  const tag = TAG.exec(sql)?.[0];
  if (tag === undefined) {
    return refuse(start, NO_PARAMETERS);
  }
  const from = start + tag.length;
  const close = sql.indexOf(tag, from);
  if (close < 0) refuse(start, `The quote ${tag} is never closed`);
  return { value: sql.slice(from, close), end: close + tag.length };
}
