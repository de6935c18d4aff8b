/**
 * `conditionOf` translates a bound condition into tests that an index can answer, each of one
 * column against constants, joined by AND and OR. Ranges of one column that are joined by AND are
 * one test. Any other part becomes `other`. The values of a test have the type of the column, or of
 * its items, and the order of `compareValues`. A test holds for every row for which its part of the
 * condition holds; if it is `exact`, it holds for no other row.
 */
import {
  type Bound,
  type BoundColumn,
  compareValues,
  familyOf,
  type Value,
} from './typed/index.ts';

/** One end of a range. */
export interface RangeEnd {
  readonly value: Value;
  /** Whether the value itself is outside. */
  readonly open: boolean;
}

/** What a column is tested for. None but `null` is true of a null. */
export type ColumnTest =
  | { readonly kind: 'among'; readonly values: readonly Value[] }
  | {
      readonly kind: 'range';
      readonly low: RangeEnd | undefined;
      readonly high: RangeEnd | undefined;
    }
  | { readonly kind: 'prefix'; readonly text: string }
  | { readonly kind: 'null' }
  /** Of a list: whether any, or every one, of the values is an item. */
  | { readonly kind: 'items'; readonly values: readonly Value[]; readonly all: boolean };

export type Condition =
  | { readonly kind: 'and' | 'or'; readonly args: readonly Condition[] }
  | {
      readonly kind: 'test';
      /** Real names, from the top-level column down. */
      readonly path: readonly string[];
      readonly test: ColumnTest;
      /** False where rows that pass the test may still not match. */
      readonly exact: boolean;
    }
  | { readonly kind: 'other' };

const OTHER: Condition = { kind: 'other' };

export function conditionOf(bound: Bound): Condition {
  switch (bound.kind) {
    case 'and':
      return allOf(bound.args.map(conditionOf));
    case 'or':
      return { kind: 'or', args: bound.args.map(conditionOf) };
    case 'column':
      return familyOf(bound.type) === 'bool' ? among(bound, [true]) : OTHER;
    case 'not':
      return familyOf(bound.arg.type) === 'bool' ? among(bound.arg, [false]) : OTHER;
    case 'is':
      return isCondition(bound);
    case 'compareConstant':
      return compared(bound);
    case 'range':
      return tested(bound.arg, {
        kind: 'range',
        low: { value: bound.low, open: false },
        high: { value: bound.high, open: false },
      });
    case 'in':
      return among(bound.arg, [...bound.values]);
    case 'like':
      return likeCondition(bound);
    case 'call':
      return itemsCondition(bound);
    default:
      return OTHER;
  }
}

type Test = Extract<Condition, { kind: 'test' }>;

/** Ranges of one column become one: of `x >= 1` and `x < 5` each alone names most rows. */
function allOf(args: readonly Condition[]): Condition {
  const joined: Condition[] = [];
  const ranges = new Map<string, number>();
  for (const arg of args) {
    if (arg.kind !== 'test' || arg.test.kind !== 'range') {
      joined.push(arg);
      continue;
    }
    const key = JSON.stringify(arg.path);
    const at = ranges.get(key);
    if (at === undefined) ranges.set(key, joined.push(arg) - 1);
    else joined[at] = both(joined[at] as Test, arg);
  }
  const [only] = joined;
  return joined.length === 1 && only !== undefined ? only : { kind: 'and', args: joined };
}

function both(one: Test, other: Test): Test {
  const [a, b] = [one.test as Range, other.test as Range];
  const low = narrower(a.low, b.low, 1);
  const high = narrower(a.high, b.high, -1);
  return { ...one, test: { kind: 'range', low, high }, exact: one.exact && other.exact };
}

type Range = Extract<ColumnTest, { kind: 'range' }>;

/** The end that leaves out more. @param direction 1 for low ends, -1 for high ones */
function narrower(
  one: RangeEnd | undefined,
  other: RangeEnd | undefined,
  direction: number,
): RangeEnd | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const order = compareValues(one.value, other.value) * direction;
  if (order === 0) return one.open ? one : other;
  return order > 0 ? one : other;
}

function tested(arg: Bound, test: ColumnTest, exact = true): Condition {
  if (arg.kind !== 'column') return OTHER;
  return { kind: 'test', path: (arg satisfies BoundColumn).names, test, exact };
}

const among = (arg: Bound, values: readonly Value[]): Condition =>
  tested(arg, { kind: 'among', values });

function isCondition({ arg, test, negated }: Extract<Bound, { kind: 'is' }>): Condition {
  if (negated) return OTHER;
  if (test === 'null') return tested(arg, { kind: 'null' });
  return familyOf(arg.type) === 'bool' ? among(arg, [test === 'true']) : OTHER;
}

function compared({ arg, op, value }: Extract<Bound, { kind: 'compareConstant' }>): Condition {
  switch (op) {
    case '=':
      return among(arg, [value]);
    case '<':
    case '<=':
      return tested(arg, { kind: 'range', low: undefined, high: { value, open: op === '<' } });
    case '>':
    case '>=':
      return tested(arg, { kind: 'range', low: { value, open: op === '>' }, high: undefined });
    default:
      return OTHER;
  }
}

function likeCondition(bound: Extract<Bound, { kind: 'like' }>): Condition {
  const { arg, pattern, insensitive, escape: escaping } = bound;
  if (insensitive || pattern.kind !== 'literal' || typeof pattern.value !== 'string') return OTHER;
  const text = pattern.value;
  const stop = text.search(/[%_]/);
  const prefix = stop < 0 ? text : text.slice(0, stop);
  if (prefix === '' || (escaping !== '' && prefix.includes(escaping))) return OTHER;
  if (stop < 0) return among(arg, [text]);
  return tested(arg, { kind: 'prefix', text: prefix }, text.slice(stop) === '%');
}

const ITEM_TESTS: readonly string[] = ['array_has', 'array_has_any', 'array_has_all'];

function itemsCondition({ run, args }: Extract<Bound, { kind: 'call' }>): Condition {
  const [list, wanted] = args;
  if (!ITEM_TESTS.includes(run.name) || list === undefined || wanted?.kind !== 'literal')
    return OTHER;
  const { value } = wanted;
  const values = run.name === 'array_has' ? [value] : value;
  // What nulls and the empty list are among is left to the function.
  if (!Array.isArray(values) || values.length === 0 || values.includes(null)) return OTHER;
  return tested(list, { kind: 'items', values, all: run.name === 'array_has_all' });
}
