/**
 * `parseRowCondition` parses a condition on a row of several values, such as `(a, b) IN (..)` or
 * `(a, b) < (c, d)`, from the first comma on. It becomes conditions on the values, except IN with a
 * query, which keeps the row. Rows are equal if all their values are; otherwise the first values
 * that differ decide the order. Written rows of different lengths throw InvalidInput, and so do
 * rows in any other place and an order of rows of about 10,000 parts. `parseQuantifiedQuery` parses
 * the query of ANY and ALL.
 */
import type { Parser } from './parser.ts';
import { refuseUnsupported } from './refusals.ts';
import { refuse } from './sql-error.ts';
import type { CompareOperator, Expression } from './tree.ts';

/** What is true where the comparison is false. */
const NEGATED: Readonly<Record<CompareOperator, CompareOperator>> = {
  '=': '<>',
  '<>': '=',
  '<': '>=',
  '<=': '>',
  '>': '<=',
  '>=': '<',
};

/** `left op ANY (query)` or `left op ALL (query)`, behind the parenthesis. */
export function parseQuantifiedQuery(
  parser: Parser,
  left: Expression,
  op: string,
  isAny: boolean,
  at: number,
): Expression {
  // What is true of all rows is what is false of none.
  const asked = isAny ? (op as CompareOperator) : NEGATED[op as CompareOperator];
  const form = asked === '=' ? 'in' : 'any';
  const found = parser.subquery(form, at, left);
  const query = form === 'in' ? found : { ...found, op: asked };
  return isAny ? query : { kind: 'not', arg: query, at };
}

/** @param first value of the row, behind which the cursor is on a comma; `open` is where it begins */
export function parseRowCondition(parser: Parser, first: Expression, open: number): Expression {
  const { tokens } = parser;
  const row = values(parser, open, first);
  let { height } = parser;
  const negated = parser.took('not');
  const at = tokens.start;
  const op = parser.isString ? '' : tokens.text;
  if (!negated && /^(?:=|<>|!=)$/.test(op)) {
    tokens.next();
    const equal = equation(row, otherRow(parser, row), at);
    parser.height = Math.max(height, parser.height) + 2;
    return op === '=' ? equal : { kind: 'not', arg: equal, at };
  }
  if (!negated && /^[<>]=?$/.test(op)) {
    tokens.next();
    const other = otherRow(parser, row);
    parser.height = Math.max(height, parser.height) + 2 * row.length;
    parser.bound();
    return inOrder(op as CompareOperator, row, other, at);
  }
  if (!parser.took('in')) return refuseUnsupported(open, 'A row of several values');
  const list = tokens.start;
  parser.take('(');
  let found: Expression;
  if (parser.beginsSubquery()) {
    found = parser.subquery('rows', at, { kind: 'array', items: row, at: open });
    height = Math.max(height, parser.height) + 1;
  } else {
    const rows: Expression[] = [];
    do {
      rows.push(equation(row, otherRow(parser, row), at));
      height = Math.max(height, parser.height);
    } while (parser.tookMark(','));
    const [only] = rows as [Expression];
    found = rows.length === 1 ? only : { kind: 'or', args: rows, at };
    height += 3;
  }
  parser.close(')', '(', list);
  parser.height = height;
  parser.bound();
  return negated ? { kind: 'not', arg: found, at } : found;
}

/** The values of a row up to its end, of which the first may be known. */
function values(parser: Parser, open: number, first?: Expression): Expression[] {
  const items: Expression[] = first === undefined ? [] : [first];
  let height = first === undefined ? 0 : parser.height;
  if (first === undefined) {
    items.push(parser.expression());
    height = parser.height;
  }
  while (parser.tookMark(',')) {
    items.push(parser.expression());
    height = Math.max(height, parser.height);
  }
  parser.close(')', '(', open);
  parser.height = height;
  return items;
}

/** A row of as many values. */
function otherRow(parser: Parser, row: readonly Expression[]): Expression[] {
  const open = parser.tokens.start;
  if (!parser.isMark('(')) {
    refuse(open, `A row of ${row.length} values is compared with a row, as in (a, b) = (1, 2)`);
  }
  parser.take('(');
  parser.refuseQuery(open);
  const other = values(parser, open);
  if (other.length !== row.length) {
    refuse(open, `A row of ${row.length} values is compared with one of ${other.length}`);
  }
  return other;
}

function equation(
  left: readonly Expression[],
  right: readonly Expression[],
  at: number,
): Expression {
  const args = left.map((value, place): Expression => {
    const other = right[place] as Expression;
    return { kind: 'binary', op: '=', left: value, right: other, at };
  });
  return { kind: 'and', args, at };
}

/** Parts of a row that is compared by order; they come twice in the condition that it becomes. */
const MOST_PARTS = 10_000;

/** Whether a row is before another: the first values that are not equal tell. */
function inOrder(
  op: CompareOperator,
  left: readonly Expression[],
  right: readonly Expression[],
  at: number,
): Expression {
  if (partsOf([left, right], MOST_PARTS) <= 0) {
    refuse(at, 'Rows that are compared by order are too long; compare their values one by one');
  }
  const compare = (by: CompareOperator, place: number): Expression => {
    const [one, other] = [left[place], right[place]] as [Expression, Expression];
    return { kind: 'binary', op: by, left: one, right: other, at };
  };
  const last = left.length - 1;
  let tree = compare(op, last);
  for (let place = last - 1; place >= 0; place--) {
    const args = [compare('=', place), tree];
    const differs = compare(op.charAt(0) as CompareOperator, place);
    tree = { kind: 'or', args: [differs, { kind: 'and', args, at }], at };
  }
  return tree;
}

/** What is left of a number of parts; none where there are more. */
function partsOf(value: unknown, most: number): number {
  if (typeof value !== 'object' || value === null) return most;
  let left = most - 1;
  for (const part of Object.values(value)) {
    if (left <= 0) return 0;
    left = partsOf(part, left);
  }
  return left;
}
