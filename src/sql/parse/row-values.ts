/**
 * Parses what follows a row of several values, `(a, b)`: IN with rows or a query, and `=` or `<>`
 * with another row (`parseRowCondition`). Conditions on rows become conditions on their values:
 * two rows are equal where all their values are. Rows of different lengths throw InvalidInput, and
 * so do rows anywhere else. `parseQuantifiedQuery` parses the query of ANY and ALL.
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
  const isComparison = /^(?:=|<>|!=)$/.test(tokens.text) && !parser.isString;
  if (!negated && isComparison) {
    const op = tokens.text;
    tokens.next();
    const equal = equation(row, otherRow(parser, row), at);
    parser.height = Math.max(height, parser.height) + 2;
    return op === '=' ? equal : { kind: 'not', arg: equal, at };
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
