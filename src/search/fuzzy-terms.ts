/**
 * Terms near to a word: `nearTerms` collects those within so many edits (one character inserted,
 * left out or changed), the first ones in the order of their bytes where there are too many.
 */
import { codePointAt, decodedBytes } from './characters.ts';

/** A word that stands for the terms near to it. */
export interface FuzzyWord {
  readonly term: Uint8Array;
  readonly edits: number;
  /** Characters at the start that have to be the same. */
  readonly prefixLength: number;
  /** Of all words of the leaf together, the first words first. */
  readonly maxExpansions: number;
}

/** The edits that LanceDB allows a word of so many characters by itself. */
export const autoFuzziness = (characters: number): number =>
  characters <= 2 ? 0 : characters <= 5 ? 1 : 2;

export function charactersOf(term: Uint8Array): Uint32Array {
  const points = new Uint32Array(term.length);
  let count = 0;
  for (let at = 0; at < term.length; at += decodedBytes) {
    points[count++] = codePointAt(term, at, term.length);
  }
  return points.subarray(0, count);
}

/** The terms near to one word, of those that it was offered. */
export class NearTerms {
  readonly #word: FuzzyWord;
  readonly #points: Uint32Array;
  /** Bytes of the characters that have to be the same. */
  readonly #prefix: Uint8Array;
  readonly #rows: [Uint16Array, Uint16Array];
  /** In the order of their bytes. */
  readonly terms: Uint8Array[] = [];

  constructor(word: FuzzyWord) {
    this.#word = word;
    this.#points = charactersOf(word.term);
    this.#prefix = prefixOf(word.term, word.prefixLength);
    const columns = this.#points.length + 1;
    this.#rows = [new Uint16Array(columns), new Uint16Array(columns)];
  }

  /** How many terms all words of its leaf may have together. */
  get most(): number {
    return this.#word.maxExpansions;
  }

  /** What every near term begins with. */
  get prefix(): Uint8Array {
    return this.#prefix;
  }

  /** Takes a term if it is near; its bytes are copied. A term may be offered again. */
  offer(term: Uint8Array): void {
    const { maxExpansions } = this.#word;
    if (maxExpansions === 0) return;
    const last = this.terms.at(-1);
    const full = this.terms.length >= maxExpansions;
    if (full && last !== undefined && Buffer.compare(last, term) <= 0) return;
    if (!this.isNear(term)) return;
    let low = 0;
    let high = this.terms.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const order = Buffer.compare(this.terms[middle] as Uint8Array, term);
      if (order === 0) return;
      if (order < 0) low = middle + 1;
      else high = middle;
    }
    this.terms.splice(low, 0, term.slice());
    if (this.terms.length > maxExpansions) this.terms.pop();
  }

  isNear(term: Uint8Array): boolean {
    const { edits } = this.#word;
    const wanted = this.#points;
    if (term.length < this.#prefix.length) return false;
    for (let at = 0; at < this.#prefix.length; at++) {
      if (term[at] !== this.#prefix[at]) return false;
    }
    // A character takes up to 4 bytes.
    if (term.length > 4 * (wanted.length + edits)) return false;
    let [last, current] = this.#rows;
    for (let column = 0; column <= wanted.length; column++) last[column] = column;
    let row = 0;
    for (let at = 0; at < term.length; at += decodedBytes) {
      const point = codePointAt(term, at, term.length);
      row += 1;
      let least = row;
      current[0] = row;
      for (let column = 1; column <= wanted.length; column++) {
        const changed = (last[column - 1] as number) + (wanted[column - 1] === point ? 0 : 1);
        const steps = Math.min(
          changed,
          (last[column] as number) + 1,
          (current[column - 1] as number) + 1,
        );
        current[column] = steps;
        if (steps < least) least = steps;
      }
      if (least > edits) return false;
      [last, current] = [current, last];
    }
    return (last[wanted.length] as number) <= edits;
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
