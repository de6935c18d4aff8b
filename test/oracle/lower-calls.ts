/** Calls and casts of PostgreSQL's parse tree -> our tree. Which functions exist is not known here. */

import type { Expression } from '../../src/sql/parse/tree.ts';
import { lowerTypeName } from './lower-types.ts';
import { type Lowering, list, type PgNode, record, wordsOf } from './pg-node.ts';

const AGGREGATES = new Set(
  (
    'count sum avg min max stddev variance array_agg string_agg bool_and bool_or every median ' +
    'approx_distinct first_value last_value corr covar_pop covar_samp var_pop stddev_pop'
  ).split(' '),
);

/** The grammar's bit for one field of INTERVAL '1' DAY. */
const INTERVAL_FIELDS = new Map([
  [4, 'year'],
  [2, 'month'],
  [8, 'day'],
  [1024, 'hour'],
  [2048, 'minute'],
  [4096, 'second'],
]);

/** A cast, or a literal of a type: both name it. */
export function lowerCast(node: PgNode, lowering: Lowering): Expression {
  const type = record(node.typeName);
  const located = Number(node.location) >= 0 ? node : type;
  const at = lowering.at(located);
  const lenient = false;
  const word = lowering.context.text
    .slice(lowering.context.locate(Number(type.location)))
    .slice(0, 20);
  const said = lowerTypeName(type, word, (message) => lowering.refuse(type, message));
  const arg = lowering.child(node.arg);
  if (said.name === 'interval' && said.args.length > 0) {
    const unit = said.args.length === 1 ? INTERVAL_FIELDS.get(said.args[0] ?? 0) : undefined;
    if (unit === undefined || arg.kind !== 'string') {
      lowering.refuse(type, "An interval is written INTERVAL '1 day' or INTERVAL '1' DAY");
    }
    const text: Expression = { ...arg, value: `${arg.value} ${unit}` };
    return { kind: 'cast', arg: text, type: { name: 'interval', args: [] }, lenient, ...at };
  }
  return { kind: 'cast', arg, type: said, lenient, ...at };
}

export function lowerCall(node: PgNode, lowering: Lowering): Expression {
  const path = wordsOf(node.funcname);
  const name = (path.at(-1) ?? '').toLowerCase();
  if (path.length > 1 && path[0] !== 'pg_catalog') {
    lowering.refuse(node, `The function ${path.join('.')} is not supported`);
  }
  if (node.over !== undefined) lowering.refuse(node, 'A window function is not supported here');
  if (AGGREGATES.has(name)) {
    lowering.refuse(
      node,
      `The aggregate ${name} is not supported here: an expression sees one row`,
    );
  }
  for (const clause of ['agg_star', 'agg_distinct', 'agg_order', 'agg_filter', 'func_variadic']) {
    if (node[clause] !== undefined)
      lowering.refuse(node, `This form of ${name}(..) is not supported`);
  }
  const args = list(node.args);
  if (args.some((arg) => 'NamedArgExpr' in arg)) {
    lowering.refuse(node, `${name} takes no named arguments`);
  }
  return {
    kind: 'call',
    name,
    args: args.map((arg) => lowering.expression(arg)),
    ...lowering.at(node),
  };
}
