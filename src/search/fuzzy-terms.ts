/**
 * Finds the terms that the words of a query stand for. A fuzzy word stands for terms within a
 * number of edits, an open word for terms that begin with it. A `FuzzyLeaf` has the words of one
 * part of the query, which share a limit of terms. `NearWords` offers terms to all these words of a
 * column in one pass, in steps. More than `MOST_NEAR_TERMS` terms for a request throw InvalidInput.
 * `autoFuzziness` tells the edits for a word of so many characters, which `charactersIn` counts.
 */
import type { Offsets } from '../arrow/index.ts';
import { DirspaceError } from '../errors.ts';
import { codePointAt, decodedBytes } from './characters.ts';

/**
 * A word that stands for the terms near to it: an edit inserts, removes or changes one character.
 */
export interface FuzzyWord {
  readonly term: Uint8Array;
  readonly edits: number;
  /** Characters at the start that have to be the same. */
  readonly prefixLength: number;
}

/** A word that stands for the terms that begin with it. */
export interface OpenWord {
  readonly start: Uint8Array;
  /** A term that it does not stand for. */
  readonly except: Uint8Array | undefined;
}

/** The edits that LanceDB allows a word of so many characters by itself. */
export const autoFuzziness = (characters: number): number =>
  characters <= 2 ? 0 : characters <= 5 ? 1 : 2;

/** Terms that the fuzzy words of a request may stand for. */
export const MOST_NEAR_TERMS = 4096;

/** How many terms all fuzzy words of a request are sure to stand for, so far. */
export interface NearCount {
  terms: number;
}

/** The characters of a term, and its signature: one bit for each, which others may share. */
class Characters {
  points = new Uint32Array(64);
  count = 0;
  signature = 0;

  read(bytes: Uint8Array, start: number, end: number): void {
    if (this.points.length < end - start) this.points = new Uint32Array(2 * (end - start));
    const { points } = this;
    let count = 0;
    let signature = 0;
    for (let at = start; at < end; ) {
      let point = bytes[at] as number;
      if (point < 0x80) at += 1;
      else {
        point = codePointAt(bytes, at, end);
        at += decodedBytes;
      }
      points[count++] = point;
      signature |= 1 << (point & 31);
    }
    this.count = count;
    this.signature = signature;
  }
}

export function charactersIn(term: Uint8Array): number {
  const characters = new Characters();
  characters.read(term, 0, term.length);
  return characters.count;
}

function bitsOf(value: number): number {
  let bits = value - ((value >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** The terms that one word stands for, of those that it was offered. */
class NearTerms {
  /** Undefined for a word that terms begin with. */
  readonly open: OpenWord | undefined;
  readonly edits: number;
  /** Characters of the word. */
  readonly length: number;
  /** Bytes that every near term begins with. */
  readonly prefix: Uint8Array;
  /** In the order of their bytes. */
  readonly terms: Uint8Array[] = [];
  /** Whether the words before it take all terms that there may be. */
  isSpent = false;
  readonly #points: Uint32Array;
  readonly #signature: number;
  readonly #rows: [Uint16Array, Uint16Array];

  constructor(word: FuzzyWord | OpenWord) {
    this.open = 'start' in word ? word : undefined;
    const { term, edits, prefixLength } =
      'start' in word
        ? { term: word.start, edits: 0, prefixLength: Number.POSITIVE_INFINITY }
        : word;
    const characters = new Characters();
    characters.read(term, 0, term.length);
    this.edits = edits;
    this.length = characters.count;
    this.prefix = prefixOf(term, prefixLength);
    this.#points = characters.points.slice(0, characters.count);
    this.#signature = characters.signature;
    const columns = this.length + 1;
    this.#rows = [new Uint16Array(columns), new Uint16Array(columns)];
  }

  /**
   * Takes a near term, the first ones where there are too many. Whether it has one more than
   * before.
   */
  take(term: Uint8Array, most: number): boolean {
    let low = 0;
    let high = this.terms.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const order = Buffer.compare(this.terms[middle] as Uint8Array, term);
      if (order === 0) return false;
      if (order < 0) low = middle + 1;
      else high = middle;
    }
    this.terms.splice(low, 0, term.slice());
    if (this.terms.length <= most) return true;
    this.terms.pop();
    return false;
  }

  /** Whether it has as many terms as it may have, none of them above this one. */
  isPast(term: Uint8Array, most: number): boolean {
    const last = this.terms[most - 1];
    return last !== undefined && Buffer.compare(last, term) <= 0;
  }

  /** Whether a term begins with it, for a word that terms begin with. */
  begins(term: Uint8Array): boolean {
    const { prefix, open } = this;
    if (term.length < prefix.length) return false;
    for (let at = 0; at < prefix.length; at++) if (term[at] !== prefix[at]) return false;
    return open?.except === undefined || Buffer.compare(term, open.except) !== 0;
  }

  /** Whether a term can be near by the characters that it has, without their order. */
  mayBeNear(signature: number): boolean {
    const own = this.#signature;
    if (own === signature) return true;
    return bitsOf(own & ~signature) <= this.edits && bitsOf(signature & ~own) <= this.edits;
  }

  /**
   * Whether a term with these characters is near. Only distances of so many edits are worked out.
   */
  isNear(term: Uint8Array, { points, count }: Characters): boolean {
    const { edits, length, prefix } = this;
    if (term.length < prefix.length || Math.abs(count - length) > edits) return false;
    for (let at = 0; at < prefix.length; at++) if (term[at] !== prefix[at]) return false;
    const wanted = this.#points;
    let [last, current] = this.#rows;
    const beyond = edits + 1;
    for (let column = Math.min(length, beyond); column >= 0; column--) last[column] = column;
    for (let row = 1; row <= count; row++) {
      const point = points[row - 1] as number;
      const from = Math.max(1, row - edits);
      const to = Math.min(length, row + edits);
      let least = from === 1 ? row : beyond;
      let left = least;
      current[from - 1] = left;
      for (let column = from; column <= to; column++) {
        let steps = (last[column - 1] as number) + (wanted[column - 1] === point ? 0 : 1);
        const above = (last[column] as number) + 1;
        if (above < steps) steps = above;
        if (left + 1 < steps) steps = left + 1;
        current[column] = steps;
        left = steps;
        if (steps < least) least = steps;
      }
      if (least > edits) return false;
      if (to < length) current[to + 1] = beyond;
      [last, current] = [current, last];
    }
    return (last[length] as number) <= edits;
  }
}

/**
 * The fuzzy words of one match in one column. Earlier words choose first, and each takes its terms
 * in byte order.
 */
export class FuzzyLeaf {
  readonly words: readonly NearTerms[];
  /** Terms that they may stand for together. */
  readonly most: number;
  readonly #all: NearCount;
  #counted = 0;

  constructor(words: readonly (FuzzyWord | OpenWord)[], most: number, all: NearCount) {
    this.words = words.map((word) => new NearTerms(word));
    this.most = most;
    this.#all = all;
    if (most === 0) for (const word of this.words) word.isSpent = true;
  }

  /** Counts one term more, and drops words that get none. @throws InvalidInput beyond the limit */
  grew(): boolean {
    let held = 0;
    let dropped = false;
    for (const word of this.words) {
      if (word.isSpent) break;
      if (held >= this.most) {
        word.isSpent = true;
        word.terms.length = 0;
        dropped = true;
      } else held += word.terms.length;
    }
    const sure = Math.min(held, this.most);
    this.#all.terms += sure - this.#counted;
    this.#counted = sure;
    if (this.#all.terms <= MOST_NEAR_TERMS) return dropped;
    throw new DirspaceError(
      'InvalidInput',
      `The fuzzy words and prefixes of the query stand for more than ${MOST_NEAR_TERMS} terms of the table. Lower max_expansions or fuzziness, or raise prefix_length.`,
      { details: { member: 'max_expansions' } },
    );
  }

  /** The terms that each word stands for. */
  taken(): Uint8Array[][] {
    let room = this.most;
    return this.words.map(({ terms }) => {
      const taken = terms.slice(0, room);
      room -= taken.length;
      return taken;
    });
  }
}

/** Comparisons of characters between two steps. */
const STEP = 1 << 16;

interface Sought {
  readonly word: NearTerms;
  readonly leaf: FuzzyLeaf;
}

/** Terms as a column of bytes has them, from one row to before another. */
export interface TermCells {
  readonly bytes: Uint8Array;
  readonly offsets: Offsets;
  readonly first: number;
  readonly end: number;
}

/** All fuzzy words of a column. */
export class NearWords {
  readonly #characters = new Characters();
  readonly #sought: readonly Sought[];
  /** Words that terms begin with, as long as they are looked for. */
  #open: readonly Sought[] = [];
  /** By the characters of a term: the words that it may be near to. */
  #byLength = new Map<number, Sought[]>();
  #work = 0;

  constructor(leaves: readonly FuzzyLeaf[]) {
    this.#sought = leaves.flatMap((leaf) => leaf.words.map((word) => ({ word, leaf })));
    this.#arrange();
  }

  #arrange(): void {
    this.#byLength = new Map();
    this.#open = this.#sought.filter(({ word }) => word.open !== undefined && !word.isSpent);
    for (const sought of this.#sought) {
      const { isSpent, length, edits, open } = sought.word;
      if (isSpent || open !== undefined) continue;
      for (let count = Math.max(0, length - edits); count <= length + edits; count++) {
        const own = this.#byLength.get(count);
        if (own === undefined) this.#byLength.set(count, [sought]);
        else own.push(sought);
      }
    }
  }

  /**
   * The prefixes that near terms begin with: looking at all terms of each prefix finds all that are
   * near.
   */
  prefixes(): Uint8Array[] {
    const found = new Map<string, Uint8Array>();
    for (const { word } of this.#sought) {
      if (word.isSpent) continue;
      if (word.prefix.length === 0) return [word.prefix];
      found.set(Buffer.from(word.prefix).toString('latin1'), word.prefix);
    }
    // A prefix of another one finds the terms of both.
    let last: string | undefined;
    for (const key of [...found.keys()].sort()) {
      if (last !== undefined && key.startsWith(last)) found.delete(key);
      else last = key;
    }
    return [...found.values()];
  }

  /** Offers terms to all words, in steps. A term may be offered again; its bytes are copied. */
  *offer(terms: Iterable<Uint8Array>): Generator<void, void> {
    for (const term of terms) {
      const sought = this.#soughtBy(term, 0, term.length);
      if (sought !== undefined) yield* this.#compare(term, sought);
      if (this.#open.length > 0) yield* this.#offerOpen(term);
      yield* this.#step();
    }
  }

  /**
   * Whether no word wants a term after the last one of these, which are in the order of their
   * bytes.
   */
  isPast({ bytes, offsets, first, end }: TermCells): boolean {
    if (first === end) return false;
    const last = bytes.subarray(Number(offsets[end - 1]), Number(offsets[end]));
    return this.#sought.every(({ word, leaf }) => word.isSpent || word.isPast(last, leaf.most));
  }

  /** Offers the values of a column between two rows. */
  *offerCells({ bytes, offsets, first, end }: TermCells): Generator<void, void> {
    let start = Number(offsets[first]);
    for (let row = first; row < end; row++) {
      const next = Number(offsets[row + 1]);
      const sought = this.#soughtBy(bytes, start, next);
      if (sought !== undefined) yield* this.#compare(bytes.subarray(start, next), sought);
      if (this.#open.length > 0) yield* this.#offerOpen(bytes.subarray(start, next));
      if (this.#work >= STEP) yield* this.#step();
      start = next;
    }
  }

  *#offerOpen(term: Uint8Array): Generator<void, void> {
    for (const { word, leaf } of this.#open) {
      yield* this.#step();
      this.#work += 4;
      if (word.isSpent || !word.begins(term) || word.isPast(term, leaf.most)) continue;
      this.#work += 4 * word.terms.length;
      if (word.take(term, leaf.most)) leaf.grew();
    }
  }

  *#step(): Generator<void, void> {
    if (this.#work < STEP) return;
    this.#work = 0;
    yield;
  }

  /**
   * Reads the characters of a term; gives the words of about its length if one has most of them.
   */
  #soughtBy(bytes: Uint8Array, start: number, end: number): readonly Sought[] | undefined {
    const characters = this.#characters;
    characters.read(bytes, start, end);
    this.#work += end - start;
    const sought = this.#byLength.get(characters.count);
    if (sought === undefined) return undefined;
    for (const { word } of sought) {
      this.#work += 4;
      if (!word.isSpent && word.mayBeNear(characters.signature)) return sought;
    }
    return undefined;
  }

  *#compare(term: Uint8Array, sought: readonly Sought[]): Generator<void, void> {
    const characters = this.#characters;
    for (const { word, leaf } of sought) {
      yield* this.#step();
      this.#work += 4;
      if (word.isSpent || !word.mayBeNear(characters.signature)) continue;
      if (word.isPast(term, leaf.most)) continue;
      this.#work += word.length * (2 * word.edits + 1);
      if (!word.isNear(term, characters) || !word.take(term, leaf.most)) continue;
      this.#work += 4 * leaf.words.length;
      if (leaf.grew()) this.#arrange();
    }
  }
}

function prefixOf(term: Uint8Array, characters: number): Uint8Array {
  let end = 0;
  for (let count = 0; count < characters && end < term.length; count++) {
    codePointAt(term, end, term.length);
    end += decodedBytes;
  }
  return term.subarray(0, end);
}
