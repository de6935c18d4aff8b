/**
 * Computes functions that reduce a list (`LIST_SUMMARIES`): the sum, the mean, the least and the
 * greatest of its items, its distinct items, and their texts joined. Nulls in a list are passed
 * over. A list without other items gives null, or an empty list or text. A sum beyond its type
 * throws InvalidInput.
 */
import type { DataType, Decimal } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import type { BatchMemory } from '../../request-memory.ts';
import {
  asSafeNumbers,
  type Column,
  compareValues,
  exactText,
  familyOf,
  type NumberArray,
  type RowFunction,
  type Value,
} from '../typed/index.ts';
import { quicker, strict } from './rows.ts';

const known = (list: Value): readonly Value[] =>
  (list as readonly Value[]).filter((item) => item !== null && item !== undefined);

function sumOf(list: readonly Value[], type: DataType): Value {
  if (list.length === 0) return null;
  if (familyOf(type) === 'float') {
    return list.reduce<number>((sum, item) => sum + (item as number), 0);
  }
  const sum = list.reduce<bigint>((total, item) => total + BigInt(item as number | bigint), 0n);
  const isIn =
    familyOf(type) === 'decimal'
      ? digitsOf(sum) <= (type as Decimal).precision
      : BigInt.asIntN(64, sum) === sum;
  if (isIn) return sum;
  throw new DirspaceError('InvalidInput', 'The result of list_sum is out of range');
}

const digitsOf = (value: bigint): number => String(value < 0n ? -value : value).length;

function extreme(list: readonly Value[], direction: number): Value {
  let best: Value = null;
  for (const item of list) {
    if (best === null || direction * compareValues(item, best) > 0) best = item;
  }
  return best;
}

/** The first of values that are equal. */
function distinctOf(list: readonly Value[], memory: BatchMemory): Value[] {
  memory.take(DISTINCT_ITEM * list.length);
  const seen = new Map<Value, Value>();
  for (const item of list) {
    const key = typeof item === 'object' ? exactText(item) : item;
    if (!seen.has(key)) seen.set(key, item);
  }
  return [...seen.values()];
}

const DISTINCT_ITEM = 40;

/** Lists without nulls of floats, or of integers within 2^53, are reduced where they lie. */
function overNumbers(
  [list]: readonly Column[],
  length: number,
  type: DataType,
  reduce: (values: NumberArray, from: number, to: number) => number,
): Column | null {
  if (list?.form !== 'list') return null;
  const { starts, ends, child } = list;
  if ((child.form !== 'number' && child.form !== 'wide') || child.valid !== null) return null;
  if (familyOf(child.type) === 'decimal') return null;
  const items = child.form === 'number' ? child.values : asSafeNumbers(child);
  if (items === null) return null;
  const values = new Float64Array(length);
  const valid = new Uint8Array(length);
  for (let row = 0; row < length; row++) {
    const [from, to] = [starts[row] as number, ends[row] as number];
    if (list.valid?.[row] === 0 || from === to) continue;
    valid[row] = 1;
    values[row] = reduce(items, from, to);
    // A sum of integers is exact while it is below 2^53.
    if (familyOf(type) === 'int' && !Number.isSafeInteger(values[row])) return null;
  }
  return { form: 'number', type, length, values, valid };
}

function sumFrom(values: NumberArray, from: number, to: number): number {
  let sum = 0;
  for (let at = from; at < to; at++) sum += values[at] as number;
  return sum;
}

const listSum: RowFunction = quicker(
  strict('list_sum', ([list], type) => sumOf(known(list), type), { fallible: true }),
  (args, { length, type }) => overNumbers(args, length, type, sumFrom),
);

const listAverage: RowFunction = quicker(
  strict('list_avg', ([list]) => {
    const items = known(list);
    return items.length === 0
      ? null
      : items.reduce<number>((sum, item) => sum + (item as number), 0) / items.length;
  }),
  (args, { length, type }) =>
    overNumbers(args, length, type, (values, from, to) => sumFrom(values, from, to) / (to - from)),
);

export const LIST_SUMMARIES: Readonly<Record<string, RowFunction>> = {
  list_sum: listSum,
  list_avg: listAverage,
  list_min: strict('list_min', ([list]) => extreme(known(list), -1)),
  list_max: strict('list_max', ([list]) => extreme(known(list), 1)),
  list_distinct: strict('list_distinct', ([list], _type, memory) =>
    distinctOf(known(list), memory),
  ),
  array_to_string: strict('array_to_string', ([list, between], _type, memory) => {
    const texts = known(list) as readonly string[];
    const joints = Math.max(0, texts.length - 1) * (between as string).length;
    memory.text(texts.reduce((sum, text) => sum + text.length, joints));
    return texts.join(between as string);
  }),
};
