/**
 * Names that callers misspell: says what exists and which of it comes nearest. Knows no option and
 * no property.
 */
import { editDistance } from '../expression/edit-distance.ts';

const folded = (name: string): string => name.toLowerCase().replaceAll(/[_\-.\s]/g, '');

/** The name that was probably meant, where one is near enough. */
export function nearest(given: string, known: readonly string[]): string | undefined {
  const wanted = folded(given.slice(0, 64));
  let best: string | undefined;
  let fewest = Math.max(1, Math.floor(wanted.length / 3)) + 1;
  for (const name of known) {
    const steps = editDistance(wanted, folded(name));
    if (steps < fewest) [best, fewest] = [name, steps];
  }
  return best;
}

/** ` Did you mean "root"?`, or nothing. */
export function suggestion(given: string, known: readonly string[]): string {
  const meant = nearest(given, known);
  return meant === undefined ? '' : ` Did you mean ${JSON.stringify(meant)}?`;
}
