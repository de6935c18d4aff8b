/**
 * `filesNamed` resolves a file name or pattern to file names. A name that exists, or has no
 * character of a pattern, is returned as it is. Any other pattern, such as `logs/*.ndjson`, stands
 * for the files that match it, sorted by name. A pattern that matches none throws InvalidInput.
 * fast-glob is loaded only for patterns.
 */
import { existsSync } from 'node:fs';
import { sep } from 'node:path';
import { Progress } from '../../progress.ts';
import { fileProblem } from './file-problem.ts';
import { kindOfPath } from './folder-files.ts';

/** Without one of these a name is no pattern. */
const SPECIAL = /[*?[\]{}()!]/;

/**
 * The files, ordered by name in code units. A name that exists is that file, whatever characters it
 * has. A pattern matches all that is no folder; links to folders are not followed, letters match in
 * their own case alone, and a name that begins with a dot is matched by a dot alone. Brackets match
 * themselves too. Answers the argument itself where it is no pattern, so that its reader says what is
 * wrong with it.
 * @throws InvalidInput for a pattern that nothing matches
 */
export async function filesNamed(
  given: string,
  signal: AbortSignal | undefined,
): Promise<string[]> {
  if (!SPECIAL.test(given) || existsSync(given)) return [given];
  const { default: glob } = await import('fast-glob');
  const search = glob(patternOf(given), {
    onlyFiles: false,
    objectMode: true,
    followSymbolicLinks: false,
  }).catch((cause: Error) => {
    const message = `The files of ${JSON.stringify(given)} cannot be listed: ${cause.message}`;
    throw fileProblem(message, { file: given }, cause);
  });
  const progress = new Progress(0, () => undefined, signal === undefined ? [] : [signal]);
  const found = await progress.race(search).finally(() => progress.end());
  const files = found
    .filter(
      ({ path, dirent }) =>
        !(dirent.isSymbolicLink() ? kindOfPath(path) === 'folder' : dirent.isDirectory()),
    )
    .map(({ path }) => path)
    .sort((a, b) => (a < b ? -1 : 1));
  if (files.length > 0) return files;
  const isKept = given.includes('**') ? ', and links to folders are not followed' : '';
  throw fileProblem(
    `No file matches ${JSON.stringify(given)}. Capitals and small letters differ, a name that begins with a dot needs a pattern that begins with one${isKept}; a backslash before a character takes it as it is.`,
    { file: given },
  );
}

/** Slashes separate folders on every system, and no pattern excludes files: "!" is a character. */
function patternOf(given: string): string {
  const pattern = sep === '/' ? given : given.replaceAll(sep, '/');
  return pattern.startsWith('!') && pattern[1] !== '(' ? `\\${pattern}` : pattern;
}
