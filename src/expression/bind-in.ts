/**
 * `x IN (literals)` as one look-up: the literals become values of x's type, those it cannot hold
 * drop out. It knows literals and types only.
 */
import { bindCompare } from './bind-compare.ts';
import type { Bound, BoundLiteral } from './bound.ts';
import { literal } from './coerce.ts';
import { BOOL, type Value } from './column.ts';
import type { Expression } from './tree.ts';
import { familyOf, integerRange, isWide, plainType, typeText } from './types.ts';

/**
 * The same straight from the tree, for the plain lists that get long: numbers against integers and
 * doubles, strings against text. Null for anything else.
 */
export function plainConstants(arg: Bound, items: readonly Expression[]): Bound | null {
  const type = plainType(arg.type);
  const family = familyOf(type);
  const isDouble = typeText(type) === 'float64';
  if ((family !== 'int' && family !== 'text' && !isDouble) || items.length < 2) return null;
  const values = new Set<Value>();
  const [least, greatest] = family === 'int' ? integerRange(type).map(Number) : [];
  const wide = isWide(type);
  for (const item of items) {
    if (family === 'text') {
      if (item.kind !== 'string') return null;
      values.add(item.value);
      continue;
    }
    // Fifteen digits are exact as a double.
    if (item.kind !== 'number' || item.text.length > 15) return null;
    const number = Number(item.text);
    if (isDouble) {
      values.add(number + 0);
      continue;
    }
    // No integer is equal to a fraction.
    if (!Number.isInteger(number)) continue;
    if (number >= (least ?? 0) && number <= (greatest ?? 0))
      values.add(wide ? BigInt(number) : number + 0);
  }
  return { kind: 'in', arg, values, hasNull: false, type: BOOL };
}

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
