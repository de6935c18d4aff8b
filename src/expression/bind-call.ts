/**
 * Calls, typed: which functions there are, how many arguments of which families they take, and the
 * type they give. What they compute is in functions/.
 */
import { DataType, Decimal } from '../arrow.ts';
import { bindCompare } from './bind-compare.ts';
import type { Bound, RowFunction } from './bound.ts';
import { canCast } from './cast.ts';
import { coerce, commonType, describe, literal, locationOf, settle } from './coerce.ts';
import { BOOL } from './column.ts';
import {
  DATE_FIELDS,
  extractField,
  fieldName,
  TRUNCATIONS,
  truncateTo,
} from './functions/dates.ts';
import { LIST_FUNCTIONS } from './functions/lists.ts';
import { EXTREME_FUNCTIONS, NUMBER_FUNCTIONS } from './functions/numbers.ts';
import { compileRegexp, REGEXP_FUNCTIONS } from './functions/regexp.ts';
import { STRING_FUNCTIONS } from './functions/strings.ts';
import { nearestName } from './names.ts';
import { checked, refuse } from './sql-error.ts';
import { typeByArrowName } from './type-names.ts';
import {
  BINARY,
  elementType,
  type Family,
  FLOAT64,
  familyOf,
  INT64,
  listOf,
  plainType,
  typeText,
  UTF8,
} from './types.ts';

/** One letter an argument: t text, i integer, n number, l list, x anything; ? makes it optional. */
type Signature = readonly [args: string, result: DataType | 'same'];

const SIGNATURES: Readonly<Record<string, Signature>> = {
  lower: ['t', UTF8],
  upper: ['t', UTF8],
  initcap: ['t', UTF8],
  reverse: ['t', UTF8],
  length: ['t', INT64],
  bit_length: ['t', INT64],
  ascii: ['t', INT64],
  btrim: ['tt?', UTF8],
  ltrim: ['tt?', UTF8],
  rtrim: ['tt?', UTF8],
  substr: ['tii?', UTF8],
  left: ['ti', UTF8],
  right: ['ti', UTF8],
  lpad: ['tit?', UTF8],
  rpad: ['tit?', UTF8],
  repeat: ['ti', UTF8],
  replace: ['ttt', UTF8],
  strpos: ['tt', INT64],
  split_part: ['tti', UTF8],
  starts_with: ['tt', BOOL],
  ends_with: ['tt', BOOL],
  contains: ['tt', BOOL],
  regexp_like: ['ttt?', BOOL],
  regexp_match: ['ttt?', listOf(UTF8)],
  regexp_replace: ['tttt?', UTF8],
  sqrt: ['f', FLOAT64],
  cbrt: ['f', FLOAT64],
  exp: ['f', FLOAT64],
  ln: ['f', FLOAT64],
  log10: ['f', FLOAT64],
  log2: ['f', FLOAT64],
  sin: ['f', FLOAT64],
  cos: ['f', FLOAT64],
  tan: ['f', FLOAT64],
  asin: ['f', FLOAT64],
  acos: ['f', FLOAT64],
  atan: ['f', FLOAT64],
  atan2: ['ff', FLOAT64],
  radians: ['f', FLOAT64],
  degrees: ['f', FLOAT64],
  power: ['ff', FLOAT64],
  isnan: ['f', BOOL],
  floor: ['n', 'same'],
  ceil: ['n', 'same'],
  trunc: ['n', 'same'],
  abs: ['n', 'same'],
  negate: ['n', 'same'],
  sign: ['n', 'same'],
  round: ['ni?', 'same'],
  array_length: ['l', INT64],
};

const ALIASES: Readonly<Record<string, string>> = {
  char_length: 'length',
  character_length: 'length',
  trim: 'btrim',
  substring: 'substr',
  ceiling: 'ceil',
  pow: 'power',
  position: 'strpos',
  instr: 'strpos',
  prefix: 'starts_with',
  list_has: 'array_has',
  list_contains: 'array_has',
  array_contains: 'array_has',
  list_has_any: 'array_has_any',
  list_has_all: 'array_has_all',
  list_length: 'array_length',
  cardinality: 'array_length',
  list_element: 'array_element',
  list_position: 'array_position',
  date_part: 'extract',
  datepart: 'extract',
  datetrunc: 'date_trunc',
  ifnull: 'coalesce',
  nvl: 'coalesce',
  make_list: 'make_array',
  concat_op: '||',
  regexp_matches: 'regexp_like',
  signum: 'sign',
  len: 'length',
};

const RUN: Readonly<Record<string, RowFunction>> = {
  ...STRING_FUNCTIONS,
  ...NUMBER_FUNCTIONS,
  ...REGEXP_FUNCTIONS,
  ...LIST_FUNCTIONS,
};

const SPECIAL: Readonly<Record<string, (args: readonly Bound[], at: number | undefined) => Bound>> =
  {
    coalesce: bindCoalesce,
    nullif: bindNullIf,
    greatest: bindExtreme('greatest'),
    least: bindExtreme('least'),
    extract: bindExtract,
    date_trunc: bindTruncate,
    concat: bindConcat,
    '||': bindJoin,
    array_has: bindArrayHas,
    array_position: bindArrayHas2,
    array_has_any: bindArrays('array_has_any'),
    array_has_all: bindArrays('array_has_all'),
    array_element: bindElement,
    octet_length: bindOctetLength,
    arrow_cast: bindArrowCast,
    make_array: bindMakeArray,
  };

export const FUNCTION_NAMES: readonly string[] = [
  ...new Set([...Object.keys(SIGNATURES), ...Object.keys(SPECIAL), ...Object.keys(ALIASES)]),
].filter((name) => /^[a-z]/.test(name) && name !== 'negate' && name !== 'concat_op');

/** Throws InvalidInput naming the function, what it was given and what it takes. */
export function bindCall(name: string, args: readonly Bound[], at: number | undefined): Bound {
  const real = Object.hasOwn(ALIASES, name) ? (ALIASES[name] ?? name) : name;
  const special = Object.hasOwn(SPECIAL, real) ? SPECIAL[real] : undefined;
  if (special !== undefined) return special(args, at);
  const signature = Object.hasOwn(SIGNATURES, real) ? SIGNATURES[real] : undefined;
  const run = RUN[real];
  if (signature === undefined || run === undefined) {
    const near = nearestName(name, FUNCTION_NAMES);
    return refuse(
      at,
      `The function ${name} is not known${near === null ? '' : `; did you mean ${near}?`}`,
    );
  }
  const [takes, gives] = signature;
  const wanted = [...takes.replaceAll('?', '')];
  const least = takes.includes('?') ? wanted.length - 1 : wanted.length;
  if (args.length < least || args.length > wanted.length) {
    const number = least === wanted.length ? String(least) : `${least} or ${wanted.length}`;
    refuse(at, `${name} takes ${number} argument${number === '1' ? '' : 's'}, not ${args.length}`);
  }
  const typed = args.map((arg, i) => argument(real, arg, wanted[i] ?? 'x', at));
  const type = gives === 'same' ? plainType(typed[0]?.type ?? INT64) : gives;
  if (real === 'negate' && typeText(type).startsWith('uint'))
    return call(run, [coerce(typed[0] as Bound, INT64)], INT64);
  if (typed.some((arg) => familyOf(arg.type) === 'null'))
    return literal(familyOf(type) === 'null' ? INT64 : type, null, at);
  if (gives === 'same' && familyOf(type) === 'int') {
    return call(run, [coerce(typed[0] as Bound, widest(type)), ...typed.slice(1)], widest(type));
  }
  if (DataType.isDecimal(type)) return call(run, typed, wider(type));
  const [, pattern, flags] = typed;
  if (real.startsWith('regexp_') && pattern?.kind === 'literal') {
    const plain = real === 'regexp_replace' ? typed[3] : flags;
    const given = plain?.kind === 'literal' ? String(plain.value) : '';
    checked(pattern.at ?? at, () => compileRegexp(String(pattern.value), given));
  }
  const folded = prefixPattern(real, typed);
  return folded ?? call(run, typed, type);
}

/** Integers are counted in 64 bits by every function. */
function widest(type: DataType): DataType {
  return typeText(type) === 'uint64' ? type : INT64;
}

function wider(type: Decimal): Decimal {
  return new Decimal(type.scale, 38, 128);
}

function call(run: RowFunction, args: readonly Bound[], type: DataType): Bound {
  return { kind: 'call', run, args, type };
}

const FAMILIES: Readonly<Record<string, readonly [Family[], string]>> = {
  t: [['text'], 'text'],
  i: [['int'], 'a whole number'],
  n: [['int', 'float', 'decimal'], 'a number'],
  f: [['int', 'float', 'decimal'], 'a number'],
  l: [['list'], 'a list'],
};

function argument(name: string, arg: Bound, letter: string, at: number | undefined): Bound {
  const [families, said] = FAMILIES[letter] ?? [[], ''];
  const family = familyOf(arg.type);
  if (family === 'null') return arg;
  if (!families.includes(family)) {
    refuse(
      locationOf(arg) ?? at,
      `${name === 'negate' ? '-' : name} takes ${said} here, not ${describe(arg)}`,
    );
  }
  if (letter === 'f') return coerce(arg, FLOAT64, 'explicit');
  return settle(arg);
}

/** starts_with and its like against a constant are LIKE, whose loops see bytes only. */
function prefixPattern(name: string, args: readonly Bound[]): Bound | null {
  const part = args[1];
  if (part?.kind !== 'literal' || typeof part.value !== 'string') return null;
  const exact = part.value.replace(/[\\%_]/g, '\\$&');
  const shapes: Readonly<Record<string, string>> = {
    starts_with: `${exact}%`,
    ends_with: `%${exact}`,
    contains: `%${exact}%`,
  };
  const pattern = Object.hasOwn(shapes, name) ? shapes[name] : undefined;
  if (pattern === undefined || args[0] === undefined) return null;
  return {
    kind: 'like',
    arg: args[0],
    pattern: literal(UTF8, pattern),
    escape: '\\',
    insensitive: false,
    type: BOOL,
  };
}

function bindCoalesce(args: readonly Bound[], at: number | undefined): Bound {
  if (args.length === 0) refuse(at, 'coalesce takes at least one argument');
  const type = commonType(args, 'coalesce');
  const typed = args.map((arg) =>
    coerce(familyOf(arg.type) === 'null' ? literal(type, null) : arg, type),
  );
  return typed.length === 1 && typed[0] !== undefined
    ? typed[0]
    : { kind: 'coalesce', args: typed, type };
}

function bindNullIf(args: readonly Bound[], at: number | undefined): Bound {
  const [left, right] = args;
  if (args.length !== 2 || left === undefined || right === undefined)
    return refuse(at, 'nullif takes 2 arguments');
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
      args.map((arg) => coerce(arg, type)),
      type,
    );
  };
}

function unitOf(
  name: string,
  arg: Bound | undefined,
  known: readonly string[],
  at: number | undefined,
): string {
  const unit =
    arg?.kind === 'literal' && typeof arg.value === 'string' ? fieldName(arg.value) : null;
  if (unit === null || !known.includes(unit)) {
    return refuse(
      locationOf(arg ?? literal(UTF8, null)) ?? at,
      `${name} takes one of ${known.join(', ')}`,
    );
  }
  return unit;
}

const NAMES_OF_TIME: readonly Family[] = ['date', 'timestamp', 'time'];

function timeArgument(name: string, arg: Bound | undefined, at: number | undefined): Bound {
  const family = arg === undefined ? 'null' : familyOf(arg.type);
  if (arg === undefined || !NAMES_OF_TIME.includes(family)) {
    return refuse(
      at,
      `${name} takes a date or a timestamp, not ${arg === undefined ? 'nothing' : describe(arg)}`,
    );
  }
  return settle(arg);
}

function bindExtract(args: readonly Bound[], at: number | undefined): Bound {
  const field = unitOf('extract', args[0], DATE_FIELDS, at);
  const arg = timeArgument('extract', args[1], at);
  return call(extractField(field, plainType(arg.type)), [arg], FLOAT64);
}

function bindTruncate(args: readonly Bound[], at: number | undefined): Bound {
  const unit = unitOf('date_trunc', args[0], TRUNCATIONS, at);
  const arg = timeArgument('date_trunc', args[1], at);
  if (familyOf(arg.type) === 'time') refuse(at, 'date_trunc takes a date or a timestamp');
  const type = plainType(arg.type);
  return call(truncateTo(unit, type), [arg], type);
}

function asText(arg: Bound, at: number | undefined): Bound {
  const settled = settle(arg);
  if (!canCast(familyOf(settled.type), 'text')) refuse(at, `${describe(arg)} has no text form`);
  return coerce(settled, UTF8, 'explicit');
}

function bindJoin(args: readonly Bound[], at: number | undefined): Bound {
  const [left, right] = args as [Bound, Bound];
  const families = args.map((arg) => familyOf(arg.type));
  const run = STRING_FUNCTIONS['||'] as RowFunction;
  if (families.includes('null'))
    return literal(families.includes('bytes') ? BINARY : UTF8, null, at);
  if (families.every((family) => family === 'bytes')) return call(run, args, BINARY);
  if (!families.includes('text')) {
    refuse(at, `|| joins texts, not ${describe(left)} and ${describe(right)}`);
  }
  return call(run, [asText(left, at), asText(right, at)], UTF8);
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
  return parts.reduce(
    (joined, part) => bindJoin([joined, part], at),
    literal(UTF8, '', at) as Bound,
  );
}

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
  const member: Bound = literal(plainType(elementType(list.type)), undefined);
  const type = commonType(
    [{ kind: 'rescale', arg: member, factor: 1n, type: member.type }, item],
    name,
  );
  return [coerce(list, listOf(type)), coerce(item, type)];
}

function bindArrayHas(args: readonly Bound[], at: number | undefined): Bound {
  const found = listAndItem('array_has', args, at);
  return found === null
    ? literal(BOOL, null, at)
    : call(LIST_FUNCTIONS.array_has as RowFunction, found, BOOL);
}

function bindArrayHas2(args: readonly Bound[], at: number | undefined): Bound {
  const found = listAndItem('array_position', args, at);
  return found === null
    ? literal(INT64, null, at)
    : call(LIST_FUNCTIONS.array_position as RowFunction, found, INT64);
}

function bindArrays(name: string) {
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
        ? coerce(right, listOf(type))
        : literal(
            listOf(type),
            loose.map((item) => {
              const typed = coerce(item, type);
              return typed.kind === 'literal' ? typed.value : null;
            }),
          );
    return call(LIST_FUNCTIONS[name] as RowFunction, [coerce(left, listOf(type)), wanted], BOOL);
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

function bindElement(args: readonly Bound[], at: number | undefined): Bound {
  const [list, index] = args;
  if (args.length !== 2 || list === undefined || index === undefined)
    return refuse(at, 'array_element takes 2 arguments');
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
  if (args.length !== 1 || arg === undefined || (family !== 'text' && family !== 'bytes')) {
    return refuse(at, 'octet_length takes one text or binary value');
  }
  return call(STRING_FUNCTIONS.octet_length as RowFunction, [settle(arg)], INT64);
}

function bindArrowCast(args: readonly Bound[], at: number | undefined): Bound {
  const [arg, name] = args;
  if (arg === undefined || name?.kind !== 'literal' || typeof name.value !== 'string') {
    return refuse(
      at,
      "arrow_cast takes a value and the name of an Arrow type: arrow_cast(x, 'Int32')",
    );
  }
  const type = typeByArrowName(name.value, name.at ?? at);
  const settled = settle(arg);
  if (familyOf(settled.type) === 'null') return literal(type, null, at);
  if (!canCast(familyOf(settled.type), familyOf(type)))
    refuse(at, `${describe(settled)} cannot be cast to ${typeText(type)}`);
  return { kind: 'cast', arg: settled, mode: 'explicit', type };
}

function bindMakeArray(args: readonly Bound[]): Bound {
  const type = commonType(args, 'make_array');
  return { kind: 'list', items: args.map((arg) => coerce(arg, type)), type: listOf(type) };
}
