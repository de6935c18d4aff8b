/**
 * Parses a function call such as f(x, y) (`parseCall`), or a list of arguments (`parseArguments`).
 * Aggregates and window functions (`AGGREGATES` and `WINDOW_FUNCTIONS` list their names), with
 * clauses such as DISTINCT, FILTER and OVER, are accepted only in statements; elsewhere they throw
 * InvalidInput. A string directly after the arguments makes a literal, as in `decimal(8,3) '1.5'`.
 * special-calls.ts parses calls with a grammar of their own. Whether an ordinary function exists is
 * decided by the binder, not here.
 */

import { nearest } from '../../known-names.ts';
import type { Parser } from './parser.ts';
import { refuse } from './sql-error.ts';
import type { Expression, OrderItem } from './tree.ts';
import { momentCall, typedLiteral } from './types.ts';
import { parseFilter, parseOrder, parseOver } from './windows.ts';

/** A name that was read, and what its first word may name. */
export interface Name {
  readonly path: readonly string[];
  readonly columns: boolean;
  readonly functions: boolean;
  readonly at: number;
}

export const AGGREGATES: ReadonlySet<string> = new Set(
  (
    'count sum avg min max stddev variance array_agg string_agg bool_and bool_or every median ' +
    'approx_distinct first_value last_value corr covar_pop covar_samp var_pop stddev_pop ' +
    'var_samp stddev_samp any_value first last arbitrary mode arg_min arg_max argmin argmax ' +
    'min_by max_by quantile quantile_cont quantile_disc percentile_cont percentile_disc bit_and ' +
    'bit_or bit_xor mean list regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope ' +
    'regr_sxx regr_sxy regr_syy'
  ).split(' '),
);

/** Functions that a window alone has. */
export const WINDOW_FUNCTIONS: ReadonlySet<string> = new Set(
  (
    'row_number rank dense_rank percent_rank cume_dist ntile lag lead first_value last_value ' +
    'nth_value'
  ).split(' '),
);

/** The cursor is on the opening parenthesis. */
export function parseCall(parser: Parser, { path, at }: Name): Expression {
  const { tokens } = parser;
  let name = (path.at(-1) ?? '').toLowerCase();
  const open = tokens.start;
  tokens.next();
  let star = false;
  let distinct = false;
  let args: Expression[] = [];
  let orderBy: OrderItem[] = [];
  if (tokens.text === '*' && !parser.isString) {
    star = true;
    tokens.next();
  } else if (tokens.word === 'distinct') {
    if (!parser.aggregates) refuseForm(name, at);
    tokens.next();
    distinct = true;
    args = parseArguments(parser, name, at);
  } else if (!parser.isMark(')')) {
    parser.took('all');
    args = parseArguments(parser, name, at);
  }
  let nulls = args.length > 0 ? tookNulls(parser) : undefined;
  if (tokens.word === 'order' && args.length > 0) {
    if (!parser.aggregates) refuseForm(name, at);
    const ofArguments = parser.height;
    orderBy = parseOrder(parser);
    parser.height = Math.max(ofArguments, parser.height);
  }
  parser.close(')', '(', open);
  let { height } = parser;
  if (parser.isString && args.length > 0) return typedLiteral(parser, path, args, at);
  parser.height = height;
  const { word } = tokens;
  if (!parser.aggregates) {
    if (word === 'over') refuse(at, 'A window function is not supported here');
    if (star || word === 'filter' || word === 'within') refuseForm(name, at);
  }
  if (path.length > 1 && path[0]?.toLowerCase() !== 'pg_catalog') {
    refuse(at, `The function ${path.join('.')} is not supported`);
  }
  if (path.length > 2) refuse(at, `The function ${path.join('.')} is not supported`);
  if (!parser.aggregates) {
    if (AGGREGATES.has(name)) refuseForm(name, at);
    return { kind: 'call', name, args, at };
  }
  if (word === 'within') {
    [args, orderBy] = parseWithinGroup(parser, name, { args, orderBy, at });
    height = Math.max(height, parser.height);
  } else checkOrder(name, args, orderBy, at);
  if (OF_ONE_ROW.has(name)) nulls ??= tookNulls(parser);
  const filter = tokens.word === 'filter' ? parseFilter(parser) : undefined;
  if (filter !== undefined) height = Math.max(height, parser.height);
  const over = tokens.word === 'over' ? parseOver(parser) : undefined;
  if (over !== undefined) name = OF_WINDOW.get(name) ?? name;
  if (nulls !== undefined && (over === undefined || !OF_ONE_ROW.has(name))) {
    refuse(at, `${name}(..) takes no IGNORE NULLS or RESPECT NULLS here`);
  }
  if (distinct && OF_ROWS.has(name)) refuse(at, `${name}(DISTINCT ..) is not supported`);
  if (over !== undefined) height = Math.max(height, parser.height);
  const isOfMany = AGGREGATES.has(name) || (WINDOW_FUNCTIONS.has(name) && over !== undefined);
  if (!isOfMany) {
    if (WINDOW_FUNCTIONS.has(name)) refuse(at, `${name} needs a window: ${name}(..) OVER (..)`);
    if (over !== undefined) refuse(at, `${name} is no window function`);
    if (star || distinct || filter !== undefined || orderBy.length > 0) refuseForm(name, at);
    const moment = args.length === 0 ? momentCall(parser, name, at) : undefined;
    return moment ?? { kind: 'call', name, args, at };
  }
  parser.height = height + 1;
  parser.bound();
  return {
    kind: 'aggregate',
    name,
    args,
    star,
    distinct,
    orderBy,
    ...(filter === undefined ? {} : { filter }),
    ...(nulls === 'ignore' ? { ignoresNulls: true } : {}),
    ...(over === undefined ? {} : { over }),
    at,
  };
}

/** IGNORE NULLS or RESPECT NULLS, where it stands. */
function tookNulls(parser: Parser): 'ignore' | 'respect' | undefined {
  const { word } = parser.tokens;
  if (word !== 'ignore' && word !== 'respect') return undefined;
  parser.tokens.next();
  parser.takeWord('nulls');
  return word;
}

/** Window functions that take the value of one row, and may pass over nulls. */
const OF_ONE_ROW: ReadonlySet<string> = new Set([
  ...['lag', 'lead', 'first_value', 'last_value', 'nth_value'],
]);

/** Names that a window has other names for. */
const OF_WINDOW: ReadonlyMap<string, string> = new Map([
  ['first', 'first_value'],
  ['arbitrary', 'first_value'],
  ['last', 'last_value'],
]);
/** Functions whose result depends on which rows there are, not on the values of one argument. */
const OF_ROWS: ReadonlySet<string> = new Set(
  (
    'first last arbitrary mode arg_min arg_max argmin argmax min_by max_by corr covar_pop ' +
    'covar_samp regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx ' +
    'regr_sxy regr_syy'
  ).split(' '),
);
const PERCENTILES: ReadonlySet<string> = new Set(['percentile_cont', 'percentile_disc']);
const QUANTILES: ReadonlySet<string> = new Set(['quantile', 'quantile_cont', 'quantile_disc']);

/** An order within the parentheses of a call, which those of quantiles do not take. */
function checkOrder(
  name: string,
  args: readonly Expression[],
  orderBy: readonly OrderItem[],
  at: number,
): void {
  if (PERCENTILES.has(name)) {
    const other = name.replace('percentile', 'quantile');
    refuse(at, `Write ${name}(0.5) WITHIN GROUP (ORDER BY x), or ${other}(x, 0.5)`);
  }
  const [first] = orderBy;
  if (first === undefined || !QUANTILES.has(name)) return;
  refuse(first.value.at ?? args[0]?.at ?? at, `${name}(..) takes no ORDER BY`);
}

/** WITHIN GROUP (ORDER BY x): x becomes the first argument. */
function parseWithinGroup(
  parser: Parser,
  name: string,
  { args, orderBy, at }: { args: Expression[]; orderBy: OrderItem[]; at: number },
): [Expression[], OrderItem[]] {
  const { tokens } = parser;
  const within = tokens.start;
  tokens.next();
  parser.takeWord('group');
  const open = tokens.start;
  parser.take('(');
  const order = parseOrder(parser);
  parser.close(')', '(', open);
  const isMode = name === 'mode';
  if (!isMode && !PERCENTILES.has(name)) {
    refuse(within, `WITHIN GROUP is not supported for ${name}; write the order inside of the call`);
  }
  const [item, ...more] = order;
  if (item === undefined || more.length > 0 || args.length !== (isMode ? 0 : 1)) {
    const given = isMode ? 'nothing' : 'a share from 0 to 1';
    refuse(at, `${name}(..) WITHIN GROUP takes ${given}, and ORDER BY one value`);
  }
  if (orderBy.length > 0) refuse(at, `${name}(..) takes its order in WITHIN GROUP`);
  return [[item.value, ...args], order];
}

function refuseForm(name: string, at: number): never {
  const near = AGGREGATES.has(name) ? undefined : nearest(name, [...AGGREGATES]);
  if (near !== undefined) refuse(at, `${name} is no aggregate; did you mean ${near}?`);
  return refuse(
    at,
    AGGREGATES.has(name)
      ? `The aggregate ${name} is not supported here: an expression sees one row`
      : `This form of ${name}(..) is not supported`,
  );
}

/** One or more, up to what ends the list. */
export function parseArguments(parser: Parser, name: string, at: number): Expression[] {
  const { tokens } = parser;
  const args: Expression[] = [];
  let height = 0;
  do {
    if (tokens.word === 'variadic') refuseForm(name, at);
    args.push(parser.expression());
    if (parser.height > height) height = parser.height;
    if (parser.isMark(':=') || (tokens.text === '=>' && !parser.isString)) {
      refuse(at, `${name} takes no named arguments`);
    }
  } while (parser.tookMark(','));
  parser.height = height + 1;
  return args;
}
