/**
 * `JsonCheck` reads the UTF-8 bytes of whole texts as JSON (RFC 8259), and tells where one is none.
 * Nothing is lenient, and escapes of half a surrogate pair are refused, as no UTF-8 can hold them.
 * Values nested deeper than 1,000 levels are a fault too. A text is begun with `begin` and read by
 * `isDone`, which stops after 64 KiB, so that a long text does not block the event loop.
 * `jsonFault` gives the fault of one text. `isBlank` knows JSON's blanks.
 */

/** The byte at which a text stops being JSON, and what was expected there. */
export interface JsonFault {
  readonly at: number;
  readonly wanted: string;
}

/** Bytes that are read between two steps. */
export const JSON_STEP: number = 1 << 16;
const MOST_LEVELS = 1_000;

export const QUOTE = 0x22;
export const BACKSLASH = 0x5c;
export const OPEN_OBJECT = 0x7b;
export const CLOSE_OBJECT = 0x7d;
export const OPEN_ARRAY = 0x5b;
export const CLOSE_ARRAY = 0x5d;
export const COMMA = 0x2c;
const COLON = 0x3a;

/** Whether a byte is one of JSON's four blanks. */
export const isBlank = (byte: number | undefined): boolean =>
  byte === 32 || byte === 10 || byte === 13 || byte === 9;

/** What is expected next; within a text, whether it is a name. */
const VALUE = 0;
const VALUE_OR_END = 1;
const NAME_OR_END = 2;
const NAME = 3;
const AFTER_NAME = 4;
const NEXT = 5;
const END = 6;
const IN_TEXT = 7;
const IN_NAME = 8;

const WANTED: readonly string[] = [
  'a value',
  'a value or ]',
  'a name in quotes or }',
  'a name in quotes',
  ':',
  '',
  'the end',
  'a character of a text',
  'a character of a text',
];

/** 1 for bytes that stand for themselves within a text. */
const PLAIN = new Uint8Array(256).fill(1, 32);
PLAIN[QUOTE] = 0;
PLAIN[BACKSLASH] = 0;

export class JsonCheck {
  /** Where the text that was read last is no JSON. */
  fault: JsonFault | undefined;
  readonly #data: Uint8Array;
  #at = 0;
  #to = 0;
  #wanted = VALUE;
  #depth = 0;
  /** Of each value around the place: 1 for an object. */
  readonly #objects = new Uint8Array(MOST_LEVELS);

  constructor(data: Uint8Array) {
    this.#data = data;
  }

  /** Begins a text, which lies between two places of the bytes. */
  begin(from: number, to: number): void {
    this.#at = from;
    this.#to = to;
    this.#wanted = VALUE;
    this.#depth = 0;
    this.fault = undefined;
  }

  /** Reads on; false where a step is over and the text is not. */
  isDone(): boolean {
    const data = this.#data;
    const objects = this.#objects;
    const to = this.#to;
    const limit = Math.min(to, this.#at + JSON_STEP);
    let at = this.#at;
    let wanted = this.#wanted;
    let depth = this.#depth;
    while (at < limit) {
      if (wanted >= IN_TEXT) {
        while (at < limit && PLAIN[data[at] as number] === 1) at++;
        if (at >= limit) break;
        if (data[at] === QUOTE) {
          at++;
          if (wanted === IN_TEXT) wanted = depth === 0 ? END : NEXT;
          else if (at >= limit || data[at] !== COLON) wanted = AFTER_NAME;
          else {
            at++;
            wanted = VALUE;
          }
          continue;
        }
        const end = data[at] === BACKSLASH ? escapeEnd(data, at, to) : -1;
        if (end < 0) return this.#faultAt(at, WANTED[wanted] as string);
        at = end;
        continue;
      }
      const byte = data[at] as number;
      if (byte === QUOTE && wanted <= NAME) {
        wanted = wanted >= NAME_OR_END ? IN_NAME : IN_TEXT;
        at++;
      } else if (wanted === NEXT && byte === COMMA) {
        wanted = objects[depth - 1] === 1 ? NAME : VALUE;
        at++;
      } else if (byte <= 32 && isBlank(byte)) at++;
      else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
        const isObject = byte === CLOSE_OBJECT;
        const isEmpty = wanted === (isObject ? NAME_OR_END : VALUE_OR_END);
        const isNext = wanted === NEXT && objects[depth - 1] === (isObject ? 1 : 0);
        if (!isEmpty && !isNext) return this.#faultAt(at, this.#wantedText(wanted, depth));
        wanted = --depth === 0 ? END : NEXT;
        at++;
      } else if (wanted === AFTER_NAME && byte === COLON) {
        wanted = VALUE;
        at++;
      } else if (wanted > VALUE_OR_END) {
        return this.#faultAt(at, this.#wantedText(wanted, depth));
      } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
        if (depth === MOST_LEVELS) return this.#faultAt(at, `at most ${MOST_LEVELS} levels`);
        objects[depth++] = byte === OPEN_OBJECT ? 1 : 0;
        wanted = byte === OPEN_OBJECT ? NAME_OR_END : VALUE_OR_END;
        at++;
      } else {
        const end = scalarEnd(data, at, to);
        if (end < 0) return this.#faultAt(at, WANTED[wanted] as string);
        at = end;
        wanted = depth === 0 ? END : NEXT;
      }
    }
    if (at >= to && wanted !== END) {
      return this.#faultAt(to, this.#wantedText(wanted, depth));
    }
    this.#at = at;
    this.#wanted = wanted;
    this.#depth = depth;
    return at >= to;
  }

  #wantedText(wanted: number, depth: number): string {
    if (wanted !== NEXT) return WANTED[wanted] as string;
    return this.#objects[depth - 1] === 1 ? ', or }' : ', or ]';
  }

  #faultAt(at: number, wanted: string): true {
    this.fault = { at, wanted };
    return true;
  }
}

/** The fault of a text, in steps; undefined for JSON. */
export function* jsonFault(text: Uint8Array): Generator<void, JsonFault | undefined> {
  const check = new JsonCheck(text);
  check.begin(0, text.length);
  while (!check.isDone()) yield;
  return check.fault;
}

const isDigit = (byte: number | undefined): boolean =>
  byte !== undefined && byte >= 0x30 && byte <= 0x39;

/** The number of a hexadecimal digit; 16 for no digit. */
function hexOf(byte: number | undefined): number {
  if (byte === undefined) return 16;
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x61 + 10 : 16;
}

/** The unit that four hexadecimal digits give; -1 for others, and behind the end of the text. */
function unitAt(data: Uint8Array, at: number, to: number): number {
  if (at + 4 > to) return -1;
  let unit = 0;
  for (let k = at; k < at + 4; k++) {
    const digit = hexOf(data[k]);
    if (digit === 16) return -1;
    unit = unit * 16 + digit;
  }
  return unit;
}

const ESCAPES: ReadonlySet<number> = new Set(Buffer.from('"\\/bfnrt'));
const LETTER_U = 0x75;

/** Where the escape at a backslash ends; -1 where there is none. */
function escapeEnd(data: Uint8Array, at: number, to: number): number {
  if (at + 1 >= to) return -1;
  if (data[at + 1] !== LETTER_U) return ESCAPES.has(data[at + 1] as number) ? at + 2 : -1;
  const unit = unitAt(data, at + 2, to);
  if (unit < 0 || (unit & 0xfc00) === 0xdc00) return -1;
  if ((unit & 0xfc00) !== 0xd800) return at + 6;
  if (data[at + 6] !== BACKSLASH || data[at + 7] !== LETTER_U) return -1;
  const second = unitAt(data, at + 8, to);
  return second >= 0 && (second & 0xfc00) === 0xdc00 ? at + 12 : -1;
}

const WORDS: readonly Uint8Array[] = ['true', 'false', 'null'].map((word) => Buffer.from(word));

/** Where a number, true, false or null ends; -1 where there is none, or more letters follow. */
function scalarEnd(data: Uint8Array, at: number, to: number): number {
  const first = data[at] as number;
  const end = first === 0x2d || isDigit(first) ? numberEnd(data, at, to) : wordEnd(data, at, to);
  return end >= 0 && end < to && goesOn(data[end] as number) ? -1 : end;
}

function wordEnd(data: Uint8Array, at: number, to: number): number {
  for (const word of WORDS) {
    if (data[at] !== word[0] || at + word.length > to) continue;
    for (let k = 1; k < word.length; k++) if (data[at + k] !== word[k]) return -1;
    return at + word.length;
  }
  return -1;
}

function numberEnd(data: Uint8Array, from: number, to: number): number {
  let at = data[from] === 0x2d ? from + 1 : from;
  if (at >= to || !isDigit(data[at])) return -1;
  at = data[at] === 0x30 ? at + 1 : digitsEnd(data, at, to);
  if (at < to && data[at] === 0x2e) {
    const end = digitsEnd(data, at + 1, to);
    if (end === at + 1) return -1;
    at = end;
  }
  if (at < to && ((data[at] as number) | 0x20) === 0x65) {
    const sign = data[at + 1];
    const digits = sign === 0x2b || sign === 0x2d ? at + 2 : at + 1;
    const end = digitsEnd(data, digits, to);
    if (end <= digits) return -1;
    at = end;
  }
  return at;
}

function digitsEnd(data: Uint8Array, from: number, to: number): number {
  let at = from;
  while (at < to && ((data[at] as number) ^ 0x30) < 10) at++;
  return at;
}

/** Letters, digits, and signs that no value may be followed by at once. */
const goesOn = (byte: number): boolean =>
  isDigit(byte) ||
  ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a) ||
  byte === 0x5f ||
  byte === 0x2e ||
  byte === 0x2b ||
  byte === 0x2d;
