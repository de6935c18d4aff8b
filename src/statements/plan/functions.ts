/**
 * Checks the arguments of aggregates and returns the types of their results (`aggregateType`).
 * `windowType` does so for calls over a window, which may be aggregates or window functions. Both
 * throw InvalidInput with the place of the call or of the argument. `aggregateName` resolves
 * synonyms, and `skipsNulls` tells whether an aggregate ignores nulls. windows.ts checks what a
 * window allows.
 */
import {
  Bool,
  type DataType,
  Decimal,
  Field,
  Float64,
  Int64,
  List,
  plainType,
  Uint64,
  Utf8,
} from '../../arrow/index.ts';
import {
  type Expression,
  type Family,
  familyOf,
  isOrdered,
  refuse,
  typeText,
} from '../../sql/index.ts';
import { MOST_DIGITS } from '../steps/index.ts';

/** Names that mean the same. */
const SAME: Readonly<Record<string, string>> = {
  arbitrary: 'first',
  argmax: 'arg_max',
  argmin: 'arg_min',
  first_value: 'first',
  last_value: 'last',
  list: 'array_agg',
  max_by: 'arg_max',
  mean: 'avg',
  min_by: 'arg_min',
  percentile_cont: 'quantile_cont',
  percentile_disc: 'quantile_disc',
  quantile: 'quantile_disc',
  stddev: 'stddev_samp',
  variance: 'var_samp',
  every: 'bool_and',
  approx_distinct: 'count',
};

export const aggregateName = (name: string): string => SAME[name] ?? name;

interface AggregateRule {
  readonly args: number;
  /** What the second argument is, where there is one. */
  readonly second?: 'separator' | 'share' | 'ordered' | 'number';
  readonly takes: (family: Family) => boolean;
  readonly wanted: string;
  readonly gives: (type: DataType) => DataType;
}

const isNumber = (family: Family): boolean =>
  family === 'int' || family === 'float' || family === 'decimal';
const isInteger = (family: Family): boolean => family === 'int';
const anything = (): boolean => true;
const same = (type: DataType): DataType => type;
const ORDERED = 'values that have an order';
const double = (): DataType => new Float64();

/** An aggregate of pairs of numbers. */
const pairs = (gives: () => DataType = double): AggregateRule => ({
  args: 2,
  second: 'number',
  takes: isNumber,
  wanted: 'numbers',
  gives,
});

const RULES: Readonly<Record<string, AggregateRule>> = {
  count: { args: 1, takes: anything, wanted: '', gives: () => new Int64() },
  sum: { args: 1, takes: isNumber, wanted: 'numbers', gives: sumType },
  avg: { args: 1, takes: isNumber, wanted: 'numbers', gives: double },
  min: { args: 1, takes: isOrdered, wanted: ORDERED, gives: same },
  max: { args: 1, takes: isOrdered, wanted: ORDERED, gives: same },
  any_value: { args: 1, takes: anything, wanted: '', gives: same },
  first: { args: 1, takes: anything, wanted: '', gives: same },
  last: { args: 1, takes: anything, wanted: '', gives: same },
  mode: { args: 1, takes: anything, wanted: '', gives: same },
  arg_min: { args: 2, second: 'ordered', takes: anything, wanted: '', gives: same },
  arg_max: { args: 2, second: 'ordered', takes: anything, wanted: '', gives: same },
  quantile_cont: { args: 2, second: 'share', takes: isNumber, wanted: 'numbers', gives: double },
  quantile_disc: { args: 2, second: 'share', takes: isOrdered, wanted: ORDERED, gives: same },
  bit_and: { args: 1, takes: isInteger, wanted: 'whole numbers', gives: same },
  bit_or: { args: 1, takes: isInteger, wanted: 'whole numbers', gives: same },
  bit_xor: { args: 1, takes: isInteger, wanted: 'whole numbers', gives: same },
  stddev_samp: { args: 1, takes: isNumber, wanted: 'numbers', gives: double },
  stddev_pop: { args: 1, takes: isNumber, wanted: 'numbers', gives: double },
  var_samp: { args: 1, takes: isNumber, wanted: 'numbers', gives: double },
  var_pop: { args: 1, takes: isNumber, wanted: 'numbers', gives: double },
  median: { args: 1, takes: isNumber, wanted: 'numbers', gives: double },
  corr: pairs(),
  covar_pop: pairs(),
  covar_samp: pairs(),
  regr_avgx: pairs(),
  regr_avgy: pairs(),
  regr_count: pairs(() => new Int64()),
  regr_intercept: pairs(),
  regr_r2: pairs(),
  regr_slope: pairs(),
  regr_sxx: pairs(),
  regr_sxy: pairs(),
  regr_syy: pairs(),
  bool_and: { args: 1, takes: (f) => f === 'bool', wanted: 'booleans', gives: () => new Bool() },
  bool_or: { args: 1, takes: (f) => f === 'bool', wanted: 'booleans', gives: () => new Bool() },
  string_agg: {
    args: 2,
    second: 'separator',
    takes: (f) => f === 'text',
    wanted: 'texts',
    gives: () => new Utf8(),
  },
  array_agg: {
    args: 1,
    takes: anything,
    wanted: '',
    gives: (type) => new List(new Field('item', type, true)),
  },
};

const KEEPS_NULLS: ReadonlySet<string> = new Set(['first', 'last', 'array_agg']);

/** Whether a function is an aggregate whose result does not depend on rows where its argument is null. */
export function skipsNulls(name: string): boolean {
  const real = aggregateName(name);
  return Object.hasOwn(RULES, real) && !KEEPS_NULLS.has(real);
}

/** The type of a sum. A sum of integers is exact, and refused if it does not fit. */
function sumType(type: DataType): DataType {
  switch (familyOf(type)) {
    case 'int':
      return (type as Int64).isSigned || (type as Int64).bitWidth < 64 ? new Int64() : new Uint64();
    case 'decimal':
      return new Decimal((type as Decimal).scale, MOST_DIGITS, 128);
    default:
      return new Float64();
  }
}

interface AskedCall {
  readonly name: string;
  readonly star: boolean;
  readonly args: readonly Expression[];
  readonly at?: number;
}

/**
 * The type of what an aggregate gives. @param types of its arguments
 * @throws InvalidInput with its place
 */
export function aggregateType(call: AskedCall, types: readonly DataType[]): DataType {
  const { name, at } = call;
  if (call.star) {
    if (name !== 'count') refuse(at, `${name}(*) is not possible; count(*) is`);
    return new Int64();
  }
  const rule = Object.hasOwn(RULES, aggregateName(name)) ? RULES[aggregateName(name)] : undefined;
  if (rule === undefined) {
    return refuse(at, `The aggregate ${name} is not supported; there are ${KNOWN_AGGREGATES}`);
  }
  if (types.length !== rule.args) {
    refuse(at, `${name} takes ${GIVEN[rule.second ?? 'nothing']}`);
  }
  checkSecond(rule, call, types[1]);
  const type = plainType(types[0] as DataType);
  const family = familyOf(type);
  if (family !== 'null' && !rule.takes(family)) {
    refuse(at, `${name} takes ${rule.wanted}, not ${typeText(type)}`);
  }
  const gives = rule.gives(type);
  const isList = rule.second === 'share' && call.args[1]?.kind === 'array';
  return isList ? new List(new Field('item', gives, true)) : gives;
}

/** What a call is given, by its second argument. */
const GIVEN = {
  nothing: 'one argument',
  separator: 'a text and a separator',
  share: 'a value and a share from 0 to 1',
  ordered: 'a value and another that has an order',
  number: 'two numbers',
};

const MOST_SHARES = 1000;

/** The numbers of a share or of a list of shares, NaN for anything else. */
function sharesOf(given: Expression | undefined): number[] {
  if (given?.kind === 'array' && given.items.length > 0) return given.items.flatMap(sharesOf);
  return [given?.kind === 'number' ? Number(given.text) : Number.NaN];
}

const isShare = (number: number): boolean => number >= 0 && number <= 1;

function checkSecond(
  { second }: AggregateRule,
  { name, args, at: place }: AskedCall,
  type: DataType | undefined,
): void {
  const given = args[1];
  const at = given?.at ?? place;
  if (second === 'separator' && given?.kind !== 'string') {
    refuse(at, 'The separator of string_agg is a text in single quotes');
  }
  if (second === 'share' && !sharesOf(given).every(isShare)) {
    refuse(
      at,
      `The share that ${name} takes is a number from 0 to 1, such as 0.5, or a list of them`,
    );
  }
  if (second === 'share' && sharesOf(given).length > MOST_SHARES) {
    refuse(at, `${name} takes ${MOST_SHARES} shares at most`);
  }
  if ((second === 'ordered' || second === 'number') && type !== undefined) {
    const family = familyOf(plainType(type));
    if (family === 'null' || (second === 'ordered' ? isOrdered : isNumber)(family)) return;
    const wanted = second === 'ordered' ? ORDERED : 'numbers';
    refuse(at, `${name} takes ${wanted} here, not ${typeText(type)}`);
  }
}

const KNOWN_AGGREGATES = [...Object.keys(RULES), ...Object.keys(SAME)].sort().join(', ');

/** The least and the greatest number of arguments of window functions. */
const WINDOW_ARGUMENTS: Readonly<Record<string, readonly [number, number]>> = {
  row_number: [0, 0],
  rank: [0, 0],
  dense_rank: [0, 0],
  percent_rank: [0, 0],
  cume_dist: [0, 0],
  ntile: [1, 1],
  lag: [1, 3],
  lead: [1, 3],
  first_value: [1, 1],
  last_value: [1, 1],
  nth_value: [2, 2],
};

/** The place of the argument of a window function that counts rows. */
const WHOLE_NUMBER: Readonly<Record<string, number>> = { ntile: 0, lag: 1, lead: 1, nth_value: 1 };

/** The type of what a function gives of a window. @throws InvalidInput with its place */
export function windowType(call: AskedCall, types: readonly DataType[]): DataType {
  const { name, at } = call;
  const given = Object.hasOwn(WINDOW_ARGUMENTS, name) ? WINDOW_ARGUMENTS[name] : undefined;
  if (given === undefined) return aggregateType(call, types);
  const [least, most] = given;
  if (types.length < least || types.length > most) {
    const range = least === most ? String(least) : `${least} to ${most}`;
    refuse(at, `${name} takes ${range} arguments`);
  }
  const place = WHOLE_NUMBER[name] ?? types.length;
  const number = types[place];
  if (number !== undefined && !['int', 'null'].includes(familyOf(number))) {
    refuse(call.args[place]?.at ?? at, `${name} takes a whole number, not ${typeText(number)}`);
  }
  if (name === 'percent_rank' || name === 'cume_dist') return new Float64();
  return least === 0 || name === 'ntile' ? new Int64() : plainType(types[0] as DataType);
}
