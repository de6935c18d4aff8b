/**
 * Binds a syntax tree to a schema: resolves columns, checks types, inserts conversions and computes
 * constants. `bindExpression` binds any expression and `bindPredicate` a condition; `Binder` binds
 * parts of one, in which literals may still have no final type. `bindTerms` and `prepareLists` bind
 * long conditions and long IN lists in steps, so that they do not block the event loop. Unknown
 * columns throw TableColumnNotFound. Types that do not fit, unknown functions, aggregates and
 * subqueries throw InvalidInput.
 */
import { DataType, Null as NullType, type Schema } from '../../arrow/index.ts';
import { checkPattern } from '../evaluate/index.ts';
import {
  type CompareOperator,
  checked,
  type Expression,
  QUANTIFIED,
  refuse,
  typeByName,
} from '../parse/index.ts';
import {
  BINARY,
  BOOL,
  type Bound,
  type BoundLiteral,
  coerceToCommon,
  commonType,
  describe,
  familyOf,
  findIn,
  literal,
  locationOf,
  nearestName,
  resolveName,
  settle,
  UINT64,
  UTF8,
  virtualColumn,
} from '../typed/index.ts';
import { bindArithmetic } from './bind-arithmetic.ts';
import { bindCall, checkFunctionName } from './bind-call.ts';
import { bindCompare } from './bind-compare.ts';
import { constantsOfIn, plainConstants, prepareConstants } from './bind-in.ts';
import { likeNode } from './bind-like.ts';
import { bindQuantified } from './bind-lists.ts';
import {
  bindCast,
  bindDistinct,
  bindList,
  bindNegate,
  exactLiteral,
  numberLiteral,
  typeForText,
} from './bind-literals.ts';
import { asRange, flat, fold, negated } from './fold.ts';

/** Binds `tree`; literals in the result have their final types. */
export function bindExpression(tree: Expression, schema: Schema): Bound {
  return settle(new Binder(schema).bind(tree));
}

/** Binds a condition. Throws InvalidInput where `tree` is no boolean. */
export function bindPredicate(tree: Expression, schema: Schema): Bound {
  const binder = new Binder(schema);
  return binder.condition(tree);
}

/** Terms of a condition that are bound without a break. */
const TERMS_OF_STEP = 16;

/** As `bindPredicate`, for an AND or an OR of many terms: yields between some of them. */
export function* bindTerms(
  tree: Extract<Expression, { kind: 'and' | 'or' }>,
  schema: Schema,
): Generator<undefined, Bound> {
  const binder = new Binder(schema);
  const terms: Bound[] = [];
  for (const arg of tree.args) {
    terms.push(binder.condition(arg));
    if (terms.length % TERMS_OF_STEP === 0) yield;
  }
  return fold(flat(tree.kind, terms));
}

/** Shorter lists are read as they are bound. */
const LONG_LIST = 1_024;

/** Reads the long lists of a condition in steps, those that it consists of or joins by AND and OR. */
export function* prepareLists(tree: Expression, schema: Schema): Generator<undefined, void> {
  if (tree.kind === 'and' || tree.kind === 'or') {
    for (const arg of tree.args) yield* prepareLists(arg, schema);
  } else if (tree.kind === 'not') yield* prepareLists(tree.arg, schema);
  else if (tree.kind === 'in' && tree.items.length >= LONG_LIST) {
    yield* prepareConstants(new Binder(schema).bind(tree.arg), tree.items);
  }
}

const COMPARISONS = new Set<string>(['=', '<>', '<', '<=', '>', '>=']);

export class Binder {
  readonly #schema: Schema;

  constructor(schema: Schema) {
    this.#schema = schema;
  }

  /** Bound and folded. */
  bind(tree: Expression): Bound {
    return fold(this.#bind(tree));
  }

  /** A boolean, or `regexp_match`, which stands for "it matches" where a condition is asked for. */
  condition(tree: Expression): Bound {
    if (tree.kind === 'call' && tree.name === 'regexp_match') {
      return this.bind({ ...tree, name: 'regexp_like' });
    }
    const bound = this.bind(tree);
    const family = familyOf(bound.type);
    if (family === 'null') return literal(BOOL, null, tree.at);
    if (family !== 'bool')
      refuse(tree.at, `${describe(bound)} is no condition; a boolean is needed`);
    return bound;
  }

  #bind(tree: Expression): Bound {
    const { at } = tree;
    switch (tree.kind) {
      case 'column':
        return this.#column(tree.path, at);
      case 'number':
        return numberLiteral(tree.text, at);
      case 'string':
        return { kind: 'literal', type: UTF8, value: tree.value, loose: 'string', at };
      case 'boolean':
        return literal(BOOL, tree.value, at);
      case 'null':
        return literal(new NullType(), null, at);
      case 'bytes':
        return literal(BINARY, new Uint8Array(Buffer.from(tree.hex, 'hex')), at);
      case 'array':
        return bindList(
          tree.items.map((item) => this.bind(item)),
          at,
        );
      case 'negate':
        return bindNegate(this.bind(tree.arg), at);
      case 'and':
      case 'or':
        return flat(
          tree.kind,
          tree.args.map((arg) => this.condition(arg)),
        );
      case 'not':
        return negated(this.condition(tree.arg));
      case 'binary': {
        const [left, right] = [this.bind(tree.left), this.bind(tree.right)];
        if (tree.op === '||') return bindCall('||', [left, right], at);
        if (COMPARISONS.has(tree.op))
          return bindCompare(tree.op as CompareOperator, left, right, at);
        return (
          exactLiteral(tree.op as '+', left, right, at) ??
          bindArithmetic(tree.op as '+', left, right, at)
        );
      }
      case 'is':
        return this.#is(tree.arg, tree.test, tree.negated);
      case 'distinct':
        return bindDistinct(this.bind(tree.left), this.bind(tree.right), tree.negated, at);
      case 'between': {
        const arg = this.bind(tree.arg);
        const low = bindCompare('>=', arg, this.bind(tree.low), at);
        const high = bindCompare('<=', arg, this.bind(tree.high), at);
        const both = asRange(low, high) ?? flat('and', [low, high].map(fold));
        return tree.negated ? negated(both) : both;
      }
      case 'in': {
        const found = this.#in(this.bind(tree.arg), tree.items, at);
        return tree.negated ? negated(found) : found;
      }
      case 'like': {
        const [arg, pattern] = [this.bind(tree.arg), this.bind(tree.pattern)].map(settle) as [
          Bound,
          Bound,
        ];
        for (const side of [arg, pattern]) {
          const family = familyOf(side.type);
          if (family !== 'text' && family !== 'null')
            refuse(locationOf(side) ?? at, `LIKE works on text, not on ${describe(side)}`);
          if (family === 'null') return literal(BOOL, null, at);
        }
        const escaping = tree.escape ?? '\\';
        if (pattern.kind === 'literal') {
          checked(pattern.at ?? at, () => checkPattern(String(pattern.value), escaping));
        }
        const { insensitive } = tree;
        const like = likeNode({ arg, pattern, escape: escaping, insensitive });
        return tree.negated ? negated(like) : like;
      }
      case 'case':
        return this.#case(tree);
      case 'cast': {
        const type = typeForText(tree.arg, tree.type, typeByName(tree.type, tree.type.at ?? at));
        return bindCast(this.bind(tree.arg), type, tree.lenient ? 'lenient' : 'explicit', at);
      }
      case 'call': {
        const [, op, word] = QUANTIFIED.exec(tree.name) ?? [];
        if (op !== undefined) {
          return this.#quantified(op as CompareOperator, word === 'all', tree.args, at);
        }
        // What looks like a lambda has a name that is no column, and a function that is not known.
        if (tree.args.some((arg) => arg.kind === 'call' && arg.name === '->')) {
          checkFunctionName(tree.name, at);
        }
        return bindCall(
          tree.name,
          tree.args.map((arg) => this.bind(arg)),
          at,
        );
      }
      case 'aggregate':
        return refuse(at, `${tree.name}(..) is not possible here: an expression sees one row`);
      case 'subquery':
        return refuse(at, 'A sub-select is not supported here');
      case 'field': {
        const arg = this.bind(tree.arg);
        if (!DataType.isStruct(arg.type))
          refuse(at, `${describe(arg)} is no struct; it has no member ${tree.name}`);
        const index = findIn(arg.type.children, tree.name, at);
        const field = arg.type.children[index];
        if (field === undefined) {
          const near = nearestName(
            tree.name,
            arg.type.children.map((child: { name: string }) => child.name),
          );
          refuse(
            at,
            `There is no member ${tree.name} in ${describe(arg)}${near === null ? '' : `; did you mean ${near}?`}`,
            { code: 'TableColumnNotFound', details: { column: tree.name } },
          );
        }
        if (arg.kind === 'column') {
          return {
            ...arg,
            path: [...arg.path, index],
            names: [...arg.names, field.name],
            type: field.type,
          };
        }
        return { kind: 'member', arg, index, type: field.type };
      }
      case 'element':
        return bindCall('array_element', [this.bind(tree.arg), this.bind(tree.index)], at);
    }
  }

  #column(path: readonly string[], at: number | undefined): Bound {
    const virtual = virtualColumn(this.#schema, path);
    if (virtual !== null) return { kind: 'virtual', name: virtual, type: UINT64 };
    return { kind: 'column', ...resolveName(this.#schema, path, at), at };
  }

  #is(tree: Expression, test: 'null' | 'true' | 'false' | 'unknown', negate: boolean): Bound {
    if (test === 'null') {
      return { kind: 'is', arg: settle(this.bind(tree)), test, negated: negate, type: BOOL };
    }
    const arg = this.condition(tree);
    return {
      kind: 'is',
      arg,
      test: test === 'unknown' ? 'null' : test,
      negated: negate,
      type: BOOL,
    };
  }

  #in(arg: Bound, items: readonly Expression[], at: number | undefined): Bound {
    const plain = arg.kind === 'literal' ? null : plainConstants(arg, items);
    if (plain !== null) return plain;
    const bound = items.map((item) => this.bind(item));
    const literals = bound.filter((item): item is BoundLiteral => item.kind === 'literal');
    if (literals.length === bound.length && arg.kind !== 'literal') {
      const constants = constantsOfIn(arg, literals, at);
      if (constants !== null) return constants;
    }
    return flat(
      'or',
      bound.map((item) => fold(bindCompare('=', arg, item, locationOf(item) ?? at))),
    );
  }

  /** `x = ANY (list)` and its like: of a list that is written down, one comparison per item. */
  #quantified(
    op: CompareOperator,
    all: boolean,
    [left, list]: readonly Expression[],
    at: number | undefined,
  ): Bound {
    if (left === undefined || list === undefined) {
      return refuse(at, `${op} ${all ? 'ALL' : 'ANY'} takes a value and a list`);
    }
    const arg = this.bind(left);
    if (list.kind !== 'array') return bindQuantified(op, all, arg, this.bind(list), at);
    if (list.items.length === 0) return literal(BOOL, all, at);
    if (op === '=' && !all) return this.#in(arg, list.items, at);
    if (op === '<>' && all) return negated(this.#in(arg, list.items, at));
    return flat(
      all ? 'and' : 'or',
      list.items.map((tree) => {
        const item = this.bind(tree);
        return fold(bindCompare(op, arg, item, locationOf(item) ?? at));
      }),
    );
  }

  #case(tree: Extract<Expression, { kind: 'case' }>): Bound {
    const operand = tree.operand === undefined ? undefined : this.bind(tree.operand);
    const whens = tree.whens.map(({ when, value }) => ({
      when:
        operand === undefined
          ? this.condition(when)
          : fold(bindCompare('=', operand, this.bind(when), when.at)),
      value: this.bind(value),
    }));
    const otherwise =
      tree.otherwise === undefined ? literal(new NullType(), null) : this.bind(tree.otherwise);
    const type = commonType([...whens.map(({ value }) => value), otherwise], 'CASE');
    return {
      kind: 'case',
      whens: whens.map(({ when, value }) => ({ when, value: coerceToCommon(value, type) })),
      otherwise: coerceToCommon(otherwise, type),
      type,
    };
  }
}
