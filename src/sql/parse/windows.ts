/**
 * Parses what follows the arguments of an aggregate or window function: FILTER (`parseFilter`) and
 * OVER (`parseOver`). `parseWindow` parses a window in parentheses, of OVER or of the WINDOW
 * clause; it throws InvalidInput for frames other than those from the first row to this one, or of
 * all rows. `parseOrder` parses ORDER BY, in windows, calls and statements.
 */

import type { Parser } from './parser.ts';
import { refuse } from './sql-error.ts';
import { NAME, WORD } from './tokens.ts';
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
  const { kind, text } = tokens;
  if (kind !== WORD && kind !== NAME) parser.refuseToken("'(' or the name of a window is expected");
  tokens.next();
  return text;
}

/** A window in parentheses. */
export function parseWindow(parser: Parser): WindowSpec {
  const { tokens } = parser;
  const at = tokens.start;
  parser.take('(');
  const partitionBy: Expression[] = [];
  if (parser.took('partition')) {
    parser.takeWord('by');
    do partitionBy.push(parser.expression());
    while (parser.tookMark(','));
  }
  const orderBy = tokens.word === 'order' ? parseOrder(parser) : [];
  const frame = /^(?:rows|range|groups)$/.test(tokens.word) ? parseFrame(parser) : undefined;
  parser.close(')', '(', at);
  return { partitionBy, orderBy, ...(frame === undefined ? {} : { frame }), at };
}

/** The frames that grow from the first row of the partition, or hold all of it. */
function parseFrame(parser: Parser): 'rows' | 'whole' | undefined {
  const { tokens } = parser;
  const at = tokens.start;
  const unit = tokens.word;
  tokens.next();
  const between = parser.took('between');
  const end = (...words: string[]): boolean => words.every((word) => parser.took(word));
  const unsupported = (): never =>
    refuse(
      at,
      'This frame is not supported; there are ROWS and RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW, or UNBOUNDED FOLLOWING',
    );
  if (!end('unbounded', 'preceding') || unit === 'groups') unsupported();
  if (between) {
    parser.takeWord('and');
    if (parser.took('unbounded')) return end('following') ? 'whole' : unsupported();
    if (!end('current', 'row')) unsupported();
  }
  if (tokens.word === 'exclude') refuse(at, 'EXCLUDE is not supported in a frame');
  return unit === 'rows' ? 'rows' : undefined;
}

/** ORDER BY x [ASC | DESC] [NULLS FIRST | LAST], .. */
export function parseOrder(parser: Parser): OrderItem[] {
  const { tokens } = parser;
  parser.takeWord('order');
  parser.takeWord('by');
  const items: OrderItem[] = [];
  do {
    const value = parser.expression();
    const descending = parser.took('desc');
    if (!descending) parser.took('asc');
    let nullsFirst: boolean | undefined;
    if (parser.took('nulls')) {
      nullsFirst = tokens.word === 'first';
      if (!parser.took('first')) parser.takeWord('last');
    }
    const nulls = nullsFirst === undefined ? {} : { nullsFirst };
    items.push({ value, ascending: !descending, ...nulls });
  } while (parser.tookMark(','));
  return items;
}
