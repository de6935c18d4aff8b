/**
 * Parses ids that are typed on the command line: `parsePath` that of a namespace or a table, and
 * `parseObject` one that is not the root. Their names are joined by `/`, or by `$`, which a shell
 * would take for a variable. Invalid ids throw UsageError. `showAsTyped` formats ids with the
 * separator that the user typed.
 */
import { isDirspaceError } from '../../errors.ts';
import { checkPath } from '../../protocol/index.ts';
import { UsageError } from './command.ts';

/** `/`, `$` and nothing at all are the root; a `/` at either end means nothing. */
export function parsePath(text: string): string[] {
  const trimmed = text.replace(/^[/$]/, '').replace(/[/$]$/, '');
  if (trimmed === '') return [];
  try {
    return checkPath(trimmed.split(/[/$]/));
  } catch (error) {
    if (isDirspaceError(error)) {
      throw new UsageError(`${JSON.stringify(text)}: ${error.message}${otherDelimiter(trimmed)}`);
    }
    throw error;
  }
}

/** The hint for an id whose names are joined as other programs join them. */
function otherDelimiter(text: string): string {
  const names = text.split(/::|[/$\\:]/);
  const areNames = names.length > 1 && names.every((name) => /^[\w.-]+$/.test(name));
  return areNames ? ` Names of an id are joined by "/": ${names.join('/')}.` : '';
}

/** An object that is not the root: the namespace it is in, and its name. */
export function parseObject(text: string): { namespace: string[]; name: string } {
  const namespace = parsePath(text);
  const name = namespace.pop();
  if (name === undefined) throw new UsageError('The id is of the root; name a table in it.');
  return { namespace, name };
}

export type ShowPath = (path: readonly string[]) => string;

/** Shows paths as ids were typed: joined by `$` where that alone was used, and else by `/`. */
export function showAsTyped(ids: readonly string[]): ShowPath {
  const isJoinedBy = (separator: string): boolean =>
    ids.some((id) => id.slice(1, -1).includes(separator));
  const separator = isJoinedBy('$') && !isJoinedBy('/') ? '$' : '/';
  return (path) => path.join(separator) || separator;
}
