/**
 * `SPECIAL` maps names of functions to the code that binds their calls, for functions without a
 * fixed signature: either their types depend on each other, or an argument must be a constant.
 * Examples are coalesce, nullif, greatest, concat and arrow_cast. Some of this code is in
 * bind-fields.ts, bind-times.ts, bind-buckets.ts, bind-formats.ts, bind-json.ts,
 * bind-lists.ts and bind-summaries.ts. Arguments that do not fit throw InvalidInput.
 */

import { plainType } from '../../arrow/index.ts';
import { canCast } from '../evaluate/index.ts';
import {
  EXTREME_FUNCTIONS,
  LIST_FUNCTIONS,
  NUMBER_FUNCTIONS,
  STRING_FUNCTIONS,
} from '../functions/index.ts';
import { refuse, typeByArrowName } from '../parse/index.ts';
import {
  BINARY,
  type Bound,
  coerce,
  coerceToCommon,
  commonType,
  describe,
  elementType,
  FLOAT64,
  familyOf,
  INT64,
  listOf,
  literal,
  locationOf,
  type RowFunction,
  settle,
  typeText,
  UTF8,
} from '../typed/index.ts';
import { argument, call, exactOperand } from './bind-arguments.ts';
import { bindArithmetic } from './bind-arithmetic.ts';
import { bindDateBin, bindTimeBucket } from './bind-buckets.ts';
import { bindCompare } from './bind-compare.ts';
import { FIELDS_OF_TIMES } from './bind-fields.ts';
import { bindRead, bindTypeOf, bindWritten } from './bind-formats.ts';
import { JSON_CALLS } from './bind-json.ts';
import {
  bindArrayHas,
  bindArrayPosition,
  bindArrays,
  bindOrdered,
  bindSlice,
} from './bind-lists.ts';
import { SUMMARIES_OF_LISTS } from './bind-summaries.ts';
import { TIME_FUNCTIONS } from './bind-times.ts';

export const SPECIAL: Readonly<
  Record<string, (args: readonly Bound[], at: number | undefined) => Bound>
> = {
  coalesce: bindCoalesce,
  nullif: bindNullIf,
  greatest: bindExtreme('greatest'),
  least: bindExtreme('least'),
  mod: bindModulo,
  ...FIELDS_OF_TIMES,
  ...TIME_FUNCTIONS,
  time_bucket: bindTimeBucket,
  date_bin: bindDateBin,
  concat: bindConcat,
  concat_ws: bindConcatBy,
  if: bindIf,
  log: bindLog,
  pi: bindPi,
  '||': bindJoin,
  ...SUMMARIES_OF_LISTS,
  ...JSON_CALLS,
  array_has: bindArrayHas,
  array_position: bindArrayPosition,
  list_sort: bindOrdered('list_sort'),
  list_reverse_sort: bindOrdered('list_reverse_sort'),
  list_reverse: bindOrdered('list_reverse'),
  array_has_any: bindArrays('array_has_any'),
  array_has_all: bindArrays('array_has_all'),
  array_element: bindElement,
  octet_length: bindOctetLength,
  arrow_cast: bindArrowCast,
  make_array: bindMakeArray,
  array_slice: bindSlice,
  strftime: bindWritten,
  strptime: bindRead('strptime'),
  try_strptime: bindRead('try_strptime'),
  typeof: bindTypeOf,
};

function bindCoalesce(args: readonly Bound[], at: number | undefined): Bound {
  if (args.length === 0) refuse(at, 'coalesce takes at least one argument');
  const [first] = args;
  // No type of its own yet: it takes that of what it meets, as NULL does.
  if (first !== undefined && args.every((arg) => familyOf(arg.type) === 'null')) return first;
  const type = commonType(args, 'coalesce');
  const typed = args.map((arg) =>
    coerceToCommon(familyOf(arg.type) === 'null' ? literal(type, null) : arg, type),
  );
  return typed.length === 1 && typed[0] !== undefined
    ? typed[0]
    : { kind: 'coalesce', args: typed, type };
}

function bindNullIf(args: readonly Bound[], at: number | undefined): Bound {
  const [left, right] = args;
  if (args.length !== 2 || left === undefined || right === undefined)
    return refuse(at, 'nullif takes 2 arguments');
  if (familyOf(left.type) === 'null') return left;
  const type = commonType([left], 'nullif');
  const otherwise = coerce(left, type);
  return {
    kind: 'case',
    whens: [{ when: bindCompare('=', left, right, at), value: literal(type, null) }],
    otherwise,
    type,
  };
}

function bindExtreme(name: string) {
  return (args: readonly Bound[], at: number | undefined): Bound => {
    if (args.length === 0) refuse(at, `${name} takes at least one argument`);
    const type = commonType(args, name);
    return call(
      EXTREME_FUNCTIONS[name] as RowFunction,
      args.map((arg) => coerceToCommon(arg, type)),
      type,
    );
  };
}

/** mod(x, y) is x % y. */
function bindModulo(args: readonly Bound[], at: number | undefined): Bound {
  const [left, right] = args;
  if (args.length !== 2 || left === undefined || right === undefined)
    return refuse(at, 'mod takes 2 arguments');
  return bindArithmetic('%', left, right, at);
}

function requireTwo(name: string, args: readonly Bound[], at: number | undefined): void {
  if (args.length !== 2) refuse(at, `${name} takes 2 arguments, not ${args.length}`);
}

function asText(arg: Bound, at: number | undefined): Bound {
  const settled = settle(arg);
  if (!canCast(familyOf(settled.type), 'text')) refuse(at, `${describe(arg)} has no text form`);
  return coerce(settled, UTF8, 'explicit');
}

function bindJoin(args: readonly Bound[], at: number | undefined): Bound {
  requireTwo('||', args, at);
  const [left, right] = args as [Bound, Bound];
  const families = args.map((arg) => familyOf(arg.type));
  const run = STRING_FUNCTIONS['||'] as RowFunction;
  if (families.includes('null'))
    return literal(families.includes('bytes') ? BINARY : UTF8, null, at);
  if (families.every((family) => family === 'bytes')) return call(run, args, BINARY);
  if (!families.includes('text')) {
    refuse(at, `|| joins texts, not ${describe(left)} and ${describe(right)}`);
  }
  const texts = args.flatMap((arg) =>
    arg.kind === 'call' && arg.run === run ? arg.args : [asText(arg, at)],
  );
  return call(run, texts, UTF8);
}

/** concat skips nulls, unlike ||. */
function bindConcat(args: readonly Bound[], at: number | undefined): Bound {
  const parts = args
    .filter((arg) => familyOf(arg.type) !== 'null')
    .map(
      (arg): Bound => ({
        kind: 'coalesce',
        args: [asText(arg, at), literal(UTF8, '')],
        type: UTF8,
      }),
    );
  const [first = literal(UTF8, '', at)] = parts;
  return parts.length < 2 ? first : call(STRING_FUNCTIONS['||'] as RowFunction, parts, UTF8);
}

/** Texts of values that are not null, with another text between them. */
function bindConcatBy(args: readonly Bound[], at: number | undefined): Bound {
  if (args.length < 2) refuse(at, `concat_ws takes at least 2 arguments, not ${args.length}`);
  const [between, ...parts] = args as [Bound, ...Bound[]];
  if (familyOf(between.type) === 'null') return literal(UTF8, null, at);
  const texts = parts
    .filter((part) => familyOf(part.type) !== 'null')
    .map((part) => asText(part, at));
  const separator = argument('concat_ws', between, 't', at);
  return call(STRING_FUNCTIONS.concat_ws as RowFunction, [separator, ...texts], UTF8);
}

/** if(condition, x, y) is a CASE. */
function bindIf(args: readonly Bound[], at: number | undefined): Bound {
  const [when, value, otherwise] = args;
  if (args.length !== 3 || when === undefined || value === undefined || otherwise === undefined)
    return refuse(at, `if takes 3 arguments, not ${args.length}`);
  const family = familyOf(when.type);
  if (family !== 'bool' && family !== 'null') {
    refuse(locationOf(when) ?? at, `if takes a condition, not ${describe(when)}`);
  }
  if (family === 'null') return otherwise;
  const both = [value, otherwise];
  if (both.every((side) => familyOf(side.type) === 'null')) return value;
  const type = commonType(both, 'if');
  const [first, second] = both.map((side) =>
    coerceToCommon(familyOf(side.type) === 'null' ? literal(type, null) : side, type),
  ) as [Bound, Bound];
  return { kind: 'case', whens: [{ when, value: first }], otherwise: second, type };
}

/** log(x) to the base of 10, log(base, x). */
function bindLog(args: readonly Bound[], at: number | undefined): Bound {
  if (args.length !== 1 && args.length !== 2)
    refuse(at, `log takes 1 or 2 arguments, not ${args.length}`);
  const given = args.map((arg) => argument('log', arg, 'f', at));
  if (given.some((arg) => familyOf(arg.type) === 'null')) return literal(FLOAT64, null, at);
  const of = (name: string, arg: Bound | undefined): Bound =>
    call(NUMBER_FUNCTIONS[name] as RowFunction, [arg as Bound], FLOAT64);
  if (given.length === 1) return of('log10', given[0]);
  const sides = { left: of('ln', given[1]), right: of('ln', given[0]) };
  return { kind: 'arithmetic', op: '/', ...sides, type: FLOAT64 };
}

function bindPi(args: readonly Bound[], at: number | undefined): Bound {
  if (args.length > 0) refuse(at, `pi takes no arguments, not ${args.length}`);
  return literal(FLOAT64, Math.PI, at);
}

function bindElement(args: readonly Bound[], at: number | undefined): Bound {
  const [list, index] = args;
  if (args.length !== 2 || list === undefined || index === undefined)
    return refuse(at, 'array_element takes 2 arguments');
  if (familyOf(list.type) === 'null') return list;
  if (familyOf(list.type) !== 'list')
    refuse(locationOf(list) ?? at, `${describe(list)} is no list; it has no elements`);
  const position = argument('array_element', index, 'i', at);
  return call(
    LIST_FUNCTIONS.array_element as RowFunction,
    [list, position],
    plainType(elementType(list.type)),
  );
}

function bindOctetLength(args: readonly Bound[], at: number | undefined): Bound {
  const [arg] = args;
  const family = arg === undefined ? 'other' : familyOf(arg.type);
  if (args.length === 1 && family === 'null') return literal(INT64, null, at);
  if (args.length !== 1 || arg === undefined || (family !== 'text' && family !== 'bytes')) {
    return refuse(at, 'octet_length takes one text or binary value');
  }
  return call(STRING_FUNCTIONS.octet_length as RowFunction, [settle(arg)], INT64);
}

function bindArrowCast(args: readonly Bound[], at: number | undefined): Bound {
  const [arg, name] = args;
  if (
    args.length !== 2 ||
    arg === undefined ||
    name?.kind !== 'literal' ||
    typeof name.value !== 'string'
  ) {
    return refuse(
      at,
      "arrow_cast takes a value and the name of an Arrow type: arrow_cast(x, 'Int32')",
    );
  }
  const type = typeByArrowName(name.value, name.at ?? at);
  const operand = exactOperand(arg, type, at) ?? settle(arg);
  if (familyOf(operand.type) === 'null') return literal(type, null, at);
  if (!canCast(familyOf(operand.type), familyOf(type)))
    refuse(at, `${describe(operand)} cannot be cast to ${typeText(type)}`);
  return { kind: 'cast', arg: operand, mode: 'explicit', type };
}

function bindMakeArray(args: readonly Bound[]): Bound {
  const type = commonType(args, 'make_array');
  return { kind: 'list', items: args.map((arg) => coerceToCommon(arg, type)), type: listOf(type) };
}
