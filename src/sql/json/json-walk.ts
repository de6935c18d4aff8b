/**
 * `JsonWalk` finds values within texts that are valid JSON (`JsonCheck` found no fault), as places
 * in their UTF-8 bytes: `find` follows a path, `names` goes over the names of an object, and
 * `sizeOf` counts the items of an array. Of members with one name, the first is found. These are
 * generators of short steps. `textOf` gives at once what a text in quotes means.
 */

import {
  BACKSLASH,
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COMMA,
  JSON_STEP,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
} from './json-check.ts';
import type { JsonStep } from './json-path.ts';

/** The largest of JSON's blanks. */
const BLANK = 32;

/** Takes the place of a value: its first byte, the one behind its last, and whether there are escapes. */
export type TakePlace = (start: number, end: number, isEscaped: boolean) => void;

/** 1 for bytes that a value may go on behind, where its end is looked for. */
const INNER = new Uint8Array(256).fill(1);
for (const byte of [QUOTE, OPEN_OBJECT, OPEN_ARRAY, CLOSE_OBJECT, CLOSE_ARRAY]) INNER[byte] = 0;
/** The same within a text in quotes. */
const IN_TEXT = new Uint8Array(256).fill(1);
for (const byte of [QUOTE, BACKSLASH]) IN_TEXT[byte] = 0;

/** The same of a number or word. */
const IN_SCALAR = new Uint8Array(256).fill(1, 33);
for (const byte of [COMMA, CLOSE_OBJECT, CLOSE_ARRAY]) IN_SCALAR[byte] = 0;

/** What a value takes beside its bytes, in bytes. */
const VALUE_BYTES = 4;

export class JsonWalk {
  readonly #data: Buffer;
  /** Where the text ends. */
  #to = 0;
  #at = 0;
  #depth = 0;
  #isInText = false;
  /** Whether the value that is gone through ends at the place, and whether it has escapes. */
  #isDone = false;
  #isEscaped = false;
  /** Bytes that are left of a step. */
  #left = JSON_STEP;

  constructor(data: Uint8Array) {
    this.#data = Buffer.from(data.buffer, data.byteOffset, data.length);
  }

  /** Calls `take` for the value at the path, or for each, where the path is of several. */
  *find(
    from: number,
    to: number,
    steps: readonly JsonStep[],
    take: TakePlace,
    first = 0,
  ): Generator<void, void> {
    const data = this.#data;
    this.#to = to;
    let at = this.#afterBlanks(from);
    for (let step = first; step < steps.length; step++) {
      const isObject = data[at] === OPEN_OBJECT;
      const { member, item } = steps[step] as JsonStep;
      let sought = isObject ? member : data[at] === OPEN_ARRAY ? item : undefined;
      if (typeof sought === 'number' && sought < 0) sought += yield* this.sizeOf(at, to);
      if (sought === undefined) return;
      let found = -1;
      let count = 0;
      for (let next = this.#firstIn(at); next >= 0; count++) {
        let value = next;
        if (isObject) {
          for (let isOver = this.#skip(next); !isOver; isOver = this.#goOn()) yield;
          value = this.#afterMark(this.#at);
          if (typeof sought === 'object' && this.#isName(next, this.#at, sought)) found = value;
        } else if (count === sought) found = value;
        if (found >= 0) break;
        if (sought === 'all') yield* this.find(value, to, steps, take, step + 1);
        for (let isOver = this.#skip(value); !isOver; isOver = this.#goOn()) yield;
        next = this.#nextIn(this.#at);
      }
      if (found < 0) return;
      at = found;
    }
    for (let isOver = this.#skip(at); !isOver; isOver = this.#goOn()) yield;
    take(at, this.#at, this.#isEscaped);
  }

  /** Calls `take` with the place of each name of the object at a place, also with one that is there again. */
  *names(object: number, to: number, take: TakePlace): Generator<void, void> {
    this.#to = to;
    for (let next = this.#firstIn(object); next >= 0; ) {
      for (let isOver = this.#skip(next); !isOver; isOver = this.#goOn()) yield;
      take(next, this.#at, this.#isEscaped);
      for (let isOver = this.#skip(this.#afterMark(this.#at)); !isOver; isOver = this.#goOn())
        yield;
      next = this.#nextIn(this.#at);
    }
  }

  /** How many items the array has that begins at a place. */
  *sizeOf(array: number, to: number): Generator<void, number> {
    this.#to = to;
    let count = 0;
    for (let next = this.#firstIn(array); next >= 0; count++) {
      for (let isOver = this.#skip(next); !isOver; isOver = this.#goOn()) yield;
      next = this.#nextIn(this.#at);
    }
    return count;
  }

  /** What the text in quotes at a place means. */
  textOf(start: number, end: number): string {
    return JSON.parse(this.#data.toString('utf8', start, end)) as string;
  }

  /** Whether the text that was gone through last is a name. */
  #isName(start: number, end: number, name: Uint8Array): boolean {
    if (this.#isEscaped) return Buffer.from(this.textOf(start, end)).equals(name);
    if (end - start - 2 !== name.length) return false;
    for (let k = 0; k < name.length; k++) if (this.#data[start + 1 + k] !== name[k]) return false;
    return true;
  }

  /** Goes to the end of the value at a place; false where a step is over, for `goOn`. */
  #skip(start: number): boolean {
    const data = this.#data;
    const limit = Math.min(this.#to, start + this.#left);
    this.#depth = 0;
    this.#isInText = false;
    this.#isEscaped = false;
    let at = start;
    if (data[at] === QUOTE) {
      at++;
      while (at < limit && IN_TEXT[data[at] as number] === 1) at++;
      if (at < limit && data[at] === QUOTE) return this.#isOver(start, at + 1, true);
      this.#isInText = true;
    } else if (data[at] !== OPEN_OBJECT && data[at] !== OPEN_ARRAY) {
      return this.#isOver(start, this.#scalarEnd(at), true);
    }
    this.#isDone = false;
    this.#at = at;
    return this.#goOn();
  }

  /** Whether the value was gone through, and more may be within the step. */
  #isOver(from: number, at: number, isDone: boolean): boolean {
    this.#at = at;
    this.#isDone = isDone;
    this.#left -= at - from + VALUE_BYTES;
    if (this.#left > 0) return isDone;
    this.#left = JSON_STEP;
    return false;
  }

  #goOn(): boolean {
    if (this.#isDone) return true;
    const data = this.#data;
    const from = this.#at;
    const limit = Math.min(this.#to, from + this.#left);
    let at = from;
    let depth = this.#depth;
    let isInText = this.#isInText;
    let isDone = false;
    while (at < limit && !isDone) {
      if (isInText) {
        while (at < limit && IN_TEXT[data[at] as number] === 1) at++;
        if (at >= limit) break;
        if (data[at] === BACKSLASH) {
          this.#isEscaped = true;
          at += 2;
        } else {
          at++;
          isInText = false;
          isDone = depth === 0;
        }
        continue;
      }
      while (at < limit && INNER[data[at] as number] === 1) at++;
      if (at >= limit) break;
      const byte = data[at++] as number;
      if (byte === QUOTE) isInText = true;
      else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) depth++;
      else isDone = --depth === 0;
    }
    this.#depth = depth;
    this.#isInText = isInText;
    return this.#isOver(from, at, isDone);
  }

  #scalarEnd(from: number): number {
    const data = this.#data;
    let at = from;
    while (at < this.#to && IN_SCALAR[data[at] as number] === 1) at++;
    return at;
  }

  #afterBlanks(from: number): number {
    const data = this.#data;
    let at = from;
    // No other byte as small is outside of a text.
    while ((data[at] as number) <= BLANK) at++;
    return at;
  }

  /** Behind the colon or comma that comes next, and the blanks around it. */
  #afterMark(at: number): number {
    return this.#afterBlanks(this.#afterBlanks(at) + 1);
  }

  /** Where the first name or item of an object or array begins; -1 where it is empty. */
  #firstIn(start: number): number {
    const at = this.#afterBlanks(start + 1);
    return this.#data[at] === CLOSE_OBJECT || this.#data[at] === CLOSE_ARRAY ? -1 : at;
  }

  /** Where the next one begins behind a value; -1 behind the last one. */
  #nextIn(end: number): number {
    const at = this.#afterBlanks(end);
    return this.#data[at] === COMMA ? this.#afterBlanks(at + 1) : -1;
  }
}
