/**
 * Parses the clauses after the arguments of an aggregate or window function: FILTER (`parseFilter`)
 * and OVER (`parseOver`). `parseWindow` parses a window in parentheses, of OVER or of the WINDOW
 * clause, and throws InvalidInput for frames that are not supported. `parseOrder` parses ORDER BY
 * in windows and calls, and `parseOrderItems` that of statements.
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

/**
 * Refuses GROUPS, EXCLUDE, some frames that end before they begin, and frames of RANGE other than
 * from UNBOUNDED PRECEDING to CURRENT ROW or UNBOUNDED FOLLOWING.
 */
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

/** ROWS between any two rows; RANGE from the first row of the partition. */
function parseFrame(parser: Parser): WindowSpec['frame'] {
  const { tokens } = parser;
  const at = tokens.start;
  const unit = tokens.word;
  tokens.next();
  if (unit === 'groups') refuse(at, 'GROUPS is not supported in a frame; ROWS and RANGE are');
  const between = parser.took('between');
  const start = frameBound(parser, 'start');
  if (between) parser.takeWord('and');
  const end = between ? frameBound(parser, 'end') : 0;
  if (tokens.word === 'exclude') refuse(tokens.start, 'EXCLUDE is not supported in a frame');
  if (start !== undefined && end !== undefined) {
    if (start > 0 && end <= 0)
      refuse(at, 'A frame that begins after the current row ends after it');
    if (start === 0 && end < 0)
      refuse(at, 'A frame that begins at the current row ends there or after it');
  }
  if (start === undefined && end === undefined) return 'whole';
  if (unit === 'range') {
    if (start === undefined && end === 0) return undefined;
    refuse(
      at,
      'This frame is not supported; RANGE goes from UNBOUNDED PRECEDING to CURRENT ROW or UNBOUNDED FOLLOWING, ROWS takes numbers of rows',
    );
  }
  if (start === undefined && end === 0) return 'rows';
  return { ...(start === undefined ? {} : { start }), ...(end === undefined ? {} : { end }) };
}

/** Rows from the current one, negative before it; undefined for UNBOUNDED. */
function frameBound(parser: Parser, side: 'start' | 'end'): number | undefined {
  const { tokens } = parser;
  if (parser.took('unbounded')) {
    parser.takeWord(side === 'start' ? 'preceding' : 'following');
    return undefined;
  }
  if (parser.took('current')) {
    parser.takeWord('row');
    return 0;
  }
  const { kind, text } = tokens;
  if (kind !== NUMBER || !/^\d{1,9}$/.test(text)) {
    parser.refuseToken(
      'UNBOUNDED, CURRENT ROW or a number of rows is expected, of at most 9 digits',
    );
  }
  tokens.next();
  if (parser.took('preceding')) return -Number(text);
  parser.takeWord('following');
  return Number(text);
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
