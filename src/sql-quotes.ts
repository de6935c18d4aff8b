/**
 * Quotes names of columns (`quotedName`), paths of nested columns (`quotedPath`) and texts
 * (`quotedText`) for use in SQL, whatever characters they have. `withoutBackticks` removes the
 * backticks with which LanceDB's clients quote paths.
 */

export const quotedName = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** A column by the names from the outermost to its own. */
export const quotedPath = (names: readonly string[]): string => names.map(quotedName).join('.');

export const quotedText = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** The path without the backticks around its names, as LanceDB writes "`row-id`"; two of them are one in a name. */
export const withoutBackticks = (path: string): string =>
  path.replaceAll(/`([^`]*(?:``[^`]*)*)`/g, (_, name: string) => name.replaceAll('``', '`'));
