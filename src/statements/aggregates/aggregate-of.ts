/**
 * `aggregateOf` describes a planned call of an aggregate for its accumulator. `columnsOfCall` lists
 * the expressions whose columns the accumulator takes: the arguments that differ from row to row,
 * and then the keys of ORDER BY, except for quantiles. plan/functions.ts has checked the call
 * before.
 */
import type { DataType } from '../../arrow/index.ts';
import type { RequestMemory } from '../../request-memory.ts';
import type { AggregateExpression, Expression } from '../../sql/index.ts';
import { aggregateName } from '../plan/index.ts';
import { textOf } from '../steps/index.ts';
import type { Aggregate, Direction } from './accumulator.ts';
import { PAIR_STATISTICS } from './pairs.ts';

/** Aggregates of two columns. */
const OF_TWO: ReadonlySet<string> = new Set(['arg_min', 'arg_max', ...PAIR_STATISTICS]);
/** Whose second argument is a share, and whose order is that of the values. */
const QUANTILES: ReadonlySet<string> = new Set(['quantile_cont', 'quantile_disc']);

/** @param types of the result, and of the first argument */
export function aggregateOf(
  call: AggregateExpression,
  types: { readonly type: DataType; readonly argument: DataType | undefined },
  memory: RequestMemory,
): Aggregate {
  const name = aggregateName(call.name);
  const [, second] = call.args;
  return {
    name,
    type: types.type,
    argument: call.star ? undefined : types.argument,
    separator: name === 'string_agg' ? constantOf(second) : '',
    order: QUANTILES.has(name) ? [] : call.orderBy.map(directionOf),
    memory,
    ...(QUANTILES.has(name) && {
      quantile: {
        shares: second?.kind === 'array' ? second.items.map(constantOf) : [constantOf(second)],
        isList: second?.kind === 'array',
        descending: call.orderBy[0]?.ascending === false,
      },
    }),
  };
}

const directionOf = ({ ascending, nullsFirst }: AggregateExpression['orderBy'][number]) =>
  ({ ascending, nullsFirst: nullsFirst ?? !ascending }) satisfies Direction;

/** The arguments that are columns, and the keys of ORDER BY where it counts. */
export function columnsOfCall({ name: written, args, orderBy }: AggregateExpression): Expression[] {
  const name = aggregateName(written);
  const columns = args.slice(0, OF_TWO.has(name) ? 2 : 1);
  if (args.length === 0 || QUANTILES.has(name)) return columns;
  return [...columns, ...orderBy.map(({ value }) => value)];
}

function constantOf(tree: Expression | undefined): string {
  if (tree === undefined) return '';
  if (tree.kind === 'string') return tree.value;
  if (tree.kind === 'number') return tree.text;
  throw new TypeError(`The argument ${textOf(tree)} was not checked`);
}
