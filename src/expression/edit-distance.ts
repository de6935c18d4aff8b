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
