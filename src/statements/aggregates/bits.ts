/**
 * `Bits` computes bit_and, bit_or and bit_xor of the whole numbers of each group, of any width.
 * Each value is combined as 64 bits, in two words of 32 bits. Nulls are left out; a group without
 * values gives null.
 */
import type { DataType } from '../../arrow/index.ts';
import { type Column, validityOf } from '../../sql/index.ts';
import {
  type Accumulator,
  type Aggregate,
  columnFor,
  type GroupRange,
  groupsWhere,
} from './accumulator.ts';
import { wideWords } from './bounds.ts';

export class Bits implements Accumulator {
  readonly #name: string;
  readonly #type: DataType;
  /** Two words of each group, and whether it has a value. */
  #words = new Int32Array(128);
  #has = new Uint8Array(64);

  constructor({ name, type }: Aggregate) {
    this.#name = name;
    this.#type = type;
  }

  get bytes(): number {
    return this.#words.byteLength + this.#has.byteLength;
  }

  add(given: Int32Array, size: number, [column]: readonly [Column]): void {
    if (size > this.#has.length) this.#grow(size);
    const groups = groupsWhere(given, validityOf(column));
    const words = wideWords(column);
    const [own, has, name] = [this.#words, this.#has, this.#name];
    for (let row = 0; row < groups.length; row++) {
      const group = groups[row] as number;
      if (group < 0) continue;
      for (let half = 0; half < 2; half++) {
        const word = words[2 * row + half] as number;
        const at = 2 * group + half;
        if (has[group] === 0) own[at] = word;
        else if (name === 'bit_and') (own[at] as number) &= word;
        else if (name === 'bit_or') (own[at] as number) |= word;
        else (own[at] as number) ^= word;
      }
      has[group] = 1;
    }
  }

  #grow(size: number): void {
    const room = Math.max(size, 2 * this.#has.length);
    const [words, has] = [new Int32Array(2 * room), new Uint8Array(room)];
    words.set(this.#words);
    has.set(this.#has);
    this.#words = words;
    this.#has = has;
  }

  result(range: GroupRange): Column {
    const { bitWidth, isSigned } = this.#type as { bitWidth?: number; isSigned?: boolean };
    const isWide = bitWidth === 64;
    const wide = new BigInt64Array(this.#words.buffer);
    return columnFor(this.#type, range, (group) => {
      if ((this.#has[group] ?? 0) === 0) return null;
      const value = wide[group] as bigint;
      if (!isWide) return Number(value);
      return isSigned === false ? BigInt.asUintN(64, value) : value;
    });
  }
}
