/**
 * `itemsOf` makes a reader of the items that rows of FROM are expanded to: those of a list, or the
 * values of a series of numbers or times. `begin` goes to the items of a row, `take` writes the
 * next of them and returns 0 at their end, and `column` gives what was written. Numbers are
 * written, and items copied, many at once. A series of more than 10,000,000 values, or with a step
 * of 0, throws InvalidInput.
 */
import { concatData, type Data, gatherData, nullColumn } from '../../arrow/index.ts';
import type { BatchMemory } from '../../request-memory.ts';
import {
  type Column,
  columnOf,
  moveInstant,
  reader,
  refuse,
  toVector,
  type Value,
} from '../../sql/index.ts';
import type { IntervalValue } from '../../values/index.ts';
import type { ExpandStep } from '../steps/index.ts';
import { BATCH_ROWS, valueBytes } from './relation.ts';

const MOST_OF_SERIES = 10_000_000;

/** The items of one row after the other, for a batch that is filled from its first place on. */
export interface Items {
  /** Goes to the items of a row. */
  begin(row: number): void;
  /**
   * Writes the next items of the row from place `into` on, and returns how many: 0 at the end of the
   * row, `most` at most, and fewer where they have more than so many bytes.
   */
  take(into: number, most: number, bytes: number): number;
  /** Bytes of the items that were taken last. */
  readonly bytes: number;
  /** Writes a null. */
  none(into: number): void;
  /** The items of the first places. */
  column(length: number): Data;
}

export function itemsOf(plan: ExpandStep, columns: readonly Column[], memory: BatchMemory): Items {
  if (plan.of === 'list') return new ListItems(columns[0] as Column, plan, memory);
  return plan.of === 'numbers'
    ? new NumberItems(columns, plan, memory)
    : new TimeItems(columns, plan, memory);
}

class ListItems implements Items {
  readonly #lists: Lists;
  readonly #child: Data;
  /** The place of the null that follows the items. */
  readonly #null: number;
  readonly #places = new Uint32Array(BATCH_ROWS);
  readonly #bytesOf: (at: number) => number;
  #at = 0;
  #end = 0;
  bytes = 0;

  constructor(column: Column, { schema, item, keepsRows }: ExpandStep, memory: BatchMemory) {
    const type = schema.fields.find(({ name }) => name === item)?.type as Column['type'];
    this.#lists = listsOf(column, type);
    const child = toVector(this.#lists.child, type, memory).data[0] as Data;
    this.#null = child.length;
    this.#bytesOf = valueBytes(child);
    this.#child = keepsRows ? concatData([child, nullColumn(child.type, 1)]) : child;
  }

  begin(row: number): void {
    const { starts, ends, valid } = this.#lists;
    const isNull = valid !== null && valid[row] === 0;
    this.#at = isNull ? 0 : (starts[row] as number);
    this.#end = isNull ? 0 : (ends[row] as number);
  }

  take(into: number, most: number, bytes: number): number {
    const from = this.#at;
    let end = Math.min(this.#end, from + most);
    this.bytes = 0;
    for (let at = from; at < end; at++) {
      this.#places[into + at - from] = at;
      this.bytes += this.#bytesOf(at);
      if (this.bytes >= bytes) end = at + 1;
    }
    this.#at = Math.max(from, end);
    return this.#at - from;
  }

  none(into: number): void {
    this.#places[into] = this.#null;
  }

  column(length: number): Data {
    return gatherData(this.#child, this.#places.slice(0, length));
  }
}

interface Lists {
  readonly starts: ArrayLike<number>;
  readonly ends: ArrayLike<number>;
  readonly valid: Uint8Array | null;
  readonly child: Column;
}

/** @param type of the items */
function listsOf(column: Column, type: Column['type']): Lists {
  if (column.form === 'list') return column;
  const read = reader(column);
  const isConstant = column.form === 'constant';
  const items: Value[] = [];
  const [starts, ends] = [new Int32Array(column.length), new Int32Array(column.length)];
  for (let row = 0; row < column.length; row++) {
    if (!isConstant || row === 0) {
      starts[row] = items.length;
      for (const item of (read(row) as readonly Value[] | null) ?? []) items.push(item);
    }
    ends[row] = items.length;
  }
  return { starts, ends, valid: null, child: columnOf(type, items) };
}

/** Values of 64 bits, some of them null. */
abstract class WideItems implements Items {
  readonly bytes = 0;
  protected readonly values: BigInt64Array<ArrayBuffer> = new BigInt64Array(BATCH_ROWS);
  readonly #type: Column['type'];
  readonly #memory: BatchMemory;
  readonly #nulls: number[] = [];

  constructor({ schema, item }: ExpandStep, memory: BatchMemory) {
    this.#type = schema.fields.find(({ name }) => name === item)?.type as Column['type'];
    this.#memory = memory;
  }

  abstract begin(row: number): void;
  abstract take(into: number, most: number): number;

  none(into: number): void {
    this.values[into] = 0n;
    this.#nulls.push(into);
  }

  column(length: number): Data {
    let valid: Uint8Array | null = null;
    if (this.#nulls.length > 0) {
      valid = new Uint8Array(length).fill(1);
      for (const at of this.#nulls) valid[at] = 0;
      this.#nulls.length = 0;
    }
    const [type, values] = [this.#type, this.values.slice(0, length)];
    const column: Column = { form: 'wide', type, length, values, valid };
    return toVector(column, type, this.#memory).data[0] as Data;
  }
}

class NumberItems extends WideItems {
  readonly #plan: ExpandStep;
  readonly #read: ((row: number) => Value)[];
  readonly #words: Int32Array;
  #next = 0n;
  #step = 0n;
  #left = 0;
  /** Whether doubles hold each value of the row. */
  #isSafe = false;

  constructor(columns: readonly Column[], plan: ExpandStep, memory: BatchMemory) {
    super(plan, memory);
    this.#plan = plan;
    this.#read = columns.map(reader);
    this.#words = new Int32Array(this.values.buffer);
  }

  begin(row: number): void {
    this.#left = 0;
    const [from, to, by] = this.#read.map((read) => (read(row) ?? null) as bigint | null);
    if (from == null || to == null || by == null) return;
    const { at, isWithEnd } = this.#plan;
    if (by === 0n) refuse(at, 'The step of a series is 0, so that it would never end');
    const last = isWithEnd ? to : by > 0n ? to - 1n : to + 1n;
    if (by > 0n ? from > last : from < last) return;
    const count = (last - from) / by + 1n;
    if (count > MOST_OF_SERIES) refuseLong(count, at);
    [this.#next, this.#step, this.#left] = [from, by, Number(count)];
    this.#isSafe = [from, last, by].every((value) => Number.isSafeInteger(Number(value)));
  }

  take(into: number, most: number): number {
    const count = Math.min(most, this.#left);
    if (this.#isSafe) this.#write(into, count);
    else
      for (let k = 0; k < count; k++) this.values[into + k] = this.#next + BigInt(k) * this.#step;
    this.#next += BigInt(count) * this.#step;
    this.#left -= count;
    return count;
  }

  /** Both halves of each value: a bigint for each would take ten times as long. */
  #write(into: number, count: number): void {
    const words = this.#words;
    const [first, step] = [Number(this.#next), Number(this.#step)];
    for (let k = 0, at = 2 * into; k < count; k++, at += 2) {
      const value = first + k * step;
      words[at] = value;
      words[at + 1] = Math.floor(value / 4_294_967_296);
    }
  }
}

class TimeItems extends WideItems {
  readonly #plan: ExpandStep;
  readonly #read: ((row: number) => Value)[];
  readonly #type: Column['type'];
  #series: Iterator<bigint> = [].values();

  constructor(columns: readonly Column[], plan: ExpandStep, memory: BatchMemory) {
    super(plan, memory);
    this.#plan = plan;
    this.#read = columns.map(reader);
    this.#type = columns[0]?.type as Column['type'];
  }

  begin(row: number): void {
    const [from, to, by] = this.#read.map((read) => read(row) ?? null);
    this.#series =
      from == null || to == null || by == null
        ? [].values()
        : this.#times(from as bigint, to as bigint, by as IntervalValue);
  }

  take(into: number, most: number): number {
    let count = 0;
    for (; count < most; count++) {
      const { value, done } = this.#series.next();
      if (done === true) break;
      this.values[into + count] = value;
    }
    return count;
  }

  *#times(from: bigint, to: bigint, by: IntervalValue): Generator<bigint> {
    const { at, isWithEnd } = this.#plan;
    const first = moveInstant(from, by, this.#type);
    if (first === from) refuse(at, 'The step of a series is 0, so that it would never end');
    const isUp = first > from;
    let count = 0;
    for (let value = from; isUp ? value <= to : value >= to; ) {
      if (value === to && !isWithEnd) return;
      if (++count > MOST_OF_SERIES) refuseLong(undefined, at);
      yield value;
      const next = moveInstant(value, by, this.#type);
      // Parts of an interval may go both ways.
      if (isUp ? next <= value : next >= value) return;
      value = next;
    }
  }
}

function refuseLong(count: bigint | undefined, at: number | undefined): never {
  const found = count === undefined ? '' : `, and this one would have ${count}`;
  return refuse(at, `A series has ${MOST_OF_SERIES} values at most${found}`);
}
