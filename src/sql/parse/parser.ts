/**
 * `Parser` parses the operators of an expression by precedence climbing, with PostgreSQL's
 * precedence; primary.ts parses the operands. Text that it cannot read throws InvalidInput with its
 * position, and so do more than 500 nested levels, or more than 200,000 literals in the IN lists of
 * a text. The other files of parse/ read single words, marks and subqueries through its methods.
 */

import { parsePrimary } from './primary.ts';
import { refuseSyntax, refuseUnsupported } from './refusals.ts';
import { parseQuantifiedQuery } from './row-values.ts';
import { eitherWay, invertedCall, operatorCall, parseSimilar } from './special-calls.ts';
import { refuse, shorten } from './sql-error.ts';
import type { Statement } from './statement-tree.ts';
import { END, MARK, OPERATOR, STRING, type Tokens, WORD } from './tokens.ts';
import type { BinaryOperator, Expression, SubqueryExpression } from './tree.ts';
import { castExpression, parseTypeName } from './types.ts';

/** Literals of all IN lists of a text, so that reading it takes no longer than a turn. */
const MAX_LITERALS = 200_000;

/** How deep parentheses, operators and calls may nest; joined ANDs and ORs are one level. */
const MAX_DEPTH = 500;

const OR = 1;
const AND = 2;
const NOT = 3;
const IS = 4;
const COMPARE = 5;
const RANGE = 6;
const OTHER = 7;
const ADD = 8;
const MULTIPLY = 9;
const POWER = 10;
const AT = 11;
const COLLATE = 12;
const SIGN = 13;
const CAST = 14;

const operators = (level: number, names: string): [string, number][] =>
  names.split(' ').map((name) => [name, level]);

const OPERATOR_LEVELS: ReadonlyMap<string, number> = new Map([
  ...operators(COMPARE, '= <> < <= > >='),
  ...operators(OTHER, '|| ~ ~* !~ !~* & | # << >> -> ->>'),
  ...operators(ADD, '+ -'),
  ...operators(MULTIPLY, '* / % //'),
  ...operators(POWER, '^ **'),
  ['=>', 0],
]);

const WORD_LEVELS: ReadonlyMap<string, number> = new Map([
  ['or', OR],
  ['and', AND],
  ['is', IS],
  ['isnull', IS],
  ['notnull', IS],
  ['not', RANGE],
  ['between', RANGE],
  ['in', RANGE],
  ['like', RANGE],
  ['ilike', RANGE],
  ['similar', RANGE],
  ['operator', OTHER],
  ['at', AT],
  ['collate', COLLATE],
]);

/** What JavaScript spells in a way that SQL has no operator for. */
const OF_JAVASCRIPT: Readonly<Record<string, string>> = { '&&': 'AND', '===': '=', '!==': '<>' };

/**
 * Operators from loosest to tightest: OR, AND, NOT, IS, comparison, BETWEEN/IN/LIKE, other
 * operators, + -, * / %, ^, AT TIME ZONE, COLLATE, signs, `::`. Comparisons, IS DISTINCT FROM,
 * BETWEEN and LIKE do not chain. AT TIME ZONE, COLLATE and OPERATOR() are refused as unsupported.
 */
export class Parser {
  readonly tokens: Tokens;
  /** Whether calls may be of many rows, and what time it is: in statements. */
  aggregates = false;
  now: number | undefined;
  /** Reads a query in place of a value, where there may be one: in statements. */
  query: (() => Statement) | undefined;
  /** Levels of the tree that was read last. */
  height = 0;
  #depth = 0;
  #literals = 0;

  constructor(tokens: Tokens) {
    this.tokens = tokens;
  }

  /** The one expression that the text is. */
  whole(): Expression {
    const { tokens } = this;
    const begin = tokens.start;
    const tree = this.expression();
    if (tokens.kind === END) return tree;
    if (tokens.kind === MARK && tokens.text === ',') {
      refuseUnsupported(begin, 'A row of several values');
    }
    return this.refuseToken();
  }

  expression(): Expression {
    return this.#climb(OR, false);
  }

  /** One that AND, IN and their like end, as between BETWEEN and AND. */
  boundExpression(): Expression {
    return this.#climb(OR, true);
  }

  /** An expression of operators that bind at least as tightly as `least`. */
  #climb(least: number, bounded: boolean): Expression {
    this.#deepen();
    let left = this.#operand(bounded);
    const { tokens } = this;
    /** The level of the operator just read, if it does not chain. */
    let closed = 0;
    for (;;) {
      const level = this.#level(bounded);
      if (level === 0 || level < least) break;
      const at = tokens.start;
      if (level === closed) this.#refuseChain(level);
      closed = 0;
      const height = this.height;
      switch (level) {
        case OR:
        case AND:
          left = this.#joined(left, level, at);
          this.bound();
          continue;
        case IS: {
          const open = tokens.word === 'is';
          left = this.#is(left, bounded, at);
          closed = open && left.kind === 'distinct' ? IS : 0;
          break;
        }
        case RANGE:
          left = this.#range(left, at);
          closed = left.kind === 'in' ? 0 : RANGE;
          break;
        case AT:
          refuseUnsupported(at, 'AT TIME ZONE');
          break;
        case COLLATE:
          refuseUnsupported(at, 'COLLATE');
          break;
        case CAST:
          tokens.next();
          left = castExpression(this, left, parseTypeName(this), false, at);
          this.height = 0;
          break;
        default: {
          const binary = this.#binary(left, level, bounded, at);
          if (level === COMPARE && binary.kind === 'binary') closed = COMPARE;
          left = binary;
        }
      }
      this.height = Math.max(height, this.height) + 1;
      this.bound();
    }
    this.#depth--;
    return left;
  }

  /** How tightly the operator at the cursor binds; 0 where none stands there. */
  #level(bounded: boolean): number {
    const { kind, text, word } = this.tokens;
    if (kind === WORD) {
      const level = WORD_LEVELS.get(word) ?? 0;
      return bounded && level !== IS && level !== OTHER ? 0 : level;
    }
    if (kind === OPERATOR) return OPERATOR_LEVELS.get(text) ?? OTHER;
    return kind === MARK && text === '::' ? CAST : 0;
  }

  #operand(bounded: boolean): Expression {
    const { tokens } = this;
    const at = tokens.start;
    if (tokens.kind === OPERATOR) return this.#signed(bounded, at);
    if (tokens.word !== 'not' || bounded) return parsePrimary(this);
    tokens.next();
    const arg = this.#climb(NOT, false);
    this.height += 1;
    return { kind: 'not', arg, at };
  }

  /** The sign of a number written down is part of it. */
  #signed(bounded: boolean, at: number): Expression {
    const { tokens } = this;
    const { text } = tokens;
    if (text === '~') return invertedCall(this, () => this.#climb(OTHER + 1, bounded), at);
    if (text !== '-' && text !== '+') {
      if ((OPERATOR_LEVELS.get(text) ?? OTHER) === OTHER) this.#refuseOperator(at);
      this.refuseToken();
    }
    tokens.next();
    const arg = this.#climb(SIGN, bounded);
    if (text === '+') return arg;
    if (arg.kind !== 'number') {
      this.height += 1;
      return { kind: 'negate', arg, at };
    }
    if (arg.text === '0') return { kind: 'number', text: '0', at };
    const negated = arg.text.startsWith('-') ? arg.text.slice(1) : `-${arg.text}`;
    return { kind: 'number', text: negated, at };
  }

  #joined(left: Expression, level: number, at: number): Expression {
    const kind = level === AND ? 'and' : 'or';
    const { height } = this;
    this.tokens.next();
    const right = this.#climb(level + 1, false);
    if (left.kind !== kind) {
      this.height = Math.max(height, this.height) + 1;
      return { kind, args: [left, right], at };
    }
    // A chain is one level. The tree is this parser's own until it is handed out.
    (left.args as Expression[]).push(right);
    this.height = Math.max(height, this.height + 1);
    return left;
  }

  #binary(left: Expression, level: number, bounded: boolean, at: number): Expression {
    const { tokens } = this;
    const op = tokens.text;
    if (tokens.kind === WORD || !OPERATOR_LEVELS.has(op)) {
      this.#refuseOperator(at);
    }
    tokens.next();
    if (tokens.word === 'any' || tokens.word === 'some' || tokens.word === 'all') {
      return this.#quantified(left, op, level, at);
    }
    const right = this.#climb(level + 1, bounded);
    const called = operatorCall(left, right, op, at);
    return called ?? { kind: 'binary', op: op as BinaryOperator, left, right, at };
  }

  /** `x = ANY (list)`, `x <> ALL (list)`: a call whose name is that of both words. */
  #quantified(left: Expression, op: string, level: number, at: number): Expression {
    const { tokens } = this;
    const { word } = tokens;
    if (level !== COMPARE) {
      refuse(at, `${op} ${word.toUpperCase()} is not supported; only comparisons take a list`);
    }
    tokens.next();
    const open = tokens.start;
    this.take('(');
    if (this.beginsSubquery()) {
      const query = parseQuantifiedQuery(this, left, op, word !== 'all', at);
      this.close(')', '(', open);
      return query;
    }
    this.refuseQuery(open);
    const list = this.expression();
    this.close(')', '(', open);
    const name = `${op} ${word === 'all' ? 'all' : 'any'}`;
    return { kind: 'call', name, args: [left, list], at };
  }

  #is(arg: Expression, bounded: boolean, at: number): Expression {
    const { tokens } = this;
    const { word } = tokens;
    if (bounded && word !== 'is') this.refuseToken();
    tokens.next();
    this.height = 0;
    if (word !== 'is') return { kind: 'is', arg, test: 'null', negated: word === 'notnull', at };
    const negated = this.took('not');
    const test = tokens.word;
    if (test === 'distinct') {
      tokens.next();
      this.takeWord('from');
      const right = this.#climb(IS + 1, bounded);
      return { kind: 'distinct', left: arg, right, negated, at };
    }
    if (test === 'document' || (test === 'json' && !bounded)) {
      refuseUnsupported(at, `IS ${test.toUpperCase()}`);
    }
    if (bounded) this.refuseToken();
    switch (test) {
      case 'null':
      case 'true':
      case 'false':
      case 'unknown':
        tokens.next();
        return { kind: 'is', arg, test, negated, at };
      case 'normalized':
      case 'nfc':
      case 'nfd':
      case 'nfkc':
      case 'nfkd':
        return refuseUnsupported(at, 'IS NORMALIZED');
      default:
        return this.refuseToken('IS takes NULL, TRUE, FALSE, UNKNOWN or DISTINCT FROM');
    }
  }

  /** BETWEEN, IN and LIKE, with NOT before them or without. */
  #range(arg: Expression, at: number): Expression {
    const { tokens } = this;
    const negated = this.took('not');
    const { word } = tokens;
    switch (word) {
      case 'between':
        tokens.next();
        return this.#between(arg, negated, at);
      case 'in':
        tokens.next();
        return this.#in(arg, negated, at);
      case 'like':
      case 'ilike':
        tokens.next();
        return this.#like(arg, word === 'ilike', negated, at);
      case 'similar':
        return parseSimilar(this, arg, negated, () => this.#climb(RANGE + 1, false));
      default:
        return this.refuseToken('NOT takes BETWEEN, IN, LIKE or ILIKE here');
    }
  }

  #between(arg: Expression, negated: boolean, at: number): Expression {
    const isSymmetric = this.took('symmetric');
    if (!isSymmetric) this.took('asymmetric');
    const low = this.boundExpression();
    const { height } = this;
    this.takeWord('and');
    const high = this.#climb(RANGE + 1, false);
    this.height = Math.max(height, this.height);
    if (isSymmetric) this.height += 1;
    const between = { kind: 'between', arg, low, high, negated, at } as const;
    return isSymmetric ? eitherWay(between) : between;
  }

  #in(arg: Expression, negated: boolean, at: number): Expression {
    const open = this.tokens.start;
    this.take('(');
    if (!this.beginsSubquery()) {
      return { kind: 'in', arg, items: this.#items(at, open), negated, at };
    }
    const query = this.subquery('in', at, arg);
    this.close(')', '(', open);
    return negated ? { kind: 'not', arg: query, at } : query;
  }

  #items(at: number, open: number): Expression[] {
    const { tokens } = this;
    this.refuseQuery(at);
    const items: Expression[] = [];
    let height = 0;
    do {
      const { parts } = tokens;
      const item = this.expression();
      items.push(item);
      // Literals are looked up, not evaluated one by one.
      if (item.kind === 'string' || item.kind === 'number') {
        tokens.parts = parts - 1;
        this.#literals++;
        if (this.#literals > MAX_LITERALS) {
          refuse(
            tokens.start,
            `The lists of IN have more than ${MAX_LITERALS} values; send fewer at once`,
          );
        }
      }
      if (this.height > height) height = this.height;
    } while (this.tookMark(','));
    this.close(')', '(', open);
    this.height = height;
    return items;
  }

  #like(arg: Expression, insensitive: boolean, negated: boolean, at: number): Expression {
    const { tokens } = this;
    if (tokens.word === 'any' || tokens.word === 'some' || tokens.word === 'all') {
      refuseUnsupported(at, `LIKE ${tokens.word.toUpperCase()}`);
    }
    const pattern = this.#climb(RANGE + 1, false);
    if (!this.took('escape')) return { kind: 'like', arg, pattern, insensitive, negated, at };
    const { height } = this;
    const escaping = this.#climb(RANGE + 1, false);
    if (escaping.kind !== 'string' || [...escaping.value].length > 1) {
      refuse(at, 'ESCAPE takes a string of one character, or an empty one for no escape');
    }
    this.height = height;
    return { kind: 'like', arg, pattern, insensitive, negated, escape: escaping.value, at };
  }

  /** Whether the word stood at the cursor; it is passed. */
  took(word: string): boolean {
    if (this.tokens.word !== word) return false;
    this.tokens.next();
    return true;
  }

  tookMark(mark: string): boolean {
    const { kind, text } = this.tokens;
    if (kind !== MARK || text !== mark) return false;
    this.tokens.next();
    return true;
  }

  takeWord(word: string): void {
    if (!this.took(word)) this.refuseToken(`${word.toUpperCase()} is expected`);
  }

  take(mark: string): void {
    if (!this.tookMark(mark)) this.refuseToken(`'${mark}' is expected`);
  }

  /** A closing mark, or the error that names what was never closed. */
  close(mark: string, opened: string, open: number): void {
    if (this.tookMark(mark)) return;
    if (this.tokens.kind === END) refuse(open, `'${opened}' is never closed`);
    this.refuseToken();
  }

  isMark(mark: string): boolean {
    return this.tokens.kind === MARK && this.tokens.text === mark;
  }

  get isString(): boolean {
    return this.tokens.kind === STRING;
  }

  beginsSubquery(): boolean {
    return this.query !== undefined && /^(?:select|with|values|from)$/.test(this.tokens.word);
  }

  /** The query at the cursor, behind its parenthesis; the one that closes it stays. */
  subquery(form: SubqueryExpression['form'], at: number, arg?: Expression): SubqueryExpression {
    const { sql, start } = this.tokens;
    const { height } = this;
    const query = (this.query as () => Statement)();
    this.height = height;
    const text = sql.slice(start, this.tokens.start).trim();
    return { kind: 'subquery', form, query, text, ...(arg === undefined ? {} : { arg }), at };
  }

  /** Throws where a query begins, for the place of what it would be part of. */
  refuseQuery(at: number): void {
    const { word } = this.tokens;
    if (word === 'select' || word === 'with' || word === 'table') {
      refuseUnsupported(at, 'A subquery');
    }
  }

  refuseToken(expected?: string): never {
    return refuseSyntax(this.tokens, expected);
  }

  #refuseOperator(at: number): never {
    const { kind, text } = this.tokens;
    const meant = OF_JAVASCRIPT[text];
    const hint = meant === undefined ? '' : `; SQL has ${meant}`;
    const shown = kind === WORD ? 'OPERATOR(..)' : text;
    return refuse(at, `The operator ${shown} is not supported${hint}`);
  }

  #refuseChain(level: number): never {
    const what =
      level === COMPARE
        ? 'Comparisons do not chain'
        : level === IS
          ? 'IS does not chain'
          : 'BETWEEN, IN and LIKE cannot follow BETWEEN or LIKE';
    return this.refuseToken(`${what}; write parentheses or AND`);
  }

  /** Reads what is one level deeper, such as tables in parentheses. */
  nested<Read>(read: () => Read): Read {
    this.#deepen();
    const found = read();
    this.#depth--;
    return found;
  }

  #deepen(): void {
    this.#depth++;
    this.height = 0;
    this.bound();
  }

  /** Throws InvalidInput where the tree that was read last makes the whole too deep. */
  bound(): void {
    if (this.#depth + this.height <= MAX_DEPTH) return;
    const { start, text, what } = this.tokens;
    refuse(start, `The ${what} is nested deeper than ${MAX_DEPTH} levels near '${shorten(text)}'`);
  }
}
