/**
 * `SampleOrder` orders the parts of a table, of about one batch each, so that a reader may stop at
 * any time. The parts before any point in the order are spread evenly over the table, so a reader
 * that stops early has seen an even sample. A reader that continues sees each part once.
 */
import { type FragmentEntry, liveRows } from '../../format/index.ts';

/** Rows of a part: about a batch. */
const PART_ROWS = 65_536;

/** More parts than any table has. */
const TURNS = 2 ** 26;

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
  readonly #order: Uint32Array;

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
    this.#order = goldenOrder(this.length);
  }

  get length(): number {
    return this.#fragments.length;
  }

  /** The part that has its turn after so many others. */
  at(turn: number): FragmentPart {
    const number = (this.#start + (this.#order[turn] as number)) % this.length;
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

/**
 * Gives each turn its part. Multiples of the golden ratio, without their whole part, leave the most
 * even gaps wherever they stop; the parts are in the order of these.
 */
function goldenOrder(length: number): Uint32Array {
  // The turn lies below 2^26, where a table has no more parts, and the multiple above it.
  const turns = new Float64Array(length);
  for (let turn = 0; turn < length; turn += 1) {
    turns[turn] = Math.floor(((turn * 0.6180339887498949) % 1) * TURNS) * TURNS + turn;
  }
  const parts = new Uint32Array(length);
  for (const [part, turn] of turns.sort().entries()) parts[turn % TURNS] = part;
  return parts;
}
