/**
 * A second opinion on expressions: one row at a time, straight from the tree, on plain JavaScript
 * values. Slow and simple on purpose; it shares no code with the engine except the parser.
 * Integers are bigint, floats number, text string; it knows the forms the random trees have.
 */
import type { Expression } from '../../src/sql/parse/tree.ts';

export type Plain = bigint | number | string | boolean | null;
export type Row = Readonly<Record<string, Plain>>;

export function interpret(tree: Expression, row: Row): Plain {
  const go = (inner: Expression): Plain => interpret(inner, row);
  switch (tree.kind) {
    case 'column':
      return row[tree.path.join('.')] ?? null;
    case 'number':
      return /[.e]/i.test(tree.text) ? Number(tree.text) : BigInt(tree.text);
    case 'string':
      return tree.value;
    case 'boolean':
      return tree.value;
    case 'null':
      return null;
    case 'and':
      return logic(tree.args.map(go), false);
    case 'or':
      return logic(tree.args.map(go), true);
    case 'not':
      return not(go(tree.arg));
    case 'negate': {
      const value = go(tree.arg);
      return typeof value === 'bigint' ? -value : value === null ? null : -(value as number);
    }
    case 'is': {
      const value = go(tree.arg);
      const found =
        tree.test === 'true'
          ? value === true
          : tree.test === 'false'
            ? value === false
            : value === null;
      return found !== tree.negated;
    }
    case 'distinct': {
      const [a, b] = [go(tree.left), go(tree.right)];
      const same = a === null || b === null ? a === b : order(a, b) === 0;
      return same === tree.negated;
    }
    case 'binary':
      return binary(tree.op, go(tree.left), go(tree.right));
    case 'between': {
      const value = go(tree.arg);
      const inside = logic(
        [binary('>=', value, go(tree.low)), binary('<=', value, go(tree.high))],
        false,
      );
      return tree.negated ? not(inside) : inside;
    }
    case 'in': {
      const value = go(tree.arg);
      const found = logic(
        tree.items.map((item) => binary('=', value, go(item))),
        true,
      );
      return tree.negated ? not(found) : found;
    }
    case 'like': {
      const [value, pattern] = [go(tree.arg), go(tree.pattern)];
      if (value === null || pattern === null) return null;
      return likeRegExp(String(pattern), tree.insensitive).test(String(value)) !== tree.negated;
    }
    case 'case': {
      for (const { when, value } of tree.whens) {
        const met = tree.operand === undefined ? go(when) : binary('=', go(tree.operand), go(when));
        if (met === true) return go(value);
      }
      return tree.otherwise === undefined ? null : go(tree.otherwise);
    }
    case 'call':
      return call(tree.name, tree.args.map(go));
    default:
      throw new Error(`the naive interpreter has no ${tree.kind}`);
  }
}

function not(value: Plain): Plain {
  return value === null ? null : !value;
}

function logic(values: readonly Plain[], decides: boolean): Plain {
  if (values.includes(decides)) return decides;
  return values.includes(null) ? null : !decides;
}

/** NaN equals itself and comes last; bigint against number is exact in JavaScript. */
function order(a: Exclude<Plain, null>, b: Exclude<Plain, null>): number {
  if (typeof a === 'string' && typeof b === 'string')
    return Buffer.compare(Buffer.from(a), Buffer.from(b));
  if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
  return a < b ? -1 : a > b ? 1 : 0;
}

function binary(op: string, a: Plain, b: Plain): Plain {
  if (a === null || b === null) return null;
  switch (op) {
    case '=':
      return order(a, b) === 0;
    case '<>':
      return order(a, b) !== 0;
    case '<':
      return order(a, b) < 0;
    case '<=':
      return order(a, b) <= 0;
    case '>':
      return order(a, b) > 0;
    case '>=':
      return order(a, b) >= 0;
    case '||':
      return String(a) + String(b);
  }
  if (typeof a === 'bigint' && typeof b === 'bigint') {
    if (op === '+') return a + b;
    if (op === '-') return a - b;
    if (op === '*') return a * b;
    return op === '/' ? a / b : a % b;
  }
  const [x, y] = [Number(a), Number(b)];
  if (op === '+') return x + y;
  if (op === '-') return x - y;
  if (op === '*') return x * y;
  return op === '/' ? x / y : x % y;
}

function likeRegExp(pattern: string, insensitive: boolean): RegExp {
  const body = [...pattern]
    .map((c) => (c === '%' ? '.*' : c === '_' ? '.' : c.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')))
    .join('');
  return new RegExp(`^${body}$`, `su${insensitive ? 'i' : ''}`);
}

function call(name: string, args: readonly Plain[]): Plain {
  if (name === 'coalesce') return args.find((arg) => arg !== null) ?? null;
  const [first = null, second = null] = args;
  if (name === 'nullif') return binary('=', first, second) === true ? null : first;
  if (args.includes(null)) return null;
  switch (name) {
    case 'lower':
      return String(first).toLowerCase();
    case 'upper':
      return String(first).toUpperCase();
    case 'length':
      return BigInt([...String(first)].length);
    case 'starts_with':
      return String(first).startsWith(String(second));
    case 'abs':
      return typeof first === 'bigint' ? (first < 0n ? -first : first) : Math.abs(first as number);
    default:
      throw new Error(`the naive interpreter has no ${name}`);
  }
}
