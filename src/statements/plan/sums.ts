/**
 * `sumsOfParts` finds sums of one integer column that differ by a constant: `sum(x + 1)`, `sum(x +
 * 2)`. It returns a function that rewrites them to `sum(x) + 1 * count(x)` and so on, so that two
 * aggregates do for all of them. It returns undefined if no column has two such sums. The column
 * has at most 32 bits and the constants at most 9 digits, so neither the terms nor their sums leave
 * 64 bits, and the results and the errors are the same.
 * Sums whose FILTER calls functions of the program are left alone, as each calls them itself.
 */
import { DataType, plainType, type Schema } from '../../arrow/index.ts';
import {
  type AggregateExpression,
  compileConditionTree,
  compileTree,
  type Expression,
} from '../../sql/index.ts';
import { rewritten, textOf, visit } from '../steps/index.ts';

/** `sum(column + addend)`. */
interface ShiftedSum {
  readonly column: Extract<Expression, { kind: 'column' }>;
  readonly op: '+' | '-';
  readonly addend: Extract<Expression, { kind: 'number' }>;
}

/** Constants of more digits are left alone. */
const ADDEND = /^\d{1,9}$/;

/** @returns undefined where there are less than two such sums of a column */
export function sumsOfParts(
  trees: readonly Expression[],
  schema: Schema,
): ((tree: Expression) => Expression) | undefined {
  const sums = new Map<string, Set<string>>();
  for (const tree of trees) {
    visit(tree, (part) => {
      if (part.kind !== 'aggregate') return true;
      const shifted = shiftedSum(part, schema);
      if (shifted === undefined) return part.over !== undefined;
      const key = textOf(plainCall(part, 'sum', shifted));
      sums.set(key, (sums.get(key) ?? new Set()).add(textOf(part)));
      return false;
    });
  }
  const several = new Set([...sums].filter(([, { size }]) => size > 1).map(([key]) => key));
  if (several.size === 0) return undefined;
  return (tree) =>
    rewritten(tree, (part) => {
      const shifted = part.kind === 'aggregate' ? shiftedSum(part, schema) : undefined;
      if (part.kind !== 'aggregate' || shifted === undefined) return undefined;
      const sum = plainCall(part, 'sum', shifted);
      return several.has(textOf(sum)) ? inParts(part, shifted, sum) : undefined;
    });
}

function inParts(call: AggregateExpression, shifted: ShiftedSum, sum: Expression): Expression {
  const { op, addend } = shifted;
  const at = call.at ?? 0;
  const count = plainCall(call, 'count', shifted);
  const added: Expression = { kind: 'binary', op: '*', left: count, right: addend, at };
  return { kind: 'binary', op, left: sum, right: added, at };
}

/** The call over the column alone, with the same FILTER. */
const plainCall = (
  call: AggregateExpression,
  name: string,
  { column }: ShiftedSum,
): AggregateExpression => ({ ...call, name, args: [column] });

function shiftedSum(call: AggregateExpression, schema: Schema): ShiftedSum | undefined {
  const { name, args, distinct, over, orderBy, filter } = call;
  const [arg] = args;
  if (name !== 'sum' || distinct || over !== undefined || orderBy.length > 0) return undefined;
  if (args.length !== 1 || arg?.kind !== 'binary' || (arg.op !== '+' && arg.op !== '-')) {
    return undefined;
  }
  if (filter !== undefined && compileConditionTree(filter, schema).callsProgram) return undefined;
  const { op, left, right } = arg;
  if (left.kind === 'column' && isAddend(right)) return ofColumn(left, op, right, schema);
  if (op === '+' && isAddend(left) && right.kind === 'column') {
    return ofColumn(right, op, left, schema);
  }
  return undefined;
}

const isAddend = (tree: Expression): tree is ShiftedSum['addend'] =>
  tree.kind === 'number' && ADDEND.test(tree.text);

function ofColumn(
  column: ShiftedSum['column'],
  op: ShiftedSum['op'],
  addend: ShiftedSum['addend'],
  schema: Schema,
): ShiftedSum | undefined {
  const type = plainType(compileTree(column, schema).type);
  return DataType.isInt(type) && type.bitWidth <= 32 ? { column, op, addend } : undefined;
}
