/**
 * `withMistake` improves the error of a refused SQL expression in place, and returns it to be
 * thrown. If the error has a position, that is counted in characters from then on, and its line of
 * the text is added to the message, with a caret under the mistake. It also adds a hint for two
 * common mistakes: text in double quotes, and an expression that begins with SELECT or WHERE.
 * `withMistakeIn` does the same for a statement, without the second hint. Errors other than
 * InvalidInput and TableColumnNotFound are returned as they are.
 */
import { type DirspaceError, isDirspaceError } from '../errors.ts';
import { charactersBefore, formatExcerpt, placeText, shorten } from './parse/index.ts';

/** A column may be called `where`. */
const STATEMENT = /^\s*(select\b|where(?=\s+[\w"(]))/i;

/** The error itself, its message longer where there is something to add. */
export const withMistake = (error: unknown, sql: string): unknown =>
  mistaken(error, sql, ({ code, details }) =>
    code === 'InvalidInput' ? statementHint(sql) : quoteHint(details, sql),
  );

/** The same for a statement. */
export const withMistakeIn = (error: unknown, sql: string): unknown =>
  mistaken(error, sql, ({ code, details }) =>
    code === 'InvalidInput' ? undefined : quoteHint(details, sql),
  );

function mistaken(
  error: unknown,
  sql: string,
  hintOf: (error: DirspaceError) => string | undefined,
): unknown {
  if (!isDirspaceError(error, 'InvalidInput', 'TableColumnNotFound')) return error;
  const { position } = error.details;
  const hint = hintOf(error);
  if (typeof position === 'number') countCharacters(error, sql, position);
  if (hint !== undefined) error.message += hint;
  if (typeof position === 'number') error.message += `\n${formatExcerpt(sql, position - 1)}`;
  return error;
}

/** The parser counts UTF-16 units; editors, and PostgreSQL, count characters. */
function countCharacters(error: DirspaceError, sql: string, position: number): void {
  const place = charactersBefore(sql, position - 1) + 1;
  if (place === position) return;
  const suffix = placeText(position);
  if (error.message.endsWith(suffix)) {
    error.message = error.message.slice(0, -suffix.length) + placeText(place);
  }
  Object.assign(error.details, { position: place });
}

function statementHint(sql: string): string | undefined {
  const [, word] = STATEMENT.exec(sql) ?? [];
  if (word === undefined) return undefined;
  return `. An expression is expected, not a statement: leave out ${word.toUpperCase()}, as in age > 3`;
}

/** A column that is not there, and whose name is in double quotes, is probably text. */
function quoteHint(
  { position }: Readonly<Record<string, unknown>>,
  sql: string,
): string | undefined {
  if (typeof position !== 'number') return undefined;
  const [quoted] = /^"[^"]*(?:""[^"]*)*"/.exec(sql.slice(position - 1)) ?? [];
  if (quoted === undefined) return undefined;
  const text = quoted.slice(1, -1).replaceAll('""', '"').replaceAll("'", "''");
  return `. Double quotes are for names; text is written '${shorten(text)}'`;
}
