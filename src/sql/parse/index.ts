/**
 * Parses SQL text, by PostgreSQL's grammar with a few additions, in time linear in the text.
 * `parseExpression` parses an expression, `parseTerm` an expression of a statement, in which
 * aggregates may occur and queries may not, and `parseStatement` a SELECT. Text that cannot be read
 * or is not supported throws InvalidInput with its position. So does text of more than 60,000 words
 * and marks (literals of IN lists not counted), 200,000 such literals or 500 nested levels, and,
 * without a position, text of more than 1 MiB. Also exports the trees, their formatting as SQL,
 * errors, keywords, and the mapping of names to types. bind/ resolves columns and functions.
 */

import { Parser } from './parser.ts';
import { refuse } from './sql-error.ts';
import { parseStatementText } from './statement.ts';
import type { Statement } from './statement-tree.ts';
import { END, Tokens } from './tokens.ts';
import type { Expression } from './tree.ts';

export { AGGREGATES, WINDOW_FUNCTIONS } from './calls.ts';
export { charactersBefore, formatExcerpt } from './excerpt.ts';

/** Of UTF-8. */
const MAX_SQL_BYTES = 1 << 20;

/**
 * Parses one SELECT, in time linear in the text, with the bounds of `parseExpression`. Throws InvalidInput
 * with the place of what cannot be read or is not supported.
 */
export function parseStatement(sql: string, now?: number): Statement {
  checkText(sql, 'statement');
  return parseStatementText(sql, now);
}

/**
 * Parses an expression that is to be part of a statement: its calls may be of many rows. With the bounds
 * and errors of `parseExpression`.
 */
export function parseTerm(sql: string): Expression {
  checkText(sql, 'expression');
  const tokens = new Tokens(sql);
  if (tokens.kind === END) refuse(0, 'The expression is empty');
  const parser = new Parser(tokens);
  parser.aggregates = true;
  return parser.whole();
}

/**
 * Parses one expression, in time linear in the text. Throws InvalidInput, with the position in
 * `sql`, for text that is no expression, that is not supported, that is longer than MAX_SQL_BYTES,
 * has more than 60,000 parts (literals of IN not counted, of which there are 200,000 at most), or nests
 * deeper than 500 levels.
 */
export function parseExpression(sql: string): Expression {
  checkText(sql, 'expression');
  const tokens = new Tokens(sql);
  if (tokens.kind === END) refuse(0, 'The expression is empty');
  return new Parser(tokens).whole();
}

/** @throws InvalidInput for a text of more units than a statement may have bytes */
export function checkLength(length: number, what: string = 'statement'): void {
  if (length <= MAX_SQL_BYTES) return;
  refuse(undefined, `The ${what} is longer than ${MAX_SQL_BYTES} bytes; shorten it`);
}

function checkText(sql: string, what: 'expression' | 'statement'): void {
  const article = what === 'statement' ? 'A' : 'An';
  checkLength(sql.length, what);
  checkLength(Buffer.byteLength(sql), what);
  const half = sql.search(/\p{Surrogate}/u);
  if (half >= 0) refuse(half, `${article} ${what} may not hold half of a surrogate pair`);
}

export { formatExpression, formatName, formatTable } from './format.ts';
export { KEYWORDS } from './keywords.ts';
export { checked, placeText, refuse, shorten } from './sql-error.ts';
export type {
  NamedQuery,
  QueryBody,
  Select,
  Statement,
  TableFunction,
  TableReference,
} from './statement-tree.ts';
export { END, PLACEHOLDER, Tokens } from './tokens.ts';
export {
  type AggregateExpression,
  type ArithmeticOperator,
  type CompareOperator,
  type Expression,
  type OrderItem,
  QUANTIFIED,
  type RowFrame,
  type SubqueryExpression,
  type TypeName,
  type WindowSpec,
} from './tree.ts';
export { MAX_PRECISION, typeByArrowName, typeByName } from './type-names.ts';
export { CLOCK_FUNCTIONS } from './types.ts';
