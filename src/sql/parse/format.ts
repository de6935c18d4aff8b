/**
 * `formatExpression` formats an expression tree as SQL text, for plans and messages. Parsing that
 * text gives the same tree again, apart from positions, if the functions and types that the tree
 * names exist. `formatName` quotes a name where the grammar needs it, and `formatTable` quotes
 * those of a table's path.
 */

import { quotedName, quotedText } from '../../sql-quotes.ts';
import { KEYWORDS } from './keywords.ts';
import {
  type AggregateExpression,
  type Expression,
  type OrderItem,
  QUANTIFIED,
  type RowFrame,
  type TypeName,
} from './tree.ts';

/** How tightly each form binds; an operand that binds less is put in parentheses. */
const OR = 1;
const AND = 2;
const NOT = 3;
const IS = 4;
const COMPARE = 5;
const RANGE = 6;
const CONCAT = 7;
const ADD = 8;
const MULTIPLY = 9;
const NEGATE = 10;
const ATOM = 11;

const BINARY: Readonly<Record<string, number>> = {
  '=': COMPARE,
  '<>': COMPARE,
  '<': COMPARE,
  '<=': COMPARE,
  '>': COMPARE,
  '>=': COMPARE,
  '||': CONCAT,
  '+': ADD,
  '-': ADD,
  '*': MULTIPLY,
  '/': MULTIPLY,
  '%': MULTIPLY,
};

/** SQL text of `tree`. */
export function formatExpression(tree: Expression): string {
  return write(tree)[0];
}

function at(tree: Expression, least: number): string {
  const [text, level] = write(tree);
  return level < least ? `(${text})` : text;
}

function write(tree: Expression): [text: string, level: number] {
  switch (tree.kind) {
    case 'column':
      return [tree.path.map(formatName).join('.'), ATOM];
    case 'number':
      return [tree.text, tree.text.startsWith('-') ? NEGATE : ATOM];
    case 'string':
      return [quotedText(tree.value), ATOM];
    case 'boolean':
      return [tree.value ? 'TRUE' : 'FALSE', ATOM];
    case 'null':
      return ['NULL', ATOM];
    case 'bytes':
      return [`X'${tree.hex}'`, ATOM];
    case 'array':
      return [`ARRAY[${commas(tree.items)}]`, ATOM];
    case 'negate': {
      // `-1` would be read back as a constant, `--` as a comment.
      const [text, level] = write(tree.arg);
      const bare = level > NEGATE && tree.arg.kind !== 'number';
      return [bare ? `-${text}` : `-(${text})`, NEGATE];
    }
    case 'and':
    case 'or': {
      const level = tree.kind === 'and' ? AND : OR;
      const word = tree.kind === 'and' ? ' AND ' : ' OR ';
      return [tree.args.map((arg) => at(arg, level + 1)).join(word), level];
    }
    case 'not':
      return [`NOT ${at(tree.arg, NOT)}`, NOT];
    case 'binary': {
      const level = BINARY[tree.op] ?? COMPARE;
      // Comparisons do not chain; everything else leans left.
      const left = at(tree.left, level === COMPARE ? level + 1 : level);
      return [`${left} ${tree.op} ${at(tree.right, level + 1)}`, level];
    }
    case 'is':
      return [`${at(tree.arg, IS + 1)} IS ${not(tree.negated)}${tree.test.toUpperCase()}`, IS];
    case 'distinct': {
      const [left, right] = [at(tree.left, IS + 1), at(tree.right, IS + 1)];
      return [`${left} IS ${not(tree.negated)}DISTINCT FROM ${right}`, IS];
    }
    case 'between': {
      const bounds = `${at(tree.low, RANGE + 1)} AND ${at(tree.high, RANGE + 1)}`;
      return [`${at(tree.arg, RANGE + 1)} ${not(tree.negated)}BETWEEN ${bounds}`, RANGE];
    }
    case 'in':
      return [`${at(tree.arg, RANGE + 1)} ${not(tree.negated)}IN (${commas(tree.items)})`, RANGE];
    case 'like': {
      const word = tree.insensitive ? 'ILIKE' : 'LIKE';
      const escaping = tree.escape === undefined ? '' : ` ESCAPE ${quotedText(tree.escape)}`;
      const pattern = at(tree.pattern, RANGE + 1);
      return [
        `${at(tree.arg, RANGE + 1)} ${not(tree.negated)}${word} ${pattern}${escaping}`,
        RANGE,
      ];
    }
    case 'case': {
      const operand = tree.operand === undefined ? '' : ` ${write(tree.operand)[0]}`;
      const whens = tree.whens.map(
        ({ when, value }) => ` WHEN ${write(when)[0]} THEN ${write(value)[0]}`,
      );
      const otherwise = tree.otherwise === undefined ? '' : ` ELSE ${write(tree.otherwise)[0]}`;
      return [`CASE${operand}${whens.join('')}${otherwise} END`, ATOM];
    }
    case 'cast': {
      const word = tree.lenient ? 'TRY_CAST' : 'CAST';
      return [`${word}(${write(tree.arg)[0]} AS ${formatTypeName(tree.type)})`, ATOM];
    }
    case 'call': {
      const [, op, word] = QUANTIFIED.exec(tree.name) ?? [];
      const [left, list] = tree.args;
      if (word !== undefined && left !== undefined && list !== undefined) {
        return [`${at(left, COMPARE + 1)} ${op} ${word.toUpperCase()}(${write(list)[0]})`, COMPARE];
      }
      return writeCall(tree.name, tree.args);
    }
    case 'aggregate':
      return [writeAggregate(tree), ATOM];
    case 'subquery': {
      const query = `(${tree.text})`;
      if (tree.form === 'any' && tree.arg !== undefined) {
        return [`${at(tree.arg, COMPARE + 1)} ${tree.op ?? '='} ANY ${query}`, COMPARE];
      }
      if (tree.form === 'rows' && tree.arg?.kind === 'array') {
        return [`(${commas(tree.arg.items)}) IN ${query}`, RANGE];
      }
      if (tree.arg !== undefined) return [`${at(tree.arg, RANGE + 1)} IN ${query}`, RANGE];
      return [tree.form === 'exists' ? `EXISTS ${query}` : query, ATOM];
    }
    case 'field':
      return [`(${write(tree.arg)[0]}).${formatName(tree.name)}`, ATOM];
    case 'element':
      return [`(${write(tree.arg)[0]})[${write(tree.index)[0]}]`, ATOM];
  }
}

/** Functions whose names the grammar keeps for itself are written quoted, or in its own syntax. */
function writeCall(name: string, args: readonly Expression[]): [string, number] {
  const plain = /^[a-z_][a-z0-9_]*$/.test(name);
  return [`${plain ? (OWN_SYNTAX.get(name) ?? name) : formatName(name)}(${commas(args)})`, ATOM];
}

const OWN_SYNTAX: ReadonlyMap<string, string> = new Map([
  ['extract', 'pg_catalog.extract'],
  ['position', 'pg_catalog.position'],
  ['trim', '"trim"'],
  ['left', '"left"'],
  ['right', '"right"'],
]);

function writeAggregate(tree: AggregateExpression): string {
  const { name, args, star, distinct, orderBy, filter, ignoresNulls, over } = tree;
  const order = orderBy.length === 0 ? '' : ` ORDER BY ${orderItems(orderBy)}`;
  if (name.startsWith('percentile_') && orderBy.length > 0) {
    const share = args.slice(1);
    const call = `${formatName(name)}(${distinct ? 'DISTINCT ' : ''}${commas(share)})`;
    return `${call} WITHIN GROUP (${order.trim()})${writeFilter(filter)}${writeWindow(over)}`;
  }
  const inner = star ? '*' : `${distinct ? 'DISTINCT ' : ''}${commas(args)}${order}`;
  const nulls = ignoresNulls === true ? ' IGNORE NULLS' : '';
  return `${formatName(name)}(${inner}${nulls})${writeFilter(filter)}${writeWindow(over)}`;
}

const writeFilter = (filter: Expression | undefined): string =>
  filter === undefined ? '' : ` FILTER (WHERE ${write(filter)[0]})`;

const FRAMES = {
  rows: 'ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW',
  whole: 'ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING',
};

function writeWindow(over: AggregateExpression['over']): string {
  if (over === undefined) return '';
  if (typeof over === 'string') return ` OVER ${formatName(over)}`;
  const { partitionBy, orderBy, frame } = over;
  const parts = [
    ...(partitionBy.length === 0 ? [] : [`PARTITION BY ${commas(partitionBy)}`]),
    ...(orderBy.length === 0 ? [] : [`ORDER BY ${orderItems(orderBy)}`]),
    ...(frame === undefined ? [] : [typeof frame === 'string' ? FRAMES[frame] : writeFrame(frame)]),
  ];
  return ` OVER (${parts.join(' ')})`;
}

function writeFrame({ unit, start, end, startBy, endBy }: RowFrame): string {
  const bound = (rows: number | undefined, by: Expression | undefined, side: string): string => {
    if (rows === undefined) return `UNBOUNDED ${side}`;
    if (rows === 0) return 'CURRENT ROW';
    const distance = by === undefined ? Math.abs(rows) : write(by)[0];
    return `${distance} ${rows < 0 ? 'PRECEDING' : 'FOLLOWING'}`;
  };
  const from = bound(start, startBy, 'PRECEDING');
  return `${(unit ?? 'rows').toUpperCase()} BETWEEN ${from} AND ${bound(end, endBy, 'FOLLOWING')}`;
}

const orderItems = (items: readonly OrderItem[]): string =>
  items
    .map(({ value, ascending, nullsFirst }) => {
      const nulls = nullsFirst === undefined ? '' : ` NULLS ${nullsFirst ? 'FIRST' : 'LAST'}`;
      return `${write(value)[0]}${ascending ? '' : ' DESC'}${nulls}`;
    })
    .join(', ');

function commas(items: readonly Expression[]): string {
  return items.map((item) => write(item)[0]).join(', ');
}

function not(negated: boolean): string {
  return negated ? 'NOT ' : '';
}

/** Everything but plain lower-case words is quoted, and every word the grammar may know. */
export function formatName(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) && !KEYWORDS.has(name) && name !== 'try_cast'
    ? name
    : quotedName(name);
}

/** The path of a table: names after a period may be any words. */
export const formatTable = (path: readonly string[]): string =>
  path
    .map((name, at) => (at > 0 && /^[A-Za-z_]\w*$/.test(name) ? name : formatName(name)))
    .join('.');

function formatTypeName(type: TypeName): string {
  const args = type.args.length === 0 ? '' : `(${type.args.join(', ')})`;
  const plain = /^[a-z_][a-z0-9_]*$/.test(type.name);
  return `${plain ? type.name : formatName(type.name)}${args}`;
}
