/**
 * Expression tree + schema -> bound tree: names found, types checked, coercions inserted, constants
 * folded. It never sees rows, except the one row that folding a constant takes.
 */
import {
  DataType,
  Decimal as DecimalType,
  Null as NullType,
  type Schema,
  Timestamp,
} from '../arrow.ts';
import { isDirspaceError } from '../errors.ts';
import { bindArithmetic } from './bind-arithmetic.ts';
import { bindCall } from './bind-call.ts';
import { bindCompare } from './bind-compare.ts';
import { constantsOfIn, plainConstants } from './bind-in.ts';
import { type Bound, type BoundLiteral, childrenOf } from './bound.ts';
import { canCast } from './cast.ts';
import { coerce, commonType, describe, literal, locationOf, settle } from './coerce.ts';
import { BOOL } from './column.ts';
import { evaluateConstant } from './evaluate.ts';
import { compilePattern } from './evaluate-like.ts';
import { type ExactNumber, exactToDouble, parseExact, parseTimestamp } from './literals.ts';
import { findIn, nearestName, resolveName, virtualColumn } from './names.ts';
import { checked, refuse } from './sql-error.ts';
import type { CompareOperator, Expression } from './tree.ts';
import { MAX_PRECISION, typeByName } from './type-names.ts';
import {
  BINARY,
  FLOAT64,
  familyOf,
  INT64,
  integerRange,
  listOf,
  plainType,
  timeUnitOf,
  timeZoneOf,
  typeText,
  UINT64,
  UTF8,
} from './types.ts';

/** Binds `tree`; literals in the result have their final types. */
export function bindExpression(tree: Expression, schema: Schema): Bound {
  return settle(new Binder(schema).bind(tree));
}

/** Binds a condition. Throws InvalidInput where `tree` is no boolean. */
export function bindPredicate(tree: Expression, schema: Schema): Bound {
  const binder = new Binder(schema);
  return binder.condition(tree);
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
        return bindArithmetic(tree.op as '+', left, right, at);
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
          checked(pattern.at ?? at, () => compilePattern(String(pattern.value), escaping, false));
        }
        const like: Bound = {
          kind: 'like',
          arg,
          pattern,
          escape: escaping,
          insensitive: tree.insensitive,
          type: BOOL,
        };
        return tree.negated ? negated(like) : like;
      }
      case 'case':
        return this.#case(tree);
      case 'cast': {
        const type = typeByName(tree.type, at);
        return bindCast(this.bind(tree.arg), type, tree.lenient ? 'lenient' : 'explicit', at);
      }
      case 'call':
        return bindCall(
          tree.name,
          tree.args.map((arg) => this.bind(arg)),
          at,
        );
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
      whens: whens.map(({ when, value }) => ({ when, value: coerce(value, type) })),
      otherwise: coerce(otherwise, type),
      type,
    };
  }
}

/** Nested ANDs (and ORs) become one. */
function flat(kind: 'and' | 'or', args: readonly Bound[]): Bound {
  const all = args.flatMap((arg) => (arg.kind === kind ? arg.args : [arg]));
  const [only] = all;
  if (all.length === 1 && only !== undefined) return only;
  return { kind, args: all, type: BOOL };
}

function negated(arg: Bound): Bound {
  if (arg.kind === 'not') return arg.arg;
  if (arg.kind === 'known') return { ...arg, value: !arg.value };
  if (arg.kind === 'is') return { ...arg, negated: !arg.negated };
  return { kind: 'not', arg, type: BOOL };
}

/** Two bounds on the same thing in one pass. */
function asRange(low: Bound, high: Bound): Bound | null {
  if (low.kind !== 'compareConstant' || high.kind !== 'compareConstant') return null;
  if (low.op !== '>=' || high.op !== '<=') return null;
  const family = familyOf(low.arg.type);
  if (family === 'text' || family === 'bytes' || family === 'bool') return null;
  return { kind: 'range', arg: low.arg, low: low.value, high: high.value, type: BOOL };
}

function numberLiteral(text: string, at: number | undefined): Bound {
  const exact = parseExact(text);
  if (exact === null) return refuse(at, `The number ${text.slice(0, 40)} is out of range`);
  return looseNumber(exact, /[.e]/i.test(text) && !/^[+-]?0x/i.test(text), at);
}

function looseNumber(exact: ExactNumber, fractional: boolean, at: number | undefined): Bound {
  const { unscaled, scale } = exact;
  const loose = { ...exact, fractional };
  if (scale === 0 && !fractional) {
    const [least, greatest] = integerRange(INT64);
    if (unscaled >= least && unscaled <= greatest)
      return { kind: 'literal', type: INT64, value: unscaled, loose, at };
    if (unscaled > 0n && unscaled <= integerRange(UINT64)[1]) {
      return { kind: 'literal', type: UINT64, value: unscaled, loose, at };
    }
  }
  const digits = String(unscaled < 0n ? -unscaled : unscaled).length;
  if (scale === 0 && !fractional && digits <= MAX_PRECISION) {
    return {
      kind: 'literal',
      type: new DecimalType(0, MAX_PRECISION, 128),
      value: unscaled,
      loose,
      at,
    };
  }
  return { kind: 'literal', type: FLOAT64, value: exactToDouble(exact), loose, at };
}

function bindNegate(arg: Bound, at: number | undefined): Bound {
  if (arg.kind === 'literal' && typeof arg.loose === 'object') {
    return looseNumber(
      { unscaled: -arg.loose.unscaled, scale: arg.loose.scale },
      arg.loose.fractional,
      at,
    );
  }
  return bindCall('negate', [arg], at);
}

function bindDistinct(left: Bound, right: Bound, negate: boolean, at: number | undefined): Bound {
  const isNull = (side: Bound): boolean => familyOf(side.type) === 'null';
  if (isNull(left) || isNull(right)) {
    return {
      kind: 'is',
      arg: settle(isNull(left) ? right : left),
      test: 'null',
      negated: !negate,
      type: BOOL,
    };
  }
  const equal = bindCompare('=', left, right, at);
  return {
    kind: 'distinct',
    equal,
    left: settle(left),
    right: settle(right),
    negated: negate,
    type: BOOL,
  };
}

function bindList(items: readonly Bound[], at: number | undefined): Bound {
  if (items.length > 100_000) refuse(at, 'A list literal has more than 100000 items');
  const type = commonType(items, 'A list');
  return { kind: 'list', items: items.map((item) => coerce(item, type)), type: listOf(type) };
}

export function bindCast(
  arg: Bound,
  type: DataType,
  mode: 'explicit' | 'lenient',
  at: number | undefined,
): Bound {
  const from = familyOf(arg.type);
  if (from === 'null') return literal(type, null, at);
  if (arg.kind === 'literal' && typeof arg.loose === 'object' && familyOf(type) !== 'text') {
    // The digits as written, not their nearest double.
    const exact = arg.loose;
    if (familyOf(type) === 'decimal') {
      return {
        kind: 'cast',
        arg: literal(new DecimalType(exact.scale, 38, 128), exact.unscaled, at),
        mode,
        type,
      };
    }
  }
  if (arg.kind === 'literal' && arg.loose === 'string' && namesAnInstant(arg, type)) {
    return bindCast(arg, new Timestamp(timeUnitOf(type), 'UTC'), mode, at);
  }
  const settled = settle(arg);
  if (!canCast(from, familyOf(type))) {
    refuse(at, `${describe(settled)} cannot be cast to ${typeText(type)}`);
  }
  return typeText(plainType(settled.type)) === typeText(type)
    ? settled
    : { kind: 'cast', arg: settled, mode, type };
}

/** TIMESTAMP '2020-01-01T00:00:00Z': the text says an offset, so it is no wall-clock time. */
function namesAnInstant(text: BoundLiteral, type: DataType): boolean {
  if (familyOf(type) !== 'timestamp' || timeZoneOf(type) !== null) return false;
  return (parseTimestamp(String(text.value))?.offset ?? null) !== null;
}

/** A literal where everything below is one; an error stays for the row that would meet it. */
export function fold(bound: Bound): Bound {
  if (bound.kind === 'literal') return bound;
  if (bound.kind === 'and' || bound.kind === 'or') return foldLogic(bound);
  if (bound.kind === 'known' && bound.arg.kind !== 'literal') return bound;
  const children = childrenOf(bound);
  if (bound.kind === 'column' || bound.kind === 'virtual') return bound;
  if (!children.every((child) => child.kind === 'literal')) return bound;
  if (bound.kind === 'list' && bound.items.length > 1000) return bound;
  try {
    return literal(bound.type, evaluateConstant(bound), children.map(locationOf)[0]);
  } catch (error) {
    // What a literal says is wrong now; what a calculation meets is wrong when a row gets there.
    const wrong =
      bound.kind === 'cast' && bound.arg.kind === 'literal' && bound.mode === 'explicit';
    if (wrong && isDirspaceError(error, 'InvalidInput')) {
      refuse(locationOf(bound.arg), error.message, { cause: error });
    }
    return bound;
  }
}

function foldLogic(bound: Extract<Bound, { kind: 'and' | 'or' }>): Bound {
  const decides = bound.kind === 'or';
  const args: Bound[] = [];
  for (const arg of bound.args) {
    if (arg.kind === 'literal' && arg.value === decides) return literal(BOOL, decides);
    if (!(arg.kind === 'literal' && arg.value === !decides)) args.push(arg);
  }
  const [only] = args;
  if (only === undefined) return literal(BOOL, !decides);
  return args.length === 1 ? only : { ...bound, args };
}
