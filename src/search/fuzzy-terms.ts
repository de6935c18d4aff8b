/**
 * Finds the terms of a column that the words of a query stand for: for a fuzzy word the terms
 * within a number of edits, and for a prefix (open word) the terms that begin with it. `NearWords`
 * compares terms with all such words of a column, in steps, and skips terms whose beginning is too
 * far from every word. The words of one match or prefix (`FuzzyLeaf`) share a limit of terms:
 * earlier words choose first, and each word takes its first terms in byte order. A request that
 * finds more than 4,096 terms (`MOST_NEAR_TERMS`) throws InvalidInput. `autoFuzziness` returns the
 * edits for a word whose query gives no number.
 */
import type { Offsets } from '../arrow/index.ts';
import { DirspaceError } from '../errors.ts';
import { codePointAt, decodedBytes, startsWith } from './characters.ts';

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

/** The characters of a term. */
function pointsOf(term: Uint8Array): Uint32Array {
  const points = new Uint32Array(term.length);
  let count = 0;
  for (let at = 0; at < term.length; at += decodedBytes) {
    points[count++] = codePointAt(term, at, term.length);
  }
  return points.slice(0, count);
}

export const charactersIn = (term: Uint8Array): number => pointsOf(term).length;

/** The terms that one word stands for, of those that it was offered. */
class NearTerms {
  /** Undefined for a word that terms begin with. */
  readonly open: OpenWord | undefined;
  readonly edits: number;
  /** Characters of the word. */
  readonly points: Uint32Array;
  /** Characters at its start that every near term begins with. */
  readonly fixed: number;
  /** The bytes of these. */
  readonly prefix: Uint8Array;
  /** In the order of their bytes. */
  readonly terms: Uint8Array[] = [];
  /** Whether the words before it take all terms that there may be. */
  isSpent = false;

  constructor(word: FuzzyWord | OpenWord) {
    this.open = 'start' in word ? word : undefined;
    const { term, edits, prefixLength } =
      'start' in word
        ? { term: word.start, edits: 0, prefixLength: Number.POSITIVE_INFINITY }
        : word;
    this.edits = edits;
    this.points = pointsOf(term);
    this.fixed = Math.min(prefixLength, this.points.length);
    this.prefix = prefixOf(term, prefixLength);
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

/** Terms as a column of bytes has them, from one row to before another, in the order of their bytes. */
export interface TermCells {
  readonly bytes: Uint8Array;
  readonly offsets: Offsets;
  readonly first: number;
  readonly end: number;
}

/** All fuzzy words of a column. */
export class NearWords {
  readonly #sought: readonly Sought[];

  constructor(leaves: readonly FuzzyLeaf[]) {
    this.#sought = leaves.flatMap((leaf) => leaf.words.map((word) => ({ word, leaf })));
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

  /**
   * Whether no word wants a term after the last one of these, which are in the order of their
   * bytes.
   */
  isPast(cells: TermCells): boolean {
    if (cells.first === cells.end) return false;
    const last = cellOf(cells, cells.end - 1);
    return this.#sought.every(({ word, leaf }) => word.isSpent || word.isPast(last, leaf.most));
  }

  /** Offers terms in any order, in steps. A term may be offered again; its bytes are copied. */
  *offer(terms: Iterable<Uint8Array>): Generator<void, void> {
    const sorted = [...terms].sort(Buffer.compare);
    const offsets = new Int32Array(sorted.length + 1);
    for (const [row, { length }] of sorted.entries()) {
      offsets[row + 1] = (offsets[row] as number) + length;
    }
    yield* this.offerCells({ bytes: Buffer.concat(sorted), offsets, first: 0, end: sorted.length });
  }

  /** Offers the values of a column between two rows, in steps. */
  *offerCells(cells: TermCells): Generator<void, void> {
    const walk = new Walk(cells, this.#sought);
    while (walk.goOn()) yield;
    for (const { word, leaf } of this.#sought) {
      if (word.isSpent || word.open === undefined) continue;
      let work = 0;
      const { first, end } = cells;
      for (
        let row = rowWhere(first, end, (at) => Buffer.compare(cellOf(cells, at), word.prefix) >= 0);
        row < end;
        row++
      ) {
        const term = cellOf(cells, row);
        if (word.isSpent || !startsWith(term, word.prefix) || word.isPast(term, leaf.most)) break;
        const { except } = word.open;
        const isTaken = except === undefined || Buffer.compare(term, except) !== 0;
        if (isTaken && word.take(term, leaf.most)) leaf.grew();
        work += 4 * (1 + word.terms.length);
        if (work < STEP) continue;
        work = 0;
        yield;
      }
    }
  }
}

/**
 * Compares terms, in the order of their bytes, with all fuzzy words. Terms that begin alike share
 * the work: for each character of the last term it keeps the words that a term with this beginning
 * can still be near to. Where there are none, it skips all terms with this beginning.
 */
class Walk {
  readonly #cells: TermCells;
  readonly #sought: readonly Sought[];
  /** Distances that are kept of a word for each character. */
  readonly #width: number;
  #row: number;
  /** Where the bytes of the last term begin, and end: the beginnings that are kept are of it. */
  #last = 0;
  #lastEnd = 0;
  /** Characters of it that are kept; bytes before each, and where its words begin and end. */
  #depth = 0;
  #bytes = [0, 0];
  #words = [0, 0];
  /** The words by number in `#sought`, and their distances. */
  #near = new Int32Array(64);
  #distances: Uint8Array<ArrayBuffer>;
  #work = 0;

  constructor(cells: TermCells, sought: readonly Sought[]) {
    this.#cells = cells;
    this.#sought = sought.filter(({ word }) => word.open === undefined);
    this.#width = 1 + 2 * this.#sought.reduce((most, { word }) => Math.max(most, word.edits), 0);
    this.#distances = new Uint8Array(64 * this.#width);
    this.#row = this.#sought.length === 0 ? cells.end : cells.first;
    this.#begin();
  }

  /** Whether there are terms left after a step. */
  goOn(): boolean {
    const { bytes, offsets, end } = this.#cells;
    for (; this.#row < end && this.#work < STEP; ) {
      const start = Number(offsets[this.#row]);
      const stop = Number(offsets[this.#row + 1]);
      this.#back(start, stop);
      [this.#last, this.#lastEnd] = [start, stop];
      let at = start + (this.#bytes[this.#depth] as number);
      let isNear = (this.#words[this.#depth + 1] as number) > (this.#words[this.#depth] as number);
      while (at < stop && isNear) {
        let point = bytes[at] as number;
        if (point < 0x80) at += 1;
        else {
          point = codePointAt(bytes, at, stop);
          at += decodedBytes;
        }
        isNear = this.#enter(point, at - start);
      }
      if (isNear) this.#take(bytes.subarray(start, stop));
      this.#row = isNear ? this.#row + 1 : this.#after(at - start);
    }
    this.#work = 0;
    return this.#row < end;
  }

  /** No characters, and all words that are left. */
  #begin(): void {
    this.#depth = 0;
    this.#lastEnd = this.#last;
    let count = 0;
    for (const [number, { word }] of this.#sought.entries()) {
      if (word.isSpent) continue;
      this.#fit(count);
      this.#near[count] = number;
      const { edits, points } = word;
      for (let place = 0; place <= 2 * edits; place++) {
        const column = place - edits;
        const isOne = column >= 0 && column <= points.length;
        this.#distances[count * this.#width + place] = isOne ? column : edits + 2;
      }
      count++;
    }
    this.#words[1] = count;
  }

  /** Keeps the characters that a term has in common with the last one. */
  #back(start: number, stop: number): void {
    const { bytes } = this.#cells;
    const most = Math.min(stop - start, this.#lastEnd - this.#last);
    let common = 0;
    while (common < most && bytes[this.#last + common] === bytes[start + common]) common++;
    while ((this.#bytes[this.#depth] as number) > common) this.#depth--;
    this.#work += common + 4;
  }

  /**
   * One character more. A distance is of a beginning of the word, which has as many characters, or so
   * many more or fewer as there may be edits. Whether some word is near.
   */
  #enter(point: number, length: number): boolean {
    const depth = this.#depth + 1;
    const from = this.#words[depth - 1] as number;
    const to = this.#words[depth] as number;
    let count = to;
    for (let entry = from; entry < to; entry++) {
      const number = this.#near[entry] as number;
      const { edits, points, fixed } = (this.#sought[number] as Sought).word;
      if (depth <= fixed && points[depth - 1] !== point) continue;
      this.#fit(count);
      const distances = this.#distances;
      const above = entry * this.#width;
      const own = count * this.#width;
      const beyond = edits + 2;
      let least = beyond;
      let left = beyond;
      for (let place = 0; place <= 2 * edits; place++) {
        const column = depth - edits + place;
        let distance = beyond;
        if (column >= 0 && column <= points.length) {
          if (column > 0) {
            distance =
              (distances[above + place] as number) + (points[column - 1] === point ? 0 : 1);
          }
          if (place < 2 * edits) {
            distance = Math.min(distance, (distances[above + place + 1] as number) + 1);
          }
          distance = Math.min(distance, left + 1, beyond);
        }
        distances[own + place] = distance;
        left = distance;
        if (distance < least) least = distance;
      }
      if (least <= edits) this.#near[count++] = number;
    }
    this.#work += 4 + (to - from) * this.#width;
    if (count === to) return false;
    this.#depth = depth;
    this.#bytes[depth] = length;
    this.#words[depth + 1] = count;
    return true;
  }

  /** Gives a term to the words that it is near to as a whole. */
  #take(term: Uint8Array): void {
    const to = this.#words[this.#depth + 1] as number;
    let isDropped = false;
    for (let entry = this.#words[this.#depth] as number; entry < to; entry++) {
      const { word, leaf } = this.#sought[this.#near[entry] as number] as Sought;
      const { edits, points, fixed } = word;
      const place = points.length - this.#depth + edits;
      if (place < 0 || place > 2 * edits || this.#depth < fixed || word.isSpent) continue;
      if ((this.#distances[entry * this.#width + place] as number) > edits) continue;
      if (word.isPast(term, leaf.most) || !word.take(term, leaf.most)) continue;
      this.#work += 4 * leaf.words.length;
      if (leaf.grew()) isDropped = true;
    }
    if (isDropped) this.#begin();
  }

  /** The row after those whose terms begin with so many bytes of the last term. */
  #after(length: number): number {
    const { end } = this.#cells;
    let size = 1;
    while (this.#row + size < end && this.#begins(this.#row + size, length)) size *= 2;
    this.#work += 4 * (32 - Math.clz32(size));
    const last = Math.min(end, this.#row + size);
    return rowWhere(this.#row + (size >>> 1) + 1, last, (row) => !this.#begins(row, length));
  }

  /** Whether the term of a row begins with so many bytes of the last term. */
  #begins(row: number, length: number): boolean {
    const { bytes, offsets } = this.#cells;
    const start = Number(offsets[row]);
    if (Number(offsets[row + 1]) - start < length) return false;
    for (let at = 0; at < length; at++) {
      if (bytes[start + at] !== bytes[this.#last + at]) return false;
    }
    return true;
  }

  #fit(count: number): void {
    if (count < this.#near.length) return;
    const near = new Int32Array(2 * count);
    near.set(this.#near);
    this.#near = near;
    const distances = new Uint8Array(2 * count * this.#width);
    distances.set(this.#distances);
    this.#distances = distances;
  }
}

const cellOf = ({ bytes, offsets }: TermCells, row: number): Uint8Array =>
  bytes.subarray(Number(offsets[row]), Number(offsets[row + 1]));

/** The first row that something is true of, which is true of all after it; `end` if there is none. */
function rowWhere(first: number, end: number, is: (row: number) => boolean): number {
  let [low, high] = [first, end];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (is(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

function prefixOf(term: Uint8Array, characters: number): Uint8Array {
  let end = 0;
  for (let count = 0; count < characters && end < term.length; count++) {
    codePointAt(term, end, term.length);
    end += decodedBytes;
  }
  return term.subarray(0, end);
}
