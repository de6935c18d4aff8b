/**
 * `errorText` formats an error for standard error: for people a message with the code of a
 * catalog's error, and for programs (`--json`) one line of JSON with code, message, exit code and
 * details. Words of more than 1,000 characters in a message are cut, and characters that control a
 * terminal are escaped.
 */
import { isDirspaceError, shortened } from '../errors.ts';
import {
  Declined,
  exitCode,
  InputError,
  Interrupted,
  MissingFile,
  OtherProtocol,
  toJson,
  UsageError,
  visibleLines,
} from './terminal/index.ts';

export function errorText(error: unknown, asJson: boolean): string {
  const found = error instanceof InputError ? error.cause : error;
  const message = shortened(error instanceof Error ? error.message : String(error));
  if (asJson) {
    const details = isDirspaceError(found) ? found.details : {};
    return `${toJson({ error: { code: codeOf(found), message, exit: exitCode(error), details } }, 0)}\n`;
  }
  const code = isDirspaceError(found) ? ` (${found.code})` : '';
  // A message of SQL shows its place on lines of their own.
  const [sentence = '', ...place] = visibleLines(message).split('\n');
  return `${[`dirspace: ${sentence}${code}`, ...place].join('\n')}\n`;
}

/** Codes of the catalog, and the command line's own. */
function codeOf(error: unknown): string {
  if (isDirspaceError(error)) return error.code;
  if (error instanceof UsageError) return 'Usage';
  if (error instanceof MissingFile) return 'MissingFile';
  if (error instanceof Declined) return 'Declined';
  if (error instanceof OtherProtocol) return 'OtherProtocol';
  return error instanceof Interrupted ? 'Interrupted' : 'Failure';
}
