/**
 * Computes the functions of lists (`LIST_FUNCTIONS`), such as array_has, array_length and
 * list_sort, and comparisons with ANY and ALL (`quantified`). A null list gives null. A null item
 * equals nothing, but array_position finds one, and sorting puts it last. A null item makes the
 * result of ANY and ALL unknown, unless another item decides it. An element outside of a list is
 * null.
 */
import type { BatchMemory } from '../../request-memory.ts';
import { compareWithConstant, isAmong } from '../evaluate/index.ts';
import type { CompareOperator } from '../parse/index.ts';
import {
  type Column,
  columnOf,
  compareValues,
  constantColumn,
  exactText,
  FALSE,
  holds,
  type ListColumn,
  MIRRORED,
  maskNulls,
  type RowFunction,
  reader,
  TRUE,
  truthColumn,
  UNKNOWN,
  type Value,
} from '../typed/index.ts';
import { boundedReader, quicker, strict, strictInSteps } from './rows.ts';
import { sliceOf } from './text-parts.ts';

const items = (value: Value): readonly Value[] => value as readonly Value[];

function has(list: readonly Value[], wanted: Value): boolean {
  return wanted !== null && list.some((item) => item !== null && compareValues(item, wanted) === 0);
}

/** array_has: against one constant the members are compared all at once. */
const arrayHas: RowFunction = {
  name: 'array_has',
  fallible: false,
  evaluate([list, wanted]: readonly Column[], length): Column {
    const out = new Uint8Array(length);
    if (list === undefined || wanted === undefined) return truthColumn(out);
    if (list.form === 'list' && wanted.form === 'constant' && wanted.value !== null) {
      markHits(out, list, compareWithConstant('=', list.child, wanted.value));
      return truthColumn(maskNulls(out, list.valid));
    }
    const [readList, readWanted] = [reader(list), reader(wanted)];
    for (let i = 0; i < length; i++) {
      const [found, value] = [readList(i) ?? null, readWanted(i) ?? null];
      out[i] = found === null || value === null ? UNKNOWN : has(items(found), value) ? TRUE : FALSE;
    }
    return truthColumn(out);
  },
};

/**
 * `x op ANY (list)` and `x op ALL (list)`, as OR and AND of the comparisons: unknown beats false in
 * ANY and true in ALL. Of an empty list ANY is false and ALL is true, whatever x is.
 */
export function quantified(op: CompareOperator, all: boolean): RowFunction {
  const [empty, decided] = all ? [TRUE, FALSE] : [FALSE, TRUE];
  return {
    name: `${op} ${all ? 'ALL' : 'ANY'}`,
    fallible: false,
    evaluate([wanted, list]: readonly Column[], length): Column {
      const out = new Uint8Array(length).fill(empty);
      if (list === undefined || wanted === undefined) return truthColumn(out);
      if (list.form === 'list' && wanted.form === 'constant' && wanted.value !== null) {
        const found = compareWithConstant(MIRRORED[op], list.child, wanted.value);
        for (let i = 0; i < length; i++) {
          const end = list.ends[i] as number;
          for (let k = list.starts[i] as number; k < end && out[i] !== decided; k++) {
            const one = found[k] as number;
            if (one === decided || one === UNKNOWN) out[i] = one;
          }
        }
        return truthColumn(maskNulls(out, list.valid));
      }
      const [readList, readWanted] = [reader(list), reader(wanted)];
      for (let i = 0; i < length; i++) {
        const [found, value] = [readList(i) ?? null, readWanted(i) ?? null];
        if (found === null) out[i] = UNKNOWN;
        else
          for (const item of items(found)) {
            const known = item !== null && value !== null;
            const one = !known ? UNKNOWN : holds(op, compareValues(value, item)) ? TRUE : FALSE;
            if (one === decided || one === UNKNOWN) out[i] = one;
            if (one === decided) break;
          }
      }
      return truthColumn(out);
    },
  };
}

/** Comparing so many pairs takes less than making a set. */
const FEW_PAIRS = 64;
/** Bytes of an item in a set. */
const SET_ITEM = 40;

/** Whether a value is in a list, for so many values: long lists become a set, of keys where need be. */
function membership(
  list: readonly Value[],
  asked: number,
  memory: BatchMemory,
): (value: Value) => boolean {
  if (list.length * asked <= FEW_PAIRS) return (value) => has(list, value);
  memory.take(SET_ITEM * list.length);
  const keys = new Set<Value>();
  for (const item of list) if (item !== null) keys.add(keyOf(item));
  return (value) => value !== null && keys.has(keyOf(value));
}

/** Equal for values that compare as equal, which have one type: a set takes 0 for -0 and NaN for NaN. */
function keyOf(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value;
  return exactText(value);
}

/** Told by where lists begin and end: their items are not looked at. */
const arrayLength: RowFunction = quicker(
  strict('array_length', ([list]) => BigInt(items(list).length)),
  ([list], { length, type }) => {
    if (list?.form !== 'list') return null;
    const { starts, ends, valid } = list;
    const values = new Float64Array(length);
    for (let i = 0; i < length; i++) values[i] = (ends[i] as number) - (starts[i] as number);
    return { form: 'number', type, length, values, valid };
  },
);

/** A null is found where the list has one: it is the one function here that looks for nulls. */
const arrayPosition: RowFunction = {
  name: 'array_position',
  fallible: false,
  evaluate([list, wanted]: readonly Column[], length, type, memory): Column {
    if (list === undefined || wanted === undefined) return constantColumn(type, null, length);
    const [readList, readWanted] = [boundedReader(list, memory), reader(wanted)];
    const values: Value[] = new Array(length);
    for (let i = 0; i < length; i++) {
      const [found, value] = [readList(i) ?? null, readWanted(i) ?? null];
      values[i] = found === null ? null : placeIn(items(found), value);
    }
    return columnOf(type, values);
  },
};

function placeIn(list: readonly Value[], wanted: Value): bigint | null {
  const at = list.findIndex((item) =>
    item === null || wanted === null ? item === wanted : compareValues(item, wanted) === 0,
  );
  return at < 0 ? null : BigInt(at + 1);
}

/** More values than these are looked up at once, where that can be; each takes a pass over all items. */
const FEW_VALUES = 8;

/** array_has_any and array_has_all: constants are compared with the items of all lists at once. */
const arrayHasEach = (name: string, all: boolean): RowFunction =>
  quicker(
    strict(name, ([list, wanted], _type, memory) => {
      const among = membership(items(list), items(wanted).length, memory);
      return all ? items(wanted).every(among) : items(wanted).some(among);
    }),
    ([list, wanted], { length, memory }) => {
      if (list?.form !== 'list' || wanted?.form !== 'constant' || wanted.value === null)
        return null;
      const values = items(wanted.value);
      const known = distinct(values);
      const lacks = all && values.includes(null);
      const isMany = known.length > FEW_VALUES;
      if (isMany && (all || !known.every(isPlain))) return null;
      memory.take(list.child.length);
      const out = new Uint8Array(length).fill(all && !lacks ? TRUE : FALSE);
      if (isMany) markHits(out, list, isAmong(list.child, new Set(known), false));
      else
        for (const value of lacks ? [] : known) {
          const hits = compareWithConstant('=', list.child, value);
          if (all) keepHits(out, list, hits);
          else markHits(out, list, hits);
        }
      return truthColumn(maskNulls(out, list.valid));
    },
  );

const isPlain = (value: Value): boolean => typeof value !== 'object';

/** The values that are not null, each once. */
function distinct(values: readonly Value[]): Value[] {
  const byKey = new Map<Value, Value>();
  for (const value of values) if (value !== null) byKey.set(keyOf(value), value);
  return [...byKey.values()];
}

/** Makes a row true that has one of the hits. */
function markHits(out: Uint8Array, { starts, ends }: ListColumn, hits: Uint8Array): void {
  for (let row = 0; row < out.length; row++) {
    const end = ends[row] as number;
    for (let k = starts[row] as number; k < end && out[row] !== TRUE; k++)
      if (hits[k] === TRUE) out[row] = TRUE;
  }
}

/** Makes a row false that has none of the hits. */
function keepHits(out: Uint8Array, { starts, ends }: ListColumn, hits: Uint8Array): void {
  for (let row = 0; row < out.length; row++) {
    const end = ends[row] as number;
    let at = starts[row] as number;
    while (at < end && hits[at] !== TRUE) at++;
    if (at === end) out[row] = FALSE;
  }
}

/** Items that are put in order between two steps. */
const STEP_ITEMS = 4096;

/** A copy in order, nulls last: parts are sorted, and then merged two by two. */
const sorted = (name: string, direction: number): RowFunction =>
  strictInSteps(name, function* ([list], _type, memory): Generator<void, Value> {
    const known = items(list).filter((item) => item !== null);
    const nulls = new Array<null>(items(list).length - known.length).fill(null);
    memory.take(SORTED_ITEM * known.length);
    let parts: Value[][] = [];
    for (let from = 0; from < known.length; from += STEP_ITEMS) {
      const part = known.slice(from, from + STEP_ITEMS);
      parts.push(part.sort((a, b) => direction * compareValues(a, b)));
      yield;
    }
    while (parts.length > 1) {
      const merged: Value[][] = [];
      for (let at = 0; at < parts.length; at += 2) {
        merged.push(yield* mergedParts(parts[at] as Value[], parts[at + 1] ?? [], direction));
      }
      parts = merged;
    }
    return [...(parts[0] ?? []), ...nulls];
  });

/** Bytes of an item in the two copies of a merge. */
const SORTED_ITEM = 16;

function* mergedParts(
  left: readonly Value[],
  right: readonly Value[],
  direction: number,
): Generator<void, Value[]> {
  const out: Value[] = [];
  let [a, b] = [0, 0];
  while (a < left.length || b < right.length) {
    const isLeft =
      b >= right.length || (a < left.length && direction * compareValues(left[a], right[b]) <= 0);
    out.push(isLeft ? left[a++] : right[b++]);
    if (out.length % STEP_ITEMS === 0) yield;
  }
  return out;
}

export const LIST_FUNCTIONS: Readonly<Record<string, RowFunction>> = {
  list_sort: { ...sorted('list_sort', 1), takesAnyTime: true },
  list_reverse_sort: { ...sorted('list_reverse_sort', -1), takesAnyTime: true },
  list_reverse: strict('list_reverse', ([list]) => items(list).toReversed()),
  array_has: arrayHas,
  array_has_any: arrayHasEach('array_has_any', false),
  array_has_all: arrayHasEach('array_has_all', true),
  array_length: arrayLength,
  array_position: arrayPosition,
  array_slice: strict('array_slice', ([list, first, last]) =>
    items(list).slice(...sliceOf(items(list).length, first as Value, last as Value)),
  ),
  /** From 1; a negative index counts from the end; outside there is null. */
  array_element: strict('array_element', ([list, index]) => {
    const at = Number(index);
    return at === 0 ? null : (items(list).at(at > 0 ? at - 1 : at) ?? null);
  }),
};
