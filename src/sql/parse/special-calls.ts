/**
 * `parseSpecialCall` parses calls that have a grammar of their own, such as CAST, EXTRACT,
 * POSITION, SUBSTRING and TRIM, and in statements EXISTS with its query. It returns undefined where
 * the keyword begins no such call. Calls that are not supported, such as ROW, TREAT and those of
 * XML, throw InvalidInput. calls.ts parses ordinary calls. `operatorCall` and `invertedCall` are
 * for operators that become calls, `eitherWay` for BETWEEN SYMMETRIC, and `parseSimilar` for
 * SIMILAR TO, whose pattern has to be written as a string; `similarPattern` makes a regular
 * expression of it.
 */

import { parseArguments } from './calls.ts';
import type { Parser } from './parser.ts';
import { refuseUnsupported } from './refusals.ts';
import { refuse } from './sql-error.ts';
import { NAME, STRING, WORD } from './tokens.ts';
import type { Expression } from './tree.ts';
import { castExpression, parseTypeName } from './types.ts';

type Rule = (parser: Parser, word: string, at: number) => Expression;

/**
 * The call whose keyword is passed; undefined where the keyword begins none, and is a name then.
 * Throws InvalidInput for calls that are not supported, for the place of the keyword.
 */
export function parseSpecialCall(parser: Parser, word: string, at: number): Expression | undefined {
  if (!parser.isMark('(')) return undefined;
  const rule = RULES.get(word);
  if (rule === undefined) {
    if (!/^(?:xml|json|merge_action)/.test(word)) return undefined;
    return refuseUnsupported(at, `${word}(..)`);
  }
  const open = parser.tokens.start;
  parser.tokens.next();
  const call = rule(parser, word, at);
  parser.close(')', '(', open);
  return call;
}

const call = (name: string, args: Expression[], at: number): Expression => ({
  kind: 'call',
  name,
  args,
  at,
});

const listed: Rule = (parser, word, at) => call(word, expressions(parser), at);

const RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ['cast', parseCast],
  ['try_cast', parseCast],
  ['coalesce', listed],
  ['greatest', listed],
  ['least', listed],
  ['nullif', parseNullIf],
  ['extract', parseExtract],
  ['position', parsePosition],
  ['substring', parseSubstring],
  ['overlay', parseOverlay],
  ['trim', parseTrim],
  ['normalize', parseNormalize],
  ['exists', parseExists],
  ['row', (_, __, at) => refuseUnsupported(at, 'A row of several values')],
  ['values', (_, __, at) => refuseUnsupported(at, 'A subquery')],
  [
    'grouping',
    (parser, word, at) =>
      parser.aggregates ? listed(parser, word, at) : refuseUnsupported(at, 'GROUPING'),
  ],
  ['treat', (_, __, at) => refuseUnsupported(at, 'TREAT')],
]);

/** One or more. */
function expressions(parser: Parser): Expression[] {
  const items: Expression[] = [];
  let height = 0;
  do {
    items.push(parser.expression());
    if (parser.height > height) height = parser.height;
  } while (parser.tookMark(','));
  parser.height = height + 1;
  return items;
}

function parseCast(parser: Parser, word: string, at: number): Expression {
  const arg = parser.expression();
  const { height } = parser;
  parser.takeWord('as');
  const cast = castExpression(parser, arg, parseTypeName(parser), word === 'try_cast', at);
  parser.height = height + 1;
  return cast;
}

function parseNullIf(parser: Parser, word: string, at: number): Expression {
  const args = expressions(parser);
  if (args.length !== 2) refuse(at, 'nullif takes 2 arguments');
  return call(word, args, at);
}

/** EXTRACT(field FROM x): a field is a word, or a string. */
function parseExtract(parser: Parser, word: string, at: number): Expression {
  const { tokens } = parser;
  const { kind, text, start, category } = tokens;
  if (kind !== STRING && kind !== NAME && (kind !== WORD || category !== 0)) {
    parser.refuseToken('a field such as year is expected');
  }
  const value = kind === WORD ? text.toLowerCase() : text;
  tokens.next();
  parser.takeWord('from');
  const arg = parser.expression();
  parser.height += 1;
  return call(word, [{ kind: 'string', value, at: start }, arg], at);
}

/** POSITION(part IN text) */
function parsePosition(parser: Parser, word: string, at: number): Expression {
  const part = parser.boundExpression();
  const { height } = parser;
  parser.takeWord('in');
  const text = parser.boundExpression();
  parser.height = Math.max(height, parser.height) + 1;
  return call(word, [text, part], at);
}

/** SUBSTRING(x FROM 2 FOR 3), in either order and with one of them, or with plain arguments. */
function parseSubstring(parser: Parser, word: string, at: number): Expression {
  const { tokens } = parser;
  if (parser.isMark(')')) return call(word, [], at);
  const args = parseArguments(parser, word, at);
  const { height } = parser;
  if (tokens.word === 'similar' && args.length === 1) {
    refuseUnsupported(at, 'SUBSTRING .. SIMILAR');
  }
  if ((tokens.word !== 'from' && tokens.word !== 'for') || args.length > 1) {
    return call(word, args, at);
  }
  let from: Expression | undefined;
  let length: Expression | undefined;
  const forAt = tokens.start;
  let most = 0;
  const part = (): Expression => {
    const tree = parser.expression();
    most = Math.max(most, parser.height);
    return tree;
  };
  if (parser.took('from')) from = part();
  if (parser.took('for')) length = part();
  if (from === undefined && parser.took('from')) from = part();
  if (from !== undefined) args.push(from, ...(length === undefined ? [] : [length]));
  else if (length !== undefined) {
    const type = { name: 'int', args: [] };
    args.push({ kind: 'number', text: '1', at: forAt });
    args.push({ kind: 'cast', arg: length, type, lenient: false, at: forAt });
  }
  parser.height = Math.max(height, most + 2);
  return call(word, args, at);
}

/** OVERLAY(x PLACING y FROM 2 FOR 3), or with plain arguments. */
function parseOverlay(parser: Parser, word: string, at: number): Expression {
  if (parser.isMark(')')) return call(word, [], at);
  const args = parseArguments(parser, word, at);
  if (args.length > 1 || !parser.took('placing')) return call(word, args, at);
  let { height } = parser;
  const part = (): void => {
    args.push(parser.expression());
    height = Math.max(height, parser.height + 1);
  };
  part();
  parser.takeWord('from');
  part();
  if (parser.took('for')) part();
  parser.height = height;
  return call(word, args, at);
}

const TRIMS: ReadonlyMap<string, string> = new Map([
  ['both', 'btrim'],
  ['leading', 'ltrim'],
  ['trailing', 'rtrim'],
]);

/** TRIM([BOTH | LEADING | TRAILING] [characters] FROM x), or with plain arguments. */
function parseTrim(parser: Parser, _: string, at: number): Expression {
  const { tokens } = parser;
  const side = TRIMS.get(tokens.word);
  if (side !== undefined) tokens.next();
  const name = side ?? 'btrim';
  if (parser.took('from')) return call(name, expressions(parser), at);
  const args = expressions(parser);
  const { height } = parser;
  if (args.length > 1 || !parser.took('from')) return call(name, args, at);
  const rest = expressions(parser);
  parser.height = Math.max(height, parser.height);
  return call(name, [...rest, ...args], at);
}

/** NORMALIZE(x [, NFC]) */
function parseNormalize(parser: Parser, word: string, at: number): Expression {
  const { tokens } = parser;
  const args = [parser.expression()];
  parser.height += 1;
  if (!parser.tookMark(',')) return call(word, args, at);
  const form = tokens.word;
  if (!/^nfk?[cd]$/.test(form)) parser.refuseToken('NFC, NFD, NFKC or NFKD is expected');
  args.push({ kind: 'string', value: form.toUpperCase(), at: tokens.start });
  tokens.next();
  return call(word, args, at);
}

function parseExists(parser: Parser, _: string, at: number): Expression {
  const { tokens } = parser;
  if (parser.beginsSubquery()) {
    parser.height = 1;
    return parser.subquery('exists', at);
  }
  while (parser.isMark('(')) tokens.next();
  parser.refuseQuery(at);
  if (tokens.word === 'values') refuseUnsupported(at, 'A subquery');
  return parser.refuseToken();
}

/** Operators that are calls of functions. */
const OPERATOR_CALLS: ReadonlyMap<string, string> = new Map([
  ['^', 'power'],
  ['**', 'power'],
  ['&', '&'],
  ['|', '|'],
  ['#', 'xor'],
  ['<<', '<<'],
  ['>>', '>>'],
  ['->', '->'],
  ['->>', '->>'],
]);

/** The call that an operator stands for; undefined for those of the tree itself. */
export function operatorCall(
  left: Expression,
  right: Expression,
  op: string,
  at: number,
): Expression | undefined {
  // Whole numbers are divided without a rest by both.
  if (op === '//') return { kind: 'binary', op: '/', left, right, at };
  const name = OPERATOR_CALLS.get(op);
  if (name !== undefined) return call(name, [left, right], at);
  if (!/^!?~\*?$/.test(op)) return undefined;
  const args: Expression[] = [left, right];
  if (op.endsWith('*')) args.push({ kind: 'string', value: 'i' });
  const found = call('regexp_like', args, at);
  return op.startsWith('!') ? { kind: 'not', arg: found, at } : found;
}

/** ~x, all bits of a whole number inverted: the cursor is on the operator. */
export function invertedCall(parser: Parser, operand: () => Expression, at: number): Expression {
  parser.tokens.next();
  const arg = operand();
  parser.height += 1;
  return call('xor', [arg, { kind: 'number', text: '-1', at }], at);
}

/** BETWEEN SYMMETRIC: between both bounds, whichever is the lower one. */
export function eitherWay(between: Extract<Expression, { kind: 'between' }>): Expression {
  const { low, high, negated, at } = between;
  const plain = { ...between, negated: false };
  const either: Expression = {
    kind: 'or',
    args: [plain, { ...plain, low: high, high: low }],
    ...(at === undefined ? {} : { at }),
  };
  return negated ? { kind: 'not', arg: either, ...(at === undefined ? {} : { at }) } : either;
}

/** SIMILAR TO 'pattern' [ESCAPE 'c'], which becomes a regular expression: the cursor is on SIMILAR. */
export function parseSimilar(
  parser: Parser,
  arg: Expression,
  negated: boolean,
  operand: () => Expression,
): Expression {
  const { tokens } = parser;
  const at = tokens.start;
  tokens.next();
  if (tokens.word !== 'to') refuseUnsupported(at, 'SUBSTRING .. SIMILAR');
  tokens.next();
  const pattern = operand();
  const { height } = parser;
  const escaping: Expression = parser.took('escape')
    ? operand()
    : { kind: 'string', value: '\\', at };
  parser.height = height + 1;
  if (escaping.kind !== 'string' || [...escaping.value].length > 1) {
    refuse(at, 'ESCAPE takes a string of one character, or an empty one for no escape');
  }
  if (pattern.kind === 'null') return pattern;
  if (pattern.kind !== 'string') {
    return refuse(
      pattern.at ?? at,
      'SIMILAR TO takes a pattern in single quotes; regexp_like takes any',
    );
  }
  const value = similarPattern(pattern.value, escaping.value);
  const found = call('regexp_like', [arg, { ...pattern, value }], at);
  return negated ? { kind: 'not', arg: found, at } : found;
}

/** The regular expression of the whole text that a pattern of SIMILAR TO means. */
export function similarPattern(pattern: string, escaping: string): string {
  let regexp = '';
  let isInBrackets = false;
  const characters = [...pattern];
  for (let at = 0; at < characters.length; at++) {
    const one = characters[at] as string;
    if (one === escaping && at + 1 < characters.length) {
      regexp += quoted(characters[++at] as string);
    } else if (isInBrackets) {
      isInBrackets = one !== ']';
      regexp += one === '\\' ? quoted(one) : one;
    } else if (one === '%') regexp += '.*';
    else if (one === '_') regexp += '.';
    else if (/[.^$\\]/.test(one)) regexp += quoted(one);
    else {
      isInBrackets = one === '[';
      regexp += one;
    }
  }
  return `(?s)^(?:${regexp})$`;
}

const quoted = (character: string): string =>
  /[\p{L}\p{N}_\s]/u.test(character) || character > '\x7f' ? character : `\\${character}`;
