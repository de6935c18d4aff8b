/**
 * Parses the clauses after the arguments of an aggregate or window function: FILTER (`parseFilter`)
 * and OVER (`parseOver`). `parseWindow` parses a window in parentheses, of OVER or of the WINDOW
 * clause, and throws InvalidInput for a frame that is not supported. `parseOrder` parses ORDER BY
 * with its items, `parseOrderItems` the items alone, and `parseDirection` what follows the value of
 * one.
 */

import type { Parser } from './parser.ts';
import { refuse } from './sql-error.ts';
import { NAME, NUMBER, WORD } from './tokens.ts';
import type { Expression, OrderItem, WindowSpec } from './tree.ts';

/** FILTER (WHERE condition) */
export function parseFilter(parser: Parser): Expression {
  parser.takeWord('filter');
  const open = parser.tokens.start;
  parser.take('(');
  parser.takeWord('where');
  const filter = parser.expression();
  parser.close(')', '(', open);
  return filter;
}

/** OVER name, or OVER (PARTITION BY .. ORDER BY .. frame) */
export function parseOver(parser: Parser): WindowSpec | string {
  const { tokens } = parser;
  parser.takeWord('over');
  if (parser.isMark('(')) return parseWindow(parser);
  parser.height = 0;
  const { kind, text } = tokens;
  if (kind !== WORD && kind !== NAME) parser.refuseToken("'(' or the name of a window is expected");
  tokens.next();
  return text;
}

/** Refuses EXCLUDE, and frames that end before they begin. */
export function parseWindow(parser: Parser): WindowSpec {
  const { tokens } = parser;
  const at = tokens.start;
  parser.take('(');
  const partitionBy: Expression[] = [];
  let height = 0;
  if (parser.took('partition')) {
    parser.takeWord('by');
    do {
      partitionBy.push(parser.expression());
      height = Math.max(height, parser.height);
    } while (parser.tookMark(','));
  }
  const orderBy = tokens.word === 'order' ? parseOrder(parser) : [];
  parser.height = orderBy.length === 0 ? height : Math.max(height, parser.height);
  const frame = /^(?:rows|range|groups)$/.test(tokens.word) ? parseFrame(parser) : undefined;
  parser.close(')', '(', at);
  return { partitionBy, orderBy, ...(frame === undefined ? {} : { frame }), at };
}

/** ROWS, GROUPS or RANGE, between two bounds or from one to the current row. */
function parseFrame(parser: Parser): WindowSpec['frame'] {
  const { tokens } = parser;
  const at = tokens.start;
  const unit = tokens.word;
  tokens.next();
  const isRange = unit === 'range';
  const between = parser.took('between');
  const start = frameBound(parser, 'start', isRange);
  if (between) parser.takeWord('and');
  const end = between ? frameBound(parser, 'end', isRange) : { rows: 0 };
  if (tokens.word === 'exclude') refuse(tokens.start, 'EXCLUDE is not supported in a frame');
  if (start !== undefined && end !== undefined) {
    if (start.rows > 0 && end.rows <= 0)
      refuse(at, 'A frame that begins after the current row ends after it');
    if (start.rows === 0 && end.rows < 0)
      refuse(at, 'A frame that begins at the current row ends there or after it');
  }
  if (start === undefined && end === undefined) return 'whole';
  if (start === undefined && end?.rows === 0 && end.by === undefined) {
    if (unit === 'rows') return 'rows';
    return undefined;
  }
  return {
    ...(unit === 'rows' ? {} : { unit: isRange ? 'range' : 'groups' }),
    ...(start === undefined ? {} : { start: start.rows }),
    ...(end === undefined ? {} : { end: end.rows }),
    ...(start?.by === undefined ? {} : { startBy: start.by }),
    ...(end?.by === undefined ? {} : { endBy: end.by }),
  };
}

/** Rows from the current one, negative before it. Of RANGE a distance, and -1 or 1. */
interface FrameBound {
  readonly rows: number;
  readonly by?: Expression;
}

/** Undefined for UNBOUNDED. */
function frameBound(
  parser: Parser,
  side: 'start' | 'end',
  isRange: boolean,
): FrameBound | undefined {
  const { tokens } = parser;
  if (parser.took('unbounded')) {
    parser.takeWord(side === 'start' ? 'preceding' : 'following');
    return undefined;
  }
  if (parser.took('current')) {
    parser.takeWord('row');
    return { rows: 0 };
  }
  const { kind, text } = tokens;
  if (isRange && (kind === NUMBER || tokens.word === 'interval')) {
    const by = parser.boundExpression();
    return { rows: takeSide(parser), by };
  }
  if (kind !== NUMBER || !/^\d{1,9}$/.test(text)) {
    const what = isRange
      ? "a distance such as 5 or INTERVAL '1 day'"
      : 'a number of rows is expected, of at most 9 digits';
    parser.refuseToken(`UNBOUNDED, CURRENT ROW or ${what}${isRange ? ' is expected' : ''}`);
  }
  tokens.next();
  const rows = takeSide(parser) * Number(text);
  return { rows: rows === 0 ? 0 : rows };
}

/** PRECEDING or FOLLOWING, as -1 or 1. */
function takeSide(parser: Parser): -1 | 1 {
  if (parser.took('preceding')) return -1;
  parser.takeWord('following');
  return 1;
}

/**
 * ORDER BY x [ASC | DESC] [NULLS FIRST | LAST], .. The parser's height is that of the highest
 * expression then, as it is behind the other clauses.
 */
export function parseOrder(parser: Parser): OrderItem[] {
  parser.takeWord('order');
  parser.takeWord('by');
  return parseOrderItems(parser);
}

/** The items behind ORDER BY. */
export function parseOrderItems(parser: Parser): OrderItem[] {
  const items: OrderItem[] = [];
  let height = 0;
  do {
    const value = parser.expression();
    height = Math.max(height, parser.height);
    items.push({ value, ...parseDirection(parser) });
  } while (parser.tookMark(','));
  parser.height = height;
  return items;
}

/** [ASC | DESC] [NULLS FIRST | LAST] */
export function parseDirection(parser: Parser): Omit<OrderItem, 'value'> {
  const descending = parser.took('desc');
  if (!descending) parser.took('asc');
  if (!parser.took('nulls')) return { ascending: !descending };
  const nullsFirst = parser.took('first');
  if (!nullsFirst) parser.takeWord('last');
  return { ascending: !descending, nullsFirst };
}
