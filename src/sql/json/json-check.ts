/**
 * `jsonFault` reads a whole text as JSON (RFC 8259) and tells where it is none; it returns
 * undefined for JSON. Nothing is lenient, and escapes of half a surrogate pair are refused, as no
 * UTF-8 can hold them. It is a generator of short steps, so that a long text does not block the
 * event loop. Values nested deeper than 1,000 levels are a fault too. `endOf` tells where a match
 * of a pattern ends.
 */

/** Where a text stops being JSON, in UTF-16 units from 0, and what was expected there. */
export interface JsonFault {
  readonly at: number;
  readonly wanted: string;
}

/** Units of text that are read between two steps. */
export const JSON_STEP: number = 1 << 16;
const MOST_LEVELS = 1_000;

const BLANKS = /[ \t\n\r]{0,65536}/y;
const PLAIN_TEXT = /"[ !#-[\]-\uffff]{0,65536}"/y;
const PLAIN = /[ !#-[\]-\uffff]{0,65536}/y;
const ESCAPE =
  /\\(?:["\\/bfnrt]|u(?:[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|(?![dD][89a-fA-F])[\da-fA-F]{4}))/y;
const SCALAR = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?)(?![\w.+-])/y;

/** Where a match that begins at `at` ends; -1 where there is none. */
export function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : -1;
}

/** Whether a UTF-16 unit is one of JSON's four blanks. */
export const isBlank = (code: number): boolean =>
  code === 32 || code === 10 || code === 13 || code === 9;

/** What is expected next. */
type Wanted =
  | 'a value'
  | 'a value or ]'
  | 'a name in quotes or }'
  | 'a name in quotes'
  | ':'
  | 'next'
  | 'end';

export function* jsonFault(text: string): Generator<void, JsonFault | undefined> {
  /** Of each value around the place: whether it is an object. */
  const objects: boolean[] = [];
  let wanted: Wanted = 'a value';
  let at = 0;
  let pause = JSON_STEP;
  for (;;) {
    if (at >= pause) {
      yield;
      pause = at + JSON_STEP;
    }
    if (isBlank(text.charCodeAt(at))) {
      at = endOf(BLANKS, text, at);
      continue;
    }
    const sign = text[at];
    const isIn = objects.at(-1);
    if (wanted === 'end') return at < text.length ? { at, wanted: 'the end' } : undefined;
    if (wanted === ':') {
      if (sign !== ':') return { at, wanted };
      wanted = 'a value';
      at++;
    } else if (wanted === 'next') {
      if (sign === ',') wanted = isIn ? 'a name in quotes' : 'a value';
      else if (sign === (isIn ? '}' : ']')) objects.pop();
      else return { at, wanted: isIn ? ', or }' : ', or ]' };
      if (objects.length === 0) wanted = 'end';
      at++;
    } else if (
      (sign === '}' && wanted === 'a name in quotes or }') ||
      (sign === ']' && wanted === 'a value or ]')
    ) {
      objects.pop();
      wanted = objects.length === 0 ? 'end' : 'next';
      at++;
    } else if (sign === '"') {
      const end = yield* textEnd(text, at);
      if (end < 0) return { at: -end, wanted: 'a character of a text' };
      at = end;
      if (wanted.startsWith('a name')) wanted = ':';
      else wanted = objects.length === 0 ? 'end' : 'next';
    } else if (wanted.startsWith('a name')) {
      return { at, wanted };
    } else if (sign === '{' || sign === '[') {
      if (objects.length === MOST_LEVELS) return { at, wanted: `at most ${MOST_LEVELS} levels` };
      objects.push(sign === '{');
      wanted = sign === '{' ? 'a name in quotes or }' : 'a value or ]';
      at++;
    } else {
      const end = endOf(SCALAR, text, at);
      if (end < 0) return { at, wanted };
      at = end;
      wanted = objects.length === 0 ? 'end' : 'next';
    }
  }
}

/** Where the text in quotes ends that begins at `from`; where it is at fault, the negative of the place. */
function* textEnd(text: string, from: number): Generator<void, number> {
  const plain = endOf(PLAIN_TEXT, text, from);
  if (plain > 0) return plain;
  let pause = from + JSON_STEP;
  for (let at = from + 1; ; ) {
    if (at >= pause) {
      yield;
      pause = at + JSON_STEP;
    }
    at = endOf(PLAIN, text, at);
    const sign = text[at];
    if (sign === '"') return at + 1;
    if (sign === '\\') {
      const end = endOf(ESCAPE, text, at);
      if (end < 0) return -at;
      at = end;
    } else if (sign === undefined || sign < ' ') return -at;
  }
}
