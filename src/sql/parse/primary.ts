/**
 * `parsePrimary` parses one operand of an expression: a literal, a column with its members, a call,
 * parentheses, a list, CASE, or a form that begins with a keyword. An unsupported operand, such as
 * current_user, throws InvalidInput with its position. parser.ts parses the operators between
 * operands.
 */

import { type Name, parseCall } from './calls.ts';
import { COLUMN_NAME, FUNCTION_NAME, RESERVED } from './keywords.ts';
import type { Parser } from './parser.ts';
import { refuseKeyword, refuseUnsupported } from './refusals.ts';
import { parseRowCondition } from './row-values.ts';
import { parseSpecialCall } from './special-calls.ts';
import { refuse } from './sql-error.ts';
import { BITS, END, MARK, NAME, NUMBER, STRING, WORD } from './tokens.ts';
import type { Expression, LiteralExpression } from './tree.ts';
import { momentCall, parseTypedLiteral, typedLiteral } from './types.ts';

export function parsePrimary(parser: Parser): Expression {
  const { tokens } = parser;
  const at = tokens.start;
  switch (tokens.kind) {
    case NUMBER: {
      const { text } = tokens;
      tokens.next();
      return { kind: 'number', text: numberText(text), at };
    }
    case STRING: {
      const { text } = tokens;
      tokens.next();
      parser.height = 0;
      return indexed(parser, { kind: 'string', value: text, at });
    }
    case BITS:
      return bytes(parser, at);
    case NAME:
      return named(parser, { path: [tokens.text], columns: true, functions: true, at });
    case WORD:
      return word(parser, at);
    case MARK:
      if (tokens.text === '(') return parenthesised(parser, at);
      if (tokens.text === '[') return list(parser, at);
      break;
  }
  return parser.refuseToken(tokens.text === '' ? 'a value is expected' : undefined);
}

const LARGEST_INTEGER = 2 ** 31 - 1;

/** Integers of four bytes as their decimal digits, all others as written but for `_`. */
function numberText(text: string): string {
  if (text.length < 10 && /^[1-9]\d*$/.test(text)) return text;
  const plain = text.includes('_') ? text.replaceAll('_', '') : text;
  const value = /[.e]/i.test(plain) && !/^0x/i.test(plain) ? Number.NaN : Number(plain);
  return value <= LARGEST_INTEGER ? String(value) : plain;
}

function bytes(parser: Parser, at: number): LiteralExpression {
  const { text } = parser.tokens;
  const hex = text.slice(1).toLowerCase();
  if (text[0] !== 'x' || hex.length % 2 !== 0 || !/^[0-9a-f]*$/.test(hex)) {
    refuse(at, "A binary literal is X'..' with two hexadecimal digits a byte");
  }
  parser.tokens.next();
  return { kind: 'bytes', hex, at };
}

function parenthesised(parser: Parser, at: number): Expression {
  const { tokens } = parser;
  tokens.next();
  if (parser.beginsSubquery()) {
    parser.height = 1;
    const query = parser.subquery('value', at);
    parser.close(')', '(', at);
    return members(parser, query);
  }
  parser.refuseQuery(at);
  const inner = parser.expression();
  if (parser.isMark(',')) return parseRowCondition(parser, inner, at);
  parser.close(')', '(', at);
  return members(parser, inner);
}

function list(parser: Parser, at: number): Expression {
  const { tokens } = parser;
  const open = tokens.start;
  tokens.next();
  const items: Expression[] = [];
  let height = 0;
  if (!parser.isMark(']')) {
    do {
      items.push(parser.expression());
      if (parser.height > height) height = parser.height;
    } while (parser.tookMark(','));
  }
  parser.close(']', '[', open);
  parser.height = height + 1;
  return indexed(parser, { kind: 'array', items, at });
}

/** Parses the brackets that may follow a value; PostgreSQL allows them after parentheses and columns only. */
const indexed = (parser: Parser, value: Expression): Expression =>
  parser.isMark('[') ? members(parser, value) : value;

/** The bounds of a slice that are left out. */
const WHOLE_SLICE: { readonly first: Expression; readonly last: Expression } = {
  first: { kind: 'number', text: '1' },
  last: { kind: 'number', text: '-1' },
};

/** What follows a value in parentheses, or a column: `.member`, `['member']`, `[1]` and `[1:2]`. */
function members(parser: Parser, value: Expression): Expression {
  const { tokens } = parser;
  const { at = 0 } = value;
  let result = value;
  while (parser.isMark('.') || parser.isMark('[')) {
    const { start, text } = tokens;
    const { height } = parser;
    tokens.next();
    if (text === '.') {
      result = { kind: 'field', arg: result, name: memberName(parser), at };
      parser.height = height + 1;
      parser.bound();
      continue;
    }
    const begin = parser.isMark(':') ? undefined : parser.expression();
    let inside = begin === undefined ? 0 : parser.height;
    let end: Expression | undefined;
    const isSlice = parser.tookMark(':');
    if (isSlice && !parser.isMark(']')) {
      end = parser.expression();
      inside = Math.max(inside, parser.height);
    }
    if (parser.isMark(':')) refuse(tokens.start, 'A slice takes no step');
    parser.close(']', '[', start);
    parser.height = Math.max(height, inside) + 1;
    parser.bound();
    if (isSlice || begin === undefined) {
      const args = [result, begin ?? WHOLE_SLICE.first, end ?? WHOLE_SLICE.last];
      result = { kind: 'call', name: 'array_slice', args, at };
      continue;
    }
    const index = begin;
    result =
      index.kind === 'string'
        ? { kind: 'field', arg: result, name: index.value, at }
        : { kind: 'element', arg: result, index, at };
  }
  return result;
}

/** The name after a period, which may be any keyword. */
function memberName(parser: Parser): string {
  const { tokens } = parser;
  const { kind, text } = tokens;
  if (text === '*' && kind !== NAME) {
    refuse(tokens.start, "'*' is not supported here; name the columns");
  }
  if (kind !== WORD && kind !== NAME) parser.refuseToken('a name is expected');
  tokens.next();
  return text;
}

/** The cursor is on the first part of a name: a column, a call or the type of a literal. */
function named(parser: Parser, name: Name): Expression {
  parser.tokens.next();
  return afterName(parser, name);
}

/** The first part of the name is passed. */
function afterName(parser: Parser, name: Name): Expression {
  const { tokens } = parser;
  let { path } = name;
  if (name.columns && parser.isMark('.')) {
    path = [...path];
    while (parser.tookMark('.')) (path as string[]).push(memberName(parser));
  }
  const isFunction = name.functions || path.length > 1;
  if (isFunction && parser.isMark('(')) {
    return indexed(parser, parseCall(parser, { ...name, path }));
  }
  if (isFunction && tokens.kind === STRING) return typedLiteral(parser, path, [], name.at);
  if (!name.columns) refuseKeyword(path[0] ?? '', name.at);
  parser.height = 0;
  return members(parser, { kind: 'column', path, at: name.at });
}

function word(parser: Parser, at: number): Expression {
  const { tokens } = parser;
  const { word, text, category } = tokens;
  if (category === RESERVED) return reserved(parser, word, at);
  tokens.next();
  const name = { path: [text], columns: category !== FUNCTION_NAME, functions: false, at };
  if (category === COLUMN_NAME) {
    return (
      parseTypedLiteral(parser, word, at) ??
      parseSpecialCall(parser, word, at) ??
      afterName(parser, name)
    );
  }
  if (word === 'try_cast' && parser.isMark('(')) {
    return parseSpecialCall(parser, word, at) as Expression;
  }
  if (word === 'double' && tokens.word === 'precision') {
    return parseTypedLiteral(parser, word, at) as Expression;
  }
  if (word === 'operator' && parser.isMark('(')) {
    refuse(at, 'The operator OPERATOR(..) is not supported');
  }
  if (word === 'current_schema' && !parser.isMark('(')) refuseSession(at, word);
  if (word === 'collation' && tokens.word === 'for') refuseUnsupported(at, 'COLLATION FOR');
  return afterName(parser, { ...name, functions: true });
}

/** current_date and its like, which have no parentheses. */
function parseMoment(parser: Parser, at: number, word: string): Expression {
  const moment = momentCall(parser, word, at) ?? refuseSession(at, word);
  parser.tokens.next();
  parser.height = 1;
  return moment;
}

function refuseSession(at: number, word: string): never {
  return refuse(at, `${word} is not supported: an expression has no clock and no session`);
}

function reserved(parser: Parser, word: string, at: number): Expression {
  const { tokens } = parser;
  switch (word) {
    case 'null':
      tokens.next();
      return { kind: 'null', at };
    case 'true':
    case 'false':
      tokens.next();
      return { kind: 'boolean', value: word === 'true', at };
    case 'case':
      return parseCase(parser, at);
    case 'cast':
      tokens.next();
      return parseSpecialCall(parser, word, at) ?? parser.refuseToken();
    case 'array':
      tokens.next();
      if (parser.isMark('[')) return list(parser, at);
      if (!parser.isMark('(')) parser.refuseToken("'[' is expected");
      tokens.next();
      parser.refuseQuery(at);
      return parser.refuseToken();
    case 'user': {
      // `user` is read as the name of a column, not as the function of the session.
      const path = [tokens.text];
      tokens.next();
      return { kind: 'column', path, at };
    }
    case 'select':
    case 'with':
    case 'table':
      return refuseUnsupported(at, 'A subquery');
    case 'default':
      return refuseUnsupported(at, 'DEFAULT');
    case 'unique':
      return refuseUnsupported(at, 'UNIQUE');
    case 'current_catalog':
    case 'current_date':
    case 'current_role':
    case 'current_time':
    case 'current_timestamp':
    case 'current_user':
    case 'localtime':
    case 'localtimestamp':
    case 'session_user':
    case 'system_user':
      return parseMoment(parser, at, word);
    default:
      return parser.refuseToken();
  }
}

function parseCase(parser: Parser, at: number): Expression {
  const { tokens } = parser;
  tokens.next();
  let height = 0;
  const part = (): Expression => {
    const tree = parser.expression();
    if (parser.height > height) height = parser.height;
    return tree;
  };
  const operand = tokens.word === 'when' ? undefined : part();
  const whens: { when: Expression; value: Expression }[] = [];
  do {
    parser.takeWord('when');
    const when = part();
    parser.takeWord('then');
    whens.push({ when, value: part() });
  } while (tokens.word === 'when');
  const otherwise = parser.took('else') ? part() : undefined;
  if (tokens.kind === END) refuse(at, 'CASE is never closed by END');
  parser.takeWord('end');
  parser.height = height + 1;
  return {
    kind: 'case',
    whens,
    ...(operand === undefined ? {} : { operand }),
    ...(otherwise === undefined ? {} : { otherwise }),
    at,
  };
}
