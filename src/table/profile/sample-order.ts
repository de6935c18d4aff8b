/**
 * `SampleOrder`: orders the parts of a table, of about a batch each, so that the parts up to any
 * point are spread evenly over the table. A reader that stops early has seen such a sample, and one
 * that does not has seen all parts.
 */
import { type FragmentEntry, liveRows } from '../../format/index.ts';

/** Rows of a part: about a batch. */
const PART_ROWS = 65_536;

/** A part of a fragment: its batches from a share of them to another. */
export interface FragmentPart {
  readonly entry: FragmentEntry;
  /** Live rows of the version before the fragment. */
  readonly position: number;
  readonly part: number;
  readonly parts: number;
}

export class SampleOrder {
  readonly #entries: readonly FragmentEntry[];
  readonly #positions: Float64Array;
  /** The number of the fragment of each part. */
  readonly #fragments: Uint32Array;
  readonly #firsts: Uint32Array;
  readonly #start: number;
  readonly #stride: number;

  /** @param start where in the table it begins, from 0 up to 1 */
  constructor(entries: readonly FragmentEntry[], start: number) {
    this.#entries = entries;
    this.#positions = new Float64Array(entries.length);
    this.#firsts = new Uint32Array(entries.length + 1);
    let position = 0;
    for (const [at, entry] of entries.entries()) {
      this.#positions[at] = position;
      position += liveRows(entry);
      this.#firsts[at + 1] = (this.#firsts[at] as number) + partsOf(entry);
    }
    this.#fragments = new Uint32Array(this.#firsts[entries.length] as number);
    for (const at of entries.keys()) {
      this.#fragments.fill(at, this.#firsts[at], this.#firsts[at + 1]);
    }
    this.#start = Math.floor(start * this.length);
    this.#stride = strideOf(this.length);
  }

  get length(): number {
    return this.#fragments.length;
  }

  /** The part that has its turn after so many others. */
  at(turn: number): FragmentPart {
    // Products of two numbers below 2^26 are exact; a table has no more parts.
    const number = (this.#start + ((turn * this.#stride) % this.length)) % this.length;
    const at = this.#fragments[number] as number;
    const first = this.#firsts[at] as number;
    return {
      entry: this.#entries[at] as FragmentEntry,
      position: this.#positions[at] as number,
      part: number - first,
      parts: (this.#firsts[at + 1] as number) - first,
    };
  }
}

const partsOf = ({ rows }: FragmentEntry): number => Math.max(1, Math.ceil(rows / PART_ROWS));

/** Steps by the golden ratio leave the most even gaps, whenever they stop. */
function strideOf(length: number): number {
  let stride = Math.max(1, Math.round(length * 0.6180339887));
  while (commonDivisor(stride, length) > 1) stride += 1;
  return stride;
}

function commonDivisor(a: number, b: number): number {
  let [one, other] = [a, b];
  while (other > 0) [one, other] = [other, one % other];
  return one;
}
