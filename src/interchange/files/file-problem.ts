/**
 * `fileProblem` builds the InvalidInput error for a file that is missing, cannot be read or
 * written, or whose bytes are not rows. Its details name the file and, where known, the row, line
 * and column (`FilePlace`). `requireColumns` throws one for a column that is asked for and missing.
 */
import { DirspaceError } from '../../errors.ts';
import { suggestion } from '../../known-names.ts';

/** Where in a file; rows, lines and columns count from 1. */
export interface FilePlace {
  readonly file: string;
  /** Whether there is none. */
  readonly missing?: true;
  readonly row?: number;
  readonly line?: number;
  /** Characters of the line. */
  readonly column?: number;
}

/** @param message begins with the name of the file */
export const fileProblem = (message: string, place: FilePlace, cause?: unknown): DirspaceError =>
  new DirspaceError('InvalidInput', message, {
    details: { ...place },
    ...(cause === undefined ? {} : { cause }),
  });

/** For names of columns that are asked for. @throws InvalidInput where a file has none of such a name */
export function requireColumns(
  file: string,
  names: readonly string[],
  asked: readonly string[],
): void {
  const missing = asked.find((name) => !names.includes(name));
  if (missing === undefined) return;
  const hint = suggestion(missing, names);
  throw fileProblem(`${file} has no column ${JSON.stringify(missing)}.${hint}`, { file });
}
