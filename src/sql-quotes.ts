/**
 * Quotes names and texts for SQL: a column's name (`quotedName`), the path of a nested column
 * (`quotedPath`) and a string literal (`quotedText`), whatever characters they have.
 */

export const quotedName = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** A column by the names from the outermost to its own. */
export const quotedPath = (names: readonly string[]): string => names.map(quotedName).join('.');

export const quotedText = (text: string): string => `'${text.replaceAll("'", "''")}'`;
