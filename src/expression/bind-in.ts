/**
 * `x IN (literals)` as one look-up: the literals become values of x's type, those it cannot hold
 * drop out. It knows literals and types only.
 */
import { bindCompare } from './bind-compare.ts';
import type { Bound, BoundLiteral } from './bound.ts';
import { literal } from './coerce.ts';
import { BOOL, type Value } from './column.ts';
import { familyOf } from './types.ts';

/** Null where x's values cannot be looked up by value. Throws InvalidInput as `=` does. */
export function constantsOfIn(
  arg: Bound,
  items: readonly BoundLiteral[],
  at: number | undefined,
): Bound | null {
  const family = familyOf(arg.type);
  if (family === 'null') return literal(BOOL, null, at);
  if (family === 'bytes' || family === 'list' || family === 'struct' || family === 'interval')
    return null;
  const values = new Set<Value>();
  let hasNull = false;
  for (const item of items) {
    const equal = bindCompare('=', arg, item, item.at ?? at);
    if (equal.kind === 'literal') hasNull = true;
    else if (equal.kind === 'compareConstant') values.add(equal.value);
    else if (equal.kind !== 'known') return null;
  }
  if (values.size === 1 && !hasNull) {
    return { kind: 'compareConstant', op: '=', arg, value: [...values][0], type: BOOL };
  }
  return { kind: 'in', arg, values, hasNull, type: BOOL };
}
