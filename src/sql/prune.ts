/**
 * `prune` decides from column statistics (`ColumnStatistics`) whether none, some or all rows of a
 * chunk match a condition. A row for which the condition is null does not match. It answers "some"
 * if it is not certain.
 */

import type { CompareOperator } from './parse/index.ts';
import {
  type Bound,
  type BoundColumn,
  compareValues,
  decimalScale,
  familyOf,
  holds,
  type Value,
} from './typed/index.ts';

export type StatisticValue = number | bigint | string | boolean;

/**
 * What is known of one column in one chunk. Least and greatest value as Arrow stores them: numbers
 * and bigints alike, days or ticks of the column's own unit, decimals without their scale; text
 * bounds may be cut short as long as they stay bounds.
 */
export interface ColumnStatistics {
  readonly rows: number;
  readonly nulls: number;
  /** At most every value that is neither null nor NaN; absent where not known. */
  readonly min?: StatisticValue | undefined;
  readonly max?: StatisticValue | undefined;
  /** Absent means "there may be". */
  readonly hasNaN?: boolean | undefined;
  /** True where min and max occur themselves. Only text bounds are ever not. */
  readonly exact?: boolean | undefined;
}

/** Statistics of a column by its path, or null where there are none. */
export type StatisticsLookup = (path: readonly string[]) => ColumnStatistics | null | undefined;

export type Pruned = 'none' | 'some' | 'all';

/** What truth values rows of the chunk may have. */
interface Possible {
  readonly true: boolean;
  readonly false: boolean;
  readonly unknown: boolean;
}

const ANYTHING: Possible = { true: true, false: true, unknown: true };

/** 'none': no row is true. 'all': every row is. */
export function prune(bound: Bound, lookup: StatisticsLookup): Pruned {
  const possible = possibilities(bound, lookup);
  if (!possible.true) return 'none';
  return possible.false || possible.unknown ? 'some' : 'all';
}

function possibilities(bound: Bound, lookup: StatisticsLookup): Possible {
  switch (bound.kind) {
    case 'literal':
      return {
        true: bound.value === true,
        false: bound.value === false,
        unknown: bound.value === null,
      };
    case 'and':
    case 'or':
      return combine(
        bound.kind,
        bound.args.map((arg) => possibilities(arg, lookup)),
      );
    case 'not': {
      const inner = possibilities(bound.arg, lookup);
      return { true: inner.false, false: inner.true, unknown: inner.unknown };
    }
    case 'column': {
      if (familyOf(bound.type) !== 'bool') return ANYTHING;
      return compared('=', bound, true, lookup);
    }
    case 'is':
      return isPossible(bound, lookup);
    case 'known': {
      const found = statisticsOf(bound.arg, lookup);
      const { present, missing } = presence(found);
      return { true: present && bound.value, false: present && !bound.value, unknown: missing };
    }
    case 'compareConstant':
      return compared(bound.op, bound.arg, bound.value, lookup);
    case 'range':
      return combine('and', [
        compared('>=', bound.arg, bound.low, lookup),
        compared('<=', bound.arg, bound.high, lookup),
      ]);
    case 'in':
      return among(bound, lookup);
    case 'like':
      return likePrefix(bound, lookup);
    default:
      return ANYTHING;
  }
}

/** Each operand is taken as independent of the others, which can only add possibilities. */
function combine(kind: 'and' | 'or', parts: readonly Possible[]): Possible {
  const all = (test: (part: Possible) => boolean): boolean => parts.every(test);
  const any = (test: (part: Possible) => boolean): boolean => parts.some(test);
  if (kind === 'and') {
    return {
      true: all((part) => part.true),
      false: any((part) => part.false),
      unknown: any((part) => part.unknown) && all((part) => part.true || part.unknown),
    };
  }
  return {
    true: any((part) => part.true),
    false: all((part) => part.false),
    unknown: any((part) => part.unknown) && all((part) => part.false || part.unknown),
  };
}

function statisticsOf(arg: Bound, lookup: StatisticsLookup): ColumnStatistics | null {
  if (arg.kind !== 'column') return null;
  return lookup(arg.names) ?? null;
}

function presence(found: ColumnStatistics | null): { present: boolean; missing: boolean } {
  if (found === null) return { present: true, missing: true };
  return { present: found.nulls < found.rows, missing: found.nulls > 0 };
}

function isPossible(bound: Extract<Bound, { kind: 'is' }>, lookup: StatisticsLookup): Possible {
  let yes: boolean;
  let no: boolean;
  if (bound.test === 'null') {
    const found = statisticsOf(bound.arg, lookup);
    if (found === null && bound.arg.type !== undefined && familyOf(bound.arg.type) === 'bool') {
      const inner = possibilities(bound.arg, lookup);
      yes = inner.unknown;
      no = inner.true || inner.false;
    } else {
      const { present, missing } = presence(found);
      yes = missing;
      no = present;
    }
  } else {
    const inner = possibilities(bound.arg, lookup);
    yes = bound.test === 'true' ? inner.true : inner.false;
    no = inner.unknown || (bound.test === 'true' ? inner.false : inner.true);
  }
  return bound.negated
    ? { true: no, false: yes, unknown: false }
    : { true: yes, false: no, unknown: false };
}

interface Limits {
  readonly found: ColumnStatistics;
  readonly min: Value;
  readonly max: Value;
  readonly maybeNaN: boolean;
}

function limitsOf(arg: Bound, found: ColumnStatistics | null): Limits | null {
  if (found === null || arg.kind !== 'column') return null;
  const maybeNaN = familyOf(arg.type) === 'float' && found.hasNaN !== false;
  const [min, max] = [found.min, found.max];
  if (min === undefined || max === undefined) return null;
  if (!comparable(arg, min) || !comparable(arg, max) || Number.isNaN(min) || Number.isNaN(max))
    return null;
  return { found, min, max, maybeNaN };
}

/** Statistics of another kind than the column's values say nothing. */
function comparable(arg: BoundColumn, value: StatisticValue): boolean {
  const family = familyOf(arg.type);
  if (family === 'text') return typeof value === 'string';
  if (family === 'bool') return typeof value === 'boolean';
  const counted = typeof value === 'number' || typeof value === 'bigint';
  if (family === 'decimal')
    return typeof value === 'bigint' || (decimalScale(arg.type) >= 0 && Number.isInteger(value));
  return counted && !['bytes', 'interval', 'list', 'struct', 'null', 'other'].includes(family);
}

function compared(
  op: CompareOperator,
  arg: Bound,
  value: Value,
  lookup: StatisticsLookup,
): Possible {
  const found = statisticsOf(arg, lookup);
  const { present, missing } = presence(found);
  if (!present) return { true: false, false: false, unknown: missing };
  const limits = limitsOf(arg, found);
  if (limits === null) return { true: true, false: true, unknown: missing };
  const toMin = compareValues(limits.min, value);
  const toMax = compareValues(limits.max, value);
  let canHold: boolean;
  let canFail: boolean;
  switch (op) {
    case '=':
    case '<>': {
      canHold = toMin <= 0 && toMax >= 0;
      canFail = !(toMin === 0 && toMax === 0);
      if (op === '<>') [canHold, canFail] = [canFail, canHold];
      break;
    }
    case '<':
    case '<=':
      canHold = holds(op, toMin);
      canFail = !holds(op, toMax);
      break;
    default:
      canHold = holds(op, toMax);
      canFail = !holds(op, toMin);
  }
  if (limits.maybeNaN) {
    if (holds(op, Number.isNaN(value) ? 0 : 1)) canHold = true;
    else canFail = true;
  }
  return { true: canHold, false: canFail, unknown: missing };
}

const MANY = 1000;

function among(bound: Extract<Bound, { kind: 'in' }>, lookup: StatisticsLookup): Possible {
  const found = statisticsOf(bound.arg, lookup);
  const limits = limitsOf(bound.arg, found);
  const { present, missing } = presence(found);
  const miss: Possible = {
    true: false,
    false: present && !bound.hasNull,
    unknown: missing || bound.hasNull,
  };
  if (!present) return { true: false, false: false, unknown: true };
  if (limits === null || bound.values.size > MANY * 100)
    return { ...miss, true: bound.values.size > 0 };
  let inside = false;
  let single = false;
  for (const value of bound.values) {
    const nan = Number.isNaN(value);
    if (
      nan
        ? limits.maybeNaN
        : compareValues(limits.min, value) <= 0 && compareValues(limits.max, value) >= 0
    ) {
      inside = true;
      single =
        !nan && compareValues(limits.min, value) === 0 && compareValues(limits.max, value) === 0;
      break;
    }
  }
  if (inside && single && !limits.maybeNaN) return { true: true, false: false, unknown: missing };
  return { ...miss, true: inside };
}

/** `x LIKE 'abc%'` lies between abc and the first text after all that start so. */
function likePrefix(bound: Extract<Bound, { kind: 'like' }>, lookup: StatisticsLookup): Possible {
  const found = statisticsOf(bound.arg, lookup);
  const { present, missing } = presence(found);
  const open: Possible = { true: present, false: present, unknown: missing };
  const { pattern } = bound;
  if (bound.insensitive || pattern.kind !== 'literal' || typeof pattern.value !== 'string') {
    return pattern.kind === 'literal' && pattern.value !== null ? open : ANYTHING;
  }
  const limits = limitsOf(bound.arg, found);
  const stop = pattern.value.search(/[%_]/);
  const prefix = stop < 0 ? pattern.value : pattern.value.slice(0, stop);
  const escapes = bound.escape !== '' && prefix.includes(bound.escape);
  if (limits === null || prefix === '' || escapes) return open;
  const cut = (text: Value): Buffer =>
    Buffer.from(text as string).subarray(0, Buffer.byteLength(prefix));
  const wanted = Buffer.from(prefix);
  const outside =
    Buffer.compare(cut(limits.max), wanted) < 0 || Buffer.compare(cut(limits.min), wanted) > 0;
  return outside ? { ...open, true: false } : open;
}
