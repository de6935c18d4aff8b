/**
 * Searches for a text within another in linear time. `finderOf` returns a finder of one needle,
 * which is not empty; `finderInSteps` prepares a long needle in steps. Needles of up to 64 UTF-16
 * units are searched by the runtime's own function, longer ones by Knuth-Morris-Pratt
 * (`LongNeedle`, which also searches bytes).
 */

/** So much is compared anew at each place at worst. */
export const SHORT_NEEDLE = 64;

/** Units of a long needle that are read between two steps. */
const STEP_UNITS = 1 << 19;

interface Units {
  readonly [index: number]: number;
  readonly length: number;
}

/** A long sequence of bytes or code units to be looked for (Knuth, Morris and Pratt). */
export class LongNeedle {
  readonly #needle: Units;
  /** By how many units are matched: how many remain when the next one is not. */
  readonly #remain: Int32Array;

  #built = 1;
  #known = 0;

  constructor(needle: Units, until = needle.length) {
    this.#needle = needle;
    this.#remain = new Int32Array(needle.length + 1);
    this.#build(until);
  }

  /** The same for a needle of any length. */
  static *inSteps(needle: Units): Generator<void, LongNeedle> {
    const made = new LongNeedle(needle, 1);
    while (made.#built < needle.length) {
      yield;
      made.#build(Math.min(needle.length, made.#built + STEP_UNITS));
    }
    return made;
  }

  #build(until: number): void {
    const [needle, remain] = [this.#needle, this.#remain];
    let known = this.#known;
    for (let k = this.#built; k < until; k++) {
      while (known > 0 && needle[k] !== needle[known]) known = remain[known] as number;
      if (needle[k] === needle[known]) known++;
      remain[k + 1] = known;
    }
    this.#built = Math.max(this.#built, until);
    this.#known = known;
  }

  /** The first place in `data[start..end)`, -1 where there is none. */
  find(data: Units, start: number, end: number): number {
    const [needle, remain] = [this.#needle, this.#remain];
    let matched = 0;
    for (let at = start; at < end; at++) {
      const unit = data[at];
      while (matched > 0 && unit !== needle[matched]) matched = remain[matched] as number;
      if (unit === needle[matched]) matched++;
      if (matched === needle.length) return at + 1 - matched;
    }
    return -1;
  }
}

/** Looks for one text in others, or in one from different places on. */
export interface TextFinder {
  /** The first place in `text` from `from` on, -1 where there is none. */
  find(text: string, from: number): number;
}

let last: { readonly needle: string; readonly finder: TextFinder } | undefined;

/** A finder of `needle`, which is not empty; the one used last is kept. */
export function finderOf(needle: string): TextFinder {
  if (needle.length <= SHORT_NEEDLE) return { find: (text, from) => text.indexOf(needle, from) };
  if (last?.needle !== needle) {
    last = { needle, finder: new LongFinder(new LongNeedle(unitsOf(needle))) };
  }
  return last.finder;
}

/** The same in steps, of one's own where the needle is long. */
export function* finderInSteps(needle: string): Generator<void, TextFinder> {
  if (needle.length <= SHORT_NEEDLE) return finderOf(needle);
  return new LongFinder(yield* LongNeedle.inSteps(unitsOf(needle)));
}

class LongFinder implements TextFinder {
  readonly #needle: LongNeedle;
  #text = '';
  #units: Uint16Array = new Uint16Array(0);

  constructor(needle: LongNeedle) {
    this.#needle = needle;
  }

  find(text: string, from: number): number {
    if (text !== this.#text) {
      this.#text = text;
      this.#units = unitsOf(text);
    }
    return this.#needle.find(this.#units, from, this.#units.length);
  }
}

function unitsOf(text: string): Uint16Array {
  const units = new Uint16Array(text.length);
  for (let at = 0; at < units.length; at++) units[at] = text.charCodeAt(at);
  return units;
}
