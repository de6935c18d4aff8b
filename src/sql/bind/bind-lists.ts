/**
 * Binds calls that take lists: array_has (`bindArrayHas`), array_position (`bindArrayPosition`),
 * array_slice, of texts too (`bindSlice`), list_sort, list_reverse and list_reverse_sort
 * (`bindOrdered`), and array_has_any and array_has_all (`bindArrays`). `bindQuantified` binds `x op
 * ANY (list)` and `x op ALL (list)`, except for list literals, which bind.ts handles. Lists and
 * items are converted to a common type. NULL in place of a list gives NULL. Another type there, and
 * items without an order where one is needed, throw InvalidInput.
 */

import { plainType } from '../../arrow/index.ts';
import { LIST_FUNCTIONS, quantified, textSlice } from '../functions/index.ts';
import { type CompareOperator, refuse } from '../parse/index.ts';
import {
  BOOL,
  type Bound,
  coerceToCommon,
  commonType,
  describe,
  elementType,
  familyOf,
  INT64,
  isOrdered,
  listOf,
  literal,
  locationOf,
  type RowFunction,
  settle,
  typeText,
  UTF8,
} from '../typed/index.ts';
import { argument, call } from './bind-arguments.ts';

/** The list, and the other argument as one of its members. */
function listAndItem(
  name: string,
  args: readonly Bound[],
  at: number | undefined,
): [Bound, Bound] | null {
  const [list, item] = args;
  if (args.length !== 2 || list === undefined || item === undefined)
    return refuse(at, `${name} takes 2 arguments`);
  if (familyOf(list.type) === 'null' || familyOf(item.type) === 'null') return null;
  if (familyOf(list.type) !== 'list')
    refuse(locationOf(list) ?? at, `${name} takes a list first, not ${describe(list)}`);
  return unified(name, list, item);
}

function unified(name: string, list: Bound, item: Bound): [Bound, Bound] {
  const member: Bound = literal(plainType(elementType(list.type)), undefined);
  const type = commonType(
    [{ kind: 'rescale', arg: member, factor: 1n, type: member.type }, item],
    name,
  );
  return [coerceToCommon(list, listOf(type)), coerceToCommon(item, type)];
}

/**
 * `item op ANY (list)` and `item op ALL (list)`, of a list that is not a literal. NULL as the list
 * gives NULL; a NULL as the item is compared with each item, so that an empty list still gives
 * false or true.
 */
export function bindQuantified(
  op: CompareOperator,
  all: boolean,
  item: Bound,
  list: Bound,
  at: number | undefined,
): Bound {
  const name = `${op} ${all ? 'ALL' : 'ANY'}`;
  const family = familyOf(list.type);
  if (family === 'null') return literal(BOOL, null, at);
  if (family !== 'list')
    refuse(locationOf(list) ?? at, `${name} takes a list, not ${describe(list)}`);
  const member = plainType(elementType(list.type));
  // A null is compared with nothing where the list is empty.
  const sides =
    familyOf(item.type) === 'null'
      ? ([list, literal(member, null)] as const)
      : unified(name, list, item);
  if (op !== '=' && op !== '<>' && !isOrdered(familyOf(sides[1].type))) {
    return refuse(at, `${describe(item)} has no order; only = and <> compare it`);
  }
  return call(quantified(op, all), [sides[1], sides[0]], BOOL);
}

export function bindArrayHas(args: readonly Bound[], at: number | undefined): Bound {
  const found = listAndItem('array_has', args, at);
  return found === null
    ? literal(BOOL, null, at)
    : call(LIST_FUNCTIONS.array_has as RowFunction, found, BOOL);
}

/** A null has a place in a list as other values have. */
export function bindArrayPosition(args: readonly Bound[], at: number | undefined): Bound {
  const run = LIST_FUNCTIONS.array_position as RowFunction;
  const [list, item] = args;
  if (args.length === 2 && list !== undefined && item !== undefined) {
    if (familyOf(list.type) === 'list' && familyOf(item.type) === 'null') {
      return call(run, [list, literal(plainType(elementType(list.type)), null)], INT64);
    }
  }
  const found = listAndItem('array_position', args, at);
  return found === null ? literal(INT64, null, at) : call(run, found, INT64);
}

/** A part of a list or of a text; both bounds are of it. */
export function bindSlice(args: readonly Bound[], at: number | undefined): Bound {
  const [whole, first, last] = args;
  if (args.length !== 3 || whole === undefined || first === undefined || last === undefined) {
    return refuse(at, 'array_slice takes 3 arguments');
  }
  const family = familyOf(whole.type);
  if (family !== 'list' && family !== 'text' && family !== 'null') {
    refuse(locationOf(whole) ?? at, `A slice is of a list or a text, not of ${describe(whole)}`);
  }
  const bounds = [first, last].map((bound) => argument('A slice', bound, 'i', at));
  const type = family === 'text' ? UTF8 : plainType(whole.type);
  if ([whole, ...bounds].some((arg) => familyOf(arg.type) === 'null')) {
    return literal(type, null, at);
  }
  const run = family === 'text' ? textSlice : (LIST_FUNCTIONS.array_slice as RowFunction);
  return call(run, [settle(whole), ...bounds], type);
}

/** The list in another order. @throws InvalidInput for items that have none, where they are put in it */
export function bindOrdered(name: string) {
  return (args: readonly Bound[], at: number | undefined): Bound => {
    const [list] = args;
    if (list === undefined || args.length > 1) {
      return refuse(at, `${name} takes one list, not ${args.length} arguments`);
    }
    const given = argument(name, list, 'l', at);
    const type = plainType(given.type);
    if (familyOf(type) === 'null') return literal(type, null, at);
    const item = familyOf(elementType(type));
    if (name !== 'list_reverse' && item !== 'null' && !isOrdered(item)) {
      refuse(
        locationOf(list) ?? at,
        `${name} takes items that have an order, not ${typeText(type)}`,
      );
    }
    return call(LIST_FUNCTIONS[name] as RowFunction, [given], type);
  };
}

export function bindArrays(name: string) {
  return (args: readonly Bound[], at: number | undefined): Bound => {
    const [left, right] = args;
    if (args.length !== 2 || left === undefined || right === undefined)
      return refuse(at, `${name} takes 2 arguments`);
    for (const arg of args) {
      const family = familyOf(arg.type);
      if (family === 'null') return literal(BOOL, null, at);
      if (family !== 'list')
        refuse(locationOf(arg) ?? at, `${name} takes two lists, not ${describe(arg)}`);
    }
    if (isEmptyList(right))
      return call(LIST_FUNCTIONS[name] as RowFunction, [left, literal(left.type, [])], BOOL);
    const members = args.map((arg): Bound => {
      const type = plainType(elementType(arg.type));
      return { kind: 'rescale', arg, factor: 1n, type };
    });
    const loose = looseMembers(right);
    const type =
      loose === null
        ? commonType(members, name)
        : commonType([members[0] as Bound, ...loose], name);
    const wanted =
      loose === null
        ? coerceToCommon(right, listOf(type))
        : literal(
            listOf(type),
            loose.map((item) => {
              const typed = coerceToCommon(item, type);
              return typed.kind === 'literal' ? typed.value : null;
            }),
          );
    return call(
      LIST_FUNCTIONS[name] as RowFunction,
      [coerceToCommon(left, listOf(type)), wanted],
      BOOL,
    );
  };
}

function isEmptyList(bound: Bound): boolean {
  if (bound.kind === 'literal') return Array.isArray(bound.value) && bound.value.length === 0;
  return bound.kind === 'list' && bound.items.length === 0;
}

/** Members of a list of whole numbers that was folded, free to take the other list's type. */
function looseMembers(bound: Bound): readonly Bound[] | null {
  if (bound.kind !== 'literal' || !Array.isArray(bound.value)) return null;
  const type = elementType(bound.type);
  if (typeText(type) !== 'int64' && typeText(type) !== 'utf8') return null;
  return bound.value.map((value: unknown): Bound => {
    if (typeof value === 'bigint') {
      return {
        kind: 'literal',
        type,
        value,
        loose: { unscaled: value, scale: 0, fractional: false },
        at: bound.at,
      };
    }
    return value === null
      ? literal(type, null)
      : { kind: 'literal', type, value, loose: 'string', at: bound.at };
  });
}
