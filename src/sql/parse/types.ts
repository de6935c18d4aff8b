/**
 * Parses type names with their arguments, such as `decimal(8,3)` (`parseTypeName`), and literals
 * that begin with a type, such as DATE '2020-01-31' (`parseTypedLiteral`, `typedLiteral`). INTERVAL
 * '1' DAY and INTERVAL 1 DAY become a cast of the text '1 day'. `castExpression` builds a cast, and
 * `momentCall` the time that now() and its like are in statements. A list type and a length of
 * texts throw InvalidInput. special-calls.ts parses CAST(..), and parser.ts `::`. type-names.ts
 * maps the names to Arrow types.
 */

import { COLUMN_NAME, RESERVED } from './keywords.ts';
import type { Parser } from './parser.ts';
import { refuse } from './sql-error.ts';
import { NAME, NUMBER, STRING, WORD } from './tokens.ts';
import type { Expression, TypeName } from './tree.ts';

/** A type as read, with what its place and form add. */
export interface ParsedType extends TypeName {
  readonly at: number;
  /** The field of INTERVAL '1' DAY; 'other' for forms that are not supported. */
  readonly unit?: string;
}

/** Other names of a type. */
const SAME: ReadonlyMap<string, string> = new Map([
  ['int2', 'smallint'],
  ['int4', 'int'],
  ['int8', 'bigint'],
  ['float4', 'real'],
  ['float8', 'double'],
  ['bool', 'boolean'],
  ['numeric', 'decimal'],
  ['bpchar', 'char'],
  ['varbit', 'bit varying'],
]);

/** Types that the grammar has keywords for. */
const KEYWORD_TYPES: ReadonlyMap<string, string> = new Map([
  ['int', 'int'],
  ['integer', 'int'],
  ['smallint', 'smallint'],
  ['bigint', 'bigint'],
  ['real', 'real'],
  ['boolean', 'boolean'],
  ['json', 'json'],
  ['dec', 'decimal'],
  ['decimal', 'decimal'],
  ['numeric', 'decimal'],
  ['float', 'float'],
  ['bit', 'bit'],
  ['char', 'char'],
  ['character', 'char'],
  ['nchar', 'char'],
  ['national', 'char'],
  ['varchar', 'varchar'],
  ['timestamp', 'timestamp'],
  ['time', 'time'],
  ['interval', 'interval'],
]);

const INTERVAL_FIELDS = new Set(['year', 'month', 'day', 'hour', 'minute', 'second']);

/**
 * The type at the cursor. Throws InvalidInput for what is no type name, for lists, for lengths of
 * texts, and for fields of intervals such as DAY TO HOUR.
 */
export function parseTypeName(parser: Parser): ParsedType {
  const { tokens } = parser;
  const at = tokens.start;
  if (tokens.word === 'setof') refuse(at, 'SETOF is not supported');
  const { kind, word } = tokens;
  let type: ParsedType;
  if (KEYWORD_TYPES.has(word) || word === 'double') {
    tokens.next();
    type = keywordType(parser, word, at, true);
  } else {
    const wrong = tokens.category === RESERVED || tokens.category === COLUMN_NAME;
    if ((kind !== WORD && kind !== NAME) || wrong) parser.refuseToken('a type is expected');
    const path = [tokens.text];
    tokens.next();
    while (parser.tookMark('.')) {
      if (tokens.kind !== WORD && tokens.kind !== NAME) parser.refuseToken('a name is expected');
      path.push(tokens.text);
      tokens.next();
    }
    type = genericType(path, modifiers(parser), at);
  }
  if (parser.isMark('[') || tokens.word === 'array') {
    refuse(at, 'A cast to a list type is not supported');
  }
  return type;
}

function genericType(path: readonly string[], args: readonly Expression[], at: number): ParsedType {
  const builtIn = path.length === 2 && path[0]?.toLowerCase() === 'pg_catalog';
  if (path.length !== 1 && !builtIn) refuse(at, `The type ${path.join('.')} is not supported`);
  const given = (path.at(-1) ?? '').toLowerCase();
  const name = SAME.get(given) ?? given;
  return sized({ name, args: args.map((arg) => wholeNumber(name, arg, at)), at });
}

/** No value is cut silently, so lengths are refused. */
function sized(type: ParsedType): ParsedType {
  const { name } = type;
  if (type.args.length === 0 || !/^(?:char|varchar|bit|bit varying)$/.test(name)) return type;
  return refuse(type.at, `${name}(n) is not supported: no value is cut silently; use text`);
}

function wholeNumber(name: string, arg: Expression, at: number): number {
  const value = arg.kind === 'number' && /^-?\d+$/.test(arg.text) ? Number(arg.text) : Number.NaN;
  if (Number.isNaN(value) || value !== (value | 0)) {
    refuse(at, `The arguments of the type ${name} must be whole numbers`);
  }
  return value;
}

/** `(8, 3)`, or nothing. */
function modifiers(parser: Parser): Expression[] {
  const { tokens } = parser;
  const open = tokens.start;
  const args: Expression[] = [];
  if (!parser.tookMark('(')) return args;
  do args.push(parser.expression());
  while (parser.tookMark(','));
  parser.close(')', '(', open);
  return args;
}

/** `(3)`, an integer as written, or nothing. */
function length(parser: Parser, name: string): number[] {
  const { tokens } = parser;
  const open = tokens.start;
  if (!parser.tookMark('(')) return [];
  if (tokens.kind !== NUMBER) parser.refuseToken('a whole number is expected');
  const value = parser.expression();
  parser.close(')', '(', open);
  return [wholeNumber(name, value, open)];
}

/** The type whose keyword is passed. A bare one has no fields of an interval after it. */
function keywordType(parser: Parser, word: string, at: number, fields: boolean): ParsedType {
  const { tokens } = parser;
  switch (word) {
    case 'double':
      if (parser.took('precision')) return { name: 'double', args: [], at };
      return genericType(['double'], modifiers(parser), at);
    case 'dec':
    case 'decimal':
    case 'numeric':
      return genericType(['decimal'], modifiers(parser), at);
    case 'float':
      return floatType(length(parser, word), at);
    case 'bit': {
      const name = parser.took('varying') ? 'bit varying' : 'bit';
      return genericType([name], modifiers(parser), at);
    }
    case 'national':
    case 'char':
    case 'character':
    case 'nchar':
    case 'varchar': {
      if (word === 'national' && !parser.took('char')) parser.takeWord('character');
      const name = word === 'varchar' || parser.took('varying') ? 'varchar' : 'char';
      return sized({ name, args: length(parser, name), at });
    }
    case 'timestamp':
    case 'time': {
      const args = length(parser, word);
      const zoned = tokens.word === 'with';
      if (zoned || tokens.word === 'without') {
        tokens.next();
        parser.takeWord('time');
        parser.takeWord('zone');
      }
      return { name: zoned ? `${word}tz` : word, args, at };
    }
    case 'interval': {
      if (parser.isMark('(')) {
        length(parser, word);
        return { name: 'interval', args: [], at, unit: 'other' };
      }
      return { name: 'interval', args: [], at, ...(fields ? intervalField(parser) : {}) };
    }
    default:
      return { name: KEYWORD_TYPES.get(word) ?? word, args: [], at };
  }
}

/** FLOAT alone has 32 bits; with a number of binary digits, the type that holds them. */
function floatType([digits]: number[], at: number): ParsedType {
  if (digits === undefined) return { name: 'float', args: [], at };
  if (digits < 1 || digits > 53) refuse(at, 'FLOAT(n) has 1 to 53 binary digits');
  return { name: digits <= 24 ? 'real' : 'double', args: [], at };
}

function intervalField(parser: Parser): { unit?: string } {
  const { tokens } = parser;
  const { word } = tokens;
  if (!INTERVAL_FIELDS.has(word)) return {};
  tokens.next();
  if (parser.took('to')) {
    if (!INTERVAL_FIELDS.has(tokens.word)) parser.refuseToken();
    tokens.next();
    if (parser.isMark('(')) length(parser, 'interval');
    return { unit: 'other' };
  }
  if (word !== 'second' || !parser.isMark('(')) return { unit: word };
  length(parser, 'interval');
  return { unit: 'other' };
}

/** A cast of `arg`, or a literal of the type. INTERVAL '1' DAY is the text '1 day'. */
export function castExpression(
  parser: Parser,
  arg: Expression,
  { name, args, unit, at: typeAt }: ParsedType,
  lenient: boolean,
  at: number,
): Expression {
  parser.height += 1;
  const type = { name, args, at: typeAt };
  if (unit === undefined) return { kind: 'cast', arg, type, lenient, at };
  if (arg.kind !== 'string' || unit === 'other') {
    return refuse(typeAt, "An interval is written INTERVAL '1 day' or INTERVAL '1' DAY");
  }
  return { kind: 'cast', arg: { ...arg, value: `${arg.value} ${unit}` }, type, lenient, at };
}

/** A literal of the type whose first keyword is passed; undefined where none follows. */
export function parseTypedLiteral(
  parser: Parser,
  word: string,
  at: number,
): Expression | undefined {
  const { tokens } = parser;
  if (!KEYWORD_TYPES.has(word) && word !== 'double') return undefined;
  if (word === 'interval' && tokens.kind === NUMBER) return numberOfUnits(parser, at);
  const begins = tokens.kind === STRING || (parser.isMark('(') && word !== 'json');
  if (!begins && !/^(?:with|without|varying|precision|char|character)$/.test(tokens.word)) {
    return undefined;
  }
  if (word === 'interval' && parser.isMark('(')) return timesUnit(parser, at);
  const type = keywordType(parser, word, at, false);
  if (tokens.kind !== STRING) parser.refuseToken('a string is expected');
  const arg = string(parser);
  if (word !== 'interval') return castExpression(parser, arg, type, false, at);
  return castExpression(parser, arg, { ...type, ...intervalField(parser) }, false, at);
}

const UNITS = /^(?:year|month|week|day|hour|minute|second|millisecond|microsecond)s?$/;

/** The unit behind the number of an interval. */
function unit(parser: Parser): string {
  const { word } = parser.tokens;
  if (!UNITS.test(word)) parser.refuseToken('a unit such as DAY is expected');
  parser.tokens.next();
  return word;
}

const intervalOf = (text: string, at: number): Expression => ({
  kind: 'cast',
  arg: { kind: 'string', value: text, at },
  type: { name: 'interval', args: [] },
  lenient: false,
  at,
});

/** INTERVAL 2 DAYS: the cursor is on the number. */
function numberOfUnits(parser: Parser, at: number): Expression {
  const { text } = parser.tokens;
  parser.tokens.next();
  parser.height = 1;
  return intervalOf(`${text} ${unit(parser)}`, at);
}

/** INTERVAL (x) DAY, x times a day: the cursor is on the parenthesis. */
function timesUnit(parser: Parser, at: number): Expression {
  const open = parser.tokens.start;
  parser.take('(');
  const left = parser.expression();
  parser.close(')', '(', open);
  parser.height += 1;
  if (parser.isString) refuse(at, "An interval is written INTERVAL '1 day' or INTERVAL '1' DAY");
  return { kind: 'binary', op: '*', left, right: intervalOf(`1 ${unit(parser)}`, at), at };
}

function string(parser: Parser): Expression {
  const { text, start } = parser.tokens;
  parser.tokens.next();
  parser.height = 0;
  return { kind: 'string', value: text, at: start };
}

const INSTANT: TypeName = { name: 'timestamptz', args: [] };
const DAY: TypeName = { name: 'date', args: [] };
const CLOCK_TYPES: ReadonlyMap<string, TypeName> = new Map([
  ['now', INSTANT],
  ['current_timestamp', INSTANT],
  ['today', DAY],
  ['current_date', DAY],
  ['localtimestamp', { name: 'timestamp', args: [] }],
]);

/** Functions that statements answer with their own time. */
export const CLOCK_FUNCTIONS: ReadonlySet<string> = new Set(CLOCK_TYPES.keys());

/** The time of the statement by the clock of UTC; undefined where no such function is called. */
export function momentCall(parser: Parser, word: string, at: number): Expression | undefined {
  const type = CLOCK_TYPES.get(word);
  if (type === undefined || parser.now === undefined) return undefined;
  const text = new Date(parser.now).toISOString();
  const value = type === INSTANT ? text : text.slice(0, type === DAY ? 10 : -1);
  return { kind: 'cast', arg: { kind: 'string', value, at }, type, lenient: false, at };
}

/** `date '2020-01-01'`: the cursor is on the string. */
export function typedLiteral(
  parser: Parser,
  path: readonly string[],
  args: readonly Expression[],
  at: number,
): Expression {
  const type = genericType(path, args, at);
  return castExpression(parser, string(parser), type, false, at);
}
