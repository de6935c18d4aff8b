/** Operators of PostgreSQL's parse tree -> our tree: comparison, arithmetic, IN, LIKE, BETWEEN. */

import { similarPattern } from '../../src/sql/parse/special-calls.ts';
import type { BinaryOperator, Expression } from '../../src/sql/parse/tree.ts';
import { type Lowering, list, type PgNode, record, wordsOf } from './pg-node.ts';

const COMPARISONS = new Set<string>(['=', '<>', '<', '<=', '>', '>=']);
const OPERATORS = new Set<string>(['=', '<>', '<', '<=', '>', '>=', '+', '-', '*', '/', '%', '||']);

export function lowerOperator(node: PgNode, lowering: Lowering): Expression {
  const at = lowering.at(node);
  const op = wordsOf(node.name).join('.');
  const left = node.lexpr;
  const right = node.rexpr;
  switch (node.kind) {
    case 'AEXPR_OP':
      return plainOperator(op, left, right, node, lowering);
    case 'AEXPR_OP_ANY':
    case 'AEXPR_OP_ALL': {
      const word = node.kind === 'AEXPR_OP_ANY' ? 'any' : 'all';
      if (!COMPARISONS.has(op)) {
        lowering.refuse(
          node,
          `${op} ${word.toUpperCase()} is not supported; only comparisons take a list`,
        );
      }
      return {
        kind: 'call',
        name: `${op} ${word}`,
        args: [lowering.child(left), lowering.child(right)],
        ...at,
      };
    }
    case 'AEXPR_DISTINCT':
    case 'AEXPR_NOT_DISTINCT': {
      const negated = node.kind === 'AEXPR_NOT_DISTINCT';
      return {
        kind: 'distinct',
        left: lowering.child(left),
        right: lowering.child(right),
        negated,
        ...at,
      };
    }
    case 'AEXPR_NULLIF':
      return {
        kind: 'call',
        name: 'nullif',
        args: [lowering.child(left), lowering.child(right)],
        ...at,
      };
    case 'AEXPR_IN': {
      const negated = op === '<>';
      return {
        kind: 'in',
        arg: lowering.child(left),
        items: items(right, lowering),
        negated,
        ...at,
      };
    }
    case 'AEXPR_LIKE':
    case 'AEXPR_ILIKE':
      return like(node, op, lowering);
    case 'AEXPR_BETWEEN':
    case 'AEXPR_NOT_BETWEEN': {
      const [low, high] = list(record(record(right).List).items);
      return {
        kind: 'between',
        arg: lowering.child(left),
        low: lowering.child(low),
        high: lowering.child(high),
        negated: node.kind === 'AEXPR_NOT_BETWEEN',
        ...at,
      };
    }
    case 'AEXPR_BETWEEN_SYM':
    case 'AEXPR_NOT_BETWEEN_SYM': {
      const [low, high] = list(record(record(right).List).items).map((one) => lowering.child(one));
      const arg = lowering.child(left);
      const sides = { low: low as Expression, high: high as Expression };
      const plain = { kind: 'between', arg, ...sides, negated: false, ...at } as const;
      const either: Expression = {
        kind: 'or',
        args: [plain, { ...plain, low: sides.high, high: sides.low }],
        ...at,
      };
      return node.kind === 'AEXPR_BETWEEN_SYM' ? either : { kind: 'not', arg: either, ...at };
    }
    case 'AEXPR_SIMILAR':
      return similar(node, op, lowering);
    default:
      return lowering.refuse(node, `${op.toUpperCase()} (${String(node.kind)}) is not supported`);
  }
}

/** Operators that are functions here. */
const CALLS: ReadonlyMap<string, string> = new Map([
  ['^', 'power'],
  ['&', '&'],
  ['|', '|'],
  ['#', 'xor'],
  ['<<', '<<'],
  ['>>', '>>'],
  ['->', '->'],
  ['->>', '->>'],
]);

function plainOperator(
  op: string,
  left: unknown,
  right: unknown,
  node: PgNode,
  lowering: Lowering,
): Expression {
  const at = lowering.at(node);
  if (left === undefined) {
    if (op === '-') return negated(lowering.child(right), at);
    if (op === '+') return lowering.child(right);
    if (op === '~') {
      const ones: Expression = { kind: 'number', text: '-1', ...at };
      return { kind: 'call', name: 'xor', args: [lowering.child(right), ones], ...at };
    }
  } else if (OPERATORS.has(op)) {
    const [l, r] = [lowering.child(left), lowering.child(right)];
    return { kind: 'binary', op: op as BinaryOperator, left: l, right: r, ...at };
  } else if (CALLS.has(op)) {
    const args = [lowering.child(left), lowering.child(right)];
    return { kind: 'call', name: CALLS.get(op) as string, args, ...at };
  } else if (op === '~' || op === '~*' || op === '!~' || op === '!~*') {
    const args: Expression[] = [lowering.child(left), lowering.child(right)];
    if (op.endsWith('*')) args.push({ kind: 'string', value: 'i' });
    const call: Expression = { kind: 'call', name: 'regexp_like', args, ...at };
    return op.startsWith('!') ? { kind: 'not', arg: call, ...at } : call;
  }
  return lowering.refuse(node, `The operator ${op} is not supported`);
}

/** - + 5 is a constant for us, and an operator on one for PostgreSQL. */
function negated(arg: Expression, at: { at: number } | Record<never, never>): Expression {
  if (arg.kind !== 'number') return { kind: 'negate', arg, ...at };
  if (arg.text === '0') return { ...arg, ...at };
  const text = arg.text.startsWith('-') ? arg.text.slice(1) : `-${arg.text}`;
  return { kind: 'number', text, ...at };
}

function items(value: unknown, lowering: Lowering): readonly Expression[] {
  const items = list(record(record(value).List).items);
  return items.map((item) => lowering.expression(item));
}

function like(node: PgNode, op: string, lowering: Lowering): Expression {
  const right = record(node.rexpr);
  const call = record(right.FuncCall);
  const name = wordsOf(call.funcname);
  const escaped = name.at(-1) === 'like_escape' && name[0] === 'pg_catalog';
  const [pattern, escaping] = escaped ? list(call.args) : [right, undefined];
  let character: string | undefined;
  if (escaping !== undefined) {
    const found = lowering.expression(escaping);
    if (found.kind !== 'string' || [...found.value].length > 1) {
      lowering.refuse(node, 'ESCAPE takes a string of one character');
    }
    character = found.value;
  }
  return {
    kind: 'like',
    arg: lowering.child(node.lexpr),
    pattern: lowering.child(pattern),
    insensitive: op.endsWith('*'),
    negated: op.startsWith('!'),
    ...(character === undefined ? {} : { escape: character }),
    ...lowering.at(node),
  };
}

/** A pattern that is written down becomes a regular expression. */
function similar(node: PgNode, op: string, lowering: Lowering): Expression {
  const at = lowering.at(node);
  const [given, escaping] = list(record(record(node.rexpr).FuncCall).args);
  const pattern = lowering.child(given);
  const character = escaping === undefined ? undefined : lowering.child(escaping);
  if (pattern.kind === 'null') return pattern;
  const escaped = character?.kind === 'string' ? character.value : undefined;
  if (pattern.kind !== 'string' || (character !== undefined && escaped === undefined)) {
    return lowering.refuse(node, 'SIMILAR TO takes a pattern in single quotes');
  }
  const value = similarPattern(pattern.value, escaped ?? '\\');
  const args = [lowering.child(node.lexpr), { ...pattern, value }];
  const call: Expression = { kind: 'call', name: 'regexp_like', args, ...at };
  return op.startsWith('!') ? { kind: 'not', arg: call, ...at } : call;
}
