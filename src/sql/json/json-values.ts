/**
 * Finds values within a text that is valid JSON (`jsonFault` found nothing), as places in the text:
 * `findJson` follows a path, and gives undefined if nothing stands there, `eachName` goes over the
 * names of an object, `sizeOf` counts the members of an object or the items of an array,
 * `shortJson` gives the JSON of a value without blanks. Of members with one name, the first is
 * found. These are generators of short steps. `plainText` gives at once what a text in quotes
 * means.
 */
import { endOf, isBlank, JSON_STEP } from './json-check.ts';
import type { JsonStep } from './json-path.ts';

/** The place of a value, in UTF-16 units: from its first to behind its last. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

const BLANKS = /[ \t\n\r]*/y;
const TEXT = /"[^"\\]*"/y;
const SCALAR = /[^\s,\]}]+/y;
const BRACKETS = /["[\]{}]/g;

/** Undefined where nothing stands at the path; without steps, the place of the whole value. */
export function* findJson(
  text: string,
  steps: readonly JsonStep[],
): Generator<void, Span | undefined> {
  let start = afterBlanks(text, 0);
  for (const { name, place } of steps) {
    const sign = text[start];
    if (sign === '{' && name !== undefined) start = yield* memberOf(text, start, name);
    else if (sign === '[' && place !== undefined) start = yield* itemOf(text, start, place);
    else return undefined;
    if (start < 0) return undefined;
  }
  const end = plainEnd(text, start);
  return { start, end: end < 0 ? yield* longEnd(text, start) : end };
}

/** Where the value of a member begins; -1 where no member has the name. */
function* memberOf(text: string, object: number, name: string): Generator<void, number> {
  let pause = object + JSON_STEP;
  for (let at = firstIn(text, object); at >= 0; ) {
    if (at >= pause) {
      yield;
      pause = at + JSON_STEP;
    }
    const plain = endOf(TEXT, text, at);
    const end = plain < 0 ? yield* textEnd(text, at) : plain;
    const value = afterMark(text, end);
    if (plain < 0) {
      if (plainText(text, { start: at, end }) === name) return value;
    } else if (plain - at - 2 === name.length && text.startsWith(name, at + 1)) return value;
    at = nextIn(text, yield* valueEnd(text, value));
  }
  return -1;
}

/** Where an item begins; -1 where there are not as many. */
function* itemOf(text: string, array: number, place: number): Generator<void, number> {
  /** The last items, in turn, of which one is counted from the end. */
  const last: number[] = [];
  let item = 0;
  let pause = array + JSON_STEP;
  for (let at = firstIn(text, array); at >= 0; item++) {
    if (at >= pause) {
      yield;
      pause = at + JSON_STEP;
    }
    if (item === place) return at;
    if (place < 0) last[item % -place] = at;
    at = nextIn(text, yield* valueEnd(text, at));
  }
  return place < 0 ? (last[item % -place] ?? -1) : -1;
}

/** How many members or items the value has that begins at a place: an object or an array. */
export function* sizeOf(text: string, start: number): Generator<void, number> {
  let count = 0;
  if (text[start] === '{') {
    yield* eachName(text, start, () => count++);
    return count;
  }
  let pause = start + JSON_STEP;
  for (let at = firstIn(text, start); at >= 0; count++) {
    if (at >= pause) {
      yield;
      pause = at + JSON_STEP;
    }
    at = nextIn(text, yield* valueEnd(text, at));
  }
  return count;
}

/** Calls `take` with each name of the object that begins at a place, also with one that is there again. */
export function* eachName(
  text: string,
  object: number,
  take: (name: string) => void,
): Generator<void, void> {
  let pause = object + JSON_STEP;
  for (let at = firstIn(text, object); at >= 0; ) {
    if (at >= pause) {
      yield;
      pause = at + JSON_STEP;
    }
    const end = yield* textEnd(text, at);
    take(plainText(text, { start: at, end }));
    at = nextIn(text, yield* valueEnd(text, afterMark(text, end)));
  }
}

const afterBlanks = (text: string, at: number): number =>
  isBlank(text.charCodeAt(at)) ? endOf(BLANKS, text, at) : at;

/** Behind the colon or comma that comes next, and the blanks around it. */
const afterMark = (text: string, at: number): number =>
  afterBlanks(text, afterBlanks(text, at) + 1);

/** Where the first name or item of an object or array begins; -1 where it is empty. */
function firstIn(text: string, start: number): number {
  const at = afterBlanks(text, start + 1);
  return text[at] === '}' || text[at] === ']' ? -1 : at;
}

/** Where the next one begins behind a value; -1 behind the last one. */
function nextIn(text: string, end: number): number {
  const at = afterBlanks(text, end);
  return text[at] === ',' ? afterBlanks(text, at + 1) : -1;
}

function* valueEnd(text: string, start: number): Generator<void, number> {
  const plain = plainEnd(text, start);
  return plain < 0 ? yield* longEnd(text, start) : plain;
}

/** Where a scalar, or a text without escapes, ends; -1 for any other value. */
function plainEnd(text: string, start: number): number {
  const sign = text[start];
  if (sign === '"') return endOf(TEXT, text, start);
  return sign === '{' || sign === '[' ? -1 : endOf(SCALAR, text, start);
}

function* longEnd(text: string, start: number): Generator<void, number> {
  if (text[start] === '"') return yield* textEnd(text, start);
  let depth = 0;
  let pause = start + JSON_STEP;
  for (let at = start; ; ) {
    if (at >= pause) {
      yield;
      pause = at + JSON_STEP;
    }
    BRACKETS.lastIndex = at;
    BRACKETS.test(text);
    at = BRACKETS.lastIndex;
    const found = text[at - 1];
    if (found === '"') {
      const plain = endOf(TEXT, text, at - 1);
      at = plain < 0 ? yield* textEnd(text, at - 1) : plain;
    } else depth += found === '{' || found === '[' ? 1 : -1;
    if (depth === 0) return at;
  }
}

function* textEnd(text: string, start: number): Generator<void, number> {
  const plain = endOf(TEXT, text, start);
  if (plain > 0) return plain;
  let pause = start + JSON_STEP;
  for (let at = start + 1; ; at++) {
    if (at >= pause) {
      yield;
      pause = at + JSON_STEP;
    }
    const sign = text[at];
    if (sign === '"') return at + 1;
    if (sign === '\\') at++;
  }
}

/** What the text in quotes at a place means. */
export function plainText(text: string, { start, end }: Span): string {
  const inner = text.slice(start + 1, end - 1);
  return inner.includes('\\') ? (JSON.parse(text.slice(start, end)) as string) : inner;
}

/** Parts of a text that are kept before they are joined. */
const MOST_PARTS = 1 << 12;

/** The JSON at a place, without blanks between its tokens. */
export function* shortJson(text: string, { start, end }: Span): Generator<void, string> {
  const sign = text[start];
  if (sign !== '{' && sign !== '[') return text.slice(start, end);
  const parts: string[] = [];
  let made = '';
  let from = start;
  let pause = start + JSON_STEP;
  for (let at = start; at < end; ) {
    if (at >= pause) {
      yield;
      pause = at + JSON_STEP;
    }
    const code = text.charCodeAt(at);
    if (code === 34) at = yield* textEnd(text, at);
    else if (isBlank(code)) {
      parts.push(text.slice(from, at));
      // A slice takes more than the few characters that it may have.
      if (parts.length === MOST_PARTS) made += parts.splice(0).join('');
      at = endOf(BLANKS, text, at);
      from = at;
    } else at++;
  }
  parts.push(text.slice(from, end));
  return made + parts.join('');
}
