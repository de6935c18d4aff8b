/**
 * `nearest` finds the known name that is nearest to a misspelt one, ignoring case and separators.
 * It allows one edit for every three characters of the misspelt name, and at least one; separators
 * and characters beyond the first 64 do not count. It returns undefined if every known name differs
 * by more edits. `suggestion` returns the question ` Did you mean ...?` with that name for error
 * messages, or an empty text if there is none. `editDistance` counts the insertions, deletions and
 * replacements of characters, and the swaps of neighbours, that turn one text into another.
 */

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

/**
 * Steps of one character each that turn one text into the other: insertions, deletions, changes and
 * swaps of neighbours.
 */
export function editDistance(left: string, right: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: right.length + 1 }, (_, at) => at);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const same = left[row - 1] === right[column - 1];
      let steps = Math.min(
        (last[column] as number) + 1,
        (current[column - 1] as number) + 1,
        (last[column - 1] as number) + (same ? 0 : 1),
      );
      const swapped = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      if (swapped) steps = Math.min(steps, (beforeLast[column - 2] as number) + 1);
      current.push(steps);
    }
    beforeLast = last;
    last = current;
  }
  return last[right.length] as number;
}
