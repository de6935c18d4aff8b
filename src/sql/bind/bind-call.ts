/**
 * `bindCall` binds a function call: it finds the function among the built-in ones (`SIGNATURES`,
 * `ALIASES` and bind-forms.ts) and then among those that the program registered, checks the
 * arguments, and chooses the type of the result. NULL gives NULL, except for forms such as
 * coalesce. starts_with and its like become LIKE if they look for a constant text. Arguments that
 * do not fit throw InvalidInput. So does a name of no function, with what to write instead where
 * that is known; `checkFunctionName` throws the same for a name alone. `FUNCTION_NAMES` lists the
 * built-in names, and `isBuiltIn` looks one up.
 */
import { DataType, Decimal, plainType } from '../../arrow/index.ts';
import {
  compileRegexp,
  DIGEST_FUNCTIONS,
  LIST_FUNCTIONS,
  levenshtein,
  NUMBER_FUNCTIONS,
  REGEXP_FUNCTIONS,
  type RegisteredFunction,
  registeredFunction,
  registeredNames,
  STRING_FUNCTIONS,
  TEXT_PART_FUNCTIONS,
} from '../functions/index.ts';
import { checked, QUANTIFIED, refuse } from '../parse/index.ts';
import {
  BOOL,
  type Bound,
  coerce,
  describe,
  FLOAT64,
  familyOf,
  flagsOf,
  INT64,
  listOf,
  literal,
  locationOf,
  nearestName,
  type RowFunction,
  typeText,
  UTF8,
} from '../typed/index.ts';
import { argument, call } from './bind-arguments.ts';
import { SPECIAL } from './bind-forms.ts';
import { likeNode } from './bind-like.ts';
import { otherFunction } from './other-functions.ts';

/**
 * One letter an argument, as `argument` takes it; ? makes the last one optional. `same` is the type of
 * the first argument, of integers with 64 bits and of decimals with 38 digits.
 */
type Signature = readonly [args: string, result: DataType | 'same'];

export const SIGNATURES: Readonly<Record<string, Signature>> = {
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
  regexp_extract: ['tti?', UTF8],
  regexp_extract_all: ['tti?', listOf(UTF8)],
  string_split: ['tt', listOf(UTF8)],
  translate: ['ttt', UTF8],
  overlay: ['ttii?', UTF8],
  levenshtein: ['tt', INT64],
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
  xor: ['ii', INT64],
  '&': ['ii', INT64],
  '|': ['ii', INT64],
  '<<': ['ii', INT64],
  '>>': ['ii', INT64],
  gcd: ['ii', INT64],
  lcm: ['ii', INT64],
  chr: ['i', UTF8],
  md5: ['t', UTF8],
  sha256: ['t', UTF8],
  hex: ['t', UTF8],
  isnan: ['f', BOOL],
  floor: ['n', 'same'],
  ceil: ['n', 'same'],
  trunc: ['ni?', 'same'],
  abs: ['n', 'same'],
  negate: ['n', 'same'],
  sign: ['n', 'same'],
  round: ['ni?', 'same'],
  array_length: ['l', INT64],
};

export const ALIASES: Readonly<Record<string, string>> = {
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
  list_slice: 'array_slice',
  list_value: 'make_array',
  str_split: 'string_split',
  editdist3: 'levenshtein',
  list_position: 'array_position',
  array_sort: 'list_sort',
  array_reverse_sort: 'list_reverse_sort',
  array_reverse: 'list_reverse',
  array_min: 'list_min',
  array_max: 'list_max',
  array_distinct: 'list_distinct',
  list_to_string: 'array_to_string',
  date_part: 'extract',
  datepart: 'extract',
  datetrunc: 'date_trunc',
  datediff: 'date_diff',
  weekday: 'dayofweek',
  ifnull: 'coalesce',
  nvl: 'coalesce',
  make_list: 'make_array',
  concat_op: '||',
  regexp_matches: 'regexp_like',
  signum: 'sign',
  len: 'length',
};

/** Functions of whole numbers and of their bits, which are all of 64 bits. */
const BITS: ReadonlySet<string> = new Set(['&', '|', 'xor', '<<', '>>', 'gcd', 'lcm']);

const RUN: Readonly<Record<string, RowFunction>> = {
  ...STRING_FUNCTIONS,
  ...NUMBER_FUNCTIONS,
  ...REGEXP_FUNCTIONS,
  ...LIST_FUNCTIONS,
  ...TEXT_PART_FUNCTIONS,
  ...DIGEST_FUNCTIONS,
  levenshtein,
};

export const FUNCTION_NAMES: readonly string[] = [
  ...new Set([...Object.keys(SIGNATURES), ...Object.keys(SPECIAL), ...Object.keys(ALIASES)]),
].filter((name) => /^[a-z]/.test(name) && name !== 'negate' && name !== 'concat_op');

/** Throws InvalidInput naming the function, what it was given and what it takes. */
export function bindCall(name: string, args: readonly Bound[], at: number | undefined): Bound {
  const real = Object.hasOwn(ALIASES, name) ? (ALIASES[name] ?? name) : name;
  // The length of a list is that of its items.
  if (real === 'length' && args[0] !== undefined && familyOf(args[0].type) === 'list') {
    return bindCall('array_length', args, at);
  }
  const special = Object.hasOwn(SPECIAL, real) ? SPECIAL[real] : undefined;
  if (special !== undefined) return special(args, at);
  const signature = Object.hasOwn(SIGNATURES, real) ? SIGNATURES[real] : undefined;
  const run = RUN[real];
  if (signature === undefined || run === undefined) {
    const own = registeredFunction(name);
    if (own !== undefined) return bindRegistered(name, own, args, at);
    return refuseUnknown(name, at);
  }
  const [takes, gives] = signature;
  const wanted = [...takes.replaceAll('?', '')];
  const least = takes.includes('?') ? wanted.length - 1 : wanted.length;
  if (args.length < least || args.length > wanted.length) {
    const number = least === wanted.length ? String(least) : `${least} or ${wanted.length}`;
    refuse(at, `${name} takes ${number} argument${number === '1' ? '' : 's'}, not ${args.length}`);
  }
  const typed = args.map((arg, i) => {
    const given = argument(real, arg, wanted[i] ?? 'x', at);
    const isBits = BITS.has(real) && familyOf(given.type) === 'int';
    return isBits ? coerce(given, INT64, 'explicit') : given;
  });
  const type = gives === 'same' ? plainType(typed[0]?.type ?? INT64) : gives;
  if (real === 'negate' && typeText(type).startsWith('uint'))
    return call(run, [coerce(typed[0] as Bound, INT64)], INT64);
  if (typed.some((arg) => familyOf(arg.type) === 'null'))
    return literal(familyOf(type) === 'null' ? INT64 : type, null, at);
  if (gives === 'same' && familyOf(type) === 'int') {
    return call(run, [coerce(typed[0] as Bound, widest(type)), ...typed.slice(1)], widest(type));
  }
  // A result may need more than 38 digits.
  if (DataType.isDecimal(type)) {
    const result = wider(type);
    const [number, ...rest] = typed;
    // One that counts hundreds has no place for the sign or the digits of a result.
    const given = type.scale < 0 ? [coerce(number as Bound, result), ...rest] : typed;
    return call({ ...run, fallible: true }, given, result);
  }
  const [, pattern] = typed;
  if (real.startsWith('regexp_') && pattern?.kind === 'literal') {
    const plain = flagsOf(real, typed);
    const given = plain?.kind === 'literal' ? String(plain.value) : '';
    checked(pattern.at ?? at, () => compileRegexp(String(pattern.value), given));
  }
  const folded = prefixPattern(real, typed) ?? plainRegexp(real, typed);
  return folded ?? call(run, typed, type);
}

function refuseUnknown(name: string, at: number | undefined): never {
  const instead = otherFunction(name);
  if (instead !== undefined) refuse(at, `The function ${name} is not known; write ${instead}`);
  const near = nearestName(name, [...FUNCTION_NAMES, ...registeredNames()]);
  return refuse(
    at,
    `The function ${name} is not known${near === null ? '' : `; did you mean ${near}?`}`,
  );
}

/** @throws InvalidInput for a call that means no function, whatever its arguments are */
export function checkFunctionName(name: string, at: number | undefined): void {
  if (isBuiltIn(name) || QUANTIFIED.test(name) || registeredFunction(name) !== undefined) return;
  refuseUnknown(name, at);
}

/** A function of the program, whose arguments take the types that it was registered with. */
function bindRegistered(
  name: string,
  { args: wanted, returns, run }: RegisteredFunction,
  args: readonly Bound[],
  at: number | undefined,
): Bound {
  if (args.length !== wanted.length) {
    const number = `${wanted.length} argument${wanted.length === 1 ? '' : 's'}`;
    refuse(at, `${name} takes ${number}, not ${args.length}`);
  }
  const typed = args.map((arg, i) => {
    const type = wanted[i] as DataType;
    const families = [familyOf(arg.type), familyOf(type)];
    if (families[0] === 'null') return literal(type, null, at);
    const bothNumbers = families.every((family) => NUMBERS.includes(family));
    if (families[0] !== families[1] && !bothNumbers) {
      refuse(locationOf(arg) ?? at, `${name} takes ${typeText(type)} here, not ${describe(arg)}`);
    }
    return coerce(arg, type, families[1] === 'float' ? 'explicit' : 'lossless');
  });
  return call(run, typed, returns);
}

const NUMBERS: readonly string[] = ['int', 'float', 'decimal'];

/** Whether a function of the language has the name. */
export const isBuiltIn = (name: string): boolean =>
  FUNCTION_NAMES.includes(name) || Object.hasOwn(RUN, name) || Object.hasOwn(SPECIAL, name);

/** Integers are counted in 64 bits by every function. */
function widest(type: DataType): DataType {
  return typeText(type) === 'uint64' ? type : INT64;
}

function wider(type: Decimal): Decimal {
  return new Decimal(Math.max(0, type.scale), 38, 128);
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
  return likePattern(args[0], pattern);
}

/** A regular expression that is plain text, between edges or not, is LIKE as well. */
function plainRegexp(name: string, [text, pattern, flags]: readonly Bound[]): Bound | null {
  if (name !== 'regexp_like' || pattern?.kind !== 'literal' || text === undefined) return null;
  if (typeof pattern.value !== 'string') return null;
  if (flags !== undefined && (flags.kind !== 'literal' || typeof flags.value !== 'string'))
    return null;
  const plain = compileRegexp(pattern.value, String(flags?.value ?? '')).plain();
  if (plain === null) return null;
  const exact = plain.text.replace(/[\\%_]/g, '\\$&');
  return likePattern(text, `${plain.start ? '' : '%'}${exact}${plain.end ? '' : '%'}`);
}

function likePattern(arg: Bound, pattern: string): Bound {
  return likeNode({ arg, pattern: literal(UTF8, pattern), escape: '\\', insensitive: false });
}
