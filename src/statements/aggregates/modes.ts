/**
 * `Modes` finds the most frequent value of each group. If several are equally frequent, it takes
 * the one that came first; a group without values gives null. It keeps the distinct values in
 * memory, and how often each occurs in a group, not the rows. `reserve` makes room for the values
 * of a batch in steps. It takes no rows after the first result.
 */

import type { DataType } from '../../arrow/index.ts';
import { plainType } from '../../arrow/index.ts';
import { type Column, validityOf } from '../../sql/index.ts';
import { inSlices } from '../../steps.ts';
import { ValueNumbers, WordTable } from '../keys/index.ts';
import {
  type Accumulator,
  type Aggregate,
  type GroupRange,
  groupsWhere,
  roomFor,
} from './accumulator.ts';

/** Pairs between two steps. */
const STEP_PAIRS = 1 << 16;

export class Modes implements Accumulator {
  readonly #type: DataType;
  readonly #values: ValueNumbers;
  /** Pairs of a group and the number of a value, in the order in which they came. */
  readonly #pairs = new WordTable();
  #counts = new Float64Array(64);
  /** The number of the value of each group; 0 where it has none. */
  #modes: Int32Array | undefined;
  #size = 0;

  constructor({ type, argument }: Aggregate) {
    this.#type = type;
    this.#values = new ValueNumbers(plainType(argument ?? type));
  }

  get bytes(): number {
    return this.#values.bytes + this.#pairs.bytes + this.#counts.byteLength + 12 * this.#size;
  }

  *reserve(rows: number): Generator<void, void> {
    yield* this.#values.reserve(rows);
    yield* this.#pairs.reserve(rows);
  }

  add(given: Int32Array, size: number, [column]: readonly [Column]): void {
    this.#size = size;
    const groups = groupsWhere(given, validityOf(column));
    const values = this.#values.add(column);
    const words = new Int32Array(2 * groups.length);
    let rows = 0;
    for (let row = 0; row < groups.length; row++) {
      if ((groups[row] as number) < 0 || values[row] === 0) continue;
      words[2 * rows] = groups[row] as number;
      words[2 * rows + 1] = values[row] as number;
      rows++;
    }
    const pairs = new Int32Array(rows);
    this.#pairs.numbers(words, pairs);
    this.#counts = roomFor(this.#counts, this.#pairs.size + 1);
    const counts = this.#counts;
    for (let row = 0; row < rows; row++) (counts[pairs[row] as number] as number)++;
  }

  *result({ from, to }: GroupRange): Generator<void, Column> {
    this.#modes ??= yield* this.#mostFrequent();
    const modes = new Int32Array(to - from);
    modes.set(this.#modes.subarray(from, to));
    return { ...this.#values.column(modes), type: this.#type };
  }

  *#mostFrequent(): Generator<void, Int32Array> {
    const { size, low, high } = this.#pairs;
    const modes = new Int32Array(this.#size);
    const most = new Float64Array(this.#size);
    const counts = this.#counts;
    yield* inSlices(size, STEP_PAIRS, (from, to) => {
      for (let pair = from; pair < to; pair++) {
        const group = low[pair] as number;
        const count = counts[pair + 1] as number;
        if (count <= (most[group] as number)) continue;
        most[group] = count;
        modes[group] = high[pair] as number;
      }
    });
    return modes;
  }
}
