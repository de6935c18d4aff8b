/**
 * Computes functions that reduce a list (`LIST_SUMMARIES`): the sum, the least and the greatest of
 * its items, its distinct items, and their texts joined; `listMean` creates that of the mean. Nulls
 * in a list are passed over. A list without other items gives null, or an empty list or text. A sum
 * beyond its type throws InvalidInput.
 */
import type { DataType, Decimal } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import type { BatchMemory } from '../../request-memory.ts';
import { digitsOf, meanOf } from '../../values/index.ts';
import {
  asSafeNumbers,
  type Column,
  compareValues,
  decimalScale,
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
  if (familyOf(type) === 'float') return floatSum(list);
  const sum = wholeSum(list);
  const isIn =
    familyOf(type) === 'decimal'
      ? digitsOf(sum) <= (type as Decimal).precision
      : BigInt.asIntN(64, sum) === sum;
  if (isIn) return sum;
  throw new DirspaceError('InvalidInput', 'The result of list_sum is out of range');
}

const floatSum = (list: readonly Value[]): number =>
  list.reduce<number>((sum, item) => sum + (item as number), 0);

const wholeSum = (list: readonly Value[]): bigint =>
  list.reduce<bigint>((sum, item) => sum + BigInt(item as number | bigint), 0n);

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

/**
 * Lists without nulls are summed up where they lie: those of floats, and those of integers and
 * decimals whose values and sums doubles hold exactly.
 * @param finish makes the result of a sum and the number of items
 */
function overNumbers(
  [list]: readonly Column[],
  length: number,
  type: DataType,
  finish: (sum: number, count: number) => number,
): Column | null {
  if (list?.form !== 'list') return null;
  const { starts, ends, child } = list;
  if ((child.form !== 'number' && child.form !== 'wide') || child.valid !== null) return null;
  const items = child.form === 'number' ? child.values : asSafeNumbers(child);
  if (items === null) return null;
  const isExact = familyOf(child.type) !== 'float';
  let greatest = 0;
  for (let at = 0; isExact && at < items.length; at++) {
    greatest = Math.max(greatest, Math.abs(items[at] as number));
  }
  const values = new Float64Array(length);
  const valid = new Uint8Array(length);
  for (let row = 0; row < length; row++) {
    const [from, to] = [starts[row] as number, ends[row] as number];
    if (list.valid?.[row] === 0 || from === to) continue;
    const sum = sumFrom(items, from, to);
    // A sum on the way may have been beyond 2^53, if the items may add up to that.
    if (isExact && !(greatest * (to - from) <= Number.MAX_SAFE_INTEGER)) return null;
    valid[row] = 1;
    values[row] = finish(sum, to - from);
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
  (args, { length, type }) => overNumbers(args, length, type, (sum) => sum),
);

/** list_avg. @param item type of the items: the sum of all but floats is exact */
export function listMean(item: DataType): RowFunction {
  const scale = familyOf(item) === 'decimal' ? 10 ** decimalScale(item) : 1;
  const mean = (sum: Value, count: number): number =>
    typeof sum === 'bigint' ? meanOf(sum, scale * count) : (sum as number) / count;
  const byValue = strict('list_avg', ([list]) => {
    const items = known(list);
    if (items.length === 0) return null;
    const isFloat = familyOf(item) === 'float';
    return mean(isFloat ? floatSum(items) : wholeSum(items), items.length);
  });
  return quicker(byValue, (args, { length, type }) =>
    overNumbers(args, length, type, (sum, count) => sum / (scale * count)),
  );
}

export const LIST_SUMMARIES: Readonly<Record<string, RowFunction>> = {
  list_sum: listSum,
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
